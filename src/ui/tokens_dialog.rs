//! Tokens and sizes: labels of both axes, positions added and removed, widths, heads.

use egui::{DragValue, RichText, ScrollArea, TextEdit, Ui};

use crate::scene::{Input, Scene, Tokens};
use crate::session::{Axis, Edit, Session};

use super::settings_panel::drag_gesture;
use super::style::Colors;
use super::{Outbox, UiState, widgets};

/// Draws the dialog; `false` closes it.
pub fn show(ui: &Ui, session: &Session, state: &mut UiState, out: &mut Outbox) -> bool {
    let mut open = true;
    let scene = session.document().scene();
    let response = widgets::modal(ui, "tokens").show(ui.ctx(), |ui| {
        ui.set_width(460.0);
        ui.label(RichText::new("Tokens and sizes").family(super::style::bold()).size(16.0));
        ui.add_space(6.0);
        sizes(ui, scene, state, out);
        ui.add_space(6.0);
        ui.horizontal_top(|ui| {
            if matches!(scene.spec().tokens, Tokens::Shared(_)) {
                axis(ui, scene, state, out, Axis::Keys, "Tokens");
            } else {
                axis(ui, scene, state, out, Axis::Queries, "Queries");
                ui.add_space(16.0);
                axis(ui, scene, state, out, Axis::Keys, "Keys");
            }
        });
        if let Some(refusal) = session.refusal() {
            ui.label(RichText::new(refusal).color(Colors::in_use(ui).bad));
        }
        ui.add_space(8.0);
        if ui.button("Close").clicked() {
            open = false;
        }
    });
    open && !response.should_close()
}

fn axis(ui: &mut Ui, scene: &Scene, state: &mut UiState, out: &mut Outbox, axis: Axis, title: &str) {
    let labels = match axis {
        Axis::Queries => scene.query_labels(),
        Axis::Keys => scene.key_labels(),
    };
    ui.vertical(|ui| {
        ui.set_width(200.0);
        widgets::section(ui, title);
        ScrollArea::vertical().id_salt(("tokens", title)).max_height(280.0).show(ui, |ui| {
            for (position, label) in labels.iter().enumerate() {
                ui.horizontal(|ui| {
                    let mut text = label.clone();
                    let field = ui.add(TextEdit::singleline(&mut text).desired_width(140.0));
                    let name =
                        format!("Label of {} {}", title.trim_end_matches('s').to_lowercase(), position + 1);
                    field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, &name));
                    if field.changed() {
                        out.edit_in(
                            Edit::SetToken { axis, position, label: text },
                            drag_gesture(state, &field),
                        );
                    }
                    if scene.gives_weights() {
                        return; // a position is a row of the file
                    }
                    let remove =
                        format!("Remove {} {}", title.trim_end_matches('s').to_lowercase(), position + 1);
                    if widgets::quiet_button(ui, "×", &remove).clicked() {
                        out.edit(Edit::RemoveToken(axis, position));
                    }
                });
            }
        });
        if !scene.gives_weights()
            && ui.button("Add a position").on_hover_text("A row of zeros; mask layers grow with it").clicked()
        {
            out.edit(Edit::AddToken(axis));
        }
    });
}

fn sizes(ui: &mut Ui, scene: &Scene, state: &mut UiState, out: &mut Outbox) {
    match &scene.spec().input {
        Input::Heads { .. } => {
            let (mut d_k, mut d_v, mut n_heads) = (scene.d_k(), scene.d_v(), scene.heads());
            let field = number(ui, "key width d_k", &mut d_k, 1..=256, "Columns of Q and K");
            if field.changed() {
                out.edit_in(Edit::SetWidths { d_k, d_v }, drag_gesture(state, &field));
            }
            let field = number(ui, "value width d_v", &mut d_v, 1..=256, "Columns of V and of the output");
            if field.changed() {
                out.edit_in(Edit::SetWidths { d_k, d_v }, drag_gesture(state, &field));
            }
            let field = number(
                ui,
                "heads",
                &mut n_heads,
                1..=64,
                "Each with K and V of its own; the last is repeated",
            );
            if field.changed() {
                out.edit_in(Edit::SetHeads(n_heads), drag_gesture(state, &field));
            }
        }
        Input::Projected(projected) => {
            let mut kv_heads = projected.kv_heads;
            let hint =
                "Fewer than the query heads: grouped; 1: multi-query. W_K and W_V must have the width for it";
            let field = number(ui, "KV heads", &mut kv_heads, 1..=projected.heads.max(1), hint);
            if field.changed() {
                out.edit_in(Edit::SetKvHeads(kv_heads), drag_gesture(state, &field));
            }
        }
        Input::Tensors { file, .. } => {
            let text =
                format!("Q, K and V are read from {file}. Editing one of their numbers writes them out.");
            ui.label(RichText::new(text).color(Colors::in_use(ui).muted));
        }
        Input::Weights { file, .. } => {
            let text = format!(
                "The weights are read from {file}, and their sizes with them. Labels can be changed."
            );
            ui.label(RichText::new(text).color(Colors::in_use(ui).muted));
        }
    }
}

fn number(
    ui: &mut Ui,
    name: &str,
    value: &mut usize,
    range: std::ops::RangeInclusive<usize>,
    hint: &str,
) -> egui::Response {
    widgets::setting(ui, name, |ui| {
        ui.add(DragValue::new(value).range(range).speed(0.05)).on_hover_text(hint)
    })
}

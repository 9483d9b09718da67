//! The row above the board: which figure, which head, which stages.

use egui::{RichText, Ui};

use crate::scene::{Position, Scene, Stage};
use crate::session::{Centre, Command, Edit, Session};

use super::style::Colors;
use super::{Outbox, UiState, widgets};

/// The stages shown by the short form of the board: the scores that the weights are made of, where a bias is added to them.
pub fn three(scene: &Scene) -> [Stage; 3] {
    let scores = match scene.spec().position {
        Position::Alibi => Stage::MaskedScores,
        Position::None | Position::Rope { .. } | Position::Sinusoidal => Stage::ScaledScores,
    };
    [scores, Stage::Weights, Stage::Output]
}

/// What stands beside the head picker and the choice of stages take together, in points.
const ROOM_FOR_SHARING: f32 = 400.0;

/// Draws the row.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    ui.horizontal(|ui| {
        centre_switch(ui, session, out);
        if session.centre() == Centre::Board {
            head_picker(ui, session, out);
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if session.focus().is_some() {
                if ui.button("Back to the board").on_hover_text("Esc").clicked() {
                    out.push(Command::Focus(None));
                }
            } else if session.gives_weights() && session.centre() == Centre::Board {
                let text = RichText::new("weights only").small().color(Colors::in_use(ui).muted);
                ui.label(text).on_hover_text("They were computed elsewhere; no other stage is known");
            } else if session.centre() == Centre::Board {
                stages(ui, session, state, out);
            }
            if session.centre() != Centre::Calculators
                && state.board.zoom.is_some()
                && ui.button("Fit").on_hover_text("Fit the figure into the centre").clicked()
            {
                state.board.zoom = None;
            }
        });
    });
}

fn stages(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    let shown = &session.document().scene().spec().view.stages;
    let current = if *shown == Stage::ALL && !state.board.is_shortened { 5 } else { 3 };
    let chosen = widgets::segments(ui, &[(3, "scores weights output"), (5, "all five")], current);
    match chosen {
        Some(5) => {
            state.board.insist_on_five = true;
            out.edit(Edit::SetStages(Stage::ALL.to_vec()));
        }
        Some(_) => out.edit(Edit::SetStages(three(session.scene()).to_vec())),
        None => {}
    }
}

fn centre_switch(ui: &mut Ui, session: &Session, out: &mut Outbox) {
    let mut options = vec![(Centre::Board, "board")];
    if session.has_projections() {
        options.push((Centre::Projections, "projections"));
    }
    if session.scene().heads() > 1 {
        options.push((Centre::Heads, "all heads"));
    }
    if session.has_positions() {
        options.push((Centre::Positions, "positions"));
    }
    options.push((Centre::Calculators, "calculators"));
    if let Some(centre) = widgets::segments(ui, &options, session.centre()) {
        out.push(Command::Show(centre));
    }
}

/// Query heads with the KV head that each reads.
fn head_picker(ui: &mut Ui, session: &Session, out: &mut Outbox) {
    let scene = session.scene();
    if scene.heads() < 2 {
        return;
    }
    let grouped = scene.kv_heads() != scene.heads();
    let per_kv_head = scene.heads() / scene.kv_heads().max(1);
    let name = |head: usize| {
        if grouped {
            format!("head {} · KV {}", head + 1, head / per_kv_head.max(1) + 1)
        } else {
            format!("head {}", head + 1)
        }
    };
    let combo = egui::ComboBox::from_id_salt("head picker")
        .selected_text(name(session.head()))
        .width(96.0)
        .show_ui(ui, |ui| {
            for head in 0..scene.heads() {
                if ui.selectable_label(head == session.head(), name(head)).clicked() {
                    out.push(Command::SelectHead(head));
                }
            }
        });
    combo.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Query head"));
    if grouped {
        let text = format!("{} query heads share {} KV heads", scene.heads(), scene.kv_heads());
        // Beside the stages at the right; where there is no room for it, it is in the hover text alone.
        if ui.available_width() > ROOM_FOR_SHARING {
            ui.label(RichText::new(&text).small().color(Colors::in_use(ui).muted));
        }
        combo.response.on_hover_text(text);
    }
}

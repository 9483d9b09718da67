//! The scene's own settings: scoring, softmax, mask layers, positions, precision, a mistake made on purpose, decimals, colours.

use egui::{ComboBox, DragValue, Response, RichText, ScrollArea, Ui};

use crate::engine::{Fault, Precision, RopeLayout};
use crate::scene::{Input, Orientation, Palette, Position, Scene};
use crate::session::{Edit, Session};

use super::style::Colors;
use super::{Action, Outbox, UiState, Wish, mask_editor, scoring_editor, softmax_editor, widgets};

/// Draws the settings.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    ScrollArea::vertical().id_salt("scene settings").auto_shrink(false).show(ui, |ui| {
        widgets::section(ui, "This scene");
        if let Some(refusal) = session.refusal() {
            let color = Colors::in_use(ui).bad;
            ui.label(RichText::new(refusal).small().color(color));
        }
        let scene = session.document().scene();
        tokens(ui, scene, out);
        if let Input::Weights { file, .. } = &scene.spec().input {
            let text = format!("The weights were computed elsewhere and are read from {file}. How they were made is not known here.");
            widgets::caption(ui, text);
            look(ui, scene, state, out);
            return;
        }
        scoring_editor::show(ui, scene, state, out);
        ui.add_space(3.0);
        mask_editor::show(ui, session, state, out);
        ui.add_space(3.0);
        position(ui, scene, out);
        rope_base(ui, scene, state, out);
        offset(ui, scene, state, out);
        precision(ui, scene, out);
        mistake(ui, scene, out);
        widgets::folded(ui, "Softmax", &softmax_editor::unusual(scene), |ui| {
            softmax_editor::show(ui, session, state, out);
        });
        widgets::folded(ui, "Look", &[], |ui| look(ui, scene, state, out));
        ui.add_space(6.0);
    });
}

/// The tokens in short, and the way to edit them.
fn tokens(ui: &mut Ui, scene: &Scene, out: &mut Outbox) {
    let labels = scene.key_labels();
    let text = format!("{} …", labels.iter().take(4).map(String::as_str).collect::<Vec<_>>().join(" "));
    let shown = if labels.len() <= 4 { text.trim_end_matches(" …") } else { &text };
    widgets::setting(ui, "Tokens", |ui| {
        let button = egui::Button::new(shown).truncate();
        let response = ui.add(button);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "Edit tokens and sizes"));
        if response.clicked() {
            out.wish(Wish::Act(Action::EditTokens));
        }
        response.on_hover_text("Labels, positions, widths and heads")
    });
}

/// A drop-down takes no more room than this beside its name, in points.
const WIDEST_CHOICE: f32 = 110.0;

/// A choice among a few, as a drop-down at the right of its name.
pub fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    name: &str,
    options: &[(T, &str)],
    current: T,
    hint: &str,
) -> Option<T> {
    let mut chosen = None;
    let shown = options.iter().find(|(value, _)| *value == current).map_or("", |(_, text)| text);
    widgets::setting(ui, name, |ui| {
        // What is chosen is shortened where it is long; the list shows it whole.
        let room = ui.available_width().min(WIDEST_CHOICE);
        let is_long = WIDEST_CHOICE < 7.0 * shown.chars().count() as f32;
        let combo = ComboBox::from_id_salt(name).selected_text(shown);
        let combo = if is_long { combo.width(room).truncate() } else { combo };
        let combo = combo.show_ui(ui, |ui| {
            for (value, text) in options {
                if ui.selectable_label(*value == current, *text).clicked() {
                    chosen = Some(*value);
                }
            }
        });
        combo.response.on_hover_text(hint)
    });
    chosen.filter(|value| *value != current)
}

/// Ways to give positions, each with its name. Rope comes with the base of the paper; the file may hold another.
fn position(ui: &mut Ui, scene: &Scene, out: &mut Outbox) {
    let current = scene.spec().position;
    let base = match current {
        Position::Rope { base, .. } => base,
        Position::None | Position::Alibi | Position::Sinusoidal => 10_000.0,
    };
    let rope = |layout| Position::Rope { base, layout };
    let mut options = vec![
        (Position::None, "none"),
        (rope(RopeLayout::HalfSplit), "RoPE, halves"),
        (rope(RopeLayout::Interleaved), "RoPE, neighbours"),
        (Position::Alibi, "ALiBi"),
    ];
    if scene.projection().is_some() {
        options.push((Position::Sinusoidal, "sinusoidal"));
    }
    let hint = "How attention comes to know the order of the tokens. RoPE turns queries and keys by their positions (halves: \
                feature f with f + d/2; neighbours: 2f with 2f + 1); ALiBi takes slope · distance off the scores; sinusoidal \
                positions are added to the hidden states";
    if let Some(position) = choice(ui, "Position", &options, current, hint) {
        out.edit(Edit::SetPosition(position));
    }
}

/// The base of rotary positions, where there are any.
fn rope_base(ui: &mut Ui, scene: &Scene, state: &mut UiState, out: &mut Outbox) {
    let Position::Rope { mut base, layout } = scene.spec().position else { return };
    let response = widgets::setting(ui, "Base", |ui| {
        let field = ui.add(DragValue::new(&mut base).speed(10.0).range(1.0..=1e9).max_decimals(3));
        widgets::named(field, "Base of the rotary positions")
            .on_hover_text("Pair f of d/2 turns by base^(−2f/d) radians a position; 10 000 in the paper")
    });
    if response.changed() {
        let position = Position::Rope { base, layout };
        out.edit_in(Edit::SetPosition(position), drag_gesture(state, &response));
    }
}

/// A mistake that people have really shipped, made on purpose.
fn mistake(ui: &mut Ui, scene: &Scene, out: &mut Outbox) {
    let mistakes = Fault::ALL.map(|fault| (Some(fault), fault.label()));
    let options: Vec<_> = [(None, "none")].into_iter().chain(mistakes).collect();
    let hint = "Computes attention with a mistake that people have really shipped. The board says so, frames what should be blocked \
                and is not, and the checks below say what gives the mistake away";
    if let Some(fault) = choice(ui, "Mistake", &options, scene.spec().fault, hint) {
        out.edit(Edit::SetFault(fault));
    }
}

fn precision(ui: &mut Ui, scene: &Scene, out: &mut Outbox) {
    let formats = Precision::ALL.map(|precision| (precision, precision.label()));
    let hint = "The number format that Q, K, V and every stage are stored in; sums are kept in f32. f16 ends at 65504, bf16 has \
                the range of f32 and 8 significant bits";
    if let Some(precision) = choice(ui, "Precision", &formats, scene.spec().precision, hint) {
        out.edit(Edit::SetPrecision(precision));
    }
}

fn offset(ui: &mut Ui, scene: &Scene, state: &mut UiState, out: &mut Outbox) {
    let mut offset = scene.spec().position_offset;
    let response = widgets::setting(ui, "Query 1 stands at", |ui| {
        ui.add(DragValue::new(&mut offset).speed(0.05)).on_hover_text(
            "The position of the first query, from 0. Not 0 in a decode step, where the cache holds earlier positions",
        )
    });
    if response.changed() {
        out.edit_in(Edit::SetPositionOffset(offset), drag_gesture(state, &response));
    }
}

fn look(ui: &mut Ui, scene: &Scene, state: &mut UiState, out: &mut Outbox) {
    let view = &scene.spec().view;
    let mut decimals = view.decimals;
    let response = widgets::setting(ui, "Decimals", |ui| {
        ui.add(DragValue::new(&mut decimals).range(0..=17).speed(0.05))
            .on_hover_text("Decimal places in cells")
    });
    if response.changed() {
        out.edit_in(Edit::SetDecimals(decimals), drag_gesture(state, &response));
    }
    let names = ["violet", "blue", "grey", "viridis", "cividis"];
    let options: Vec<(Palette, &str)> = Palette::ALL.into_iter().zip(names).collect();
    if let Some(palette) =
        choice(ui, "Palette", &options, view.palette, "Colours of the weights, from 0 to 1")
    {
        out.edit(Edit::SetPalette(palette));
    }
    let options = [(Orientation::QueriesAsRows, "down"), (Orientation::QueriesAsColumns, "across")];
    let hint = "Which way the queries run. Down is how the formula is written";
    if let Some(orientation) = choice(ui, "Queries run", &options, view.orientation, hint) {
        out.edit(Edit::SetOrientation(orientation));
    }
}

/// The gesture that a change of this widget belongs to: one drag, or one stay in the field.
pub fn drag_gesture(state: &mut UiState, response: &Response) -> u64 {
    if response.drag_started() || response.gained_focus() || !(response.dragged() || response.has_focus()) {
        state.gesture += 1;
    }
    state.gesture
}

//! Mask layers: add, remove, reorder, and the numbers of each.

use egui::{DragValue, Frame, Margin, RichText, Ui};

use crate::engine::{Convention, Corner, MaskRule, Matrix};
use crate::figure::mask_name;
use crate::scene::Scene;
use crate::session::{Edit, Session};

use super::mask_grids::{additive_grid, boolean_grid};
use super::settings_panel::drag_gesture;
use super::style::Colors;
use super::{Outbox, UiState, widgets};

/// Draws the layers and the menu that adds one.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    let (scene, head) = (session.document().scene(), session.head());
    let colors = Colors::in_use(ui);
    ui.label(RichText::new("Mask").color(colors.muted))
        .on_hover_text("A pair is visible when every layer allows it; additive layers are summed");
    let layers = &scene.spec().mask;
    for (layer, rule) in layers.iter().enumerate() {
        ui.push_id(("mask layer", layer), |ui| {
            Frame::new().fill(colors.field).corner_radius(5).inner_margin(Margin::symmetric(8, 3)).show(
                ui,
                |ui| {
                    ui.set_width(ui.available_width());
                    header(ui, layer, layers.len(), rule, out);
                    numbers(ui, (scene, head), (layer, rule), state, out);
                },
            );
        });
    }
    add_menu(ui, scene, out);
}

fn header(ui: &mut Ui, layer: usize, n_layers: usize, rule: &MaskRule, out: &mut Outbox) {
    // Filled from the right, so that a long name is shortened instead of running under the buttons.
    let line = egui::vec2(ui.available_width(), 20.0);
    ui.allocate_ui_with_layout(line, egui::Layout::right_to_left(egui::Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 1.0;
        ui.spacing_mut().button_padding.x = 3.0;
        if widgets::quiet_button(ui, "×", &format!("Remove mask layer {}", layer + 1)).clicked() {
            out.edit(Edit::RemoveMask(layer));
        }
        if n_layers > 1 {
            let moves = [
                ("↓", "down", layer + 1 < n_layers, layer + 1),
                ("↑", "up", layer > 0, layer.saturating_sub(1)),
            ];
            for (sign, way, possible, to) in moves {
                ui.add_enabled_ui(possible, |ui| {
                    let name = format!("Move mask layer {} {way}", layer + 1);
                    if widgets::quiet_button(ui, sign, &name).clicked() {
                        out.edit(Edit::MoveMask { from: layer, to });
                    }
                });
            }
        }
        ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
            let name = mask_name(rule);
            ui.add(egui::Label::new(&name).truncate()).on_hover_text(name);
        });
    });
}

fn numbers(
    ui: &mut Ui,
    (scene, head): (&Scene, usize),
    (layer, rule): (usize, &MaskRule),
    state: &mut UiState,
    out: &mut Outbox,
) {
    let n_k = scene.n_k();
    match rule {
        MaskRule::Causal(corner) => {
            let other = if *corner == Corner::TopLeft { Corner::BottomRight } else { Corner::TopLeft };
            if scene.n_q() != n_k && ui.small_button("Other corner").clicked() {
                out.edit(Edit::SetMask(layer, MaskRule::Causal(other)));
            }
        }
        MaskRule::ValidKeys(n) => {
            count(ui, "real keys", *n, 0..=n_k, layer, state, out, MaskRule::ValidKeys);
        }
        MaskRule::Prefix(n) => count(ui, "open keys", *n, 0..=n_k, layer, state, out, MaskRule::Prefix),
        MaskRule::Strided(n) => count(ui, "every", *n, 1..=n_k.max(1), layer, state, out, MaskRule::Strided),
        MaskRule::Window { left, right } => window(ui, (*left, *right), layer, state, out),
        MaskRule::PaddedKeys(padded) => flags(ui, scene, padded, layer, out),
        MaskRule::Documents(documents) => document_numbers(ui, documents, layer, state, out),
        MaskRule::Matrix { convention, rows } => matrix(ui, *convention, rows, layer, out),
        MaskRule::Global(positions) => {
            global_positions(ui, scene, positions, layer, out);
        }
        MaskRule::Additive(bias) => {
            additive_grid(ui, bias, state, out, |bias| Edit::SetMask(layer, MaskRule::Additive(bias)));
        }
        MaskRule::MatrixPerHead { convention, heads } => {
            matrix_of_head(ui, (*convention, heads), head, layer, out);
        }
        MaskRule::AdditivePerHead(heads) => {
            let Some(bias) = heads.get(head) else { return };
            of_head(ui, head, heads.len());
            additive_grid(ui, bias, state, out, |bias| {
                let mut heads = heads.clone();
                heads[head] = bias;
                Edit::SetMask(layer, MaskRule::AdditivePerHead(heads))
            });
        }
        MaskRule::Alibi(slopes) => slope(ui, slopes, head, layer, state, out),
    }
}

/// A boolean mask, and the other way of reading it.
fn matrix(ui: &mut Ui, convention: Convention, rows: &[Vec<bool>], layer: usize, out: &mut Outbox) {
    let hint = "What true means in this mask";
    if ui.small_button("Read it the other way").on_hover_text(hint).clicked() {
        let convention = match convention {
            Convention::TrueAllows => Convention::TrueBlocks,
            Convention::TrueBlocks => Convention::TrueAllows,
        };
        out.edit(Edit::SetMask(layer, MaskRule::Matrix { convention, rows: rows.to_vec() }));
    }
    boolean_grid(ui, convention, rows, out, |rows| {
        Edit::SetMask(layer, MaskRule::Matrix { convention, rows })
    });
}

/// The boolean mask of the head on screen.
fn matrix_of_head(
    ui: &mut Ui,
    (convention, heads): (Convention, &[Vec<Vec<bool>>]),
    head: usize,
    layer: usize,
    out: &mut Outbox,
) {
    let Some(rows) = heads.get(head) else { return };
    of_head(ui, head, heads.len());
    boolean_grid(ui, convention, rows, out, |rows| {
        let mut heads = heads.to_vec();
        heads[head] = rows;
        Edit::SetMask(layer, MaskRule::MatrixPerHead { convention, heads })
    });
}

#[expect(clippy::too_many_arguments, reason = "one row of the panel; every argument is one of its parts")]
fn count(
    ui: &mut Ui,
    label: &str,
    current: usize,
    range: std::ops::RangeInclusive<usize>,
    layer: usize,
    state: &mut UiState,
    out: &mut Outbox,
    rule: impl FnOnce(usize) -> MaskRule,
) {
    let mut value = current;
    let response =
        widgets::setting(ui, label, |ui| ui.add(DragValue::new(&mut value).range(range).speed(0.05)));
    if response.changed() {
        out.edit_in(Edit::SetMask(layer, rule(value)), drag_gesture(state, &response));
    }
}

/// A window counts keys besides the token itself; a text that says "a window of W keys" counts the token too.
fn window(
    ui: &mut Ui,
    sides: (Option<usize>, Option<usize>),
    layer: usize,
    state: &mut UiState,
    out: &mut Outbox,
) {
    let (left, right) = sides;
    let mut set =
        |left, right, gesture| out.edit_in(Edit::SetMask(layer, MaskRule::Window { left, right }), gesture);
    let sides = [("keys before", left, true), ("keys after", right, false)];
    for (label, side, is_left) in sides {
        let with = |value| if is_left { (value, right) } else { (left, value) };
        let mut bounded = side.is_some();
        let mut value = side.unwrap_or(2);
        let mut dragged = None;
        widgets::setting(ui, label, |ui| {
            let check = ui.checkbox(&mut bounded, "").on_hover_text("Off: unbounded on this side");
            check.widget_info(|| {
                egui::WidgetInfo::selected(egui::Role::CheckBox, true, bounded, format!("Bound {label}"))
            });
            if check.changed() {
                let (left, right) = with(bounded.then_some(value));
                set(left, right, 0);
            }
            if bounded && side.is_some() {
                let field = ui.add(DragValue::new(&mut value).range(0..=100_000).speed(0.05));
                let field = widgets::named(field, label);
                if field.changed() {
                    dragged = Some(field);
                }
            }
            check
        });
        if let Some(field) = dragged {
            let (left, right) = with(Some(value));
            set(left, right, drag_gesture(state, &field));
        }
    }
    let inclusive = match (left, right) {
        (Some(left), Some(right)) => format!("{} keys, the token itself included", left + right + 1),
        (Some(left), None) => format!("itself, {left} before, all after"),
        (None, Some(right)) => format!("itself, all before, {right} after"),
        (None, None) => "no bound on either side".to_owned(),
    };
    widgets::caption(ui, inclusive);
}

fn flags(ui: &mut Ui, scene: &Scene, padded: &[bool], layer: usize, out: &mut Outbox) {
    ui.horizontal_wrapped(|ui| {
        for (key, flag) in padded.iter().enumerate() {
            let mut value = *flag;
            let label = scene.key_labels().get(key).map_or("", String::as_str);
            if ui
                .checkbox(&mut value, label)
                .on_hover_text("Ticked: padding, hidden from every query")
                .changed()
            {
                let mut padded = padded.to_vec();
                padded[key] = value;
                out.edit(Edit::SetMask(layer, MaskRule::PaddedKeys(padded)));
            }
        }
    });
}

fn document_numbers(ui: &mut Ui, documents: &[i64], layer: usize, state: &mut UiState, out: &mut Outbox) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        for (position, document) in documents.iter().enumerate() {
            let mut value = *document;
            let name = format!("Document of position {}", position + 1);
            let field =
                widgets::named(ui.add(DragValue::new(&mut value).speed(0.03)), &name).on_hover_text(&name);
            if field.changed() {
                let mut documents = documents.to_vec();
                documents[position] = value;
                out.edit_in(
                    Edit::SetMask(layer, MaskRule::Documents(documents)),
                    drag_gesture(state, &field),
                );
            }
        }
    });
}

/// The positions that a `Global` layer opens, each to be ticked.
fn global_positions(ui: &mut Ui, scene: &Scene, positions: &[usize], layer: usize, out: &mut Outbox) {
    ui.horizontal_wrapped(|ui| {
        for position in 0..scene.n_q().max(scene.n_k()) {
            let mut is_open = positions.contains(&position);
            let hint = format!("Position {}: ticked, its row and its column stay visible", position + 1);
            if ui.checkbox(&mut is_open, (position + 1).to_string()).on_hover_text(hint).changed() {
                let mut open: Vec<usize> =
                    positions.iter().copied().filter(|other| *other != position).collect();
                if is_open {
                    open.push(position);
                    open.sort_unstable();
                }
                out.edit(Edit::SetMask(layer, MaskRule::Global(open)));
            }
        }
    });
}

/// Which of several heads a layer shows its part of.
fn of_head(ui: &mut Ui, head: usize, n_heads: usize) {
    widgets::caption(ui, format!("of head {} of {n_heads}, the one on screen", head + 1));
}

/// The slope of the head on screen.
fn slope(ui: &mut Ui, slopes: &[f64], head: usize, layer: usize, state: &mut UiState, out: &mut Outbox) {
    let Some(mut slope) = slopes.get(head).copied() else { return };
    of_head(ui, head, slopes.len());
    let response = widgets::setting(ui, "slope", |ui| {
        ui.add(DragValue::new(&mut slope).speed(0.005).max_decimals(6))
            .on_hover_text("Taken off the score for every position between key and query")
    });
    if response.changed() {
        let mut slopes = slopes.to_vec();
        slopes[head] = slope;
        out.edit_in(Edit::SetMask(layer, MaskRule::Alibi(slopes)), drag_gesture(state, &response));
    }
}

fn add_menu(ui: &mut Ui, scene: &Scene, out: &mut Outbox) {
    let (n_q, n_k) = (scene.n_q(), scene.n_k());
    let color = Colors::in_use(ui).accent;
    ui.menu_button(RichText::new("+ add a mask layer").color(color), |ui| {
        let fresh = [
            ("Causal, top left", MaskRule::Causal(Corner::TopLeft)),
            ("Causal, bottom right", MaskRule::Causal(Corner::BottomRight)),
            ("Padding at the right", MaskRule::ValidKeys(n_k.saturating_sub(1))),
            ("Padded keys, one by one", MaskRule::PaddedKeys(vec![false; n_k])),
            ("Window", MaskRule::Window { left: Some(1), right: Some(0) }),
            (
                "Documents",
                MaskRule::Documents((0..n_k).map(|key| i64::from(key >= n_k.div_ceil(2))).collect()),
            ),
            ("Prefix", MaskRule::Prefix(1.min(n_k))),
            ("Global positions", MaskRule::Global(vec![0])),
            ("Stride", MaskRule::Strided(2)),
            (
                "Boolean, true allows",
                MaskRule::Matrix { convention: Convention::TrueAllows, rows: vec![vec![true; n_k]; n_q] },
            ),
            (
                "Boolean, true blocks",
                MaskRule::Matrix { convention: Convention::TrueBlocks, rows: vec![vec![false; n_k]; n_q] },
            ),
            ("Additive", MaskRule::Additive(Matrix::zeros(n_q, n_k))),
        ];
        let n_heads = scene.heads();
        let (convention, visible) = (Convention::TrueAllows, vec![vec![true; n_k]; n_q]);
        let of_each_head = [
            ("Boolean of each head", MaskRule::MatrixPerHead { convention, heads: vec![visible; n_heads] }),
            ("Additive of each head", MaskRule::AdditivePerHead(vec![Matrix::zeros(n_q, n_k); n_heads])),
        ];
        let offered = fresh.into_iter().chain(of_each_head.into_iter().filter(|_| n_heads > 1));
        for (text, rule) in offered {
            if ui.button(text).clicked() {
                out.edit(Edit::AddMask(rule));
            }
        }
    });
}

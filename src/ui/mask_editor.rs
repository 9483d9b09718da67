//! Mask layers: add, remove, reorder, and the numbers of each.

use egui::{DragValue, Frame, Margin, RichText, Ui};

use crate::engine::{Convention, Corner, MaskRule, Matrix};
use crate::figure::mask_name;
use crate::scene::Scene;
use crate::session::Edit;

use super::settings_panel::drag_gesture;
use super::style::Colors;
use super::{Outbox, UiState, widgets};

/// Draws the layers and the menu that adds one.
pub fn show(ui: &mut Ui, scene: &Scene, state: &mut UiState, out: &mut Outbox) {
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
                    numbers(ui, scene, layer, rule, state, out);
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

fn numbers(ui: &mut Ui, scene: &Scene, layer: usize, rule: &MaskRule, state: &mut UiState, out: &mut Outbox) {
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
        MaskRule::Matrix { convention, rows } => {
            if ui
                .small_button("Read it the other way")
                .on_hover_text("What true means in this mask")
                .clicked()
            {
                let convention = match convention {
                    Convention::TrueAllows => Convention::TrueBlocks,
                    Convention::TrueBlocks => Convention::TrueAllows,
                };
                out.edit(Edit::SetMask(layer, MaskRule::Matrix { convention, rows: rows.clone() }));
            }
            boolean_grid(ui, *convention, rows, layer, out);
        }
        MaskRule::Global(positions) => {
            let list: Vec<String> = positions.iter().map(|position| (position + 1).to_string()).collect();
            widgets::caption(ui, format!("positions {}", list.join(", ")));
        }
        MaskRule::Additive(bias) => additive_grid(ui, bias, layer, state, out),
        MaskRule::MatrixPerHead { .. } | MaskRule::AdditivePerHead(_) | MaskRule::Alibi(_) => {
            widgets::caption(ui, "one per query head; edit it in the file");
        }
    }
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

/// A boolean mask as a grid to click; each square shows what the value comes to, not the value.
fn boolean_grid(ui: &mut Ui, convention: Convention, rows: &[Vec<bool>], layer: usize, out: &mut Outbox) {
    let n_k = rows.first().map_or(0, Vec::len);
    if rows.is_empty() || n_k == 0 || rows.len() > 16 || n_k > 16 {
        return;
    }
    let colors = Colors::in_use(ui);
    let side = (ui.available_width() / n_k as f32).min(16.0);
    for (query, row) in rows.iter().enumerate() {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(1.0, 1.0);
            for (key, value) in row.iter().enumerate() {
                let allows = *value == (convention == Convention::TrueAllows);
                let (rect, response) = ui.allocate_exact_size(egui::vec2(side, side), egui::Sense::click());
                ui.painter().rect_filled(rect, 2, if allows { colors.accent } else { colors.rule });
                let name = format!("Mask row {}, column {}: {value}", query + 1, key + 1);
                response
                    .widget_info(|| egui::WidgetInfo::selected(egui::Role::CheckBox, true, *value, &name));
                if response
                    .on_hover_text(format!("{name}, {}", if allows { "visible" } else { "blocked" }))
                    .clicked()
                {
                    let mut rows = rows.to_vec();
                    rows[query][key] = !value;
                    out.edit(Edit::SetMask(layer, MaskRule::Matrix { convention, rows }));
                }
            }
        });
    }
}

fn additive_grid(ui: &mut Ui, bias: &Matrix, layer: usize, state: &mut UiState, out: &mut Outbox) {
    if bias.rows() > 8 || bias.cols() > 8 {
        widgets::caption(ui, format!("{} × {}; edit it in the file", bias.rows(), bias.cols()));
        return;
    }
    ui.spacing_mut().item_spacing = egui::vec2(2.0, 2.0);
    ui.spacing_mut().interact_size.x = 26.0;
    for row in 0..bias.rows() {
        ui.horizontal(|ui| {
            for col in 0..bias.cols() {
                let mut value = bias.get(row, col);
                let field = DragValue::new(&mut value)
                    .speed(0.02)
                    .max_decimals(3)
                    .custom_formatter(|value, _| {
                        if value == f64::NEG_INFINITY { "−∞".to_owned() } else { format!("{value}") }
                    })
                    .custom_parser(|text| super::cell_editor::parse_number(text).ok());
                let name = format!("Bias of query {}, key {}", row + 1, col + 1);
                let response = widgets::named(ui.add(field), &name)
                    .on_hover_text("Added to the scaled score; −inf blocks");
                if response.changed() {
                    let mut bias = bias.clone();
                    bias.set(row, col, value);
                    out.edit_in(
                        Edit::SetMask(layer, MaskRule::Additive(bias)),
                        drag_gesture(state, &response),
                    );
                }
            }
        });
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
        for (text, rule) in fresh {
            if ui.button(text).clicked() {
                out.edit(Edit::AddMask(rule));
            }
        }
    });
}

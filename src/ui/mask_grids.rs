//! Masks and biases as grids to click and to type into.

use egui::{DragValue, Ui};

use crate::engine::{Convention, Matrix};
use crate::session::Edit;

use super::settings_panel::drag_gesture;
use super::style::Colors;
use super::{Outbox, UiState, widgets};

/// Up to this many squares a side can be told apart in the panel.
const MOST_SQUARES: usize = 16;
/// Up to this many number fields a side fit into it.
const MOST_FIELDS: usize = 8;

/// A boolean mask as a grid to click; each square shows what the value comes to, not the value.
pub fn boolean_grid(
    ui: &mut Ui,
    convention: Convention,
    rows: &[Vec<bool>],
    out: &mut Outbox,
    edit: impl Fn(Vec<Vec<bool>>) -> Edit,
) {
    let n_k = rows.first().map_or(0, Vec::len);
    if rows.is_empty() || n_k == 0 {
        return;
    }
    if rows.len().max(n_k) > MOST_SQUARES {
        widgets::caption(ui, format!("{} × {n_k}; edit it in the file", rows.len()));
        return;
    }
    let colors = Colors::in_use(ui);
    let side = (ui.available_width() / n_k as f32).min(16.0);
    // A row is as high as its squares, not as a button.
    (ui.spacing_mut().interact_size.y, ui.spacing_mut().item_spacing.y) = (side, 1.0);
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
                    out.edit(edit(rows));
                }
            }
        });
    }
}

/// A matrix of biases as number fields.
pub fn additive_grid(
    ui: &mut Ui,
    bias: &Matrix,
    state: &mut UiState,
    out: &mut Outbox,
    edit: impl Fn(Matrix) -> Edit,
) {
    if bias.rows().max(bias.cols()) > MOST_FIELDS {
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
                    out.edit_in(edit(bias), drag_gesture(state, &response));
                }
            }
        });
    }
}

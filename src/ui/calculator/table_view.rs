//! Columns side by side.

use egui::{Grid, Label, RichText, Ui};

use super::super::style::{Colors, bold};
use super::answer::Table;
use super::chart_view::{column_color, dot};

/// Draws the table. Returns the column whose name was clicked.
pub fn show(ui: &mut Ui, table: &Table, selected: usize) -> Option<usize> {
    let colors = Colors::in_use(ui);
    let mut clicked = None;
    let width = ((ui.available_width() - 150.0) / table.names.len().max(1) as f32 - 16.0).clamp(90.0, 220.0);
    Grid::new("columns side by side").num_columns(table.names.len() + 1).spacing([16.0, 3.0]).show(
        ui,
        |ui| {
            ui.label("");
            for (column, name) in table.names.iter().enumerate() {
                ui.horizontal(|ui| {
                    ui.set_max_width(width);
                    dot(ui, column_color(ui, column));
                    let ink = if column == selected { colors.accent } else { colors.ink };
                    let text = RichText::new(name).family(bold()).color(ink);
                    let label = Label::new(text).truncate().sense(egui::Sense::click());
                    if ui.add(label).on_hover_text("Look at its sizes").clicked() {
                        clicked = Some(column);
                    }
                });
            }
            ui.end_row();
            for row in &table.rows {
                ui.label(RichText::new(&row.label).color(colors.muted));
                for (text, exact) in &row.cells {
                    ui.scope(|ui| {
                        ui.set_max_width(width);
                        let label =
                            ui.add(Label::new(RichText::new(text).color(colors.ink)).wrap().selectable(true));
                        if !exact.is_empty() {
                            label.on_hover_text(exact);
                        }
                    });
                }
                ui.end_row();
            }
        },
    );
    clicked
}

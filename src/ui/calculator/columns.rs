//! The row of columns: the scene, what stands beside it, and the way to one more.

use egui::{Button, CornerRadius, RichText, Ui};

use crate::session::{Calculate, Calculators, Command, Session};

use super::super::style::Colors;
use super::super::{Outbox, widgets};
use super::CalculatorState;
use super::answer::Question;
use super::chart_view::{column_color, dot};
use super::presets;

/// Draws the row.
pub fn show(
    ui: &mut Ui,
    session: &Session,
    question: &Question,
    state: &mut CalculatorState,
    out: &mut Outbox,
) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        for (column, configuration) in question.columns.iter().enumerate() {
            chip(ui, column, &configuration.name, column == question.selected, out);
            ui.add_space(6.0);
        }
        add(ui, session, question, state, out);
    });
}

fn chip(ui: &mut Ui, column: usize, name: &str, is_selected: bool, out: &mut Outbox) {
    let colors = Colors::in_use(ui);
    dot(ui, column_color(ui, column));
    let ink = if is_selected { colors.accent } else { colors.ink };
    let fill = if is_selected { colors.accent_soft } else { egui::Color32::TRANSPARENT };
    let text = if name.trim().is_empty() { "without a name" } else { name };
    let short = crate::figure::shorten_to_graphemes(text, 24);
    let button = Button::new(RichText::new(short).color(ink)).fill(fill).corner_radius(CornerRadius::same(9));
    if ui.add(button).on_hover_text(text).clicked() {
        out.push(Command::Calculate(Calculate::Select(column)));
    }
    if column > 0 {
        let cross = RichText::new("×").color(colors.muted);
        if widgets::quiet_button(ui, cross, &format!("Take {text} away, column {}", column + 1)).clicked() {
            out.push(Command::Calculate(Calculate::Remove(column)));
        }
    }
}

/// The picker of published models, own sizes, and a file; or why there is no room.
fn add(ui: &mut Ui, session: &Session, question: &Question, state: &mut CalculatorState, out: &mut Outbox) {
    let accent = Colors::in_use(ui).accent;
    let is_full = session.calculators().is_full();
    let button = Button::new(RichText::new("+ add a model").color(accent)).frame(false);
    let response = ui.add_enabled(!is_full, button).on_disabled_hover_text(format!(
        "{} stand side by side at most; take one away first",
        Calculators::MOST_BESIDE + 1
    ));
    presets::popup(&response, question, state, out);
}

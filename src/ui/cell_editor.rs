//! Editing one number in place, as in a spreadsheet. A half-typed number is a draft here, never in the scene.

use egui::{Key, Ui};

use crate::session::{Edit, Slot};

use super::Outbox;
use super::style::Colors;

/// The cell that is being typed into.
#[derive(Clone, Debug, PartialEq)]
pub struct CellEditor {
    /// Which matrix of the scene.
    pub slot: Slot,
    /// Row, from 0.
    pub row: usize,
    /// Column, from 0.
    pub col: usize,
    /// What has been typed so far.
    pub draft: String,
    /// Why the draft is no number, once the user tried to leave it.
    pub complaint: Option<String>,
    /// Ask for the keyboard in the first frame.
    pub is_new: bool,
    /// Select what is there, so that typing replaces it.
    pub select_all: bool,
}

/// How editing ended, and where to go from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Stay on the cell.
    Here,
    /// Go down one row.
    Down,
    /// Go right one column.
    Right,
    /// Go left one column.
    Left,
}

impl CellEditor {
    /// Draws the field over the cell. Returns how editing ended, if it did.
    pub fn show(&mut self, ui: &mut Ui, cell: egui::Rect, out: &mut Outbox) -> Option<Ended> {
        let colors = Colors::in_use(ui);
        let rect = egui::Rect::from_center_size(
            cell.center(),
            egui::vec2(cell.width().max(64.0), cell.height().max(22.0)),
        );
        let (tab, back_tab, enter, escape) = ui.input_mut(|input| {
            let back_tab = input.consume_key(egui::Modifiers::SHIFT, Key::Tab);
            let tab = input.consume_key(egui::Modifiers::NONE, Key::Tab);
            // Consumed, so that the board does not take the same key for a new edit.
            let enter = input.consume_key(egui::Modifiers::NONE, Key::Enter);
            let escape = input.consume_key(egui::Modifiers::NONE, Key::Escape);
            (tab, back_tab, enter, escape)
        });
        let id = ui.scope_id().with("cell editor");
        // A child of its own: the field lies over the board and must not push down what stands below.
        let mut child = ui.new_child(egui::UiBuilder::new().max_rect(rect));
        let mut output = egui::TextEdit::singleline(&mut self.draft)
            .id(id)
            .align(egui::Align2::CENTER_CENTER)
            .margin(egui::Margin::symmetric(3, 2))
            .background_color(colors.panel)
            .desired_width(rect.width())
            .show(&mut child);
        output.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Cell value"));
        if std::mem::take(&mut self.is_new) {
            output.response.request_focus();
            let end = egui::text::CCursor::new(self.draft.chars().count());
            let start = if self.select_all { egui::text::CCursor::new(0) } else { end };
            output.state.cursor.set_char_range(Some(egui::text::CCursorRange::two(start, end)));
            output.state.store(ui.ctx(), id);
            return None;
        }
        ui.painter().rect_stroke(rect, 3, egui::Stroke::new(1.5, colors.accent), egui::StrokeKind::Outside);
        self.show_complaint(ui, rect);
        if escape {
            output.response.surrender_focus();
            return Some(Ended::Here);
        }
        let leaving = enter || tab || back_tab || output.response.lost_focus();
        if !leaving {
            return None;
        }
        let committed = self.commit(out);
        if committed {
            output.response.surrender_focus();
        }
        committed.then_some(match (tab, back_tab, enter) {
            (true, ..) => Ended::Right,
            (_, true, _) => Ended::Left,
            (_, _, true) => Ended::Down,
            _ => Ended::Here,
        })
    }

    /// Hands the number over; a draft that is no number stays, with a hint under the cell.
    fn commit(&mut self, out: &mut Outbox) -> bool {
        match parse_number(&self.draft) {
            Ok(value) => {
                out.edit(Edit::SetCell { slot: self.slot, row: self.row, col: self.col, value });
                true
            }
            Err(complaint) => {
                self.complaint = Some(complaint);
                self.is_new = true;
                self.select_all = false;
                false
            }
        }
    }

    fn show_complaint(&self, ui: &Ui, rect: egui::Rect) {
        if let Some(complaint) = &self.complaint {
            let colors = Colors::in_use(ui);
            let font = egui::TextStyle::Small.resolve(ui.style());
            let galley = ui.painter().layout_no_wrap(complaint.clone(), font, colors.bad);
            let at = rect.left_bottom() + egui::vec2(0.0, 4.0);
            let ground = egui::Rect::from_min_size(at, galley.size()).expand2(egui::vec2(5.0, 3.0));
            ui.painter().rect_filled(ground, 3, colors.bad_soft);
            ui.painter().galley(at, galley, colors.bad);
        }
    }
}

/// A number as people type it: `0.5`, `-1e3`, `1/3`, `√2`, `inf`, `nan`. The point is the decimal sign.
///
/// # Errors
/// A sentence that says what was typed and what is expected.
pub fn parse_number(text: &str) -> Result<f64, String> {
    let text = text.trim().replace('\u{2212}', "-");
    if text.contains(',') {
        return Err(format!("“{text}” has a comma; the decimal sign is a point"));
    }
    let one = |part: &str| -> Option<f64> {
        let part = part.trim();
        let (sign, part) = part.strip_prefix('-').map_or((1.0, part), |rest| (-1.0, rest.trim_start()));
        let value = match part.to_lowercase().as_str() {
            "∞" | "inf" | "infinity" => Some(f64::INFINITY),
            "nan" => Some(f64::NAN),
            other => match other.strip_prefix('√') {
                Some(root) => root.trim().parse::<f64>().ok().map(f64::sqrt),
                None if other.starts_with(['+', '-']) && sign < 0.0 => None,
                None => other.parse::<f64>().ok(),
            },
        };
        value.map(|value| sign * value)
    };
    let value = match text.split_once('/') {
        Some((above, below)) => one(above).zip(one(below)).map(|(above, below)| above / below),
        None => one(&text),
    };
    value.ok_or_else(|| format!("“{text}” is no number; type something like 0.5, −2, 1/3 or −inf"))
}

/// Rows of numbers separated by tabs, commas, semicolons or spaces. A first line and a first column that hold no numbers are
/// labels, as this program copies them, and are left out.
pub fn parse_block(text: &str) -> Result<Vec<Vec<f64>>, String> {
    let mut rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| match line.contains('\t') {
            true => line.split('\t').collect(),
            false => line.split([',', ';', ' ']).filter(|part| !part.is_empty()).collect(),
        })
        .collect();
    let has_labels = rows.len() > 1 && rows[0].first().is_some_and(|corner| corner.trim().is_empty());
    if has_labels {
        rows.remove(0);
        for row in &mut rows {
            row.remove(0);
        }
    }
    rows.into_iter().map(|row| row.into_iter().map(parse_number).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_type_them() {
        for (text, value) in
            [("0.5", 0.5), (" -2 ", -2.0), ("−1e3", -1000.0), ("1/4", 0.25), ("-inf", f64::NEG_INFINITY)]
        {
            assert_eq!(parse_number(text), Ok(value), "{text}");
        }
        assert_eq!(parse_number("√2"), Ok(2f64.sqrt()));
        assert!(parse_number("nan").is_ok_and(f64::is_nan));
    }

    #[test]
    fn a_comma_is_named_as_the_mistake() {
        assert!(parse_number("0,5").is_err_and(|sentence| sentence.contains("comma")));
        assert!(parse_number("1.0.0").is_err_and(|sentence| sentence.contains("1.0.0")));
        assert!(parse_number("").is_err());
    }
}

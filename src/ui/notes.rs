//! The scene's notes as Markdown, below the board.

use egui::{RichText, Ui};
use egui_commonmark::{CommonMarkCache, CommonMarkViewer};

use crate::session::Session;

use super::style::{Colors, bold};
use super::{Action, Outbox, UiState, Wish};

/// What the Markdown viewer keeps between frames.
#[derive(Default)]
pub struct NotesState {
    cache: CommonMarkCache,
}

/// Lines longer than this tire the eye.
const LONGEST_LINE: f32 = 760.0;

/// Draws the notes and the button that edits them.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    let colors = Colors::in_use(ui);
    let notes = session.document().scene().spec().notes.trim();
    ui.separator();
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Notes").family(bold()).color(colors.ink));
        let button =
            ui.add(egui::Button::new(RichText::new("edit").small().color(colors.accent)).frame(false));
        button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "Edit title and notes"));
        if button.clicked() {
            out.wish(Wish::Act(Action::EditNotes));
        }
    });
    if notes.is_empty() {
        ui.label(RichText::new("This scene has no notes yet.").color(colors.muted));
        return;
    }
    ui.scope(|ui| {
        // The scroll bar lies over the right edge.
        ui.set_max_width((ui.available_width() - 18.0).min(LONGEST_LINE));
        CommonMarkViewer::new().show(ui, &mut state.notes.cache, notes);
    });
    ui.add_space(12.0);
}

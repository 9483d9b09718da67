//! The window: panels in order, and what they remember between frames.

use std::path::PathBuf;

use egui::{CentralPanel, Frame, Margin, Panel, Stroke, Ui};
use serde::{Deserialize, Serialize};

use crate::session::{Centre, Session};

use super::board::BoardState;
use super::computing::{self, ComputingState};
use super::dialogs::Dialog;
use super::figures::Figures;
use super::notes::NotesState;
use super::style::Colors;
use super::{
    Outbox, banner, board, calculator, check_bar, dialogs, inspector, menu_bar, scene_list, settings_panel,
};

/// Which panels are shown. Restored at the next start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layout {
    /// Scenes and settings, at the left.
    pub scenes: bool,
    /// Inspector and calculators, at the right.
    pub inspector: bool,
    /// Notes below the board.
    pub notes: bool,
    /// Nothing but the board, for a lecture.
    pub presenting: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self { scenes: true, inspector: true, notes: true, presenting: false }
    }
}

/// What the panels remember between frames: drafts, open dialogs, zoom. Nothing of the scene.
#[derive(Default)]
pub struct UiState {
    /// Which panels are shown.
    pub layout: Layout,
    /// What the scene list is filtered by.
    pub search: String,
    /// Whether the filter field wants the keyboard in this frame.
    pub focus_search: bool,
    /// The open dialog.
    pub dialog: Option<Dialog>,
    /// Recently opened files, newest first.
    pub recent: Vec<PathBuf>,
    /// Files of that list that exist.
    pub recent_present: Vec<bool>,
    /// A file is being dragged over the window.
    pub dropping: bool,
    /// How far the evaluation is, where one is under way.
    pub computing: ComputingState,
    /// A file dialog has not answered for some seconds.
    pub slow_dialog: bool,
    /// The board.
    pub board: BoardState,
    /// Drawings of the present revision.
    pub figures: Figures,
    /// The notes.
    pub notes: NotesState,
    /// The calculators' figures beside the board.
    pub costs: super::costs::CostsState,
    /// The calculators in the centre.
    pub calculator: calculator::CalculatorState,
    /// The trace shows every term of long sums.
    pub trace_in_full: bool,
    /// Counts gestures, so that one drag is one step of the history.
    pub gesture: u64,
}

/// Draws the whole window and collects what the user wants.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    computing::look(ui, session, state);
    let colors = Colors::in_use(ui);
    let side = Frame::new().fill(colors.panel).inner_margin(Margin::symmetric(12, 8));
    let bar = Frame::new().fill(colors.panel).inner_margin(Margin::symmetric(10, 4));
    if !state.layout.presenting {
        Panel::top("menu bar").frame(bar).show(ui, |ui| menu_bar::show(ui, session, state, out));
        Panel::bottom("check bar").frame(bar).show(ui, |ui| check_bar::show(ui, session, state));
        if state.layout.scenes {
            Panel::left("scenes").frame(side).default_size(206.0).size_range(180.0..=380.0).show(ui, |ui| {
                Panel::bottom("scene settings")
                    .frame(Frame::new().inner_margin(Margin { top: 8, ..Margin::ZERO }))
                    .resizable(true)
                    .default_size(308.0)
                    .size_range(120.0..=640.0)
                    .show(ui, |ui| settings_panel::show(ui, session, state, out));
                CentralPanel::no_frame().show(ui, |ui| scene_list::show(ui, session, state, out));
            });
        }
        if state.layout.inspector {
            Panel::right("inspector").frame(side).default_size(306.0).size_range(260.0..=560.0).show(
                ui,
                |ui| {
                    if computing::covers(session, state) {
                        ui.set_opacity(0.45); // as the board that it speaks of
                    }
                    inspector::show(ui, session, state, out);
                },
            );
        }
    }
    CentralPanel::default().frame(Frame::new().fill(colors.paper)).show(ui, |ui| match session.problem() {
        Some(problem) => banner::show(ui, session, problem, state, out),
        None if session.centre() == Centre::Calculators => calculator::show(ui, session, state, out),
        None if computing::covers(session, state) => computing::show(ui, session, state, out),
        None => board::show(ui, session, state, out),
    });
    dialogs::show(ui, session, state, out);
    if state.slow_dialog {
        dialogs::slow(ui, out);
    }
    if state.dropping {
        drop_overlay(ui);
    }
}

fn drop_overlay(ui: &Ui) {
    let colors = Colors::in_use(ui);
    let painter =
        ui.ctx().layer_painter(egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop overlay")));
    let rect = ui.ctx().content_rect();
    painter.rect_filled(rect, 0, colors.paper.gamma_multiply(0.85));
    painter.rect_stroke(rect.shrink(16.0), 10, Stroke::new(2.0, colors.accent), egui::StrokeKind::Inside);
    let font = egui::FontId::new(20.0, super::style::bold());
    painter.text(rect.center(), egui::Align2::CENTER_CENTER, "Drop a scene to open it", font, colors.accent);
}

//! A long evaluation: how far it is and the way to stop it, over the board as it was before.

use std::time::Duration;

use egui::{Align2, Area, Frame, Key, Margin, Modifiers, Order, ProgressBar, RichText, Stroke, Ui, vec2};

use crate::session::{Command, Session};

use super::style::Colors;
use super::widgets::caption;
use super::{Outbox, UiState, board};

/// What is known of the evaluation that is under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComputingState {
    /// The share that is done, from 0 to 1.
    pub fraction: f64,
    evaluation: Wait,
    checks: Wait,
}

/// How long the window has been waiting for something.
#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    /// When it first saw that there is something to wait for, in seconds.
    since: Option<f64>,
    /// Whether it has taken so long that the user should be told.
    is_long: bool,
}

impl Wait {
    /// Looks at the clock; the seconds after which to look again while the wait is not long yet.
    fn look(&mut self, waits: bool, now: f64) -> Option<f64> {
        if !waits {
            *self = Self::default();
            return None;
        }
        let left = UNSEEN - (now - *self.since.get_or_insert(now));
        self.is_long = left <= 0.0;
        (!self.is_long).then_some(left)
    }
}

/// An evaluation that is shorter than this passes unseen, in seconds.
const UNSEEN: f64 = 0.2;
/// The time between two looks at the progress, in seconds.
const STEP: f64 = 0.05;
const WIDTH: f32 = 420.0;

/// Looks at the clock, and asks for the frame in which to look again. To be called once in a frame.
pub fn look(ui: &Ui, session: &Session, state: &mut UiState) {
    let ComputingState { evaluation, checks, .. } = &mut state.computing;
    let now = ui.input(|input| input.time);
    let waits = [evaluation.look(session.is_evaluating(), now), checks.look(session.is_checking(), now)];
    let next_progress = evaluation.is_long.then_some(STEP);
    // Checks that are late show no progress: their arrival wakes the window.
    for seconds in waits.into_iter().chain([next_progress]).flatten() {
        ui.ctx().request_repaint_after(Duration::from_secs_f64(seconds));
    }
}

/// Whether the checks of the board on screen have been awaited so long that those of the board before should no longer stand there.
pub fn checks_are_late(state: &UiState) -> bool {
    state.computing.checks.is_long
}

/// Whether the board waits: for an evaluation that takes long, or for the user who stopped one.
pub fn covers(session: &Session, state: &UiState) -> bool {
    state.computing.evaluation.is_long || session.is_stopped()
}

/// The share that is done, in a few characters, where an evaluation takes long.
pub fn percentage(state: &UiState) -> Option<String> {
    let ComputingState { fraction, evaluation, .. } = state.computing;
    evaluation.is_long.then(|| format!("{:.0} %", (100.0 * fraction.clamp(0.0, 1.0)).floor()))
}

/// Draws the board as it was, and over it what it waits for.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    board::show_at_rest(ui, session, state);
    let colors = Colors::in_use(ui);
    let width = WIDTH.min(ui.max_rect().width() - 32.0).max(120.0);
    // Dialogs are drawn after this and at a higher order.
    Area::new(egui::Id::unique("evaluation under way"))
        .order(Order::Middle)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(ui.max_rect().center_top() + vec2(0.0, 54.0))
        .show(ui.ctx(), |ui| {
            Frame::new()
                .fill(colors.panel)
                .stroke(Stroke::new(1.0, colors.rule))
                .corner_radius(8)
                .inner_margin(Margin::same(14))
                .show(ui, |ui| {
                    ui.set_width(width);
                    if session.is_stopped() {
                        stopped(ui, session, out);
                    } else {
                        under_way(ui, session, state, out);
                    }
                });
        });
    let is_free =
        state.dialog.is_none() && session.question().is_none() && !ui.ctx().egui_wants_keyboard_input();
    if is_free
        && session.is_evaluating()
        && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
    {
        out.push(Command::StopEvaluation);
    }
}

fn under_way(ui: &mut Ui, session: &Session, state: &UiState, out: &mut Outbox) {
    let colors = Colors::in_use(ui);
    let fraction = state.computing.fraction.clamp(0.0, 1.0);
    let text = format!("{}: {}", awaited(session), percentage(state).unwrap_or_default());
    ui.horizontal(|ui| {
        ui.label(RichText::new(&text).color(colors.ink));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("Cancel").on_hover_text("Esc. The board stays as it is").clicked() {
                out.push(Command::StopEvaluation);
            }
        });
    });
    ui.add_space(4.0);
    let bar = ui.add(ProgressBar::new(fraction as f32).desired_height(4.0).fill(colors.accent));
    bar.widget_info(|| {
        let mut info = egui::WidgetInfo::labeled(egui::Role::ProgressIndicator, true, "Evaluation");
        info.value = Some((100.0 * fraction).floor());
        info
    });
}

fn stopped(ui: &mut Ui, session: &Session, out: &mut Outbox) {
    let colors = Colors::in_use(ui);
    ui.horizontal(|ui| {
        ui.vertical(|ui| {
            ui.set_max_width(ui.available_width() - 90.0);
            let text = "The evaluation was stopped; the board behind is that of the scene before.";
            ui.add(egui::Label::new(RichText::new(text).color(colors.ink)).wrap());
            caption(ui, awaited(session));
        });
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("Compute").on_hover_text("Evaluate the scene as it is now").clicked() {
                out.push(Command::Evaluate);
            }
        });
    });
}

/// `12 heads, 512 × 512`.
fn awaited(session: &Session) -> String {
    let [heads, n_q, n_k] = session.awaited_sizes();
    let heads = if heads == 1 { "1 head".to_owned() } else { format!("{heads} heads") };
    format!("{heads}, {n_q} × {n_k}")
}

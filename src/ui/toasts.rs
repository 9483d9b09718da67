//! Short messages at the corner of the window that pass by themselves.
//!
//! While one stands nothing is repainted: the next frame is asked for when the first of them is due to fade.

use std::time::Duration;

use egui::{Align2, Area, Color32, Context, Frame, Id, Margin, Order, RichText, Sense, Stroke, Ui, vec2};

use super::style::{Colors, bold};
use super::widgets;

/// What a message is about; it decides how long the message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToastKind {
    /// Something small was done.
    Brief,
    /// Something was done, or is worth knowing.
    Done,
    /// Something failed.
    Failed,
}

#[derive(Debug)]
struct Toast {
    kind: ToastKind,
    text: String,
    /// When it is gone, in seconds of the window's clock; known from its first frame on.
    ends: Option<f64>,
}

/// The messages that stand, oldest first.
#[derive(Debug, Default)]
pub struct Toasts {
    standing: Vec<Toast>,
}

/// Longer messages wrap, in points.
const WIDEST: f32 = 420.0;

/// How long a message takes to fade, in seconds.
const FADE: f64 = 0.25;

impl Toasts {
    /// Shows one more message from the next frame on.
    pub fn push(&mut self, kind: ToastKind, text: impl Into<String>) {
        self.standing.push(Toast { kind, text: text.into(), ends: None });
    }

    /// Draws the messages over the window. One under the pointer stays.
    pub fn show(&mut self, ctx: &Context) {
        let now = ctx.input(|input| input.time);
        self.standing.retain(|toast| toast.ends.is_none_or(|ends| now < ends));
        if self.standing.is_empty() {
            return;
        }
        let area = Area::new(Id::unique("toasts")).order(Order::Foreground).interactable(true);
        // Above the bar along the bottom.
        let area = area.anchor(Align2::RIGHT_BOTTOM, vec2(-16.0, -44.0));
        area.show(ctx, |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            self.standing.retain_mut(|toast| toast.show(ui, now));
        });
        let due = self.standing.iter().filter_map(|toast| toast.ends).fold(f64::INFINITY, f64::min) - FADE;
        if due <= now {
            ctx.request_repaint();
        } else if due.is_finite() {
            ctx.request_repaint_after(Duration::from_secs_f64(due - now));
        }
    }
}

impl Toast {
    /// Draws the message; false when it was sent away.
    fn show(&mut self, ui: &mut Ui, now: f64) -> bool {
        let colors = Colors::in_use(ui);
        let (seconds, mark, color) = match self.kind {
            ToastKind::Brief => (2.0, "i", colors.accent),
            ToastKind::Done => (4.0, "i", colors.accent),
            ToastKind::Failed => (12.0, "!", colors.bad),
        };
        let ends = *self.ends.get_or_insert(now + seconds);
        let mut is_dismissed = false;
        let drawn = ui.scope(|ui| {
            ui.multiply_opacity(((ends - now) / FADE).clamp(0.0, 1.0) as f32);
            frame(&colors).show(ui, |ui| {
                ui.horizontal(|ui| {
                    icon(ui, mark, color);
                    // A long path wraps; the area is as wide as its widest message.
                    ui.set_max_width(WIDEST);
                    ui.label(RichText::new(&self.text).color(colors.ink));
                    let cross = RichText::new("×").color(colors.muted);
                    is_dismissed = widgets::quiet_button(ui, cross, "Dismiss").clicked();
                });
            });
        });
        if drawn.response.contains_pointer() {
            self.ends = Some(ends.max(now + 1.0));
        }
        !is_dismissed
    }
}

fn frame(colors: &Colors) -> Frame {
    Frame::new()
        .fill(colors.panel)
        .stroke(Stroke::new(1.0, colors.rule))
        .corner_radius(6)
        .inner_margin(Margin::symmetric(12, 8))
}

/// A letter on a disc.
fn icon(ui: &mut Ui, mark: &str, color: Color32) {
    let (area, _) = ui.allocate_exact_size(vec2(16.0, 16.0), Sense::hover());
    ui.painter().circle_filled(area.center(), 8.0, color);
    let paper = Colors::in_use(ui).panel;
    ui.painter().text(area.center(), Align2::CENTER_CENTER, mark, egui::FontId::new(11.0, bold()), paper);
}

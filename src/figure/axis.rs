//! Token labels along the rows and columns of a matrix.

use super::shorten::{shorten_to_width, visible};
use super::sketch::{HALF_DIGIT, Sketch, Style, width};
use super::{Anchor, Point, Rect, Stroke};

/// Labels of one axis and the one that is pinned.
#[derive(Clone, Copy)]
pub struct Axis<'a> {
    pub labels: &'a [String],
    pub pinned: Option<usize>,
    /// Size in points.
    pub size: f32,
}

/// Room that a column of labels may take at most, in points.
pub const WIDEST_LABEL: f32 = 96.0;

/// Labels of thinned axes may stand out this far at either side, in points.
const OVERHANG: f32 = 4.0;
/// Columns narrower than this cannot hold a label each, in points.
const THINNED_BELOW: f32 = 20.0;

impl Axis<'_> {
    fn style(&self, sketch: &Sketch, index: usize) -> Style {
        if self.pinned == Some(index) {
            sketch.bold(self.size, sketch.theme.accent)
        } else {
            sketch.ink(self.size)
        }
    }

    /// Width of the widest label as it will be drawn at the left of rows.
    pub fn widest(&self, sketch: &Sketch) -> f32 {
        let bold = sketch.bold(self.size, sketch.theme.ink);
        // A long sequence need not be measured to its end: labels thin out there.
        let labels = self.labels.iter().take(256);
        labels.map(|label| width(&shorten_to_width(label, bold, WIDEST_LABEL), bold)).fold(0.0, f32::max)
    }

    /// Draws labels at the left of the rows of `rect`, ending at `right`. They thin out where rows are too low for each.
    pub fn down(&self, sketch: &mut Sketch, rect: Rect, right: f32) {
        let step = rect.height / self.labels.len().max(1) as f32;
        for index in self.shown(step, self.size * 1.25) {
            let style = self.style(sketch, index);
            let label = shorten_to_width(&self.labels[index], style, WIDEST_LABEL);
            let at = Point { x: right, y: rect.y + (index as f32 + 0.5) * step + HALF_DIGIT * style.size };
            sketch.text(&label, style, at, Anchor::End);
        }
    }

    /// The same labels in the size, down to 8 points, in which the widest of them fits columns `step` wide.
    pub fn fitted(self, sketch: &Sketch, step: f32) -> Self {
        if step < THINNED_BELOW {
            return self;
        }
        let bold = sketch.bold(self.size, sketch.theme.ink);
        let widest =
            self.labels.iter().take(256).map(|label| width(&visible(label), bold)).fold(1.0, f32::max);
        let size = (self.size * (step - 3.0) / widest).clamp(self.size.min(8.0), self.size);
        Self { size: (size * 2.0).floor() / 2.0, ..self }
    }

    /// Draws labels above the columns of `rect` on the baseline `y`. They thin out where columns are too narrow.
    pub fn across(&self, sketch: &mut Sketch, rect: Rect, y: f32) {
        let step = rect.width / self.labels.len().max(1) as f32;
        let thinned = step < THINNED_BELOW;
        let pitch = if thinned { self.pitch(sketch) } else { step };
        for index in self.shown(step, pitch) {
            let style = self.style(sketch, index);
            let label = shorten_to_width(&self.labels[index], style, pitch.max(step) - 3.0);
            let mut x = rect.x + (index as f32 + 0.5) * step;
            if thinned {
                let tick = Stroke { width: 0.6, color: sketch.theme.border };
                sketch.line(Point { x, y: rect.y - 3.5 }, Point { x, y: rect.y }, tick);
                // Other labels stand close by on both sides of the matrix.
                let half = width(&label, style) / 2.0;
                if x - half < rect.x - OVERHANG || x + half > rect.right() + OVERHANG {
                    if self.pinned != Some(index) {
                        continue;
                    }
                    x = x.min(rect.right() - half).max(rect.x + half);
                }
            }
            sketch.text(&label, style, Point { x, y }, Anchor::Middle);
        }
    }

    /// Distance that thinned labels keep: as much as they need, within reason.
    fn pitch(&self, sketch: &Sketch) -> f32 {
        let bold = sketch.bold(self.size, sketch.theme.ink);
        let widest =
            self.labels.iter().take(256).map(|label| width(&shorten_to_width(label, bold, 48.0), bold));
        widest.fold(12.0, f32::max) + 6.0
    }

    /// Which labels are drawn so that any two are at least `pitch` apart: all, or every n-th, and always the pinned one.
    fn shown(&self, step: f32, pitch: f32) -> Vec<usize> {
        let every = (pitch / step.max(1e-6)).ceil().max(1.0) as usize;
        let pinned = self.pinned.filter(|pinned| *pinned < self.labels.len());
        // On a thinned axis the pinned label may have to move aside by half its width.
        let apart = if every == 1 { 1 } else { every + every.div_ceil(2) };
        let clear = |index: &usize| pinned.is_none_or(|pinned| index.abs_diff(pinned) >= apart);
        let mut shown: Vec<usize> = (0..self.labels.len()).step_by(every).filter(clear).collect();
        shown.extend(pinned);
        shown
    }
}

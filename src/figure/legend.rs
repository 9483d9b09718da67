//! What the colours of a matrix mean: a bar with both ends of its range.

use super::caption::SMALL;
use super::numbers::format_short;
use super::sketch::{Sketch, width};
use super::{Anchor, Cells, ColorScale, Point, Rect};

/// Height of the bar, in points.
const BAR: f32 = 7.0;
/// The bar is no wider than this, in points.
const WIDEST: f32 = 132.0;
/// Steps of colour in the bar.
const STEPS: usize = 64;

/// Draws the range of `scale` from `at` (top left) within `room` points; returns its last baseline.
///
/// `subject` stands between both ends where there is room for it.
pub fn legend(sketch: &mut Sketch, scale: &ColorScale, subject: &str, at: Point, room: f32) -> f32 {
    let (low, high) = scale.range();
    let baseline = at.y + BAR + 11.0;
    let style = sketch.muted(SMALL);
    if low >= high {
        let text = format!("{subject}: all {}", format_short(low, 4));
        sketch.text(&text, style, Point { x: at.x, y: baseline - BAR }, Anchor::Start);
        return baseline - BAR;
    }
    let (low, high) = (format_short(low, 4), format_short(high, 4));
    let ends = width(&low, style) + width(&high, style) + 8.0;
    let bar = room.min(WIDEST).max(ends);
    draw_bar(sketch, scale, Rect { x: at.x, y: at.y, width: bar, height: BAR });
    sketch.text(&low, style, Point { x: at.x, y: baseline }, Anchor::Start);
    sketch.text(&high, style, Point { x: at.x + bar, y: baseline }, Anchor::End);
    if ends + width(subject, style) + 8.0 <= bar {
        let left = at.x + width(&low, style);
        let right = at.x + bar - width(&high, style);
        sketch.text(subject, style, Point { x: (left + right) / 2.0, y: baseline }, Anchor::Middle);
    }
    baseline
}

/// How wide a legend is that was given `room`.
pub fn legend_width(sketch: &Sketch, scale: &ColorScale, room: f32) -> f32 {
    let (low, high) = scale.range();
    let style = sketch.muted(SMALL);
    let ends = width(&format_short(low, 4), style) + width(&format_short(high, 4), style) + 8.0;
    room.min(WIDEST).max(ends)
}

fn draw_bar(sketch: &mut Sketch, scale: &ColorScale, rect: Rect) {
    let fills = scale.samples(STEPS);
    sketch.cells(Cells { rect, rows: 1, cols: STEPS, fills, rule: 0.0, rule_color: sketch.theme.rule });
    sketch.border(rect);
}

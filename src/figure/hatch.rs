//! Marks that tell cells apart without colour: hatching for blocked ones, small signs for what is not a finite number.

use super::sketch::Sketch;
use super::{Outcome, Point, Rect, Stroke};

/// Distance between strokes along either axis, in points.
const SPACING: f32 = 6.5;
/// Cells smaller than this carry no sign; their colour alone tells.
const SMALLEST_MARKED: f32 = 7.0;

/// Hatches the cells for which `blocked` holds (numbered row by row as drawn) with rising diagonals.
///
/// One stroke runs through all blocked neighbours on its way: a causal mask of 64 × 64 takes some hundred strokes, not ten thousand.
pub fn hatch(sketch: &mut Sketch, rect: Rect, rows: usize, cols: usize, blocked: impl Fn(usize) -> bool) {
    if !(0..rows * cols).any(&blocked) {
        return;
    }
    let (width, height) = (rect.width / cols as f32, rect.height / rows as f32);
    let stroke = Stroke { width: 0.6, color: sketch.theme.hatch };
    let n_strokes = ((rect.width + rect.height) / SPACING) as usize;
    for i in 0..=n_strokes {
        // The points (x, y) of the matrix with x + y = sum, from the lower left to the upper right.
        let sum = (i as f32 + 0.5) * SPACING;
        let (first, last) = ((sum - rect.height).max(0.0), sum.min(rect.width));
        let mut from = first;
        let mut open: Option<f32> = None;
        while from < last - 1e-3 {
            let to = next_edge(from, sum, width, height).min(last);
            let middle = (from + to) / 2.0;
            let col = ((middle / width) as usize).min(cols - 1);
            let row = (((sum - middle) / height) as usize).min(rows - 1);
            match (blocked(row * cols + col), open) {
                (true, None) => open = Some(from),
                (false, Some(start)) => {
                    rising(sketch, rect, sum, (start, from), stroke);
                    open = None;
                }
                _ => {}
            }
            from = to;
        }
        if let Some(start) = open {
            rising(sketch, rect, sum, (start, last), stroke);
        }
    }
}

/// Where the diagonal leaves the cell that it is in at `x`: through the right edge or through the top edge.
fn next_edge(x: f32, sum: f32, width: f32, height: f32) -> f32 {
    let tiny = 1e-3;
    let right = ((x + tiny) / width).floor() * width + width;
    let top = ((sum - x - tiny) / height).floor() * height;
    right.min(sum - top).max(x + tiny)
}

fn rising(sketch: &mut Sketch, rect: Rect, sum: f32, (from, to): (f32, f32), stroke: Stroke) {
    let at = |x: f32| Point { x: rect.x + x, y: rect.y + sum - x };
    if to - from > 0.2 {
        sketch.line(at(from), at(to), stroke);
    }
}

/// Signs in the corner of cells that are not a finite number: a cross for NaN, a triangle up for +∞, down for −∞.
pub fn marks(sketch: &mut Sketch, rect: Rect, rows: usize, cols: usize, outcome: impl Fn(usize) -> Outcome) {
    let (width, height) = (rect.width / cols as f32, rect.height / rows as f32);
    if width.min(height) < SMALLEST_MARKED {
        return;
    }
    let side = (0.2 * width.min(height)).clamp(2.0, 4.5);
    for i in 0..rows * cols {
        let right = rect.x + (i % cols + 1) as f32 * width - 2.0;
        let top = rect.y + (i / cols) as f32 * height + 2.0;
        mark(sketch, outcome(i), Point { x: right - side, y: top }, side);
    }
}

fn mark(sketch: &mut Sketch, outcome: Outcome, at: Point, side: f32) {
    let color = sketch.theme.mark;
    let corner = |dx: f32, dy: f32| Point { x: at.x + dx * side, y: at.y + dy * side };
    match outcome {
        Outcome::NotANumber => {
            let stroke = Stroke { width: 0.9, color };
            sketch.line(corner(0.0, 0.0), corner(1.0, 1.0), stroke);
            sketch.line(corner(0.0, 1.0), corner(1.0, 0.0), stroke);
        }
        Outcome::PositiveInfinity => {
            sketch.triangle([corner(0.0, 1.0), corner(0.5, 0.0), corner(1.0, 1.0)], sketch.theme.ink);
        }
        Outcome::NegativeInfinity => {
            sketch.triangle([corner(0.0, 0.0), corner(0.5, 1.0), corner(1.0, 0.0)], sketch.theme.ink);
        }
        _ => {}
    }
}

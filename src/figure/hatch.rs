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
    let stroke = Stroke { width: 0.6, color: sketch.theme.hatch };
    let n_strokes = ((rect.width + rect.height) / SPACING) as usize;
    for i in 0..=n_strokes {
        // The points (x, y) of the matrix with x + y = sum.
        let sum = (i as f32 + 0.5) * SPACING;
        let mut open: Option<f32> = None;
        let mut end = 0.0;
        for step in Diagonal::new(rect, rows, cols, sum) {
            match (blocked(step.row * cols + step.col), open) {
                (true, None) => open = Some(step.from),
                (false, Some(start)) => {
                    rising(sketch, rect, sum, (start, step.from), stroke);
                    open = None;
                }
                _ => {}
            }
            end = step.to;
        }
        if let Some(start) = open {
            rising(sketch, rect, sum, (start, end), stroke);
        }
    }
}

/// The cells that a rising diagonal passes, from the lower left to the upper right.
struct Diagonal {
    width: f32,
    height: f32,
    sum: f32,
    x: f32,
    last: f32,
    row: usize,
    col: usize,
    cols: usize,
}

/// One cell on the way, and the stretch of x within it.
struct Passage {
    row: usize,
    col: usize,
    from: f32,
    to: f32,
}

impl Diagonal {
    fn new(rect: Rect, rows: usize, cols: usize, sum: f32) -> Self {
        let (width, height) = (rect.width / cols as f32, rect.height / rows as f32);
        let (x, last) = ((sum - rect.height).max(0.0), sum.min(rect.width));
        let col = ((x / width) as usize).min(cols - 1);
        let row = (((sum - x) / height) as usize).min(rows - 1);
        Self { width, height, sum, x, last, row, col, cols }
    }
}

impl Iterator for Diagonal {
    type Item = Passage;

    fn next(&mut self) -> Option<Passage> {
        if self.x >= self.last || self.col >= self.cols {
            return None;
        }
        let (row, col, from) = (self.row, self.col, self.x);
        let right = (col + 1) as f32 * self.width;
        let top = self.sum - row as f32 * self.height;
        if right <= top {
            self.col += 1;
            self.x = right;
        } else if row > 0 {
            self.row -= 1;
            self.x = top;
        } else {
            self.x = self.last;
        }
        Some(Passage { row, col, from, to: self.x.min(self.last) })
    }
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

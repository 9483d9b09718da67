//! Cells that are not what they seem, told apart without colour, and the key that explains them.

use super::caption::SMALL;
use super::hatch::hatch;
use super::matrix_view::MatrixView;
use super::sketch::Sketch;
use super::{Anchor, Cells, Point, Rect, Stroke};

/// Cells smaller than this carry no mark.
const SMALLEST: f32 = 5.0;
/// Size of a swatch of the key, in points.
const SWATCH: (f32, f32) = (16.0, 10.0);
/// From one line of the key to the next, in points.
pub const KEY_LINE: f32 = 15.0;

/// What is special about a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellMark {
    /// A mask hides it: hatched with rising strokes.
    Blocked,
    /// Dropout took it away: a falling stroke that leaves the number free.
    Dropped,
    /// A mask should hide it, but a mistake lets it through: framed.
    LetThrough,
    /// A mistake hides it, but no mask should: hatched and framed.
    HeldBack,
}

impl CellMark {
    /// All of them, in the order in which they are explained.
    pub const ALL: [Self; 4] = [Self::Blocked, Self::Dropped, Self::LetThrough, Self::HeldBack];

    fn words(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Dropped => "dropped",
            Self::LetThrough => "should be blocked",
            Self::HeldBack => "should be visible",
        }
    }
}

/// Strokes and frames of a matrix drawn in `rect`, but for the hatching. `mark` is asked for the i-th cell as drawn.
pub fn draw_marks(
    sketch: &mut Sketch,
    rect: Rect,
    (down, across): (usize, usize),
    mark: impl Fn(usize) -> Option<CellMark>,
) {
    let (width, height) = (rect.width / across as f32, rect.height / down as f32);
    if width.min(height) < SMALLEST {
        return;
    }
    for i in 0..down * across {
        let (x, y) = (rect.x + (i % across) as f32 * width, rect.y + (i / across) as f32 * height);
        draw_mark(sketch, Rect { x, y, width, height }, mark(i));
    }
}

fn draw_mark(sketch: &mut Sketch, cell: Rect, mark: Option<CellMark>) {
    match mark {
        None | Some(CellMark::Blocked) => {}
        Some(CellMark::Dropped) => {
            let stroke = Stroke { width: 0.9, color: sketch.theme.muted };
            let at = |share: f32| Point { x: cell.x + share * cell.width, y: cell.y + share * cell.height };
            sketch.line(at(0.08), at(0.32), stroke);
            sketch.line(at(0.68), at(0.92), stroke);
        }
        Some(CellMark::LetThrough | CellMark::HeldBack) => {
            let stroke = Stroke { width: 1.2, color: sketch.theme.mark };
            let inside =
                Rect { x: cell.x + 1.2, y: cell.y + 1.2, width: cell.width - 2.4, height: cell.height - 2.4 };
            sketch.outline(inside, stroke);
        }
    }
}

/// One line for each mark, swatch and word, from `at` (top left) on; returns the last baseline.
pub fn draw_key(sketch: &mut Sketch, marks: &[CellMark], at: Point) -> f32 {
    let mut baseline = at.y;
    for (line, mark) in marks.iter().enumerate() {
        let y = at.y + line as f32 * KEY_LINE;
        let rect = Rect { x: at.x, y, width: SWATCH.0, height: SWATCH.1 };
        let is_blocked = matches!(mark, CellMark::Blocked | CellMark::HeldBack);
        let ground = if is_blocked { sketch.theme.blocked } else { sketch.theme.paper };
        sketch.cells(Cells {
            rect,
            rows: 1,
            cols: 1,
            fills: vec![ground],
            rule: 0.0,
            rule_color: sketch.theme.rule,
        });
        hatch(sketch, rect, 1, 1, |_| is_blocked);
        draw_mark(sketch, rect, Some(*mark));
        sketch.border(rect);
        baseline = y + 8.4;
        let after = Point { x: rect.right() + 6.0, y: baseline };
        sketch.text(mark.words(), sketch.muted(SMALL), after, Anchor::Start);
    }
    baseline
}

/// The marks that a matrix shows, in the order in which they are explained.
pub fn marks_of(view: &MatrixView<'_>) -> Vec<CellMark> {
    let (rows, cols) = (view.values.rows(), view.values.cols());
    let shows =
        |mark: &CellMark| (0..rows).any(|row| (0..cols).any(|col| view.mark(row, col) == Some(*mark)));
    CellMark::ALL.into_iter().filter(|mark| view.may_have(*mark) && shows(mark)).collect()
}

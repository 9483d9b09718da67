//! Matrices in a row with signs between them, as an equation: X · W = Q.

use super::board::CAPTION_DROP;
use super::caption::Caption;
use super::matrix_view::MatrixView;
use super::sizing::{self, CellPlan};
use super::sketch::{Sketch, width};
use super::{Anchor, FigureInput, FigureOptions, Grid, MatrixId, Point, Size};

/// Up to this many rows and columns hold digits in an equation.
const DIGITS_UP_TO: usize = 16;
/// On both sides of a sign, in points.
const SIGN_GAP: f32 = 14.0;

/// One matrix of an equation, and the sign before it.
pub struct Factor<'a> {
    pub sign: &'static str,
    pub view: MatrixView<'a>,
    pub caption: Caption,
}

/// Where an equation ended up.
pub struct Placed {
    pub grids: Vec<Grid>,
    pub right: f32,
    /// The lowest baseline.
    pub bottom: f32,
}

impl<'a> Factor<'a> {
    /// A matrix of the scene behind its sign, its usual caption extended by `captioned`. `None` where the scene has no such matrix.
    pub fn of(
        sketch: &Sketch,
        (input, options): (&FigureInput<'a>, &FigureOptions),
        (sign, id): (&'static str, MatrixId),
        captioned: impl FnOnce(Caption) -> Caption,
    ) -> Option<Self> {
        let view = MatrixView::new(input, id, options)?;
        let caption = Caption::new(id, false, (view.values.rows(), view.values.cols()), sketch.theme);
        Some(Self { sign, view, caption: captioned(caption) })
    }

    fn plan(&self) -> CellPlan {
        let (down, across) = (self.view.down(), self.view.across());
        if down.max(across) > DIGITS_UP_TO {
            let cell = Size { width: strip(across), height: strip(down) };
            return CellPlan { cell, digits: None };
        }
        let height = if down > 8 { 20.0 } else { 24.0 };
        let digits = sizing::digits_for_row(height).min(9.5);
        CellPlan { cell: Size { width: self.view.cell_width(digits), height }, digits: Some(digits) }
    }
}

fn strip(n: usize) -> f32 {
    (200.0 / n.max(1) as f32).min(10.0)
}

/// Draws the equation with its top left corner at `at`; matrices are centred on a common line.
pub fn draw_equation(sketch: &mut Sketch, factors: &[Factor<'_>], at: Point) -> Placed {
    let plans: Vec<CellPlan> = factors.iter().map(Factor::plan).collect();
    let sizes = factors.iter().zip(&plans).map(|(factor, plan)| factor.view.size(*plan));
    let height = sizes.map(|size| size.height).fold(0.0, f32::max);
    let middle = at.y + height / 2.0;
    let sign_style = sketch.bold(18.0, sketch.theme.ink);
    let mut placed = Placed { grids: Vec::new(), right: at.x, bottom: at.y + height };
    let mut x = at.x;
    for (factor, plan) in factors.iter().zip(plans) {
        if !factor.sign.is_empty() {
            sketch.text_in_middle(
                factor.sign,
                sign_style,
                Point { x: x + SIGN_GAP, y: middle },
                Anchor::Start,
            );
            x += 2.0 * SIGN_GAP + width(factor.sign, sign_style);
        }
        let size = factor.view.size(plan);
        let grid = factor.view.draw(sketch, Point { x, y: middle - size.height / 2.0 }, plan);
        let below = Point { x, y: grid.rect.bottom() + CAPTION_DROP };
        placed.bottom = placed.bottom.max(factor.caption.draw(sketch, below));
        placed.grids.push(grid);
        x += size.width.max(factor.caption.width(sketch));
        placed.right = x;
    }
    placed
}

//! Numbers beside a stage, one for every query: what normalises its row, and what its sink takes.

use super::board::Parts;
use super::caption::SMALL;
use super::matrix_view::MatrixView;
use super::numbers::format_number;
use super::sizing::{self, CellPlan};
use super::sketch::{Sketch, width};
use super::{Anchor, Grid, MatrixId, Point};

/// Height of each row of numbers below a stage, in points.
pub const SIDE_ROW: f32 = 16.0;

/// One number for every query, and the word above or before them.
pub struct SideNumbers {
    head: &'static str,
    numbers: Vec<String>,
}

/// What stands beside a stage: row maxima and sums beside the masked scores, what the sink takes beside the weights. They show as
/// many decimals as the stage, and nothing stands beside a stage without digits.
pub fn side_numbers(parts: &Parts<'_>, view: &MatrixView<'_>) -> Vec<SideNumbers> {
    let decimals = view.format.decimals;
    let side = |head, number: &dyn Fn(usize) -> f64| SideNumbers {
        head,
        numbers: (0..parts.n_q()).map(|query| format_number(number(query), decimals)).collect(),
    };
    let attention = parts.attention;
    match view.id {
        _ if !parts.has_digits() => Vec::new(),
        // Over the queries it is the columns that are normalised; maxima and sums of rows would say what nothing is divided by.
        MatrixId::MaskedScores if !attention.column_max.is_empty() => Vec::new(),
        MatrixId::MaskedScores => {
            let of = |numbers: &[f64], query: usize| numbers.get(query).copied().unwrap_or(f64::NAN);
            vec![
                side("max", &|query| of(&attention.row_max, query)),
                side("Σexp", &|query| of(&attention.row_sum, query)),
            ]
        }
        MatrixId::Weights => {
            let head = parts.head.query_head;
            if parts.spec.sink_of(head).is_none() {
                return Vec::new();
            }
            let weight = |query| attention.weight_of_sink(&parts.spec, head, query).unwrap_or(f64::NAN);
            vec![side("sink", &weight)]
        }
        _ => Vec::new(),
    }
}

/// How wide each column of numbers at the right of a stage is.
pub fn side_widths(side: &[SideNumbers], sketch: &Sketch, digits: f32) -> Vec<f32> {
    let column = |column: &SideNumbers| {
        let head = width(column.head, sketch.muted(SMALL));
        column.numbers.iter().map(|number| width(number, sketch.muted(digits))).fold(head, f32::max) + digits
    };
    side.iter().map(column).collect()
}

/// The numbers as columns at the right of a stage whose queries run down.
pub fn draw_at_right(side: &[SideNumbers], sketch: &mut Sketch, grid: &Grid, plan: &CellPlan) {
    let Some(digits) = plan.digits else { return };
    let mut right = grid.rect.right();
    for (column, width) in side.iter().zip(side_widths(side, sketch, digits)) {
        right += width;
        sketch.text(column.head, sketch.muted(SMALL), Point { x: right, y: -7.0 }, Anchor::End);
        for (query, number) in column.numbers.iter().enumerate() {
            let y = grid.rect.y + (query as f32 + 0.5) * plan.cell.height;
            sketch.text_in_middle(number, sketch.muted(digits), Point { x: right, y }, Anchor::End);
        }
    }
}

/// How wide a cell has to be for the numbers below it.
pub fn widest_below(side: &[SideNumbers], sketch: &Sketch, digits: f32) -> f32 {
    let numbers = side.iter().flat_map(|row| &row.numbers);
    numbers.map(|number| width(number, sketch.muted(digits))).fold(0.0, f32::max) + sizing::PADDING * digits
}

/// The numbers as rows below a stage whose queries run across.
pub fn draw_below(side: &[SideNumbers], sketch: &mut Sketch, grid: &Grid, plan: &CellPlan) {
    let Some(digits) = plan.digits else { return };
    for (i, row) in side.iter().enumerate() {
        let y = grid.rect.bottom() + 4.0 + (i as f32 + 0.5) * SIDE_ROW;
        sketch.text_in_middle(row.head, sketch.muted(SMALL), Point { x: grid.rect.x - 5.0, y }, Anchor::End);
        for (query, number) in row.numbers.iter().enumerate() {
            let x = grid.rect.x + (query as f32 + 0.5) * plan.cell.width;
            sketch.text_in_middle(number, sketch.muted(digits), Point { x, y }, Anchor::Middle);
        }
    }
}

//! The board with keys down and queries across: Qᵀ above the raw scores, the output below the weights, Vᵀ at its left.

use super::board::{BAND, GAP, LABEL_GAP, Parts};
use super::board_rows::{key_axis, query_axis};
use super::caption::SMALL;
use super::heading::Heading;
use super::matrix_view::MatrixView;
use super::side_numbers::{SIDE_ROW, draw_below, side_numbers, widest_below};
use super::sizing::{self, CellPlan};
use super::sketch::{Sketch, width};
use super::softmax_rows::{draw_softmax_rows, softmax_rows_width};
use super::{Anchor, Grid, MatrixId, Point, Size};

/// Where everything goes across the paper, for one size of digits.
struct Layout {
    digits: f32,
    k: CellPlan,
    k_x: f32,
    scores: Vec<(f32, CellPlan)>,
    right: f32,
}

/// Draws the board. The upper edge of the stages lies at height 0.
pub fn draw_columns(parts: &mut Parts<'_>, sketch: &mut Sketch) {
    let digits = parts.fit_digits(|parts, digits| Layout::new(parts, sketch, digits).right);
    let parts = &*parts;
    let layout = Layout::new(parts, sketch, digits);
    let mut grids = Vec::new();
    let mut lowest = 0.0_f32;
    let n_below = parts.scores.iter().map(|(_, view)| side_numbers(parts, view).len()).max().unwrap_or(0);
    let extra = if n_below > 0 { n_below as f32 * SIDE_ROW + 4.0 } else { 0.0 };

    if !parts.scores.is_empty() {
        draw_corner_words(sketch, &layout);
        let grid = parts.k.draw(sketch, Point { x: layout.k_x, y: 0.0 }, layout.k);
        lowest = lowest.max(parts.draw_below(sketch, &parts.k, &grid, layout.k, extra));
        key_axis(parts).down(sketch, grid.rect, layout.k_x - LABEL_GAP);
        grids.push(grid);
        grids.push(draw_q(parts, sketch, &layout));
    }
    for ((_, view), (x, plan)) in parts.scores.iter().zip(&layout.scores) {
        let grid = view.draw(sketch, Point { x: *x, y: 0.0 }, *plan);
        query_axis(parts).fitted(sketch, plan.cell.width).across(sketch, grid.rect, -7.0);
        draw_below(&side_numbers(parts, view), sketch, &grid, plan);
        lowest = lowest.max(parts.draw_below(sketch, view, &grid, *plan, extra));
        grids.push(grid);
    }
    let lowest_stage = lowest;
    if let Some(view) = &parts.output {
        lowest = draw_output(parts, sketch, &layout, view, lowest, &mut grids);
    }
    parts.draw_pin(sketch, &grids);
    if parts.options.title {
        let top = grids.iter().map(|grid| grid.rect.y).fold(0.0, f32::min);
        Heading::of_head(parts.input, parts.options.head, sketch).draw_above(sketch, 0.0, top - 38.0);
    }
    let stages_end = if parts.scores.is_empty() { lowest } else { lowest_stage };
    let beside = grids.iter().find(|grid| grid.matrix == MatrixId::V).map_or(0.0, |grid| grid.rect.x);
    let y = if softmax_rows_width(parts, sketch) + GAP <= beside { stages_end } else { lowest };
    draw_softmax_rows(parts, sketch, Point { x: 0.0, y: y + 30.0 });
}

impl Layout {
    fn new(parts: &Parts<'_>, sketch: &Sketch, digits: f32) -> Self {
        let own = |view: &MatrixView<'_>| view.cell_width(digits);
        let q_digits = parts.feature_digits(parts.q.down(), digits);
        let first = parts.scores.first().map_or(0.0, |(_, view)| own(view));
        let first = if q_digits.is_some() { first.max(own(&parts.q)) } else { first };
        let last = parts.scores.last().map_or(0.0, |(_, view)| own(view));
        let last = match &parts.output {
            Some(output) if parts.feature_digits(output.down(), digits).is_some() => last.max(own(output)),
            _ => last,
        };
        let k_digits = parts.feature_digits(parts.k.across(), digits);
        let k_width = if k_digits.is_some() { own(&parts.k) } else { sizing::strip_cell(parts.k.across()) };
        let height = parts.position_height(parts.n_k());
        let k = CellPlan { cell: Size { width: k_width, height }, digits: k_digits };
        let k_x = key_axis(parts).widest(sketch).max(width("keys ↓", sketch.muted(SMALL))) + LABEL_GAP;
        let mut x = k_x + parts.slot_width(&parts.k, k, sketch) + GAP;
        let mut scores = Vec::new();
        let n_scores = parts.scores.len();
        for (i, (_, view)) in parts.scores.iter().enumerate() {
            let mut cell = own(view);
            if i == 0 {
                cell = cell.max(first);
            }
            if i + 1 == n_scores {
                cell = cell.max(last);
            }
            let below = side_numbers(parts, view);
            if !below.is_empty() {
                cell = cell.max(widest_below(&below, sketch, digits));
                x += 14.0;
            }
            let plan = parts.stage_plan(view, digits, cell);
            scores.push((x, plan));
            x += parts.slot_width(view, plan, sketch) + GAP;
        }
        Self { digits, k, k_x, scores, right: x - GAP }
    }

    /// Cells of a matrix of features down whose columns are `cell` wide.
    fn features_down(&self, parts: &Parts<'_>, n: usize, cell: f32) -> CellPlan {
        let digits = parts.feature_digits(n, self.digits);
        let height = if digits.is_some() { parts.row_height() } else { sizing::strip_cell(n) };
        CellPlan { cell: Size { width: cell, height }, digits }
    }
}

fn draw_corner_words(sketch: &mut Sketch, layout: &Layout) {
    let style = sketch.muted(SMALL);
    sketch.text("keys ↓", style, Point { x: layout.k_x - LABEL_GAP, y: -7.0 }, Anchor::End);
    if let Some((x, _)) = layout.scores.first() {
        sketch.text("queries →", style, Point { x: x - LABEL_GAP, y: -7.0 }, Anchor::End);
    }
}

fn draw_q(parts: &Parts<'_>, sketch: &mut Sketch, layout: &Layout) -> Grid {
    let (x, first) = layout.scores[0];
    let plan = layout.features_down(parts, parts.q.down(), first.cell.width);
    let top = -BAND - parts.q.size(plan).height;
    parts.caption(&parts.q, sketch).draw(sketch, Point { x, y: top - 8.0 });
    parts.q.draw(sketch, Point { x, y: top }, plan)
}

/// The output below the last stage, Vᵀ at its left. Returns the lowest baseline.
fn draw_output(
    parts: &Parts<'_>,
    sketch: &mut Sketch,
    layout: &Layout,
    output: &MatrixView<'_>,
    above: f32,
    grids: &mut Vec<Grid>,
) -> f32 {
    let top = if parts.scores.is_empty() { 0.0 } else { above + 22.0 + BAND };
    let own_width = || parts.stage_plan(output, layout.digits, output.cell_width(layout.digits));
    let column = layout.scores.last().map_or_else(|| own_width().cell.width, |(_, plan)| plan.cell.width);
    let plan = layout.features_down(parts, output.down(), column);
    let v_cell = match parts.feature_digits(parts.v.down(), layout.digits) {
        Some(digits) => parts.v.cell_width(digits),
        None => parts.stage_plan(&parts.v, layout.digits, sizing::NARROWEST * layout.digits).cell.width,
    };
    let v_plan = CellPlan { cell: Size { width: v_cell, height: plan.cell.height }, digits: plan.digits };
    let v_slot = parts.slot_width(&parts.v, v_plan, sketch);
    let v_left = |x: f32| Point { x: x - GAP - v_slot, y: top };
    // Beside no stage at all, Vᵀ starts where the keys would.
    let x = layout.scores.last().map_or(layout.k_x + v_slot + GAP, |(x, _)| *x).max(v_slot + GAP);
    let v_grid = parts.v.draw(sketch, v_left(x), v_plan);
    key_axis(parts).fitted(sketch, v_plan.cell.width).across(sketch, v_grid.rect, top - 7.0);
    let v_low = parts.draw_below(sketch, &parts.v, &v_grid, v_plan, 0.0);
    let grid = output.draw(sketch, Point { x, y: top }, plan);
    query_axis(parts).fitted(sketch, plan.cell.width).across(sketch, grid.rect, top - 7.0);
    let low = parts.draw_below(sketch, output, &grid, plan, 0.0);
    grids.extend([v_grid, grid]);
    low.max(v_low)
}

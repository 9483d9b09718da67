//! The board with queries down and keys across.

use super::axis::Axis;
use super::board::{BAND, GAP, LABEL_GAP, Parts};
use super::caption::SMALL;
use super::heading::Heading;
use super::matrix_view::MatrixView;
use super::side_numbers::{draw_at_right, side_numbers, side_widths};
use super::sizing::{self, CellPlan};
use super::sketch::{Sketch, width};
use super::softmax_rows::draw_softmax_rows;
use super::{Anchor, Grid, MatrixId, Pin, Point, Size};

/// Without digits, V is no taller than this, in points: it stands above everything else.
const TALLEST_V: f32 = 240.0;

/// Where everything goes across the paper, for one size of digits.
struct Layout {
    q: CellPlan,
    k: CellPlan,
    v: CellPlan,
    q_x: f32,
    /// For each stage before the output: left edge and cells.
    scores: Vec<(f32, CellPlan)>,
    /// Left edge and cells of the output.
    output: (f32, CellPlan),
    right: f32,
}

/// Draws the board. The upper edge of the stages lies at height 0.
pub fn draw_rows(parts: &mut Parts<'_>, sketch: &mut Sketch) {
    let digits = parts.fit_digits(|parts, digits| Layout::new(parts, sketch, digits).right);
    let parts = &*parts;
    let layout = Layout::new(parts, sketch, digits);
    let queries = query_axis(parts);
    let narrowest = layout.scores.iter().map(|(_, plan)| plan.cell.width).fold(f32::INFINITY, f32::min);
    let keys = key_axis(parts).fitted(sketch, narrowest);
    let mut grids = Vec::new();
    let mut lowest = 0.0_f32;

    draw_corner_words(parts, sketch, &layout);
    if !parts.scores.is_empty() {
        let grid = parts.q.draw(sketch, Point { x: layout.q_x, y: 0.0 }, layout.q);
        lowest = lowest.max(parts.draw_below(sketch, &parts.q, &grid, layout.q, 0.0));
        grids.push(grid);
        grids.push(draw_k(parts, sketch, &layout));
    }
    for ((_, view), (x, plan)) in parts.scores.iter().zip(&layout.scores) {
        let grid = view.draw(sketch, Point { x: *x, y: 0.0 }, *plan);
        keys.across(sketch, grid.rect, -7.0);
        draw_at_right(&side_numbers(parts, view), sketch, &grid, plan);
        lowest = lowest.max(parts.draw_below(sketch, view, &grid, *plan, 0.0));
        grids.push(grid);
    }
    if let Some(view) = &parts.output {
        let (x, plan) = layout.output;
        let grid = view.draw(sketch, Point { x, y: 0.0 }, plan);
        lowest = lowest.max(parts.draw_below(sketch, view, &grid, plan, 0.0));
        grids.push(grid);
        grids.push(draw_v(parts, sketch, &layout));
    }
    if let Some(first) = grids.iter().find(|grid| !matches!(grid.matrix, MatrixId::K | MatrixId::V)) {
        queries.down(sketch, first.rect, first.rect.x - LABEL_GAP);
    }
    parts.draw_pin(sketch, &grids);
    draw_heading(parts, sketch, &grids);
    draw_softmax_rows(parts, sketch, Point { x: 0.0, y: lowest + 30.0 });
}

pub fn query_axis<'a>(parts: &Parts<'a>) -> Axis<'a> {
    let pinned = parts.pin.map(|Pin { query, .. }| query);
    Axis { labels: parts.input.query_labels, pinned, size: parts.label_size() }
}

pub fn key_axis<'a>(parts: &Parts<'a>) -> Axis<'a> {
    let pinned = parts.pin.map(|Pin { key, .. }| key);
    Axis { labels: parts.input.key_labels, pinned, size: parts.label_size() }
}

impl Layout {
    fn new(parts: &Parts<'_>, sketch: &Sketch, digits: f32) -> Self {
        let raw_width = parts.scores.first().map_or(0.0, |(_, view)| view.cell_width(digits));
        let first_width = match parts.feature_digits(parts.k.down(), digits) {
            Some(digits) => raw_width.max(parts.k.cell_width(digits)),
            None => raw_width,
        };
        let q = feature_plan(parts, &parts.q, None, digits);
        let k = k_plan(parts, digits, first_width);
        let labels = query_axis(parts).widest(sketch).max(width("queries ↓", sketch.muted(SMALL)));
        let q_x = labels + LABEL_GAP;
        let mut x = q_x;
        if !parts.scores.is_empty() {
            x += parts.slot_width(&parts.q, q, sketch) + GAP;
        }
        let mut scores = Vec::new();
        for (i, (_, view)) in parts.scores.iter().enumerate() {
            let cell = if i == 0 { first_width } else { view.cell_width(digits) };
            let plan = parts.stage_plan(view, digits, cell);
            scores.push((x, plan));
            let beside: f32 = side_widths(&side_numbers(parts, view), sketch, digits).iter().sum();
            x += parts.slot_width(view, plan, sketch).max(view.size(plan).width + beside) + GAP;
        }
        let mut v = feature_plan(parts, &parts.v, parts.output.as_ref(), digits);
        if !parts.has_digits() {
            v.cell.height = v.cell.height.min(TALLEST_V / parts.n_k() as f32);
        }
        let output = feature_plan(parts, &parts.q, None, digits);
        let mut layout = Self { q, k, v, q_x, scores, output: (x, output), right: x - GAP };
        layout.place_output(parts, sketch);
        layout
    }

    /// The output keeps clear of Kᵀ: the labels of V stand between them.
    fn place_output(&mut self, parts: &Parts<'_>, sketch: &Sketch) {
        let Some(output) = &parts.output else { return };
        let labels = key_axis(parts).widest(sketch) + LABEL_GAP;
        if let Some((x, _)) = self.scores.first() {
            let k_width = parts.k.size(self.k).width.max(parts.caption(&parts.k, sketch).width(sketch));
            self.output.0 = self.output.0.max(x + k_width + GAP / 2.0 + labels);
        }
        let plan = CellPlan {
            cell: Size { width: self.v.cell.width, height: parts.position_height(parts.n_q()) },
            digits: self.v.digits,
        };
        self.output.1 = plan;
        self.right = self.output.0 + parts.slot_width(output, plan, sketch);
    }
}

/// Cells of a matrix of positions down and features across; as wide as `other` needs, too.
fn feature_plan(
    parts: &Parts<'_>,
    view: &MatrixView<'_>,
    other: Option<&MatrixView<'_>>,
    digits: f32,
) -> CellPlan {
    let n = view.across();
    let digits = parts.feature_digits(n, digits);
    let width = match digits {
        Some(digits) => view.cell_width(digits).max(other.map_or(0.0, |other| other.cell_width(digits))),
        None => sizing::strip_cell(n),
    };
    CellPlan { cell: Size { width, height: parts.position_height(view.down()) }, digits }
}

fn k_plan(parts: &Parts<'_>, digits: f32, first_width: f32) -> CellPlan {
    let n = parts.k.down();
    let width = if parts.has_digits() { first_width } else { parts.color_cell(parts.n_k()) };
    let digits = parts.feature_digits(n, digits);
    let height = if digits.is_some() { parts.row_height() } else { sizing::strip_cell(n) };
    CellPlan { cell: Size { width, height }, digits }
}

fn draw_k(parts: &Parts<'_>, sketch: &mut Sketch, layout: &Layout) -> Grid {
    let (x, _) = layout.scores[0];
    let top = -BAND - parts.k.size(layout.k).height;
    parts.caption(&parts.k, sketch).draw(sketch, Point { x, y: top - 8.0 });
    parts.k.draw(sketch, Point { x, y: top }, layout.k)
}

fn draw_v(parts: &Parts<'_>, sketch: &mut Sketch, layout: &Layout) -> Grid {
    let (x, _) = layout.output;
    let top = -BAND - parts.v.size(layout.v).height;
    parts.caption(&parts.v, sketch).draw(sketch, Point { x, y: top - 8.0 });
    let grid = parts.v.draw(sketch, Point { x, y: top }, layout.v);
    key_axis(parts).down(sketch, grid.rect, x - LABEL_GAP);
    grid
}

fn draw_corner_words(parts: &Parts<'_>, sketch: &mut Sketch, layout: &Layout) {
    let style = sketch.muted(SMALL);
    let first = if parts.scores.is_empty() { layout.output.0 } else { layout.q_x };
    sketch.text("queries ↓", style, Point { x: first - LABEL_GAP, y: -7.0 }, Anchor::End);
    if let Some((x, _)) = layout.scores.first() {
        sketch.text("keys →", style, Point { x: x - LABEL_GAP, y: -7.0 }, Anchor::End);
    }
}

/// Title and formula at the upper left: in the free corner beside V where they fit, else above it.
fn draw_heading(parts: &Parts<'_>, sketch: &mut Sketch, grids: &[Grid]) {
    if !parts.options.title {
        return;
    }
    let heading = Heading::of_head(parts.input, parts.options.head, sketch);
    let (mut bottom, mut top) = (-BAND, -BAND);
    for grid in grids.iter().filter(|grid| matches!(grid.matrix, MatrixId::K | MatrixId::V)) {
        let is_v = grid.matrix == MatrixId::V;
        let labels = if is_v { LABEL_GAP + key_axis(parts).widest(sketch) } else { 0.0 };
        if grid.rect.x - labels < heading.width() + GAP {
            bottom = f32::min(bottom, grid.rect.y - 38.0);
        }
        top = f32::min(top, grid.rect.y - 18.0);
    }
    // Where V stands high beside it, the heading starts at V's height.
    bottom = bottom.min(top + heading.height());
    heading.draw_above(sketch, 0.0, bottom);
}

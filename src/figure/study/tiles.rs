//! Softmax in tiles: the pinned query over one tile of keys after another.

use super::super::board::LABEL_GAP;
use super::super::caption::{Caption, SMALL};
use super::super::matrix_view::{Hidden, MatrixView};
use super::super::numbers::{format_number, format_small};
use super::super::sizing::CellPlan;
use super::super::sketch::width;
use super::super::{Anchor, MatrixId, Pin, Point, Rect, Size, Stroke};
use super::page::Page;
use super::row::{DIGITS_UP_TO, FEATURES_UP_TO, digits_of, row_height};
use super::table::Table;
use crate::engine::{AttentionSpec, Matrix, OnlineStep, Precision, TileSize, TiledAttention, attend_tiled};

/// From tile to tile, in points.
const PITCH: f32 = 32.0;
/// Between the parts of a line, in points.
const GAP: f32 = 26.0;
/// Extent of the scores where cells hold no digits, in points.
const COLOR_WIDTH: f32 = 320.0;
/// Scores with digits take up to this much room, in points.
const SCORES_ROOM: f32 = 520.0;

/// One line a tile: its scores, the running maximum and sum, the output so far; the whole row of the board below.
pub fn draw(page: &mut Page<'_>) {
    let (head, query, keys) = (page.head, page.query(), tile_width(page.n_k()));
    let mut steps = Vec::new();
    let tile = TileSize { queries: page.n_q(), keys };
    // In f64 from the inputs of the board, whatever format its stages are stored in.
    let spec = AttentionSpec { precision: Precision::F64, ..page.spec().clone() };
    let made = attend_tiled(&head.input, &spec, head.query_head, tile, |step| {
        if step.query == query {
            steps.push(step);
        }
    });
    match made {
        Err(error) => page.say(&format!("There is no tiled pass for this scene: {error}.")),
        Ok(tiled) => {
            Lines::new(page, &steps, &tiled).draw(page, &steps);
            comparison(page, &tiled);
            page.remark("a new maximum shrinks what was gathered: Σ ← Σ · exp(max before − max) + sum of exp(s − max), and the weighted sum of V likewise");
            page.remark("output so far: the weighted sum of V over Σ, were there no more keys");
        }
    }
}

/// So wide that a small scene has some tiles and a large one not too many.
fn tile_width(n_k: usize) -> usize {
    let n_tiles = if n_k <= 32 { 4 } else { 8 };
    n_k.div_ceil(n_tiles).max(1)
}

/// The matrices behind the lines.
struct Lines {
    scores: Matrix,
    /// One per step, then the whole row.
    outputs: Vec<Option<Matrix>>,
    table: Table,
}

impl Lines {
    fn new(page: &Page<'_>, steps: &[OnlineStep], tiled: &TiledAttention) -> Self {
        let query = page.query();
        let scores: Vec<f64> = steps.iter().flat_map(|step| step.scores.iter().copied()).collect();
        let row = |numbers: Vec<f64>| Matrix::from_fn(1, numbers.len(), |_, at| numbers[at]);
        let mut outputs: Vec<Option<Matrix>> =
            steps.iter().map(|step| step.output_so_far().map(row)).collect();
        outputs.push(Some(tiled.output.row_range(query, query + 1)));
        Self { scores: row(scores), outputs, table: numbers(page, steps, tiled) }
    }

    fn draw(&self, page: &mut Page<'_>, steps: &[OnlineStep]) {
        let (top, height) = (page.y + 20.0, row_height(1));
        let names = names(page, steps);
        let style = page.sketch.ink(10.5);
        let left = names.iter().map(|name| width(name, style)).fold(0.0, f32::max) + LABEL_GAP;
        for (i, name) in names.iter().enumerate() {
            let middle = top + i as f32 * PITCH + height / 2.0;
            page.sketch.text_in_middle(name, style, Point { x: left - LABEL_GAP, y: middle }, Anchor::End);
        }
        let right_of_scores = self.draw_scores(page, steps, Point { x: left, y: top });
        let at = Point { x: right_of_scores + GAP, y: top - 6.0 };
        self.table.draw(&mut page.sketch, at, top + height / 2.0);
        let after = at.x + self.table.width(&page.sketch) + GAP;
        let right = self.draw_outputs(page, Point { x: after, y: top }, height);
        let y = top + steps.len() as f32 * PITCH - (PITCH - height) / 2.0;
        let stroke = Stroke { width: 0.75, color: page.sketch.theme.border };
        page.sketch.line(Point { x: 0.0, y }, Point { x: right, y }, stroke);
        let foot = top + names.len() as f32 * PITCH + 8.0;
        let theme = page.sketch.theme;
        let scores = Caption::named("masked scores, tile by tile", theme.ink, (1, page.n_k()));
        scores.draw(&mut page.sketch, Point { x: left, y: foot });
        let output = Caption::named("output so far", theme.value, (1, page.head.input.v.cols()));
        output.draw(&mut page.sketch, Point { x: after, y: foot });
        page.y = foot + 10.0;
    }

    /// The scores of each tile below its own keys. Returns the right edge.
    fn draw_scores(&self, page: &mut Page<'_>, steps: &[OnlineStep], at: Point) -> f32 {
        let alike = MatrixId::MaskedScores;
        let (head, options) = (page.head.query_head, page.options);
        let whole = MatrixView::of_numbers(alike, &self.scores, head, self.hidden(page, 0), options);
        let plan = scores_plan(&whole, page.n_k());
        let full = Rect { x: at.x, y: at.y, width: whole.size(plan).width, height: plan.cell.height };
        let keys = page.key_axis();
        keys.fitted(&page.sketch, plan.cell.width).across(&mut page.sketch, full, at.y - 6.0);
        for (i, step) in steps.iter().enumerate() {
            let scores = Matrix::from_fn(1, step.n_keys, |_, key| step.scores[key]);
            let hidden = self.hidden(page, step.first_key);
            let part = MatrixView::of_numbers(alike, &scores, head, hidden, options).part_of(&whole);
            let x = at.x + step.first_key as f32 * plan.cell.width;
            let grid = part.draw(&mut page.sketch, Point { x, y: at.y + i as f32 * PITCH }, plan);
            let pinned = page.pin.and_then(|pin| pin.key.checked_sub(step.first_key));
            if let Some(key) = pinned.filter(|key| *key < step.n_keys) {
                page.sketch.pin(grid.cell_rect(0, key));
            }
        }
        full.right()
    }

    fn hidden<'a>(&self, page: &Page<'a>, first_key: usize) -> Option<Hidden<'a>> {
        Some(Hidden { by: &page.head.attention, first: Pin { query: page.query(), key: first_key } })
    }

    /// Returns the right edge.
    fn draw_outputs(&self, page: &mut Page<'_>, at: Point, height: f32) -> f32 {
        let (head, options) = (page.head.query_head, page.options);
        let all: Vec<f64> =
            self.outputs.iter().flatten().flat_map(|row| row.data().iter().copied()).collect();
        let d_v = page.head.input.v.cols();
        let all = Matrix::from_fn(1, all.len(), |_, i| all[i]);
        let whole = MatrixView::of_numbers(MatrixId::Output, &all, head, None, options);
        let plan = match d_v <= FEATURES_UP_TO {
            true => {
                let digits = digits_of(height);
                let cell = Size { width: whole.cell_width(digits), height };
                CellPlan { cell, digits: Some(digits) }
            }
            false => {
                CellPlan { cell: Size { width: (190.0 / d_v.max(1) as f32).min(10.0), height }, digits: None }
            }
        };
        for (i, output) in self.outputs.iter().enumerate() {
            let y = at.y + i as f32 * PITCH;
            match output {
                Some(row) => {
                    let view = MatrixView::of_numbers(MatrixId::Output, row, head, None, options);
                    view.part_of(&whole).draw(&mut page.sketch, Point { x: at.x, y }, plan);
                }
                None => {
                    let style = page.sketch.muted(SMALL + 1.0);
                    let at = Point { x: at.x, y: y + height / 2.0 };
                    page.sketch.text_in_middle("nothing seen yet", style, at, Anchor::Start);
                }
            }
        }
        at.x + plan.cell.width * d_v as f32
    }
}

fn scores_plan(view: &MatrixView<'_>, n_k: usize) -> CellPlan {
    let height = row_height(1);
    let digits = digits_of(height);
    let width = view.cell_width(digits);
    match n_k <= DIGITS_UP_TO && width * n_k as f32 <= SCORES_ROOM {
        true => CellPlan { cell: Size { width, height }, digits: Some(digits) },
        false => CellPlan { cell: Size { width: COLOR_WIDTH / n_k as f32, height }, digits: None },
    }
}

/// One per tile, and what the last line is.
fn names(page: &Page<'_>, steps: &[OnlineStep]) -> Vec<String> {
    let has_sink = page.spec().sink_of(page.head.query_head).is_some();
    let last = if has_sink { "with the sink" } else { "the whole row" };
    steps.iter().map(tile_name).chain([last.to_owned()]).collect()
}

/// `keys 3–4`
fn tile_name(step: &OnlineStep) -> String {
    match step.n_keys {
        1 => format!("key {}", step.first_key + 1),
        n => format!("keys {}–{}", step.first_key + 1, step.first_key + n),
    }
}

/// Maximum before and after, correction and sum of each tile; then what the pass ends with.
fn numbers(page: &Page<'_>, steps: &[OnlineStep], tiled: &TiledAttention) -> Table {
    let decimals = page.options.decimals;
    let write = |number: f64| format_number(number, decimals);
    let mut rows: Vec<Vec<String>> = steps
        .iter()
        .map(|step| [step.max_before, step.max, step.correction, step.sum].map(write).to_vec())
        .collect();
    let query = page.query();
    let end = [tiled.row_max[query], tiled.row_sum[query]].map(write);
    let [max, sum] = end;
    rows.push(vec![String::new(), max, String::new(), sum]);
    let heads = ["max before", "max", "exp(max before − max)", "Σ so far"];
    Table { pitch: PITCH, lit: Some(rows.len() - 1), has_names: false, ..Table::new(&heads, rows) }
}

/// That the pass ends with the row of the board.
fn comparison(page: &mut Page<'_>, tiled: &TiledAttention) {
    let (attention, query) = (&page.head.attention, page.query());
    let row = |matrix: &Matrix| matrix.row_range(query, query + 1);
    let difference = row(&tiled.output).largest_difference(&row(&attention.output));
    let output: Vec<String> = attention
        .output
        .row(query)
        .iter()
        .take(FEATURES_UP_TO)
        .map(|v| format_number(*v, page.options.decimals))
        .collect();
    let more = if attention.output.cols() > FEATURES_UP_TO { ", …" } else { "" };
    let board = format!("The row of the board is [{}{more}]", output.join(", "));
    let format = page.spec().precision;
    let kept = match format {
        Precision::F64 => String::new(),
        narrow => format!(", computed in {}", narrow.label()),
    };
    let tiles = if kept.is_empty() { "the tiles" } else { "the tiles, kept in f64," };
    let end = if difference == 0.0 {
        "end with the same, digit for digit".to_owned()
    } else if difference.is_nan() {
        "end differently".to_owned()
    } else {
        format!("end within {} of it", format_small(difference))
    };
    page.say(&format!("{board}{kept}; {tiles} {end}."));
}

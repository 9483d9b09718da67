//! Decoding with a cache: one token after another, and each step held against its row of the full pass.

use super::super::axis::Axis;
use super::super::board::LABEL_GAP;
use super::super::caption::{Caption, SMALL, name_color};
use super::super::matrix_view::{Hidden, MatrixView};
use super::super::numbers::format_small;
use super::super::sizing::CellPlan;
use super::super::words::name;
use super::super::{Anchor, MatrixId, Point, Rect, Size};
use super::page::Page;
use super::row::{DIGITS_UP_TO, FEATURES_UP_TO, LABEL_BAND, Outlined, Panel, digits_of, row_height};
use crate::engine::{Attention, Corner, MaskRule, Matrix, decode_after, difference_from_full_pass};

/// Between matrices, in points.
const GAP: f32 = 26.0;
/// Matrices of steps with digits are no wider than this each, in points.
const WIDEST: f32 = 360.0;
/// Extent of a side without digits, in points.
const COLOR_SIDE: f32 = 220.0;

/// The cache at the pinned step, then every step as a line.
pub fn draw(page: &mut Page<'_>) {
    let n_before = n_before(page);
    let steps = decode_after(n_before, &page.head.input, page.spec(), page.head.query_head);
    let full = &page.head.attention;
    let differences: Vec<f64> =
        steps.iter().enumerate().map(|(t, step)| difference_from_full_pass(step, full, t)).collect();
    let shown = page.query().min(steps.len().saturating_sub(1));
    draw_cache(page, n_before, shown);
    page.part("step by step: the new query against every key in the cache");
    Steps { n_before, steps: &steps, differences: &differences, shown }.draw(page);
    page.say(&comparison(page, &differences));
}

/// How many tokens are in the cache before the first query comes: in one sequence of which only the end asks.
fn n_before(page: &Page<'_>) -> usize {
    let (n_q, n_k) = (page.n_q(), page.n_k());
    let ahead = n_k.saturating_sub(n_q);
    let bottom_right =
        page.spec().mask.iter().any(|rule| matches!(rule, MaskRule::Causal(Corner::BottomRight)));
    let stands_at = usize::try_from(page.spec().position_offset).unwrap_or(0);
    if stands_at == ahead || (bottom_right && stands_at == 0) { ahead } else { 0 }
}

/// Whether queries and keys are of the same tokens.
fn is_one_sequence(page: &Page<'_>) -> bool {
    page.n_q() + n_before(page) == page.n_k()
}

/// K and V as far as they are cached at step `shown`, and the query that is not kept.
fn draw_cache(page: &mut Page<'_>, n_before: usize, shown: usize) {
    let head = page.head.query_head;
    let input = &page.head.input;
    let n_cached = n_before + shown + 1;
    let q = input.q.row_range(shown, shown + 1);
    let (k, v) = (input.k.row_range(0, n_cached), input.v.row_range(0, n_cached));
    let theme = page.sketch.theme;
    let options = page.options;
    let panel = |alike, values, markup: &str, note: &str| {
        let view = MatrixView::of_numbers(alike, values, head, None, options);
        let shape = (view.values.rows(), view.values.cols());
        let caption = Caption::named(markup, name_color(alike, theme), shape).with_operation(note, theme);
        Panel::new(view, caption)
    };
    let keys = page.key_axis();
    let newest = n_cached - 1;
    let cached = Axis { labels: &keys.labels[..n_cached], pinned: Some(newest), ..keys };
    let rotated = if page.head.unrotated.is_some() { ", rotated before they are kept" } else { "" };
    let filled = format!("{n_cached} of {} rows are there{rotated}", page.n_k());
    let outlined = Outlined::Row(page.pin.map(|_| newest));
    let panels = [
        panel(MatrixId::Q, &q, "q", "used once, then dropped"),
        Panel { labels: (Some(cached), None), outlined, ..panel(MatrixId::K, &k, "K cache", &filled) },
        Panel { outlined, ..panel(MatrixId::V, &v, "V cache", "each step adds one row") },
    ];
    let token = name(page.input.query_labels, shown);
    let token = if token.trim().is_empty() { String::new() } else { format!(", “{token}”") };
    page.part(&format!("the cache at step {}{token}", shown + 1));
    page.row(&panels);
}

/// Every step as a line.
struct Steps<'s> {
    n_before: usize,
    steps: &'s [Attention],
    differences: &'s [f64],
    /// The step whose cache is shown.
    shown: usize,
}

/// One column of the lines.
struct Column {
    name: &'static str,
    alike: MatrixId,
    of: fn(&Attention) -> &Matrix,
    /// Whether it has a cell for every key.
    is_of_keys: bool,
}

const COLUMNS: [Column; 3] = [
    Column {
        name: "masked scores",
        alike: MatrixId::MaskedScores,
        of: |step| &step.masked_scores,
        is_of_keys: true,
    },
    Column { name: "weights", alike: MatrixId::Weights, of: |step| &step.weights, is_of_keys: true },
    Column { name: "output", alike: MatrixId::Output, of: |step| &step.output, is_of_keys: false },
];

impl Steps<'_> {
    fn has_digits(&self) -> bool {
        self.steps.len() + self.n_before <= DIGITS_UP_TO
    }

    fn height(&self) -> f32 {
        match self.has_digits() {
            true => row_height(self.steps.len()),
            false => (COLOR_SIDE / self.steps.len().max(1) as f32).min(22.0),
        }
    }

    fn draw(&self, page: &mut Page<'_>) {
        let top = page.y + LABEL_BAND;
        let n = self.steps.len();
        let queries = page.query_axis();
        let queries = Axis { labels: &queries.labels[..n], ..queries };
        let left = queries.widest(&page.sketch) + LABEL_GAP;
        let rows = Rect { x: left, y: top, width: 1.0, height: n as f32 * self.height() };
        queries.down(&mut page.sketch, rows, left - LABEL_GAP);
        let mut x = left;
        for column in &COLUMNS {
            x += self.draw_column(page, column, Point { x, y: top }) + GAP;
        }
        if self.has_digits() {
            self.draw_differences(page, Point { x, y: top });
        }
        page.y = rows.bottom() + 18.0;
    }

    fn plan(&self, view: &MatrixView<'_>, n: usize, most: usize) -> CellPlan {
        let height = self.height();
        let digits = digits_of(height);
        let width = view.cell_width(digits);
        match self.has_digits() && n <= most && width * n as f32 <= WIDEST {
            true => CellPlan { cell: Size { width, height }, digits: Some(digits) },
            false => {
                let width = (COLOR_SIDE / n.max(1) as f32).min(22.0);
                CellPlan { cell: Size { width, height }, digits: None }
            }
        }
    }

    /// Returns the width of the column with its name.
    fn draw_column(&self, page: &mut Page<'_>, column: &Column, at: Point) -> f32 {
        let Column { name, alike, of, is_of_keys } = column;
        let (head, options) = (page.head.query_head, page.options);
        let all: Vec<f64> = self.steps.iter().flat_map(|step| of(step).data().iter().copied()).collect();
        let all = Matrix::from_fn(1, all.len(), |_, i| all[i]);
        let whole = MatrixView::of_numbers(*alike, &all, head, None, options);
        let (n_cols, most) = match is_of_keys {
            true => (self.n_before + self.steps.len(), DIGITS_UP_TO),
            false => (page.head.input.v.cols(), FEATURES_UP_TO),
        };
        let plan = self.plan(&whole, n_cols, most);
        let height = self.steps.len() as f32 * plan.cell.height;
        let rect = Rect { x: at.x, y: at.y, width: n_cols as f32 * plan.cell.width, height };
        if *is_of_keys {
            let keys = page.key_axis();
            let keys = Axis { labels: &keys.labels[..n_cols], ..keys };
            keys.fitted(&page.sketch, plan.cell.width).across(&mut page.sketch, rect, at.y - 6.0);
        }
        for (t, step) in self.steps.iter().enumerate() {
            let hidden = is_of_keys.then(|| Hidden::by(step));
            let line = MatrixView::of_numbers(*alike, of(step), head, hidden, options).part_of(&whole);
            let y = at.y + t as f32 * plan.cell.height;
            let grid = line.draw(&mut page.sketch, Point { x: at.x, y }, plan);
            match page.pin.filter(|pin| pin.query == t) {
                Some(pin) if *is_of_keys && pin.key < grid.cols => {
                    page.sketch.pin(grid.cell_rect(0, pin.key));
                }
                Some(_) if !is_of_keys => page.sketch.pin(grid.rect),
                _ => {}
            }
        }
        let theme = page.sketch.theme;
        let caption = Caption::named(name, name_color(*alike, theme), (self.steps.len(), n_cols));
        caption.draw(&mut page.sketch, Point { x: at.x, y: rect.bottom() + 15.0 });
        rect.width.max(caption.width(&page.sketch))
    }

    fn draw_differences(&self, page: &mut Page<'_>, at: Point) {
        let head = page.sketch.muted(SMALL);
        page.sketch.text("row of the full pass", head, Point { x: at.x, y: at.y - 6.0 }, Anchor::Start);
        for (t, difference) in self.differences.iter().enumerate() {
            let ink = page.sketch.theme.ink;
            let style = if t == self.shown { page.sketch.bold(10.0, ink) } else { page.sketch.ink(10.0) };
            let middle = at.y + (t as f32 + 0.5) * self.height();
            let at = Point { x: at.x, y: middle };
            page.sketch.text_in_middle(&difference_words(*difference), style, at, Anchor::Start);
        }
    }
}

fn difference_words(difference: f64) -> String {
    if difference == 0.0 {
        "equal".to_owned()
    } else if difference.is_nan() {
        "differs in what is NaN".to_owned()
    } else {
        format!("differs by {}", format_small(difference))
    }
}

/// Whether the steps are the rows of the full pass, and why not if they are not.
fn comparison(page: &Page<'_>, differences: &[f64]) -> String {
    let n = differences.len();
    let n_equal = differences.iter().filter(|difference| **difference == 0.0).count();
    if n_equal == n {
        let steps = if n == 1 {
            "The step equals its row".to_owned()
        } else {
            format!("All {n} steps equal their rows")
        };
        return format!(
            "{steps} of the full pass, digit for digit: no query looks at a key that comes later."
        );
    }
    let larger = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
    let largest = differences.iter().copied().fold(0.0, larger);
    let by = if largest.is_nan() {
        "in what is NaN".to_owned()
    } else {
        format!("by up to {}", format_small(largest))
    };
    let which = if n_equal == 0 {
        format!("No step equals its row of the full pass; they differ {by}")
    } else {
        format!("{n_equal} of {n} steps equal their rows of the full pass, the others differ {by}")
    };
    format!("{which}: {}.", reason(page))
}

fn reason(page: &Page<'_>) -> &'static str {
    let causal = page.spec().mask.iter().any(|rule| matches!(rule, MaskRule::Causal(_)));
    if page.is_over_queries() {
        "softmax runs over the queries, and a step has only one"
    } else if !is_one_sequence(page) {
        "queries and keys are not one sequence here, and a query looks at keys that are not there yet"
    } else if causal {
        "some layer lets a query look ahead, and what is not there yet cannot be seen"
    } else {
        "no causal mask keeps a query from looking ahead, and what is not there yet cannot be seen"
    }
}

//! Decoding with a cache: one token after another, and each step held against its row of the full pass.

use super::super::board::LABEL_GAP;
use super::super::caption::{Caption, SMALL};
use super::super::matrix_view::{Hidden, MatrixView};
use super::super::numbers::format_small;
use super::super::sizing::CellPlan;
use super::super::words::name;
use super::super::{Anchor, MatrixId, Point, Rect, Size};
use super::page::Page;
use super::row::{DIGITS_UP_TO, LABEL_BAND, Outlined, Panel, digits_of, row_height};
use crate::engine::{Attention, MaskRule, Matrix, decode, difference_from_full_pass};

/// Between matrices, in points.
const GAP: f32 = 26.0;
/// Matrices of steps with digits are no wider than this each, in points.
const WIDEST: f32 = 360.0;
/// Extent of a side without digits, in points.
const COLOR_SIDE: f32 = 220.0;
/// Up to this many value features hold digits.
const FEATURES_UP_TO: usize = 12;

/// The cache at the pinned step, then every step as a line.
pub fn draw(page: &mut Page<'_>) {
    let steps = decode(&page.head.input, page.spec(), page.head.query_head);
    let full = &page.head.attention;
    let differences: Vec<f64> =
        steps.iter().enumerate().map(|(t, step)| difference_from_full_pass(step, full, t)).collect();
    let shown = page.query().min(steps.len().saturating_sub(1));
    draw_cache(page, shown);
    page.part("step by step: the new query against every key in the cache");
    Steps::new(&steps).draw(page, &steps, &differences, shown);
    page.say(&comparison(page, &differences));
}

/// K and V as far as they are cached at step `shown`, and the query that is not kept.
fn draw_cache(page: &mut Page<'_>, shown: usize) {
    let head = page.head.query_head;
    let input = &page.head.input;
    let cached = shown + 1;
    let (q, k, v) =
        (input.q.row_range(shown, cached), input.k.row_range(0, cached), input.v.row_range(0, cached));
    let token = name(page.input.query_labels, shown);
    let theme = page.sketch.theme;
    let panel = |id, matrix, markup: &str, note: &str, color, rows: &Matrix| {
        let view = MatrixView::of_numbers(id, matrix, head, None, page.options);
        let caption = Caption::named(markup, color, (rows.rows(), rows.cols())).with_operation(note, theme);
        Panel::new(view, caption)
    };
    let keys = page.key_axis();
    let seen = super::super::axis::Axis { labels: &keys.labels[..cached], pinned: Some(shown), ..keys };
    let filled = format!("{cached} of {} rows are there", page.n_k());
    let panels = [
        panel(MatrixId::Q, &q, "q", "used once, then dropped", theme.query, &q),
        Panel {
            labels: (Some(seen), None),
            outlined: Outlined::Row(page.pin.map(|_| shown)),
            ..panel(MatrixId::K, &k, "K cache", &filled, theme.key, &k)
        },
        Panel {
            outlined: Outlined::Row(page.pin.map(|_| shown)),
            ..panel(MatrixId::V, &v, "V cache", "the newest row is the token's own", theme.value, &v)
        },
    ];
    let token = if token.trim().is_empty() { String::new() } else { format!(", “{token}”") };
    page.part(&format!("the cache at step {cached}{token}"));
    page.row(&panels);
}

/// How the lines of all steps are drawn.
struct Steps {
    scores: Matrix,
    output: Matrix,
    height: f32,
    digits: bool,
}

impl Steps {
    fn new(steps: &[Attention]) -> Self {
        let joined = |row: fn(&Attention) -> &Matrix| {
            let all: Vec<f64> = steps.iter().flat_map(|step| row(step).data().iter().copied()).collect();
            Matrix::from_fn(1, all.len(), |_, at| all[at])
        };
        let digits = steps.len() <= DIGITS_UP_TO;
        let height = if digits { row_height(steps.len()) } else { COLOR_SIDE / steps.len() as f32 };
        Self {
            scores: joined(|step| &step.masked_scores),
            output: joined(|step| &step.output),
            height,
            digits,
        }
    }

    fn plan(&self, view: &MatrixView<'_>, n: usize, most: usize) -> CellPlan {
        let digits = digits_of(self.height);
        let width = view.cell_width(digits);
        match self.digits && n <= most && width * n as f32 <= WIDEST {
            true => CellPlan { cell: Size { width, height: self.height }, digits: Some(digits) },
            false => {
                let width = (COLOR_SIDE / n.max(1) as f32).min(22.0);
                CellPlan { cell: Size { width, height: self.height }, digits: None }
            }
        }
    }

    fn draw(&self, page: &mut Page<'_>, steps: &[Attention], differences: &[f64], shown: usize) {
        let (head, options, n) = (page.head.query_head, page.options, steps.len());
        let whole = |id, numbers| MatrixView::of_numbers(id, numbers, head, None, options);
        let (scores, output) =
            (whole(MatrixId::MaskedScores, &self.scores), whole(MatrixId::Output, &self.output));
        let weights = whole(MatrixId::Weights, &page.head.attention.weights);
        let d_v = page.head.input.v.cols();
        let plans = [
            self.plan(&scores, n, DIGITS_UP_TO),
            self.plan(&weights, n, DIGITS_UP_TO),
            self.plan(&output, d_v, FEATURES_UP_TO),
        ];
        let top = page.y + LABEL_BAND;
        let queries = super::super::axis::Axis { labels: &page.input.query_labels[..n], ..page.query_axis() };
        let keys = super::super::axis::Axis { labels: &page.input.key_labels[..n], ..page.key_axis() };
        let mut x = queries.widest(&page.sketch) + LABEL_GAP;
        let all_rows = Rect { x, y: top, width: 1.0, height: n as f32 * self.height };
        queries.down(&mut page.sketch, all_rows, x - LABEL_GAP);
        let parts: [(&str, &MatrixView<'_>, fn(&Attention) -> &Matrix); 3] = [
            ("masked scores", &scores, |step| &step.masked_scores),
            ("weights", &weights, |step| &step.weights),
            ("output", &output, |step| &step.output),
        ];
        for ((title, whole, of), plan) in parts.into_iter().zip(plans) {
            let cols = if title == "output" { d_v } else { n };
            let rect = Rect { x, width: plan.cell.width * cols as f32, ..all_rows };
            if title != "output" {
                keys.fitted(&page.sketch, plan.cell.width).across(&mut page.sketch, rect, top - 6.0);
            }
            for (t, step) in steps.iter().enumerate() {
                let at = Point { x, y: top + t as f32 * self.height };
                let hidden = (title != "output").then(|| Hidden::by(step));
                let part =
                    MatrixView::of_numbers(whole.id, of(step), head, hidden, options).as_part_of(whole);
                let grid = part.draw(&mut page.sketch, at, plan);
                if let Some(pin) = page.pin.filter(|pin| pin.query == t) {
                    match title {
                        "output" => page.sketch.pin(grid.rect),
                        _ if pin.key < grid.cols => page.sketch.pin(grid.cell_rect(0, pin.key)),
                        _ => {}
                    }
                }
            }
            let caption = Caption::named(
                title,
                super::super::caption::name_color(whole.id, page.sketch.theme),
                (n, cols),
            );
            let below = Point { x, y: rect.bottom() + 15.0 };
            caption.draw(&mut page.sketch, below);
            x += rect.width.max(caption.width(&page.sketch)) + GAP;
        }
        if self.digits {
            self.draw_differences(page, Point { x, y: top }, differences, shown);
        }
        page.y = all_rows.bottom() + 18.0;
    }

    fn draw_differences(&self, page: &mut Page<'_>, at: Point, differences: &[f64], shown: usize) {
        let head = page.sketch.muted(SMALL);
        page.sketch.text("row of the full pass", head, Point { x: at.x, y: at.y - 6.0 }, Anchor::Start);
        for (t, difference) in differences.iter().enumerate() {
            let words = match *difference == 0.0 {
                true => "equal".to_owned(),
                false => format!("differs by {}", format_small(*difference)),
            };
            let style = if t == shown {
                page.sketch.bold(10.0, page.sketch.theme.ink)
            } else {
                page.sketch.ink(10.0)
            };
            let middle = at.y + (t as f32 + 0.5) * self.height;
            page.sketch.text_in_middle(&words, style, Point { x: at.x, y: middle }, Anchor::Start);
        }
    }
}

/// Whether the steps are the rows of the full pass, and why not if they are not.
fn comparison(page: &Page<'_>, differences: &[f64]) -> String {
    let n = differences.len();
    let n_equal = differences.iter().filter(|difference| **difference == 0.0).count();
    if n_equal == n {
        return format!(
            "All {n} steps equal their rows of the full pass, digit for digit: no query looks at a key that comes later."
        );
    }
    let largest = differences.iter().copied().fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a });
    let (one_sequence, causal) =
        (page.n_q() == page.n_k(), page.spec().mask.iter().any(|rule| matches!(rule, MaskRule::Causal(_))));
    let why = if page.is_over_queries() {
        "softmax runs over the queries, and a step has only one"
    } else if !one_sequence {
        "queries and keys are not one sequence here, so a query may look at keys that are not there yet"
    } else if causal {
        "some layer lets a query look ahead, and what is not there yet cannot be seen"
    } else {
        "no causal mask keeps a query from looking ahead, and what is not there yet cannot be seen"
    };
    format!(
        "{n_equal} of {n} steps equal their rows of the full pass, the others differ by up to {}: {why}.",
        format_small(largest)
    )
}

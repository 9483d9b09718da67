//! Gradients: how the weights of a query answer to its scores, and the way back to Q, K and V.

use super::super::axis::Axis;
use super::super::board::LABEL_GAP;
use super::super::caption::{Caption, SMALL};
use super::super::legend::legend;
use super::super::matrix_view::{Hidden, MatrixView};
use super::super::sizing::CellPlan;
use super::super::{Anchor, Grid, MatrixId, Pin, Point, Size};
use super::page::{Page, ROOM};
use super::row::{DIGITS_UP_TO, LABEL_BAND, Outlined, Panel, digits_of, row_height};
use crate::engine::{Gradients, Matrix, ScorerGradients, backward, slope, softmax_jacobian};

/// Gradients of scores below this are rounding.
const NOTHING: f64 = 1e-13;
const JACOBIAN: &str = "softmax Jacobian";
/// No weight of a softmax answers to a score by more than this, up or down.
const STEEPEST: f64 = 0.25;
/// Width of the range of colours, in points.
const LEGEND: f32 = 120.0;
/// Room for the names of single rows, in points.
const WIDEST_NAME: f32 = 58.0;
/// Extent of the Jacobian without digits, in points.
const COLOR_SIDE: f32 = 300.0;

/// Weights, slopes and Jacobian on one axis, then the gradients of the inputs.
pub fn draw(page: &mut Page<'_>) {
    let row = Row::of(page);
    match row.obstacle(page) {
        Some(sentence) => page.say(&sentence),
        None => row.draw(page),
    }
    if page.input.gives_weights {
        return page.say(
            "The weights were computed elsewhere; Q, K and V, to which the way back leads, are not known.",
        );
    }
    page.part("the way back from L = the sum of all outputs, so that every entry of ∂L/∂output is 1");
    let ones = page.head.attention.output.map(|_| 1.0);
    let gradients = backward(&page.head.input, page.spec(), &page.head.attention, &ones);
    draw_inputs(page, &gradients);
    if gradients.raw_scores.data().iter().all(|gradient| gradient.abs() < NOTHING) {
        page.say(&silence(&page.head.attention.weights));
    }
    draw_scorer(page, &gradients.scorer);
    if page.input.kv_heads() != page.input.heads.len() {
        page.remark(
            "K and V of this query head alone: what their KV head is told by all its query heads adds up",
        );
    }
}

/// The numbers that one softmax makes: a row of weights, or a column where softmax runs over the queries.
struct Row<'a> {
    weights: Vec<f64>,
    axis: Axis<'a>,
    sees_nothing: bool,
}

impl<'a> Row<'a> {
    fn of(page: &Page<'a>) -> Self {
        let attention = &page.head.attention;
        let query = page.query();
        if page.is_over_queries() {
            let key = page.pin.map_or(0, |pin| pin.key);
            let queries = 0..page.n_q();
            return Self {
                weights: queries.clone().map(|query| attention.weights.get(query, key)).collect(),
                axis: page.query_axis(),
                sees_nothing: !queries.into_iter().any(|query| attention.allows(query, key)),
            };
        }
        Self {
            weights: attention.weights.row(query).to_vec(),
            axis: page.key_axis(),
            sees_nothing: !(0..page.n_k()).any(|key| attention.allows(query, key)),
        }
    }

    /// Why there is no Jacobian to draw.
    fn obstacle(&self, page: &Page<'_>) -> Option<String> {
        if self.sees_nothing {
            let sentence =
                "No score of this softmax is visible, so its weights answer to none: every slope is 0.";
            return Some(sentence.to_owned());
        }
        let broken = self.weights.iter().any(|weight| weight.is_nan());
        broken.then(|| format!("The weights of {} are NaN, and so is every slope.", page.query_words()))
    }

    fn draw(&self, page: &mut Page<'_>) {
        let n = self.weights.len();
        let row = |of: fn(f64) -> f64| Matrix::from_fn(1, n, |_, at| of(self.weights[at]));
        let (weights, slopes, jacobian) = (row(|weight| weight), row(slope), softmax_jacobian(&self.weights));
        let hidden = (!page.is_over_queries())
            .then(|| Hidden { by: &page.head.attention, first: Pin { query: page.query(), key: 0 } });
        let view = |alike, numbers, hidden| {
            MatrixView::of_numbers(alike, numbers, page.head.query_head, hidden, page.options)
        };
        let mut views = [
            view(MatrixId::Weights, &weights, hidden),
            view(MatrixId::Pairs, &slopes, hidden),
            view(MatrixId::Pairs, &jacobian, None),
        ];
        for view in &mut views[1..] {
            view.scale = view.scale.with_range(-STEEPEST, STEEPEST);
        }
        let plan = plan_of(&views, n);
        let x = self.axis.widest(&page.sketch).max(WIDEST_NAME) + LABEL_GAP;
        let mut at = Point { x, y: page.y + LABEL_BAND };
        for ((name, view), gap) in ["p", "p(1 − p)", JACOBIAN].into_iter().zip(&views).zip([6.0, 14.0, 6.0])
        {
            at.y = self.draw_one(page, name, view, plan, at) + gap;
        }
        let theme = page.sketch.theme;
        let caption =
            Caption::named(JACOBIAN, theme.ink, (n, n)).with_operation(&jacobian_words(&jacobian), theme);
        page.y = caption.draw(&mut page.sketch, Point { x, y: at.y + 9.0 }) + 14.0;
        let of = match page.is_over_queries() {
            true => "of the pinned key, whose softmax runs over the queries",
            false => "of the query",
        };
        let note = format!("p: the weights {of}; a weight answers to its own score by p(1 − p), at most 1/4");
        page.sketch.text(&note, page.sketch.muted(SMALL), Point { x, y: page.y }, Anchor::Start);
        if page.options.legends {
            let at = Point { x, y: page.y + 9.0 };
            page.y = legend(&mut page.sketch, &views[2].scale, "slope", at, LEGEND);
        }
    }

    /// One of the matrices, its name or the labels of its rows at the left. Returns its lower edge.
    fn draw_one(
        &self,
        page: &mut Page<'_>,
        name: &str,
        view: &MatrixView<'_>,
        plan: CellPlan,
        at: Point,
    ) -> f32 {
        let is_row = view.down() == 1 && name != JACOBIAN;
        let height = if is_row { row_height(1) } else { plan.cell.height };
        let plan = CellPlan { cell: Size { height, ..plan.cell }, ..plan };
        let sketch = &mut page.sketch;
        let grid = Grid { matrix: MatrixId::Numbers, ..view.draw(sketch, at, plan) };
        sketch.reading(grid, name.to_owned(), view.values);
        let left = at.x - LABEL_GAP;
        match is_row {
            true => {
                let style = sketch.bold(10.5, sketch.theme.ink);
                let at = Point { x: left, y: grid.rect.center().y };
                sketch.text_in_middle(name, style, at, Anchor::End);
            }
            false => self.axis.down(sketch, grid.rect, left),
        }
        if name == "p" {
            self.axis.fitted(sketch, plan.cell.width).across(sketch, grid.rect, at.y - 6.0);
        }
        if let Some(pinned) = self.axis.pinned {
            sketch.pin(grid.cell_rect(if is_row { 0 } else { pinned }, pinned));
        }
        grid.rect.bottom()
    }
}

/// What it is. With a sink, or rounded, weights do not sum to 1, and its rows not to 0.
fn jacobian_words(jacobian: &Matrix) -> String {
    let sums_to_zero = jacobian.iter_rows().all(|row| row.iter().sum::<f64>().abs() < 1e-12);
    let sums = if sums_to_zero { "; rows and columns sum to 0" } else { "" };
    format!("diag(p) − p p^T: how weight ↓ answers to score →{sums}")
}

/// One width of columns for all three, with digits while they fit.
fn plan_of(views: &[MatrixView<'_>], n: usize) -> CellPlan {
    let height = row_height(n);
    let digits = digits_of(height);
    let width = views.iter().map(|view| view.cell_width(digits)).fold(0.0, f32::max);
    match n <= DIGITS_UP_TO && width * n as f32 <= ROOM - 100.0 {
        true => CellPlan { cell: Size { width, height }, digits: Some(digits) },
        false => {
            let side = (COLOR_SIDE / n as f32).min(22.0);
            CellPlan { cell: Size { width: side, height: side }, digits: None }
        }
    }
}

fn panel<'l>(page: &Page<'_>, alike: MatrixId, values: &'l Matrix, markup: &str) -> Panel<'l> {
    let view = MatrixView::of_numbers(alike, values, page.head.query_head, None, page.options);
    let color = super::super::caption::name_color(alike, page.sketch.theme);
    let caption = Caption::named(markup, color, (values.rows(), values.cols()));
    Panel { legend: true, ..Panel::new(view, caption) }
}

fn draw_inputs(page: &mut Page<'_>, gradients: &Gradients) {
    let rotated = if page.head.unrotated.is_some() { " rotated" } else { "" };
    let panels = [
        Panel {
            labels: (Some(page.query_axis()), None),
            outlined: Outlined::Row(page.pin.map(|pin| pin.query)),
            ..panel(page, MatrixId::Q, &gradients.q, &format!("∂L/∂Q{rotated}"))
        },
        Panel {
            labels: (Some(page.key_axis()), None),
            outlined: Outlined::Row(page.pin.map(|pin| pin.key)),
            ..panel(page, MatrixId::K, &gradients.k, &format!("∂L/∂K{rotated}"))
        },
        Panel {
            outlined: Outlined::Row(page.pin.map(|pin| pin.key)),
            ..panel(page, MatrixId::V, &gradients.v, "∂L/∂V")
        },
    ];
    page.row(&panels);
}

/// Why no score makes a difference to L.
fn silence(weights: &Matrix) -> String {
    let why = match weights.data().iter().all(|weight| slope(*weight).abs() < NOTHING) {
        true => "every weight is 0 or 1, and there its slope is 0",
        false => "the features of every value that a query sees add up to one and the same number",
    };
    format!("L answers to no score here: {why}.")
}

/// The parameters that the scorer has of its own.
fn draw_scorer(page: &mut Page<'_>, gradients: &ScorerGradients) {
    let v;
    let panels = match gradients {
        ScorerGradients::None => return,
        ScorerGradients::Additive { w_q, w_k, v: numbers } => {
            v = Matrix::from_fn(1, numbers.len(), |_, at| numbers[at]);
            vec![
                panel(page, MatrixId::Q, w_q, "∂L/∂W_q"),
                panel(page, MatrixId::K, w_k, "∂L/∂W_k"),
                panel(page, MatrixId::RawScores, &v, "∂L/∂v"),
            ]
        }
        ScorerGradients::General { w } => vec![panel(page, MatrixId::RawScores, w, "∂L/∂W")],
    };
    page.part("the scorer’s own parameters");
    page.row(&panels);
}

//! The board: Kᵀ above the raw scores, Q at their left, V above the output, and all stages on one axis of queries.

use std::borrow::Cow;

use super::board_columns::draw_columns;
use super::board_rows::draw_rows;
use super::caption::{Caption, operation};
use super::cell_marks::{CellMark, draw_key, marks_of};
use super::legend::{legend, legend_width};
use super::matrix_view::MatrixView;
use super::numbers::format_number;
use super::single::given_weights;
use super::sizing::{self, CellPlan};
use super::sketch::Sketch;
use super::words::board_words;
use super::{Drawing, FigureInput, FigureOptions, Grid, MatrixId, Pin, Point, Size};
use crate::engine::{Attention, AttentionSpec};
use crate::scene::{HeadEvaluation, Orientation, Stage};

/// Paper around a figure, in points.
pub const MARGIN: f32 = 20.0;
/// Between matrices, in points.
pub const GAP: f32 = 26.0;
/// Between an axis label and its matrix, in points.
pub const LABEL_GAP: f32 = 8.0;
/// Height of the band of labels above the stages, in points.
pub const BAND: f32 = 23.0;
/// From the lower edge of a matrix to the baseline of its name, in points.
pub const CAPTION_DROP: f32 = 17.0;
/// From the lower edge of a matrix to its legend, in points.
const LEGEND_DROP: f32 = 41.0;

/// How wide a board of up to three stages may grow before its digits shrink, in points.
const NARROW_BOARD: f32 = 880.0;
/// The same for more stages.
const WIDE_BOARD: f32 = 1420.0;

/// The board of one head. Where only the weights are given, they are the whole board.
pub fn board(input: &FigureInput<'_>, options: &FigureOptions) -> Drawing {
    if input.gives_weights {
        return given_weights(input, options);
    }
    let mut sketch = Sketch::new(options.theme.colors());
    if let Some(mut parts) = Parts::new(input, options) {
        match options.orientation {
            Orientation::QueriesAsRows => draw_rows(&mut parts, &mut sketch),
            Orientation::QueriesAsColumns => draw_columns(&mut parts, &mut sketch),
        }
    }
    sketch.into_drawing(MARGIN, input.title.to_owned(), board_words(input, options))
}

/// The matrices of a board, and what all of them share.
pub struct Parts<'a> {
    pub input: &'a FigureInput<'a>,
    pub options: &'a FigureOptions,
    pub head: &'a HeadEvaluation,
    pub attention: &'a Attention,
    /// The settings in force.
    pub spec: Cow<'a, AttentionSpec>,
    pub pin: Option<Pin>,
    pub q: MatrixView<'a>,
    pub k: MatrixView<'a>,
    pub v: MatrixView<'a>,
    /// The stages before the output, in order.
    pub scores: Vec<(Stage, MatrixView<'a>)>,
    pub output: Option<MatrixView<'a>>,
}

impl<'a> Parts<'a> {
    fn new(input: &'a FigureInput<'a>, options: &'a FigureOptions) -> Option<Self> {
        let head = input.head(options.head)?;
        let turned = options.orientation == Orientation::QueriesAsColumns;
        let view = |id| MatrixView::new(input, id, options);
        let shown = |stage: &Stage| options.stages.contains(stage);
        let before_output = Stage::ALL.into_iter().filter(|stage| *stage != Stage::Output).filter(shown);
        Some(Self {
            input,
            options,
            head,
            attention: &head.attention,
            spec: input.in_force(options.head),
            pin: valid_pin(input, options),
            q: view(MatrixId::Q)?.transposed(turned),
            k: view(MatrixId::K)?.transposed(!turned),
            v: view(MatrixId::V)?.transposed(turned),
            scores: before_output
                .flat_map(|stage| {
                    let after = (stage == Stage::Weights).then_some(MatrixId::DroppedWeights);
                    [Some(stage.into()), after].map(move |id| Some((stage, view(id?)?.transposed(turned))))
                })
                .flatten()
                .collect(),
            output: view(MatrixId::Output).filter(|_| shown(&Stage::Output)).map(|v| v.transposed(turned)),
        })
    }

    pub fn n_q(&self) -> usize {
        self.q.values.rows()
    }

    pub fn n_k(&self) -> usize {
        self.k.values.rows()
    }

    /// Whether cells of the stages hold digits.
    pub fn has_digits(&self) -> bool {
        self.options.digits && self.n_q().max(self.n_k()) <= sizing::DIGITS_UP_TO
    }

    /// Height of every row that holds digits.
    pub fn row_height(&self) -> f32 {
        sizing::row_height(self.n_q().max(self.n_k()))
    }

    /// Side of a cell without digits where `n` of them make up an axis.
    pub fn color_cell(&self, n: usize) -> f32 {
        sizing::color_cell(n, self.options.color_side)
    }

    /// Extent of one position (query or key) along a side of `n` of them, down the paper.
    pub fn position_height(&self, n: usize) -> f32 {
        if self.has_digits() { self.row_height() } else { self.color_cell(n) }
    }

    /// Size of the axis labels.
    pub fn label_size(&self) -> f32 {
        if self.has_digits() { (self.row_height() * 0.42).clamp(8.0, 10.5) } else { 8.5 }
    }

    /// Cells of a matrix of positions by positions, `width` wide if they hold digits.
    pub fn stage_plan(&self, view: &MatrixView<'_>, digits: f32, width: f32) -> CellPlan {
        let digits = self.has_digits().then_some(digits);
        let width = if digits.is_some() { width } else { self.color_cell(view.across()) };
        CellPlan { cell: Size { width, height: self.position_height(view.down()) }, digits }
    }

    /// Whether a matrix of `n` features is drawn with digits.
    pub fn feature_digits(&self, n: usize, digits: f32) -> Option<f32> {
        (self.has_digits() && n <= sizing::FEATURES_UP_TO).then_some(digits)
    }

    /// Name and shape of a matrix, and how it came about.
    pub fn caption(&self, view: &MatrixView<'_>, sketch: &Sketch) -> Caption {
        let shape = (view.values.rows(), view.values.cols());
        let mut caption = Caption::new(view.id, view.transposed, shape, sketch.theme).of_head(
            view.id,
            self.head,
            sketch.theme,
        );
        let n_features = view.values.cols();
        if matches!(view.id, MatrixId::K | MatrixId::V) && self.feature_digits(n_features, 0.0).is_none() {
            caption = caption.with_range(view.scale.range().1);
        }
        if view.id.is_score_like() {
            caption = caption.with_blocks(view.block_sides());
        }
        let done = operation(view.id, view.transposed, &self.spec, self.head);
        if done.is_empty() { caption } else { caption.with_operation(&done, sketch.theme) }
    }

    /// Room that a matrix takes with its caption and its legend.
    pub fn slot_width(&self, view: &MatrixView<'_>, plan: CellPlan, sketch: &Sketch) -> f32 {
        let grid = view.size(plan).width;
        let legend = if self.has_legend(view, plan) { legend_width(sketch, &view.scale, grid) } else { 0.0 };
        grid.max(self.caption(view, sketch).width(sketch)).max(legend)
    }

    fn has_legend(&self, view: &MatrixView<'_>, plan: CellPlan) -> bool {
        let input = matches!(view.id, MatrixId::Q | MatrixId::K | MatrixId::V);
        self.options.legends && (!input || plan.digits.is_none())
    }

    /// Caption and legend below a matrix whose lower edge is `grid.rect.bottom() + extra`; returns the lowest baseline.
    pub fn draw_below(
        &self,
        sketch: &mut Sketch,
        view: &MatrixView<'_>,
        grid: &Grid,
        plan: CellPlan,
        extra: f32,
    ) -> f32 {
        let (x, bottom) = (grid.rect.x, grid.rect.bottom() + extra);
        let mut lowest = self.caption(view, sketch).draw(sketch, Point { x, y: bottom + CAPTION_DROP });
        let mut next = bottom + LEGEND_DROP;
        if self.has_legend(view, plan) {
            let at = Point { x, y: next };
            lowest = legend(sketch, &view.scale, view.subject(), at, grid.rect.width);
            next = lowest + 9.0;
        }
        let marks = self.explains(view);
        if !marks.is_empty() {
            lowest = draw_key(sketch, &marks, Point { x, y: next });
        }
        lowest
    }

    /// Marks are explained once: below the first stage that shows any of a kind.
    fn explains(&self, view: &MatrixView<'_>) -> Vec<CellMark> {
        let before = self.scores.iter().map(|(_, view)| view).take_while(|other| other.id != view.id);
        let explained: Vec<CellMark> = before.flat_map(marks_of).collect();
        marks_of(view).into_iter().filter(|mark| !explained.contains(mark)).collect()
    }

    /// Row maximum and Σ exp of a query as text.
    pub fn row_sums(&self, query: usize, decimals: usize) -> [String; 2] {
        let number =
            |numbers: &[f64]| numbers.get(query).map_or_else(String::new, |n| format_number(*n, decimals));
        [number(&self.attention.row_max), number(&self.attention.row_sum)]
    }

    /// Chooses the largest digits with which the board is no wider than a slide likes. `width` tells how wide it would be.
    pub fn fit_digits(&mut self, width: impl Fn(&Self, f32) -> f32) -> f32 {
        let n_stages = self.scores.len() + usize::from(self.output.is_some());
        let room = if n_stages <= 3 { NARROW_BOARD } else { WIDE_BOARD };
        let tallest = sizing::digits_for_row(self.row_height());
        if !self.has_digits() {
            return tallest;
        }
        let mut size = tallest;
        for fit in sizing::FITS {
            size = fit.size.min(tallest);
            self.drop_decimals(fit);
            if fit.size <= tallest && width(self, size) <= room {
                break;
            }
        }
        size
    }

    fn drop_decimals(&mut self, fit: sizing::Fit) {
        let decimals = self.options.decimals;
        let stages = self.scores.iter_mut().map(|(_, view)| view).chain(&mut self.output);
        for view in stages.chain([&mut self.q, &mut self.k, &mut self.v]) {
            let is_weights = matches!(view.id, MatrixId::Weights | MatrixId::DroppedWeights);
            view.drop_decimals(decimals, if is_weights { fit.dropped_of_weights } else { fit.dropped });
        }
    }

    /// Outlines the pinned pair wherever it shows: its row of Q and of V, its column of Kᵀ, its cell in each stage, its output row.
    pub fn draw_pin(&self, sketch: &mut Sketch, grids: &[Grid]) {
        let Some(Pin { query, key }) = self.pin else { return };
        for grid in grids {
            match grid.matrix {
                MatrixId::Q | MatrixId::Output | MatrixId::OutputBeforeDropout => {
                    pin_row(sketch, grid, query);
                }
                MatrixId::K | MatrixId::V => pin_row(sketch, grid, key),
                _ => sketch.pin(grid.cell_rect(query, key)),
            }
        }
    }
}

/// Outlines one row of a matrix, whatever way round it is drawn.
pub fn pin_row(sketch: &mut Sketch, grid: &Grid, row: usize) {
    if row >= grid.rows || grid.cols == 0 {
        return;
    }
    let (first, last) = (grid.cell_rect(row, 0), grid.cell_rect(row, grid.cols - 1));
    sketch.pin(super::Rect { width: last.right() - first.x, height: last.bottom() - first.y, ..first });
}

/// The pin, if it lies inside the scene.
pub fn valid_pin(input: &FigureInput<'_>, options: &FigureOptions) -> Option<Pin> {
    let weights = input.matrix(MatrixId::Weights, options.head)?;
    options.pin.filter(|pin| pin.query < weights.rows() && pin.key < weights.cols())
}

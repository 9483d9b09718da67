//! One matrix as coloured cells with digits.

use super::cell_marks::{CellMark, draw_marks};
use super::hatch::{hatch, marks};
use super::numbers::LARGE;
use super::picture::{Picture, block_side};
use super::sizing::{CellPlan, DIGITS_UP_TO, NARROWEST, PADDING};
use super::sketch::{HALF_DIGIT, Sketch, width};
use super::{
    Anchor, Cells, ColorScale, FigureInput, FigureOptions, Grid, MatrixId, NumberFormat, Outcome, Pin, Point,
    Rect, Signed, Size, Theme,
};
use crate::engine::{Attention, BlockedBy, Dropped, Matrix, blocked_in_force};

/// A matrix with everything that decides how it looks, but not where.
pub struct MatrixView<'a> {
    pub id: MatrixId,
    pub head: usize,
    pub values: &'a Matrix,
    pub scale: ColorScale,
    pub format: NumberFormat,
    /// The format while there is room for all decimals.
    natural: NumberFormat,
    /// Whether rows of the matrix run across the paper.
    pub transposed: bool,
    /// Whose mask hides cells, where this is a stage after the mask.
    hidden_by: Option<Hidden<'a>>,
    /// Whether it is a matrix of the scene, whose cells can be pointed at as soon as it is drawn.
    is_of_scene: bool,
    /// Whose dropout takes cells away, where this is a stage after it.
    dropped: Option<&'a Dropped>,
    /// What is really blocked where a mistake is made on purpose, which may be other pairs than should be.
    in_force: Option<BlockedBy>,
    /// The largest weight of each query, where colours are relative to it.
    row_tops: Option<Vec<f64>>,
    /// Numbers among which the widest is, once written.
    extremes: Vec<f64>,
}

/// Whose mask hides the cells of a matrix.
#[derive(Clone, Copy)]
pub struct Hidden<'a> {
    pub by: &'a Attention,
    /// The pair of a query and a key that the first cell is.
    pub first: Pin,
}

impl<'a> Hidden<'a> {
    /// Cell (i, j) is query i and key j.
    pub fn by(attention: &'a Attention) -> Self {
        Self { by: attention, first: Pin { query: 0, key: 0 } }
    }
}

impl<'a> MatrixView<'a> {
    /// Numbers that are no matrix of the scene, looking like its matrix `alike`. Whoever draws them registers their cells with
    /// [`Sketch::reading`].
    pub fn of_numbers(
        alike: MatrixId,
        values: &'a Matrix,
        head: usize,
        hidden_by: Option<Hidden<'a>>,
        options: &FigureOptions,
    ) -> Self {
        let format = format_of(alike, values, options.decimals);
        let mut view = Self {
            id: alike,
            head,
            values,
            scale: ColorScale::weights(options.palette, options.theme.colors()),
            format,
            natural: format,
            transposed: false,
            hidden_by,
            is_of_scene: false,
            dropped: None,
            in_force: None,
            row_tops: None,
            extremes: extremes(values),
        };
        match hues_of(alike) {
            Some(hues) => view.scale = view.signed(hues, options.theme.colors()),
            None if options.weights_per_row => view.row_tops = Some(row_tops(values)),
            None => {}
        }
        view
    }

    /// The matrix of that name; `None` where the scene has none.
    pub fn new(input: &FigureInput<'a>, id: MatrixId, options: &FigureOptions) -> Option<Self> {
        let values = input.matrix(id, options.head)?;
        let head = input.head(options.head)?;
        let masked = matches!(id, MatrixId::MaskedScores | MatrixId::Weights | MatrixId::DroppedWeights);
        let hidden_by = masked.then(|| Hidden::by(&head.attention));
        let mut view = Self::of_numbers(id, values, head.query_head, hidden_by, options);
        view.is_of_scene = true;
        view.dropped = head.dropped.as_ref().filter(|_| id == MatrixId::DroppedWeights);
        view.in_force = input.spec.fault.filter(|_| masked).map(|_| {
            let (n_q, n_k, d_k) = (head.input.q.rows(), head.input.k.rows(), head.input.k.cols());
            blocked_in_force(input.spec, n_q, n_k, d_k, head.query_head)
        });
        if let Some(dropped) = view.dropped {
            // What is kept grows by 1/(1 − rate) and keeps its colour.
            view.scale = view.scale.with_range(0.0, 1.0 / (1.0 - dropped.dropout.rate()));
        }
        Some(view)
    }

    /// Colours and digits of another view, of which this is a part.
    pub fn part_of(mut self, whole: &Self) -> Self {
        (self.scale, self.format, self.natural) = (whole.scale, whole.format, whole.natural);
        self
    }

    /// The same matrix with its rows across the paper.
    pub fn transposed(mut self, transposed: bool) -> Self {
        self.transposed = transposed;
        self
    }

    /// Shows `dropped` decimals less than `decimals`, though never less than two of those asked for.
    pub fn drop_decimals(&mut self, decimals: usize, dropped: usize) {
        let kept = decimals.saturating_sub(dropped).max(decimals.min(2));
        self.format = NumberFormat::fixed(self.natural.decimals.min(kept));
    }

    fn signed(&self, hues: Signed, theme: &'static Theme) -> ColorScale {
        let cols = self.values.cols().max(1);
        let seen = |(i, value): (usize, &f64)| (!self.is_blocked(i / cols, i % cols)).then_some(*value);
        ColorScale::signed(hues, self.values.data().iter().enumerate().filter_map(seen), theme)
    }

    /// Whether the cell is shown as hidden. A weight that a row policy puts under a mask is shown as the number it is, and so is what
    /// a mistake lets through.
    pub fn is_blocked(&self, row: usize, col: usize) -> bool {
        let hidden = if self.id == MatrixId::MaskedScores { f64::NEG_INFINITY } else { 0.0 };
        // A 0 that a mistake has let through and dropout has taken away is not the mask's doing.
        if self.in_force.is_some() && self.is_dropped(row, col) && !self.is_really_hidden(row, col) {
            return false;
        }
        (self.is_hidden(row, col) || self.is_really_hidden(row, col)) && self.values.get(row, col) == hidden
    }

    /// Whether dropout takes the cell away.
    fn is_dropped(&self, row: usize, col: usize) -> bool {
        self.dropped.is_some_and(|dropped| !dropped.kept[row * self.values.cols() + col])
    }

    /// Whether a mistake, or the mask in spite of it, hides the cell.
    fn is_really_hidden(&self, row: usize, col: usize) -> bool {
        let at = row * self.values.cols() + col;
        self.in_force.as_ref().is_some_and(|blocked| blocked.get(at).is_some())
    }

    /// Whether a mask hides the cell, whatever number lies under it.
    fn is_hidden(&self, row: usize, col: usize) -> bool {
        self.hidden_by.is_some_and(|Hidden { by, first }| !by.allows(first.query + row, first.key + col))
    }

    /// What is special about a cell.
    pub fn mark(&self, row: usize, col: usize) -> Option<CellMark> {
        if self.is_blocked(row, col) {
            let is_meant = self.is_hidden(row, col);
            return Some(if is_meant { CellMark::Blocked } else { CellMark::HeldBack });
        }
        if self.is_dropped(row, col) {
            return Some(CellMark::Dropped);
        }
        (self.in_force.is_some() && self.is_hidden(row, col)).then_some(CellMark::LetThrough)
    }

    /// Whether a mark can be in this matrix at all; found without looking at its cells.
    pub fn may_have(&self, mark: CellMark) -> bool {
        let blocks = || self.hidden_by.is_some_and(|hidden| hidden.by.blocked_by.blocks_any());
        match mark {
            CellMark::Blocked => blocks(),
            CellMark::Dropped => self.dropped.is_some(),
            CellMark::LetThrough => self.in_force.is_some() && blocks(),
            CellMark::HeldBack => self.in_force.as_ref().is_some_and(BlockedBy::blocks_any),
        }
    }

    /// What its legend is about.
    pub fn subject(&self) -> &'static str {
        match self.id {
            MatrixId::RawScores => "raw score",
            MatrixId::ScaledScores => "scaled",
            MatrixId::MaskedScores => "masked",
            MatrixId::Weights if self.row_tops.is_some() => "of its row's largest",
            MatrixId::Weights | MatrixId::DroppedWeights => "weight",
            MatrixId::Output | MatrixId::FinalOutput => "output",
            _ => "value",
        }
    }

    /// Cells across the paper.
    pub fn across(&self) -> usize {
        if self.transposed { self.values.rows() } else { self.values.cols() }
    }

    /// Cells down the paper.
    pub fn down(&self) -> usize {
        if self.transposed { self.values.cols() } else { self.values.rows() }
    }

    /// How wide a cell has to be for the longest number at this size.
    pub fn cell_width(&self, digits: f32) -> f32 {
        let style = self.digit_style(digits);
        let widest = self.extremes.iter().map(|value| width(&self.format.write(*value), style));
        (widest.fold(0.0, f32::max) + PADDING * digits).max(NARROWEST * digits)
    }

    fn digit_style(&self, digits: f32) -> super::sketch::Style {
        super::sketch::Style { face: super::Face::Regular, size: digits, color: super::Color::BLACK }
    }

    /// Extent on the paper. An empty matrix still takes the room of a cell, so that it can be seen to be empty.
    pub fn size(&self, plan: CellPlan) -> Size {
        let extent = |n: usize, cell: f32| if n == 0 { cell.max(26.0) } else { n as f32 * cell };
        Size { width: extent(self.across(), plan.cell.width), height: extent(self.down(), plan.cell.height) }
    }

    /// Draws the matrix with its top left corner at `at`, and, if it is one of the scene's, registers it for pointing.
    pub fn draw(&self, sketch: &mut Sketch, at: Point, plan: CellPlan) -> Grid {
        let Size { width, height } = self.size(plan);
        let rect = Rect { x: at.x, y: at.y, width, height };
        let (rows, cols) = (self.values.rows(), self.values.cols());
        let grid = Grid { matrix: self.id, head: self.head, rect, rows, cols, transposed: self.transposed };
        if rows == 0 || cols == 0 {
            draw_empty(sketch, rect);
            return grid;
        }
        let Picture { down, across, outcomes } = self.picture();
        let rule = if plan.cell.width.min(plan.cell.height) >= 6.0 { 0.75 } else { 0.0 };
        sketch.cells(Cells {
            rect,
            rows: down,
            cols: across,
            // Colours do not depend on the range once the outcome is known.
            fills: outcomes.iter().map(|outcome| self.scale.color(*outcome)).collect(),
            rule,
            rule_color: sketch.theme.rule,
        });
        hatch(sketch, rect, down, across, |i| outcomes[i] == Outcome::Blocked);
        if self.extremes.iter().any(|value| !value.is_finite()) {
            marks(sketch, rect, down, across, |i| outcomes[i]);
        }
        if self.dropped.is_some() || self.in_force.is_some() {
            let mark = |i| {
                let (row, col) = self.place(i);
                self.mark(row, col)
            };
            draw_marks(sketch, rect, (self.down(), self.across()), mark);
        }
        if let Some(digits) = plan.digits {
            self.draw_digits(sketch, rect, digits, &outcomes);
        }
        sketch.border(rect);
        if self.is_of_scene {
            sketch.grid(grid);
        }
        grid
    }

    /// Row and column of the matrix for the i-th cell as drawn.
    fn place(&self, i: usize) -> (usize, usize) {
        let (down, across) = (i / self.across(), i % self.across());
        if self.transposed { (across, down) } else { (down, across) }
    }

    /// So many entries down and across share one cell; 1 unless the matrix is very large.
    pub fn block_sides(&self) -> (usize, usize) {
        (block_side(self.down()), block_side(self.across()))
    }

    /// What each cell is, in the order drawn.
    fn picture(&self) -> Picture {
        let outcome = |down: usize, across: usize| {
            let (row, col) = if self.transposed { (across, down) } else { (down, across) };
            let scale = match &self.row_tops {
                Some(tops) => self.scale.with_range(0.0, tops[row]),
                None => self.scale,
            };
            scale.outcome(self.values.get(row, col), self.is_blocked(row, col))
        };
        Picture::new(self.down(), self.across(), outcome)
    }

    fn draw_digits(&self, sketch: &mut Sketch, rect: Rect, size: f32, outcomes: &[Outcome]) {
        let (across, down) = (self.across(), self.down());
        let (width, height) = (rect.width / across as f32, rect.height / down as f32);
        sketch.reserve(outcomes.len());
        for (i, outcome) in outcomes.iter().enumerate() {
            let (row, col) = self.place(i);
            let style =
                super::sketch::Style { color: self.scale.text_color(*outcome), ..self.digit_style(size) };
            let at = Point {
                x: rect.x + (i % across) as f32 * width + width / 2.0,
                y: rect.y + (i / across) as f32 * height + height / 2.0 + HALF_DIGIT * size,
            };
            match outcome {
                Outcome::Blocked if self.id == MatrixId::MaskedScores => {
                    sketch.text("−∞", style, at, Anchor::Middle)
                }
                Outcome::Blocked => sketch.text("0", style, at, Anchor::Middle),
                _ if self.mark(row, col) == Some(CellMark::Dropped) => {
                    sketch.text("0", style, at, Anchor::Middle)
                }
                _ => sketch.text(&self.format.write(self.values.get(row, col)), style, at, Anchor::Middle),
            };
        }
    }
}

fn draw_empty(sketch: &mut Sketch, rect: Rect) {
    let corners =
        [(rect.x, rect.y), (rect.right(), rect.y), (rect.right(), rect.bottom()), (rect.x, rect.bottom())];
    let stroke = super::Stroke { width: 0.75, color: sketch.theme.border };
    sketch.polyline(corners.map(|(x, y)| Point { x, y }).to_vec(), stroke, true, Some((3.0, 2.0)));
    sketch.text_in_middle("∅", sketch.muted(10.0), rect.center(), Anchor::Middle);
}

/// The least and the largest number, one of each kind that is no finite number, and, in matrices small enough for digits, numbers
/// with an exponent, of which any may be the widest.
fn extremes(values: &Matrix) -> Vec<f64> {
    let (mut low, mut high) = (0.0_f64, 0.0_f64);
    let (mut any_nan, mut any_plus, mut any_minus) = (false, false, false);
    let has_digits = values.rows().max(values.cols()) <= DIGITS_UP_TO;
    let mut extremes = Vec::new();
    for &value in values.data() {
        if value.abs() < LARGE {
            (low, high) = (low.min(value), high.max(value));
        } else if value.is_finite() {
            if has_digits {
                extremes.push(value);
            }
        } else {
            any_nan |= value.is_nan();
            any_plus |= value == f64::INFINITY;
            any_minus |= value == f64::NEG_INFINITY;
        }
    }
    let kinds = [(any_nan, f64::NAN), (any_plus, f64::INFINITY), (any_minus, f64::NEG_INFINITY)];
    extremes.extend(kinds.into_iter().filter(|(any, _)| *any).map(|(_, value)| value));
    extremes.extend([low, high]);
    extremes
}

fn row_tops(weights: &Matrix) -> Vec<f64> {
    weights.iter_rows().map(|row| row.iter().copied().fold(0.0, f64::max)).collect()
}

/// Inputs and raw scores are written as by hand; later stages keep their decimals while an input is dragged.
fn format_of(id: MatrixId, values: &Matrix, decimals: usize) -> NumberFormat {
    match id {
        MatrixId::ScaledScores
        | MatrixId::MaskedScores
        | MatrixId::Weights
        | MatrixId::Pairs
        | MatrixId::DroppedWeights
        | MatrixId::Output
        | MatrixId::OutputBeforeDropout
        | MatrixId::Concat
        | MatrixId::FinalOutput => NumberFormat::fixed(decimals),
        _ => NumberFormat::of_matrix(values.data(), decimals),
    }
}

/// The hues of a signed matrix; `None` for weights.
fn hues_of(id: MatrixId) -> Option<Signed> {
    match id {
        MatrixId::Weights | MatrixId::DroppedWeights => None,
        MatrixId::Q | MatrixId::WQ | MatrixId::UnrotatedQ => Some(Signed::Queries),
        MatrixId::K | MatrixId::WK | MatrixId::UnrotatedK => Some(Signed::Keys),
        MatrixId::V
        | MatrixId::WV
        | MatrixId::WO
        | MatrixId::Output
        | MatrixId::OutputBeforeDropout
        | MatrixId::Concat
        | MatrixId::FinalOutput => Some(Signed::Values),
        MatrixId::X
        | MatrixId::Context
        | MatrixId::RawScores
        | MatrixId::ScaledScores
        | MatrixId::MaskedScores
        | MatrixId::GivenX
        | MatrixId::XPositions
        | MatrixId::GivenContext
        | MatrixId::ContextPositions
        | MatrixId::AlibiBias
        | MatrixId::Pairs
        | MatrixId::Numbers => Some(Signed::Scores),
    }
}

//! A laid-out figure: items at final positions, ready for any surface.

use super::{Color, Face, Point, Rect, Size};
use crate::engine::Matrix;

/// A laid-out figure. Window, SVG, PNG and PDF each walk the same items in the same order (later items lie on top).
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// The paper, in points.
    pub size: Size,
    /// What is on it.
    pub items: Vec<Item>,
    /// Where each matrix lies, for pointing at cells. Never exported.
    pub grids: Vec<Grid>,
    /// Numbers of grids that are no matrices of the scene. Never exported.
    pub readings: Vec<Reading>,
    /// One line: what the figure is.
    pub title: String,
    /// Alternative text: what a person who cannot see the figure should be told.
    pub description: String,
}

/// Numbers that are no matrix of the scene, to be read under the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Which grid shows them, as an index.
    pub grid: usize,
    /// What they are.
    pub name: String,
    /// The numbers, one per cell of the grid.
    pub numbers: Matrix,
}

/// One thing on the paper.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The filled cells of one matrix.
    Cells(Cells),
    /// A rectangle.
    Rect(RectItem),
    /// Open or closed strokes through points, without fill.
    Polyline(Polyline),
    /// One run of text.
    Text(Text),
    /// A filled outline: a root sign, a tall bracket.
    Outline(Outline),
}

/// The filled cells of one matrix, row by row, all of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// The whole grid, in points.
    pub rect: Rect,
    /// Rows of cells as drawn (after orientation).
    pub rows: usize,
    /// Columns of cells as drawn.
    pub cols: usize,
    /// Fill of each cell, row by row.
    pub fills: Vec<Color>,
    /// Thickness of the rule between cells in points; 0 for none.
    pub rule: f32,
    /// Colour of that rule.
    pub rule_color: Color,
}

/// A rectangle, filled, stroked or both. Strokes are centred on the edge.
#[derive(Clone, Debug, PartialEq)]
pub struct RectItem {
    /// Where.
    pub rect: Rect,
    /// Corner radius in points.
    pub radius: f32,
    /// Fill.
    pub fill: Option<Color>,
    /// Stroke.
    pub stroke: Option<Stroke>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Thickness in points.
    pub width: f32,
    /// Colour.
    pub color: Color,
}

/// Strokes through points.
#[derive(Clone, Debug, PartialEq)]
pub struct Polyline {
    /// Two or more.
    pub points: Vec<Point>,
    /// How.
    pub stroke: Stroke,
    /// Whether the last point is joined to the first.
    pub closed: bool,
    /// Dash and gap length in points; `None` for a solid line.
    pub dash: Option<(f32, f32)>,
}

/// One run of text, measured and placed. Nothing about it is left to the surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The characters in reading order, for surfaces that keep text as text.
    pub content: String,
    /// The face asked for; glyphs may come from a fallback face.
    pub face: Face,
    /// Size in points.
    pub size: f32,
    /// The left end of the baseline.
    pub origin: Point,
    /// The advance of the whole run, in points.
    pub width: f32,
    /// Colour.
    pub color: Color,
    /// Placed glyphs, left to right. Offsets are in points from `origin`.
    pub glyphs: Vec<Glyph>,
}

/// One placed glyph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glyph {
    /// The face that has it.
    pub face: Face,
    /// Its number in that face.
    pub id: u16,
    /// Right of the origin, in points.
    pub x: f32,
    /// Below the baseline, in points.
    pub y: f32,
    /// Advance in points.
    pub advance: f32,
    /// The bytes of `content` that it stands for.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A filled outline (nonzero winding).
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Move, line and curve commands at final positions.
    pub path: Vec<PathCommand>,
    /// Fill.
    pub fill: Color,
}

/// One step of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathCommand {
    /// Start a contour.
    Move(Point),
    /// A straight line.
    Line(Point),
    /// A quadratic curve: control, end.
    Quad(Point, Point),
    /// A cubic curve: two controls, end.
    Cubic(Point, Point, Point),
    /// Close the contour.
    Close,
}

impl Item {
    /// The same item moved right by `dx` and down by `dy` points.
    #[must_use]
    pub fn moved(&self, dx: f32, dy: f32) -> Self {
        let place = |point: Point| Point { x: point.x + dx, y: point.y + dy };
        let mut item = self.clone();
        match &mut item {
            Self::Cells(Cells { rect, .. }) | Self::Rect(RectItem { rect, .. }) => {
                (rect.x, rect.y) = (rect.x + dx, rect.y + dy);
            }
            Self::Polyline(line) => line.points.iter_mut().for_each(|point| *point = place(*point)),
            Self::Text(run) => run.origin = place(run.origin),
            Self::Outline(outline) => outline.path.iter_mut().for_each(|step| *step = step.map(place)),
        }
        item
    }
}

impl PathCommand {
    /// Where the step ends; nowhere for `Close`.
    pub fn end(self) -> Option<Point> {
        match self {
            Self::Move(point) | Self::Line(point) | Self::Quad(_, point) | Self::Cubic(_, _, point) => {
                Some(point)
            }
            Self::Close => None,
        }
    }

    /// The same step with every point moved by `place`.
    pub fn map(self, place: impl Fn(Point) -> Point) -> Self {
        match self {
            Self::Move(point) => Self::Move(place(point)),
            Self::Line(point) => Self::Line(place(point)),
            Self::Quad(control, point) => Self::Quad(place(control), place(point)),
            Self::Cubic(first, second, point) => Self::Cubic(place(first), place(second), place(point)),
            Self::Close => Self::Close,
        }
    }
}

/// Which matrix a cell belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatrixId {
    /// Hidden states.
    X,
    /// Hidden states that keys and values are made of.
    Context,
    /// Query weights.
    WQ,
    /// Key weights.
    WK,
    /// Value weights.
    WV,
    /// Output weights.
    WO,
    /// Queries.
    Q,
    /// Keys (drawn transposed on the board; cells are still addressed as (key, feature)).
    K,
    /// Values.
    V,
    /// Q·Kᵀ.
    RawScores,
    /// raw · scale.
    ScaledScores,
    /// scaled + mask.
    MaskedScores,
    /// softmax.
    Weights,
    /// weights · V.
    Output,
    /// Heads side by side.
    Concat,
    /// concat · W_O.
    FinalOutput,
    /// Queries before rotary positions turned them.
    UnrotatedQ,
    /// Keys before rotary positions turned them.
    UnrotatedK,
    /// Hidden states before sinusoidal positions were added.
    GivenX,
    /// What is added to them.
    XPositions,
    /// Hidden states of keys and values before sinusoidal positions were added, where they are others than X.
    GivenContext,
    /// What is added to them.
    ContextPositions,
    /// What ALiBi adds to the scaled scores.
    AlibiBias,
    /// Numbers of a closer look, one for each pair of a query and a key. No matrix of the scene: it can be pointed at, not looked up.
    Pairs,
    /// Other numbers of a closer look. No matrix of the scene either.
    Numbers,
    /// Weights after dropout.
    DroppedWeights,
    /// weights · V, as it would be without dropout.
    OutputBeforeDropout,
}

/// One cell, addressed as the matrix is written, whatever way round it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellRef {
    /// Which matrix.
    pub matrix: MatrixId,
    /// Row of the matrix.
    pub row: usize,
    /// Column of the matrix.
    pub col: usize,
}

/// Where one matrix lies on the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Which matrix.
    pub matrix: MatrixId,
    /// Which query head it shows (the KV head follows), from 0.
    pub head: usize,
    /// The whole grid, in points.
    pub rect: Rect,
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// Whether rows of the matrix run across the paper.
    pub transposed: bool,
}

impl Grid {
    /// The cell under a point of the paper.
    pub fn cell_at(&self, point: Point) -> Option<CellRef> {
        if !self.rect.contains(point) || self.rows == 0 || self.cols == 0 {
            return None;
        }
        let across = if self.transposed { self.rows } else { self.cols };
        let down = if self.transposed { self.cols } else { self.rows };
        let x_idx = ((point.x - self.rect.x) / self.rect.width * across as f32) as usize;
        let y_idx = ((point.y - self.rect.y) / self.rect.height * down as f32) as usize;
        let (x_idx, y_idx) = (x_idx.min(across - 1), y_idx.min(down - 1));
        let (row, col) = if self.transposed { (x_idx, y_idx) } else { (y_idx, x_idx) };
        Some(CellRef { matrix: self.matrix, row, col })
    }

    /// Where a cell of this matrix lies on the paper.
    pub fn cell_rect(&self, row: usize, col: usize) -> Rect {
        let across = if self.transposed { self.rows } else { self.cols }.max(1);
        let down = if self.transposed { self.cols } else { self.rows }.max(1);
        let (width, height) = (self.rect.width / across as f32, self.rect.height / down as f32);
        let (x_idx, y_idx) = if self.transposed { (row, col) } else { (col, row) };
        Rect { x: self.rect.x + x_idx as f32 * width, y: self.rect.y + y_idx as f32 * height, width, height }
    }
}

impl Drawing {
    /// The topmost cell under a point of the paper, and the head it belongs to.
    pub fn cell_at(&self, point: Point) -> Option<(usize, CellRef)> {
        self.grids.iter().rev().find_map(|grid| grid.cell_at(point).map(|cell| (grid.head, cell)))
    }

    /// The numbers of the grid with this index, where they are no matrix of the scene.
    pub fn reading(&self, grid: usize) -> Option<&Reading> {
        self.readings.iter().find(|reading| reading.grid == grid)
    }

    /// The grid that shows `matrix`.
    pub fn grid(&self, matrix: MatrixId) -> Option<&Grid> {
        self.grids.iter().find(|grid| grid.matrix == matrix)
    }
}

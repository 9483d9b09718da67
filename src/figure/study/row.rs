//! Matrices side by side, each with its labels, its name and its legend.

use super::super::axis::Axis;
use super::super::board::{GAP, LABEL_GAP, pin_row};
use super::super::caption::Caption;
use super::super::cell_marks::{draw_key, marks_of};
use super::super::legend::{legend, legend_width};
use super::super::matrix_view::MatrixView;
use super::super::sizing::{self, CellPlan};
use super::super::sketch::{Sketch, width};
use super::super::{Anchor, Grid, MatrixId, Pin, Point, Size};

/// Up to this many rows or columns hold digits.
pub const DIGITS_UP_TO: usize = 16;
/// Up to this many features hold digits where they stand beside positions.
pub const FEATURES_UP_TO: usize = 12;
/// Sizes of digits, from comfortable to tight, in points.
const DIGITS: [f32; 3] = [9.5, 8.75, 8.0];
/// Extent of a side without digits, in points.
const COLOR_SIDE: f32 = 190.0;
/// Room for labels above a matrix, in points.
pub const LABEL_BAND: f32 = 16.0;
/// From the lower edge of a matrix to the baseline of its name, in points.
const CAPTION_DROP: f32 = 15.0;
/// On both sides of a sign, in points.
const SIGN_GAP: f32 = 12.0;

/// One matrix of a row.
pub struct Panel<'a> {
    /// What stands before it: `−`, `=` or nothing.
    pub sign: &'static str,
    pub view: MatrixView<'a>,
    pub caption: Caption,
    /// What its cells are: [`MatrixId::Pairs`], which can be pinned, or [`MatrixId::Numbers`].
    pub cells: MatrixId,
    /// Labels of its rows and of its columns, as the matrix is written.
    pub labels: (Option<Axis<'a>>, Option<Axis<'a>>),
    /// What is outlined.
    pub outlined: Outlined,
    /// Whether the range of its colours is told.
    pub legend: bool,
}

/// What is outlined in a matrix.
#[derive(Clone, Copy)]
pub enum Outlined {
    Nothing,
    Cell(Option<Pin>),
    Row(Option<usize>),
}

impl<'a> Panel<'a> {
    /// A matrix with nothing before it, nothing outlined, and no legend.
    pub fn new(view: MatrixView<'a>, caption: Caption) -> Self {
        let (outlined, labels) = (Outlined::Nothing, (None, None));
        Self { sign: "", view, caption, cells: MatrixId::Numbers, labels, outlined, legend: false }
    }

    /// The labels at the left and above, as drawn.
    fn axes(&self) -> (Option<Axis<'a>>, Option<Axis<'a>>) {
        let (rows, cols) = self.labels;
        if self.view.transposed { (cols, rows) } else { (rows, cols) }
    }

    fn plan(&self, digits: Option<f32>) -> CellPlan {
        let (down, across) = (self.view.down(), self.view.across());
        let digits = digits.filter(|_| down.max(across) <= DIGITS_UP_TO);
        let color = |n: usize| (COLOR_SIDE / n.max(1) as f32).min(22.0);
        match digits {
            Some(digits) => {
                let cell = Size { width: self.view.cell_width(digits), height: row_height(down) };
                CellPlan { cell, digits: Some(digits) }
            }
            None => CellPlan { cell: Size { width: color(across), height: color(down) }, digits: None },
        }
    }

    /// Room before the matrix: its sign and the labels of its rows.
    fn lead(&self, sketch: &Sketch, is_first: bool) -> f32 {
        let sign = match self.sign {
            "" if is_first => 0.0,
            "" => GAP,
            sign => 2.0 * SIGN_GAP + width(sign, sketch.bold(18.0, sketch.theme.ink)),
        };
        sign + self.axes().0.map_or(0.0, |axis| axis.widest(sketch) + LABEL_GAP)
    }

    fn slot(&self, sketch: &Sketch, plan: CellPlan) -> f32 {
        let grid = self.view.size(plan).width;
        let legend = if self.legend { legend_width(sketch, &self.view.scale, grid) } else { 0.0 };
        grid.max(self.caption.width(sketch)).max(legend)
    }
}

/// Height of a row that holds digits, for so many rows.
pub fn row_height(n_rows: usize) -> f32 {
    match n_rows {
        0..=8 => 24.0,
        9..=16 => 20.0,
        _ => 17.0,
    }
}

/// The largest digits with which all panels fit into `room`; `None` where none of them do.
fn fitting_digits(sketch: &Sketch, panels: &[Panel<'_>], room: f32) -> Option<f32> {
    DIGITS.into_iter().find(|digits| width_of(sketch, panels, Some(*digits)) <= room)
}

fn width_of(sketch: &Sketch, panels: &[Panel<'_>], digits: Option<f32>) -> f32 {
    let width =
        |(i, panel): (usize, &Panel<'_>)| panel.lead(sketch, i == 0) + panel.slot(sketch, panel.plan(digits));
    panels.iter().enumerate().map(width).sum()
}

/// Whether all panels fit into `room` side by side with their digits.
pub fn fits_with_digits(sketch: &Sketch, panels: &[Panel<'_>], room: f32) -> bool {
    let small = panels.iter().all(|panel| panel.view.down().max(panel.view.across()) <= DIGITS_UP_TO);
    small && fitting_digits(sketch, panels, room).is_some()
}

/// Draws the panels below `y`, their upper edges on one line; returns the right edge and the lowest baseline.
pub fn draw_row(sketch: &mut Sketch, panels: &[Panel<'_>], y: f32, room: f32, legends: bool) -> (f32, f32) {
    let digits = fitting_digits(sketch, panels, room);
    let has_labels_above = panels.iter().any(|panel| panel.axes().1.is_some());
    let top = y + if has_labels_above { LABEL_BAND } else { 8.0 };
    let (mut x, mut lowest) = (0.0, top);
    for (i, panel) in panels.iter().enumerate() {
        let plan = panel.plan(digits);
        let left = x + panel.lead(sketch, i == 0);
        draw_sign(sketch, panel, Point { x, y: top + panel.view.size(plan).height / 2.0 });
        lowest = lowest.max(draw_panel(sketch, panel, plan, Point { x: left, y: top }, legends));
        x = left + panel.slot(sketch, plan);
    }
    (x, lowest)
}

fn draw_sign(sketch: &mut Sketch, panel: &Panel<'_>, at: Point) {
    if !panel.sign.is_empty() {
        let style = sketch.bold(18.0, sketch.theme.ink);
        sketch.text_in_middle(panel.sign, style, Point { x: at.x + SIGN_GAP, ..at }, Anchor::Start);
    }
}

fn draw_panel(sketch: &mut Sketch, panel: &Panel<'_>, plan: CellPlan, at: Point, legends: bool) -> f32 {
    let grid = Grid { matrix: panel.cells, ..panel.view.draw(sketch, at, plan) };
    sketch.reading(grid, panel.caption.content(), panel.view.values);
    let (down, across) = panel.axes();
    if let Some(axis) = down {
        axis.down(sketch, grid.rect, at.x - LABEL_GAP);
    }
    if let Some(axis) = across {
        axis.fitted(sketch, plan.cell.width).across(sketch, grid.rect, at.y - 6.0);
    }
    match panel.outlined {
        Outlined::Cell(Some(pin)) => sketch.pin(grid.cell_rect(pin.query, pin.key)),
        Outlined::Row(Some(row)) => pin_row(sketch, &grid, row),
        Outlined::Nothing | Outlined::Cell(None) | Outlined::Row(None) => {}
    }
    let mut y = panel.caption.draw(sketch, Point { x: at.x, y: grid.rect.bottom() + CAPTION_DROP });
    let has_range = panel.view.scale.range().0 < panel.view.scale.range().1;
    if panel.legend && legends && has_range {
        let room = grid.rect.width.max(60.0);
        y = legend(sketch, &panel.view.scale, panel.view.subject(), Point { x: at.x, y: y + 9.0 }, room);
    }
    let marks = if panel.legend { marks_of(&panel.view) } else { Vec::new() };
    if marks.is_empty() { y } else { draw_key(sketch, &marks, Point { x: at.x, y: y + 9.0 }) }
}

/// Digits of a matrix drawn by hand: as large as its rows allow.
pub fn digits_of(height: f32) -> f32 {
    sizing::digits_for_row(height).min(DIGITS[0])
}

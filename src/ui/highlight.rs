//! What lights up under the pointer: a cell's own path through the stages, and its value in words.

use egui::{Painter, RichText, Stroke, StrokeKind, Ui};

use crate::engine::Matrix;
use crate::figure::{CellRef, Drawing, Grid, MatrixId, Reading, Rect};
use crate::session::{Centre, Session};

use super::paint::ScreenFromFigure;
use super::style::Colors;

/// A whole row, a whole column or one cell of a matrix.
#[derive(Clone, Copy)]
enum Part {
    Row(usize),
    Col(usize),
    Cell(usize, usize),
}

/// Outlines everything that the cell is made of and goes into.
pub fn paint_hover(
    painter: &Painter,
    colors: Colors,
    drawing: &Drawing,
    transform: ScreenFromFigure,
    head: usize,
    cell: CellRef,
) {
    // In cross-attention keys and values are made of the context, not of X.
    let of_context =
        matches!(cell.matrix, MatrixId::K | MatrixId::V) && drawing.grid(MatrixId::Context).is_some();
    for (matrix, part) in path_of(cell) {
        let matrix = if of_context && matrix == MatrixId::X { MatrixId::Context } else { matrix };
        for grid in drawing.grids.iter().filter(|grid| grid.matrix == matrix && grid.head == head) {
            let rect = transform.rect(part_rect(grid, part)).expand(0.5);
            let stroke = Stroke::new(1.25, colors.accent.gamma_multiply(0.8));
            painter.rect(rect, 2, colors.accent.gamma_multiply(0.07), stroke, StrokeKind::Middle);
        }
    }
}

/// Marks the cell that the keyboard acts on.
pub fn paint_selection(
    painter: &Painter,
    colors: Colors,
    drawing: &Drawing,
    transform: ScreenFromFigure,
    head: usize,
    cell: CellRef,
) {
    let grid = drawing
        .grids
        .iter()
        .find(|grid| grid.matrix == cell.matrix && (grid.head == head || !cell.matrix.is_per_head()));
    if let Some(grid) = grid.filter(|grid| cell.row < grid.rows && cell.col < grid.cols) {
        let rect = transform.rect(grid.cell_rect(cell.row, cell.col));
        painter.rect_stroke(rect, 2, Stroke::new(2.0, colors.accent), StrokeKind::Middle);
    }
}

/// The parts of other matrices that a cell is made of or goes into.
fn path_of(cell: CellRef) -> Vec<(MatrixId, Part)> {
    let CellRef { matrix, row, col } = cell;
    let stages = [
        MatrixId::RawScores,
        MatrixId::ScaledScores,
        MatrixId::MaskedScores,
        MatrixId::Weights,
        MatrixId::DroppedWeights,
    ];
    match matrix {
        matrix if matrix.is_score_like() => {
            let mut path = vec![
                (MatrixId::Q, Part::Row(row)),
                (MatrixId::K, Part::Row(col)),
                (MatrixId::V, Part::Row(col)),
                (MatrixId::Output, Part::Row(row)),
            ];
            path.extend(stages.map(|stage| (stage, Part::Cell(row, col))));
            path
        }
        MatrixId::Output => vec![
            (MatrixId::Weights, Part::Row(row)),
            (MatrixId::DroppedWeights, Part::Row(row)),
            (MatrixId::V, Part::Col(col)),
            (MatrixId::Output, Part::Cell(row, col)),
        ],
        MatrixId::Q => made_of_x(cell, MatrixId::WQ, stages.map(|stage| (stage, Part::Row(row)))),
        MatrixId::K => made_of_x(cell, MatrixId::WK, stages.map(|stage| (stage, Part::Col(row)))),
        MatrixId::V => vec![
            (MatrixId::V, Part::Cell(row, col)),
            (MatrixId::X, Part::Row(row)),
            (MatrixId::WV, Part::Col(col)),
            (MatrixId::Weights, Part::Col(row)),
            (MatrixId::DroppedWeights, Part::Col(row)),
            (MatrixId::Output, Part::Col(col)),
        ],
        MatrixId::UnrotatedQ => vec![(matrix, Part::Cell(row, col)), (MatrixId::Q, Part::Row(row))],
        MatrixId::UnrotatedK => vec![(matrix, Part::Cell(row, col)), (MatrixId::K, Part::Row(row))],
        MatrixId::FinalOutput => vec![
            (MatrixId::Concat, Part::Row(row)),
            (MatrixId::WO, Part::Col(col)),
            (MatrixId::FinalOutput, Part::Cell(row, col)),
        ],
        // Grids of other numbers have nothing in common.
        MatrixId::Numbers => Vec::new(),
        matrix => vec![(matrix, Part::Cell(row, col))],
    }
}

/// A projected number: its row of X, its column of the weight matrix, and what it goes into.
fn made_of_x(cell: CellRef, weights: MatrixId, into: [(MatrixId, Part); 5]) -> Vec<(MatrixId, Part)> {
    let CellRef { matrix, row, col } = cell;
    let mut path =
        vec![(matrix, Part::Cell(row, col)), (MatrixId::X, Part::Row(row)), (weights, Part::Col(col))];
    path.extend(into);
    path
}

fn part_rect(grid: &Grid, part: Part) -> Rect {
    let (last_row, last_col) = (grid.rows.saturating_sub(1), grid.cols.saturating_sub(1));
    let (first, last) = match part {
        Part::Row(row) => (grid.cell_rect(row.min(last_row), 0), grid.cell_rect(row.min(last_row), last_col)),
        Part::Col(col) => (grid.cell_rect(0, col.min(last_col)), grid.cell_rect(last_row, col.min(last_col))),
        Part::Cell(row, col) => {
            let rect = grid.cell_rect(row.min(last_row), col.min(last_col));
            (rect, rect)
        }
    };
    Rect { x: first.x, y: first.y, width: last.right() - first.x, height: last.bottom() - first.y }
}

/// A cell of numbers that are no matrix of the scene: what they are, where, the value with all its digits.
pub fn reading(ui: &mut Ui, session: &Session, reading: &Reading, cell: CellRef) {
    let Reading { name, numbers, .. } = reading;
    if cell.row >= numbers.rows() || cell.col >= numbers.cols() {
        return;
    }
    let muted = Colors::in_use(ui).muted;
    let place = match cell.matrix {
        MatrixId::Pairs => {
            let label = |labels: &[String], index: usize| labels.get(index).cloned().unwrap_or_default();
            let (query, key) = (
                label(session.scene().query_labels(), cell.row),
                label(session.scene().key_labels(), cell.col),
            );
            format!("query {} “{query}”, key {} “{key}”", cell.row + 1, cell.col + 1)
        }
        _ => format!("row {}, column {}", cell.row + 1, cell.col + 1),
    };
    ui.label(RichText::new(format!("{name}: {place}")).color(muted).small());
    ui.label(RichText::new(in_full(numbers, cell)).family(super::style::bold()));
    if cell.matrix.is_score_like() {
        ui.label(RichText::new("click to pin").color(muted).small());
    }
}

/// The cell in words: which matrix, which query and key, the value with all its digits, who blocks it.
pub fn tooltip(ui: &mut Ui, session: &Session, head: usize, cell: CellRef) {
    let colors = Colors::in_use(ui);
    let Some(matrix) = session.matrix_of_head(cell.matrix, head) else { return };
    if cell.row >= matrix.rows() || cell.col >= matrix.cols() {
        return;
    }
    ui.label(RichText::new(where_it_is(session, cell)).color(colors.muted).small());
    ui.label(RichText::new(in_full(&matrix, cell)).family(super::style::bold()));
    if let Some(layer) = session.blocked_by(head, cell) {
        ui.label(RichText::new(format!("blocked by {layer}")).color(colors.muted).small());
    }
    let is_whole_board = session.gives_weights() && session.centre() == Centre::Board;
    let hint = match (cell.matrix.is_score_like(), session.slot(cell.matrix).is_some()) {
        (true, _) if is_whole_board => "click to pin",
        (true, _) => "click to pin · double-click to enlarge",
        (_, true) => "click, then type a number · double-click to enlarge",
        (_, false) => "double-click to enlarge",
    };
    ui.label(RichText::new(hint).color(colors.muted).small());
}

fn where_it_is(session: &Session, cell: CellRef) -> String {
    let scene = session.scene();
    let label = |labels: &[String], index: usize| {
        labels.get(index).cloned().unwrap_or_else(|| (index + 1).to_string())
    };
    let query = || format!("query {} “{}”", cell.row + 1, label(scene.query_labels(), cell.row));
    match cell.matrix {
        matrix if matrix.is_score_like() => {
            let key = label(scene.key_labels(), cell.col);
            format!("{}: {}, key {} “{key}”", cell.matrix.label(), query(), cell.col + 1)
        }
        MatrixId::Q | MatrixId::Output => {
            format!("{}: {}, feature {}", cell.matrix.label(), query(), cell.col + 1)
        }
        MatrixId::K | MatrixId::V => {
            let key = label(scene.key_labels(), cell.row);
            format!("{}: key {} “{key}”, feature {}", cell.matrix.label(), cell.row + 1, cell.col + 1)
        }
        matrix => format!("{}: row {}, column {}", matrix.label(), cell.row + 1, cell.col + 1),
    }
}

fn in_full(matrix: &Matrix, cell: CellRef) -> String {
    let value = matrix.get(cell.row, cell.col);
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "∞".to_owned() } else { "−∞".to_owned() }
    } else {
        (value + 0.0).to_string().replace('-', "−")
    }
}

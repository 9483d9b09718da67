//! One matrix on its own, with all its digits.

use super::axis::Axis;
use super::board::{BAND, CAPTION_DROP, LABEL_GAP, MARGIN, pin_row, valid_pin};
use super::caption::{Caption, SMALL, operation};
use super::cell_marks::{draw_key, marks_of};
use super::heading::Heading;
use super::legend::legend;
use super::matrix_view::MatrixView;
use super::sizing::{self, CellPlan};
use super::sketch::Sketch;
use super::words::{board_words, matrix_words};
use super::{Anchor, AxisOf, Drawing, FigureInput, FigureOptions, Grid, MatrixId, Pin, Point, Size};
use crate::scene::{Orientation, Stage};

/// One stage of the head.
pub fn stage(stage: Stage, input: &FigureInput<'_>, options: &FigureOptions) -> Drawing {
    matrix(stage.into(), input, options)
}

/// One matrix. A scene that has no such matrix gets a sheet that says so.
pub fn matrix(id: MatrixId, input: &FigureInput<'_>, options: &FigureOptions) -> Drawing {
    let sketch = Sketch::new(options.theme.colors());
    let heading = Heading::plain(input.title, &sketch);
    sheet(sketch, id, input, options, &heading, matrix_words(input, id, options))
}

/// The weights of one head that were computed elsewhere, as the board of a scene that gives nothing else.
pub fn given_weights(input: &FigureInput<'_>, options: &FigureOptions) -> Drawing {
    let sketch = Sketch::new(options.theme.colors());
    let heading = Heading::of_head(input, options.head, &sketch);
    sheet(sketch, MatrixId::Weights, input, options, &heading, board_words(input, options))
}

fn sheet(
    mut sketch: Sketch,
    id: MatrixId,
    input: &FigureInput<'_>,
    options: &FigureOptions,
    heading: &Heading,
    words: String,
) -> Drawing {
    let turned = options.orientation == Orientation::QueriesAsColumns;
    let Some(view) = MatrixView::new(input, id, options).map(|view| view.transposed(turned)) else {
        let words = format!("This scene has no matrix of that name ({}).", super::caption::name(id, false));
        sketch.text(&words, sketch.muted(11.0), Point::default(), Anchor::Start);
        return sketch.into_drawing(MARGIN, input.title.to_owned(), words);
    };
    let plan = if options.digits { plan(&view) } else { color_plan(&view) };
    let grid = view.draw(&mut sketch, Point::default(), plan);
    draw_axes(&mut sketch, input, options, &grid);
    draw_below(&mut sketch, input, options, &view, &grid);
    draw_pin(&mut sketch, input, options, &grid);
    if options.title {
        heading.draw_above(&mut sketch, 0.0, -BAND - 16.0);
    }
    sketch.into_drawing(MARGIN, input.title.to_owned(), words)
}

/// Cells with comfortable digits while both sides are short enough for them.
pub fn plan(view: &MatrixView<'_>) -> CellPlan {
    let (down, across) = (view.down(), view.across());
    if down.max(across) > sizing::DIGITS_UP_TO {
        return color_plan(view);
    }
    let height = sizing::row_height(down.max(across));
    let digits = sizing::digits_for_row(height);
    CellPlan { cell: Size { width: view.cell_width(digits), height }, digits: Some(digits) }
}

/// Cells without digits.
fn color_plan(view: &MatrixView<'_>) -> CellPlan {
    let side = |n| sizing::color_cell(n, sizing::COLOR_SIDE);
    CellPlan { cell: Size { width: side(view.across()), height: side(view.down()) }, digits: None }
}

/// What the rows of a matrix stand for, and what its columns do.
fn labels_of<'a>(id: MatrixId, input: &FigureInput<'a>) -> (Option<&'a [String]>, Option<&'a [String]>) {
    let labels = |axis| match axis {
        AxisOf::Queries => Some(input.query_labels),
        AxisOf::Keys => Some(input.key_labels),
        AxisOf::Features => None,
    };
    let (rows, cols) = id.axes();
    (labels(rows), labels(cols))
}

/// The pinned row and column of a matrix.
fn pinned_of(id: MatrixId, pin: Option<Pin>) -> (Option<usize>, Option<usize>) {
    let pinned = |axis| match axis {
        AxisOf::Queries => pin.map(|pin| pin.query),
        AxisOf::Keys => pin.map(|pin| pin.key),
        AxisOf::Features => None,
    };
    let (rows, cols) = id.axes();
    (pinned(rows), pinned(cols))
}

fn draw_axes(sketch: &mut Sketch, input: &FigureInput<'_>, options: &FigureOptions, grid: &Grid) {
    let (rows, cols) = labels_of(grid.matrix, input);
    let (row, col) = pinned_of(grid.matrix, valid_pin(input, options));
    let axis = |labels, pinned| Axis { labels, pinned, size: 10.5 };
    let (rows, cols) = (rows.map(|labels| axis(labels, row)), cols.map(|labels| axis(labels, col)));
    let (down, across) = if grid.transposed { (cols, rows) } else { (rows, cols) };
    if let Some(axis) = down {
        axis.down(sketch, grid.rect, grid.rect.x - LABEL_GAP);
    }
    if let Some(axis) = across {
        let step = grid.rect.width / axis.labels.len().max(1) as f32;
        axis.fitted(sketch, step).across(sketch, grid.rect, -7.0);
    }
    if down.is_some() && across.is_some() {
        let word = if grid.transposed { "keys ↓  queries →" } else { "queries ↓  keys →" };
        let at = Point { x: grid.rect.x - LABEL_GAP, y: -7.0 };
        sketch.text(word, sketch.muted(SMALL), at, Anchor::End);
    }
}

fn draw_below(
    sketch: &mut Sketch,
    input: &FigureInput<'_>,
    options: &FigureOptions,
    view: &MatrixView<'_>,
    grid: &Grid,
) {
    let at = Point { x: grid.rect.x, y: grid.rect.bottom() + CAPTION_DROP };
    let mut caption = Caption::new(view.id, view.transposed, (grid.rows, grid.cols), sketch.theme);
    if let Some(head) = input.head(options.head) {
        caption = caption.of_head(view.id, head, sketch.theme).with_blocks(view.block_sides());
        let done = match input.gives_weights {
            true => "computed elsewhere".to_owned(),
            false => operation(view.id, view.transposed, &input.in_force(options.head), head),
        };
        let place = (input.heads.len() > 1).then(|| head_words(input, options.head));
        let parts: Vec<String> =
            [Some(done), place].into_iter().flatten().filter(|s| !s.is_empty()).collect();
        if !parts.is_empty() {
            caption = caption.with_operation(&parts.join(" · "), sketch.theme);
        }
    }
    let mut y = caption.draw(sketch, at) + 10.0;
    if options.legends {
        let room = grid.rect.width.max(60.0);
        y = legend(sketch, &view.scale, view.subject(), Point { x: grid.rect.x, y }, room) + 9.0;
    }
    draw_key(sketch, &marks_of(view), Point { x: grid.rect.x, y });
}

/// `head 3 of 8`, and the KV head that it reads where heads share one.
pub fn head_words(input: &FigureInput<'_>, head: usize) -> String {
    let Some(head) = input.head(head) else { return String::new() };
    let own = format!("head {}", head.query_head + 1);
    if input.kv_heads() == input.heads.len() { own } else { format!("{own} · KV {}", head.kv_head + 1) }
}

fn draw_pin(sketch: &mut Sketch, input: &FigureInput<'_>, options: &FigureOptions, grid: &Grid) {
    match pinned_of(grid.matrix, valid_pin(input, options)) {
        (Some(row), Some(col)) => sketch.pin(grid.cell_rect(row, col)),
        (Some(row), None) => pin_row(sketch, grid, row),
        _ => {}
    }
}

//! All heads: their weights in small, and how they are put together.

use super::axis::Axis;
use super::board::{BAND, GAP, LABEL_GAP, MARGIN, valid_pin};
use super::caption::{Caption, SMALL};
use super::cell_marks::{CellMark, draw_key, marks_of};
use super::equation::{Factor, draw_equation};
use super::heading::Heading;
use super::legend::legend;
use super::matrix_view::MatrixView;
use super::single::head_words;
use super::sizing::{self, CellPlan};
use super::sketch::Sketch;
use super::words::weight_words;
use super::{Anchor, Drawing, FigureInput, FigureOptions, Grid, MatrixId, Point, Size, Stroke};

/// How wide the small multiples may grow before they break into another row, in points.
const ROOM: f32 = 1100.0;
/// Extent of a small multiple without digits, in points.
const SMALL_SIDE: f32 = 150.0;

/// The weights of all heads side by side, then heads · W_O = output.
pub fn heads(input: &FigureInput<'_>, options: &FigureOptions) -> Drawing {
    let mut sketch = Sketch::new(options.theme.colors());
    let bottom = draw_multiples(&mut sketch, input, options);
    if input.matrix(MatrixId::Concat, options.head).is_some() {
        draw_assembly(&mut sketch, input, options, bottom + 46.0);
    }
    if options.title {
        Heading::of_scene(input, &sketch).draw_above(&mut sketch, 0.0, -BAND - 34.0);
    }
    sketch.into_drawing(MARGIN, input.title.to_owned(), words(input, options))
}

fn draw_multiples(sketch: &mut Sketch, input: &FigureInput<'_>, options: &FigureOptions) -> f32 {
    let views: Vec<MatrixView<'_>> = (0..input.heads.len())
        .filter_map(|head| {
            MatrixView::new(input, MatrixId::Weights, &FigureOptions { head, ..options.clone() })
        })
        .collect();
    let Some(first) = views.first() else { return 0.0 };
    let pin = valid_pin(input, options);
    let queries = Axis { labels: input.query_labels, pinned: pin.map(|pin| pin.query), size: 9.5 };
    let keys = Axis { labels: input.key_labels, pinned: pin.map(|pin| pin.key), size: 9.5 };
    let left = queries.widest(sketch) + LABEL_GAP;
    let plan = multiple_plan(&views, ROOM - left);
    let size = first.size(plan);
    let step = size.width.max(70.0) + GAP;
    let per_row = (((ROOM - left + GAP) / step) as usize).clamp(1, views.len());
    let pitch = size.height + BAND + 34.0;
    let keys = keys.fitted(sketch, plan.cell.width);
    for (i, view) in views.iter().enumerate() {
        let at = Point { x: left + (i % per_row) as f32 * step, y: (i / per_row) as f32 * pitch };
        let grid = view.draw(sketch, at, plan);
        keys.across(sketch, grid.rect, at.y - 6.0);
        let name = head_words(input, i);
        let color = if i == options.head { sketch.theme.weight } else { sketch.theme.ink };
        sketch.text(&name, sketch.bold(11.0, color), Point { x: at.x, y: at.y - BAND }, Anchor::Start);
        if i % per_row == 0 {
            queries.down(sketch, grid.rect, left - LABEL_GAP);
        }
        if let Some(pin) = pin {
            sketch.pin(grid.cell_rect(pin.query, pin.key));
        }
    }
    let n_rows = views.len().div_ceil(per_row);
    let mut bottom = (n_rows - 1) as f32 * pitch + size.height;
    if options.legends {
        let room = size.width.max(80.0);
        bottom = legend(sketch, &first.scale, first.subject(), Point { x: left, y: bottom + 12.0 }, room);
    }
    let shown: Vec<CellMark> = views.iter().flat_map(marks_of).collect();
    let marks: Vec<CellMark> = CellMark::ALL.into_iter().filter(|mark| shown.contains(mark)).collect();
    if !marks.is_empty() {
        bottom = draw_key(sketch, &marks, Point { x: left, y: bottom + 9.0 });
    }
    bottom
}

/// Digits while all heads fit into one row with them; colour only otherwise.
fn multiple_plan(views: &[MatrixView<'_>], room: f32) -> CellPlan {
    let (down, across) = views.first().map_or((0, 0), |view| (view.down(), view.across()));
    let width = views.iter().map(|view| view.cell_width(8.5)).fold(0.0, f32::max);
    let total = (across as f32 * width + GAP) * views.len() as f32;
    if down.max(across) <= sizing::FEATURES_UP_TO && total <= room {
        return CellPlan { cell: Size { width, height: 22.0 }, digits: Some(8.5) };
    }
    let side = |n: usize| (SMALL_SIDE / n.max(1) as f32).min(24.0);
    CellPlan { cell: Size { width: side(across), height: side(down) }, digits: None }
}

/// Heads side by side, times W_O where there is one, make the output.
fn draw_assembly(sketch: &mut Sketch, input: &FigureInput<'_>, options: &FigureOptions, y: f32) {
    let has_w_o = input.matrix(MatrixId::WO, options.head).is_some();
    let steps: &[(&'static str, MatrixId)] = if has_w_o {
        &[("", MatrixId::Concat), ("·", MatrixId::WO), ("=", MatrixId::FinalOutput)]
    } else {
        &[("", MatrixId::Concat)]
    };
    let pin = valid_pin(input, options);
    let axis = Axis { labels: input.query_labels, pinned: pin.map(|pin| pin.query), size: 9.5 };
    let left = axis.widest(sketch) + LABEL_GAP;
    let biased = input.projection.is_some_and(|projection| projection.b_o.is_some());
    let factors: Vec<Factor<'_>> = steps
        .iter()
        .filter_map(|(sign, id)| {
            let view = MatrixView::new(input, *id, options)?;
            let caption = Caption::new(*id, false, (view.values.rows(), view.values.cols()), sketch.theme);
            let caption = if *id == MatrixId::FinalOutput && biased {
                caption.with_operation("+ b_O", sketch.theme)
            } else {
                caption
            };
            Some(Factor { sign, view, caption })
        })
        .collect();
    let placed = draw_equation(sketch, &factors, Point { x: left, y });
    for grid in &placed.grids {
        if grid.matrix == MatrixId::Concat {
            axis.down(sketch, grid.rect, left - LABEL_GAP);
            part_heads(sketch, input, grid);
        }
        if let (Some(pin), true) = (pin, grid.matrix != MatrixId::WO) {
            super::board::pin_row(sketch, grid, pin.query);
        }
    }
}

/// Rules between the heads in the concatenation, and their names above.
fn part_heads(sketch: &mut Sketch, input: &FigureInput<'_>, grid: &Grid) {
    let n = input.heads.len();
    if n == 0 || !grid.cols.is_multiple_of(n) || grid.rows == 0 {
        return;
    }
    let width = grid.rect.width / n as f32;
    let stroke = Stroke { width: 1.2, color: sketch.theme.ink };
    for head in 0..n {
        let x = grid.rect.x + head as f32 * width;
        if head > 0 {
            sketch.line(Point { x, y: grid.rect.y }, Point { x, y: grid.rect.bottom() }, stroke);
        }
        let name = if width >= 44.0 { format!("head {}", head + 1) } else { (head + 1).to_string() };
        if width >= 12.0 {
            let at = Point { x: x + width / 2.0, y: grid.rect.y - 6.0 };
            sketch.text(&name, sketch.muted(SMALL), at, Anchor::Middle);
        }
    }
}

fn words(input: &FigureInput<'_>, options: &FigureOptions) -> String {
    let n_heads = input.heads.len();
    let mut words = vec![match input.gives_weights {
        true => format!("Weights of {n_heads} heads, computed elsewhere."),
        false => format!("Weights of {n_heads} heads reading {} KV heads.", input.kv_heads()),
    }];
    // More would not be listened to.
    for (i, head) in input.heads.iter().enumerate().take(4) {
        if let Some(largest) = weight_words(input, &head.attention.weights, options.decimals) {
            words.push(format!("Head {}: {largest}", i + 1));
        }
    }
    words.join(" ")
}

//! Where Q, K and V come from: hidden states times weights, in three rows.

use super::axis::Axis;
use super::board::{LABEL_GAP, MARGIN, pin_row, valid_pin};
use super::caption::{Caption, SMALL};
use super::equation::{Factor, draw_equation};
use super::heading::Heading;
use super::single::head_words;
use super::sketch::Sketch;
use super::{Anchor, Drawing, FigureInput, FigureOptions, Grid, MatrixId, Point, Rect, Stroke};

/// Between rows, in points.
const ROW_GAP: f32 = 34.0;

/// X · W_Q = Q, and K and V alike, for one head.
pub fn projection(input: &FigureInput<'_>, options: &FigureOptions) -> Drawing {
    let mut sketch = Sketch::new(options.theme.colors());
    if input.projection.is_none() {
        let words = match input.gives_weights {
            true => "This scene gives only the weights; nothing is projected.",
            false => "Q, K and V of this scene are given as they are; nothing is projected.",
        };
        sketch.text(words, sketch.muted(11.0), Point::default(), Anchor::Start);
        return sketch.into_drawing(MARGIN, input.title.to_owned(), words.to_owned());
    }
    let mut y = 0.0;
    // Rotary positions come after the projection.
    let (q, k) = match input.is_rotated() {
        true => (MatrixId::UnrotatedQ, MatrixId::UnrotatedK),
        false => (MatrixId::Q, MatrixId::K),
    };
    for (w, result) in [(MatrixId::WQ, q), (MatrixId::WK, k), (MatrixId::WV, MatrixId::V)] {
        y = draw_row(&mut sketch, input, options, (w, result), y) + ROW_GAP;
    }
    if options.title {
        Heading::plain(input.title, &sketch).draw_above(&mut sketch, 0.0, -32.0);
    }
    sketch.into_drawing(MARGIN, input.title.to_owned(), words(input, options))
}

fn draw_row(
    sketch: &mut Sketch,
    input: &FigureInput<'_>,
    options: &FigureOptions,
    (w, result): (MatrixId, MatrixId),
    y: f32,
) -> f32 {
    let has_context = input.matrix(MatrixId::Context, options.head).is_some();
    let x = if w != MatrixId::WQ && has_context { MatrixId::Context } else { MatrixId::X };
    let labels = if w == MatrixId::WQ { input.query_labels } else { input.key_labels };
    let pinned = valid_pin(input, options).map(|pin| if w == MatrixId::WQ { pin.query } else { pin.key });
    let axis = Axis { labels, pinned, size: 10.0 };
    let left = axis.widest(sketch) + LABEL_GAP;
    let factors: Vec<Factor<'_>> = [("", x), ("·", w), ("=", result)]
        .into_iter()
        .filter_map(|(sign, id)| {
            let captioned = |caption| with_bias_and_head(caption, id, sketch, input, options);
            Factor::of(sketch, (input, options), (sign, id), captioned)
        })
        .collect();
    let placed = draw_equation(sketch, &factors, Point { x: left, y });
    for grid in &placed.grids {
        if grid.matrix == w {
            outline_head(sketch, input, options, grid);
            continue;
        }
        if grid.matrix == x {
            axis.down(sketch, grid.rect, left - LABEL_GAP);
        }
        if let Some(row) = pinned {
            pin_row(sketch, grid, row);
        }
    }
    placed.bottom
}

/// The caption of a matrix with the bias that is added to it, and the head that it belongs to.
fn with_bias_and_head(
    caption: Caption,
    id: MatrixId,
    sketch: &Sketch,
    input: &FigureInput<'_>,
    options: &FigureOptions,
) -> Caption {
    let biased = input.projection.is_some_and(|projection| match id {
        MatrixId::Q | MatrixId::UnrotatedQ => projection.b_q.is_some(),
        MatrixId::K | MatrixId::UnrotatedK => projection.b_k.is_some(),
        MatrixId::V => projection.b_v.is_some(),
        _ => false,
    });
    let several = input.heads.len() > 1;
    let words = match id {
        MatrixId::Q | MatrixId::UnrotatedQ if biased => "+ b_Q",
        MatrixId::K | MatrixId::UnrotatedK if biased => "+ b_K",
        MatrixId::V if biased => "+ b_V",
        _ => "",
    };
    let is_result =
        matches!(id, MatrixId::Q | MatrixId::K | MatrixId::V | MatrixId::UnrotatedQ | MatrixId::UnrotatedK);
    let head = if several && is_result { head_words(input, options.head) } else { String::new() };
    let line =
        [words, head.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    if line.is_empty() { caption } else { caption.with_operation(&line, sketch.theme) }
}

/// Outlines the columns of W that this head takes: h · d_head up to (h + 1) · d_head.
fn outline_head(sketch: &mut Sketch, input: &FigureInput<'_>, options: &FigureOptions, grid: &Grid) {
    let Some(head) = input.head(options.head).filter(|_| input.heads.len() > 1) else { return };
    let (head_idx, width) = match grid.matrix {
        MatrixId::WQ => (head.query_head, head.input.q.cols()),
        MatrixId::WK => (head.kv_head, head.input.k.cols()),
        _ => (head.kv_head, head.input.v.cols()),
    };
    if width == 0 || (head_idx + 1) * width > grid.cols || grid.rows == 0 {
        return;
    }
    let (first, last) = (grid.cell_rect(0, head_idx * width), grid.cell_rect(0, (head_idx + 1) * width - 1));
    let rect = Rect { x: first.x, y: first.y, width: last.right() - first.x, height: grid.rect.height };
    sketch.outline(rect, Stroke { width: 1.2, color: sketch.theme.ink });
    let at = Point { x: rect.center().x, y: rect.y - 5.0 };
    let words = if grid.matrix == MatrixId::WQ || input.kv_heads() == input.heads.len() {
        format!("head {}", head.query_head + 1)
    } else {
        format!("KV {}", head.kv_head + 1)
    };
    sketch.text(&words, sketch.muted(SMALL), at, Anchor::Middle);
}

fn words(input: &FigureInput<'_>, options: &FigureOptions) -> String {
    let shape = |id| {
        input.matrix(id, options.head).map_or_else(String::new, |m| format!("{} × {}", m.rows(), m.cols()))
    };
    format!(
        "Hidden states X ({}) times W Q ({}), W K ({}) and W V ({}) give Q ({}), K ({}) and V ({}).",
        shape(MatrixId::X),
        shape(MatrixId::WQ),
        shape(MatrixId::WK),
        shape(MatrixId::WV),
        shape(MatrixId::Q),
        shape(MatrixId::K),
        shape(MatrixId::V),
    )
}

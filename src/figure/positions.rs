//! What positions do: Q and K before and after rotation, what is added to X, or the bias of ALiBi.

use super::axis::Axis;
use super::board::{LABEL_GAP, MARGIN, pin_row, valid_pin};
use super::caption::{Caption, SMALL};
use super::equation::{Factor, draw_equation};
use super::heading::Heading;
use super::numbers::format_short;
use super::single::{head_words, matrix};
use super::sketch::Sketch;
use super::{Anchor, AxisOf, Drawing, FigureInput, FigureOptions, MatrixId, Point};
use crate::engine::{RopeLayout, rope_frequencies};
use crate::scene::Position;

/// Between rows, in points.
const ROW_GAP: f32 = 34.0;
/// So many frequencies are written out.
const MOST_FREQUENCIES: usize = 4;

/// Q and K before and after they are turned; hidden states, positions and their sum; or the bias of ALiBi.
pub fn positions(input: &FigureInput<'_>, options: &FigureOptions) -> Drawing {
    match input.position {
        Position::Alibi => matrix(MatrixId::AlibiBias, input, options),
        Position::Rope { base, layout } => {
            let rows = [
                [("", MatrixId::UnrotatedQ), ("→", MatrixId::Q)].to_vec(),
                [("", MatrixId::UnrotatedK), ("→", MatrixId::K)].to_vec(),
            ];
            rows_of_equations(input, options, &rows, &rotation_words(input, base, layout))
        }
        Position::Sinusoidal => {
            let sum = |given, positions, sum| [("", given), ("+", positions), ("=", sum)].to_vec();
            let rows = [
                sum(MatrixId::GivenX, MatrixId::XPositions, MatrixId::X),
                sum(MatrixId::GivenContext, MatrixId::ContextPositions, MatrixId::Context),
            ];
            let words = "P: sin(p / 10000^{2f/d}) and cos(p / 10000^{2f/d}), in turn, for the token at position p from 0";
            rows_of_equations(input, options, &rows, words)
        }
        Position::None => {
            let mut sketch = Sketch::new(options.theme.colors());
            let words = match input.gives_weights {
                true => "This scene gives only the weights; what positions did to them is not known.",
                false => "This scene gives no positions; only its mask knows the order of the tokens.",
            };
            sketch.text(words, sketch.muted(11.0), Point::default(), Anchor::Start);
            sketch.into_drawing(MARGIN, input.title.to_owned(), words.to_owned())
        }
    }
}

/// One equation a row, each with its tokens, and a line of words below. Rows whose matrices the scene does not have are left out.
fn rows_of_equations(
    input: &FigureInput<'_>,
    options: &FigureOptions,
    rows: &[Vec<(&'static str, MatrixId)>],
    words: &str,
) -> Drawing {
    let mut sketch = Sketch::new(options.theme.colors());
    let mut y = 0.0;
    for row in rows {
        let factor = |&(sign, id): &(&'static str, MatrixId)| {
            let captioned = |caption| with_head(caption, id, &sketch, input, options);
            Factor::of(&sketch, (input, options), (sign, id), captioned)
        };
        let factors: Vec<Factor<'_>> = row.iter().filter_map(factor).collect();
        if factors.len() == row.len() {
            y = draw_row(&mut sketch, input, options, &factors, y) + ROW_GAP;
        }
    }
    let below = super::Label::markup(words, super::Face::Regular, SMALL + 1.0, sketch.theme.muted);
    sketch.extend(below.place(Point { x: 0.0, y }, Anchor::Start));
    if options.title {
        Heading::plain(input.title, &sketch).draw_above(&mut sketch, 0.0, -32.0);
    }
    let plain = words.replace(['^', '{', '}', '_'], "");
    sketch.into_drawing(MARGIN, input.title.to_owned(), plain)
}

fn draw_row(
    sketch: &mut Sketch,
    input: &FigureInput<'_>,
    options: &FigureOptions,
    factors: &[Factor<'_>],
    y: f32,
) -> f32 {
    let pin = valid_pin(input, options);
    let is_of_keys = factors.first().is_some_and(|factor| factor.view.id.axes().0 == AxisOf::Keys);
    let labels = if is_of_keys { input.key_labels } else { input.query_labels };
    let pinned = pin.map(|pin| if is_of_keys { pin.key } else { pin.query });
    let axis = Axis { labels, pinned, size: 10.0 };
    let left = axis.widest(sketch) + LABEL_GAP;
    let placed = draw_equation(sketch, factors, Point { x: left, y });
    if let Some(first) = placed.grids.first() {
        axis.down(sketch, first.rect, left - LABEL_GAP);
    }
    for (grid, row) in placed.grids.iter().zip(std::iter::repeat(pinned)) {
        if let Some(row) = row {
            pin_row(sketch, grid, row);
        }
    }
    placed.bottom
}

/// The caption of a matrix with the head that it belongs to, where there are several.
fn with_head(
    caption: Caption,
    id: MatrixId,
    sketch: &Sketch,
    input: &FigureInput<'_>,
    options: &FigureOptions,
) -> Caption {
    let caption = match input.head(options.head) {
        Some(head) => caption.of_head(id, head, sketch.theme),
        None => caption,
    };
    match input.heads.len() > 1 && id.is_per_head() {
        true => caption.with_operation(&head_words(input, options.head), sketch.theme),
        false => caption,
    }
}

/// Which features turn together, and how far in one step.
fn rotation_words(input: &FigureInput<'_>, base: f64, layout: RopeLayout) -> String {
    let d_k = input.heads.first().map_or(0, |head| head.input.k.cols());
    let frequencies = rope_frequencies(d_k, base);
    let mut turns: Vec<String> =
        frequencies.iter().take(MOST_FREQUENCIES).map(|frequency| format_short(*frequency, 6)).collect();
    if frequencies.len() > MOST_FREQUENCIES {
        turns.push("…".to_owned());
    }
    let pairs = match layout {
        RopeLayout::HalfSplit => format!("features f and f + {}", d_k / 2),
        RopeLayout::Interleaved => "neighbouring features".to_owned(),
    };
    format!(
        "{pairs} turn together, the pairs by {} radians a position; positions count from 0",
        turns.join(", ")
    )
}

//! What positions do to the query and the key of a pair, as text.

use super::numbers::{format_number, format_short};
use super::trace::{TraceLine, TraceSection, Writing, factor};
use super::trace_products::vector;
use super::{FigureInput, Pin};
use crate::engine::{Matrix, Precision, RopeLayout, rope, rope_frequencies};
use crate::scene::{HeadEvaluation, Position};

/// So many pairs of features are spelled out.
const MOST_PAIRS: usize = 3;

/// x + p of the hidden states behind the pair. Empty where nothing is added.
pub fn additions(input: &FigureInput<'_>, pin: Pin, writing: Writing) -> Vec<TraceSection> {
    let Some((projection, added)) = input.projection.and_then(|all| Some((all, all.sinusoidal.as_ref()?)))
    else {
        return Vec::new();
    };
    let query_position = pin.query as i64 + input.spec.position_offset;
    let sides = [
        ("query", query_position, pin.query, [&added.x, &added.x_positions, &projection.x]),
        ("key", pin.key as i64, pin.key, [&added.context, &added.context_positions, &projection.context]),
    ];
    let section = |(side, position, row, matrices): (&str, i64, usize, [&std::sync::Arc<Matrix>; 3])| {
        let [given, positions, sum] = matrices
            .map(|matrix| vector(writing, matrix.row(row), |value| format_short(value, writing.decimals)));
        let title = format!("Hidden state of the {side}, position {position} added");
        let lines = vec![TraceLine::plain(format!("{given} + {positions} = {sum}"))];
        TraceSection { is_preparation: true, ..TraceSection::new(title, lines) }
    };
    sides.into_iter().map(section).collect()
}

/// The turned pairs of the query and of the key. Empty where nothing is turned.
pub fn rotations(
    input: &FigureInput<'_>,
    head: &HeadEvaluation,
    pin: Pin,
    writing: Writing,
) -> Vec<TraceSection> {
    let (Position::Rope { base, layout }, Some(unrotated)) = (input.position, &head.unrotated) else {
        return Vec::new();
    };
    let query_position = pin.query as i64 + input.spec.position_offset;
    let sides = [
        ("Query", "q", query_position, unrotated.q.row(pin.query), head.input.q.row(pin.query)),
        ("Key", "k", pin.key as i64, unrotated.k.row(pin.key), head.input.k.row(pin.key)),
    ];
    let section = |(side, name, position, before, after)| {
        let title = format!("{side} turned to position {position} (from 0)");
        let exact = turned_row(before, position, (base, layout));
        let mut lines = turned(name, position, (before, &exact), (base, layout), writing);
        let precision = input.spec.precision_in_force();
        if precision != Precision::F64 {
            let row = vector(writing, after, |value| format_short(value, writing.decimals));
            lines.push(TraceLine::muted(format!("stored in {}: {row}", precision.label())));
        }
        TraceSection { is_preparation: true, ..TraceSection::new(title, lines) }
    };
    sides.into_iter().map(section).collect()
}

/// The row as it is turned, before it is stored.
fn turned_row(before: &[f64], position: i64, (base, layout): (f64, RopeLayout)) -> Vec<f64> {
    let row = Matrix::from_fn(1, before.len(), |_, feature| before[feature]);
    rope(&row, base, layout, position).map_or_else(|_odd| before.to_vec(), |turned| turned.row(0).to_vec())
}

/// `q′[1], q′[2] = (1·cos 2 − 0·sin 2, 1·sin 2 + 0·cos 2) = (−0.4161, 0.9093)`, pair by pair.
fn turned(
    name: &str,
    position: i64,
    (before, after): (&[f64], &[f64]),
    (base, layout): (f64, RopeLayout),
    writing: Writing,
) -> Vec<TraceLine> {
    let d = before.len();
    let frequencies = rope_frequencies(d, base);
    let line = |(pair, frequency): (usize, &f64)| {
        let (first, second) = layout.pair(pair, d);
        let (a, b) = (factor(before[first], writing.decimals), factor(before[second], writing.decimals));
        let angle = factor(position as f64 * frequency, writing.decimals);
        let (x, y) =
            (format_number(after[first], writing.decimals), format_number(after[second], writing.decimals));
        TraceLine::plain(format!(
            "{name}′[{}], {name}′[{}] = ({a}·cos {angle} − {b}·sin {angle}, {a}·sin {angle} + {b}·cos {angle}) = ({x}, {y})",
            first + 1,
            second + 1,
        ))
    };
    let most = writing.terms.shown_of(frequencies.len(), MOST_PAIRS);
    let mut lines: Vec<TraceLine> = frequencies.iter().enumerate().take(most).map(line).collect();
    if frequencies.len() > most {
        lines.push(TraceLine::muted(format!("… and {} more pairs", frequencies.len() - most)));
    }
    lines
}

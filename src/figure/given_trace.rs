//! What can be said about a weight that was computed elsewhere: its place in its row, and nothing about where it is from.

use super::numbers::format_number;
use super::trace::{TraceLine, TraceSection, TraceText, Writing, label_of, title_of};
use super::{FigureInput, Pin};
use crate::engine::{Precision, effective_keys, entropy_bits, entropy_nats, rank, top_weight};
use crate::scene::HeadEvaluation;

/// The weight of a pair, and how it stands in the row of its query. `None` where there is no such pair.
pub fn given_trace(
    input: &FigureInput<'_>,
    head: &HeadEvaluation,
    pin: Pin,
    writing: Writing,
) -> Option<TraceText> {
    let weights = &head.attention.weights;
    if pin.query >= weights.rows() || pin.key >= weights.cols() {
        return None;
    }
    let row = weights.row(pin.query);
    let weight = format_number(row[pin.key], writing.decimals);
    let own = vec![
        TraceLine::result(weight),
        TraceLine::plain(in_file(row[pin.key], input.spec.precision)),
        TraceLine::muted("This weight was computed elsewhere; no arithmetic is behind it here."),
    ];
    let sections = vec![
        TraceSection::new("Weight", own),
        TraceSection::new("Its place in the row", place(input, row, pin.key, writing)),
        TraceSection::new("The row of this query", spread(row, writing)),
    ];
    Some(TraceText { title: title_of(input, pin), sections })
}

/// The number with all the digits that the file holds of it.
fn in_file(weight: f64, kept_in: Precision) -> String {
    let digits = match kept_in {
        _ if !weight.is_finite() => format_number(weight, 0),
        Precision::F64 => format!("{weight:?}"),
        // The shortest digits that single out the number among those of single precision.
        Precision::F32 | Precision::Bf16 | Precision::F16 => format!("{:?}", weight as f32),
    };
    format!("in the file, as {}: {}", kept_in.label(), digits.replace('-', "−"))
}

/// The rank among the keys, and the key with the largest weight where that is another one.
fn place(input: &FigureInput<'_>, row: &[f64], key: usize, writing: Writing) -> Vec<TraceLine> {
    let Some(rank) = rank(row, key) else {
        return vec![TraceLine::plain("The row holds NaN: its keys have no order.")];
    };
    let n_equal = row.iter().filter(|weight| **weight == row[key]).count();
    let shared = if n_equal > 1 { format!(", shared by {n_equal} keys") } else { String::new() };
    let mut lines = vec![TraceLine::plain(format!("rank {rank} of {} keys{shared}", row.len()))];
    if let Some((top, largest)) = top_weight(row).filter(|_| rank > 1) {
        let largest = format_number(largest, writing.decimals);
        lines.push(TraceLine::plain(format!("largest: {} {largest}", label_of(input.key_labels, top))));
    }
    lines
}

/// Sum and entropy. A row with negative numbers is no distribution and has no entropy.
fn spread(row: &[f64], writing: Writing) -> Vec<TraceLine> {
    let number = |value| format_number(value, writing.decimals);
    let sum = row.iter().fold(0.0, |sum, weight| sum + weight); // not `sum()`, which begins with −0
    // Enough places to see what single precision loses.
    let mut lines = vec![TraceLine::plain(format!("sum {}", format_number(sum, writing.decimals.max(6))))];
    if row.iter().all(|weight| *weight >= 0.0 && weight.is_finite()) {
        let (nats, bits) = (number(entropy_nats(row)), number(entropy_bits(row)));
        lines.push(TraceLine::plain(format!("entropy {nats} nats = {bits} bits")));
        lines.push(TraceLine::plain(format!("as spread out as {} equal keys", number(effective_keys(row)))));
    } else {
        lines.push(TraceLine::muted("No entropy: it is defined for finite weights that are 0 or more."));
    }
    lines
}

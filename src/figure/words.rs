//! Figures in words, for a person who cannot see them.

use super::board::valid_pin;
use super::numbers::{format_number, format_short};
use super::shorten::shorten_to_graphemes;
use super::{FigureInput, FigureOptions, MatrixId};
use crate::engine::{Attention, Matrix, Precision};
use crate::scene::{HeadEvaluation, Position};

/// A reader can take in so many weights at once.
const WEIGHTS_NAMED: usize = 3;

/// The description of a board: what, sizes, blocked pairs, the largest weights, the pin.
pub fn board_words(input: &FigureInput<'_>, options: &FigureOptions) -> String {
    let Some(head) = input.head(options.head) else {
        return "Nothing to show: the scene has no heads.".to_owned();
    };
    let (n_q, n_k) = (head.input.q.rows(), head.input.k.rows());
    let (queries, keys) = (counted(n_q, "query", "queries"), counted(n_k, "key", "keys"));
    let mut words = vec![match input.gives_weights {
        true => format!("Weights of {queries} over {keys}, computed elsewhere."),
        false => format!(
            "Attention with {queries}, {keys}, key width {} and value width {}.",
            head.input.k.cols(),
            head.input.v.cols(),
        ),
    }];
    if input.heads.len() > 1 {
        words.push(format!("Head {} of {}.", head.query_head + 1, input.heads.len()));
    }
    words.extend(input.fault().map(|fault| format!("A mistake is made on purpose: {}.", fault.label())));
    words.extend(position_words(input, head));
    words.extend(head.dropped.as_ref().map(|dropped| {
        let n_dropped = dropped.kept.iter().filter(|kept| !**kept).count();
        format!("Dropout takes away {n_dropped} of {} weights.", dropped.kept.len())
    }));
    words.extend(
        input.spec.sink_of(head.query_head).map(|sink| {
            format!("A sink with the logit {} takes part in the softmax.", format_short(sink, 4))
        }),
    );
    words.extend(blocked_words(&head.attention));
    words.extend(weight_words(input, &head.attention.weights, options.decimals));
    if let Some(pin) = valid_pin(input, options) {
        let weight = format_number(head.attention.weights.get(pin.query, pin.key), options.decimals);
        let (query, key) = (name(input.query_labels, pin.query), name(input.key_labels, pin.key));
        words.push(format!("Pinned: from {query} to {key}, weight {weight}."));
    }
    words.join(" ")
}

/// What positions do to the head, and the number format where it is not the usual one.
fn position_words(input: &FigureInput<'_>, head: &HeadEvaluation) -> Vec<String> {
    let mut words = Vec::new();
    match input.position {
        Position::None => {}
        Position::Rope { .. } => words.push("Queries and keys are rotated by their positions.".to_owned()),
        Position::Sinusoidal => words.push("Sinusoidal positions are added to the hidden states.".to_owned()),
        Position::Alibi => {
            let slope = head.alibi.as_ref().map_or(0.0, |alibi| alibi.slope);
            words.push(format!(
                "ALiBi takes {} off a score for each step of distance.",
                format_short(slope, 6)
            ));
        }
    }
    if input.spec.precision != Precision::F64 && !input.gives_weights {
        words.push(format!("Every stage is stored in {}.", input.spec.precision.label()));
    }
    words
}

/// The description of one matrix: what, its shape and its range.
pub fn matrix_words(input: &FigureInput<'_>, id: MatrixId, options: &FigureOptions) -> String {
    let Some(matrix) = input.matrix(id, options.head) else { return String::new() };
    let name = super::caption::name(id, false).replace('_', " ");
    let mut words = vec![format!("{name}: {} × {}.", matrix.rows(), matrix.cols())];
    if id == MatrixId::Weights {
        words.extend(weight_words(input, matrix, options.decimals));
    } else {
        words.extend(range_words(matrix, options.decimals));
    }
    words.join(" ")
}

/// Where the largest weights are.
pub fn weight_words(input: &FigureInput<'_>, weights: &Matrix, decimals: usize) -> Option<String> {
    let mut largest: Vec<(f64, usize)> = Vec::with_capacity(WEIGHTS_NAMED + 1);
    for (i, &weight) in weights.data().iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        // Of equal ones the first stays in front.
        let place = largest.iter().take_while(|(other, _)| *other >= weight).count();
        if place < WEIGHTS_NAMED {
            largest.insert(place, (weight, i));
            largest.truncate(WEIGHTS_NAMED);
        }
    }
    if largest.is_empty() {
        return None;
    }
    let named: Vec<String> = largest
        .into_iter()
        .map(|(weight, i)| {
            let (query, key) = (i / weights.cols(), i % weights.cols());
            let (query, key) = (name(input.query_labels, query), name(input.key_labels, key));
            format!("{query} to {key} {}", format_number(weight, decimals))
        })
        .collect();
    Some(format!("Largest weights: {}.", named.join(", ")))
}

fn blocked_words(attention: &Attention) -> Option<String> {
    let n_blocked = attention.blocked_by.iter().filter(|layer| layer.is_some()).count();
    (n_blocked > 0).then(|| format!("A mask blocks {n_blocked} of {} pairs.", attention.blocked_by.len()))
}

fn range_words(matrix: &Matrix, decimals: usize) -> Option<String> {
    let finite = || matrix.data().iter().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
    Some(format!("Values from {} to {}.", format_number(low, decimals), format_number(high, decimals)))
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A label in a sentence.
pub fn name(labels: &[String], index: usize) -> String {
    labels.get(index).map_or_else(|| (index + 1).to_string(), |label| shorten_to_graphemes(label, 24))
}

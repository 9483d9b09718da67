//! What a reader should know though nothing is wrong.

use std::fmt::Write as _;

use super::complaint::Complaint;
use super::given;
use super::inputs::Inputs;
use super::model::SceneSpec;
use super::projection::Projection;
use super::sizes::Sizes;
use super::{HeadEvaluation, Scene};
use crate::engine::{
    AttentionSpec, Cause, EmptyRow, Fault, MaskRule, MaskView, Matrix, Precision, Reach, SoftmaxAxis,
    blocked_in_force, cause_of_non_finite,
};

/// Warnings that need no scores.
pub(super) fn of_spec(spec: &SceneSpec, inputs: &Inputs, attention: &AttentionSpec) -> Vec<Complaint> {
    let mut warnings = Vec::new();
    if let Inputs::Weights(given, _) = inputs {
        given::warnings(given, &mut warnings);
        return warnings;
    }
    zero_one_masks(spec, &mut warnings);
    empty_rows(attention, inputs, &mut warnings);
    not_finite_inputs(inputs, &mut warnings);
    idle_sinks(spec, &mut warnings);
    warnings
}

/// A sink is one more key of every query; over the queries there is no such thing.
fn idle_sinks(spec: &SceneSpec, warnings: &mut Vec<Complaint>) {
    let over_queries =
        spec.softmax.over == SoftmaxAxis::Queries || spec.fault == Some(Fault::SoftmaxOverQueries);
    if over_queries && !spec.sinks.is_empty() {
        let message =
            "the sinks take no part: softmax runs over the queries, and a sink stands beside the keys";
        warnings.push(Complaint::warning("sinks", message));
    }
}

/// An additive mask of zeros and ones hides nothing; a boolean one was meant.
fn zero_one_masks(spec: &SceneSpec, warnings: &mut Vec<Complaint>) {
    for (layer, rule) in spec.mask.iter().enumerate() {
        if rule.is_additive_of_zeros_and_ones() {
            let message =
                "this additive mask holds only 0 and 1: they are added to the scores, and nothing is blocked";
            let hint = "to block pairs write -inf, or Matrix(convention: .., rows: ..) with true and false";
            warnings.push(Complaint::warning(format!("mask[{layer}]"), message).with_hint(hint));
        }
    }
}

/// Queries that may see nothing, and what they get.
fn empty_rows(spec: &AttentionSpec, inputs: &Inputs, warnings: &mut Vec<Complaint>) {
    let Sizes { n_q, n_k, d_k, heads, .. } = *inputs.sizes();
    let is_over_queries = spec.softmax.over == SoftmaxAxis::Queries
        || spec.fault.is_some_and(|in_force| in_force.fault == Fault::SoftmaxOverQueries);
    if is_over_queries || n_q == 0 {
        return;
    }
    let gets = match spec.softmax.empty_rows {
        _ if !spec.sinks.is_empty() => "weights 0 and output 0: the sink takes everything",
        EmptyRow::Zero => "weights 0 and output 0 (Zero)",
        EmptyRow::NotANumber => "0/0, which is NaN (NotANumber)",
        EmptyRow::Uniform => "1/n_k for every key (Uniform)",
    };
    if n_k == 0 {
        let is_nan = spec.softmax.empty_rows == EmptyRow::NotANumber && spec.sinks.is_empty();
        let output = if is_nan { "0/0, which is NaN (NotANumber)" } else { "0" };
        let message = format!("there are no keys: no query sees anything, and its output is {output}");
        warnings.push(Complaint::warning("input.k", message));
        return;
    }
    let per_head =
        |rule: &MaskRule| matches!(rule, MaskRule::MatrixPerHead { .. } | MaskRule::AdditivePerHead(_));
    let differ = spec.mask.iter().any(per_head);
    for head in 0..if differ { heads } else { 1 } {
        let mask = MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, head);
        let sees_itself = |query| {
            let own = usize::try_from(mask.query_position(query)).ok();
            own.is_some_and(|own| own < n_k && mask.allows(query, own))
        };
        // What is likely is asked first: asking every key of every query takes long in a long scene.
        let empty = |query: &usize| {
            let Reach { mut keys, is_whole } = mask.reach(*query);
            keys.is_empty() || !(is_whole || sees_itself(*query) || keys.any(|key| mask.allows(*query, key)))
        };
        // A mistake may hide other pairs than the mask says.
        let really = spec.fault.map(|_| blocked_in_force(spec, n_q, n_k, d_k, head));
        let is_empty = |query: &usize| match &really {
            Some(blocked) => (0..n_k).all(|key| blocked.get(query * n_k + key).is_some()),
            None => empty(query),
        };
        let rows: Vec<usize> = (0..n_q).filter(is_empty).map(|query| query + 1).collect();
        if !rows.is_empty() {
            let of_head = if differ { format!("in head {}, ", head + 1) } else { String::new() };
            let (queries, sees) = match rows.as_slice() {
                [row] => (format!("query {row}"), "may see no key and gets"),
                _ => (format!("queries {}", ranges(&rows)), "may see no key and get"),
            };
            warnings.push(Complaint::warning("mask", format!("{of_head}{queries} {sees} {gets}")));
        }
    }
}

/// `1–3, 5`.
fn ranges(rows: &[usize]) -> String {
    let mut shown = String::new();
    let mut rest = rows;
    while let Some(&first) = rest.first() {
        let n = rest.iter().zip(first..).take_while(|(row, expected)| **row == *expected).count();
        let separator = if shown.is_empty() { "" } else { ", " };
        let last = first + n - 1;
        let _ = if n == 1 {
            write!(shown, "{separator}{first}")
        } else {
            write!(shown, "{separator}{first}–{last}")
        };
        rest = &rest[n..];
    }
    shown
}

/// NaN and ∞ are values like others, but seldom meant. One warning a matrix names the first place.
fn not_finite_inputs(inputs: &Inputs, warnings: &mut Vec<Complaint>) {
    for (field, what, matrix) in named_inputs(inputs) {
        let Some(at) = matrix.data().iter().position(|number| !number.is_finite()) else { continue };
        let (row, col) = (at / matrix.cols(), at % matrix.cols());
        let number = shown(matrix.data()[at]);
        let others = matrix.data()[at + 1..].iter().filter(|number| !number.is_finite()).count();
        let more = if others > 0 {
            format!(", and {others} more numbers there are not finite")
        } else {
            String::new()
        };
        let message = format!("{what} has {number} in row {}, column {}{more}", row + 1, col + 1);
        warnings.push(Complaint::warning(format!("{field}[{row}][{col}]"), message));
    }
}

/// Every matrix of an input with its field and its name.
fn named_inputs(inputs: &Inputs) -> Vec<(String, String, &Matrix)> {
    match inputs {
        Inputs::Heads { q, k, v, .. } => {
            let sides = [("Q", q), ("K", k), ("V", v)];
            let each = sides.into_iter().flat_map(|(letter, matrices)| {
                let n_heads = matrices.len();
                matrices.iter().enumerate().map(move |(head, matrix)| {
                    let of_head = if n_heads > 1 { format!(" of head {}", head + 1) } else { String::new() };
                    let field = format!("input.{}[{head}]", letter.to_lowercase());
                    (field, format!("{letter}{of_head}"), &**matrix)
                })
            });
            each.collect()
        }
        Inputs::Weights(..) => Vec::new(), // judged as weights
        Inputs::Projected(projection, _) => {
            let Projection { x, context, w_q, w_k, w_v, w_o, .. } = projection;
            let mut all = vec![("x", "X", &**x)];
            if !std::sync::Arc::ptr_eq(x, context) {
                all.push(("context", "the context", &**context));
            }
            all.extend([("w_q", "W_Q", &**w_q), ("w_k", "W_K", &**w_k), ("w_v", "W_V", &**w_v)]);
            all.extend(w_o.as_deref().map(|w_o| ("w_o", "W_O", w_o)));
            let full = |(field, what, matrix)| (format!("input.{field}"), String::from(what), matrix);
            all.into_iter().map(full).collect()
        }
    }
}

/// Rows that are not finite, each with the number that caused it: `weights row 2 is NaN because Q[2][1] is NaN`.
///
/// Indices count from 1, as rows on the board do. Rows that see nothing are not meant: their policy speaks for them.
pub(super) fn not_finite_rows(scene: &Scene, head: &HeadEvaluation, n_heads: usize) -> Vec<String> {
    /// Rows named one by one; one NaN in K makes every row NaN.
    const SHOWN: usize = 3;
    let HeadEvaluation { query_head, input, attention, .. } = head;
    let spec = scene.attention_spec();
    let is_spoilt = |query: &usize| {
        // After dropout, where there is any: a value that is dropped spoils nothing.
        let mut numbers = attention.weights.row(*query).iter().chain(head.output().row(*query));
        numbers.any(|number| !number.is_finite())
            && (0..input.k.rows()).any(|key| attention.allows(*query, key))
    };
    let rows: Vec<usize> = (0..attention.weights.rows()).filter(is_spoilt).collect();
    let cause =
        |&query: &usize| Some((query, cause_of_non_finite(input, spec, attention, *query_head, query)?));
    let spoilt: Vec<(usize, Cause)> = rows.iter().take(SHOWN).filter_map(cause).collect();
    let of_head = if n_heads > 1 { format!("head {}: ", query_head + 1) } else { String::new() };
    let sentence = |(query, cause): &(usize, Cause)| {
        let not_finite = |row: &[f64]| row.iter().copied().find(|number| !number.is_finite());
        let (stage, number) = match not_finite(attention.weights.row(*query)) {
            Some(number) => ("weights", number),
            None => ("output", not_finite(attention.output.row(*query)).unwrap_or(f64::NAN)),
        };
        let why = why(*query, *cause, scene, head);
        format!("{of_head}{stage} row {} is {} because {why}", query + 1, shown(number))
    };
    let mut warnings: Vec<String> = spoilt.iter().map(sentence).collect();
    if rows.len() > SHOWN {
        let more = rows.len() - SHOWN;
        warnings.push(format!("{of_head}{more} more rows are not finite"));
    }
    warnings
}

/// Why the weights or the output of a query are not finite: `Q[2][1] is NaN`, the indices from 1. `None` where they are finite, and
/// where the query sees nothing.
pub fn why_not_finite(scene: &Scene, head: &HeadEvaluation, query: usize) -> Option<String> {
    let HeadEvaluation { query_head, input, attention, .. } = head;
    let cause = cause_of_non_finite(input, scene.attention_spec(), attention, *query_head, query)?;
    Some(why(query, cause, scene, head))
}

/// The cause in words: the entry and what it holds.
fn why(query: usize, cause: Cause, scene: &Scene, head: &HeadEvaluation) -> String {
    let HeadEvaluation { query_head, input, attention, .. } = head;
    let entry = |name: &str, row: usize, col: usize, number: f64| {
        format!("{name}[{}][{}] is {}", row + 1, col + 1, shown(number))
    };
    match cause {
        Cause::Query { query, feature } => entry("Q", query, feature, input.q.get(query, feature)),
        Cause::Key { key, feature } => entry("K", key, feature, input.k.get(key, feature)),
        Cause::Value { key, feature } => entry("V", key, feature, input.v.get(key, feature)),
        Cause::Bias { layer, key } => {
            let offset = scene.attention_spec().position_offset;
            let mask = &scene.attention_spec().mask;
            let view = MaskView::new(mask, scene.n_q(), scene.n_k(), offset, *query_head);
            let bias = view.layer_bias(layer, query, key).unwrap_or(f64::NAN);
            format!("mask layer {} adds {} to key {}", layer + 1, shown(bias), key + 1)
        }
        Cause::Score { key } => {
            let score = attention.masked_scores.get(query, key);
            let entry = entry("masked_scores", query, key, score);
            match scene.spec().precision {
                Precision::F64 => format!("{entry}, though Q and K are finite"),
                narrow => {
                    let (name, most) = (narrow.label(), narrow.max());
                    let most = if most < 1e6 { most.to_string() } else { format!("{most:.2e}") };
                    format!("{entry}, though Q and K are finite; the largest {name} number is {most}")
                }
            }
        }
        Cause::Softmax => "its exponentials overflow or vanish, though its scores are finite".to_owned(),
        Cause::Output { feature } => {
            format!("the sum of column {} overflows, though weights and values are finite", feature + 1)
        }
    }
}

pub(super) fn shown(number: f64) -> String {
    match number {
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "−∞".to_owned(),
        other => other.to_string(),
    }
}

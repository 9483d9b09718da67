//! Two checks that look at the weights as they are.

use super::super::{AttentionSpec, EmptyRow, Precision, SoftmaxAxis};
use super::{CheckOutcome, CheckedHead, Examined, Place};

/// How far a sum of `n_terms` weights that are kept in `precision` may be from 1.
///
/// Stored in a narrower format, each weight is off by its own roundoff at most, which adds up to that of 1, besides what is lost
/// in `f32` (and to numbers that are too small) for each term.
pub fn row_sum_tolerance(precision: Precision, n_terms: usize) -> f64 {
    let n_terms = n_terms.max(4) as f64;
    match precision {
        Precision::F64 => 4.0 * f64::EPSILON * n_terms,
        Precision::F32 | Precision::Bf16 | Precision::F16 => {
            2.0 * precision.unit_roundoff() + 4.0 * Precision::F32.unit_roundoff() * n_terms
        }
    }
}

/// Whether the weights of every query sum to 1. Queries that see nothing are left out, unless the policy is `Uniform` and
/// there are keys to share the weight.
///
/// Where softmax runs over the queries it is the columns that sum to 1, and the check fails, saying so.
pub fn rows_sum_to_one(heads: &[CheckedHead<'_>], spec: &AttentionSpec) -> CheckOutcome {
    let (mut n_rows, mut n_empty) = (0, 0);
    let mut smallest_sum: f64 = 1.0;
    for head in heads {
        let weights = &head.attention.weights;
        let tolerance = row_sum_tolerance(spec.precision_in_force(), weights.cols());
        for (query, row) in weights.iter_rows().enumerate() {
            let has_sink = spec.sink_of(head.query_head).is_some(); // which then takes everything
            let has_distribution =
                spec.softmax.empty_rows == EmptyRow::Uniform && !row.is_empty() && !has_sink;
            if sees_nothing(head, query) && !has_distribution {
                n_empty += 1;
                continue;
            }
            n_rows += 1;
            let sum = row.iter().fold(0.0, |sum, weight| sum + weight); // not `sum()`, which begins with −0
            let sink_weight = head.attention.weight_of_sink(spec, head.query_head, query).unwrap_or(0.0);
            if (sum + sink_weight - 1.0).abs() <= tolerance {
                smallest_sum = smallest_sum.min(sum);
                continue;
            }
            let place = Place { query_head: head.query_head, query, key: None };
            return CheckOutcome::Fail { place, detail: wrong_sum(sum, row, spec.softmax.over) };
        }
    }
    if n_rows == 0 {
        return CheckOutcome::NotApplicable { why: "no query sees any key".to_owned() };
    }
    if heads.iter().any(|head| spec.sink_of(head.query_head).is_some()) {
        let note = format!(
            "each together with what its learned sink takes; the keys alone get as little as {smallest_sum:.4}"
        );
        let examined = Examined { count: n_rows, of: n_rows, what: "rows" };
        return CheckOutcome::Pass { examined, note: Some(note) };
    }
    let note = (n_empty > 0).then(|| {
        let (queries, policy) =
            (plural(n_empty, "query that sees", "queries that see"), spec.softmax.empty_rows);
        format!("{queries} nothing left out: the policy {policy:?} gives no distribution")
    });
    CheckOutcome::Pass { examined: Examined { count: n_rows, of: n_rows, what: "rows" }, note }
}

/// Whether the weight of every blocked pair is exactly 0. Rows that see nothing are left out unless the policy is `Zero`.
pub fn blocked_weights_are_zero(heads: &[CheckedHead<'_>], spec: &AttentionSpec) -> CheckOutcome {
    let (mut n_pairs, mut n_left_out) = (0, 0);
    for head in heads {
        let weights = &head.attention.weights;
        for query in 0..weights.rows() {
            for key in (0..weights.cols()).filter(|&key| !head.attention.allows(query, key)) {
                if spec.softmax.empty_rows != EmptyRow::Zero && line_is_empty(head, spec, query, key) {
                    n_left_out += 1;
                    continue;
                }
                n_pairs += 1;
                let weight = weights.get(query, key);
                if weight != 0.0 {
                    let place = Place { query_head: head.query_head, query, key: Some(key) };
                    let detail =
                        format!("a blocked pair has the weight {weight} where exactly 0 is expected");
                    return CheckOutcome::Fail { place, detail };
                }
            }
        }
    }
    let policy = spec.softmax.empty_rows;
    match (n_pairs, n_left_out) {
        (0, 0) => CheckOutcome::NotApplicable { why: "no pair is blocked".to_owned() },
        (0, _) => CheckOutcome::NotApplicable {
            why: format!(
                "every blocked pair belongs to a query that sees nothing, whose weights the policy {policy:?} sets"
            ),
        },
        _ => CheckOutcome::Pass {
            examined: Examined { count: n_pairs, of: n_pairs, what: "blocked pairs" },
            note: (n_left_out > 0).then(|| {
                format!("queries that see nothing left out: the policy {policy:?} sets their weights")
            }),
        },
    }
}

fn wrong_sum(sum: f64, row: &[f64], over: SoftmaxAxis) -> String {
    if row.iter().any(|weight| weight.is_nan()) {
        return "the weights of this query are NaN: a NaN or an infinity is among its visible scores, or exp overflowed"
            .to_owned();
    }
    match over {
        SoftmaxAxis::Keys => format!("the weights of this query sum to {sum} where 1 is expected"),
        SoftmaxAxis::Queries => format!(
            "the weights of this query sum to {sum} where 1 is expected; softmax runs over the queries, so the columns sum to 1 instead"
        ),
    }
}

/// Whether the mask hides every key from `query`.
pub(super) fn sees_nothing(head: &CheckedHead<'_>, query: usize) -> bool {
    (0..head.attention.weights.cols()).all(|key| !head.attention.allows(query, key))
}

/// Whether the row or column that was normalised to give this weight had nothing visible in it.
fn line_is_empty(head: &CheckedHead<'_>, spec: &AttentionSpec, query: usize, key: usize) -> bool {
    match spec.softmax.over {
        SoftmaxAxis::Keys => sees_nothing(head, query),
        SoftmaxAxis::Queries => {
            (0..head.attention.weights.rows()).all(|query| !head.attention.allows(query, key))
        }
    }
}

fn plural(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

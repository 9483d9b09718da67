//! Attention is a sum over keys: their order does not matter, as long as values and mask go with them.

use std::sync::Arc;

use super::super::{Attention, AttentionSpec, HeadInput, MaskRule, MaskView, Matrix, Precision};
use super::{CheckOutcome, CheckedHead, Examined, Place, ROUNDING, is_same, largest};

/// How far outputs may differ, relative to the largest value that is mixed: sums in another order round differently. In a
/// narrower format that may turn the rounding of a weight and of the output to the other side.
fn tolerance(precision: Precision, n_k: usize) -> f64 {
    match precision {
        Precision::F64 => ROUNDING,
        Precision::F32 | Precision::Bf16 | Precision::F16 => {
            4.0 * precision.unit_roundoff() + 4.0 * Precision::F32.unit_roundoff() * n_k as f64
        }
    }
}

/// Whether the outputs stay the same when keys, values and columns of the mask are put in reverse order together.
pub fn key_order_does_not_matter(
    heads: &[CheckedHead<'_>],
    spec: &AttentionSpec,
    attend: &impl Fn(&HeadInput, &AttentionSpec, usize) -> Attention,
) -> CheckOutcome {
    let mut n_heads = 0;
    for head in heads.iter().filter(|head| head.input.k.rows() > 1 && head.input.q.rows() > 0) {
        let HeadInput { q, k, v } = head.input;
        let reversed = HeadInput { q: q.clone(), k: Arc::new(reversed(k)), v: Arc::new(reversed(v)) };
        let spec = AttentionSpec { mask: vec![reversed_mask(head, spec)], ..spec.clone() };
        let after = attend(&reversed, &spec, head.query_head);
        let tolerance = tolerance(spec.precision, k.rows()) * largest(v);
        let moved = (0..q.rows()).find_map(|query| {
            let pairs = head.attention.output.row(query).iter().zip(after.output.row(query));
            let differs = |(&before, &after): (&f64, &f64)| !is_same(before, after, tolerance);
            pairs.into_iter().position(differs).map(|feature| (query, feature))
        });
        if let Some((query, feature)) = moved {
            let place = Place { query_head: head.query_head, query, key: None };
            let (before, after) =
                (head.attention.output.get(query, feature), after.output.get(query, feature));
            let detail = format!(
                "feature {} of the output of this query is {before}, and {after} with the keys in reverse order",
                feature + 1
            );
            return CheckOutcome::Fail { place, detail };
        }
        n_heads += 1;
    }
    match n_heads {
        0 => CheckOutcome::NotApplicable { why: "there are not two keys to put in another order".to_owned() },
        _ => CheckOutcome::Pass {
            examined: Examined { count: n_heads, of: n_heads, what: "heads" },
            note: None,
        },
    }
}

fn reversed(matrix: &Matrix) -> Matrix {
    Matrix::from_fn(matrix.rows(), matrix.cols(), |row, col| matrix.get(matrix.rows() - 1 - row, col))
}

/// Every layer written out as one additive mask, its columns in reverse order.
fn reversed_mask(head: &CheckedHead<'_>, spec: &AttentionSpec) -> MaskRule {
    let (n_q, n_k) = (head.input.q.rows(), head.input.k.rows());
    let view = MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, head.query_head);
    MaskRule::Additive(Matrix::from_fn(n_q, n_k, |query, key| {
        let key = n_k - 1 - key;
        if view.allows(query, key) { view.bias(query, key) } else { f64::NEG_INFINITY }
    }))
}

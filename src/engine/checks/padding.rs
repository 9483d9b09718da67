//! Change the padding, or add to it: every output has to stay bit for bit the same.

use std::sync::Arc;

use super::super::{Attention, AttentionSpec, Corner, EmptyRow, HeadInput, MaskRule, Matrix, SoftmaxAxis};
use super::weights::sees_nothing;
use super::{CheckOutcome, CheckedHead, Examined, Place, first_moved, with_changed_keys};

/// Whether any output depends on what padding keys and values hold, or on how many there are.
///
/// Needs a `ValidKeys` or `PaddedKeys` layer. The padding is changed all at once; then one padding key is added at the end.
/// The second part is left out under a bottom-right causal mask, whose corner moves with the number of keys. Queries that see
/// nothing are left out where the policy `Uniform` lets them read every value.
pub fn padding_moves_nothing(
    heads: &[CheckedHead<'_>],
    spec: &AttentionSpec,
    attend: &impl Fn(&HeadInput, &AttentionSpec, usize) -> Attention,
) -> CheckOutcome {
    if !spec.mask.iter().any(|rule| matches!(rule, MaskRule::ValidKeys(_) | MaskRule::PaddedKeys(_))) {
        return CheckOutcome::NotApplicable { why: "no padding mask".to_owned() };
    }
    if spec.softmax.over == SoftmaxAxis::Queries && spec.softmax.empty_rows != EmptyRow::Zero {
        return CheckOutcome::NotApplicable {
            why: "softmax runs over the queries, and a padding key gets weights by the policy for empty rows"
                .to_owned(),
        };
    }
    // No layer allows what it does not mention, so the mask as it is hides one more key.
    let can_grow = !spec.mask.contains(&MaskRule::Causal(Corner::BottomRight));
    let mut examined = Examined { count: 0, of: 0, what: "padding keys" };
    for head in heads {
        let (query_head, n_k) = (head.query_head, head.input.k.rows());
        let read = || {
            (0..head.input.q.rows())
                .filter(|&query| spec.softmax.empty_rows != EmptyRow::Uniform || !sees_nothing(head, query))
        };
        let padding: Vec<_> = (0..n_k).filter(|&key| is_padding(&spec.mask, key)).collect();
        let after = attend(&with_changed_keys(head.input, padding.iter().copied()), spec, query_head);
        if let Some(query) = first_moved(head, &after, read()) {
            let place = Place { query_head, query, key: padding.first().copied() };
            let detail = "the output of this query changes with what the padding holds".to_owned();
            return CheckOutcome::Fail { place, detail };
        }
        examined.count += padding.len();
        if can_grow {
            let after = attend(&with_one_more_key(head.input), spec, query_head);
            if let Some(query) = first_moved(head, &after, read()) {
                let place = Place { query_head, query, key: Some(n_k) };
                let detail = "the output of this query changes when one more padding key is added".to_owned();
                return CheckOutcome::Fail { place, detail };
            }
            examined.count += 1;
        }
    }
    examined.of = examined.count;
    let note = (!can_grow).then(|| {
        "no key added: the corner of a bottom-right causal mask moves with the number of keys".to_owned()
    });
    match examined.count {
        0 => CheckOutcome::NotApplicable { why: "the padding mask marks no key".to_owned() },
        _ => CheckOutcome::Pass { examined, note },
    }
}

fn is_padding(mask: &[MaskRule], key: usize) -> bool {
    mask.iter().any(|rule| match rule {
        MaskRule::ValidKeys(n_valid) => key >= *n_valid,
        MaskRule::PaddedKeys(padding) => padding.get(key).copied().unwrap_or(true),
        _ => false,
    })
}

fn with_one_more_key(input: &HeadInput) -> HeadInput {
    let add = |matrix: &Matrix| Arc::new(with_row(matrix, 3.0));
    HeadInput { q: input.q.clone(), k: add(&input.k), v: add(&input.v) }
}

fn with_row(matrix: &Matrix, value: f64) -> Matrix {
    let n_rows = matrix.rows();
    Matrix::from_fn(
        n_rows + 1,
        matrix.cols(),
        |row, col| if row < n_rows { matrix.get(row, col) } else { value },
    )
}

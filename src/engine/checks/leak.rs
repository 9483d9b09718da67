//! Change a later token: every earlier output has to stay bit for bit the same.

use super::super::{Attention, AttentionSpec, EmptyRow, HeadInput, MaskRule, MaskView, SoftmaxAxis};
use super::weights::sees_nothing;
use super::{
    CheckOutcome, CheckedHead, Examined, Place, evaluations_per_head, first_moved, spread, with_changed_keys,
};

/// Whether any output depends on a key that a causal layer of `spec` declares to be later than its query.
///
/// Every key from some position on is changed, with its value; the position moves from the last key forwards, so that the
/// first failure names the key that leaks. A `Prefix` is open to every query and is not changed. Queries that see nothing
/// are left out where the policy `Uniform` lets them read every value.
pub fn no_leak_from_later_tokens(
    heads: &[CheckedHead<'_>],
    spec: &AttentionSpec,
    attend: &impl Fn(&HeadInput, &AttentionSpec, usize) -> Attention,
) -> CheckOutcome {
    if !spec.mask.iter().any(|rule| matches!(rule, MaskRule::Causal(_))) {
        return CheckOutcome::NotApplicable { why: "no causal mask".to_owned() };
    }
    if spec.softmax.over == SoftmaxAxis::Queries {
        return CheckOutcome::NotApplicable {
            why: "softmax runs over the queries, so no output belongs to one query alone".to_owned(),
        };
    }
    let n_evaluations = evaluations_per_head(heads);
    let mut examined = Examined { count: 0, of: 0, what: "later tokens" };
    for head in heads {
        let later = later_keys(head, spec);
        let sample = spread(&later, n_evaluations);
        for &first_changed in sample.iter().rev() {
            let (query_head, n_k) = (head.query_head, head.input.k.rows());
            let changed = with_changed_keys(head.input, first_changed..n_k);
            let after = attend(&changed, spec, query_head);
            let earlier = earlier_queries(head, spec, first_changed);
            if let Some(query) = first_moved(head, &after, earlier.into_iter()) {
                let place = Place { query_head, query, key: Some(first_changed) };
                return CheckOutcome::Fail { place, detail: leaked(&later, &sample, first_changed) };
            }
        }
        examined.count += sample.len();
        examined.of += later.len();
    }
    if examined.of == 0 {
        return CheckOutcome::NotApplicable { why: "no key is later than any query".to_owned() };
    }
    CheckOutcome::Pass { examined, note: None }
}

fn leaked(later: &[usize], sample: &[usize], first_changed: usize) -> String {
    let which = if sample.len() == later.len() {
        format!("key {}", first_changed + 1)
    } else {
        format!("key {} or one after it", first_changed + 1)
    };
    format!("the output of this query changes with {which}, which the causal mask declares to be later")
}

/// Keys that are later than some query, in order.
fn later_keys(head: &CheckedHead<'_>, spec: &AttentionSpec) -> Vec<usize> {
    let n_prefix = longest_prefix(&spec.mask);
    (n_prefix..head.input.k.rows()).filter(|&key| !earlier_queries(head, spec, key).is_empty()).collect()
}

/// Queries to which every key from `key` on is later.
fn earlier_queries(head: &CheckedHead<'_>, spec: &AttentionSpec, key: usize) -> Vec<usize> {
    let (n_q, n_k) = (head.input.q.rows(), head.input.k.rows());
    let view = MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, head.query_head);
    let key_position = i64::try_from(key).unwrap_or(i64::MAX);
    let is_later = |query| {
        spec.mask.iter().any(|rule| match rule {
            MaskRule::Causal(corner) => view.last_visible(*corner, query) < key_position,
            _ => false,
        })
    };
    let reads_everything = |query| spec.softmax.empty_rows == EmptyRow::Uniform && sees_nothing(head, query);
    (0..n_q).filter(|&query| is_later(query) && !reads_everything(query)).collect()
}

fn longest_prefix(mask: &[MaskRule]) -> usize {
    let prefixes = mask.iter().filter_map(|rule| match rule {
        MaskRule::Prefix(n_prefix) => Some(*n_prefix),
        _ => None,
    });
    prefixes.max().unwrap_or(0)
}

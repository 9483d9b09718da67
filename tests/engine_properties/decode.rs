//! Decoding with a cache equals the full causal pass.

use proptest::prelude::*;
use qkv::engine::{
    Attention, AttentionSpec, Corner, HeadInput, KvCache, MaskRule, SoftmaxAxis, attend, decode,
};

use crate::scene::{AnyHead, any_head};

/// Step `step` against row `step` of the full pass. Keys that come later are blocked there and absent here.
fn assert_same_row(step: usize, decoded: &Attention, full: &Attention) -> Result<(), TestCaseError> {
    let n_cached = step + 1;
    let bits = |row: &[f64]| row.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    prop_assert_eq!(bits(decoded.output.row(0)), bits(full.output.row(step)), "output of step {}", step);
    prop_assert_eq!(bits(decoded.weights.row(0)), bits(&full.weights.row(step)[..n_cached]));
    prop_assert_eq!(bits(decoded.masked_scores.row(0)), bits(&full.masked_scores.row(step)[..n_cached]));
    prop_assert!(full.weights.row(step)[n_cached..].iter().all(|&weight| weight == 0.0));
    prop_assert_eq!(decoded.row_sum[0].to_bits(), full.row_sum[step].to_bits());
    Ok(())
}

/// As many queries as keys, causal from the corner, nothing that looks ahead.
fn causal(AnyHead { input, mut spec }: AnyHead) -> Option<(HeadInput, AttentionSpec)> {
    spec.softmax.over = SoftmaxAxis::Keys;
    spec.softmax.empty_rows = Default::default();
    spec.position_offset = spec.position_offset.min(0);
    spec.mask.retain(|rule| !matches!(rule, MaskRule::Prefix(_)));
    spec.mask.push(MaskRule::Causal(Corner::TopLeft));
    (input.q.rows() == input.k.rows()).then_some((input, spec))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_decode_step_is_a_row_of_the_causal_pass(head in any_head()) {
        let Some((input, spec)) = causal(head) else { return Ok(()) };
        let full = attend(&input, &spec, 0);
        let steps = decode(&input, &spec, 0);
        prop_assert_eq!(steps.len(), input.q.rows());
        for (step, decoded) in steps.iter().enumerate() {
            assert_same_row(step, decoded, &full)?;
        }
    }

    #[test]
    fn a_cache_filled_token_by_token_gives_the_same_steps(head in any_head()) {
        let Some((input, spec)) = causal(head) else { return Ok(()) };
        let HeadInput { q, k, v } = &input;
        let mut cache = KvCache::new(k.cols(), v.cols());
        for (step, expected) in decode(&input, &spec, 0).iter().enumerate() {
            cache.append(k.row(step), v.row(step)).unwrap();
            let found = cache.attend(q.row(step), &spec, 0).unwrap();
            prop_assert_eq!(&found.output, &expected.output);
            prop_assert_eq!(&found.blocked_by, &expected.blocked_by);
        }
        prop_assert_eq!(cache.n_tokens(), k.rows());
    }
}

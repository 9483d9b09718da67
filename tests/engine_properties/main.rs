//! What holds for every attention, whatever the numbers, shapes and masks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod decode;
mod fast;
mod faults;
mod gradients;
mod narrow;
mod scene;
mod tiled;

use std::sync::Arc;

use proptest::prelude::*;
use qkv::engine::{
    Attention, AttentionSpec, Carry, Check, CheckOutcome, CheckedHead, Corner, EmptyRow, HeadInput, MaskRule,
    MaskView, Matrix, SoftmaxAxis, SoftmaxForm, attend, standing_checks, trace,
};

use scene::{AnyHead, any_head};

fn bits(matrix: &Matrix) -> Vec<u64> {
    matrix.data().iter().map(|value| value.to_bits()).collect()
}

fn sees_nothing(found: &Attention, query: usize) -> bool {
    (0..found.weights.cols()).all(|key| !found.allows(query, key))
}

proptest! {
    // A counter-example becomes a named test, not a file of seeds.
    #![proptest_config(ProptestConfig { cases: 384, failure_persistence: None, ..Default::default() })]

    #[test]
    fn rows_sum_to_one_unless_they_see_nothing(AnyHead { input, spec } in any_head()) {
        let spec = AttentionSpec { softmax: Default::default(), sinks: Default::default(), ..spec };
        let found = attend(&input, &spec, 0);
        for (query, row) in found.weights.iter_rows().enumerate() {
            let sum: f64 = row.iter().sum();
            let expected = if sees_nothing(&found, query) { 0.0 } else { 1.0 };
            prop_assert!((sum - expected).abs() < 1e-14, "row {} sums to {}", query, sum);
            prop_assert!(row.iter().all(|&weight| (0.0..=1.0).contains(&weight)));
        }
    }

    #[test]
    fn blocked_weights_are_exactly_zero_and_blocked_scores_minus_infinity(AnyHead { input, mut spec } in any_head()) {
        spec.softmax.empty_rows = EmptyRow::Zero;
        let found = attend(&input, &spec, 0);
        let view = MaskView::new(&spec.mask, input.q.rows(), input.k.rows(), spec.position_offset, 0);
        for query in 0..input.q.rows() {
            for key in 0..input.k.rows() {
                prop_assert_eq!(found.blocked_by(query, key), view.blocked_by(query, key));
                if !view.allows(query, key) {
                    prop_assert_eq!(found.weights.get(query, key).to_bits(), 0);
                    prop_assert_eq!(found.masked_scores.get(query, key), f64::NEG_INFINITY);
                }
            }
        }
    }

    #[test]
    fn what_a_blocked_key_and_value_hold_reaches_nothing(AnyHead { input, mut spec } in any_head(), poison in poison()) {
        spec.softmax = Default::default();
        let found = attend(&input, &spec, 0);
        // Poison every key that no query may see.
        let hidden = |key: usize| (0..input.q.rows()).all(|query| !found.allows(query, key));
        let spoil = |matrix: &Matrix| {
            Arc::new(Matrix::from_fn(matrix.rows(), matrix.cols(), |key, col| {
                if hidden(key) { poison } else { matrix.get(key, col) }
            }))
        };
        let spoilt = HeadInput { q: input.q.clone(), k: spoil(&input.k), v: spoil(&input.v) };
        let after = attend(&spoilt, &spec, 0);
        prop_assert_eq!(bits(&after.masked_scores), bits(&found.masked_scores));
        prop_assert_eq!(bits(&after.weights), bits(&found.weights));
        prop_assert_eq!(bits(&after.output), bits(&found.output));
        prop_assert_eq!((after.row_max, after.row_sum), (found.row_max, found.row_sum));
    }

    #[test]
    fn a_later_token_never_changes_an_earlier_output(AnyHead { input, mut spec } in any_head(), key: prop::sample::Index) {
        spec.softmax.over = SoftmaxAxis::Keys;
        spec.softmax.empty_rows = EmptyRow::Zero;
        spec.mask.retain(|rule| !matches!(rule, MaskRule::Prefix(_)));
        spec.mask.push(MaskRule::Causal(Corner::TopLeft));
        if input.k.rows() == 0 {
            return Ok(());
        }
        let key = key.index(input.k.rows());
        let before = attend(&input, &spec, 0);
        let change = |matrix: &Matrix| {
            let mut matrix = matrix.clone();
            matrix.row_mut(key).fill(123.0);
            Arc::new(matrix)
        };
        let changed = HeadInput { q: input.q.clone(), k: change(&input.k), v: change(&input.v) };
        let after = attend(&changed, &spec, 0);
        for query in 0..input.q.rows() {
            if (query as i64) + spec.position_offset < key as i64 {
                prop_assert_eq!(after.output.row(query), before.output.row(query));
            }
        }
    }

    #[test]
    fn padding_and_key_order_move_nothing(AnyHead { input, mut spec } in any_head(), n_valid in 0_usize..7) {
        spec.mask.push(MaskRule::ValidKeys(n_valid.min(input.k.rows())));
        let attention = attend(&input, &spec, 0);
        let head = CheckedHead { query_head: 0, input: &input, attention: &attention };
        for (check, outcome) in standing_checks(&[head], &spec) {
            let is_known_mistake = check == Check::RowsSumToOne && spec.softmax.over == SoftmaxAxis::Queries;
            prop_assert!(
                is_known_mistake || !matches!(outcome, CheckOutcome::Fail { .. }), "{:?}: {:?}", check, outcome
            );
        }
    }

    #[test]
    fn the_naive_form_is_the_stable_one_while_nothing_overflows(AnyHead { input, mut spec } in any_head()) {
        spec.softmax.form = SoftmaxForm::Stable;
        let stable = attend(&input, &spec, 0);
        spec.softmax.form = SoftmaxForm::Naive;
        let naive = attend(&input, &spec, 0);
        for (stable, naive) in stable.weights.data().iter().zip(naive.weights.data()) {
            prop_assert!((stable - naive).abs() < 1e-12 || (stable.is_nan() && naive.is_nan()));
        }
    }

    #[test]
    fn an_exact_trace_is_bit_for_bit_what_attention_computes(AnyHead { input, spec } in any_head(), at: prop::sample::Index) {
        let (n_q, n_k) = (input.q.rows(), input.k.rows());
        if n_q * n_k == 0 {
            return Ok(()); // no pair to trace
        }
        let (query, key) = (at.index(n_q * n_k) / n_k, at.index(n_q * n_k) % n_k);
        let found = attend(&input, &spec, 0);
        let traced = trace(&input, &spec, 0, (query, key), Carry::Exact).unwrap();
        let same = |traced: f64, found: f64| traced.to_bits() == found.to_bits() || (traced.is_nan() && found.is_nan());
        prop_assert!(same(traced.score.total(), found.raw_scores.get(query, key)));
        let scaled = traced.soft_cap.map_or(traced.scaled, |cap| cap.after);
        prop_assert!(same(scaled, found.scaled_scores.get(query, key)));
        prop_assert!(same(traced.mask.masked, found.masked_scores.get(query, key)));
        prop_assert_eq!(traced.mask.blocked_by, found.blocked_by(query, key));
        prop_assert!(same(traced.softmax.weight, found.weights.get(query, key)));
        let (max, sum) = match spec.softmax.over {
            SoftmaxAxis::Keys => (found.row_max[query], found.row_sum[query]),
            SoftmaxAxis::Queries => (found.column_max[key], found.column_sum[key]),
        };
        prop_assert!(same(traced.softmax.max, max) && same(traced.softmax.sum, sum));
        for (traced, &found) in traced.output.row().into_iter().zip(found.output.row(query)) {
            prop_assert!(same(traced, found), "{} is not {}", traced, found);
        }
    }

    #[test]
    fn a_trace_on_paper_stays_near_the_exact_one(AnyHead { input, mut spec } in any_head()) {
        spec.softmax.form = SoftmaxForm::Stable;
        if input.q.rows() * input.k.rows() == 0 {
            return Ok(());
        }
        let exact = trace(&input, &spec, 0, (0, 0), Carry::Exact).unwrap();
        let rounded = trace(&input, &spec, 0, (0, 0), Carry::Decimals(10)).unwrap();
        for (exact, rounded) in exact.output.row().into_iter().zip(rounded.output.row()) {
            prop_assert!((exact - rounded).abs() < 1e-6 || exact.is_nan());
        }
    }

    #[test]
    fn no_stage_ever_holds_a_minus_zero(AnyHead { input, spec } in any_head()) {
        let found = attend(&input, &spec, 0);
        for stage in [found.raw_scores, found.scaled_scores, found.masked_scores, found.weights, found.output] {
            prop_assert!(bits(&stage).iter().all(|&bits| bits != (-0.0_f64).to_bits()));
        }
    }
}

fn poison() -> impl Strategy<Value = f64> {
    prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(1e308)]
}

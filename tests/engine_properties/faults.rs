//! Mistakes and dropout: what is traced is what is computed, in every format.

use std::sync::Arc;

use proptest::prelude::*;
use qkv::engine::{
    Attention, AttentionSpec, Carry, Dropout, Fault, FaultInForce, FaultSite, HeadInput, MaskRule, Matrix,
    Precision, SoftmaxAxis, SoftmaxForm, attend, spec_in_force, trace, trace_dropout,
};

use crate::scene::{AnyHead, any_head};

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn carry_of(precision: Precision) -> Carry {
    if precision == Precision::F64 { Carry::Exact } else { Carry::Stored(precision) }
}

fn pair_of(found: &Attention, at: prop::sample::Index) -> Option<(usize, usize)> {
    let (n_q, n_k) = (found.weights.rows(), found.weights.cols());
    (n_q * n_k > 0).then(|| (at.index(n_q * n_k) / n_k, at.index(n_q * n_k) % n_k))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_trace_of_a_mistake_is_bit_for_bit_what_the_mistake_computes(
        AnyHead { input, mut spec } in any_head(),
        fault in prop::sample::select(&Fault::ALL[..]),
        precision in prop::sample::select(&Precision::ALL[..]),
        at: prop::sample::Index,
    ) {
        spec.precision = precision;
        spec.fault = Some(FaultInForce { fault, d_model: 6 });
        let found = attend(&input, &spec, 0);
        let Some((query, key)) = pair_of(&found, at) else { return Ok(()) };
        let in_force = spec_in_force(&spec, input.q.rows(), input.k.rows(), input.k.cols(), 0);
        let carry = carry_of(in_force.precision);
        let traced = trace(&input, &spec, 0, (query, key), carry).unwrap();
        prop_assert!(same(carry.store(traced.score.total()), found.raw_scores.get(query, key)));
        let is_cap_late = fault == Fault::SoftCapAfterMask;
        let scaled = traced.soft_cap.filter(|_| !is_cap_late).map_or(traced.scaled, |cap| cap.after);
        prop_assert!(same(scaled, found.scaled_scores.get(query, key)));
        let masked = found.masked_scores.get(query, key);
        prop_assert!(same(traced.mask.masked, masked), "masked {} is not {}", traced.mask.masked, masked);
        let weight = found.weights.get(query, key);
        prop_assert!(same(traced.softmax.weight, weight), "weight {} is not {}", traced.softmax.weight, weight);
        let sum = match in_force.softmax.over {
            SoftmaxAxis::Keys => found.row_sum[query],
            SoftmaxAxis::Queries => found.column_sum[key],
        };
        prop_assert!(same(traced.softmax.sum, sum), "sum {} is not {}", traced.softmax.sum, sum);
        for (traced, &found) in traced.output.row().into_iter().zip(found.output.row(query)) {
            prop_assert!(same(traced, found), "output {} is not {}", traced, found);
        }
        prop_assert_eq!(traced.mask.meant, found.blocked_by(query, key));
    }

    #[test]
    fn a_mistake_about_what_the_head_does_not_have_changes_nothing(
        AnyHead { input, mut spec } in any_head(),
    ) {
        spec.mask.clear();
        spec.softcap = None;
        let meant = attend(&input, &spec, 0);
        let about_masks = [
            Fault::InvertedBoolean, Fault::MaskAfterSoftmax, Fault::MaskMultiplied, Fault::MinusTenThousand,
            Fault::WrongCorner, Fault::PaddingOnQueryRows, Fault::SoftCapAfterMask, Fault::BiasScaledWithScores,
        ];
        let between_heads = Fault::ALL.into_iter().filter(|fault| fault.site() != FaultSite::Head);
        for fault in about_masks.into_iter().chain(between_heads) {
            spec.fault = Some(FaultInForce { fault, d_model: 6 });
            let found = attend(&input, &spec, 0);
            for (found, meant) in found.output.data().iter().zip(meant.output.data()) {
                prop_assert!(same(*found, *meant), "{:?}", fault);
            }
        }
    }

    #[test]
    fn the_trace_of_dropout_is_bit_for_bit_what_dropout_makes(
        AnyHead { input, mut spec } in any_head(),
        precision in prop::sample::select(&Precision::ALL[..]),
        (rate, seed) in (0.0..0.9, any::<u32>()),
        fault in prop::option::weighted(0.3, prop::sample::select(&Fault::ALL[..])),
        at: prop::sample::Index,
    ) {
        spec.precision = precision;
        spec.fault = fault.map(|fault| FaultInForce { fault, d_model: 6 });
        let attention = attend(&input, &spec, 0);
        let Some((query, key)) = pair_of(&attention, at) else { return Ok(()) };
        let in_force = spec_in_force(&spec, input.q.rows(), input.k.rows(), input.k.cols(), 0);
        let dropout = Dropout::new(rate, seed).unwrap();
        let found = dropout.apply(&attention, &input.v, &in_force, 0);
        let carry = carry_of(in_force.precision);
        let traced = trace_dropout(dropout, &input, &spec, 0, (query, key), carry).unwrap();
        prop_assert!(same(traced.before, attention.weights.get(query, key)));
        prop_assert!(same(traced.after, found.weights.get(query, key)));
        prop_assert_eq!(traced.is_kept, found.kept[query * input.k.rows() + key]);
        for (traced, &found) in traced.output.row().into_iter().zip(found.output.row(query)) {
            prop_assert!(same(traced, found), "output {} is not {}", traced, found);
        }
    }
}

#[test]
fn what_dropout_drops_is_not_read() {
    let ones = Arc::new(Matrix::from_fn(8, 2, |_, _| 1.0));
    let mut v = Matrix::from_fn(8, 1, |row, _| row as f64);
    let dropout = Dropout::new(0.5, 3).unwrap();
    let kept = dropout.kept(0, 8);
    let dropped = kept.iter().position(|kept| !kept).unwrap();
    v.row_mut(dropped).fill(f64::NAN);
    let q = Arc::new(ones.row_range(0, 1));
    let input = HeadInput { q, k: ones, v: Arc::new(v) };
    let spec = AttentionSpec::default();
    let found = dropout.apply(&attend(&input, &spec, 0), &input.v, &spec, 0);
    assert!(found.output.get(0, 0).is_finite());
}

#[test]
fn a_sum_that_vanishes_in_half_precision_leaves_blocked_weights_at_zero() {
    let one = |number: f64| Matrix::from_fn(1, 1, |_, _| number);
    let k = Matrix::from_fn(2, 1, |_, _| -20.0); // exp(−20) is 0 in half precision
    let input =
        HeadInput { q: Arc::new(one(1.0)), k: Arc::new(k), v: Arc::new(Matrix::from_fn(2, 1, |_, _| 1.0)) };
    let mut spec = AttentionSpec {
        mask: vec![MaskRule::ValidKeys(1)],
        fault: Some(FaultInForce { fault: Fault::SumInHalfPrecision, d_model: 1 }),
        ..Default::default()
    };
    spec.softmax.form = SoftmaxForm::Naive;
    let found = attend(&input, &spec, 0);
    assert_eq!(found.row_sum, [0.0]);
    assert_eq!(found.weights.row(0), [f64::INFINITY, 0.0]);
}

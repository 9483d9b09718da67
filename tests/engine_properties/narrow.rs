//! Narrower formats: the widest is the plain engine, and every stage of the others holds only numbers of its format.

use proptest::prelude::*;
use qkv::engine::{
    Attention, Carry, CheckOutcome, CheckedHead, Matrix, Precision, SoftmaxForm, attend, attend_in,
    standing_checks, trace,
};

use crate::scene::{AnyHead, any_head};

fn stages(found: &Attention) -> [&Matrix; 5] {
    [&found.raw_scores, &found.scaled_scores, &found.masked_scores, &found.weights, &found.output]
}

fn bits(matrix: &Matrix) -> Vec<u64> {
    // Which NaN it is does not matter.
    matrix.data().iter().map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn f64_is_the_plain_engine_bit_for_bit(AnyHead { input, spec } in any_head()) {
        let (plain, found) = (attend(&input, &spec, 0), attend_in(Precision::F64, &input, &spec, 0));
        for (plain, found) in stages(&plain).into_iter().zip(stages(&found)) {
            prop_assert_eq!(bits(plain), bits(found));
        }
        prop_assert_eq!(plain.blocked_by, found.blocked_by);
    }

    #[test]
    fn every_stage_holds_numbers_of_its_format_and_no_minus_zero(AnyHead { input, spec } in any_head()) {
        for precision in Precision::ALL {
            let found = attend_in(precision, &input, &spec, 0);
            for stage in stages(&found) {
                for &value in stage.data() {
                    prop_assert!(value.is_nan() || precision.round(value) == value, "{} in {:?}", value, precision);
                    prop_assert!(value.to_bits() != (-0.0_f64).to_bits());
                }
            }
        }
    }

    #[test]
    fn a_trace_in_a_format_is_bit_for_bit_what_the_format_stores(
        AnyHead { input, spec } in any_head(),
        precision in prop::sample::select(&Precision::ALL[..]),
        at: prop::sample::Index,
    ) {
        let found = attend_in(precision, &input, &spec, 0);
        let n_pairs = found.weights.data().len();
        prop_assume!(n_pairs > 0);
        let pair = (at.index(n_pairs) / found.weights.cols(), at.index(n_pairs) % found.weights.cols());
        let traced = trace(&input, &spec, 0, pair, Carry::Stored(precision)).unwrap();
        let same = |traced: f64, found: f64| traced.to_bits() == found.to_bits() || (traced.is_nan() && found.is_nan());
        let of = |stage: &Matrix| stage.get(pair.0, pair.1);
        prop_assert!(same(Carry::Stored(precision).store(traced.score.total()), of(&found.raw_scores)));
        let scaled = traced.soft_cap.map_or(traced.scaled, |cap| cap.after);
        prop_assert!(same(scaled, of(&found.scaled_scores)), "{} is not {}", scaled, of(&found.scaled_scores));
        prop_assert!(same(traced.mask.masked, of(&found.masked_scores)));
        prop_assert!(same(traced.softmax.weight, of(&found.weights)));
        for (traced, &found) in traced.output.row().into_iter().zip(found.output.row(pair.0)) {
            prop_assert!(same(traced, found), "{} is not {}", traced, found);
        }
    }

    #[test]
    fn the_precision_of_the_spec_is_obeyed_and_its_checks_hold(
        AnyHead { input, mut spec } in any_head(),
        precision in prop::sample::select(&Precision::ALL[..]),
    ) {
        spec.precision = precision;
        spec.softmax = Default::default();
        let attention = attend(&input, &spec, 0);
        let stored = attend_in(precision, &input, &spec, 0);
        prop_assert_eq!(bits(&attention.output), bits(&stored.output));
        let head = CheckedHead { query_head: 0, input: &input, attention: &attention };
        for (check, outcome) in standing_checks(&[head], &spec) {
            prop_assert!(!matches!(outcome, CheckOutcome::Fail { .. }), "{:?}: {:?}", check, outcome);
        }
    }

    #[test]
    fn narrow_weights_stay_near_the_exact_ones(AnyHead { input, mut spec } in any_head()) {
        spec.softmax.form = SoftmaxForm::Stable;
        let exact = attend(&input, &spec, 0);
        let largest = exact.scaled_scores.data().iter().fold(1.0_f64, |most, score| most.max(score.abs()));
        for precision in Precision::ALL {
            let found = attend_in(precision, &input, &spec, 0);
            // The scores are off by a few units in their last place; the weights by as much, relatively.
            let unit = 2_f64.powi(1 - precision.significant_bits() as i32);
            let tolerance = 40.0 * unit * largest;
            for (found, exact) in found.weights.data().iter().zip(exact.weights.data()) {
                prop_assert!((found - exact).abs() <= tolerance || exact.is_nan(), "{} for {} in {:?}", found, exact, precision);
            }
        }
    }
}

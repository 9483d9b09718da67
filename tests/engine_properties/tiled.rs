//! The tiled pass equals the staged one.

use std::sync::Arc;

use proptest::prelude::*;
use qkv::engine::{
    AttentionSpec, HeadInput, Matrix, Precision, SoftmaxAxis, SoftmaxForm, TileSize, TiledError, attend,
    attend_tiled,
};

use crate::scene::{AnyHead, any_head};

fn is_same(tiled: f64, staged: f64) -> bool {
    tiled == staged
        || (tiled.is_nan() && staged.is_nan())
        || (tiled - staged).abs() <= 1e-13 * staged.abs().max(1.0)
}

/// Sometimes a number in Q, K or V that is not finite.
pub fn spoil(input: &HeadInput, (which, at, value): (usize, prop::sample::Index, f64)) -> HeadInput {
    let mut spoilt = input.clone();
    let target = match which {
        0 => &mut spoilt.q,
        1 => &mut spoilt.k,
        2 => &mut spoilt.v,
        _ => return spoilt,
    };
    let (rows, cols) = (target.rows(), target.cols());
    if rows * cols > 0 {
        let at = at.index(rows * cols);
        Arc::make_mut(target).set(at / cols, at % cols, value);
    }
    spoilt
}

pub fn not_finite() -> impl Strategy<Value = f64> {
    prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(1e300)]
}

#[test]
fn a_narrower_format_is_refused_in_words() {
    let ones = Arc::new(Matrix::from_fn(2, 2, |_, _| 1.0));
    let input = HeadInput { q: ones.clone(), k: ones.clone(), v: ones };
    let spec = AttentionSpec { precision: Precision::F16, ..Default::default() };
    let refused = attend_tiled(&input, &spec, 0, TileSize { queries: 1, keys: 1 }, |_| ()).unwrap_err();
    assert_eq!(refused, TiledError::Precision { precision: Precision::F16 });
    assert_eq!(
        refused.to_string(),
        "the tiled pass computes in f64, but the precision is f16; choose f64 or keep the stages"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_tiled_pass_gives_the_staged_output(
        AnyHead { input, mut spec } in any_head(),
        queries in 0_usize..4,
        keys in 0_usize..4,
        spoilt in (0_usize..12, any::<prop::sample::Index>(), not_finite()),
    ) {
        spec.softmax.over = SoftmaxAxis::Keys;
        spec.softmax.form = SoftmaxForm::Stable;
        let input = spoil(&input, spoilt);
        let staged = attend(&input, &spec, 0);
        let tiled = attend_tiled(&input, &spec, 0, TileSize { queries, keys }, |_| ()).unwrap();
        for (tiled, staged) in tiled.output.data().iter().zip(staged.output.data()) {
            prop_assert!(is_same(*tiled, *staged), "{} is not {}", tiled, staged);
            prop_assert!(tiled.to_bits() != (-0.0_f64).to_bits());
        }
        for (tiled, staged) in tiled.row_max.iter().zip(&staged.row_max) {
            prop_assert!(is_same(*tiled, *staged), "maximum {} is not {}", tiled, staged);
        }
    }
}

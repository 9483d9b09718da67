//! What a mistake made on purpose changes, found by computing what was meant as well.

use super::{Evaluation, FaultEffect, Scene};
use crate::engine::{Fault, Matrix};

/// The effect of the scene's mistake on `found`; `meant` is the evaluation of the scene without it.
pub(super) fn effect(fault: Fault, meant: &Evaluation, found: &Evaluation) -> FaultEffect {
    let heads = meant.heads.iter().zip(&found.heads);
    let weights = heads.map(|(meant, found)| difference(&meant.attention.weights, &found.attention.weights));
    FaultEffect {
        fault,
        weights: weights.fold(0.0, f64::max),
        output: difference(&meant.output, &found.output),
    }
}

/// What the order of operations alone may change.
const ROUNDING: f64 = 1e-12;

/// The warning that a scene with a mistake carries: nobody should take its numbers for attention.
pub(super) fn warning(scene: &Scene, effect: FaultEffect) -> String {
    let label = effect.fault.label();
    if effect.weights <= ROUNDING && effect.output <= ROUNDING {
        return format!("a mistake is made on purpose ({label}), but {}", why_nothing(scene, effect.fault));
    }
    let by = |difference: f64| {
        if (ROUNDING..5e-5).contains(&difference) {
            format!("by up to {difference:.1e}")
        } else if difference.is_finite() {
            format!("by up to {difference:.4}")
        } else {
            "by numbers that are lost (NaN or ∞)".to_owned()
        }
    };
    format!(
        "a mistake is made on purpose ({label}): weights differ from those meant {}, the output {}",
        by(effect.weights),
        by(effect.output)
    )
}

/// Why a mistake changes nothing in this scene.
fn why_nothing(scene: &Scene, fault: Fault) -> &'static str {
    let spec = scene.spec();
    match fault {
        Fault::TiledKvHeads if scene.kv_heads() == scene.heads() || scene.kv_heads() == 1 => {
            "it takes several KV heads that are shared by more query heads"
        }
        Fault::SplitWithoutTranspose if scene.projection().is_none() => {
            "nothing is projected, and so nothing is split into heads"
        }
        Fault::SplitWithoutTranspose | Fault::MergeWithoutTranspose if scene.heads() == 1 => {
            "there is only one head"
        }
        Fault::SoftCapAfterMask if spec.softcap.is_none() => "there is no soft cap",
        Fault::WrongCorner if scene.n_q() == scene.n_k() => {
            "with as many queries as keys both corners are the same"
        }
        Fault::InvertedBoolean
        | Fault::MaskAfterSoftmax
        | Fault::MaskMultiplied
        | Fault::MinusTenThousand
        | Fault::MinusOneBillion
        | Fault::WrongCorner
        | Fault::PaddingOnQueryRows
        | Fault::SoftCapAfterMask
        | Fault::BiasScaledWithScores
            if spec.mask.is_empty() =>
        {
            "there is no mask"
        }
        Fault::MinusTenThousand => {
            "−10⁴ is as good as −∞ here: only a row that may see nothing, without a sink beside it, would show it"
        }
        Fault::NaiveExp => "no exponential overflows here",
        Fault::SumInHalfPrecision => "the sums are exact in half precision here",
        _ => "it changes nothing in this scene",
    }
}

/// The largest |difference|; ∞ where one of both is not finite and the other is something else.
fn difference(meant: &Matrix, found: &Matrix) -> f64 {
    let pairs = meant.data().iter().zip(found.data());
    let differing = pairs.filter(|(meant, found)| meant.to_bits() != found.to_bits());
    differing
        .filter(|(meant, found)| !(meant.is_nan() && found.is_nan()))
        .map(|(meant, found)| (found - meant).abs())
        .fold(
            0.0,
            |largest, difference| {
                if difference.is_nan() { f64::INFINITY } else { difference.max(largest) }
            },
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_lost_counts_as_infinitely_far_off() {
        let row = |numbers: [f64; 2]| Matrix::from_rows(&[numbers]).unwrap();
        assert_eq!(difference(&row([1.0, 2.0]), &row([1.5, 2.0])), 0.5);
        assert_eq!(difference(&row([1.0, 2.0]), &row([f64::NAN, 2.5])), f64::INFINITY);
        assert_eq!(difference(&row([f64::NAN, 2.0]), &row([f64::NAN, 2.0])), 0.0);
    }
}

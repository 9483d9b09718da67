//! From raw scores to weights, row by row in lanes. The number of lanes is fixed, whatever the machine, so that sums are made in
//! the same order everywhere.

use pulp::{Simd, WithSimd};

use super::lanes::larger;
use super::real::exp_of_negative;

/// How many numbers are worked on side by side.
const LANES: usize = 32;

/// scaled = raw · factor. Adding 0 turns −0 into 0.
pub(super) struct Scale<'a> {
    pub raw: &'a [f64],
    pub scaled: &'a mut [f64],
    pub factor: f64,
}

impl WithSimd for Scale<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (scaled, raw) in self.scaled.iter_mut().zip(self.raw) {
            *scaled = raw * self.factor + 0.0;
        }
    }
}

/// The weights of some rows, with their maxima and sums. A sum is NaN where a row sees nothing or something that is not finite.
pub(super) struct Normalize<'a> {
    /// Shape (n_rows, n_k), −∞ where blocked.
    pub scores: &'a [f64],
    pub n_k: usize,
    /// One more logit in every sum; finite.
    pub sink: Option<f64>,
    /// Shape (n_rows, n_k).
    pub weights: &'a mut [f64],
    /// Of shape (n_rows), like `sum`.
    pub max: &'a mut [f64],
    pub sum: &'a mut [f64],
}

impl WithSimd for Normalize<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // Where there are no vectors, a fused multiplication would be a call of a slow function.
        if S::IS_SCALAR { self.run::<false>() } else { self.run::<true>() }
    }
}

impl Normalize<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { scores, n_k, sink, weights, max, sum } = self;
        let rows = scores.chunks_exact(n_k).zip(weights.chunks_exact_mut(n_k));
        for ((scores, weights), (max, sum)) in rows.zip(max.iter_mut().zip(sum)) {
            let largest = max_of(scores);
            *max = larger(largest, sink.unwrap_or(largest));
            *sum = f64::NAN;
            if largest.is_finite() {
                *sum = exp_less_into::<FUSED>(scores, *max, weights);
                *sum += sink.map_or(0.0, |sink| exp_of_negative::<f64, FUSED>(sink - *max));
                divide::<FUSED>(weights, *sum);
            }
        }
    }
}

/// The largest score of a row; a NaN is left out.
#[inline(always)]
fn max_of(row: &[f64]) -> f64 {
    let (whole, rest) = row.as_chunks::<LANES>();
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for chunk in whole {
        for (lane, &score) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, score);
        }
    }
    rest.iter().copied().fold(folded(lanes, larger), larger)
}

/// All lanes made one, half onto half, so that no step waits for more than four before it.
#[inline(always)]
fn folded(mut lanes: [f64; LANES], join: impl Fn(f64, f64) -> f64) -> f64 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = join(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Every exp(score − max) into `exps`, and their sum.
#[inline(always)]
fn exp_less_into<const FUSED: bool>(scores: &[f64], max: f64, exps: &mut [f64]) -> f64 {
    let (whole, rest) = scores.as_chunks::<LANES>();
    let (whole_exps, rest_exps) = exps.as_chunks_mut::<LANES>();
    let mut lanes = [0.0; LANES];
    for (scores, exps) in whole.iter().zip(whole_exps) {
        for ((lane, &score), exp) in lanes.iter_mut().zip(scores).zip(exps) {
            *exp = exp_of_negative::<f64, FUSED>(score - max);
            *lane += *exp;
        }
    }
    let mut sum = folded(lanes, |a, b| a + b);
    for (&score, exp) in rest.iter().zip(rest_exps) {
        *exp = exp_of_negative::<f64, FUSED>(score - max);
        sum += *exp;
    }
    sum
}

/// Every weight divided by `sum`. A multiplication and one step of correction give the rounded quotient, sooner than the machine's
/// division does.
#[inline(always)]
fn divide<const FUSED: bool>(weights: &mut [f64], sum: f64) {
    if !FUSED {
        weights.iter_mut().for_each(|weight| *weight /= sum);
        return;
    }
    let inverse = 1.0 / sum;
    for weight in weights {
        let quotient = *weight * inverse;
        let remainder = (-quotient).mul_add(sum, *weight);
        *weight = remainder.mul_add(inverse, quotient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{SoftmaxSpec, softmax_row};
    use super::super::every_arch;
    use super::*;

    /// The weights, maxima and sums of rows of any length on any machine.
    fn normalized(
        arch: pulp::Arch,
        scores: &[f64],
        n_k: usize,
        sink: Option<f64>,
    ) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let n_rows = scores.len() / n_k;
        let (mut weights, mut max, mut sum) = (vec![0.5; scores.len()], vec![0.5; n_rows], vec![0.5; n_rows]);
        arch.dispatch(Normalize { scores, n_k, sink, weights: &mut weights, max: &mut max, sum: &mut sum });
        (weights, max, sum)
    }

    #[test]
    fn softmax_is_the_plain_one_for_any_length_and_machine() {
        for n_k in [1, 31, 32, 33, 200] {
            let scores: Vec<f64> = (0..n_k).map(|key| 40.0 * f64::from(key * key).sin()).collect();
            let mut plain = vec![0.0; scores.len()];
            let normalizer =
                softmax_row(&scores, &vec![false; scores.len()], SoftmaxSpec::default(), &mut plain);
            for arch in every_arch() {
                let (weights, max, sum) = normalized(arch, &scores, scores.len(), None);
                assert_eq!(max, [normalizer.max]);
                assert!((sum[0] / normalizer.sum - 1.0).abs() < 1e-15, "{n_k}: {sum:?}");
                let is_close = |(found, plain): (&f64, &f64)| (found - plain).abs() <= 2e-15 * plain.abs();
                assert!(weights.iter().zip(&plain).all(is_close), "{n_k}: {weights:?} are not {plain:?}");
            }
        }
    }

    #[test]
    fn a_row_that_is_left_to_the_plain_form_has_a_sum_of_nan() {
        let rows = [[1.0, f64::NEG_INFINITY], [f64::NEG_INFINITY; 2], [1.0, f64::NAN], [f64::INFINITY, 1.0]];
        for arch in every_arch() {
            for sink in [None, Some(0.5)] {
                let (weights, _, sum) = normalized(arch, rows.as_flattened(), 2, sink);
                assert_eq!([0, 1, 2, 3].map(|row| sum[row].is_nan()), [false, true, true, true]);
                assert_eq!(weights[1], 0.0);
            }
        }
    }

    #[test]
    fn a_quotient_is_that_of_the_division() {
        let exps: Vec<f64> = (0..1000).map(|at| (-0.7 * f64::from(at)).exp()).collect();
        for sum in [1.0, 3.0, 1.1, 49.0, 12_345.678] {
            let mut quotients = exps.clone();
            divide::<true>(&mut quotients, sum);
            assert!(quotients.iter().zip(&exps).all(|(&quotient, &exp)| quotient == exp / sum), "{sum}");
        }
    }
}

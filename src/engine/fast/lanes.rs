//! The softmax of one tile, many queries side by side: the compiler turns the inner loops into vector instructions, and the widest
//! ones that this machine has are chosen at run time.
//!
//! Each query is a lane of its own, so that its sum is made in the order of the keys everywhere.

use pulp::{Simd, WithSimd};

use super::real::{Real, exp_of_negative};

/// How many queries are worked on side by side: a multiple of the lanes of every machine.
pub(super) const LANES: usize = 64;

/// The scores of one tile, to be taken in: they become exp(score − max), and the running maxima and sums follow.
pub(super) struct TakeIn<'a, R> {
    /// Transposed: one row for every key, one number for every query, rows `stride` apart. What is blocked is −∞.
    pub scores: &'a mut [R],
    pub stride: usize,
    /// The largest score of each query so far. A multiple of [`LANES`], as is `sum`.
    pub max: &'a mut [R],
    /// Σ exp(score − max) of each query so far. A NaN among its scores makes it NaN for good.
    pub sum: &'a mut [R],
    /// The outputs gathered so far, rows of `gathered_width`; they are lowered to the new maximum.
    pub gathered: &'a mut [R],
    pub gathered_width: usize,
}

// A type of its own and not a closure, since only what is inlined is compiled for the instruction set chosen.
impl<R: Real> WithSimd for TakeIn<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Where there are no vectors, a fused multiplication would be a call of a slow function.
        if S::IS_SCALAR { self.run::<S, false>(simd) } else { self.run::<S, true>(simd) }
    }
}

impl<R: Real> TakeIn<'_, R> {
    #[inline(always)]
    fn run<S: Simd, const FUSED: bool>(self, simd: S) {
        let queries = self.max.as_chunks_mut::<LANES>().0.iter_mut().zip(self.sum.as_chunks_mut::<LANES>().0);
        let gathered = self.gathered.chunks_mut((self.gathered_width * LANES).max(1));
        for (group, ((max, sum), gathered)) in queries.zip(gathered).enumerate() {
            let scores = &mut self.scores[group * LANES..];
            let mut new_max = *max;
            max_of_columns(simd, scores, self.stride, &mut new_max);
            // A query that has seen nothing has no maximum; exp(−∞ − 0) = 0 is right for it.
            let subtracted = new_max.map(|max| if max == R::NEG_INFINITY { R::ZERO } else { max });
            let new_sum = exp_and_sum_columns::<R, FUSED>(scores, self.stride, &subtracted);
            let mut correction = [R::ZERO; LANES];
            for lane in 0..LANES {
                correction[lane] = exp_of_negative::<R, FUSED>(max[lane] - subtracted[lane]);
                sum[lane] = sum[lane] * correction[lane] + new_sum[lane];
            }
            for lane in (0..LANES).filter(|&lane| max[lane] < new_max[lane]) {
                let row = &mut gathered[lane * self.gathered_width..(lane + 1) * self.gathered_width];
                row.iter_mut().for_each(|value| *value *= correction[lane]);
            }
            *max = new_max;
        }
    }
}

/// The larger of two; a NaN is left out, since its own exponential brings it into the sum.
#[inline(always)]
pub(super) fn larger<R: Real>(a: R, b: R) -> R {
    if b > a { b } else { a }
}

/// The largest number of each column and `max`, two vectors of columns at a time.
#[inline(always)]
fn max_of_columns<S: Simd, R: Real>(simd: S, rows: &[R], stride: usize, max: &mut [R; LANES]) {
    for (pair, max) in R::vectors_mut::<S>(max).as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let [mut first, mut second] = *max;
        for row in rows.chunks(stride) {
            let Some([a, b]) = R::vectors::<S>(row).as_chunks().0.get(pair) else { break };
            first = R::larger(simd, first, *a);
            second = R::larger(simd, second, *b);
        }
        *max = [first, second];
    }
}

/// Begins where a cache line begins: sums that are stored across two lines, or worse two pages, at every row take half of the time.
#[repr(align(64))]
struct OnLines<R>([R; LANES]);

/// Every score becomes exp(score − subtracted); the sum of each column.
#[inline(always)]
fn exp_and_sum_columns<R: Real, const FUSED: bool>(
    rows: &mut [R],
    stride: usize,
    subtracted: &[R; LANES],
) -> [R; LANES] {
    let mut sums = OnLines([R::ZERO; LANES]);
    for row in rows.chunks_mut(stride).filter_map(<[R]>::first_chunk_mut::<LANES>) {
        for ((score, &subtracted), sum) in row.iter_mut().zip(subtracted).zip(&mut sums.0) {
            *score = exp_of_negative::<R, FUSED>(*score - subtracted);
            *sum += *score;
        }
    }
    sums.0
}

#[cfg(test)]
mod tests {
    use super::super::every_arch;
    use super::*;

    /// Takes in two tiles of 5 and 3 keys; the sums of exponentials and the gathered ones, which here count every key once.
    fn taken_in(arch: pulp::Arch, scores: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut max, mut sum, mut gathered) =
            (vec![f64::NEG_INFINITY; LANES], vec![0.0; LANES], vec![0.0; LANES]);
        for scores in [&scores[..5 * LANES], &scores[5 * LANES..]] {
            let mut scores = scores.to_vec();
            arch.dispatch(TakeIn {
                scores: &mut scores,
                stride: LANES,
                max: &mut max,
                sum: &mut sum,
                gathered: &mut gathered,
                gathered_width: 1,
            });
            for exps in scores.chunks_exact(LANES) {
                gathered.iter_mut().zip(exps).for_each(|(gathered, exp)| *gathered += exp);
            }
        }
        let logarithms = max.iter().zip(&sum).map(|(max, sum)| max + sum.ln()).collect();
        (logarithms, gathered.iter().zip(&sum).map(|(gathered, sum)| gathered / sum).collect())
    }

    #[test]
    fn the_sum_after_two_tiles_is_that_of_all_keys_on_any_machine() {
        let scores: Vec<f64> = (0..8 * LANES).map(|at| 30.0 * (at as f64 * 0.7).sin()).collect();
        for arch in every_arch() {
            let (logarithms, shares) = taken_in(arch, &scores);
            for (query, (found, share)) in logarithms.into_iter().zip(shares).enumerate() {
                let expected = (0..8).map(|key| scores[key * LANES + query].exp()).sum::<f64>().ln();
                assert!((found - expected).abs() < 1e-13, "{query}: {found} is not {expected}");
                assert!((share - 1.0).abs() < 1e-14, "{query}: {share}");
            }
        }
    }

    #[test]
    fn what_is_blocked_adds_nothing_and_nan_stays() {
        let mut scores = vec![f64::NEG_INFINITY; 8 * LANES];
        scores[6 * LANES] = 2.5;
        scores[LANES + 1] = f64::NAN;
        for arch in every_arch() {
            let (logarithms, _) = taken_in(arch, &scores);
            assert_eq!(logarithms[0], 2.5);
            assert!(logarithms[1].is_nan());
            assert_eq!(logarithms[2], f64::NEG_INFINITY);
        }
    }
}

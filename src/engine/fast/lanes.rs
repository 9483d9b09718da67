//! One row of a tile at a time, in lanes: the compiler turns the inner loops into vector instructions, and the widest ones that
//! this machine has are chosen at run time.
//!
//! The number of lanes is fixed, whatever the machine, so that sums are made in the same order everywhere.

use pulp::{Simd, WithSimd};

use super::real::{Real, exp_of_negative};

/// How many numbers are worked on side by side. Rows of tiles are padded to a multiple of it.
pub(super) const LANES: usize = 32;

/// The running maximum and sum of one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Running<R> {
    pub max: R,
    pub sum: R,
}

impl<R: Real> Running<R> {
    pub(super) fn new() -> Self {
        Self { max: R::NEG_INFINITY, sum: R::zero() }
    }
}

/// The scores of one tile, to be taken in: they become exp(score − max), and the running maxima and sums follow.
pub(super) struct TakeIn<'a, R> {
    /// Rows of `row_width` scores, of which the first `n_used` count (a multiple of [`LANES`]); what is blocked or padding is −∞.
    pub rows: &'a mut [R],
    pub row_width: usize,
    pub n_used: usize,
    /// One for every row. A NaN among the scores makes the sum NaN for good.
    pub running: &'a mut [Running<R>],
    /// The outputs gathered so far, rows of `gathered_width`; they are lowered to the new maximum.
    pub gathered: &'a mut [R],
    pub gathered_width: usize,
}

// A type of its own and not a closure, since only what is inlined is compiled for the instruction set chosen.
impl<R: Real> WithSimd for TakeIn<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // Where there are no vectors, a fused multiplication would be a call of a slow function.
        if S::IS_SCALAR { self.run::<false>() } else { self.run::<true>() }
    }
}

impl<R: Real> TakeIn<'_, R> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { rows, row_width, n_used, running, gathered, gathered_width } = self;
        for ((row_idx, row), running) in rows.chunks_exact_mut(row_width).enumerate().zip(running) {
            let row = &mut row[..n_used];
            let max = larger(running.max, max_of(row));
            // A row that has seen nothing has no maximum; exp(−∞ − 0) = 0 is right for it.
            let subtracted = if max == R::NEG_INFINITY { R::zero() } else { max };
            let sum = exp_and_sum::<R, FUSED>(row, subtracted);
            let correction = exp_of_negative::<R, FUSED>(running.max - subtracted);
            if running.max < max {
                let gathered = &mut gathered[row_idx * gathered_width..(row_idx + 1) * gathered_width];
                gathered.iter_mut().for_each(|sum| *sum *= correction);
            }
            *running = Running { max, sum: running.sum * correction + sum };
        }
    }
}

/// The larger of two; a NaN is left out, since its own exponential brings it into the sum.
#[inline(always)]
fn larger<R: Real>(a: R, b: R) -> R {
    if b > a { b } else { a }
}

#[inline(always)]
pub(super) fn max_of<R: Real>(row: &[R]) -> R {
    let mut lanes = [R::NEG_INFINITY; LANES];
    for chunk in row.as_chunks::<LANES>().0 {
        for (lane, &score) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, score);
        }
    }
    lanes.into_iter().fold(R::NEG_INFINITY, larger)
}

/// Every score becomes exp(score − subtracted); their sum.
#[inline(always)]
pub(super) fn exp_and_sum<R: Real, const FUSED: bool>(row: &mut [R], subtracted: R) -> R {
    let mut lanes = [R::zero(); LANES];
    for chunk in row.as_chunks_mut::<LANES>().0 {
        for (lane, score) in lanes.iter_mut().zip(chunk) {
            *score = exp_of_negative::<R, FUSED>(*score - subtracted);
            *lane += *score;
        }
    }
    lanes.into_iter().fold(R::zero(), |sum, lane| sum + lane)
}

/// The largest score of a row of any length.
#[inline(always)]
pub(super) fn max_of_any(row: &[f64]) -> f64 {
    let (whole, rest) = row.split_at(row.len() - row.len() % LANES);
    rest.iter().fold(max_of(whole), |max, &score| larger(max, score))
}

/// Every exp(score − max) into `exps`, and their sum; rows of any length.
#[inline(always)]
pub(super) fn exp_less_into<const FUSED: bool>(scores: &[f64], max: f64, exps: &mut [f64]) -> f64 {
    exps.copy_from_slice(scores);
    let (whole, rest) = exps.split_at_mut(scores.len() - scores.len() % LANES);
    let sum = exp_and_sum::<f64, FUSED>(whole, max);
    rest.iter_mut().fold(sum, |sum, score| {
        *score = exp_of_negative::<f64, FUSED>(*score - max);
        sum + *score
    })
}

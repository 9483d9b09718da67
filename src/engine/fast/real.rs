//! The two number formats that the fast forms compute in, and an exponential that needs no branch.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub};

use ndarray::LinalgScalar;

/// `f32` or `f64`.
pub trait Real:
    LinalgScalar
    + PartialOrd
    + Debug
    + Default
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + MulAssign
    + private::Sealed
{
    /// −∞.
    const NEG_INFINITY: Self;
    /// log₂ e.
    const LOG2_E: Self;
    /// −ln 2, with so few bits that n · this is exact for every exponent n.
    const MINUS_LN_2_HIGH: Self;
    /// What `MINUS_LN_2_HIGH` leaves of −ln 2.
    const MINUS_LN_2_LOW: Self;
    /// 1.5 · 2^(bits − 1): a number this large has no fraction left, so that adding it rounds to a whole number.
    const ROUNDER: Self;
    /// Below this, exp is taken to be 0: it is smaller than every normal number.
    const EXP_VANISHES_BELOW: Self;
    /// 1/k! from the highest k that matters down to k = 0.
    const TAYLOR: &[Self];

    /// The nearest number to an `f64`.
    fn from_f64(value: f64) -> Self;

    /// As an `f64`, exactly.
    fn to_f64(self) -> f64;

    /// self · factor + term, rounded once.
    fn mul_add(self, factor: Self, term: Self) -> Self;

    /// Whether it is neither NaN nor infinite.
    fn is_finite(self) -> bool;

    /// 2^n, where `rounded` is n + `ROUNDER`. The exponent field is set directly.
    fn two_to_the(rounded: Self) -> Self;
}

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Real for f32 {
    const NEG_INFINITY: Self = Self::NEG_INFINITY;
    const LOG2_E: Self = std::f32::consts::LOG2_E;
    const MINUS_LN_2_HIGH: Self = -0.693_359_4; // 355/512
    const MINUS_LN_2_LOW: Self = 2.121_944_4e-4;
    const ROUNDER: Self = 12_582_912.0;
    const EXP_VANISHES_BELOW: Self = -87.0;
    const TAYLOR: &[Self] = &[1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        self.is_finite()
    }

    #[inline(always)]
    fn two_to_the(rounded: Self) -> Self {
        Self::from_bits((rounded.to_bits() << 23).wrapping_add(127 << 23))
    }
}

impl Real for f64 {
    const NEG_INFINITY: Self = Self::NEG_INFINITY;
    const LOG2_E: Self = std::f64::consts::LOG2_E;
    const MINUS_LN_2_HIGH: Self = -0.693_147_180_369_123_8; // the first 33 bits
    const MINUS_LN_2_LOW: Self = -1.908_214_929_270_587_7e-10;
    const ROUNDER: Self = 6_755_399_441_055_744.0;
    const EXP_VANISHES_BELOW: Self = -708.0;
    const TAYLOR: &[Self] = &[
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        self.is_finite()
    }

    #[inline(always)]
    fn two_to_the(rounded: Self) -> Self {
        Self::from_bits((rounded.to_bits() << 52).wrapping_add(1023 << 52))
    }
}

/// e^x for x ≤ 0, without a branch, so that the compiler can do many at once.
///
/// x = n·ln 2 + r with |r| ≤ ½ ln 2, so e^x = 2^n · e^r, and e^r is a short Taylor series: within 4 · 10⁻⁷ of the true value in
/// `f32` and 5 · 10⁻¹⁶ in `f64`. NaN stays NaN; what would be smaller than every normal number is 0. `FUSED` says whether the
/// machine multiplies and adds in one instruction.
#[inline(always)]
pub(super) fn exp_of_negative<R: Real, const FUSED: bool>(x: R) -> R {
    let bounded = if x < R::EXP_VANISHES_BELOW { R::EXP_VANISHES_BELOW } else { x };
    let rounded = multiply_add::<R, FUSED>(bounded, R::LOG2_E, R::ROUNDER);
    let n = rounded - R::ROUNDER;
    let r = multiply_add::<R, FUSED>(n, R::MINUS_LN_2_HIGH, bounded);
    let r = multiply_add::<R, FUSED>(n, R::MINUS_LN_2_LOW, r);
    let mut series = R::TAYLOR[0];
    for &coefficient in &R::TAYLOR[1..] {
        series = multiply_add::<R, FUSED>(series, r, coefficient);
    }
    if x < R::EXP_VANISHES_BELOW { R::zero() } else { series * R::two_to_the(rounded) }
}

#[inline(always)]
fn multiply_add<R: Real, const FUSED: bool>(a: R, b: R, c: R) -> R {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn largest_error<R: Real, const FUSED: bool>(from: f64) -> f64 {
        (0..=200_000)
            .map(|step| R::from_f64(from * f64::from(step) / 200_000.0))
            .map(|x| (exp_of_negative::<R, FUSED>(x).to_f64() / x.to_f64().exp() - 1.0).abs())
            .fold(0.0, f64::max)
    }

    #[test]
    fn the_exponential_is_that_of_the_standard_library() {
        for error in [largest_error::<f32, true>(-86.9), largest_error::<f32, false>(-86.9)] {
            assert!(error < 4e-7, "{error}");
        }
        for error in [largest_error::<f64, true>(-707.9), largest_error::<f64, false>(-707.9)] {
            assert!(error < 5e-16, "{error}");
        }
        assert_eq!(exp_of_negative::<f32, true>(0.0), 1.0);
        assert_eq!(exp_of_negative::<f64, false>(0.0), 1.0);
    }

    #[test]
    fn what_vanishes_is_zero_and_nan_stays() {
        for x in [-90.0_f32, -1e30, f32::NEG_INFINITY] {
            assert_eq!(exp_of_negative::<f32, true>(x), 0.0);
        }
        assert_eq!(exp_of_negative::<f64, false>(-800.0), 0.0);
        assert!(exp_of_negative::<f32, true>(f32::NAN).is_nan());
        assert!(exp_of_negative::<f64, true>(f64::NAN).is_nan());
    }
}

//! The two number formats that the fast forms compute in, and an exponential that needs no branch.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub};

use pulp::Simd;

/// `f32` or `f64`.
pub trait Real:
    Copy
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
    + InVectors
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// −∞.
    const NEG_INFINITY: Self;
    /// log₂ e.
    const LOG2_E: Self;
    /// −ln 2, with so few bits that n · this is exact for every exponent n.
    const MINUS_LN_2_HIGH: Self;
    /// What `MINUS_LN_2_HIGH` leaves of −ln 2.
    const MINUS_LN_2_LOW: Self;
    /// A number so large that it has no fraction left: adding it rounds to a whole number n and leaves n in its last bits, here with
    /// the exponent's bias already added.
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

pub(super) use in_vectors::InVectors;

mod in_vectors {
    use pulp::Simd;

    /// What a machine does to several numbers at once. Private, so that nobody else's numbers are [`Real`](super::Real).
    pub trait InVectors: Sized {
        type Vector<S: Simd>: Copy;

        /// How many numbers a vector holds.
        fn lanes<S: Simd>() -> usize {
            size_of::<Self::Vector<S>>() / size_of::<Self>()
        }

        /// The same number in every lane.
        fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;

        /// a · b + c, rounded once where the machine can.
        fn multiply_add<S: Simd>(
            simd: S,
            a: Self::Vector<S>,
            b: Self::Vector<S>,
            c: Self::Vector<S>,
        ) -> Self::Vector<S>;

        /// b where it is larger, a elsewhere: a NaN in b is left out.
        fn larger<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;

        /// The whole vectors at the beginning of a slice.
        fn vectors<S: Simd>(numbers: &[Self]) -> &[Self::Vector<S>];

        /// The whole vectors at the beginning of a slice, to be written.
        fn vectors_mut<S: Simd>(numbers: &mut [Self]) -> &mut [Self::Vector<S>];
    }
}

/// What reads the same for both formats, given the names that `pulp` has for one of them.
macro_rules! implement {
    ($real:ident, $bits_of_fraction:literal, $constants:tt, $vector:ident, $splat:ident, $mul_add:ident, $greater:ident, $select:ident, $all:ident, $all_mut:ident) => {
        impl Real for $real {
            implement!(@constants $constants);

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
                Self::from_bits(rounded.to_bits() << $bits_of_fraction)
            }
        }

        impl InVectors for $real {
            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$vector {
                simd.$splat(value)
            }

            #[inline(always)]
            fn multiply_add<S: Simd>(simd: S, a: S::$vector, b: S::$vector, c: S::$vector) -> S::$vector {
                simd.$mul_add(a, b, c)
            }

            #[inline(always)]
            fn larger<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$select(simd.$greater(b, a), b, a)
            }

            #[inline(always)]
            fn vectors<S: Simd>(numbers: &[Self]) -> &[S::$vector] {
                S::$all(numbers).0
            }

            #[inline(always)]
            fn vectors_mut<S: Simd>(numbers: &mut [Self]) -> &mut [S::$vector] {
                S::$all_mut(numbers).0
            }
        }
    };
    (@constants { $($constant:item)* }) => { $($constant)* };
}

implement!(
    f32,
    23,
    {
        const ZERO: Self = 0.0;
        const ONE: Self = 1.0;
        const NEG_INFINITY: Self = Self::NEG_INFINITY;
        const LOG2_E: Self = std::f32::consts::LOG2_E;
        const MINUS_LN_2_HIGH: Self = -0.693_359_4; // 355/512
        const MINUS_LN_2_LOW: Self = 2.121_944_4e-4;
        const ROUNDER: Self = 12_582_912.0 + 127.0; // 1.5 · 2²³ and the bias
        const EXP_VANISHES_BELOW: Self = -87.0;
        const TAYLOR: &[Self] = &[1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    },
    f32s,
    splat_f32s,
    mul_add_e_f32s,
    greater_than_f32s,
    select_f32s,
    as_simd_f32s,
    as_mut_simd_f32s
);

implement!(
    f64,
    52,
    {
        const ZERO: Self = 0.0;
        const ONE: Self = 1.0;
        const NEG_INFINITY: Self = Self::NEG_INFINITY;
        const LOG2_E: Self = std::f64::consts::LOG2_E;
        const MINUS_LN_2_HIGH: Self = -0.693_147_180_369_123_8; // the first 33 bits
        const MINUS_LN_2_LOW: Self = -1.908_214_929_270_587_7e-10;
        const ROUNDER: Self = 6_755_399_441_055_744.0 + 1023.0; // 1.5 · 2⁵² and the bias
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
    },
    f64s,
    splat_f64s,
    mul_add_e_f64s,
    greater_than_f64s,
    select_f64s,
    as_simd_f64s,
    as_mut_simd_f64s
);

/// e^x for x ≤ 0, without a branch, so that the compiler can do many at once.
///
/// x = n·ln 2 + r with |r| ≤ ½ ln 2, so e^x = 2^n · e^r, and e^r is a short Taylor series: within 4 · 10⁻⁷ of the true value in
/// `f32` and 5 · 10⁻¹⁶ in `f64`. NaN stays NaN; what would be smaller than every normal number is 0. `FUSED` says whether the
/// machine multiplies and adds in one instruction.
#[inline(always)]
pub(super) fn exp_of_negative<R: Real, const FUSED: bool>(x: R) -> R {
    let rounded = multiply_add::<R, FUSED>(x, R::LOG2_E, R::ROUNDER);
    let n = rounded - R::ROUNDER;
    let r = multiply_add::<R, FUSED>(n, R::MINUS_LN_2_HIGH, x);
    let r = multiply_add::<R, FUSED>(n, R::MINUS_LN_2_LOW, r);
    let mut series = R::TAYLOR[0];
    for &coefficient in &R::TAYLOR[1..] {
        series = multiply_add::<R, FUSED>(series, r, coefficient);
    }
    if x < R::EXP_VANISHES_BELOW { R::ZERO } else { series * R::two_to_the(rounded) }
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

//! Number formats narrower than `f64`, as rounding: a number of the format is an `f64` that the rounding leaves alone.

/// The format that inputs and stages are stored in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 53 significant bits; sums are kept in it too.
    #[default]
    F64,
    /// 24 significant bits.
    F32,
    /// 8 significant bits and the range of `F32` (bfloat16).
    Bf16,
    /// 11 significant bits; the largest number is 65504 (IEEE 754 half precision).
    F16,
}

impl Precision {
    /// All formats, from the widest to the narrowest.
    pub const ALL: [Self; 4] = [Self::F64, Self::F32, Self::Bf16, Self::F16];

    /// The name: `f64`, `f32`, `bf16`, `f16`.
    pub fn label(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        }
    }

    /// The nearest number of the format; ties go to the even one, subnormal numbers are kept, and what lies half a step or more
    /// beyond the largest number becomes ∞ (in `F16`, 65520).
    pub fn round(self, value: f64) -> f64 {
        match self {
            Self::F64 => value,
            Self::F32 => f64::from(value as f32),
            Self::Bf16 | Self::F16 => {
                round_to_significant(value, self.significant_bits(), self.min_exponent())
            }
        }
    }

    /// The nearest number of the format that dot products, exponentials and sums are kept in while a stage is made: `F32`, or
    /// `F64` for `F64` itself.
    pub fn round_sum(self, value: f64) -> f64 {
        match self {
            Self::F64 => value,
            Self::F32 | Self::Bf16 | Self::F16 => f64::from(value as f32),
        }
    }

    /// How many bits a number has from its first 1 on.
    pub fn significant_bits(self) -> u32 {
        match self {
            Self::F64 => 53,
            Self::F32 => 24,
            Self::Bf16 => 8,
            Self::F16 => 11,
        }
    }

    /// The exponent of the smallest normal number, 2^this.
    pub fn min_exponent(self) -> i32 {
        match self {
            Self::F64 => -1022,
            Self::F32 | Self::Bf16 => -126,
            Self::F16 => -14,
        }
    }

    /// The largest finite number: (2 − 2^(1 − bits))·2^(1 − `min_exponent`).
    pub fn max(self) -> f64 {
        largest(self.significant_bits(), self.min_exponent())
    }

    /// How far a number may lie from the one that it was rounded to, relative to it: half a step.
    pub fn unit_roundoff(self) -> f64 {
        2_f64.powi(-(self.significant_bits() as i32))
    }

    /// Above this, exp overflows to ∞ when it is stored: the logarithm of where rounding gives ∞. About 11.09 in `F16` and 88.72 in
    /// `Bf16` and `F32`.
    pub fn exp_overflows_above(self) -> f64 {
        let last_step = self.unit_roundoff(); // half a step at the top, relative to 2^max_exponent
        (2.0 - last_step).ln() + f64::from(1 - self.min_exponent()) * std::f64::consts::LN_2
    }
}

fn largest(significant_bits: u32, min_exponent: i32) -> f64 {
    (2.0 - 2_f64.powi(1 - significant_bits as i32)) * 2_f64.powi(1 - min_exponent)
}

/// Multiples of a power of two: as fine as the significant bits reach, but never finer than the subnormal numbers are.
fn round_to_significant(value: f64, significant_bits: u32, min_exponent: i32) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023; // of an f64 subnormal too low, which min_exponent mends
    let step = 2_f64.powi(exponent.max(min_exponent) - (significant_bits as i32 - 1));
    let rounded = (value / step).round_ties_even() * step;
    if rounded.abs() > largest(significant_bits, min_exponent) {
        f64::INFINITY.copysign(value)
    } else {
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_precision_number_is_left_alone_and_midpoints_go_to_the_even_one() {
        let numbers: Vec<f64> = (0..0x7c00_u16).map(|bits| half::f16::from_bits(bits).to_f64()).collect();
        for (bits, pair) in numbers.windows(2).enumerate() {
            let [below, above] = [pair[0], pair[1]];
            assert_eq!(Precision::F16.round(below), below);
            let midpoint = f64::midpoint(below, above);
            let even = if bits % 2 == 0 { below } else { above };
            assert_eq!(Precision::F16.round(midpoint), even, "{midpoint}");
            assert_eq!(Precision::F16.round(midpoint.next_up()), above);
            assert_eq!(Precision::F16.round(-midpoint.next_down()), -below);
        }
    }

    #[test]
    fn bfloat16_rounds_as_the_half_crate_does_from_f32() {
        let mut value = 1e-40_f32;
        while value.is_finite() {
            for signed in [value, -value] {
                let expected = half::bf16::from_f32(signed).to_f64();
                assert_eq!(Precision::Bf16.round(f64::from(signed)), expected, "{signed}");
            }
            value *= 1.003_7;
        }
    }

    #[test]
    fn the_largest_numbers_and_where_they_end() {
        assert_eq!(Precision::F16.max(), 65504.0);
        assert_eq!(Precision::F32.max(), f64::from(f32::MAX));
        assert_eq!(Precision::F64.max(), f64::MAX);
        assert_eq!(Precision::F16.round(65520.0), f64::INFINITY);
        assert_eq!(Precision::F16.round(65520_f64.next_down()), 65504.0);
        assert_eq!(Precision::F16.round(-1e9), f64::NEG_INFINITY);
        assert_eq!(Precision::Bf16.round(3.4e38), f64::INFINITY);
        assert!(Precision::F16.round(f64::NAN).is_nan());
        assert!(Precision::F16.round(-0.0).is_sign_negative());
        assert_eq!(Precision::F16.round(f64::MIN_POSITIVE), 0.0);
    }

    #[test]
    fn exp_overflows_just_above_the_limit_and_not_just_below() {
        for precision in [Precision::F32, Precision::Bf16, Precision::F16] {
            let limit = precision.exp_overflows_above();
            assert_eq!(precision.round((limit + 1e-9).exp()), f64::INFINITY, "{precision:?}");
            assert_eq!(precision.round((limit - 1e-9).exp()), precision.max(), "{precision:?}");
        }
        assert!((Precision::F16.exp_overflows_above() - 11.09).abs() < 5e-3);
        assert!((Precision::F32.exp_overflows_above() - 88.72).abs() < 5e-3);
        assert!((Precision::Bf16.exp_overflows_above() - 88.72).abs() < 5e-3);
        assert!((Precision::F64.exp_overflows_above() - 709.78).abs() < 5e-3);
    }
}

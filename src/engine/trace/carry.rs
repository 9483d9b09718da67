//! How far intermediate results are carried.

use super::super::Precision;

/// How many digits pass from one step to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carry {
    /// Every digit: the numbers that the engine itself works with.
    #[default]
    Exact,
    /// Operands and the result of every step rounded to this many decimals, as one does on paper. The last digits of the
    /// output may then differ from the exact ones, and that is the point of showing it.
    Decimals(usize),
    /// As a narrower number format does it: products and sums are kept in the format of sums, operands and stages are stored in
    /// the format itself.
    Stored(Precision),
}

/// More decimals than this say nothing about an `f64`.
const MAX_DECIMALS: usize = 17;

impl Carry {
    /// The number that is carried on in place of `value`. Never −0.
    ///
    /// Rounds the decimal expansion, as printing does, so that what is carried is what is read.
    pub fn carry(self, value: f64) -> f64 {
        match self {
            Self::Decimals(decimals) if value.is_finite() => round(value, decimals.min(MAX_DECIMALS)) + 0.0,
            Self::Stored(precision) => precision.round_sum(value) + 0.0,
            Self::Exact | Self::Decimals(_) => value + 0.0,
        }
    }

    /// The number that is stored where a stage ends, or read where it begins; only a number format makes a difference between
    /// this and [`carry`](Self::carry).
    pub fn store(self, value: f64) -> f64 {
        match self {
            Self::Stored(precision) => precision.round(value) + 0.0,
            Self::Exact | Self::Decimals(_) => self.carry(value),
        }
    }
}

fn round(value: f64, decimals: usize) -> f64 {
    round_by_scaling(value, decimals)
        .unwrap_or_else(|| format!("{value:.decimals$}").parse().unwrap_or(value))
}

/// What printing and reading back would give, found without text; `None` where the shortcut cannot be sure of it.
///
/// A whole number below 2⁵³ divided by a power of ten up to 10¹⁵ is the number nearest to that decimal. Only near a tie
/// could the multiplication have rounded to the wrong side.
fn round_by_scaling(value: f64, decimals: usize) -> Option<f64> {
    const NEAR_A_TIE: f64 = 1e-3;
    const STILL_PRECISE: f64 = 1e12;
    let power = 10_f64.powi(i32::try_from(decimals).ok().filter(|&decimals| decimals <= 15)?);
    let scaled = value * power;
    let is_sure = scaled.abs() < STILL_PRECISE && ((scaled - scaled.trunc()).abs() - 0.5).abs() > NEAR_A_TIE;
    is_sure.then(|| scaled.round() / power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_what_printing_shows() {
        assert_eq!(Carry::Decimals(4).carry(0.669_761_549), 0.6698);
        assert_eq!(Carry::Decimals(4).carry(-0.669_741_549), -0.6697);
        assert_eq!(Carry::Decimals(0).carry(1e300), 1e300);
        assert_eq!(Carry::Exact.carry(0.1 + 0.2), 0.1 + 0.2);
    }

    #[test]
    fn the_shortcut_rounds_as_printing_does() {
        let mut n_shortcuts = 0;
        for step in -4000..4000 {
            let value = f64::from(step) * 0.012_345_678_9 + f64::from(step % 7) * 1e-5;
            for decimals in 0..=10 {
                let printed: f64 = format!("{value:.decimals$}").parse().unwrap();
                if let Some(rounded) = round_by_scaling(value, decimals) {
                    assert_eq!(rounded, printed, "{value} to {decimals} decimals");
                    n_shortcuts += 1;
                }
                assert_eq!(round(value, decimals), printed);
            }
        }
        assert!(n_shortcuts > 85_000, "the shortcut is the rule: {n_shortcuts}");
        assert_eq!(round_by_scaling(0.125, 2), None, "a tie is left to printing");
    }

    #[test]
    fn a_rounded_zero_has_no_sign_and_infinities_stay() {
        assert!(Carry::Decimals(4).carry(-1e-9).is_sign_positive());
        assert!(Carry::Exact.carry(-0.0).is_sign_positive());
        assert_eq!(Carry::Decimals(4).carry(f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert!(Carry::Decimals(4).carry(f64::NAN).is_nan());
        assert_eq!(Carry::Decimals(100_000).carry(0.25), 0.25);
    }
}

//! How far intermediate results are carried.

/// How many digits pass from one step to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carry {
    /// Every digit: the numbers that the engine itself works with.
    #[default]
    Exact,
    /// Operands and the result of every step rounded to this many decimals, as one does on paper. The last digits of the
    /// output may then differ from the exact ones, and that is the point of showing it.
    Decimals(usize),
}

/// More decimals than this say nothing about an `f64`.
const MAX_DECIMALS: usize = 17;

impl Carry {
    /// The number that is carried on in place of `value`. Never −0.
    ///
    /// Rounds the decimal expansion, as printing does, so that what is carried is what is read.
    pub fn carry(self, value: f64) -> f64 {
        match self {
            Self::Decimals(decimals) if value.is_finite() => {
                let decimals = decimals.min(MAX_DECIMALS);
                format!("{value:.decimals$}").parse().unwrap_or(value) + 0.0
            }
            Self::Exact | Self::Decimals(_) => value + 0.0,
        }
    }
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
    fn a_rounded_zero_has_no_sign_and_infinities_stay() {
        assert!(Carry::Decimals(4).carry(-1e-9).is_sign_positive());
        assert!(Carry::Exact.carry(-0.0).is_sign_positive());
        assert_eq!(Carry::Decimals(4).carry(f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert!(Carry::Decimals(4).carry(f64::NAN).is_nan());
        assert_eq!(Carry::Decimals(100_000).carry(0.25), 0.25);
    }
}

//! Exact fractions, for intensities and seconds.

use super::{CostError, Field};

/// A fraction in lowest terms. A denominator of 0 is never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    numerator: u128,
    denominator: u128,
}

impl Ratio {
    /// `numerator / denominator` in lowest terms.
    ///
    /// # Errors
    /// [`CostError::MustBePositive`] for a denominator of 0, naming the field that gave it.
    pub fn new(numerator: u128, denominator: u128, field: Field) -> Result<Self, CostError> {
        if denominator == 0 {
            return Err(CostError::MustBePositive { field });
        }
        let common = greatest_common_divisor(numerator, denominator);
        Ok(Self { numerator: numerator / common, denominator: denominator / common })
    }

    /// Above the line.
    pub const fn numerator(self) -> u128 {
        self.numerator
    }

    /// Below the line; at least 1.
    pub const fn denominator(self) -> u128 {
        self.denominator
    }

    /// The nearest floating-point number, for display.
    pub const fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    pub(super) fn plus(self, other: Self, field: Field) -> Result<Self, CostError> {
        let overflow = CostError::Overflow { field, bits: 128 };
        let common = greatest_common_divisor(self.denominator, other.denominator);
        let (a, b) = (other.denominator / common, self.denominator / common);
        let sum = self
            .numerator
            .checked_mul(a)
            .zip(other.numerator.checked_mul(b))
            .and_then(|(left, right)| left.checked_add(right))
            .zip(self.denominator.checked_mul(a));
        match sum {
            Some((numerator, denominator)) => Self::new(numerator, denominator, field),
            None => Err(overflow),
        }
    }

    /// The larger of two.
    pub(super) fn max(self, other: Self, field: Field) -> Result<Self, CostError> {
        let left = self.numerator.checked_mul(other.denominator);
        let right = other.numerator.checked_mul(self.denominator);
        match left.zip(right) {
            Some((left, right)) => Ok(if left >= right { self } else { other }),
            None => Err(CostError::Overflow { field, bits: 128 }),
        }
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

const fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    // Only 0/0 has no common divisor, and a denominator of 0 was refused.
    if a == 0 { 1 } else { a }
}

//! A formula that is computed, written with symbols and written with its numbers, all from one tree,
//! so that what is shown is what was computed.

use std::ops::{Add, Div, Mul, Sub};

use super::{CostError, Field, Unit, grouped};

/// A number in a formula, with its name, its symbol and the input it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Its name in words: `KV heads`.
    pub label: &'static str,
    /// Its symbol, with `_` before a subscript: `d_head`.
    pub symbol: &'static str,
    /// Its value.
    pub value: u128,
    /// The input that it is, so that a click can lead there; `None` for an intermediate result.
    pub input: Option<Field>,
}

/// An expression over exact integers. Built with `+ − · /` and evaluated with checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// A constant of the formula, such as the 2 of `2 · L · G · d_head · b`.
    Number(u128),
    /// A named number.
    Factor(Factor),
    /// The product of all.
    Product(Vec<Self>),
    /// The sum of all.
    Sum(Vec<Self>),
    /// The first less the second; 0 where the second is larger.
    Difference(Box<Self>, Box<Self>),
    /// The first over the second, rounded down. Where it has to be exact that was checked before.
    Quotient(Box<Self>, Box<Self>),
    /// The first over the second, rounded up.
    CeilQuotient(Box<Self>, Box<Self>),
    /// The first over the second, rounded down, and shown so.
    FloorQuotient(Box<Self>, Box<Self>),
    /// The smaller one.
    Min(Box<Self>, Box<Self>),
}

/// One result with its name, its unit and the formula that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// A stable name for programs: `bytes_per_token`.
    pub id: &'static str,
    /// The name as a person reads it.
    pub label: &'static str,
    /// The exact value.
    pub value: u128,
    /// What it counts.
    pub unit: Unit,
    /// How it was computed.
    pub formula: Formula,
}

impl Field {
    /// This field with its value, as a factor of a formula.
    pub fn is(self, value: impl Into<u128>) -> Formula {
        Formula::Factor(Factor {
            label: self.label(),
            symbol: self.symbol(),
            value: value.into(),
            input: Some(self),
        })
    }
}

impl Formula {
    /// A constant.
    pub fn number(value: impl Into<u128>) -> Self {
        Self::Number(value.into())
    }

    /// An intermediate result under its own symbol.
    pub const fn named(label: &'static str, symbol: &'static str, value: u128) -> Self {
        Self::Factor(Factor { label, symbol, value, input: None })
    }

    /// The sum of all; a single one as it is, and 0 for none.
    pub fn sum(mut parts: Vec<Self>) -> Self {
        match parts.len() {
            0 => Self::Number(0),
            1 => parts.swap_remove(0),
            _ => Self::Sum(parts),
        }
    }

    /// The smaller of two.
    pub fn min(self, other: Self) -> Self {
        Self::Min(Box::new(self), Box::new(other))
    }

    /// ⌈self / other⌉.
    pub fn div_ceil(self, other: Self) -> Self {
        Self::CeilQuotient(Box::new(self), Box::new(other))
    }

    /// ⌊self / other⌋.
    pub fn div_floor(self, other: Self) -> Self {
        Self::FloorQuotient(Box::new(self), Box::new(other))
    }

    /// n(n+1)/2, the pairs of a causal square.
    pub fn triangle(n: Self) -> Self {
        Self::Quotient(Box::new(n.clone() * (n + Self::Number(1))), Box::new(Self::Number(2)))
    }

    /// The value.
    ///
    /// # Errors
    /// [`CostError::Overflow`] beyond 128 bits, naming the largest input of the formula.
    pub fn value(&self) -> Result<u128, CostError> {
        self.checked().ok_or_else(|| CostError::Overflow { field: self.largest_input(), bits: 128 })
    }

    fn checked(&self) -> Option<u128> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Factor(factor) => Some(factor.value),
            Self::Product(parts) => product(parts),
            Self::Sum(parts) => parts.iter().try_fold(0_u128, |sum, part| sum.checked_add(part.checked()?)),
            Self::Difference(a, b) => Some(a.checked()?.saturating_sub(b.checked()?)),
            Self::Quotient(a, b) | Self::FloorQuotient(a, b) => a.checked()?.checked_div(b.checked()?),
            Self::CeilQuotient(a, b) => {
                let (a, b) = (a.checked()?, b.checked()?);
                (b != 0).then(|| a.div_ceil(b))
            }
            Self::Min(a, b) => Some(a.checked()?.min(b.checked()?)),
        }
    }

    fn largest_input(&self) -> Field {
        self.factors()
            .into_iter()
            .filter_map(|factor| factor.input.map(|field| (factor.value, field)))
            .max_by_key(|(value, _)| *value)
            .map_or(Field::Tokens, |(_, field)| field)
    }

    /// Every factor in reading order, each symbol once.
    pub fn factors(&self) -> Vec<&Factor> {
        let mut found: Vec<&Factor> = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a Factor>) {
        match self {
            Self::Number(_) => {}
            Self::Factor(factor) => {
                if !found.contains(&factor) {
                    found.push(factor);
                }
            }
            Self::Product(parts) | Self::Sum(parts) => parts.iter().for_each(|part| part.collect(found)),
            Self::Difference(a, b)
            | Self::Quotient(a, b)
            | Self::CeilQuotient(a, b)
            | Self::FloorQuotient(a, b)
            | Self::Min(a, b) => {
                a.collect(found);
                b.collect(found);
            }
        }
    }
}

impl Quantity {
    /// Evaluates the formula under a name.
    ///
    /// # Errors
    /// [`CostError::Overflow`] beyond 128 bits.
    pub fn new(
        id: &'static str,
        label: &'static str,
        unit: Unit,
        formula: Formula,
    ) -> Result<Self, CostError> {
        Ok(Self { id, label, value: formula.value()?, unit, formula })
    }

    /// The formula with the numbers substituted, and the result: `2 · 32 · 8 · 128 · 2 = 131,072 B`.
    pub fn substituted(&self) -> String {
        let numbers = self.formula.numbers();
        let result = self.unit.exact(self.value);
        match numbers == grouped(self.value) {
            true => result,
            false => format!("{numbers} = {result}"),
        }
    }

    /// Multiply-adds as floating-point operations, two for each; anything else as it is.
    ///
    /// # Errors
    /// [`CostError::Overflow`] beyond 128 bits.
    pub fn in_flops(&self) -> Result<Self, CostError> {
        match self.unit {
            Unit::Macs => {
                let twice = Formula::number(2_u64) * self.formula.clone();
                Self::new(self.id, self.label, Unit::Flops, twice)
            }
            _ => Ok(self.clone()),
        }
    }

    /// This quantity as a factor of a further formula.
    pub const fn as_factor(&self, symbol: &'static str) -> Formula {
        Formula::named(self.label, symbol, self.value)
    }
}

fn product(parts: &[Formula]) -> Option<u128> {
    let values: Option<Vec<u128>> = parts.iter().map(Formula::checked).collect();
    let values = values?;
    // Nothing times anything is nothing, even where the other factors alone would overflow.
    if values.contains(&0) {
        return Some(0);
    }
    values.into_iter().try_fold(1_u128, u128::checked_mul)
}

impl Mul for Formula {
    type Output = Self;

    fn mul(self, right: Self) -> Self {
        match (self, right) {
            (Self::Product(mut left), Self::Product(right)) => {
                left.extend(right);
                Self::Product(left)
            }
            (Self::Product(mut left), right) => {
                left.push(right);
                Self::Product(left)
            }
            (left, Self::Product(mut right)) => {
                right.insert(0, left);
                Self::Product(right)
            }
            (left, right) => Self::Product(vec![left, right]),
        }
    }
}

impl Add for Formula {
    type Output = Self;

    fn add(self, right: Self) -> Self {
        match self {
            Self::Sum(mut left) => {
                left.push(right);
                Self::Sum(left)
            }
            left => Self::Sum(vec![left, right]),
        }
    }
}

impl Sub for Formula {
    type Output = Self;

    fn sub(self, right: Self) -> Self {
        Self::Difference(Box::new(self), Box::new(right))
    }
}

impl Div for Formula {
    type Output = Self;

    fn div(self, right: Self) -> Self {
        Self::Quotient(Box::new(self), Box::new(right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> Quantity {
        let formula = Formula::number(2_u64)
            * Field::Layers.is(32_u64)
            * Field::KvHeads.is(8_u64)
            * Field::HeadWidth.is(128_u64)
            * Field::StorageType.is(2_u64);
        Quantity::new("bytes_per_token", "bytes per token", Unit::Bytes, formula).unwrap()
    }

    #[test]
    fn a_formula_reads_with_symbols_and_with_its_numbers_substituted() {
        let quantity = cache();
        assert_eq!(quantity.formula.symbols(), "2 · L · G · d_head · b");
        assert_eq!(quantity.substituted(), "2 · 32 · 8 · 128 · 2 = 131,072 B");
        assert_eq!(
            quantity.latex(),
            "2 \\cdot L \\cdot G \\cdot d_{\\text{head}} \\cdot b = 2 \\cdot 32 \\cdot 8 \\cdot 128 \\cdot 2 = 131{,}072\\ \\text{B}"
        );
    }

    #[test]
    fn every_factor_leads_back_to_its_input() {
        let quantity = cache();
        let inputs: Vec<_> = quantity.formula.factors().iter().map(|factor| factor.input).collect();
        assert_eq!(
            inputs,
            [Some(Field::Layers), Some(Field::KvHeads), Some(Field::HeadWidth), Some(Field::StorageType)]
        );
    }

    #[test]
    fn beyond_128_bits_the_largest_input_is_named() {
        let big = Field::Tokens.is(u128::MAX) * Field::Layers.is(2_u64);
        assert_eq!(big.value(), Err(CostError::Overflow { field: Field::Tokens, bits: 128 }));
    }

    #[test]
    fn nothing_times_anything_is_nothing() {
        let big = Field::Tokens.is(u128::MAX) * Field::Layers.is(2_u64);
        assert_eq!((big * Field::Sequences.is(0_u64)).value(), Ok(0));
    }
}

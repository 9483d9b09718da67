//! Exact integers with their units, and how they are written.

use serde::{Deserialize, Serialize};

use super::{CostError, Field};

/// A number of bytes. Decimal (kB, MB, GB) and binary (KiB, MiB, GiB) units are different units; both are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u128);

/// A number of multiply-adds. One multiply-add is two FLOPs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Macs(pub u128);

/// What a number is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Multiply-adds.
    Macs,
    /// Floating-point operations, two for a multiply-add.
    Flops,
    /// Bytes.
    Bytes,
    /// Numbers, whatever their storage.
    Values,
    /// Learned numbers.
    Parameters,
    /// Query–key pairs.
    Pairs,
    /// Entries of a softmax: one exponential each.
    Entries,
    /// Tokens.
    Tokens,
    /// Blocks of tokens.
    Blocks,
    /// Operations that are not multiply-adds: exponentials, comparisons, additions, hyperbolic tangents.
    Operations,
}

/// A multiple of a unit. The binary ones are only for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the usual prefixes")]
pub enum Prefix {
    One,
    Kilo,
    Mega,
    Giga,
    Tera,
    Peta,
    Exa,
    Kibi,
    Mebi,
    Gibi,
    Tebi,
    Pebi,
    Exbi,
}

impl Prefix {
    /// 1, k, M, G … in rising order.
    pub const DECIMAL: [Self; 7] =
        [Self::One, Self::Kilo, Self::Mega, Self::Giga, Self::Tera, Self::Peta, Self::Exa];
    /// 1, Ki, Mi, Gi … in rising order.
    pub const BINARY: [Self; 7] =
        [Self::One, Self::Kibi, Self::Mebi, Self::Gibi, Self::Tebi, Self::Pebi, Self::Exbi];

    /// How many there are in one.
    pub const fn factor(self) -> u128 {
        match self {
            Self::One => 1,
            Self::Kilo => 1_000,
            Self::Mega => 1_000_000,
            Self::Giga => 1_000_000_000,
            Self::Tera => 1_000_000_000_000,
            Self::Peta => 1_000_000_000_000_000,
            Self::Exa => 1_000_000_000_000_000_000,
            Self::Kibi => 1 << 10,
            Self::Mebi => 1 << 20,
            Self::Gibi => 1 << 30,
            Self::Tebi => 1 << 40,
            Self::Pebi => 1 << 50,
            Self::Exbi => 1 << 60,
        }
    }

    /// Its letters: `k`, `M`, `Gi`; nothing for one.
    pub const fn letters(self) -> &'static str {
        match self {
            Self::One => "",
            Self::Kilo => "k",
            Self::Mega => "M",
            Self::Giga => "G",
            Self::Tera => "T",
            Self::Peta => "P",
            Self::Exa => "E",
            Self::Kibi => "Ki",
            Self::Mebi => "Mi",
            Self::Gibi => "Gi",
            Self::Tebi => "Ti",
            Self::Pebi => "Pi",
            Self::Exbi => "Ei",
        }
    }

    /// The prefix with these letters, as in `G` of `GB`.
    pub fn from_letters(letters: &str) -> Option<Self> {
        Self::DECIMAL.into_iter().chain(Self::BINARY).find(|prefix| prefix.letters() == letters)
    }
}

impl Bytes {
    /// As so many decimals of a unit: `1.05 GB`. Rounded from the exact integer, ties to even.
    pub fn in_unit(self, prefix: Prefix, decimals: usize) -> String {
        format!("{} {}B", scaled(self.0, prefix, decimals), prefix.letters())
    }

    /// In the largest decimal unit that leaves at least 1: `1.05 GB`, `512 B`.
    pub fn decimal(self) -> String {
        let (number, prefix) = best(self.0, &Prefix::DECIMAL);
        format!("{number} {}B", prefix.letters())
    }

    /// In the largest binary unit that leaves at least 1: `0.98 GiB` is 1000.00 MiB.
    pub fn binary(self) -> String {
        let (number, prefix) = best(self.0, &Prefix::BINARY);
        format!("{number} {}B", prefix.letters())
    }

    /// In the binary unit of the same order as [`Self::decimal`], so that the two can be compared: 1.05 GB, 0.98 GiB.
    pub fn binary_beside_decimal(self) -> String {
        let (_, prefix) = best(self.0, &Prefix::DECIMAL);
        let order = Prefix::DECIMAL.iter().position(|candidate| *candidate == prefix).unwrap_or(0);
        match order {
            0 => self.decimal(),
            _ => self.in_unit(Prefix::BINARY[order], 2),
        }
    }

    /// For programs that count in 64 bits.
    ///
    /// # Errors
    /// [`CostError::Overflow`] where it does not fit; never a wrapped number.
    pub fn to_u64(self) -> Result<u64, CostError> {
        u64::try_from(self.0).ok().ok_or(CostError::Overflow { field: Field::Tokens, bits: 64 })
    }

    /// Every digit, in groups of three: `1,048,576,000 B`.
    pub fn exact(self) -> String {
        format!("{} B", grouped(self.0))
    }
}

impl std::str::FromStr for Bytes {
    type Err = CostError;

    /// `24 GiB`, `1.5GB`, `1,048,576,000 B` or plain digits. A fraction of a byte is cut off.
    fn from_str(text: &str) -> Result<Self, CostError> {
        let wrong = || CostError::NotAnAmount { text: text.to_owned() };
        let compact: String =
            text.chars().filter(|letter| !letter.is_whitespace() && *letter != ',').collect();
        let split = compact.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(compact.len());
        let (number, unit) = compact.split_at(split);
        let prefix = Prefix::from_letters(unit.strip_suffix('B').unwrap_or(unit)).ok_or_else(wrong)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        // 19 digits and 2^60 together stay below 2^128.
        if fraction.len() > 19 || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(wrong());
        }
        let digits = |digits: &str| if digits.is_empty() { Ok(0) } else { digits.parse::<u128>() };
        let (whole, part) = digits(whole).ok().zip(digits(fraction).ok()).ok_or_else(wrong)?;
        let part = part * prefix.factor() / 10_u128.pow(fraction.len() as u32);
        let bytes = whole.checked_mul(prefix.factor()).and_then(|bytes| bytes.checked_add(part));
        match number.bytes().any(|letter| letter.is_ascii_digit()) {
            false => Err(wrong()),
            true => bytes.map(Self).ok_or(CostError::Overflow { field: Field::Budget, bits: 128 }),
        }
    }
}

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.decimal())
    }
}

impl Macs {
    /// Two FLOPs for each. `None` beyond 128 bits.
    pub const fn flops(self) -> Option<u128> {
        self.0.checked_mul(2)
    }

    /// In the largest decimal multiple that leaves at least 1: `134.22 M`.
    pub fn decimal(self) -> String {
        Unit::Macs.short(self.0)
    }
}

impl std::fmt::Display for Macs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} MACs", self.decimal())
    }
}

impl Unit {
    /// What follows the number.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Macs => "MACs",
            Self::Flops => "FLOPs",
            Self::Bytes => "B",
            Self::Values => "values",
            Self::Parameters => "parameters",
            Self::Pairs => "pairs",
            Self::Entries => "entries",
            Self::Tokens => "tokens",
            Self::Blocks => "blocks",
            Self::Operations => "operations",
        }
    }

    /// Every digit, in groups of three, with the unit: `131,072 B`.
    pub fn exact(self, value: u128) -> String {
        format!("{} {}", grouped(value), self.suffix())
    }

    /// About three digits: `134.22 M`, `1.05 GB`; small numbers as they are.
    pub fn short(self, value: u128) -> String {
        if self == Self::Bytes {
            return Bytes(value).decimal();
        }
        let (number, prefix) = best(value, &Prefix::DECIMAL);
        match prefix {
            Prefix::One => number,
            _ => format!("{number} {}", prefix.letters()),
        }
    }
}

/// Digits in groups of three: `1,048,576,000`.
pub fn grouped(value: u128) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `value / prefix` with so many decimals (at most 15), rounded from the exact integer, ties to even.
pub fn scaled(value: u128, prefix: Prefix, decimals: usize) -> String {
    let unit = prefix.factor();
    let places = decimals.min(15);
    let ten = 10_u128.pow(places as u32);
    let (mut whole, rest) = (value / unit, (value % unit) * ten); // rest < 2^60 · 10^15 < 2^110
    let (mut fraction, left) = (rest / unit, rest % unit);
    let odd = if places == 0 { whole % 2 == 1 } else { fraction % 2 == 1 };
    if left * 2 > unit || (left * 2 == unit && odd) {
        fraction += 1;
    }
    whole += fraction / ten;
    fraction %= ten;
    match places {
        0 => whole.to_string(),
        _ => format!("{whole}.{fraction:0places$}"),
    }
}

/// The number with two decimals in the largest prefix in which it does not round to less than 1 or up to the next.
fn best(value: u128, prefixes: &[Prefix; 7]) -> (String, Prefix) {
    let mut chosen = prefixes[0];
    for pair in prefixes.windows(2) {
        // 999,999 B would read 1000.00 kB; what rounds up to a whole step belongs to the next unit.
        let rounds_up_at = pair[1].factor() - pair[0].factor() / 200;
        if value >= pair[1].factor() || (pair[0] != Prefix::One && value >= rounds_up_at) {
            chosen = pair[1];
        }
    }
    let decimals = if chosen == Prefix::One { 0 } else { 2 };
    (scaled(value, chosen, decimals), chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_read_differently_in_decimal_and_binary_units() {
        let cache = Bytes(1_048_576_000);
        assert_eq!(cache.decimal(), "1.05 GB");
        assert_eq!(cache.binary_beside_decimal(), "0.98 GiB");
        assert_eq!(cache.binary(), "1000.00 MiB");
        assert_eq!(cache.exact(), "1,048,576,000 B");
    }

    #[test]
    fn a_tie_goes_to_the_even_digit() {
        assert_eq!(Bytes(1_015_000_000).in_unit(Prefix::Giga, 2), "1.02 GB");
        assert_eq!(Bytes(1_025_000_000).in_unit(Prefix::Giga, 2), "1.02 GB");
        assert_eq!(Bytes(1_025_000_001).in_unit(Prefix::Giga, 2), "1.03 GB");
        assert_eq!(Bytes(2_500).in_unit(Prefix::Kilo, 0), "2 kB");
        assert_eq!(Bytes(3_500).in_unit(Prefix::Kilo, 0), "4 kB");
    }

    #[test]
    fn a_number_that_rounds_up_to_a_whole_step_takes_the_next_unit() {
        assert_eq!(Bytes(999_999).decimal(), "1.00 MB");
        assert_eq!(Bytes(999_994).decimal(), "999.99 kB");
        assert_eq!(Bytes(999).decimal(), "999 B");
        assert_eq!(Bytes((1 << 20) - 1).binary(), "1.00 MiB");
        assert_eq!(Bytes(0).decimal(), "0 B");
        assert_eq!(Bytes(0).binary_beside_decimal(), "0 B");
    }

    #[test]
    fn an_amount_of_memory_is_read_in_either_kind_of_unit() {
        let read = |text: &str| text.parse::<Bytes>().map(|bytes| bytes.0);
        assert_eq!(read("24 GiB"), Ok(24 << 30));
        assert_eq!(read("1.5GB"), Ok(1_500_000_000));
        assert_eq!(read("1,048,576,000 B"), Ok(1_048_576_000));
        assert_eq!(read("16k"), Ok(16_000));
        for wrong in ["", "GB", "12 XB", "1.2.3 GB", "-4 GB", "."] {
            assert_eq!(read(wrong).unwrap_err().code(), "NotAnAmount", "{wrong}");
        }
        assert_eq!(read("999999999999999999999999999999999 EB").unwrap_err().code(), "Overflow");
    }

    #[test]
    fn the_largest_integer_still_has_words() {
        assert!(Bytes(u128::MAX).decimal().ends_with(" EB"));
        assert!(Bytes(u128::MAX).binary().ends_with(" EiB"));
        assert_eq!(grouped(u128::MAX).matches(',').count(), 12);
    }
}

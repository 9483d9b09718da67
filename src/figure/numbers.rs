//! Numbers as text: fixed decimals, a real minus sign, and never a minus zero.

use std::fmt::Write as _;

/// How the numbers of one matrix are written, so that they line up and can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberFormat {
    /// Decimal places.
    pub decimals: usize,
}

/// From this magnitude on numbers are written with an exponent.
pub(super) const LARGE: f64 = 1e6;
/// More places than an `f64` holds would only print noise.
const MOST_DECIMALS: usize = 17;

impl NumberFormat {
    /// Always `decimals` places: for stages, which should not change their look while an input is dragged.
    pub fn fixed(decimals: usize) -> Self {
        Self { decimals: decimals.min(MOST_DECIMALS) }
    }

    /// As few decimals as write every finite number of the matrix in full, as one does by hand, and at most `decimals`.
    pub fn of_matrix(values: &[f64], decimals: usize) -> Self {
        let most = decimals.min(MOST_DECIMALS);
        let is_exact = |value: f64, places: usize| {
            let scaled = value * 10_f64.powi(places as i32);
            !value.is_finite() || (scaled - scaled.round()).abs() <= 1e-9 * scaled.abs()
        };
        // A matrix is looked at once: later numbers can only ask for more places.
        let mut places = 0;
        for value in values {
            while places < most && !is_exact(*value, places) {
                places += 1;
            }
        }
        Self { decimals: places }
    }

    /// Writes one number.
    pub fn write(self, value: f64) -> String {
        format_number(value, self.decimals)
    }
}

/// `value` with a fixed number of decimals, rounded to nearest (ties as the binary value falls).
///
/// The minus sign is U+2212. Nothing that rounds to zero keeps a sign. Magnitudes of a million and more are written with an
/// exponent (`−1e9`, `2.5e12`); NaN and infinities are `NaN`, `∞`, `−∞`.
pub fn format_number(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    if value.abs() >= LARGE {
        return with_exponent(value);
    }
    let decimals = decimals.min(MOST_DECIMALS);
    small_fixed(value, decimals).unwrap_or_else(|| exact_fixed(value, decimals))
}

/// The same by integer arithmetic, where that is certain to round as the exact decimal expansion does.
fn small_fixed(value: f64, decimals: usize) -> Option<String> {
    const POWERS: [u64; 7] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];
    let power = *POWERS.get(decimals)?;
    let scaled = value.abs() * power as f64;
    let rounded = scaled.round();
    // Near a tie the product's own rounding could decide; let the exact expansion do it.
    if ((scaled - rounded).abs() - 0.5).abs() < 1e-3 {
        return None;
    }
    let digits = rounded as u64;
    let mut text = String::with_capacity(16);
    if value < 0.0 && digits > 0 {
        text.push('−');
    }
    push_integer(&mut text, digits / power);
    if decimals > 0 {
        text.push('.');
        let mut place = power / 10;
        let fraction = digits % power;
        while place > 0 {
            text.push(char::from(b'0' + (fraction / place % 10) as u8));
            place /= 10;
        }
    }
    Some(text)
}

fn push_integer(text: &mut String, value: u64) {
    if value < 10 {
        text.push(char::from(b'0' + value as u8));
    } else {
        // Writing to a string cannot fail.
        let _ = write!(text, "{value}");
    }
}

fn exact_fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let zero = text.bytes().all(|byte| byte == b'0' || byte == b'.');
    if value < 0.0 && !zero { format!("−{text}") } else { text }
}

fn with_exponent(value: f64) -> String {
    let text = format!("{:.2e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{mantissa}e{exponent}")
}

/// An error or another small number with two significant digits: `0`, `5.3`, `0.57`, `0.0013` as `1.3e−3`.
pub(super) fn format_small(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format_number(value, 0);
    }
    if (0.01..1e4).contains(&value.abs()) {
        let before_the_point = value.abs().log10().floor() as i32;
        return format_number(value, usize::try_from(1 - before_the_point).unwrap_or(0));
    }
    format!("{value:.1e}").replace('-', "−")
}

/// `value` with as many decimals as it needs, at most `most`: for scales, factors and range ends (`2`, `1.4142`, `0.5`).
pub fn format_short(value: f64, most: usize) -> String {
    let text = format_number(value, most);
    if !text.contains('.') || text.contains('e') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minus_zero_never_shows() {
        for (value, expected) in [
            (-0.0, "0.0000"),
            (-1e-5, "0.0000"),
            (5e-5, "0.0001"),
            (0.999_95, "1.0000"),
            (1e-12, "0.0000"),
            (-0.7054, "−0.7054"),
        ] {
            assert_eq!(format_number(value, 4), expected, "{value}");
        }
        assert_eq!(format_number(-0.4, 0), "0");
        assert_eq!(format_number(-1e-9, 8), "0.00000000");
    }

    #[test]
    fn the_fast_way_rounds_as_the_exact_expansion_does() {
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = (state >> 11) as f64 / (1_u64 << 53) as f64 * 20.0 - 10.0;
            for decimals in 0..=6 {
                let exact = exact_fixed(value, decimals);
                assert_eq!(format_number(value, decimals), exact, "{value:?}");
            }
        }
    }

    #[test]
    fn what_is_no_number_has_its_own_glyph() {
        assert_eq!(format_number(f64::NAN, 4), "NaN");
        assert_eq!(format_number(f64::INFINITY, 4), "∞");
        assert_eq!(format_number(f64::NEG_INFINITY, 4), "−∞");
    }

    #[test]
    fn large_numbers_do_not_burst_their_cell() {
        assert_eq!(format_number(-1e9, 4), "−1e9");
        assert_eq!(format_number(2.5e12, 4), "2.5e12");
        assert_eq!(format_number(f64::MAX, 4), "1.8e308");
        assert_eq!(format_number(999_999.5, 0), "1000000");
    }

    #[test]
    fn small_numbers_keep_two_digits() {
        let written = [0.0, 0.001_34, -2.2e-16, 1.0, 0.0567, 531.4, 2e7, f64::NAN].map(format_small);
        assert_eq!(written, ["0", "1.3e−3", "−2.2e−16", "1.0", "0.057", "531", "2.0e7", "NaN"]);
    }

    #[test]
    fn matrices_are_written_with_as_few_decimals_as_by_hand() {
        assert_eq!(NumberFormat::of_matrix(&[1.0, 0.0, f64::NAN], 4).write(1.0), "1");
        assert_eq!(NumberFormat::of_matrix(&[1.0, 0.9, 0.25], 4).write(1.0), "1.00");
        assert_eq!(NumberFormat::of_matrix(&[1.0 / 3.0, 0.9], 4).write(0.9), "0.9000");
        assert_eq!(format_short(std::f64::consts::SQRT_2, 4), "1.4142");
        assert_eq!(format_short(2.0, 4), "2");
        assert_eq!(format_short(1e7, 4), "1e7");
    }
}

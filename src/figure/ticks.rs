//! Round numbers along an axis.

/// How an axis runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AxisScale {
    /// Equal steps are equal differences.
    #[default]
    Linear,
    /// Equal steps are doublings; for numbers of tokens.
    Log2,
    /// Equal steps are powers of ten.
    Log10,
}

impl AxisScale {
    /// Where a value lies along the axis, in units of the axis. Values that a logarithm does not know go to the far low end.
    pub fn position(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log2 => value.max(f64::MIN_POSITIVE).log2(),
            Self::Log10 => value.max(f64::MIN_POSITIVE).log10(),
        }
    }
}

/// About `n_wanted` round values from `low` to `high`, both included where they are round themselves.
///
/// Linear axes step by 1, 2 or 5 times a power of ten, logarithmic ones by whole powers. A range that is empty, unordered or not
/// finite has no ticks, except that a single value is its own tick.
pub fn ticks(low: f64, high: f64, n_wanted: usize, scale: AxisScale) -> Vec<f64> {
    if !low.is_finite() || !high.is_finite() || low > high || n_wanted == 0 {
        return Vec::new();
    }
    if low == high {
        return vec![low];
    }
    match scale {
        AxisScale::Linear => multiples(low, high, round_step((high - low) / n_wanted as f64)),
        AxisScale::Log2 => powers(2.0, low, high, n_wanted),
        AxisScale::Log10 => powers(10.0, low, high, n_wanted),
    }
}

/// The smallest of 1, 2, 5, 10 times a power of ten that is not below `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let mantissa = rough / power;
    // A hair of tolerance: 0.2 / 0.1 must not become 5.
    [1.0, 2.0, 5.0].into_iter().find(|step| mantissa <= step * (1.0 + 1e-9)).unwrap_or(10.0) * power
}

fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    if !step.is_finite() || step <= 0.0 {
        return Vec::new();
    }
    let first = (low / step - 1e-9).ceil();
    let n = ((high / step + 1e-9).floor() - first).clamp(-1.0, 1000.0);
    let tick = |i: i64| {
        let value = (first + i as f64) * step;
        // 3 · 0.1 is 0.30000000000000004; the division is exact where the step has an exact reciprocal.
        if step < 1.0 { (first + i as f64) / (1.0 / step).round() } else { value }
    };
    (0..=n as i64).map(|i| tick(i) + 0.0).collect()
}

fn powers(base: f64, low: f64, high: f64, n_wanted: usize) -> Vec<f64> {
    if high <= 0.0 {
        return Vec::new();
    }
    let scale = if base == 2.0 { AxisScale::Log2 } else { AxisScale::Log10 };
    let last = (scale.position(high) + 1e-9).floor() as i32;
    let first = (scale.position(low) - 1e-9).ceil().max(f64::from(last) - 400.0) as i32;
    let every = ((last - first) as f64 / n_wanted as f64).ceil().max(1.0) as usize;
    (first..=last).step_by(every).map(|exponent| base.powi(exponent)).collect()
}

/// A tick as text: plain up to 9999, then with k, M, G, T; small ones with as many decimals as they need.
pub fn tick_label(value: f64) -> String {
    for (factor, suffix) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")] {
        if value.abs() >= factor {
            let unit = if suffix == "k" { 1e3 } else { factor };
            return format!("{}{suffix}", super::format_short(value / unit, 2));
        }
    }
    if value != 0.0 && value.abs() < 1e-4 {
        return format!("{value:e}").replace('-', "−");
    }
    super::format_short(value, 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_inside() {
        assert_eq!(ticks(0.0, 4096.0, 4, AxisScale::Linear), [0.0, 2000.0, 4000.0]);
        assert_eq!(ticks(0.0, 1.0, 5, AxisScale::Linear), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(ticks(-0.3, 0.3, 3, AxisScale::Linear), [-0.2, 0.0, 0.2]);
        assert_eq!(ticks(7.0, 7.0, 5, AxisScale::Linear), [7.0]);
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        assert_eq!(ticks(256.0, 4096.0, 5, AxisScale::Log2), [256.0, 512.0, 1024.0, 2048.0, 4096.0]);
        assert_eq!(ticks(1.0, 1e6, 3, AxisScale::Log10), [1.0, 100.0, 1e4, 1e6]);
    }

    #[test]
    fn odd_ranges_neither_panic_nor_run_away() {
        for (low, high) in
            [(f64::NAN, 1.0), (1.0, 0.0), (0.0, f64::INFINITY), (-5.0, -1.0), (0.0, 5e-324), (0.0, f64::MAX)]
        {
            for scale in [AxisScale::Linear, AxisScale::Log2, AxisScale::Log10] {
                assert!(ticks(low, high, 6, scale).len() <= 1001, "{low} {high} {scale:?}");
            }
        }
    }

    #[test]
    fn tick_labels_are_short() {
        for (value, expected) in [
            (0.0, "0"),
            (4096.0, "4096"),
            (16384.0, "16.38k"),
            (2e6, "2M"),
            (1.5e9, "1.5G"),
            (0.25, "0.25"),
            (-3.0, "−3"),
        ] {
            assert_eq!(tick_label(value), expected);
        }
    }
}

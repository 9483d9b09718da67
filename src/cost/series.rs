//! Curves for plots. Made once for a revision and kept; never made in a frame.

use super::growth::at_length;
use super::{
    AdditiveInputs, ComplexityInputs, ComplexityReport, Configuration, CostError, GenerationInputs,
    GenerationMode, Hardware, Unit, linear_attention, score_memory, tiled_memory,
};

/// A named curve: exact values over a number of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostSeries {
    /// Its name for the legend.
    pub name: String,
    /// What the values count.
    pub unit: Unit,
    /// (tokens, value), in rising order of tokens.
    pub points: Vec<(u64, u128)>,
}

impl CostSeries {
    /// Bytes of the cache at `points` lengths over 0 ..= `max_tokens`; lengths at which a window fills are added, so that
    /// the bends are where they belong.
    pub fn memory(configuration: &Configuration, max_tokens: u64, points: usize) -> Result<Self, CostError> {
        let plan = configuration.plan()?;
        let mut lengths: Vec<u64> = spread(max_tokens, points).collect();
        lengths.extend(plan.bends().into_iter().filter(|bend| *bend <= max_tokens));
        lengths.sort_unstable();
        lengths.dedup();
        let point = |tokens: u64| Ok((tokens, plan.bytes(tokens, configuration.sequences)?.0));
        let points = lengths.into_iter().map(point).collect::<Result<_, _>>()?;
        Ok(Self { name: configuration.name.clone(), unit: Unit::Bytes, points })
    }

    /// Any count at these lengths.
    pub fn of(
        name: &str,
        unit: Unit,
        lengths: &[u64],
        count: impl Fn(u64) -> Result<u128, CostError>,
    ) -> Result<Self, CostError> {
        let points = lengths.iter().map(|length| Ok((*length, count(*length)?))).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), unit, points })
    }

    /// Scores and mix, or all multiply-adds, at lengths that grow by the same factor: for two logarithmic axes.
    pub fn arithmetic(
        name: &str,
        inputs: &ComplexityInputs,
        lengths: &[u64],
        with_projections: bool,
    ) -> Result<Self, CostError> {
        Self::of(name, Unit::Macs, lengths, |tokens| {
            let report = ComplexityReport::new(&at_length(inputs, tokens))?;
            Ok(if with_projections { report.total.value } else { report.attention.value })
        })
    }

    /// Multiply-adds of each step of a generation, at most `limit` steps.
    pub fn steps(inputs: &GenerationInputs, mode: GenerationMode, limit: usize) -> Result<Self, CostError> {
        let steps = inputs.steps(mode, limit)?;
        let point = |step: &super::GenerationStep| {
            let sum = step.projections.0.checked_add(step.attention.0);
            let overflow = CostError::Overflow { field: super::Field::NewTokens, bits: 128 };
            sum.map(|macs| (step.tokens, macs)).ok_or(overflow)
        };
        let points = steps.iter().map(point).collect::<Result<_, _>>()?;
        Ok(Self { name: mode.label().to_owned(), unit: Unit::Macs, points })
    }
}

/// Multiply-adds of scores and mix of one head in four ways, for two logarithmic axes: every pair, a causal window, additive
/// scores of hidden width `d_a`, and linear attention with features as wide as the keys.
pub fn scorer_series(d: u64, d_a: u64, window: u64, lengths: &[u64]) -> Result<Vec<CostSeries>, CostError> {
    let dense = ComplexityInputs { d_k: d, d_v: d, ..ComplexityInputs::default() };
    let windowed = ComplexityInputs { causal: true, window: Some(window), ..dense };
    let additive = |n: u64| {
        let costs = AdditiveInputs { n_q: n, n_k: n, d_q: d, d_k: d, d_a, bytes_per_value: 4 }.costs()?;
        let parts = [("pair_macs", "products"), ("precompute_macs", "projections"), ("dot_macs", "mix")];
        // The mix of values as wide as the keys costs what a dot product costs.
        costs.sum_of(&parts).value()
    };
    let linear = |n: u64| Ok(linear_attention(n, d, d)?.value("linear_macs"));
    Ok(vec![
        CostSeries::arithmetic("every pair", &dense, lengths, false)?,
        CostSeries::arithmetic("causal window", &windowed, lengths, false)?,
        CostSeries::of("additive scores", Unit::Macs, lengths, additive)?,
        CostSeries::of("linear attention", Unit::Macs, lengths, linear)?,
    ])
}

/// Bytes beside the inputs: score matrices kept in full, and the output and row statistics of a tiled kernel.
pub fn score_memory_series(
    heads: u64,
    d_v: u64,
    bytes_per_value: u64,
    lengths: &[u64],
) -> Result<Vec<CostSeries>, CostError> {
    let kept = |n: u64| Ok(score_memory((n, n), heads, bytes_per_value, 1)?.value("total_bytes"));
    let tiled = |n: u64| {
        let parts = [("output_bytes", "output"), ("extra_bytes", "statistics")];
        tiled_memory(n, d_v, heads, bytes_per_value)?.sum_of(&parts).value()
    };
    Ok(vec![
        CostSeries::of("scores kept", Unit::Bytes, lengths, kept)?,
        CostSeries::of("tiled: output and statistics", Unit::Bytes, lengths, tiled)?,
    ])
}

/// `points` whole numbers spread evenly over 0 ..= `max`, both ends included, without repeats.
pub fn spread(max: u64, points: usize) -> impl Iterator<Item = u64> {
    let steps = u128::try_from(points.saturating_sub(1)).unwrap_or(1).max(1);
    // More steps than numbers would only repeat them.
    let steps = steps.min(u128::from(max).max(1));
    let mut before = None;
    (0..=steps)
        // max < 2^64 and step ≤ steps < 2^64: the product fits into 128 bits.
        .map(move |step| u64::try_from(u128::from(max) * step / steps).unwrap_or(max))
        .filter(move |place| before.replace(*place) != Some(*place))
}

/// Powers of two from `first` up to `last`, and `last` itself.
pub fn doublings(first: u64, last: u64) -> Vec<u64> {
    let mut lengths: Vec<u64> = std::iter::successors(Some(first.max(1)), |length| length.checked_mul(2))
        .take_while(|length| *length < last)
        .collect();
    lengths.push(last);
    lengths
}

/// (FLOPs for a byte, FLOPs a second) along the roof of a machine, intensities growing by the same factor.
pub fn roofline(hardware: &Hardware, (least, most): (f64, f64), points: usize) -> Vec<(f64, f64)> {
    let steps = points.saturating_sub(1).max(1);
    let (low, high) = (least.max(f64::MIN_POSITIVE).ln(), most.max(f64::MIN_POSITIVE).ln());
    (0..=steps)
        .map(|step| (low + (high - low) * step as f64 / steps as f64).exp())
        .map(|intensity| (intensity, hardware.attainable(intensity)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_spread_from_end_to_end_without_repeats() {
        assert_eq!(spread(10, 3).collect::<Vec<_>>(), [0, 5, 10]);
        assert_eq!(spread(2, 1000).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(spread(0, 5).collect::<Vec<_>>(), [0]);
        assert_eq!(spread(u64::MAX, 2).collect::<Vec<_>>(), [0, u64::MAX]);
        assert_eq!(doublings(256, 3000), [256, 512, 1024, 2048, 3000]);
    }

    #[test]
    fn a_window_and_linear_attention_grow_in_step_with_the_length_and_the_others_with_its_square() {
        let series = scorer_series(64, 32, 128, &[1 << 14, 1 << 15]).unwrap();
        let growth: Vec<f64> =
            series.iter().map(|curve| curve.points[1].1 as f64 / curve.points[0].1 as f64).collect();
        assert_eq!(growth[0], 4.0);
        assert!((growth[1] - 2.0).abs() < 0.01 && growth[3] == 2.0, "{growth:?}");
        assert!((growth[2] - 4.0).abs() < 0.01, "{growth:?}");
        let memory = score_memory_series(32, 128, 2, &[2000]).unwrap();
        assert_eq!((memory[0].points[0].1, memory[1].points[0].1), (256_000_000, 16_384_000 + 256_000));
    }

    #[test]
    fn the_roof_is_flat_right_of_the_ridge_and_rises_left_of_it() {
        let machine = &Hardware::rows()[0];
        let ridge = machine.ridge().unwrap().to_f64();
        let roof = roofline(machine, (ridge / 4.0, ridge * 4.0), 9);
        assert!(roof[..4].windows(2).all(|pair| pair[0].1 < pair[1].1));
        assert!(roof[5..].iter().all(|(_, flops)| *flops == machine.peak_flops as f64));
    }
}

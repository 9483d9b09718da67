//! Curves for plots. Made once for a revision and kept; never made in a frame.

use super::complexity::at_length;
use super::{
    ComplexityInputs, ComplexityReport, Configuration, CostError, GenerationInputs, GenerationMode, Hardware,
    Unit,
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

    /// Scores and mix, or all multiply-adds, at lengths that grow by the same factor: for two logarithmic axes.
    pub fn arithmetic(
        name: &str,
        inputs: &ComplexityInputs,
        lengths: &[u64],
        with_projections: bool,
    ) -> Result<Self, CostError> {
        let point = |tokens: &u64| {
            let report = ComplexityReport::new(&at_length(inputs, *tokens))?;
            let quantity = if with_projections { report.total } else { report.attention };
            Ok((*tokens, quantity.value))
        };
        let points = lengths.iter().map(point).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), unit: Unit::Macs, points })
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
    fn the_roof_is_flat_right_of_the_ridge_and_rises_left_of_it() {
        let machine = &Hardware::rows()[0];
        let ridge = machine.ridge().unwrap().to_f64();
        let roof = roofline(machine, (ridge / 4.0, ridge * 4.0), 9);
        assert!(roof[..4].windows(2).all(|pair| pair[0].1 < pair[1].1));
        assert!(roof[5..].iter().all(|(_, flops)| *flops == machine.peak_flops as f64));
    }
}

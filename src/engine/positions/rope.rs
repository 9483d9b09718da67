//! Rotary position embedding (Su et al., 2021): queries and keys are turned by an angle that grows with their position, so that
//! their dot product depends on how far apart they stand.

use super::super::Matrix;

/// Which two features are turned together. Weights trained for one layout give other numbers under the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RopeLayout {
    /// Feature f with feature f + d/2.
    #[default]
    HalfSplit,
    /// Neighbours: feature 2f with feature 2f + 1, as the paper writes it.
    Interleaved,
}

impl RopeLayout {
    /// The two features of pair `pair` of d/2, both from 0.
    pub fn pair(self, pair: usize, d: usize) -> (usize, usize) {
        match self {
            Self::HalfSplit => (pair, pair + d / 2),
            Self::Interleaved => (2 * pair, 2 * pair + 1),
        }
    }
}

/// Features that cannot be taken in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a width of {width} cannot be turned in pairs; rotary positions need an even width")]
pub struct OddWidth {
    /// The width.
    pub width: usize,
}

/// By how many radians each pair turns from one position to the next: base^(−2f/d) for pair f of d/2.
pub fn rope_frequencies(d: usize, base: f64) -> Vec<f64> {
    (0..d / 2).map(|pair| base.powf(-2.0 * pair as f64 / d as f64)).collect()
}

/// The rows of `x` turned; row i stands at `first_position` + i. Same shape as `x`.
///
/// The pair (a, b) becomes (a·cos θ − b·sin θ, a·sin θ + b·cos θ) with θ = position · frequency. Position 0 changes nothing.
///
/// # Errors
/// [`OddWidth`] when the features of `x` cannot be taken in pairs.
pub fn rope(x: &Matrix, base: f64, layout: RopeLayout, first_position: i64) -> Result<Matrix, OddWidth> {
    let d = x.cols();
    if !d.is_multiple_of(2) {
        return Err(OddWidth { width: d });
    }
    let frequencies = rope_frequencies(d, base);
    let mut turned = Matrix::zeros(x.rows(), d);
    for (row, features) in x.iter_rows().enumerate() {
        let position = first_position as f64 + row as f64;
        for (pair, frequency) in frequencies.iter().enumerate() {
            let (first, second) = layout.pair(pair, d);
            let (a, b) = (features[first], features[second]);
            let (sin, cos) = (position * frequency).sin_cos();
            turned.set(row, first, a * cos - b * sin + 0.0);
            turned.set(row, second, a * sin + b * cos + 0.0);
        }
    }
    Ok(turned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_width_is_refused_in_words() {
        let error = rope(&Matrix::zeros(2, 3), 1e4, RopeLayout::HalfSplit, 0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a width of 3 cannot be turned in pairs; rotary positions need an even width"
        );
    }

    #[test]
    fn scores_depend_only_on_the_distance() {
        let q = Matrix::from_rows(&[[0.3, -1.2, 0.7, 2.0]]).unwrap();
        let k = Matrix::from_rows(&[[1.1, 0.4, -0.5, 0.9]]).unwrap();
        for layout in [RopeLayout::HalfSplit, RopeLayout::Interleaved] {
            let score = |query, key| {
                let turned = |x, position| rope(x, 1e4, layout, position).unwrap();
                turned(&q, query).matmul(&turned(&k, key).transpose()).get(0, 0)
            };
            assert!((score(5, 2) - score(103, 100)).abs() < 1e-12);
            assert!((score(5, 2) - score(5, 3)).abs() > 1e-3);
        }
    }
}

//! Which query may see which key, and what is added to the score.

use super::Matrix;

/// Which corner a causal mask is aligned to when n_q ≠ n_k.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Corner {
    /// Key j is visible to query i when j ≤ i + `position_offset`.
    #[default]
    TopLeft,
    /// Key j is visible to query i when j ≤ i + n_k − n_q; the last query sees every key.
    BottomRight,
}

/// What `true` means in a boolean mask. Libraries disagree, so a scene has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// `true` = this query may attend to this key.
    TrueAllows,
    /// `true` = this key is hidden from this query.
    TrueBlocks,
}

/// One layer of a mask. All layers must allow a pair (they are ANDed); additive layers are summed.
#[derive(Clone, Debug, PartialEq)]
pub enum MaskRule {
    /// No key later than the query.
    Causal(Corner),
    /// Only the first so many keys are real; the rest is padding at the right.
    ValidKeys(usize),
    /// `true` marks a padding key, one entry per key.
    PaddedKeys(Vec<bool>),
    /// Keys at most `left` before and `right` after the query, **besides** the query's own position. `None` is unbounded.
    Window {
        /// How many keys before the query's own position.
        left: Option<usize>,
        /// How many keys after it.
        right: Option<usize>,
    },
    /// The document that each position belongs to; a query sees only keys of its own document.
    Documents(Vec<i64>),
    /// The first so many keys are visible to every query, whatever a `Causal` layer says.
    Prefix(usize),
    /// Positions whose row and column stay visible through `Window` and `Strided`.
    Global(Vec<usize>),
    /// Keys whose distance to the query is a multiple of the stride.
    Strided(usize),
    /// An explicit boolean mask, one row per query.
    Matrix {
        /// What `true` means.
        convention: Convention,
        /// One row per query, one entry per key.
        rows: Vec<Vec<bool>>,
    },
    /// Added to the scaled scores; −∞ blocks. Shape (n_q, n_k).
    Additive(Matrix),
    /// Attention with linear biases: adds slope · (key position − query position), with one slope per query head.
    Alibi(Vec<f64>),
    /// An explicit boolean mask for each query head.
    MatrixPerHead {
        /// What `true` means.
        convention: Convention,
        /// For each query head, one row per query.
        heads: Vec<Vec<Vec<bool>>>,
    },
    /// An additive mask for each query head, each of shape (n_q, n_k).
    AdditivePerHead(Vec<Matrix>),
}

impl MaskRule {
    /// Whether this is an additive mask that holds only 0 and 1: most likely a boolean mask given in the wrong place, which
    /// hides nothing.
    pub fn is_additive_of_zeros_and_ones(&self) -> bool {
        let zeros_and_ones = |matrix: &Matrix| matrix.data().iter().all(|&bias| bias == 0.0 || bias == 1.0);
        let has_a_one = |matrix: &Matrix| matrix.data().contains(&1.0);
        match self {
            Self::Additive(matrix) => zeros_and_ones(matrix) && has_a_one(matrix),
            Self::AdditivePerHead(heads) => heads.iter().all(zeros_and_ones) && heads.iter().any(has_a_one),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_additive_mask_of_zeros_and_ones_is_suspicious() {
        let triangle = Matrix::from_fn(3, 3, |query, key| if key <= query { 1.0 } else { 0.0 });
        assert!(MaskRule::Additive(triangle.clone()).is_additive_of_zeros_and_ones());
        assert!(
            MaskRule::AdditivePerHead(vec![Matrix::zeros(3, 3), triangle]).is_additive_of_zeros_and_ones()
        );
        assert!(!MaskRule::Additive(Matrix::zeros(3, 3)).is_additive_of_zeros_and_ones());
        let bias = Matrix::from_fn(3, 3, |_, key| key as f64);
        assert!(!MaskRule::Additive(bias).is_additive_of_zeros_and_ones());
        assert!(!MaskRule::ValidKeys(1).is_additive_of_zeros_and_ones());
    }
}

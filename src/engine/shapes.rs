//! Whether the matrices of one head fit together.

use super::{HeadInput, Scoring};

/// Two sizes that have to be equal and are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadShapeError {
    /// K and V have different numbers of rows.
    #[error("there are {n_k} keys but {n_v} values; every key needs exactly one value")]
    Values {
        /// Rows of K.
        n_k: usize,
        /// Rows of V.
        n_v: usize,
    },
    /// Q and K have different widths under a dot product.
    #[error("queries are {d_q} wide but keys are {d_k} wide; a dot product needs equal widths")]
    Widths {
        /// Columns of Q.
        d_q: usize,
        /// Columns of K.
        d_k: usize,
    },
    /// A matrix of the scorer does not take what it is given.
    #[error(
        "{matrix} of the scorer is {rows} × {cols} where {expected_rows} × {expected_cols} is needed for queries {d_q} wide and keys {d_k} wide"
    )]
    Scorer {
        /// The name of the matrix: `W_q`, `W_k` or `W`.
        matrix: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
        /// The rows that it should have.
        expected_rows: usize,
        /// The columns that it should have.
        expected_cols: usize,
        /// Columns of Q.
        d_q: usize,
        /// Columns of K.
        d_k: usize,
    },
    /// The vector of the additive scorer has another length than its hidden layer.
    #[error(
        "v of the scorer has {found} numbers but W_q has {d_att} rows; they need one number per hidden unit"
    )]
    ScorerVector {
        /// Rows of W_q.
        d_att: usize,
        /// Numbers in v.
        found: usize,
    },
}

/// Multiply-adds from which a head is large.
const LARGE_MACS: usize = 1 << 20;

impl HeadInput {
    /// Multiply-adds of the scores and of the output: n_q · n_k · (d_k + d_v); no more than can be counted.
    pub fn macs(&self) -> usize {
        let pairs = self.q.rows().saturating_mul(self.k.rows());
        pairs.saturating_mul(self.k.cols().saturating_add(self.v.cols()))
    }

    /// Whether the time that the [fast form](super::attend_fast) saves is worth its rounding, which differs in the last bits.
    pub fn is_large(&self) -> bool {
        self.macs() > LARGE_MACS
    }

    /// Whether Q, K, V and the scorer's own matrices fit together.
    ///
    /// # Errors
    /// The first pair of sizes that should be equal and is not.
    pub fn check(&self, scoring: &Scoring) -> Result<(), HeadShapeError> {
        let Self { q, k, v } = self;
        let (d_q, d_k) = (q.cols(), k.cols());
        if k.rows() != v.rows() {
            return Err(HeadShapeError::Values { n_k: k.rows(), n_v: v.rows() });
        }
        let scorer = |matrix, found: &super::Matrix, expected_rows, expected_cols| {
            let (rows, cols) = (found.rows(), found.cols());
            if (rows, cols) == (expected_rows, expected_cols) {
                return Ok(());
            }
            Err(HeadShapeError::Scorer { matrix, rows, cols, expected_rows, expected_cols, d_q, d_k })
        };
        match scoring {
            Scoring::ScaledDot | Scoring::Dot | Scoring::Scale(_) if d_q == d_k => Ok(()),
            Scoring::ScaledDot | Scoring::Dot | Scoring::Scale(_) => Err(HeadShapeError::Widths { d_q, d_k }),
            Scoring::General { w } => scorer("W", w, d_q, d_k),
            Scoring::Additive { w_q, w_k, v } => {
                let d_att = w_q.rows();
                scorer("W_q", w_q, d_att, d_q)?;
                scorer("W_k", w_k, d_att, d_k)?;
                if v.len() == d_att {
                    Ok(())
                } else {
                    Err(HeadShapeError::ScorerVector { d_att, found: v.len() })
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Matrix;
    use super::*;

    fn zeros(rows: usize, cols: usize) -> Arc<Matrix> {
        Arc::new(Matrix::zeros(rows, cols))
    }

    #[test]
    fn a_key_without_a_value_is_refused() {
        let input = HeadInput { q: zeros(2, 3), k: zeros(4, 3), v: zeros(5, 2) };
        let error = input.check(&Scoring::ScaledDot).unwrap_err();
        assert_eq!(error.to_string(), "there are 4 keys but 5 values; every key needs exactly one value");
    }

    #[test]
    fn queries_and_keys_of_different_widths_need_a_scorer_that_joins_them() {
        let input = HeadInput { q: zeros(2, 3), k: zeros(4, 5), v: zeros(4, 2) };
        assert_eq!(
            input.check(&Scoring::Dot).unwrap_err().to_string(),
            "queries are 3 wide but keys are 5 wide; a dot product needs equal widths"
        );
        assert_eq!(input.check(&Scoring::General { w: zeros(3, 5) }), Ok(()));
        let additive =
            |d_k| Scoring::Additive { w_q: zeros(8, 3), w_k: zeros(8, d_k), v: Arc::new(vec![0.0; 8]) };
        assert_eq!(input.check(&additive(5)), Ok(()));
        assert_eq!(
            input.check(&additive(4)).unwrap_err().to_string(),
            "W_k of the scorer is 8 × 4 where 8 × 5 is needed for queries 3 wide and keys 5 wide"
        );
    }
}

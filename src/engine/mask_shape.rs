//! Whether a mask layer fits the head that it is laid over.

use super::{MaskRule, Matrix};

/// Why a mask layer does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MaskShapeError {
    /// More valid keys than keys.
    #[error("{n_valid} keys are called valid but there are {n_k} keys")]
    ValidKeys {
        /// Keys called valid.
        n_valid: usize,
        /// Keys there are.
        n_k: usize,
    },
    /// A padding list of another length than the keys.
    #[error(
        "the padding list has {found} entries but there are {n_k} keys; every key needs exactly one entry"
    )]
    Padding {
        /// Entries found.
        found: usize,
        /// Keys there are.
        n_k: usize,
    },
    /// A document list of another length than the positions.
    #[error(
        "the document list has {found} entries but there are {n_positions} positions; every position needs exactly one entry"
    )]
    Documents {
        /// Entries found.
        found: usize,
        /// The larger of queries and keys.
        n_positions: usize,
    },
    /// A prefix longer than the keys.
    #[error("the prefix covers {n_prefix} keys but there are {n_k} keys")]
    Prefix {
        /// Keys covered.
        n_prefix: usize,
        /// Keys there are.
        n_k: usize,
    },
    /// A global position that does not exist.
    #[error("position {position} is called global but there are {n_positions} positions, counted from 0")]
    Global {
        /// The position, from 0.
        position: usize,
        /// The larger of queries and keys.
        n_positions: usize,
    },
    /// A stride of 0.
    #[error("a stride of 0 would leave every query only itself; a stride has to be at least 1")]
    Stride,
    /// Another number of rows than queries.
    #[error("the mask{} has {found} rows but there are {n_q} queries; every query needs exactly one row", of_head(*.head))]
    Rows {
        /// Which query head the mask is for, from 0, where there is one per head.
        head: Option<usize>,
        /// Rows found.
        found: usize,
        /// Queries there are.
        n_q: usize,
    },
    /// A row of another length than the keys.
    #[error("row {} of the mask{} has {found} entries but there are {n_k} keys; every key needs exactly one entry", row + 1, of_head(*.head))]
    Row {
        /// Which query head the mask is for, from 0, where there is one per head.
        head: Option<usize>,
        /// The row, from 0.
        row: usize,
        /// Entries found.
        found: usize,
        /// Keys there are.
        n_k: usize,
    },
    /// Another number of masks than query heads.
    #[error("there are {found} masks for {heads} query heads; every query head needs exactly one mask")]
    Heads {
        /// Masks found.
        found: usize,
        /// Query heads there are.
        heads: usize,
    },
    /// Another number of ALiBi slopes than query heads.
    #[error(
        "there are {found} ALiBi slopes for {heads} query heads; every query head needs exactly one slope"
    )]
    Slopes {
        /// Slopes found.
        found: usize,
        /// Query heads there are.
        heads: usize,
    },
    /// A slope that is NaN or infinite.
    #[error("the ALiBi slope of head {} is not finite; distances are multiplied by it", head + 1)]
    Slope {
        /// Which query head, from 0.
        head: usize,
    },
}

fn of_head(head: Option<usize>) -> String {
    head.map_or_else(String::new, |head| format!(" of head {}", head + 1))
}

impl MaskRule {
    /// Whether this layer fits `n_q` queries, `n_k` keys and `heads` query heads.
    ///
    /// # Errors
    /// What does not fit, with the sizes expected and found.
    pub fn check_shape(&self, n_q: usize, n_k: usize, heads: usize) -> Result<(), MaskShapeError> {
        let n_positions = n_q.max(n_k);
        match self {
            Self::Causal(_) | Self::Window { .. } => Ok(()),
            Self::ValidKeys(n_valid) => {
                let n_valid = *n_valid;
                ok_if(n_valid <= n_k, MaskShapeError::ValidKeys { n_valid, n_k })
            }
            Self::PaddedKeys(padding) => {
                let found = padding.len();
                ok_if(found == n_k, MaskShapeError::Padding { found, n_k })
            }
            Self::Documents(documents) => {
                let found = documents.len();
                ok_if(found == n_positions, MaskShapeError::Documents { found, n_positions })
            }
            Self::Prefix(n_prefix) => {
                let n_prefix = *n_prefix;
                ok_if(n_prefix <= n_k, MaskShapeError::Prefix { n_prefix, n_k })
            }
            Self::Global(positions) => match positions.iter().find(|&&position| position >= n_positions) {
                Some(&position) => Err(MaskShapeError::Global { position, n_positions }),
                None => Ok(()),
            },
            Self::Strided(stride) => ok_if(*stride > 0, MaskShapeError::Stride),
            Self::Matrix { rows, .. } => check_rows(rows, None, n_q, n_k),
            Self::Additive(matrix) => check_matrix(matrix, None, n_q, n_k),
            Self::Alibi(slopes) => check_slopes(slopes, heads),
            Self::MatrixPerHead { heads: masks, .. } => {
                check_each(masks, heads, |mask, head| check_rows(mask, head, n_q, n_k))
            }
            Self::AdditivePerHead(masks) => {
                check_each(masks, heads, |mask, head| check_matrix(mask, head, n_q, n_k))
            }
        }
    }
}

fn check_slopes(slopes: &[f64], heads: usize) -> Result<(), MaskShapeError> {
    let found = slopes.len();
    ok_if(found == heads, MaskShapeError::Slopes { found, heads })?;
    match slopes.iter().position(|slope| !slope.is_finite()) {
        Some(head) => Err(MaskShapeError::Slope { head }),
        None => Ok(()),
    }
}

fn ok_if(fits: bool, error: MaskShapeError) -> Result<(), MaskShapeError> {
    if fits { Ok(()) } else { Err(error) }
}

fn check_each<M>(
    masks: &[M],
    heads: usize,
    check: impl Fn(&M, Option<usize>) -> Result<(), MaskShapeError>,
) -> Result<(), MaskShapeError> {
    ok_if(masks.len() == heads, MaskShapeError::Heads { found: masks.len(), heads })?;
    masks.iter().enumerate().try_for_each(|(head, mask)| check(mask, Some(head)))
}

fn check_rows(rows: &[Vec<bool>], head: Option<usize>, n_q: usize, n_k: usize) -> Result<(), MaskShapeError> {
    ok_if(rows.len() == n_q, MaskShapeError::Rows { head, found: rows.len(), n_q })?;
    match rows.iter().position(|row| row.len() != n_k) {
        Some(row) => Err(MaskShapeError::Row { head, row, found: rows[row].len(), n_k }),
        None => Ok(()),
    }
}

fn check_matrix(matrix: &Matrix, head: Option<usize>, n_q: usize, n_k: usize) -> Result<(), MaskShapeError> {
    ok_if(matrix.rows() == n_q, MaskShapeError::Rows { head, found: matrix.rows(), n_q })?;
    ok_if(n_q == 0 || matrix.cols() == n_k, MaskShapeError::Row { head, row: 0, found: matrix.cols(), n_k })
}

#[cfg(test)]
mod tests {
    use super::super::{Convention, Corner};
    use super::*;

    #[test]
    fn a_layer_that_fits_is_accepted() {
        let rows = vec![vec![true; 3]; 2];
        let fitting = [
            MaskRule::Causal(Corner::TopLeft),
            MaskRule::ValidKeys(3),
            MaskRule::PaddedKeys(vec![false; 3]),
            MaskRule::Window { left: Some(7), right: None },
            MaskRule::Documents(vec![0, 0, 1]),
            MaskRule::Prefix(3),
            MaskRule::Global(vec![0, 2]),
            MaskRule::Strided(1),
            MaskRule::Matrix { convention: Convention::TrueAllows, rows: rows.clone() },
            MaskRule::Additive(Matrix::zeros(2, 3)),
            MaskRule::MatrixPerHead { convention: Convention::TrueBlocks, heads: vec![rows.clone(), rows] },
            MaskRule::AdditivePerHead(vec![Matrix::zeros(2, 3); 2]),
        ];
        for rule in fitting {
            assert_eq!(rule.check_shape(2, 3, 2), Ok(()), "{rule:?}");
        }
    }

    #[test]
    fn a_layer_that_does_not_fit_says_what_was_expected_and_found() {
        let rows = |n_rows, n_cols| vec![vec![true; n_cols]; n_rows];
        let matrix = |rows| MaskRule::Matrix { convention: Convention::TrueAllows, rows };
        let cases = [
            (MaskRule::ValidKeys(4), "4 keys are called valid but there are 3 keys"),
            (
                MaskRule::PaddedKeys(vec![true; 2]),
                "the padding list has 2 entries but there are 3 keys; every key needs exactly one entry",
            ),
            (
                MaskRule::Documents(vec![0; 4]),
                "the document list has 4 entries but there are 3 positions; every position needs exactly one entry",
            ),
            (MaskRule::Prefix(5), "the prefix covers 5 keys but there are 3 keys"),
            (
                MaskRule::Global(vec![0, 3]),
                "position 3 is called global but there are 3 positions, counted from 0",
            ),
            (
                MaskRule::Strided(0),
                "a stride of 0 would leave every query only itself; a stride has to be at least 1",
            ),
            (
                matrix(rows(3, 3)),
                "the mask has 3 rows but there are 2 queries; every query needs exactly one row",
            ),
            (
                matrix(vec![vec![true; 3], vec![true; 2]]),
                "row 2 of the mask has 2 entries but there are 3 keys; every key needs exactly one entry",
            ),
            (
                MaskRule::AdditivePerHead(vec![Matrix::zeros(2, 3), Matrix::zeros(2, 4)]),
                "row 1 of the mask of head 2 has 4 entries but there are 3 keys; every key needs exactly one entry",
            ),
            (
                MaskRule::AdditivePerHead(vec![Matrix::zeros(2, 3)]),
                "there are 1 masks for 2 query heads; every query head needs exactly one mask",
            ),
        ];
        for (rule, sentence) in cases {
            assert_eq!(rule.check_shape(2, 3, 2).unwrap_err().to_string(), sentence);
        }
    }
}

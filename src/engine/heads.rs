//! From hidden states to heads and back: y = x·W + b, split by columns, side by side again.

use super::Matrix;

/// Heads that do not divide what they should divide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadsError {
    /// Query heads cannot share the KV heads evenly.
    #[error(
        "{heads} query heads cannot share {kv_heads} KV heads evenly; heads has to be a multiple of kv_heads"
    )]
    KvHeads {
        /// Query heads.
        heads: usize,
        /// KV heads.
        kv_heads: usize,
    },
    /// A width cannot be split into heads evenly.
    #[error(
        "a width of {width} cannot be split into {heads} heads evenly; the width has to be a multiple of the heads"
    )]
    Width {
        /// Columns to split.
        width: usize,
        /// Heads asked for.
        heads: usize,
    },
}

/// x·W + b, with W of shape (d_in, d_out) and b of d_out numbers. Shape (n, d_out).
///
/// # Panics
/// When `x` is not as wide as `w` is high; scenes are validated before they reach the engine.
pub fn project(x: &Matrix, w: &Matrix, b: Option<&[f64]>) -> Matrix {
    let mut y = x.matmul(w); // (n, d_out)
    if let Some(b) = b {
        for row in 0..y.rows() {
            for (sum, &bias) in y.row_mut(row).iter_mut().zip(b) {
                *sum += bias;
            }
        }
    }
    y // (n, d_out)
}

/// The heads of a projected matrix: head h takes the columns h·d_head .. (h+1)·d_head of every row. Each (n, d_head).
///
/// # Errors
/// [`HeadsError::Width`] when the width is not a multiple of `heads`, or `heads` is 0.
pub fn split_heads(projected: &Matrix, heads: usize) -> Result<Vec<Matrix>, HeadsError> {
    let width = projected.cols();
    if heads == 0 || !width.is_multiple_of(heads) {
        return Err(HeadsError::Width { width, heads });
    }
    let d_head = width / heads;
    Ok((0..heads).map(|head| projected.columns(head * d_head, (head + 1) * d_head)).collect())
}

/// The outputs of the heads side by side, in head order: row i holds what every head says about token i.
/// Shape (n, sum of the widths). No heads give the (0, 0) matrix.
///
/// # Panics
/// When the heads have different numbers of rows.
pub fn concat_heads(heads: &[&Matrix]) -> Matrix {
    let n_rows = heads.first().map_or(0, |head| head.rows());
    let width = heads.iter().map(|head| head.cols()).sum();
    let mut concat = Matrix::zeros(n_rows, width);
    for row in 0..n_rows {
        let mut start = 0;
        for head in heads {
            concat.row_mut(row)[start..start + head.cols()].copy_from_slice(head.row(row));
            start += head.cols();
        }
    }
    concat // (n, heads · d_v)
}

/// The KV head that query head `query_head` reads: each KV head serves `heads / kv_heads` **consecutive** query heads
/// (Ainslie et al., 2023), so with 4 and 2 the query heads 0, 1 read KV head 0 and 2, 3 read KV head 1.
///
/// # Errors
/// [`HeadsError::KvHeads`] when `heads` is not a multiple of `kv_heads`, or `kv_heads` is 0.
pub fn kv_head_of(query_head: usize, heads: usize, kv_heads: usize) -> Result<usize, HeadsError> {
    if kv_heads == 0 || heads == 0 || !heads.is_multiple_of(kv_heads) {
        return Err(HeadsError::KvHeads { heads, kv_heads });
    }
    Ok(query_head / (heads / kv_heads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_query_heads_share_a_kv_head() {
        let shared: Vec<_> = (0..4).map(|head| kv_head_of(head, 4, 2).unwrap()).collect();
        assert_eq!(shared, [0, 0, 1, 1]);
        let one_for_all: Vec<_> = (0..4).map(|head| kv_head_of(head, 4, 1).unwrap()).collect();
        assert_eq!(one_for_all, [0, 0, 0, 0]);
    }

    #[test]
    fn heads_that_do_not_divide_are_refused_naming_both_numbers() {
        assert_eq!(
            kv_head_of(0, 6, 4).unwrap_err().to_string(),
            "6 query heads cannot share 4 KV heads evenly; heads has to be a multiple of kv_heads"
        );
        assert_eq!(kv_head_of(0, 6, 0), Err(HeadsError::KvHeads { heads: 6, kv_heads: 0 }));
        assert_eq!(split_heads(&Matrix::zeros(3, 8), 3), Err(HeadsError::Width { width: 8, heads: 3 }));
        assert_eq!(split_heads(&Matrix::zeros(3, 8), 0), Err(HeadsError::Width { width: 8, heads: 0 }));
    }

    #[test]
    fn splitting_takes_columns_and_concat_puts_them_back() {
        let x = Matrix::from_fn(3, 6, |row, col| (10 * row + col) as f64);
        let heads = split_heads(&x, 3).unwrap();
        assert_eq!(heads[1].row(2), [22.0, 23.0]);
        assert_eq!(concat_heads(&heads.iter().collect::<Vec<_>>()), x);
    }

    #[test]
    fn a_projection_adds_its_bias_to_every_row() {
        let x = Matrix::from_rows(&[[1.0, 2.0], [0.0, 1.0]]).unwrap();
        let w = Matrix::from_rows(&[[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]]).unwrap();
        let y = project(&x, &w, Some(&[0.5, 0.0, -1.0]));
        assert_eq!((y.row(0), y.row(1)), (&[1.5, 2.0, 7.0][..], &[0.5, 1.0, 2.0][..]));
    }
}

//! The three mistakes that lie between the heads.

use super::super::{HeadsError, Matrix, kv_head_of};

/// The KV head that a query head reads when KV heads are tiled (0, 1, 0, 1) where they should be repeated (0, 0, 1, 1).
///
/// # Errors
/// As [`kv_head_of`].
pub fn faulty_kv_head_of(query_head: usize, heads: usize, kv_heads: usize) -> Result<usize, HeadsError> {
    kv_head_of(query_head, heads, kv_heads)?;
    Ok(query_head % kv_heads)
}

/// (n, heads · d) read as (heads, n, d) without a transpose: a head holds whole rows of a few tokens, cut into pieces.
///
/// # Errors
/// As [`split_heads`](super::super::split_heads).
pub fn faulty_split(projected: &Matrix, heads: usize) -> Result<Vec<Matrix>, HeadsError> {
    let (n, width) = (projected.rows(), projected.cols());
    if heads == 0 || !width.is_multiple_of(heads) {
        return Err(HeadsError::Width { width, heads });
    }
    let d = width / heads;
    let head = |head: usize| Matrix::from_fn(n, d, |row, col| projected.data()[(head * n + row) * d + col]);
    Ok((0..heads).map(head).collect())
}

/// (heads, n, d) read as (n, heads · d) without a transpose: a token's row holds one head's outputs for several tokens.
///
/// # Panics
/// When the heads have different shapes.
pub fn faulty_concat(heads: &[&Matrix]) -> Matrix {
    let (n, d) = heads.first().map_or((0, 0), |head| (head.rows(), head.cols()));
    assert!(heads.iter().all(|head| (head.rows(), head.cols()) == (n, d)), "heads have equal shapes");
    let width = heads.len() * d;
    Matrix::from_fn(n, width, |row, col| {
        let at = row * width + col;
        heads[at / (n * d)].data()[at % (n * d)]
    }) // (n, heads · d)
}

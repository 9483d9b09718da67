//! What the fast forms read: numbers of either format where they already lie.

use super::super::{HeadInput, Matrix};
use super::real::Real;

/// A matrix of shape (rows, cols) in somebody else's memory, row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatrixView<'a, R> {
    data: &'a [R],
    rows: usize,
    cols: usize,
}

impl<'a, R: Real> MatrixView<'a, R> {
    /// The first rows · cols numbers are the matrix; `None` when `data` does not hold exactly so many.
    pub fn new(rows: usize, cols: usize, data: &'a [R]) -> Option<Self> {
        (rows.checked_mul(cols) == Some(data.len())).then_some(Self { data, rows, cols })
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The rows `start..end`, one after the other.
    pub(super) fn row_range(&self, start: usize, end: usize) -> &'a [R] {
        &self.data[start * self.cols..end * self.cols]
    }

    /// Row `row`.
    pub(super) fn row(&self, row: usize) -> &'a [R] {
        self.row_range(row, row + 1)
    }

    pub(super) fn is_finite(&self) -> bool {
        // Whole chunks are tested without leaving early, so that lanes can be used.
        self.data.chunks(256).all(|chunk| chunk.iter().fold(true, |all, value| all & value.is_finite()))
    }
}

impl<'a> From<&'a Matrix> for MatrixView<'a, f64> {
    fn from(matrix: &'a Matrix) -> Self {
        Self { data: matrix.data(), rows: matrix.rows(), cols: matrix.cols() }
    }
}

/// Q, K and V of one query head. Query heads that share a KV head are given the same `k` and `v`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadView<'a, R> {
    /// Shape (n_q, d_k).
    pub q: MatrixView<'a, R>,
    /// Shape (n_k, d_k).
    pub k: MatrixView<'a, R>,
    /// Shape (n_k, d_v).
    pub v: MatrixView<'a, R>,
}

impl<'a> From<&'a HeadInput> for HeadView<'a, f64> {
    fn from(HeadInput { q, k, v }: &'a HeadInput) -> Self {
        Self { q: q.as_ref().into(), k: k.as_ref().into(), v: v.as_ref().into() }
    }
}

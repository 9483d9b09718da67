//! A dense matrix of `f64`, row by row.

use std::fmt;
use std::sync::Arc;

use super::numbers::Numbers;

/// A matrix of shape (rows, cols), stored row by row.
///
/// Either dimension may be 0: a scene without keys is a (0, d_k) matrix, and it still knows its width. Copies share their numbers
/// until one of them is changed.
#[derive(Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    data: Arc<Numbers>,
}

/// A row whose length differs from the first row's, or data that do not fill the shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Row `row` (from 0) has `found` numbers where the first row has `expected`.
    #[error("row {} has {found} numbers where the first row has {expected}", row + 1)]
    Ragged {
        /// Which row, counted from 0.
        row: usize,
        /// The length of the first row.
        expected: usize,
        /// The length of this row.
        found: usize,
    },
    /// The data do not fill the shape.
    #[error("a {rows} × {cols} matrix needs {} numbers, found {found}", rows * cols)]
    Count {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        cols: usize,
        /// Numbers given.
        found: usize,
    },
}

impl Matrix {
    fn of(rows: usize, cols: usize, data: impl Into<Numbers>) -> Self {
        Self { rows, cols, data: Arc::new(data.into()) }
    }

    /// A matrix from its shape and its numbers, row by row.
    ///
    /// # Errors
    /// [`ShapeError::Count`] when `data` does not hold rows · cols numbers.
    pub fn new(rows: usize, cols: usize, data: Vec<f64>) -> Result<Self, ShapeError> {
        if rows.checked_mul(cols) != Some(data.len()) {
            return Err(ShapeError::Count { rows, cols, found: data.len() });
        }
        Ok(Self::of(rows, cols, data))
    }

    /// A matrix from rows of equal length. No rows give the (0, 0) matrix.
    ///
    /// # Errors
    /// [`ShapeError::Ragged`] names the first row whose length differs from the first row's.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, ShapeError> {
        let cols = rows.first().map_or(0, |row| row.as_ref().len());
        let mut data = Vec::with_capacity(rows.len() * cols);
        for (row_idx, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != cols {
                return Err(ShapeError::Ragged { row: row_idx, expected: cols, found: row.len() });
            }
            data.extend_from_slice(row);
        }
        Ok(Self::of(rows.len(), cols, data))
    }

    /// The matrix whose entry (row, col) is `value(row, col)`.
    pub fn from_fn(rows: usize, cols: usize, mut value: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for row in 0..rows {
            for col in 0..cols {
                data.push(value(row, col));
            }
        }
        Self::of(rows, cols, data)
    }

    /// All zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self::of(rows, cols, Numbers::zeros(rows * cols))
    }

    /// Ones on the diagonal, zeros elsewhere.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |row, col| if row == col { 1.0 } else { 0.0 })
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `row` as a slice.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.data[row * self.cols..(row + 1) * self.cols]
    }

    /// Row `row` as a mutable slice.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut Arc::make_mut(&mut self.data)[row * self.cols..(row + 1) * self.cols]
    }

    /// The rows in order; a matrix of width 0 yields empty rows.
    pub fn iter_rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        (0..self.rows).map(|row| self.row(row))
    }

    /// The entry at (row, col).
    pub fn get(&self, row: usize, col: usize) -> f64 {
        self.data[row * self.cols + col]
    }

    /// Replaces the entry at (row, col).
    pub fn set(&mut self, row: usize, col: usize, value: f64) {
        Arc::make_mut(&mut self.data)[row * self.cols + col] = value;
    }

    /// Every number, row by row.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// Every number, row by row, to be written.
    pub(super) fn data_mut(&mut self) -> &mut [f64] {
        let numbers: &mut Numbers = Arc::make_mut(&mut self.data);
        numbers
    }

    /// The transpose, shape (cols, rows).
    pub fn transpose(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |row, col| self.get(col, row))
    }

    /// The matrix whose entries are `change` of these.
    pub fn map(&self, change: impl FnMut(f64) -> f64) -> Self {
        Self::of(self.rows, self.cols, self.data.iter().copied().map(change).collect::<Vec<_>>())
    }

    /// self · other. Each entry is summed from left to right, so that the arithmetic on screen is the arithmetic done.
    ///
    /// # Panics
    /// When `self.cols() != other.rows()`; scenes are validated before they reach the engine.
    pub fn matmul(&self, other: &Self) -> Self {
        assert_eq!(self.cols, other.rows, "inner dimensions differ");
        let mut product = Self::zeros(self.rows, other.cols);
        for row in 0..self.rows {
            let target = product.row_mut(row);
            for (inner, &left) in self.row(row).iter().enumerate() {
                for (sum, &right) in target.iter_mut().zip(other.row(inner)) {
                    *sum += left * right;
                }
            }
        }
        product // (self.rows, other.cols)
    }

    /// The largest |difference| between entries at the same place. Equal infinities, and NaN against NaN, differ by 0; NaN against a
    /// number differs by NaN, which is then the answer. 0 for matrices without entries.
    ///
    /// # Panics
    /// When the shapes differ.
    pub fn largest_difference(&self, other: &Self) -> f64 {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols), "shapes differ");
        let difference = |(a, b): (&f64, &f64)| {
            if a == b || (a.is_nan() && b.is_nan()) { 0.0 } else { (a - b).abs() }
        };
        let larger = |largest: f64, next: f64| if next > largest || next.is_nan() { next } else { largest };
        self.data.iter().zip(other.data.iter()).map(difference).fold(0.0, larger)
    }

    /// The rows `start..end` as a matrix of their own.
    pub fn row_range(&self, start: usize, end: usize) -> Self {
        let data = self.data[start * self.cols..end * self.cols].to_vec();
        Self::of(end - start, self.cols, data)
    }

    /// Adds a row at the end.
    ///
    /// # Errors
    /// [`ShapeError::Ragged`] when the row is not as wide as the matrix, which then stays as it was.
    pub fn push_row(&mut self, row: &[f64]) -> Result<(), ShapeError> {
        if row.len() != self.cols {
            return Err(ShapeError::Ragged { row: self.rows, expected: self.cols, found: row.len() });
        }
        Arc::make_mut(&mut self.data).extend(row);
        self.rows += 1;
        Ok(())
    }

    /// The columns `start..end` as a matrix of their own.
    pub fn columns(&self, start: usize, end: usize) -> Self {
        Self::from_fn(self.rows, end - start, |row, col| self.get(row, start + col))
    }
}

impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Matrix {} × {} ", self.rows, self.cols)?;
        f.debug_list().entries(self.iter_rows()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ragged_row_is_named() {
        let error = Matrix::from_rows(&[vec![1.0, 2.0], vec![3.0]]).unwrap_err();
        assert_eq!(error.to_string(), "row 2 has 1 numbers where the first row has 2");
    }

    #[test]
    fn a_product_has_the_outer_shape() {
        let left = Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).unwrap();
        let right = Matrix::from_rows(&[[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]]).unwrap();
        let product = left.matmul(&right);
        assert_eq!((product.rows(), product.cols()), (3, 3));
        assert_eq!(product.row(2), [5.0, 6.0, 28.0]);
        assert_eq!(product.transpose().row(2), [8.0, 18.0, 28.0]);
    }

    #[test]
    fn matrices_differ_by_the_largest_gap_between_their_entries() {
        let row = |numbers: [f64; 3]| Matrix::from_rows(&[numbers]).unwrap();
        let infinite = row([1.0, f64::INFINITY, f64::NAN]);
        assert_eq!(row([1.0, 2.0, 3.0]).largest_difference(&row([1.5, 2.0, 1.0])), 2.0);
        assert_eq!(infinite.largest_difference(&infinite), 0.0);
        assert!(infinite.largest_difference(&row([1.0, 2.0, 3.0])).is_nan());
        assert!(row([f64::NAN, 0.0, 0.0]).largest_difference(&row([1.0, 5.0, 0.0])).is_nan());
        assert_eq!(Matrix::zeros(0, 3).largest_difference(&Matrix::zeros(0, 3)), 0.0);
    }
}

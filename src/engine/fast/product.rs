//! Matrix products by `matrixmultiply`, called through `ndarray`, which checks the shapes.

#![expect(
    clippy::expect_used,
    reason = "a layout that leaves its slice is a mistake in this folder, not in an input"
)]

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, ShapeBuilder};

use super::real::Real;

/// A matrix within a slice: `rows` rows of `cols` numbers, each beginning `stride` after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub rows: usize,
    pub cols: usize,
    pub stride: usize,
}

impl Layout {
    /// Rows that follow each other without a gap.
    pub(super) fn dense(rows: usize, cols: usize) -> Self {
        Self { rows, cols, stride: cols }
    }

    /// An empty matrix lies nowhere, however far apart its rows would be.
    fn strides(self) -> (usize, usize) {
        if self.rows == 0 || self.cols == 0 { (0, 0) } else { (self.stride, 1) }
    }

    fn view<R>(self, data: &[R]) -> ArrayView2<'_, R> {
        let shape = (self.rows, self.cols).strides(self.strides());
        ArrayView2::from_shape(shape, data).expect("a layout lies within its slice")
    }

    fn view_mut<R>(self, data: &mut [R]) -> ArrayViewMut2<'_, R> {
        let shape = (self.rows, self.cols).strides(self.strides());
        ArrayViewMut2::from_shape(shape, data).expect("a layout lies within its slice")
    }
}

/// product = factor · left · rightᵀ.
pub(super) fn times_transposed<R: Real>(
    factor: R,
    (left, left_layout): (&[R], Layout),
    (right, right_layout): (&[R], Layout),
    (product, product_layout): (&mut [R], Layout),
) {
    let (left, right) = (left_layout.view(left), right_layout.view(right));
    general_mat_mul(factor, &left, &right.t(), R::zero(), &mut product_layout.view_mut(product));
}

/// sum += left · right.
pub(super) fn add_product<R: Real>(
    (left, left_layout): (&[R], Layout),
    (right, right_layout): (&[R], Layout),
    (sum, sum_layout): (&mut [R], Layout),
) {
    let (left, right) = (left_layout.view(left), right_layout.view(right));
    general_mat_mul(R::one(), &left, &right, R::one(), &mut sum_layout.view_mut(sum));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_take_any_shape_and_leave_what_lies_between_rows() {
        let left = [1.0, 2.0, 3.0, 4.0];
        let mut found = [9.0; 6];
        let dense = Layout::dense(2, 2);
        times_transposed(
            2.0,
            (&left, dense),
            (&left, dense),
            (&mut found, Layout { rows: 2, cols: 2, stride: 3 }),
        );
        assert_eq!(found, [10.0, 22.0, 9.0, 22.0, 50.0, 9.0]);
        add_product((&left, dense), (&left, dense), (&mut found, Layout { rows: 2, cols: 2, stride: 3 }));
        assert_eq!(found, [17.0, 32.0, 9.0, 37.0, 72.0, 9.0]);
    }

    #[test]
    fn a_product_over_nothing_is_zero() {
        let mut found = [9.0_f32; 4];
        let thin = Layout::dense(2, 0);
        times_transposed(1.0, (&[], thin), (&[], thin), (&mut found, Layout::dense(2, 2)));
        assert_eq!(found, [0.0; 4]);
        add_product((&[], thin), (&[], Layout::dense(0, 2)), (&mut found, Layout::dense(2, 2)));
        assert_eq!(found, [0.0; 4]);
        add_product(
            (&[], Layout::dense(0, 3)),
            (&[1.0; 6], Layout::dense(3, 2)),
            (&mut [], Layout::dense(0, 2)),
        );
    }
}

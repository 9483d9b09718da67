//! Matrix products, a strip of rows by a few vectors of columns at a time, so that the sums stay in registers.
//!
//! Libraries pack both operands anew at every call; the callers here keep one operand packed for as long as it is used.

use pulp::{Arch, Simd, WithSimd};

use super::real::Real;

/// Rows of a strip. With 4 vectors of columns its 24 sums, a row of `right` and one number of `left` take 29 of the 32 registers
/// of AVX-512; with 2 vectors 15 of the 16 of AVX2.
pub(super) const STRIP: usize = 6;

/// Steps summed before a strip is written, so that the part of `right` in use stays in the first-level cache.
const STEPS: usize = 128;

/// What the columns of right operands are padded to: a multiple of the lanes of every machine.
pub(super) const PAD: usize = 16;

/// How the left operand, of shape (n_rows, n_steps), lies.
#[derive(Clone, Copy)]
pub(super) enum Left<'a, R> {
    /// Row after row.
    ByRows(&'a [R]),
    /// Transposed: a row for every step, so far apart, with room for whole strips.
    BySteps(&'a [R], usize),
}

/// target = factor · left · right, added to what `target` holds if `adds`.
///
/// Every entry is summed over the steps in their order, whatever the width of the machine's vectors.
pub(super) struct Product<'a, R> {
    pub left: Left<'a, R>,
    pub n_rows: usize,
    pub n_steps: usize,
    /// Shape (n_steps, n_cols), rows `right_stride` apart.
    pub right: &'a [R],
    pub right_stride: usize,
    /// Where it is no multiple of [`PAD`], `right` has columns up to the next one.
    pub n_cols: usize,
    pub factor: R,
    pub adds: bool,
    /// Shape (n_rows, n_cols), rows `target_stride` apart.
    pub target: &'a mut [R],
    pub target_stride: usize,
}

/// The sums of one strip.
type Sums<S, R, const N: usize> = [[<R as super::real::InVectors>::Vector<S>; N]; STRIP];

impl<R: Real> WithSimd for Product<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let n_vectors = self.n_cols / R::lanes::<S>();
        for first_step in (0..self.n_steps.max(1)).step_by(STEPS) {
            let mut first = 0;
            while first < n_vectors {
                first += self.columns(simd, first_step, first, n_vectors - first);
            }
            self.adds = true;
        }
    }
}

impl<R: Real> Product<'_, R> {
    /// Computes it, with the widest vectors of this machine.
    pub(super) fn run(mut self, arch: Arch) {
        let Self { n_rows, n_cols, adds, target_stride, .. } = self;
        if n_cols.is_multiple_of(PAD) {
            return arch.dispatch(self);
        }
        let width = n_cols.next_multiple_of(PAD);
        let mut padded = vec![R::ZERO; n_rows * width];
        let target = std::mem::take(&mut self.target);
        arch.dispatch(Product {
            n_cols: width,
            adds: false,
            target: &mut padded,
            target_stride: width,
            ..self
        });
        for (to, from) in target.chunks_mut(target_stride).zip(padded.chunks_exact(width)) {
            for (to, &from) in to.iter_mut().zip(&from[..n_cols]) {
                *to = if adds { *to + from } else { from };
            }
        }
    }

    /// As many of the `n_left` vectors of columns as fit the registers; how many those are.
    #[inline(always)]
    fn columns<S: Simd>(&mut self, simd: S, first_step: usize, first: usize, n_left: usize) -> usize {
        match n_left {
            8.. if S::IS_SCALAR => self.strips::<S, 8>(simd, first_step, first), // the compiler finds the vectors
            4.. if S::REGISTER_COUNT >= 32 => self.strips::<S, 4>(simd, first_step, first),
            2.. => self.strips::<S, 2>(simd, first_step, first),
            _ => self.strips::<S, 1>(simd, first_step, first),
        }
    }

    #[inline(always)]
    fn strips<S: Simd, const N: usize>(&mut self, simd: S, first_step: usize, first: usize) -> usize {
        for first_row in (0..self.n_rows).step_by(STRIP) {
            let sums = self.sums::<S, N>(simd, first_step, first, first_row);
            self.write(simd, sums, first, first_row);
        }
        N
    }

    /// Σ left · right over some steps, for one strip.
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(
        &self,
        simd: S,
        first_step: usize,
        first: usize,
        first_row: usize,
    ) -> Sums<S, R, N> {
        let n_steps = STEPS.min(self.n_steps - first_step);
        let right = self.right[first_step * self.right_stride..].chunks_exact(self.right_stride.max(1));
        let right = right.take(n_steps).map_while(|row| R::vectors::<S>(row)[first..].first_chunk::<N>());
        let mut sums = [[R::splat(simd, R::ZERO); N]; STRIP];
        match self.left {
            Left::ByRows(left) => {
                // Past the last row the last row is repeated.
                let rows: [&[R]; STRIP] = std::array::from_fn(|row| {
                    let row = (first_row + row).min(self.n_rows - 1);
                    &left[row * self.n_steps + first_step..][..n_steps]
                });
                add_rows(simd, &mut sums, rows, n_steps, right);
            }
            Left::BySteps(left, stride) => {
                let left = left[first_step * stride..].chunks_exact(stride);
                let left = left.map_while(|row| row[first_row..].first_chunk::<STRIP>());
                for (left, right) in left.zip(right) {
                    add_step(simd, &mut sums, left, right);
                }
            }
        }
        sums
    }

    #[inline(always)]
    fn write<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        sums: Sums<S, R, N>,
        first: usize,
        first_row: usize,
    ) {
        let factor = R::splat(simd, self.factor);
        for (row, sums) in sums.into_iter().enumerate() {
            if first_row + row >= self.n_rows {
                return;
            }
            let target = &mut self.target[(first_row + row) * self.target_stride..][..self.n_cols];
            let Some(target) = R::vectors_mut::<S>(target)[first..].first_chunk_mut::<N>() else { return };
            for (sum, target) in sums.into_iter().zip(target) {
                let before = if self.adds { *target } else { R::splat(simd, R::ZERO) };
                *target = R::multiply_add(simd, factor, sum, before);
            }
        }
    }
}

/// Adds every step of a strip whose rows are given. Indexed, since nothing else keeps six slices in step without a check for each.
#[inline(always)]
fn add_rows<'r, S: Simd, R: Real, const N: usize>(
    simd: S,
    sums: &mut Sums<S, R, N>,
    rows: [&[R]; STRIP],
    n_steps: usize,
    right: impl Iterator<Item = &'r [R::Vector<S>; N]>,
) {
    for (step, right) in (0..n_steps).zip(right) {
        let mut left = [R::ZERO; STRIP];
        for (left, row) in left.iter_mut().zip(rows) {
            *left = row[step];
        }
        add_step(simd, sums, &left, right);
    }
}

/// Adds one step: its column of `left` times its row of `right`.
#[inline(always)]
fn add_step<S: Simd, R: Real, const N: usize>(
    simd: S,
    sums: &mut Sums<S, R, N>,
    left: &[R; STRIP],
    right: &[R::Vector<S>; N],
) {
    for (sums, &left) in sums.iter_mut().zip(left) {
        let left = R::splat(simd, left);
        for (sum, right) in sums.iter_mut().zip(right) {
            *sum = R::multiply_add(simd, left, *right, *sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Matrix;
    use super::super::every_arch;
    use super::*;

    fn wave(rows: usize, cols: usize, step: f64) -> Matrix {
        Matrix::from_fn(rows, cols, |row, col| ((row * cols + col) as f64 * step).sin())
    }

    /// Columns between one row of the target and the next, which are to stay as they are.
    const GAP: usize = 3;

    /// 2 · left · right (+ 0.5), with 0.5 in the gaps.
    fn expected(left: &Matrix, right: &Matrix, n_cols: usize, adds: bool) -> Vec<f64> {
        let plain = left.matmul(right);
        let before = if adds { 0.5 } else { 0.0 };
        let entry = |row, col| if col < n_cols { before + 2.0 * plain.get(row, col) } else { 0.5 };
        Matrix::from_fn(left.rows(), n_cols + GAP, entry).data().to_vec()
    }

    fn found(
        arch: Arch,
        left: Left<'_, f64>,
        right: &Matrix,
        sizes: (usize, usize, usize),
        adds: bool,
    ) -> Vec<f64> {
        let (n_rows, n_steps, n_cols) = sizes;
        let target_stride = n_cols + GAP;
        let mut target = vec![0.5; n_rows * target_stride];
        let (right_stride, right) = (right.cols(), right.data());
        let factor = 2.0;
        Product {
            left,
            n_rows,
            n_steps,
            right,
            right_stride,
            n_cols,
            factor,
            adds,
            target: &mut target,
            target_stride,
        }
        .run(arch);
        target
    }

    #[test]
    fn a_product_is_the_plain_one_whatever_its_size_its_layout_and_the_machine() {
        // They fill strips, vectors and steps, and leave a remainder in each.
        let sizes =
            [(1, 1, 1), (6, 128, 64), (7, 129, 65), (5, 300, 16), (13, 0, 48), (0, 3, 9), (12, 5, 208)];
        for (n_rows, n_steps, n_cols) in sizes {
            let left = wave(n_rows, n_steps, 0.37);
            let right = wave(n_steps, usize::next_multiple_of(n_cols, PAD), 1.13);
            let room = n_rows.next_multiple_of(STRIP);
            let transposed =
                Matrix::from_fn(
                    n_steps,
                    room,
                    |step, row| if row < n_rows { left.get(row, step) } else { 9.0 },
                );
            for adds in [false, true] {
                let expected = expected(&left, &right, n_cols, adds);
                for arch in every_arch() {
                    for left in [Left::ByRows(left.data()), Left::BySteps(transposed.data(), room)] {
                        let found = found(arch, left, &right, (n_rows, n_steps, n_cols), adds);
                        let is_close = |(found, expected): (&f64, &f64)| (found - expected).abs() < 1e-13;
                        assert!(
                            found.iter().zip(&expected).all(is_close),
                            "{n_rows} × {n_steps} × {n_cols}, {arch:?}"
                        );
                    }
                }
            }
        }
    }
}

//! K and V as the products of every block of queries want them, packed once.

use pulp::Arch;

use super::super::Matrix;
use super::aligned::Aligned;
use super::product::{Left, PAD, Product};

/// Keys in a panel: few enough that a panel stays in the first-level cache while rows of queries pass by.
const PANEL: usize = 64;

/// Kᵀ in panels of [`PANEL`] keys, each of shape (d_k, PANEL), the last one padded.
pub(super) struct PackedKeys {
    panels: Aligned<f64>,
    n_k: usize,
    d_k: usize,
}

impl PackedKeys {
    pub(super) fn new(k: &Matrix) -> Self {
        let (n_k, d_k) = (k.rows(), k.cols());
        let mut panels = Aligned::default();
        let room = panels.of_len(n_k.next_multiple_of(PANEL) * d_k);
        for (panel, first_key) in room.chunks_exact_mut((PANEL * d_k).max(1)).zip((0..n_k).step_by(PANEL)) {
            for key in first_key..(first_key + PANEL).min(n_k) {
                let column = panel[key - first_key..].iter_mut().step_by(PANEL);
                column.zip(k.row(key)).for_each(|(to, &from)| *to = from);
            }
        }
        Self { panels, n_k, d_k }
    }

    /// queries · Kᵀ. Shapes (n_rows, d_k) and (n_rows, n_k).
    pub(super) fn scores(&self, arch: Arch, queries: &[f64], n_rows: usize, scores: &mut [f64]) {
        for first_key in (0..self.n_k).step_by(PANEL) {
            let product = Product {
                left: Left::ByRows(queries),
                n_rows,
                n_steps: self.d_k,
                right: &self.panels.get()[first_key * self.d_k..],
                right_stride: PANEL,
                n_cols: PANEL.min(self.n_k - first_key),
                factor: 1.0,
                adds: false,
                target: &mut scores[first_key..],
                target_stride: self.n_k,
            };
            product.run(arch);
        }
    }
}

/// V, its rows padded to whole vectors.
pub(super) struct PackedValues {
    rows: Aligned<f64>,
    n_k: usize,
    d_v: usize,
}

impl PackedValues {
    pub(super) fn new(v: &Matrix) -> Self {
        let (n_k, d_v) = (v.rows(), v.cols());
        let mut rows = Aligned::default();
        let width = d_v.next_multiple_of(PAD);
        for (to, from) in rows.of_len(n_k * width).chunks_exact_mut(width.max(1)).zip(v.iter_rows()) {
            to[..d_v].copy_from_slice(from);
        }
        Self { rows, n_k, d_v }
    }

    /// weights · V. Shapes (n_rows, n_k) and (n_rows, d_v).
    pub(super) fn mix(&self, arch: Arch, weights: &[f64], n_rows: usize, output: &mut [f64]) {
        let product = Product {
            left: Left::ByRows(weights),
            n_rows,
            n_steps: self.n_k,
            right: self.rows.get(),
            right_stride: self.d_v.next_multiple_of(PAD),
            n_cols: self.d_v,
            factor: 1.0,
            adds: false,
            target: output,
            target_stride: self.d_v,
        };
        product.run(arch);
    }
}

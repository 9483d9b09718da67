//! K and V as the products of every block of queries want them, packed once.

use std::cell::Cell;

use pulp::Arch;

use super::super::Matrix;
use super::aligned::Aligned;
use super::product::{Left, PAD, Product};

/// Keys in a panel: few enough that a panel stays in the first-level cache while rows of queries pass by.
const PANEL: usize = 64;

thread_local! {
    /// Room from the last call on this thread, for the next one.
    static KEPT: [Cell<Aligned<f64>>; 2] = const { [const { Cell::new(Aligned::none()) }; 2] };
}

/// Numbers of room that are kept: small heads are done so soon that asking for room would be noticed.
const KEPT_UP_TO: usize = 1 << 16;

/// K and V of one head.
pub(super) struct Packed {
    /// `None` where the scores are not products.
    pub keys: Option<PackedKeys>,
    /// `None` where some value is not finite.
    pub values: Option<PackedValues>,
}

impl Packed {
    pub(super) fn new(k: Option<&Matrix>, v: Option<&Matrix>) -> Self {
        let [for_keys, for_values] = KEPT.with(|kept| [kept[0].take(), kept[1].take()]);
        Self {
            keys: k.map(|k| PackedKeys::new(k, for_keys)),
            values: v.map(|v| PackedValues::new(v, for_values)),
        }
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        let keys = self.keys.take().map(|keys| keys.panels);
        let values = self.values.take().map(|values| values.rows);
        KEPT.with(|kept| {
            for (kept, room) in kept.iter().zip([keys, values]) {
                kept.set(room.filter(|room| room.get().len() <= KEPT_UP_TO).unwrap_or_default());
            }
        });
    }
}

/// Kᵀ in panels of [`PANEL`] keys, each of shape (d_k, PANEL), the last one padded.
pub(super) struct PackedKeys {
    panels: Aligned<f64>,
    n_k: usize,
    d_k: usize,
}

impl PackedKeys {
    /// Into `room`, whatever was in it.
    pub(super) fn new(k: &Matrix, mut room: Aligned<f64>) -> Self {
        let (n_k, d_k) = (k.rows(), k.cols());
        let panels = room.of_len(n_k.next_multiple_of(PANEL) * d_k).chunks_exact_mut((PANEL * d_k).max(1));
        for (panel, keys) in panels.zip(k.data().chunks((PANEL * d_k).max(1))) {
            for (feature, row) in panel.chunks_exact_mut(PANEL).enumerate() {
                for (to, key) in row.iter_mut().zip(keys.chunks_exact(d_k)) {
                    *to = key[feature];
                }
            }
        }
        Self { panels: room, n_k, d_k }
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
    /// Into `room`, whatever was in it.
    pub(super) fn new(v: &Matrix, mut room: Aligned<f64>) -> Self {
        let (n_k, d_v) = (v.rows(), v.cols());
        let width = d_v.next_multiple_of(PAD);
        for (to, from) in room.of_len(n_k * width).chunks_exact_mut(width.max(1)).zip(v.iter_rows()) {
            to[..d_v].copy_from_slice(from);
        }
        Self { rows: room, n_k, d_v }
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

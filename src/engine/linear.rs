//! Linear attention (Katharopoulos et al., 2020): φ(q)·φ(k) in place of exp(q·k), so that the products can be made in either order.

use super::{HeadInput, Matrix};

/// φ, what queries and keys go through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FeatureMap {
    /// elu(x) + 1: x + 1 above 0, eˣ below. Always positive, so that weights can be divided by their sum.
    #[default]
    EluPlusOne,
    /// x itself. Weights may be negative and cancel, so they are not divided by their sum; the query·key products are the weights.
    Identity,
}

impl FeatureMap {
    /// φ of one number.
    pub fn of(self, x: f64) -> f64 {
        match self {
            Self::EluPlusOne if x > 0.0 => x + 1.0,
            Self::EluPlusOne => x.exp(),
            Self::Identity => x,
        }
    }

    fn is_normalized(self) -> bool {
        self == Self::EluPlusOne
    }
}

/// The same output in both orders of the products.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearAttention {
    /// φ(Q). Shape (n_q, d_k).
    pub q_features: Matrix,
    /// φ(K). Shape (n_k, d_k).
    pub k_features: Matrix,
    /// φ(q)·φ(k), over its sum along the keys where the feature map allows; 0 for keys not seen. Shape (n_q, n_k).
    pub weights: Matrix,
    /// (φ(Q)·φ(K)ᵀ)·V: pairs first, n_q · n_k · (d_k + d_v) multiply-adds. Shape (n_q, d_v).
    pub output_by_pairs: Matrix,
    /// Σ φ(k)·vᵀ over every key: what a step of generation would keep in place of a cache. Shape (d_k, d_v).
    pub state: Matrix,
    /// φ(Q)·(φ(K)ᵀ·V): the state first, (n_q + n_k) · d_k · d_v multiply-adds. Shape (n_q, d_v).
    pub output_by_state: Matrix,
}

impl LinearAttention {
    /// Multiply-adds of the pairs first: n_q · n_k · (d_k + d_v), whether or not a causal mask leaves some of them out.
    pub fn macs_by_pairs(&self) -> u128 {
        let [n_q, n_k, d_k, d_v] = self.sizes();
        n_q * n_k * (d_k + d_v)
    }

    /// Multiply-adds of the state first: (n_q + n_k) · d_k · d_v.
    pub fn macs_by_state(&self) -> u128 {
        let [n_q, n_k, d_k, d_v] = self.sizes();
        (n_q + n_k) * d_k * d_v
    }

    fn sizes(&self) -> [u128; 4] {
        let Self { weights, state, .. } = self;
        [weights.rows(), weights.cols(), state.rows(), state.cols()].map(|size| size as u128)
    }

    /// weights − softmax weights, as a matrix. Shape (n_q, n_k).
    ///
    /// # Panics
    /// When the shapes differ.
    pub fn difference_from(&self, softmax_weights: &Matrix) -> Matrix {
        let (n_q, n_k) = (self.weights.rows(), self.weights.cols());
        assert_eq!((n_q, n_k), (softmax_weights.rows(), softmax_weights.cols()), "both are (n_q, n_k)");
        Matrix::from_fn(n_q, n_k, |query, key| {
            self.weights.get(query, key) - softmax_weights.get(query, key) + 0.0
        })
    }
}

/// Linear attention of one head; with `is_causal`, query i sees the keys j ≤ i. A query that sees nothing has the output 0.
///
/// No scale is applied (it would cancel in the division), and other masks have no form that keeps the state small.
///
/// # Panics
/// When the shapes do not fit together; [`HeadInput::check`] says so beforehand.
pub fn linear_attention(input: &HeadInput, map: FeatureMap, is_causal: bool) -> LinearAttention {
    let HeadInput { q, k, v } = input; // (n_q, d_k), (n_k, d_k), (n_k, d_v)
    let (q_features, k_features) = (q.map(|x| map.of(x)), k.map(|x| map.of(x)));
    let weights = pair_weights(&q_features, &k_features, map, is_causal); // (n_q, n_k)
    let output_by_pairs = weights.matmul(v); // (n_q, d_v)
    let (output_by_state, state) = through_state(&q_features, &k_features, v, map, is_causal);
    LinearAttention { q_features, k_features, weights, output_by_pairs, state, output_by_state }
}

fn pair_weights(q: &Matrix, k: &Matrix, map: FeatureMap, is_causal: bool) -> Matrix {
    let mut weights = q.matmul(&k.transpose()); // (n_q, n_k)
    for query in 0..weights.rows() {
        let row = weights.row_mut(query);
        let n_seen = if is_causal { row.len().min(query + 1) } else { row.len() };
        row[n_seen..].fill(0.0);
        if map.is_normalized() && n_seen > 0 {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|weight| *weight /= sum);
        }
    }
    weights
}

/// Key after key into the state; each query reads it when it has seen its last key. The output and the final state.
fn through_state(q: &Matrix, k: &Matrix, v: &Matrix, map: FeatureMap, is_causal: bool) -> (Matrix, Matrix) {
    let mut state = Matrix::zeros(k.cols(), v.cols()); // (d_k, d_v)
    let mut normalizer = vec![0.0; k.cols()]; // Σ φ(k)
    let mut output = Matrix::zeros(q.rows(), v.cols());
    let mut n_taken = 0;
    for query in 0..q.rows() {
        let n_seen = if is_causal { k.rows().min(query + 1) } else { k.rows() };
        for key in n_taken..n_seen {
            add_outer(&mut state, k.row(key), v.row(key));
            normalizer.iter_mut().zip(k.row(key)).for_each(|(sum, feature)| *sum += feature);
        }
        n_taken = n_taken.max(n_seen);
        let target = output.row_mut(query);
        let mut divisor = 0.0;
        for (feature_idx, &feature) in q.row(query).iter().enumerate() {
            target.iter_mut().zip(state.row(feature_idx)).for_each(|(sum, value)| *sum += feature * value);
            divisor += feature * normalizer[feature_idx];
        }
        if map.is_normalized() && n_seen > 0 {
            target.iter_mut().for_each(|value| *value /= divisor);
        }
    }
    for key in n_taken..k.rows() {
        add_outer(&mut state, k.row(key), v.row(key));
    }
    (output, state)
}

fn add_outer(state: &mut Matrix, key: &[f64], value: &[f64]) {
    for (feature_idx, &feature) in key.iter().enumerate() {
        state.row_mut(feature_idx).iter_mut().zip(value).for_each(|(sum, value)| *sum += feature * value);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{AttentionSpec, attend};
    use super::*;

    fn input(n_q: usize, n_k: usize) -> HeadInput {
        let wave = |rows, cols, step: f64| {
            Arc::new(Matrix::from_fn(rows, cols, |row, col| (step * (row * cols + col) as f64).sin()))
        };
        HeadInput { q: wave(n_q, 3, 0.9), k: wave(n_k, 3, 1.7), v: wave(n_k, 2, 0.4) }
    }

    #[test]
    fn both_orders_give_the_same_output() {
        for map in [FeatureMap::EluPlusOne, FeatureMap::Identity] {
            for (is_causal, n_q, n_k) in
                [(false, 5, 7), (true, 6, 6), (true, 3, 5), (true, 5, 3), (false, 2, 0)]
            {
                let found = linear_attention(&input(n_q, n_k), map, is_causal);
                for (pairs, state) in found.output_by_pairs.data().iter().zip(found.output_by_state.data()) {
                    assert!((pairs - state).abs() < 1e-14, "{map:?} {is_causal}: {pairs} is not {state}");
                }
            }
        }
    }

    #[test]
    fn the_state_is_the_keys_times_the_values_whatever_the_queries_see() {
        for is_causal in [false, true] {
            let found = linear_attention(&input(3, 5), FeatureMap::EluPlusOne, is_causal);
            let expected = found.k_features.transpose().matmul(&input(3, 5).v);
            for (found, expected) in found.state.data().iter().zip(expected.data()) {
                assert!((found - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn a_worked_row() {
        let one = |numbers: &[[f64; 1]]| Arc::new(Matrix::from_rows(numbers).unwrap());
        let input = HeadInput { q: one(&[[1.0]]), k: one(&[[0.0], [2.0]]), v: one(&[[4.0], [8.0]]) };
        // φ: q 2, keys 1 and 3; weights 1/4 and 3/4.
        let found = linear_attention(&input, FeatureMap::EluPlusOne, false);
        assert_eq!((found.weights.row(0), found.output_by_pairs.row(0)), (&[0.25, 0.75][..], &[7.0][..]));
        let found = linear_attention(&input, FeatureMap::Identity, false);
        assert_eq!((found.weights.row(0), found.output_by_state.row(0)), (&[0.0, 2.0][..], &[16.0][..]));
    }

    #[test]
    fn it_is_flatter_than_softmax_and_the_difference_sums_to_zero() {
        let input = input(4, 6);
        let softmax = attend(&input, &AttentionSpec::default(), 0).weights;
        let difference = linear_attention(&input, FeatureMap::EluPlusOne, false).difference_from(&softmax);
        for row in difference.iter_rows() {
            assert!(row.iter().sum::<f64>().abs() < 1e-14);
            assert!(row.iter().any(|entry| entry.abs() > 1e-3));
        }
    }

    #[test]
    fn the_state_pays_once_the_tokens_outnumber_the_widths() {
        let macs = |n| {
            let found = linear_attention(&input(n, n), FeatureMap::EluPlusOne, true);
            (found.macs_by_pairs(), found.macs_by_state())
        };
        assert_eq!(macs(2), (20, 24)); // 2·2·(3 + 2) and (2 + 2)·3·2
        assert_eq!(macs(8), (320, 96));
    }
}

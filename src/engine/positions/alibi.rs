//! Attention with linear biases (Press et al., 2022): the further back a key, the more is taken off its score.

use super::super::Matrix;

/// The slope of every head. For a power of two, 2^(−8/h), 2^(−16/h), …, 2^(−8); otherwise those of the next smaller power of two,
/// followed by every other one of the next larger.
pub fn alibi_slopes(heads: usize) -> Vec<f64> {
    let geometric = |n: usize| (1..=n).map(move |head| (-8.0 * head as f64 / n as f64).exp2());
    if heads == 0 {
        return Vec::new();
    }
    let smaller = 1 << heads.ilog2();
    geometric(smaller).chain(geometric(2 * smaller).step_by(2)).take(heads).collect()
}

/// What is added to the scaled scores of a head: slope · (key position − query position). Shape (n_q, n_k).
///
/// Query i stands at i + `position_offset`, key j at j. Keys ahead of the query get a positive bias; a causal mask hides them.
pub fn alibi_bias(slope: f64, n_q: usize, n_k: usize, position_offset: i64) -> Matrix {
    Matrix::from_fn(n_q, n_k, |query, key| {
        slope * (key as f64 - (query as f64 + position_offset as f64)) + 0.0
    })
}

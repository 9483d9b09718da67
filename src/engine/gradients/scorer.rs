//! Back through the scorer, from raw scores to Q, K and the scorer's own parameters.

use super::super::{Matrix, Scoring};
use super::add_scaled;

/// Gradients of the scorer's own parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum ScorerGradients {
    /// Dot products have no parameters.
    None,
    /// Of v·tanh(W_q q + W_k k).
    Additive {
        /// ∂L/∂W_q. Shape (d_att, d_q).
        w_q: Matrix,
        /// ∂L/∂W_k. Shape (d_att, d_k).
        w_k: Matrix,
        /// ∂L/∂v: d_att numbers.
        v: Vec<f64>,
    },
    /// Of q·W·k.
    General {
        /// ∂L/∂W. Shape (d_q, d_k).
        w: Matrix,
    },
}

/// What comes out at the far end of the scorer.
pub(super) struct ThroughScorer {
    pub q: Matrix,
    pub k: Matrix,
    pub scorer: ScorerGradients,
}

/// A pair whose score has the gradient 0 (a blocked one, above all) is not read.
pub(super) fn through_scorer(scoring: &Scoring, q: &Matrix, k: &Matrix, d_raw: &Matrix) -> ThroughScorer {
    match scoring {
        Scoring::ScaledDot | Scoring::Dot | Scoring::Scale(_) => {
            let (d_q, d_k) = through_dot(q, k, d_raw);
            ThroughScorer { q: d_q, k: d_k, scorer: ScorerGradients::None }
        }
        Scoring::General { w } => {
            // q·W is dotted with k, so everything up to there is as for a dot product.
            let transformed = q.matmul(w); // (n_q, d_k)
            let (d_transformed, d_k) = through_dot(&transformed, k, d_raw); // (n_q, d_k), (n_k, d_k)
            let d_q = d_transformed.matmul(&w.transpose()); // (n_q, d_q)
            let w = q.transpose().matmul(&d_transformed); // (d_q, d_k)
            ThroughScorer { q: d_q, k: d_k, scorer: ScorerGradients::General { w } }
        }
        Scoring::Additive { w_q, w_k, v } => through_additive(q, k, d_raw, w_q, w_k, v),
    }
}

/// raw = q·k, so ∂L/∂q_i = Σ_j ∂L/∂raw_ij · k_j and ∂L/∂k_j = Σ_i ∂L/∂raw_ij · q_i.
fn through_dot(q: &Matrix, k: &Matrix, d_raw: &Matrix) -> (Matrix, Matrix) {
    let mut d_q = Matrix::zeros(q.rows(), q.cols());
    let mut d_k = Matrix::zeros(k.rows(), k.cols());
    for (query, key, d_score) in pairs(d_raw) {
        add_scaled(d_q.row_mut(query), d_score, k.row(key));
        add_scaled(d_k.row_mut(key), d_score, q.row(query));
    }
    (d_q, d_k) // (n_q, d_k), (n_k, d_k)
}

/// raw = v·h with h = tanh(W_q q + W_k k), so ∂L/∂v = ∂L/∂raw·h, and what reaches the sum inside is ∂L/∂raw·v·(1 − h²).
fn through_additive(
    q: &Matrix,
    k: &Matrix,
    d_raw: &Matrix,
    w_q: &Matrix,
    w_k: &Matrix,
    v: &[f64],
) -> ThroughScorer {
    let from_queries = q.matmul(&w_q.transpose()); // (n_q, d_att)
    let from_keys = k.matmul(&w_k.transpose()); // (n_k, d_att)
    let zeros_like = |matrix: &Matrix| Matrix::zeros(matrix.rows(), matrix.cols());
    let (mut d_q, mut d_k) = (zeros_like(q), zeros_like(k));
    let (mut d_w_q, mut d_w_k, mut d_v) = (zeros_like(w_q), zeros_like(w_k), vec![0.0; v.len()]);
    for (query, key, d_score) in pairs(d_raw) {
        for unit in 0..v.len() {
            let hidden = (from_queries.get(query, unit) + from_keys.get(key, unit)).tanh();
            let d_inside = d_score * v[unit] * (1.0 - hidden * hidden);
            d_v[unit] += d_score * hidden;
            add_scaled(d_w_q.row_mut(unit), d_inside, q.row(query));
            add_scaled(d_w_k.row_mut(unit), d_inside, k.row(key));
            add_scaled(d_q.row_mut(query), d_inside, w_q.row(unit));
            add_scaled(d_k.row_mut(key), d_inside, w_k.row(unit));
        }
    }
    let scorer = ScorerGradients::Additive { w_q: d_w_q, w_k: d_w_k, v: d_v };
    ThroughScorer { q: d_q, k: d_k, scorer }
}

/// Every pair whose score matters, with the gradient of its raw score.
fn pairs(d_raw: &Matrix) -> impl Iterator<Item = (usize, usize, f64)> {
    let all = (0..d_raw.rows()).flat_map(|query| (0..d_raw.cols()).map(move |key| (query, key)));
    all.map(|(query, key)| (query, key, d_raw.get(query, key))).filter(|&(.., d_score)| d_score != 0.0)
}

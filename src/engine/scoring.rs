//! From queries and keys to raw scores.

use super::{Matrix, Scoring};

/// The raw score of every pair, before scale, soft cap and mask. Shape (n_q, n_k).
///
/// Scores of pairs that a mask hides are computed too, as the textbook shows them; they go no further.
pub fn raw_scores(scoring: &Scoring, q: &Matrix, k: &Matrix) -> Matrix {
    match scoring {
        Scoring::ScaledDot | Scoring::Dot | Scoring::Scale(_) => q.matmul(&k.transpose()), // (n_q, n_k)
        Scoring::General { w } => q.matmul(w).matmul(&k.transpose()),                      // (n_q, n_k)
        Scoring::Additive { w_q, w_k, v } => additive_scores(q, k, w_q, w_k, v),           // (n_q, n_k)
    }
}

/// The factor between raw and scaled scores: 1/√d_k for [`Scoring::ScaledDot`], 1 where the scoring has none.
///
/// `d_k` is the width of the **head's own** keys, not of the model and not of the values (Vaswani et al., 2017).
/// Keys of width 0 give 1, so that their empty products stay 0.
pub fn scale_of(scoring: &Scoring, d_k: usize) -> f64 {
    match scoring {
        Scoring::ScaledDot if d_k > 0 => 1.0 / (d_k as f64).sqrt(),
        Scoring::Scale(scale) => *scale,
        Scoring::ScaledDot | Scoring::Dot | Scoring::Additive { .. } | Scoring::General { .. } => 1.0,
    }
}

/// c·tanh(s/c): nearly s for small scores, never beyond ±c. `cap` has to be above 0.
pub fn soft_cap(score: f64, cap: f64) -> f64 {
    cap * (score / cap).tanh()
}

/// v·tanh(W_q q + W_k k) for every pair; the two products are made once per query and once per key.
fn additive_scores(q: &Matrix, k: &Matrix, w_q: &Matrix, w_k: &Matrix, v: &[f64]) -> Matrix {
    let from_queries = q.matmul(&w_q.transpose()); // (n_q, d_att)
    let from_keys = k.matmul(&w_k.transpose()); // (n_k, d_att)
    Matrix::from_fn(q.rows(), k.rows(), |query, key| {
        let hidden = from_queries.row(query).iter().zip(from_keys.row(key));
        hidden.zip(v).fold(0.0, |sum, ((a, b), v)| sum + v * (a + b).tanh())
    }) // (n_q, n_k)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn queries() -> Matrix {
        Matrix::from_rows(&[[1.0, 2.0], [0.0, -1.0]]).unwrap()
    }

    #[test]
    fn general_scoring_is_q_times_w_times_k() {
        let w = Arc::new(Matrix::from_rows(&[[1.0, 0.0, 2.0], [0.0, 3.0, -1.0]]).unwrap());
        let k = Matrix::from_rows(&[[1.0, 1.0, 1.0], [0.5, 0.0, 2.0]]).unwrap();
        let found = raw_scores(&Scoring::General { w }, &queries(), &k);
        // q·W is [1, 6, 0] and [0, −3, 1].
        assert_eq!(found, Matrix::from_rows(&[[7.0, 0.5], [-2.0, 2.0]]).unwrap());
        let identity = Scoring::General { w: Arc::new(Matrix::identity(2)) };
        assert_eq!(
            raw_scores(&identity, &queries(), &queries()),
            raw_scores(&Scoring::Dot, &queries(), &queries())
        );
    }

    #[test]
    fn only_a_dot_product_is_divided_by_the_root_of_the_key_width() {
        assert_eq!(scale_of(&Scoring::ScaledDot, 64), 0.125);
        assert_eq!(scale_of(&Scoring::ScaledDot, 0), 1.0);
        assert_eq!(scale_of(&Scoring::Dot, 64), 1.0);
        assert_eq!(scale_of(&Scoring::Scale(-0.3), 64), -0.3);
        assert_eq!(scale_of(&Scoring::General { w: Arc::new(Matrix::identity(64)) }, 64), 1.0);
    }

    #[test]
    fn a_soft_cap_hardly_moves_small_scores_and_holds_back_large_ones() {
        assert!((soft_cap(0.1, 30.0) - 0.1).abs() < 1e-6);
        assert_eq!(soft_cap(1e9, 30.0), 30.0);
        assert_eq!(soft_cap(f64::NEG_INFINITY, 30.0), -30.0);
    }
}

//! The way back: from the gradient of a loss with respect to the output of one head to the gradients of Q, K, V and the scorer.
//!
//! Stages are undone in reverse order, each with the name of the stage it belongs to.

mod scorer;

use super::{Attention, AttentionSpec, HeadInput, Matrix, SoftmaxAxis};

pub use scorer::ScorerGradients;

/// Gradients of a loss with respect to every stage and input of one head.
///
/// A blocked pair passes nothing back: its entries are 0, and neither its key nor its value is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    /// ∂L/∂weights = ∂L/∂output · Vᵀ. Shape (n_q, n_k).
    pub weights: Matrix,
    /// ∂L/∂masked scores, through the softmax; it is the same with respect to the capped scores and to any bias. Shape (n_q, n_k).
    pub masked_scores: Matrix,
    /// ∂L/∂raw scores, through soft cap and scale. Shape (n_q, n_k).
    pub raw_scores: Matrix,
    /// ∂L/∂Q. Shape (n_q, d_q).
    pub q: Matrix,
    /// ∂L/∂K. Shape (n_k, d_k).
    pub k: Matrix,
    /// ∂L/∂V = weightsᵀ · ∂L/∂output. Shape (n_k, d_v).
    pub v: Matrix,
    /// Gradients of the scorer's own parameters.
    pub scorer: ScorerGradients,
}

/// How each weight of a row answers to each score: entry (i, j) is ∂w_i/∂s_j = w_i·(δ_ij − w_j). Shape (n_k, n_k).
///
/// The diagonal is p·(1 − p); every row and every column sums to 0, because the weights always sum to 1.
pub fn softmax_jacobian(weights: &[f64]) -> Matrix {
    let n = weights.len();
    Matrix::from_fn(n, n, |i, j| {
        let delta = if i == j { 1.0 } else { 0.0 };
        weights[i] * (delta - weights[j]) + 0.0
    })
}

/// The backward pass of one head: `attention` is what [`attend`](super::attend()) made of `input` and `spec`, and `d_output` is
/// ∂L/∂output, of shape (n_q, d_v). In `F64`, and without a mistake in `spec`.
///
/// # Panics
/// When the shapes do not fit together.
pub fn backward(
    input: &HeadInput,
    spec: &AttentionSpec,
    attention: &Attention,
    d_output: &Matrix,
) -> Gradients {
    let HeadInput { q, k, v } = input;
    let weights = through_mix(attention, v, d_output); // (n_q, n_k)
    let d_v = values(attention, v, d_output); // (n_k, d_v)
    let masked_scores = through_softmax(attention, spec.softmax.over, &weights); // (n_q, n_k)
    let raw_scores = through_cap_and_scale(attention, spec.softcap, &masked_scores); // (n_q, n_k)
    let scorer::ThroughScorer { q, k, scorer } = scorer::through_scorer(&spec.scoring, q, k, &raw_scores);
    Gradients { weights, masked_scores, raw_scores, q, k, v: d_v, scorer }
}

/// Whether the output depends on the value of this pair.
fn is_read(attention: &Attention, query: usize, key: usize) -> bool {
    attention.allows(query, key) || attention.weights.get(query, key) != 0.0
}

/// output = weights · V, so ∂L/∂w_ij = ∂L/∂o_i · v_j.
fn through_mix(attention: &Attention, v: &Matrix, d_output: &Matrix) -> Matrix {
    Matrix::from_fn(d_output.rows(), v.rows(), |query, key| {
        if is_read(attention, query, key) { dot(d_output.row(query), v.row(key)) } else { 0.0 }
    }) // (n_q, n_k)
}

/// output = weights · V, so ∂L/∂v_j = Σ_i w_ij · ∂L/∂o_i.
fn values(attention: &Attention, v: &Matrix, d_output: &Matrix) -> Matrix {
    let mut d_v = Matrix::zeros(v.rows(), v.cols());
    for query in 0..d_output.rows() {
        for key in (0..v.rows()).filter(|&key| is_read(attention, query, key)) {
            let weight = attention.weights.get(query, key);
            add_scaled(d_v.row_mut(key), weight, d_output.row(query));
        }
    }
    d_v // (n_k, d_v)
}

/// ∂L/∂s_j = w_j · (∂L/∂w_j − Σ_i w_i · ∂L/∂w_i): the Jacobian of the softmax times a vector, along the axis that sums to 1.
fn through_softmax(attention: &Attention, over: SoftmaxAxis, d_weights: &Matrix) -> Matrix {
    let weights = &attention.weights;
    let (n_q, n_k) = (weights.rows(), weights.cols());
    let mean = |pairs: &mut dyn Iterator<Item = (usize, usize)>| {
        let visible = pairs.filter(|&(query, key)| attention.allows(query, key));
        visible.fold(0.0, |sum, (query, key)| sum + weights.get(query, key) * d_weights.get(query, key))
    };
    let means: Vec<f64> = match over {
        SoftmaxAxis::Keys => (0..n_q).map(|query| mean(&mut (0..n_k).map(|key| (query, key)))).collect(),
        SoftmaxAxis::Queries => (0..n_k).map(|key| mean(&mut (0..n_q).map(|query| (query, key)))).collect(),
    };
    Matrix::from_fn(n_q, n_k, |query, key| {
        let mean = match over {
            SoftmaxAxis::Keys => means[query],
            SoftmaxAxis::Queries => means[key],
        };
        let visible = attention.allows(query, key);
        if visible { weights.get(query, key) * (d_weights.get(query, key) - mean) + 0.0 } else { 0.0 }
    }) // (n_q, n_k)
}

/// capped = c·tanh(raw·scale/c), whose slope with respect to raw is (1 − (capped/c)²)·scale. The mask adds, so it changes nothing.
fn through_cap_and_scale(attention: &Attention, softcap: Option<f64>, d_scores: &Matrix) -> Matrix {
    Matrix::from_fn(d_scores.rows(), d_scores.cols(), |query, key| {
        let d_score = d_scores.get(query, key);
        if d_score == 0.0 {
            return 0.0; // also where blocked, so that a blocked NaN is not read
        }
        let capped = |cap: f64| attention.scaled_scores.get(query, key) / cap;
        let slope = softcap.map_or(1.0, |cap| 1.0 - capped(cap) * capped(cap));
        d_score * slope * attention.scale + 0.0
    }) // (n_q, n_k)
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).fold(0.0, |sum, (left, right)| sum + left * right)
}

fn add_scaled(sums: &mut [f64], factor: f64, row: &[f64]) {
    for (sum, value) in sums.iter_mut().zip(row) {
        *sum += factor * value;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SoftmaxSpec, softmax_row};
    use super::*;

    #[test]
    fn the_jacobian_is_how_weights_answer_to_scores() {
        const STEP: f64 = 1e-6;
        let scores = [0.3, -1.2, 2.0, 0.0];
        let softmax = |scores: &[f64]| {
            let mut weights = vec![0.0; 4];
            softmax_row(scores, &[false; 4], SoftmaxSpec::default(), &mut weights);
            weights
        };
        let jacobian = softmax_jacobian(&softmax(&scores));
        for j in 0..4 {
            let (mut up, mut down) = (scores, scores);
            up[j] += STEP;
            down[j] -= STEP;
            for (i, (up, down)) in softmax(&up).into_iter().zip(softmax(&down)).enumerate() {
                assert!((jacobian.get(i, j) - (up - down) / (2.0 * STEP)).abs() < 1e-9, "({i}, {j})");
            }
        }
        for row in jacobian.iter_rows() {
            assert!(row.iter().sum::<f64>().abs() < 1e-15);
        }
    }
}

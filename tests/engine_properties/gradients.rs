//! The backward pass against finite differences of the forward pass.

use std::sync::Arc;

use proptest::prelude::*;
use qkv::engine::{AttentionSpec, HeadInput, Matrix, ScorerGradients, Scoring, attend, backward};

use crate::scene::{AnyHead, any_head};

const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 2e-6;

/// A loss whose gradient with respect to the output is known: Σ c · output.
fn loss(input: &HeadInput, spec: &AttentionSpec, c: &Matrix) -> f64 {
    let output = attend(input, spec, 0).output;
    output.data().iter().zip(c.data()).map(|(output, c)| output * c).sum()
}

/// Checks `gradient` entry by entry: `with(matrix)` is the head in which `matrix` has been replaced.
fn agrees(
    name: &str,
    matrix: &Matrix,
    gradient: &Matrix,
    loss_with: impl Fn(Matrix) -> f64,
) -> Result<(), TestCaseError> {
    prop_assert_eq!((matrix.rows(), matrix.cols()), (gradient.rows(), gradient.cols()));
    for row in 0..matrix.rows() {
        for col in 0..matrix.cols() {
            let moved = |by: f64| {
                let mut moved = matrix.clone();
                moved.set(row, col, matrix.get(row, col) + by);
                loss_with(moved)
            };
            let difference = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            let found = gradient.get(row, col);
            prop_assert!(
                (found - difference).abs() <= TOLERANCE * difference.abs().max(1.0),
                "{} ({}, {}): found {}, difference quotient {}",
                name,
                row,
                col,
                found,
                difference
            );
        }
    }
    Ok(())
}

fn as_row(numbers: &[f64]) -> Matrix {
    Matrix::from_rows(&[numbers]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, failure_persistence: None, ..Default::default() })]

    #[test]
    fn gradients_of_q_k_v_and_the_scorer_are_the_difference_quotients(AnyHead { input, mut spec } in any_head()) {
        spec.softmax.empty_rows = Default::default();
        let c = Matrix::from_fn(input.q.rows(), input.v.cols(), |row, col| (1.7 * (3 * row + col + 1) as f64).sin());
        let found = backward(&input, &spec, &attend(&input, &spec, 0), &c);
        let HeadInput { q, k, v } = &input;
        agrees("Q", q, &found.q, |q| loss(&HeadInput { q: Arc::new(q), ..input.clone() }, &spec, &c))?;
        agrees("K", k, &found.k, |k| loss(&HeadInput { k: Arc::new(k), ..input.clone() }, &spec, &c))?;
        agrees("V", v, &found.v, |v| loss(&HeadInput { v: Arc::new(v), ..input.clone() }, &spec, &c))?;
        let with = |scoring| loss(&input, &AttentionSpec { scoring, ..spec.clone() }, &c);
        match (&spec.scoring, &found.scorer) {
            (Scoring::General { w }, ScorerGradients::General { w: d_w }) => {
                agrees("W", w, d_w, |w| with(Scoring::General { w: Arc::new(w) }))?;
            }
            (Scoring::Additive { w_q, w_k, v }, ScorerGradients::Additive { w_q: d_w_q, w_k: d_w_k, v: d_v }) => {
                let additive = |w_q: &Arc<Matrix>, w_k: &Arc<Matrix>, v: &Arc<Vec<f64>>| {
                    with(Scoring::Additive { w_q: w_q.clone(), w_k: w_k.clone(), v: v.clone() })
                };
                agrees("W_q", w_q, d_w_q, |w_q| additive(&Arc::new(w_q), w_k, v))?;
                agrees("W_k", w_k, d_w_k, |w_k| additive(w_q, &Arc::new(w_k), v))?;
                agrees("v", &as_row(v), &as_row(d_v), |v| additive(w_q, w_k, &Arc::new(v.data().to_vec())))?;
            }
            (_, scorer) => prop_assert_eq!(scorer, &ScorerGradients::None),
        }
    }

    #[test]
    fn a_blocked_nan_does_not_reach_any_gradient(AnyHead { input, mut spec } in any_head()) {
        spec.softmax = Default::default();
        let c = Matrix::from_fn(input.q.rows(), input.v.cols(), |row, col| 1.0 + (row + col) as f64);
        let attention = attend(&input, &spec, 0);
        let hidden = |key: usize| (0..input.q.rows()).all(|query| !attention.allows(query, key));
        let spoil = |matrix: &Matrix| {
            Arc::new(Matrix::from_fn(matrix.rows(), matrix.cols(), |key, col| {
                if hidden(key) { f64::NAN } else { matrix.get(key, col) }
            }))
        };
        let spoilt = HeadInput { q: input.q.clone(), k: spoil(&input.k), v: spoil(&input.v) };
        let before = backward(&input, &spec, &attention, &c);
        let after = backward(&spoilt, &spec, &attend(&spoilt, &spec, 0), &c);
        prop_assert_eq!(before, after);
    }
}

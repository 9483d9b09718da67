//! The precision lens: one head in every number format, each against `F64`.

use super::{Attention, AttentionSpec, HeadInput, Matrix, Precision, attend_in};

/// One head in one format.
#[derive(Clone, Debug, PartialEq)]
pub struct InFormat {
    /// The format.
    pub precision: Precision,
    /// Above this, exp overflows in the format: what the naive softmax must not meet.
    pub exp_overflows_above: f64,
    /// How many visible scores lie above it.
    pub n_scores_that_overflow: usize,
    /// Every stage.
    pub attention: Attention,
    /// What each stage is off by.
    pub errors: StageErrors,
}

/// How far each stage is from the same stage in `F64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageErrors {
    /// Of the raw scores.
    pub raw_scores: StageError,
    /// Of the scaled scores.
    pub scaled_scores: StageError,
    /// Of the masked scores.
    pub masked_scores: StageError,
    /// Of the weights.
    pub weights: StageError,
    /// Of the output.
    pub output: StageError,
}

/// How far one stage is from the same stage in `F64`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageError {
    /// The largest |difference| among entries that are finite in both.
    pub largest: f64,
    /// `largest` over the largest finite |entry| in `F64`; 0 where that is 0.
    pub relative: f64,
    /// Entries that are finite in `F64` and NaN or infinite here.
    pub n_lost: usize,
}

/// The head in `F64`, `F32`, `Bf16` and `F16`, in this order; the errors of the first are 0.
///
/// # Panics
/// When the shapes do not fit together; [`HeadInput::check`] says so beforehand.
pub fn precision_lens(input: &HeadInput, spec: &AttentionSpec, query_head: usize) -> [InFormat; 4] {
    let exact = attend_in(Precision::F64, input, spec, query_head);
    Precision::ALL.map(|precision| {
        let attention = attend_in(precision, input, spec, query_head);
        let exp_overflows_above = precision.exp_overflows_above();
        let overflows = |score: &&f64| **score > exp_overflows_above;
        InFormat {
            precision,
            exp_overflows_above,
            n_scores_that_overflow: attention.masked_scores.data().iter().filter(overflows).count(),
            errors: errors(&exact, &attention),
            attention,
        }
    })
}

fn errors(exact: &Attention, found: &Attention) -> StageErrors {
    StageErrors {
        raw_scores: error(&exact.raw_scores, &found.raw_scores),
        scaled_scores: error(&exact.scaled_scores, &found.scaled_scores),
        masked_scores: error(&exact.masked_scores, &found.masked_scores),
        weights: error(&exact.weights, &found.weights),
        output: error(&exact.output, &found.output),
    }
}

fn error(exact: &Matrix, found: &Matrix) -> StageError {
    let mut error = StageError::default();
    let mut largest_entry: f64 = 0.0;
    for (exact, found) in exact.data().iter().zip(found.data()).filter(|(exact, _)| exact.is_finite()) {
        largest_entry = largest_entry.max(exact.abs());
        if found.is_finite() {
            error.largest = error.largest.max((found - exact).abs());
        } else {
            error.n_lost += 1;
        }
    }
    error.relative = if largest_entry > 0.0 { error.largest / largest_entry } else { 0.0 };
    error
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Scoring, SoftmaxForm};
    use super::*;

    fn column(numbers: &[f64]) -> Arc<Matrix> {
        Arc::new(Matrix::from_fn(numbers.len(), 1, |row, _| numbers[row]))
    }

    #[test]
    fn errors_grow_as_the_formats_get_coarser() {
        let wave =
            |step: f64| Arc::new(Matrix::from_fn(6, 8, |row, col| (step * (8 * row + col) as f64).sin()));
        let input = HeadInput { q: wave(0.7), k: wave(1.3), v: wave(0.2) };
        let lens = precision_lens(&input, &AttentionSpec::default(), 0);
        let [f64, f32, bf16, f16] =
            lens.map(|format| (format.errors.weights.largest, format.errors.output.relative));
        assert_eq!(f64, (0.0, 0.0));
        assert!(0.0 < f32.0 && f32.0 < f16.0 && f16.0 < bf16.0, "{f32:?} {f16:?} {bf16:?}");
        assert!(f32.1 < 1e-6 && f16.1 < 2e-3 && bf16.1 < 2e-2);
    }

    #[test]
    fn a_score_of_twelve_overflows_the_naive_exponential_in_half_precision_only() {
        let input = HeadInput { q: column(&[1.0]), k: column(&[12.0, 1.0]), v: column(&[1.0, 0.0]) };
        let mut spec = AttentionSpec { scoring: Scoring::Dot, ..Default::default() };
        let stable = precision_lens(&input, &spec, 0);
        assert_eq!(stable.each_ref().map(|format| format.n_scores_that_overflow), [0, 0, 0, 1]);
        assert_eq!(stable.each_ref().map(|format| format.errors.weights.n_lost), [0, 0, 0, 0]);
        spec.softmax.form = SoftmaxForm::Naive;
        let naive = precision_lens(&input, &spec, 0);
        assert_eq!(naive.each_ref().map(|format| format.errors.weights.n_lost), [0, 0, 0, 1]);
    }

    #[test]
    fn what_overflows_on_entry_is_counted_as_lost() {
        let input = HeadInput { q: column(&[300.0]), k: column(&[300.0]), v: column(&[70_000.0]) };
        let [_, f32, bf16, f16] = precision_lens(&input, &AttentionSpec::default(), 0);
        assert_eq!(
            (f32.errors.raw_scores.n_lost, bf16.errors.raw_scores.n_lost, f16.errors.raw_scores.n_lost),
            (0, 0, 1)
        );
        assert_eq!(f16.errors.output.n_lost, 1);
        assert_eq!(f32.errors.raw_scores, StageError::default());
    }
}

//! The stages of one head by name.

use super::Stage;
use crate::engine::{Attention, Matrix};

impl Stage {
    /// The matrix of this stage.
    pub fn of(self, attention: &Attention) -> &Matrix {
        match self {
            Self::RawScores => &attention.raw_scores,
            Self::ScaledScores => &attention.scaled_scores,
            Self::MaskedScores => &attention.masked_scores,
            Self::Weights => &attention.weights,
            Self::Output => &attention.output,
        }
    }
}

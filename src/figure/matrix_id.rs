//! Names of the matrices, and what kind each one is.

use super::MatrixId;
use crate::scene::Stage;

impl MatrixId {
    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Context => "context",
            Self::WQ => "w_q",
            Self::WK => "w_k",
            Self::WV => "w_v",
            Self::WO => "w_o",
            Self::Q => "q",
            Self::K => "k",
            Self::V => "v",
            Self::RawScores => "raw_scores",
            Self::ScaledScores => "scaled_scores",
            Self::MaskedScores => "masked_scores",
            Self::Weights => "weights",
            Self::Output => "output",
            Self::Concat => "concat",
            Self::FinalOutput => "final_output",
            Self::UnrotatedQ => "q_unrotated",
            Self::UnrotatedK => "k_unrotated",
            Self::GivenX => "x_given",
            Self::XPositions => "x_positions",
            Self::GivenContext => "context_given",
            Self::ContextPositions => "context_positions",
            Self::AlibiBias => "alibi_bias",
            Self::Pairs => "pairs",
            Self::Numbers => "numbers",
            Self::DroppedWeights => "weights_after_dropout",
            Self::OutputBeforeDropout => "output_before_dropout",
        }
    }

    /// The name shown to people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::X => "X",
            Self::Context => "Context",
            Self::WQ => "W_Q",
            Self::WK => "W_K",
            Self::WV => "W_V",
            Self::WO => "W_O",
            Self::Q => "Q",
            Self::K => "K",
            Self::V => "V",
            Self::RawScores => "Raw scores",
            Self::ScaledScores => "Scaled scores",
            Self::MaskedScores => "Masked scores",
            Self::Weights => "Weights",
            Self::Output => "Output",
            Self::Concat => "Heads side by side",
            Self::FinalOutput => "Output after W_O",
            Self::UnrotatedQ => "Q before rotation",
            Self::UnrotatedK => "K before rotation",
            Self::GivenX => "X before positions",
            Self::XPositions => "Positions of X",
            Self::GivenContext => "Context before positions",
            Self::ContextPositions => "Positions of the context",
            Self::AlibiBias => "ALiBi bias",
            Self::Pairs => "Queries by keys",
            Self::Numbers => "Numbers",
            Self::DroppedWeights => "Weights after dropout",
            Self::OutputBeforeDropout => "Output before dropout",
        }
    }

    /// Whether scenes have such a matrix, which can be looked up, copied and enlarged.
    pub const fn is_of_scene(self) -> bool {
        !matches!(self, Self::Pairs | Self::Numbers)
    }

    /// Whether a cell of it is a pair of a query and a key.
    pub const fn is_score_like(self) -> bool {
        matches!(
            self,
            Self::RawScores
                | Self::ScaledScores
                | Self::MaskedScores
                | Self::Weights
                | Self::DroppedWeights
                | Self::Pairs
        )
    }

    /// What its rows and columns stand for.
    pub const fn axes(self) -> (AxisOf, AxisOf) {
        match self {
            Self::RawScores
            | Self::ScaledScores
            | Self::MaskedScores
            | Self::Weights
            | Self::DroppedWeights
            | Self::AlibiBias
            | Self::Pairs => (AxisOf::Queries, AxisOf::Keys),
            Self::X
            | Self::Q
            | Self::Output
            | Self::OutputBeforeDropout
            | Self::Concat
            | Self::FinalOutput
            | Self::UnrotatedQ
            | Self::GivenX
            | Self::XPositions => (AxisOf::Queries, AxisOf::Features),
            Self::Context
            | Self::K
            | Self::V
            | Self::UnrotatedK
            | Self::GivenContext
            | Self::ContextPositions => (AxisOf::Keys, AxisOf::Features),
            Self::WQ | Self::WK | Self::WV | Self::WO | Self::Numbers => (AxisOf::Features, AxisOf::Features),
        }
    }

    /// Whether each head has its own.
    pub const fn is_per_head(self) -> bool {
        !matches!(
            self,
            Self::X
                | Self::Context
                | Self::WQ
                | Self::WK
                | Self::WV
                | Self::WO
                | Self::Concat
                | Self::FinalOutput
                | Self::GivenX
                | Self::XPositions
                | Self::GivenContext
                | Self::ContextPositions
        )
    }
}

/// What the rows or the columns of a matrix stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisOf {
    /// One per query.
    Queries,
    /// One per key.
    Keys,
    /// One per feature.
    Features,
}

impl From<Stage> for MatrixId {
    fn from(stage: Stage) -> Self {
        match stage {
            Stage::RawScores => Self::RawScores,
            Stage::ScaledScores => Self::ScaledScores,
            Stage::MaskedScores => Self::MaskedScores,
            Stage::Weights => Self::Weights,
            Stage::Output => Self::Output,
        }
    }
}

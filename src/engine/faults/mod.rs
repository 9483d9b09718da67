//! The named mistakes: wrong attention that people have really shipped, computed for real.
//!
//! A fault of a head gives every stage as the mistake makes it, under the mask that was meant: `blocked_by` is that of the correct
//! form, so that the standing checks see what leaks. Most mistakes are nothing but other settings (`settings`, `masks`), four need
//! another way of computing (`head`), and three lie between the heads.

mod between_heads;
mod head;
mod masks;
mod settings;

pub use between_heads::{faulty_concat, faulty_kv_head_of, faulty_split};
pub(super) use head::attend_with_fault;
pub use settings::{blocked_in_force, spec_in_force};

/// One mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Softmax along the queries: columns sum to 1.
    SoftmaxOverQueries,
    /// The scores are not scaled.
    NoScale,
    /// 1/√d_model in place of 1/√d_k.
    ModelWidthScale,
    /// The boolean mask is read the other way round: blocked pairs are visible and visible ones blocked.
    InvertedBoolean,
    /// Blocked weights are set to 0 after the softmax: rows sum to less than 1.
    MaskAfterSoftmax,
    /// Scores are multiplied by 0 or 1 before the softmax: a blocked pair has the score 0, not −∞.
    MaskMultiplied,
    /// −10⁴ is added in place of −∞: a query that sees nothing attends as if nothing were blocked.
    MinusTenThousand,
    /// −10⁹ is added in place of −∞, in `F32` where the head would be in `F64`: the scores of a query that sees nothing drown in
    /// rounding, and its weights are uniform.
    MinusOneBillion,
    /// exp(s) without subtracting the maximum.
    NaiveExp,
    /// Causal layers are aligned to the other corner.
    WrongCorner,
    /// Padding blocks the rows of padded queries, not the columns of padded keys.
    PaddingOnQueryRows,
    /// KV heads are tiled (0, 1, 0, 1), not repeated (0, 0, 1, 1).
    TiledKvHeads,
    /// A projected matrix is cut into heads by reshaping alone.
    SplitWithoutTranspose,
    /// Heads are merged by reshaping alone.
    MergeWithoutTranspose,
    /// The soft cap comes after the mask: −∞ becomes −cap, and blocked keys keep weight.
    SoftCapAfterMask,
    /// Biases are multiplied by the scale of the scores, and shrink with them.
    BiasScaledWithScores,
    /// The sum of the exponentials is kept in `F16`: it stalls at 2048.
    SumInHalfPrecision,
}

/// A mistake that a head makes, with what it takes to make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultInForce {
    /// Which mistake.
    pub fault: Fault,
    /// The model width that [`Fault::ModelWidthScale`] takes the root of.
    pub d_model: usize,
}

/// What a fault is a fault of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultSite {
    /// One head: [`attend`](super::attend()) makes it.
    Head,
    /// Which KV head a query head reads: [`faulty_kv_head_of`].
    KvHeads,
    /// How projections are cut into heads: [`faulty_split`].
    Split,
    /// How heads are put side by side: [`faulty_concat`].
    Merge,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::SoftmaxOverQueries,
        Self::NoScale,
        Self::ModelWidthScale,
        Self::InvertedBoolean,
        Self::MaskAfterSoftmax,
        Self::MaskMultiplied,
        Self::MinusTenThousand,
        Self::MinusOneBillion,
        Self::NaiveExp,
        Self::WrongCorner,
        Self::PaddingOnQueryRows,
        Self::TiledKvHeads,
        Self::SplitWithoutTranspose,
        Self::MergeWithoutTranspose,
        Self::SoftCapAfterMask,
        Self::BiasScaledWithScores,
        Self::SumInHalfPrecision,
    ];

    /// A few words.
    pub fn label(self) -> &'static str {
        match self {
            Self::SoftmaxOverQueries => "softmax over the queries",
            Self::NoScale => "no scale",
            Self::ModelWidthScale => "1/√d_model for 1/√d_k",
            Self::InvertedBoolean => "boolean mask inverted",
            Self::MaskAfterSoftmax => "mask after softmax",
            Self::MaskMultiplied => "mask multiplied in before softmax",
            Self::MinusTenThousand => "−10⁴ for −∞",
            Self::MinusOneBillion => "−10⁹ for −∞",
            Self::NaiveExp => "exp without the maximum",
            Self::WrongCorner => "causal from the other corner",
            Self::PaddingOnQueryRows => "padding on query rows",
            Self::TiledKvHeads => "KV heads tiled",
            Self::SplitWithoutTranspose => "heads split without transpose",
            Self::MergeWithoutTranspose => "heads merged without transpose",
            Self::SoftCapAfterMask => "soft cap after the mask",
            Self::BiasScaledWithScores => "bias scaled with the scores",
            Self::SumInHalfPrecision => "softmax sum in half precision",
        }
    }

    /// Whether scores of blocked pairs take part in the softmax by a way of computing that no settings express.
    pub(super) fn blocks_nothing(self) -> bool {
        matches!(self, Self::MaskAfterSoftmax | Self::MaskMultiplied | Self::SoftCapAfterMask)
    }

    /// What it is a fault of.
    pub fn site(self) -> FaultSite {
        match self {
            Self::TiledKvHeads => FaultSite::KvHeads,
            Self::SplitWithoutTranspose => FaultSite::Split,
            Self::MergeWithoutTranspose => FaultSite::Merge,
            _ => FaultSite::Head,
        }
    }
}

//! What a scene comes to.

use std::sync::Arc;

use crate::engine::{Attention, Dropped, Fault, HeadInput, Matrix};

/// Everything computed from one scene: each head, and the heads put together.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// One per query head, in order.
    pub heads: Vec<HeadEvaluation>,
    /// The heads side by side, in head order. Shape (n_q, heads · d_v).
    pub concat: Arc<Matrix>,
    /// `concat`, times W_O plus b_o where the scene has them.
    pub output: Arc<Matrix>,
    /// What the mistake of the scene changes, where it makes one on purpose.
    pub fault: Option<FaultEffect>,
    /// What a reader should know though nothing is wrong: a query that sees nothing, a 0/1 additive mask, NaN and where it came from.
    pub warnings: Vec<String>,
}

/// One query head.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadEvaluation {
    /// Which query head, from 0.
    pub query_head: usize,
    /// The KV head that it reads, from 0: ⌊query_head · kv_heads / h⌋.
    pub kv_head: usize,
    /// Q, K and V that the scores and the output are made of: turned by rotary positions and rounded to the precision of the scene.
    pub input: HeadInput,
    /// Q and K before rotary positions turned them, not rounded; `None` where nothing is turned.
    pub unrotated: Option<Unrotated>,
    /// What ALiBi adds to the scaled scores, where the scene gives positions in that way.
    pub alibi: Option<AlibiBias>,
    /// Every stage, before dropout.
    pub attention: Attention,
    /// After dropout, where the scene has any.
    pub dropped: Option<Dropped>,
}

impl HeadEvaluation {
    /// What the head hands on: after dropout, where there is any. Shape (n_q, d_v).
    pub fn output(&self) -> &Matrix {
        self.dropped.as_ref().map_or(&self.attention.output, |dropped| &dropped.output)
    }
}

/// What a mistake made on purpose changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultEffect {
    /// The mistake.
    pub fault: Fault,
    /// The largest |difference| from what was meant among the weights of all heads; ∞ where a number is lost.
    pub weights: f64,
    /// The same of the output of the scene.
    pub output: f64,
}

/// Q and K of one head as they are given or projected, before they are turned.
#[derive(Clone, Debug, PartialEq)]
pub struct Unrotated {
    /// Shape (n_q, d_k).
    pub q: Arc<Matrix>,
    /// Shape (n_k, d_k).
    pub k: Arc<Matrix>,
}

/// The linear bias of one query head.
#[derive(Clone, Debug, PartialEq)]
pub struct AlibiBias {
    /// What each step of distance takes off a score; above 0.
    pub slope: f64,
    /// slope · (key position − query position). Shape (n_q, n_k).
    pub bias: Arc<Matrix>,
}

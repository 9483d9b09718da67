//! What a scene comes to.

use std::sync::Arc;

use crate::engine::{Attention, HeadInput, Matrix};

/// Everything computed from one scene: each head, and the heads put together.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// One per query head, in order.
    pub heads: Vec<HeadEvaluation>,
    /// The heads side by side, in head order. Shape (n_q, heads · d_v).
    pub concat: Arc<Matrix>,
    /// `concat`, times W_O plus b_o where the scene has them.
    pub output: Arc<Matrix>,
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
    /// Q, K and V of this head.
    pub input: HeadInput,
    /// Every stage.
    pub attention: Attention,
}

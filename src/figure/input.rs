//! What figures read: a scene and its evaluation, by reference.

use super::MatrixId;
use crate::engine::{AttentionSpec, Matrix};
use crate::scene::HeadEvaluation;

/// Everything that a figure may show. Layout reads nothing else, so it can be tried on evaluations made by hand.
#[derive(Clone, Copy, Debug)]
pub struct FigureInput<'a> {
    /// Shown above the figure.
    pub title: &'a str,
    /// One label per query.
    pub query_labels: &'a [String],
    /// One label per key.
    pub key_labels: &'a [String],
    /// Every query head.
    pub heads: &'a [HeadEvaluation],
    /// The heads side by side. Shape (n_q, heads · d_v).
    pub concat: &'a Matrix,
    /// `concat`, times W_O plus b_o where the scene has them.
    pub output: &'a Matrix,
    /// Scoring, soft cap, mask and softmax in force.
    pub spec: &'a AttentionSpec,
    /// Hidden states and weights, where Q, K and V are projected.
    pub projection: Option<ProjectionInput<'a>>,
}

/// Hidden states and what they are multiplied by.
#[derive(Clone, Copy, Debug)]
pub struct ProjectionInput<'a> {
    /// Shape (n_q, d_model).
    pub x: &'a Matrix,
    /// Shape (n_k, d_context); `None` where keys and values are made of `x`.
    pub context: Option<&'a Matrix>,
    /// Shape (d_model, heads · d_k).
    pub w_q: &'a Matrix,
    /// Shape (d_context, kv_heads · d_k).
    pub w_k: &'a Matrix,
    /// Shape (d_context, kv_heads · d_v).
    pub w_v: &'a Matrix,
    /// heads · d_k numbers.
    pub b_q: Option<&'a [f64]>,
    /// kv_heads · d_k numbers.
    pub b_k: Option<&'a [f64]>,
    /// kv_heads · d_v numbers.
    pub b_v: Option<&'a [f64]>,
    /// Shape (heads · d_v, d_out).
    pub w_o: Option<&'a Matrix>,
    /// d_out numbers.
    pub b_o: Option<&'a [f64]>,
}

impl<'a> FigureInput<'a> {
    /// The head asked for, or the last one. `None` for an evaluation without heads.
    pub fn head(&self, head: usize) -> Option<&'a HeadEvaluation> {
        self.heads.get(head).or_else(|| self.heads.last())
    }

    /// How many KV heads the query heads share.
    pub fn kv_heads(&self) -> usize {
        self.heads.iter().map(|head| head.kv_head + 1).max().unwrap_or(0)
    }

    /// The matrix of that name, as the given head sees it. `None` where the scene has no such matrix.
    pub fn matrix(&self, id: MatrixId, head: usize) -> Option<&'a Matrix> {
        let stages = self.head(head)?;
        let projection = self.projection;
        match id {
            MatrixId::X => projection.map(|p| p.x),
            MatrixId::Context => projection.and_then(|p| p.context),
            MatrixId::WQ => projection.map(|p| p.w_q),
            MatrixId::WK => projection.map(|p| p.w_k),
            MatrixId::WV => projection.map(|p| p.w_v),
            MatrixId::WO => projection.and_then(|p| p.w_o),
            MatrixId::Q => Some(&stages.input.q),
            MatrixId::K => Some(&stages.input.k),
            MatrixId::V => Some(&stages.input.v),
            MatrixId::RawScores => Some(&stages.attention.raw_scores),
            MatrixId::ScaledScores => Some(&stages.attention.scaled_scores),
            MatrixId::MaskedScores => Some(&stages.attention.masked_scores),
            MatrixId::Weights => Some(&stages.attention.weights),
            MatrixId::Output => Some(&stages.attention.output),
            MatrixId::Concat => Some(self.concat),
            MatrixId::FinalOutput => Some(self.output),
        }
    }
}

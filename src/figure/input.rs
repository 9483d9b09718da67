//! What figures read: a scene and its evaluation, by reference.

use std::borrow::Cow;
use std::sync::Arc;

use super::MatrixId;
use crate::engine::{AttentionSpec, Fault, Matrix, spec_in_force};
use crate::scene::{Evaluation, HeadEvaluation, Position, Projection, Scene, Sinusoidal};

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
    pub projection: Option<&'a Projection>,
    /// How attention comes to know where a token stands.
    pub position: Position,
    /// The scene itself, which remembers what was rounded away. Evaluations made by hand have none.
    pub scene: Option<&'a Scene>,
    /// Whether the weights were computed elsewhere and nothing else is known: no other matrix is shown then.
    pub gives_weights: bool,
}

impl<'a> FigureInput<'a> {
    /// What figures read of a scene and of what it comes to.
    pub fn new(scene: &'a Scene, evaluation: &'a Evaluation) -> Self {
        Self {
            title: &scene.spec().title,
            query_labels: scene.query_labels(),
            key_labels: scene.key_labels(),
            heads: &evaluation.heads,
            concat: &evaluation.concat,
            output: &evaluation.output,
            spec: scene.attention_spec(),
            projection: scene.projection(),
            position: scene.spec().position,
            scene: Some(scene),
            gives_weights: scene.gives_weights(),
        }
    }

    /// The head asked for, or the last one. `None` for an evaluation without heads.
    pub fn head(&self, head: usize) -> Option<&'a HeadEvaluation> {
        self.heads.get(head).or_else(|| self.heads.last())
    }

    /// The settings that a head really computes with, where a mistake is made on purpose.
    pub fn in_force(&self, head: usize) -> Cow<'a, AttentionSpec> {
        let Some(head) = self.head(head) else { return Cow::Borrowed(self.spec) };
        let (q, k) = (&head.input.q, &head.input.k);
        spec_in_force(self.spec, q.rows(), k.rows(), k.cols(), head.query_head)
    }

    /// The mistake that is made on purpose.
    pub fn fault(&self) -> Option<Fault> {
        self.spec.fault.map(|in_force| in_force.fault)
    }

    /// How many KV heads the query heads share.
    pub fn kv_heads(&self) -> usize {
        self.heads.iter().map(|head| head.kv_head + 1).max().unwrap_or(0)
    }

    /// The matrix of that name, as the given head sees it. `None` where the scene has no such matrix.
    pub fn matrix(&self, id: MatrixId, head: usize) -> Option<&'a Matrix> {
        let stages = self.head(head)?;
        if self.gives_weights && id != MatrixId::Weights {
            return None;
        }
        let projection = self.projection;
        match id {
            MatrixId::X => projection.map(|p| &*p.x),
            MatrixId::Context => projection.filter(|p| !Arc::ptr_eq(&p.x, &p.context)).map(|p| &*p.context),
            MatrixId::WQ => projection.map(|p| &*p.w_q),
            MatrixId::WK => projection.map(|p| &*p.w_k),
            MatrixId::WV => projection.map(|p| &*p.w_v),
            MatrixId::WO => projection.and_then(|p| p.w_o.as_deref()),
            MatrixId::Q => Some(&stages.input.q),
            MatrixId::K => Some(&stages.input.k),
            MatrixId::V => Some(&stages.input.v),
            MatrixId::RawScores => Some(&stages.attention.raw_scores),
            MatrixId::ScaledScores => Some(&stages.attention.scaled_scores),
            MatrixId::MaskedScores => Some(&stages.attention.masked_scores),
            MatrixId::Weights => Some(&stages.attention.weights),
            MatrixId::Output => Some(stages.output()),
            MatrixId::Concat => Some(self.concat),
            MatrixId::FinalOutput => Some(self.output),
            MatrixId::UnrotatedQ => stages.unrotated.as_ref().map(|unrotated| &*unrotated.q),
            MatrixId::UnrotatedK => stages.unrotated.as_ref().map(|unrotated| &*unrotated.k),
            MatrixId::GivenX => self.sinusoidal().map(|added| &*added.x),
            MatrixId::XPositions => self.sinusoidal().map(|added| &*added.x_positions),
            MatrixId::GivenContext => self.sinusoidal_context().map(|added| &*added.context),
            MatrixId::ContextPositions => self.sinusoidal_context().map(|added| &*added.context_positions),
            MatrixId::AlibiBias => stages.alibi.as_ref().map(|alibi| &*alibi.bias),
            MatrixId::Pairs | MatrixId::Numbers => None,
            MatrixId::DroppedWeights => stages.dropped.as_ref().map(|dropped| &dropped.weights),
            MatrixId::OutputBeforeDropout => stages.dropped.as_ref().map(|_| &stages.attention.output),
        }
    }

    /// What was added to the hidden states.
    fn sinusoidal(&self) -> Option<&'a Sinusoidal> {
        self.projection?.sinusoidal.as_ref()
    }

    /// The same, where keys and values are made of others than the queries are.
    fn sinusoidal_context(&self) -> Option<&'a Sinusoidal> {
        let projection =
            self.projection.filter(|projection| !Arc::ptr_eq(&projection.x, &projection.context));
        projection?.sinusoidal.as_ref()
    }

    /// Whether rotary positions turn queries and keys.
    pub fn is_rotated(&self) -> bool {
        matches!(self.position, Position::Rope { .. })
    }
}

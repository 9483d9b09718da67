//! What follows from a scene: its evaluation, and what the standing checks say of that.

use std::sync::Arc;

use crate::cost::{CacheInputs, ComplexityInputs};
use crate::engine::{Cancelled, Check, CheckOutcome, Progress, Scoring};
use crate::scene::{self, Evaluation, Scene};

use super::costs::{cache_of, complexity_of};

/// Everything computed from one revision of the scene, but for the checks.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The revision that this answers.
    pub revision: u64,
    /// The scene that was evaluated.
    pub scene: Arc<Scene>,
    /// What it comes to.
    pub evaluation: Arc<Evaluation>,
    /// What it costs to compute.
    pub complexity: ComplexityInputs,
    /// What a cache would hold of it.
    pub cache: CacheInputs,
}

/// Two are the same when they answer the same revision of the same scene; what is computed from that is the same too.
impl PartialEq for Derived {
    fn eq(&self, other: &Self) -> bool {
        self.revision == other.revision && self.scene == other.scene
    }
}

/// What the standing checks say of one revision.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The revision that this answers.
    pub revision: u64,
    /// Every check with its outcome, in the order in which they are shown.
    pub outcomes: Vec<(Check, CheckOutcome)>,
}

impl Derived {
    /// Evaluates a scene. Pure; runs inline or on a worker alike.
    pub fn of(revision: u64, scene: Arc<Scene>) -> Self {
        let evaluation = scene::evaluate(&scene);
        Self::from(revision, scene, evaluation)
    }

    /// [`of`](Self::of), stoppable.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled before the end.
    pub fn of_with(revision: u64, scene: Arc<Scene>, progress: &Progress) -> Result<Self, Cancelled> {
        let evaluation = scene::evaluate_with(&scene, progress)?;
        Ok(Self::from(revision, scene, evaluation))
    }

    fn from(revision: u64, scene: Arc<Scene>, evaluation: Evaluation) -> Self {
        let (complexity, cache) = (complexity_of(&scene), cache_of(&scene));
        Self { revision, scene, evaluation: Arc::new(evaluation), complexity, cache }
    }
}

impl Checked {
    /// Runs the standing checks.
    pub fn of(derived: &Derived) -> Self {
        let outcomes = scene::checks(&derived.scene, &derived.evaluation);
        Self { revision: derived.revision, outcomes }
    }

    /// [`of`](Self::of), stoppable.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled before the end.
    pub fn of_with(derived: &Derived, progress: &Progress) -> Result<Self, Cancelled> {
        let outcomes = scene::checks_with(&derived.scene, &derived.evaluation, progress)?;
        Ok(Self { revision: derived.revision, outcomes })
    }
}

/// Roughly how many multiply-adds an evaluation takes, to choose between this frame and the worker.
pub fn estimated_macs(scene: &Scene) -> u128 {
    let (n_q, n_k) = (scene.n_q() as u128, scene.n_k() as u128);
    /// A tanh takes as long as about so many multiply-adds.
    const TANH: u128 = 16;
    let per_score = match &scene.attention_spec().scoring {
        Scoring::Additive { v, .. } => TANH * v.len() as u128,
        Scoring::ScaledDot | Scoring::Dot | Scoring::Scale(_) | Scoring::General { .. } => {
            scene.d_k() as u128
        }
    };
    let pairs = n_q * n_k * scene.heads() as u128;
    let projections = scene.projection().map_or(0, |projection| {
        let of = |n: u128, w: &crate::engine::Matrix| n * w.data().len() as u128;
        let to_heads = of(n_q, &projection.w_q) + of(n_k, &projection.w_k) + of(n_k, &projection.w_v);
        to_heads + projection.w_o.as_ref().map_or(0, |w_o| of(n_q, w_o))
    });
    // Weights that are given are at least looked at.
    pairs.saturating_mul((per_score + scene.d_v() as u128).max(1)) + projections
}

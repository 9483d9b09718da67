//! What follows from a scene: its evaluation and the standing checks.

use std::sync::Arc;

use crate::cost::{CacheInputs, ComplexityInputs};
use crate::engine::{Check, CheckOutcome};
use crate::scene::{self, Evaluation, Scene};

use super::costs::{cache_of, complexity_of};

/// Everything computed from one revision of the scene.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The revision that this answers.
    pub revision: u64,
    /// The scene that was evaluated.
    pub scene: Arc<Scene>,
    /// What it comes to.
    pub evaluation: Arc<Evaluation>,
    /// The standing checks.
    pub checks: Vec<(Check, CheckOutcome)>,
    /// What it costs to compute.
    pub complexity: ComplexityInputs,
    /// What a cache would hold of it.
    pub cache: CacheInputs,
}

impl Derived {
    /// Evaluates a scene. Pure; runs inline or on a worker alike.
    pub fn of(revision: u64, scene: Arc<Scene>) -> Self {
        let evaluation = Arc::new(scene::evaluate(&scene));
        let checks = scene::checks(&scene, &evaluation);
        let (complexity, cache) = (complexity_of(&scene), cache_of(&scene));
        Self { revision, scene, evaluation, checks, complexity, cache }
    }
}

/// Roughly how many multiply-adds an evaluation takes, to choose between this frame and the worker.
pub fn estimated_macs(scene: &Scene) -> u128 {
    let pairs = scene.n_q() as u128 * scene.n_k() as u128;
    pairs * (scene.d_k() + scene.d_v()) as u128 * scene.heads() as u128
}

//! From a scene to everything that is computed from it.

use std::sync::Arc;

use super::given;
use super::positions::{Prepared, prepared};
use super::warnings::not_finite_rows;
use super::{Evaluation, HeadEvaluation, Scene};
use crate::engine::{
    Check, CheckOutcome, CheckedHead, Matrix, attend, checks_of_given_weights, concat_heads, project,
    standing_checks,
};

/// Every stage of every head, the heads side by side, and the output: concat · W_O + b_o where the scene has them. Where only
/// the [weights are given](Scene::gives_weights), they are all there is: the other stages are empty.
///
/// Cannot fail: a [`Scene`] is valid. Takes time in proportion to heads · n_q · n_k · (d_k + d_v).
pub fn evaluate(scene: &Scene) -> Evaluation {
    if let Some(given) = scene.given() {
        return given::evaluation(scene, given);
    }
    let heads: Vec<HeadEvaluation> = prepared(scene)
        .into_iter()
        .enumerate()
        .map(|(query_head, Prepared { input, unrotated, alibi })| HeadEvaluation {
            query_head,
            kv_head: scene.kv_head_of(query_head),
            attention: attend(&input, scene.attention_spec(), query_head),
            input,
            unrotated,
            alibi,
        })
        .collect();
    let outputs: Vec<&Matrix> = heads.iter().map(|head| &head.attention.output).collect();
    let concat = Arc::new(concat_heads(&outputs)); // (n_q, heads · d_v)
    let output = match scene.projection().and_then(|projection| Some((projection.w_o.as_ref()?, projection)))
    {
        Some((w_o, projection)) => Arc::new(project(&concat, w_o, projection.b_o.as_deref())), // (n_q, d_out)
        None => Arc::clone(&concat),
    };
    let warnings = warnings(scene, &heads);
    Evaluation { heads, concat, output, warnings }
}

/// The standing checks on a scene and its evaluation, in the order in which they are shown.
///
/// Three of them evaluate again with changed inputs: about as long as a few evaluations in large scenes.
pub fn checks(scene: &Scene, evaluation: &Evaluation) -> Vec<(Check, CheckOutcome)> {
    let heads: Vec<CheckedHead<'_>> = evaluation
        .heads
        .iter()
        .map(|HeadEvaluation { query_head, input, attention, .. }| CheckedHead {
            query_head: *query_head,
            input,
            attention,
        })
        .collect();
    match scene.given() {
        Some(given) => checks_of_given_weights(&heads, given.judged_in()),
        None => standing_checks(&heads, scene.attention_spec()),
    }
}

/// What was known before, and what only the numbers tell.
fn warnings(scene: &Scene, heads: &[HeadEvaluation]) -> Vec<String> {
    let mut warnings: Vec<String> =
        scene.warnings().iter().map(|complaint| complaint.message.clone()).collect();
    for head in heads {
        warnings.extend(not_finite_rows(scene, head, heads.len()));
    }
    warnings
}

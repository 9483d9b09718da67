//! From a scene to everything that is computed from it.

use std::sync::Arc;

use super::mistakes;
use super::positions::{Prepared, prepared};
use super::warnings::not_finite_rows;
use super::{Evaluation, HeadEvaluation, Scene};
use crate::engine::{
    Attention, Check, CheckOutcome, CheckedHead, Dropped, Fault, HeadInput, Matrix, attend, concat_heads,
    faulty_concat, project, spec_in_force, standing_checks,
};

/// Every stage of every head, the heads side by side, and the output: concat · W_O + b_o where the scene has them.
///
/// Cannot fail: a [`Scene`] is valid. Takes time in proportion to heads · n_q · n_k · (d_k + d_v).
pub fn evaluate(scene: &Scene) -> Evaluation {
    let heads: Vec<HeadEvaluation> = prepared(scene)
        .into_iter()
        .enumerate()
        .map(|(query_head, Prepared { input, unrotated, alibi })| {
            let attention = attend(&input, scene.attention_spec(), query_head);
            HeadEvaluation {
                query_head,
                kv_head: scene.kv_head_of(query_head),
                dropped: dropped(scene, &input, &attention, query_head),
                attention,
                input,
                unrotated,
                alibi,
            }
        })
        .collect();
    let concat = Arc::new(concat(scene, &heads)); // (n_q, heads · d_v)
    let output = match scene.projection().and_then(|projection| Some((projection.w_o.as_ref()?, projection)))
    {
        Some((w_o, projection)) => Arc::new(project(&concat, w_o, projection.b_o.as_deref())), // (n_q, d_out)
        None => Arc::clone(&concat),
    };
    let warnings = warnings(scene, &heads);
    let mut evaluation = Evaluation { heads, concat, output, fault: None, warnings };
    if let (Some(fault), Some(meant)) = (scene.spec().fault, scene.as_meant()) {
        let effect = mistakes::effect(fault, &evaluate(&meant), &evaluation);
        evaluation.warnings.insert(0, mistakes::warning(scene, effect));
        evaluation.fault = Some(effect);
    }
    evaluation
}

fn dropped(scene: &Scene, input: &HeadInput, attention: &Attention, query_head: usize) -> Option<Dropped> {
    let spec = scene.attention_spec();
    let in_force = spec_in_force(spec, input.q.rows(), input.k.rows(), input.k.cols(), query_head);
    Some(scene.dropout()?.apply(attention, &input.v, &in_force, query_head))
}

/// The heads side by side, unless they are merged wrongly on purpose. Shape (n_q, heads · d_v).
fn concat(scene: &Scene, heads: &[HeadEvaluation]) -> Matrix {
    let outputs: Vec<&Matrix> = heads.iter().map(HeadEvaluation::output).collect();
    match scene.spec().fault {
        Some(Fault::MergeWithoutTranspose) => faulty_concat(&outputs),
        _ => concat_heads(&outputs),
    }
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
    let mut outcomes = standing_checks(&heads, scene.attention_spec());
    if scene.dropout().is_some() {
        outcomes.iter_mut().for_each(|(_, outcome)| outcome.say("before dropout"));
    }
    outcomes
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

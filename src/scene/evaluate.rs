//! From a scene to everything that is computed from it.

use std::sync::Arc;

use super::given;
use super::mistakes;
use super::positions::{Prepared, prepared};
use super::projection::project_with;
use super::warnings::not_finite_rows;
use super::{AlibiBias, Evaluation, HeadEvaluation, Scene};
use crate::engine::{
    Attention, AttentionSpec, Cancelled, Check, CheckOutcome, CheckedHead, Dropped, Fault, HeadInput, Matrix,
    Precision, Progress, alibi_bias, attend, attend_fast, attend_in_with, checks_of_given_weights,
    concat_heads, faulty_concat, spec_in_force, standing_checks_of,
};

/// Every stage of every head, the heads side by side, and the output: concat · W_O + b_o where the scene has them. Where only
/// the [weights are given](Scene::gives_weights), they are all there is: the other stages are empty.
///
/// Cannot fail: a [`Scene`] is valid. Takes time in proportion to heads · n_q · n_k · (d_k + d_v).
pub fn evaluate(scene: &Scene) -> Evaluation {
    match evaluate_with(scene, &Progress::default()) {
        Ok(evaluation) => evaluation,
        Err(Cancelled) => unreachable!("nobody else holds this progress"),
    }
}

/// [`evaluate`], stoppable, counting the finished rows of all projections and heads.
///
/// # Errors
/// [`Cancelled`] when `progress` was cancelled before the end.
pub fn evaluate_with(scene: &Scene, progress: &Progress) -> Result<Evaluation, Cancelled> {
    let meant = scene.spec().fault.and_then(|fault| Some((fault, scene.as_meant()?)));
    let of_meant = meant.as_ref().map_or(0, |(_, meant)| meant.rows_to_compute());
    progress.announce(scene.rows_to_compute().saturating_add(of_meant));
    let mut evaluation = as_it_is(scene, progress)?;
    if let Some((fault, meant)) = meant {
        let effect = mistakes::effect(fault, &as_it_is(&meant, progress)?, &evaluation);
        evaluation.warnings.insert(0, mistakes::warning(scene, effect));
        evaluation.fault = Some(effect);
    }
    Ok(evaluation)
}

/// The evaluation, not yet compared with what was meant.
fn as_it_is(scene: &Scene, progress: &Progress) -> Result<Evaluation, Cancelled> {
    progress.check()?;
    if let Some(given) = scene.given() {
        return Ok(given::evaluation(scene, given));
    }
    let heads = prepared(scene, progress)?
        .into_iter()
        .enumerate()
        .map(|(query_head, prepared)| head(scene, query_head, prepared, progress))
        .collect::<Result<Vec<HeadEvaluation>, Cancelled>>()?;
    let concat = Arc::new(concat(scene, &heads)); // (n_q, heads · d_v)
    let output = projected(scene, &concat, progress)?;
    progress.check()?;
    let warnings = warnings(scene, &heads);
    Ok(Evaluation { heads, concat, output, fault: None, warnings })
}

fn head(
    scene: &Scene,
    query_head: usize,
    prepared: Prepared,
    progress: &Progress,
) -> Result<HeadEvaluation, Cancelled> {
    let Prepared { input, unrotated, alibi_slope } = prepared;
    let offset = scene.spec().position_offset;
    let alibi = alibi_slope.map(|slope| AlibiBias {
        slope,
        bias: Arc::new(alibi_bias(slope, scene.n_q(), scene.n_k(), offset)),
    });
    let attention = stages_of(&input, scene.attention_spec(), query_head, progress)?;
    Ok(HeadEvaluation {
        query_head,
        kv_head: scene.kv_head_of(query_head),
        dropped: dropped(scene, &input, &attention, query_head),
        attention,
        input,
        unrotated,
        alibi,
    })
}

/// Every stage of one head, by the form that serves it: the one place where that is decided.
///
/// Small heads take the plain form, so that their numbers are those of the textbook's order of sums on every machine.
fn stages_of(
    input: &HeadInput,
    spec: &AttentionSpec,
    query_head: usize,
    progress: &Progress,
) -> Result<Attention, Cancelled> {
    match spec.precision {
        Precision::F64 if input.is_large() => attend_fast(input, spec, query_head, progress),
        Precision::F64 => {
            progress.check()?;
            let attention = attend(input, spec, query_head);
            progress.advance(input.q.rows());
            Ok(attention)
        }
        narrow => attend_in_with(narrow, input, spec, query_head, progress),
    }
}

/// The heads side by side, times W_O plus b_o where the scene has them. Shape (n_q, d_out).
pub(super) fn projected(
    scene: &Scene,
    concat: &Arc<Matrix>,
    progress: &Progress,
) -> Result<Arc<Matrix>, Cancelled> {
    match scene.projection().and_then(|projection| Some((projection.w_o.as_ref()?, projection))) {
        Some((w_o, projection)) => {
            project_with(concat, w_o, projection.b_o.as_deref(), progress).map(Arc::new)
        }
        None => Ok(Arc::clone(concat)),
    }
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
    outcomes(scene, evaluation, &Progress::default())
}

/// [`checks`], stoppable.
///
/// # Errors
/// [`Cancelled`] when `progress` was cancelled before the end.
pub fn checks_with(
    scene: &Scene,
    evaluation: &Evaluation,
    progress: &Progress,
) -> Result<Vec<(Check, CheckOutcome)>, Cancelled> {
    progress.check()?;
    let outcomes = outcomes(scene, evaluation, progress);
    progress.check()?;
    Ok(outcomes)
}

/// The outcomes; after the wish to stop they mean nothing.
fn outcomes(scene: &Scene, evaluation: &Evaluation, progress: &Progress) -> Vec<(Check, CheckOutcome)> {
    let heads: Vec<CheckedHead<'_>> = evaluation
        .heads
        .iter()
        .map(|HeadEvaluation { query_head, input, attention, .. }| CheckedHead {
            query_head: *query_head,
            input,
            attention,
        })
        .collect();
    if let Some(given) = scene.given() {
        return checks_of_given_weights(&heads, given.judged_in());
    }
    let again = |input: &HeadInput, spec: &AttentionSpec, query_head: usize| {
        // Once stopped, the stages at hand stand in for new ones, so that the checks end at once.
        stages_of(input, spec, query_head, progress)
            .unwrap_or_else(|Cancelled| evaluation.heads[query_head].attention.clone())
    };
    let mut outcomes = standing_checks_of(&heads, scene.attention_spec(), again);
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

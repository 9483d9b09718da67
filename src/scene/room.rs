//! Whether what is to be computed can be held in memory. Judged before anything is reserved for it.

use super::inputs::Inputs;
use super::model::{Input, Position, SceneSpec, ScoringSpec};
use super::resolve::{Resolver, grouped_wide};
use super::sizes::Sizes;
use super::tensors::grouped;
use crate::engine::{OutputError, Precision, SoftmaxAxis, SoftmaxForm, StageMemory};

/// What the stages of all heads may take: 2 GiB.
const MAX_BYTES: u128 = 2 << 30;

/// Queries, or keys.
const MAX_POSITIONS: usize = 1 << 20;

const BYTES_PER_NUMBER: u128 = 8;

/// What an evaluation keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Every stage of every head.
    Stages,
    /// The outputs alone.
    Output,
}

/// Whether an evaluation that keeps so much can be held.
pub(super) fn judge(spec: &SceneSpec, inputs: &Inputs, keeps: Keeps, resolver: &mut Resolver<'_>) {
    let Sizes { n_q, n_k, heads, .. } = *inputs.sizes();
    for (n, what) in [(n_q, "queries"), (n_k, "keys")] {
        if n > MAX_POSITIONS {
            let (n, most) = (grouped(n as u64), grouped(MAX_POSITIONS as u64));
            resolver.complain("input", format!("there are {n} {what}; at most {most} are allowed"));
        }
    }
    let (what, wanted) = match keeps {
        Keeps::Stages => ("stages", stage_bytes(spec, inputs)),
        Keeps::Output => ("outputs", output_bytes(inputs)),
    };
    if wanted.is_some_and(|wanted| wanted <= MAX_BYTES) {
        return;
    }
    let message = format!(
        "the {what} of {} with {} and {} want {}; at most {} are allowed",
        plural(heads, "head", "heads"),
        plural(n_q, "query", "queries"),
        plural(n_k, "key", "keys"),
        wanted.map_or_else(|| "more bytes than can be counted".to_owned(), in_words),
        in_words(MAX_BYTES),
    );
    let output_serves = keeps == Keeps::Stages
        && without_output_form(spec).is_none()
        && output_bytes(inputs).is_some_and(|bytes| bytes <= MAX_BYTES);
    let hint = if output_serves {
        "take fewer tokens or heads; the output without its stages is made by `qkv compute SCENE --output-only`"
    } else {
        "take fewer tokens or heads"
    };
    resolver.complain_with("input", &message, hint);
}

/// Raw, scaled and masked scores, weights, who blocks each pair, outputs and projections.
fn stage_bytes(spec: &SceneSpec, inputs: &Inputs) -> Option<u128> {
    let Sizes { n_q, n_k, d_v, heads, .. } = *inputs.sizes();
    if matches!(inputs, Inputs::Weights(..)) {
        return (n_q as u128 * n_k as u128).checked_mul(heads as u128 * BYTES_PER_NUMBER); // and nothing else
    }
    let has_mask = !spec.mask.is_empty() || spec.position == Position::Alibi;
    let stages = StageMemory { heads, n_q, n_k, d_v, has_mask }.bytes()?;
    // ALiBi keeps its bias, a narrow format its unrounded products, dropout what is left of the weights.
    let kept = u128::from(spec.position == Position::Alibi)
        + u128::from(spec.precision != Precision::F64)
        + u128::from(spec.dropout.is_some());
    // Beside a mistake what was meant is computed for comparison.
    let stages = stages.checked_mul(1 + u128::from(spec.fault.is_some()))?;
    let pairs = (n_q as u128 * n_k as u128).checked_mul(heads as u128)?;
    stages.checked_add(pairs.checked_mul(BYTES_PER_NUMBER * kept)?)?.checked_add(output_bytes(inputs)?)
}

/// Outputs of the heads, the heads side by side, and projections.
fn output_bytes(inputs: &Inputs) -> Option<u128> {
    let Sizes { n_q, d_v, heads, projected, .. } = *inputs.sizes();
    let outputs = (n_q as u128 * d_v as u128).checked_mul(2 * heads as u128)?;
    outputs.checked_add(projected)?.checked_mul(BYTES_PER_NUMBER)
}

/// What of a scene needs its stages, if anything does: the field and why.
pub(super) fn without_output_form(spec: &SceneSpec) -> Option<(&'static str, String)> {
    if matches!(spec.input, Input::Weights { .. }) {
        let message = "this input gives the weights alone; there are no values to make an output of";
        return Some(("input", message.to_owned()));
    }
    if matches!(spec.scoring, ScoringSpec::Additive { .. } | ScoringSpec::General { .. }) {
        return Some(("scoring", OutputError::Scorer.to_string()));
    }
    if spec.fault.is_some() {
        return Some(("fault", OutputError::Fault.to_string()));
    }
    if spec.dropout.is_some() {
        let message = "the output-only form keeps no weights that could be dropped; leave dropout out or keep the stages";
        return Some(("dropout", message.to_owned()));
    }
    if spec.softmax.over == SoftmaxAxis::Queries {
        return Some(("softmax.over", OutputError::OverQueries.to_string()));
    }
    if spec.softmax.form == SoftmaxForm::Naive {
        return Some(("softmax.form", OutputError::Naive.to_string()));
    }
    let narrow = (spec.precision != Precision::F64).then(|| spec.precision.label());
    narrow.map(|narrow| {
        let message = format!(
            "the output-only form computes in f64, but the scene asks for {narrow}; choose F64 or keep the stages"
        );
        ("precision", message)
    })
}

/// `3,221,225,472 bytes (3.0 GiB)`.
fn in_words(bytes: u128) -> String {
    let gib = bytes as f64 / (1_u128 << 30) as f64;
    format!("{} bytes ({gib:.1} GiB)", grouped_wide(bytes))
}

/// `1 head`, `4,096 queries`.
fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n as u64), if n == 1 { one } else { many })
}

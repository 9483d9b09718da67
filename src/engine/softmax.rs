//! From masked scores to weights that sum to 1.

use super::{EmptyRow, Precision, SoftmaxForm, SoftmaxSpec};

/// The two numbers that normalise one row (or one column, where softmax runs over the queries).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normalizer {
    /// The largest visible score: −∞ when nothing is visible, NaN when a visible score is NaN.
    pub max: f64,
    /// Σ exp(s − max) over what is visible, or Σ exp(s) in the naive form; 0 when nothing is visible.
    pub sum: f64,
}

/// Softmax of one row. A blocked entry is never read and gets exactly 0.
///
/// w_j = exp(s_j − max) / Σ exp(s − max); the naive form leaves the maximum out. A visible NaN or +∞ makes every visible
/// weight NaN in the stable form. A row with nothing visible follows `spec.empty_rows`. `spec.over` is the caller's concern.
///
/// `scores`, `blocked` and `weights` have one entry per key.
pub fn softmax_row(scores: &[f64], blocked: &[bool], spec: SoftmaxSpec, weights: &mut [f64]) -> Normalizer {
    softmax_row_in(Precision::F64, scores, blocked, spec, None, weights)
}

/// [`softmax_row`] in a narrower format: exponentials and their sum are kept as the format keeps sums, weights are rounded when
/// stored. The naive form, as the textbook codes it, also stores its exponentials in the format itself. A `sink` adds its own exponential to the sum.
pub(super) fn softmax_row_in(
    precision: Precision,
    scores: &[f64],
    blocked: &[bool],
    spec: SoftmaxSpec,
    sink: Option<f64>,
    weights: &mut [f64],
) -> Normalizer {
    if blocked.iter().all(|&blocked| blocked) {
        weights.fill(precision.round(empty_weight_beside(sink, spec.empty_rows, scores.len())));
        return Normalizer { max: f64::NEG_INFINITY, sum: 0.0 };
    }
    let sink = sink.map(|sink| precision.round(sink));
    let max = with_sink(visible_max(scores, blocked), sink);
    let subtracted = subtracted(spec.form, max);
    let exp = |score: f64| exp_in(precision, spec.form, score - subtracted);
    let mut sum = 0.0;
    for ((weight, &score), &blocked) in weights.iter_mut().zip(scores).zip(blocked) {
        *weight = if blocked { 0.0 } else { exp(score) };
        sum = precision.round_sum(sum + *weight);
    }
    if let Some(sink) = sink {
        sum = precision.round_sum(sum + exp(sink));
    }
    for (weight, &blocked) in weights.iter_mut().zip(blocked) {
        if !blocked {
            *weight = precision.round(precision.round_sum(*weight / sum));
        }
    }
    Normalizer { max, sum }
}

/// exp of a score less what is subtracted, as a format keeps it.
pub(super) fn exp_in(precision: Precision, form: SoftmaxForm, difference: f64) -> f64 {
    let exp = precision.round_sum(precision.round_sum(difference).exp());
    if form == SoftmaxForm::Naive { precision.round(exp) } else { exp }
}

/// What every visible score is lowered by before it is exponentiated.
pub fn subtracted(form: SoftmaxForm, max: f64) -> f64 {
    match form {
        SoftmaxForm::Stable => max,
        SoftmaxForm::Naive => 0.0,
    }
}

/// The weight of every key in a row of `n_k` keys that sees none of them.
pub fn empty_weight(policy: EmptyRow, n_k: usize) -> f64 {
    match policy {
        EmptyRow::Zero => 0.0,
        EmptyRow::NotANumber => f64::NAN,
        EmptyRow::Uniform => 1.0 / n_k as f64,
    }
}

/// [`empty_weight`], unless there is a sink, which then takes all the weight.
pub(super) fn empty_weight_beside(sink: Option<f64>, policy: EmptyRow, n_k: usize) -> f64 {
    if sink.is_some() { 0.0 } else { empty_weight(policy, n_k) }
}

/// The larger of the largest score and the sink; NaN stays.
pub(super) fn with_sink(max: f64, sink: Option<f64>) -> f64 {
    match sink {
        Some(sink) if sink > max || sink.is_nan() => sink,
        _ => max,
    }
}

/// The largest visible score; unlike `f64::max` it does not lose a NaN.
pub(super) fn visible_max(scores: &[f64], blocked: &[bool]) -> f64 {
    let visible = scores.iter().zip(blocked).filter(|&(_, &blocked)| !blocked);
    visible
        .fold(f64::NEG_INFINITY, |max, (&score, _)| if score > max || score.is_nan() { score } else { max })
}

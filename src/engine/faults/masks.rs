//! The mistakes that are nothing but another mask.

use super::super::scoring::scale_of;
use super::super::{AttentionSpec, Convention, Corner, MaskRule, MaskView, Matrix};

/// Every causal layer from the other corner.
pub(super) fn other_corner(spec: &AttentionSpec) -> Vec<MaskRule> {
    with_layers(spec, |rule| match rule {
        MaskRule::Causal(Corner::TopLeft) => MaskRule::Causal(Corner::BottomRight),
        MaskRule::Causal(Corner::BottomRight) => MaskRule::Causal(Corner::TopLeft),
        other => other.clone(),
    })
}

/// Padding layers laid over the rows of queries: where query i is padding, it sees nothing; padded keys are seen by all others.
pub(super) fn padded_rows(spec: &AttentionSpec, n_q: usize, n_k: usize) -> Vec<MaskRule> {
    let rows = |is_padding: &dyn Fn(usize) -> bool| MaskRule::Matrix {
        convention: Convention::TrueBlocks,
        rows: (0..n_q).map(|query| vec![is_padding(query); n_k]).collect(),
    };
    with_layers(spec, |rule| match rule {
        MaskRule::ValidKeys(n_valid) => rows(&|query| query >= *n_valid),
        MaskRule::PaddedKeys(padding) => rows(&|query| padding.get(query).copied().unwrap_or(true)),
        other => other.clone(),
    })
}

/// The whole mask as one boolean matrix in which `true` means visible, read as if it meant blocked. It stands in place of the first
/// layer that only says yes or no (behind all layers where there is none); the others of that kind add nothing, and biases stay.
pub(super) fn inverted(spec: &AttentionSpec, n_q: usize, n_k: usize, query_head: usize) -> Vec<MaskRule> {
    let view = view(spec, n_q, n_k, query_head);
    let visible = |query| (0..n_k).map(|key| view.allows(query, key)).collect();
    let rows = (0..n_q).map(visible).collect::<Vec<Vec<bool>>>();
    let mut boolean = Some(MaskRule::Matrix { convention: Convention::TrueBlocks, rows });
    let each = |(layer, rule): (usize, &MaskRule)| match rule {
        rule if adds(rule) => changed_layer(&view, layer, rule, (n_q, n_k), |bias, _| finite(bias)),
        _ => boolean.take().unwrap_or_else(|| MaskRule::Additive(Matrix::zeros(n_q, n_k))),
    };
    let mut mask: Vec<MaskRule> = spec.mask.iter().enumerate().map(each).collect();
    mask.extend(boolean);
    mask
}

/// Nothing blocked; finite biases stay.
pub(super) fn finite_biases(
    spec: &AttentionSpec,
    n_q: usize,
    n_k: usize,
    query_head: usize,
) -> Vec<MaskRule> {
    let view = view(spec, n_q, n_k, query_head);
    if !view.has_bias() {
        return Vec::new();
    }
    vec![MaskRule::Additive(Matrix::from_fn(n_q, n_k, |query, key| finite(view.bias(query, key))))]
}

/// `penalty` in place of −∞, added by the first layer that blocks a pair; biases stay, and nothing is blocked any more.
pub(super) fn penalised(
    spec: &AttentionSpec,
    n_q: usize,
    n_k: usize,
    query_head: usize,
    penalty: f64,
) -> Vec<MaskRule> {
    let view = view(spec, n_q, n_k, query_head);
    let each = |(layer, rule): (usize, &MaskRule)| {
        changed_layer(&view, layer, rule, (n_q, n_k), |bias, (query, key)| {
            let is_first = view.blocked_by(query, key) == Some(layer);
            finite(bias) + if is_first { penalty } else { 0.0 }
        })
    };
    spec.mask.iter().enumerate().map(each).collect()
}

/// Biases multiplied by the scale of the scores.
pub(super) fn scaled_biases(
    spec: &AttentionSpec,
    n_q: usize,
    n_k: usize,
    d_k: usize,
    query_head: usize,
) -> Vec<MaskRule> {
    let view = view(spec, n_q, n_k, query_head);
    let scale = scale_of(&spec.scoring, d_k);
    let scaled = |bias: f64| if bias == f64::NEG_INFINITY { bias } else { bias * scale };
    let each = |(layer, rule): (usize, &MaskRule)| match rule {
        MaskRule::Alibi(slopes) => MaskRule::Alibi(slopes.iter().map(|slope| slope * scale).collect()),
        rule if adds(rule) => changed_layer(&view, layer, rule, (n_q, n_k), |bias, _| scaled(bias)),
        rule => rule.clone(),
    };
    spec.mask.iter().enumerate().map(each).collect()
}

/// Whether a layer adds numbers.
fn adds(rule: &MaskRule) -> bool {
    matches!(rule, MaskRule::Additive(_) | MaskRule::AdditivePerHead(_) | MaskRule::Alibi(_))
}

/// A layer that adds to each pair what `change` makes of its bias (0 where it only says yes or no). Linear biases that block nothing
/// stay what they are, so that they can be told.
fn changed_layer(
    view: &MaskView<'_>,
    layer: usize,
    rule: &MaskRule,
    (n_q, n_k): (usize, usize),
    change: impl Fn(f64, (usize, usize)) -> f64,
) -> MaskRule {
    let bias = |query, key| view.layer_bias(layer, query, key).unwrap_or(0.0);
    let changed = Matrix::from_fn(n_q, n_k, |query, key| change(bias(query, key), (query, key)));
    let is_same = |(at, value): (usize, &f64)| value.to_bits() == bias(at / n_k, at % n_k).to_bits();
    match rule {
        MaskRule::Alibi(_) if changed.data().iter().enumerate().all(is_same) => rule.clone(),
        _ => MaskRule::Additive(changed),
    }
}

/// A bias of −∞ blocks; without blocking there is nothing to add.
fn finite(bias: f64) -> f64 {
    if bias == f64::NEG_INFINITY { 0.0 } else { bias }
}

fn view(spec: &AttentionSpec, n_q: usize, n_k: usize, query_head: usize) -> MaskView<'_> {
    MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, query_head)
}

fn with_layers(spec: &AttentionSpec, change: impl Fn(&MaskRule) -> MaskRule) -> Vec<MaskRule> {
    spec.mask.iter().map(change).collect()
}

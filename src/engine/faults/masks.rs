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

/// The whole mask as one boolean matrix in which `true` means visible, read as if it meant blocked. Finite biases stay.
pub(super) fn inverted(spec: &AttentionSpec, n_q: usize, n_k: usize, query_head: usize) -> Vec<MaskRule> {
    let view = view(spec, n_q, n_k, query_head);
    let rows = (0..n_q)
        .map(|query| (0..n_k).map(|key| view.allows(query, key)).collect())
        .collect::<Vec<Vec<bool>>>();
    let boolean = MaskRule::Matrix { convention: Convention::TrueBlocks, rows };
    [vec![boolean], finite_biases(spec, n_q, n_k, query_head)].concat()
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

/// `penalty` in place of −∞ for blocked pairs, biases for the others; nothing is blocked any more.
pub(super) fn penalised(
    spec: &AttentionSpec,
    n_q: usize,
    n_k: usize,
    query_head: usize,
    penalty: f64,
) -> Vec<MaskRule> {
    if spec.mask.is_empty() {
        return Vec::new();
    }
    let view = view(spec, n_q, n_k, query_head);
    let added = |query, key| if view.allows(query, key) { view.bias(query, key) } else { penalty };
    vec![MaskRule::Additive(Matrix::from_fn(n_q, n_k, added))]
}

/// Biases multiplied by the scale of the scores, since they are added before it.
pub(super) fn scaled_biases(
    spec: &AttentionSpec,
    n_q: usize,
    n_k: usize,
    d_k: usize,
    query_head: usize,
) -> Vec<MaskRule> {
    let view = view(spec, n_q, n_k, query_head);
    if !view.has_bias() {
        return spec.mask.clone();
    }
    let scale = scale_of(&spec.scoring, d_k);
    let added = |query, key| {
        if view.allows(query, key) { view.bias(query, key) * scale } else { f64::NEG_INFINITY }
    };
    vec![MaskRule::Additive(Matrix::from_fn(n_q, n_k, added))]
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

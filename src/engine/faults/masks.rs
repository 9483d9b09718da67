//! The mistakes that are nothing but another mask.

use super::super::{AttentionSpec, Convention, Corner, MaskRule, MaskView, Matrix};

/// Every causal layer from the other corner.
pub(super) fn other_corner(spec: &AttentionSpec) -> AttentionSpec {
    with_layers(spec, |rule| match rule {
        MaskRule::Causal(Corner::TopLeft) => MaskRule::Causal(Corner::BottomRight),
        MaskRule::Causal(Corner::BottomRight) => MaskRule::Causal(Corner::TopLeft),
        other => other.clone(),
    })
}

/// Padding layers laid over the rows of queries: where query i is padding, it sees nothing; padded keys are seen by all others.
pub(super) fn padded_rows(spec: &AttentionSpec, n_q: usize, n_k: usize) -> AttentionSpec {
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
pub(super) fn inverted(spec: &AttentionSpec, n_q: usize, n_k: usize, query_head: usize) -> AttentionSpec {
    let view = MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, query_head);
    let rows = (0..n_q)
        .map(|query| (0..n_k).map(|key| view.allows(query, key)).collect())
        .collect::<Vec<Vec<bool>>>();
    let boolean = MaskRule::Matrix { convention: Convention::TrueBlocks, rows };
    AttentionSpec {
        mask: [vec![boolean], finite_biases(spec, n_q, n_k, query_head)].concat(),
        ..spec.clone()
    }
}

/// Nothing blocked; finite biases stay.
pub(super) fn nothing_blocked(
    spec: &AttentionSpec,
    n_q: usize,
    n_k: usize,
    query_head: usize,
) -> AttentionSpec {
    AttentionSpec { mask: finite_biases(spec, n_q, n_k, query_head), ..spec.clone() }
}

fn finite_biases(spec: &AttentionSpec, n_q: usize, n_k: usize, query_head: usize) -> Vec<MaskRule> {
    let view = MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, query_head);
    if !view.has_bias() {
        return Vec::new();
    }
    let finite = |bias: f64| if bias == f64::NEG_INFINITY { 0.0 } else { bias };
    vec![MaskRule::Additive(Matrix::from_fn(n_q, n_k, |query, key| finite(view.bias(query, key))))]
}

fn with_layers(spec: &AttentionSpec, change: impl Fn(&MaskRule) -> MaskRule) -> AttentionSpec {
    AttentionSpec { mask: spec.mask.iter().map(change).collect(), ..spec.clone() }
}

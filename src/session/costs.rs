//! The sizes of a scene as the calculators take them.

use crate::cost::{CacheInputs, ComplexityInputs, Configuration, StorageType};
use crate::engine::{MaskRule, MaskView, Precision};
use crate::scene::Scene;

/// The number format of the scene as the calculators name it.
fn format_of(scene: &Scene) -> StorageType {
    match scene.attention_spec().precision {
        Precision::F64 => StorageType::f64,
        Precision::F32 => StorageType::f32,
        Precision::Bf16 => StorageType::bf16,
        Precision::F16 => StorageType::f16,
    }
}

fn bytes_per_number(scene: &Scene) -> u64 {
    match scene.attention_spec().precision {
        Precision::F64 => 8,
        Precision::F32 => 4,
        Precision::Bf16 | Precision::F16 => 2,
    }
}

/// What the scene on screen costs to compute: its own sizes, and the pairs that its own mask leaves visible.
pub fn complexity_of(scene: &Scene) -> ComplexityInputs {
    let spec = scene.spec();
    let (n_q, n_k) = (scene.n_q(), scene.n_k());
    let is_masked = !spec.mask.is_empty();
    let per_head =
        |rule: &MaskRule| matches!(rule, MaskRule::MatrixPerHead { .. } | MaskRule::AdditivePerHead(_));
    let heads_differ = spec.mask.iter().any(per_head);
    ComplexityInputs {
        n_q: n_q as u64,
        n_k: n_k as u64,
        d_k: scene.d_k() as u64,
        d_v: scene.d_v() as u64,
        heads: scene.heads() as u64,
        kv_heads: scene.kv_heads() as u64,
        d_model: scene.d_model().map(|width| width as u64),
        d_context: scene.projection().map(|projection| projection.context.cols() as u64),
        visible_pairs: is_masked.then(|| visible_pairs(scene, 0)),
        visible_pairs_of_all_heads: heads_differ
            .then(|| (0..scene.heads()).map(|head| visible_pairs(scene, head)).sum()),
        bytes_per_score: bytes_per_number(scene),
        has_output_projection: scene.projection().is_some_and(|projection| projection.w_o.is_some()),
        ..ComplexityInputs::default()
    }
}

/// Pairs of one query head that no mask layer hides.
fn visible_pairs(scene: &Scene, head: usize) -> u64 {
    let (n_q, n_k) = (scene.n_q(), scene.n_k());
    let spec = scene.spec();
    let mask = MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, head);
    let visible_in = |query: usize| (0..n_k).filter(|key| mask.allows(query, *key)).count() as u64;
    (0..n_q).map(visible_in).sum()
}

/// What a cache would hold of the scene on screen: one layer, its keys and values in the number format of the scene.
pub fn cache_of(scene: &Scene) -> CacheInputs {
    CacheInputs {
        layers: 1,
        heads: scene.heads() as u64,
        kv_heads: scene.kv_heads() as u64,
        d_k: scene.d_k() as u64,
        d_v: scene.d_v() as u64,
        k_type: format_of(scene),
        v_type: format_of(scene),
        tokens: scene.n_k() as u64,
        sequences: 1,
    }
}

/// The same as a configuration that can stand beside others. A scene that projects nothing has no model width of its own;
/// it is taken to be as wide as its heads together.
pub fn configuration_of(scene: &Scene) -> Configuration {
    Configuration::uniform("This scene", &cache_of(scene), scene.d_model().map(|width| width as u64))
}

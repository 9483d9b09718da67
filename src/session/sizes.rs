//! Widths and numbers of heads of scenes whose Q, K and V are written out.

use std::sync::Arc;

use crate::engine::Matrix;
use crate::scene::{Input, MatrixSource, Scene, SceneSpec};

/// Resizes every Q and K to `d_k` columns and every V to `d_v`.
pub(super) fn set_widths(spec: &mut SceneSpec, scene: &Scene, d_k: usize, d_v: usize) -> Result<(), String> {
    let refusal = read_from_file(spec);
    let Input::Heads { q, k, v } = &mut spec.input else { return Err(refusal) };
    let sized =
        q.iter_mut().chain(k).map(|source| (source, d_k)).chain(v.iter_mut().map(|source| (source, d_v)));
    for (source, width) in sized {
        let old = source.matrix(scene.files())?;
        let cell = |row: usize, col: usize| if col < old.cols() { old.get(row, col) } else { 0.0 };
        *source = MatrixSource::Rows(Arc::new(Matrix::from_fn(old.rows(), width, cell)));
    }
    Ok(())
}

/// Gives the scene `n_heads` query heads, each with K and V of its own.
pub(super) fn set_heads(spec: &mut SceneSpec, scene: &Scene, n_heads: usize) -> Result<(), String> {
    let refusal = read_from_file(spec);
    let Input::Heads { q, k, v } = &mut spec.input else { return Err(refusal) };
    if n_heads == 0 {
        return Err("a scene has at least one head".to_owned());
    }
    let n_before = scene.heads();
    let kv_head_of = |head: usize| scene.kv_head_of(head.min(n_before.saturating_sub(1)));
    let (keys, values) = (k.clone(), v.clone());
    let last = q.last().cloned().ok_or("this scene has no head to repeat")?;
    q.resize(n_heads, last);
    if let Some(last) = spec.sinks.last().copied() {
        spec.sinks.resize(n_heads, last);
    }
    spec.view.head = spec.view.head.min(n_heads);
    *k = (0..n_heads).filter_map(|head| keys.get(kv_head_of(head)).cloned()).collect();
    *v = (0..n_heads).filter_map(|head| values.get(kv_head_of(head)).cloned()).collect();
    Ok(())
}

/// Why sizes cannot be changed where they follow from something else.
pub(super) fn read_from_file(spec: &SceneSpec) -> String {
    match &spec.input {
        Input::Tensors { file, .. } => {
            format!("Q, K and V are read from {file}; edit one of their numbers first, which writes them out")
        }
        Input::Weights { file, .. } => {
            format!(
                "the weights are read from {file}, as they were computed elsewhere; nothing here can be edited but labels"
            )
        }
        Input::Heads { .. } | Input::Projected(_) => {
            "the sizes of this scene follow from X and its weight matrices".to_owned()
        }
    }
}

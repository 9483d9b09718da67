//! Adding and removing positions: rows of the matrices, labels and mask layers follow together.

use std::sync::Arc;

use crate::engine::{MaskRule, Matrix};
use crate::scene::{Input, MatrixSource, Scene, SceneSpec, Tokens};

use super::Axis;

/// What happens at one position of an axis.
#[derive(Clone, Copy)]
enum Change {
    Append,
    Remove(usize),
}

/// Appends a position of zeros to an axis (to both, where one sequence stands on both sides).
pub(super) fn add(spec: &mut SceneSpec, scene: &Scene, axis: Axis) -> Result<(), String> {
    change(spec, scene, axis, Change::Append)
}

/// Removes a position from an axis (from both, where one sequence stands on both sides).
pub(super) fn remove(spec: &mut SceneSpec, scene: &Scene, axis: Axis, position: usize) -> Result<(), String> {
    let n = if axis == Axis::Queries { scene.n_q() } else { scene.n_k() };
    if position >= n {
        return Err(format!("there are {n} positions; position {} lies outside", position + 1));
    }
    if n == 1 {
        return Err("a scene keeps at least one position on each side".to_owned());
    }
    change(spec, scene, axis, Change::Remove(position))
}

fn change(spec: &mut SceneSpec, scene: &Scene, axis: Axis, change: Change) -> Result<(), String> {
    let both = is_one_sequence(spec);
    if both && scene.n_q() != scene.n_k() {
        return Err("queries and keys of this scene cannot be told apart; label both sides first".to_owned());
    }
    let queries = both || axis == Axis::Queries;
    let keys = both || axis == Axis::Keys;
    match &mut spec.input {
        Input::Heads { q, k, v } => {
            let q = q.iter_mut().filter(|_| queries);
            let kv = k.iter_mut().chain(v).filter(|_| keys);
            for source in q.chain(kv) {
                change_rows(source, scene, change)?;
            }
        }
        Input::Projected(projected) => match (&mut projected.context, axis) {
            (Some(context), Axis::Keys) => change_rows(context, scene, change)?,
            (None | Some(_), _) => change_rows(&mut projected.x, scene, change)?,
        },
        Input::Tensors { .. } | Input::Weights { .. } => return Err(super::sizes::read_from_file(spec)),
    }
    change_labels(&mut spec.tokens, queries, keys, change);
    for rule in &mut spec.mask {
        change_mask(rule, queries, keys, change);
    }
    Ok(())
}

/// Whether one list of rows stands on both axes.
fn is_one_sequence(spec: &SceneSpec) -> bool {
    match &spec.input {
        Input::Projected(projected) => projected.context.is_none(),
        Input::Heads { .. } | Input::Tensors { .. } | Input::Weights { .. } => {
            matches!(spec.tokens, Tokens::Shared(_))
        }
    }
}

fn change_rows(source: &mut MatrixSource, scene: &Scene, change: Change) -> Result<(), String> {
    let old = source.matrix(scene.files())?;
    let mut rows: Vec<Vec<f64>> = old.iter_rows().map(<[f64]>::to_vec).collect();
    change_list(&mut rows, change, || vec![0.0; old.cols()]);
    let data: Vec<f64> = rows.iter().flatten().copied().collect();
    let matrix = Matrix::new(rows.len(), old.cols(), data).map_err(|error| error.to_string())?;
    *source = MatrixSource::Rows(Arc::new(matrix));
    Ok(())
}

fn change_list<T>(list: &mut Vec<T>, change: Change, fresh: impl FnOnce() -> T) {
    match change {
        Change::Append => list.push(fresh()),
        Change::Remove(position) if position < list.len() => {
            list.remove(position);
        }
        Change::Remove(_) => {}
    }
}

fn change_labels(tokens: &mut Tokens, queries: bool, keys: bool, change: Change) {
    let in_list = |labels: &mut Vec<String>| {
        let fresh = (labels.len() + 1).to_string();
        change_list(labels, change, || fresh);
    };
    match tokens {
        Tokens::Numbers => {}
        Tokens::Shared(labels) => in_list(labels),
        Tokens::Sides { queries: query_labels, keys: key_labels } => {
            if queries {
                in_list(query_labels);
            }
            if keys {
                in_list(key_labels);
            }
        }
    }
}

/// Explicit masks grow a fully visible row or column and lose the removed one; rules without a list stay.
fn change_mask(rule: &mut MaskRule, queries: bool, keys: bool, change: Change) {
    match rule {
        MaskRule::PaddedKeys(padded) if keys => change_list(padded, change, || false),
        MaskRule::Documents(documents) if keys => {
            let last = documents.last().copied().unwrap_or(0);
            change_list(documents, change, || last);
        }
        MaskRule::ValidKeys(n_valid) | MaskRule::Prefix(n_valid) if keys => {
            if let Change::Remove(position) = change
                && position < *n_valid
            {
                *n_valid -= 1;
            }
        }
        MaskRule::Global(positions) if keys => {
            if let Change::Remove(removed) = change {
                positions.retain(|position| *position != removed);
                positions
                    .iter_mut()
                    .filter(|position| **position > removed)
                    .for_each(|position| *position -= 1);
            }
        }
        MaskRule::Matrix { convention, rows } => {
            change_flags(rows, *convention == crate::engine::Convention::TrueAllows, queries, keys, change);
        }
        MaskRule::MatrixPerHead { convention, heads } => {
            for rows in heads {
                change_flags(
                    rows,
                    *convention == crate::engine::Convention::TrueAllows,
                    queries,
                    keys,
                    change,
                );
            }
        }
        MaskRule::Additive(matrix) => *matrix = changed_bias(matrix, queries, keys, change),
        MaskRule::AdditivePerHead(matrices) => {
            matrices.iter_mut().for_each(|matrix| *matrix = changed_bias(matrix, queries, keys, change));
        }
        _ => {}
    }
}

fn change_flags(rows: &mut Vec<Vec<bool>>, visible: bool, queries: bool, keys: bool, change: Change) {
    if keys {
        rows.iter_mut().for_each(|row| change_list(row, change, || visible));
    }
    if queries {
        let n_k = rows.first().map_or(0, Vec::len);
        change_list(rows, change, || vec![visible; n_k]);
    }
}

fn changed_bias(matrix: &Matrix, queries: bool, keys: bool, change: Change) -> Matrix {
    let mut rows: Vec<Vec<f64>> = matrix.iter_rows().map(<[f64]>::to_vec).collect();
    let mut n_k = matrix.cols();
    if keys {
        rows.iter_mut().for_each(|row| change_list(row, change, || 0.0));
        match change {
            Change::Append => n_k += 1,
            Change::Remove(position) if position < n_k => n_k -= 1,
            Change::Remove(_) => {}
        }
    }
    if queries {
        change_list(&mut rows, change, || vec![0.0; n_k]);
    }
    let data = rows.iter().flatten().copied().collect();
    Matrix::new(rows.len(), n_k, data).unwrap_or_else(|_| matrix.clone())
}

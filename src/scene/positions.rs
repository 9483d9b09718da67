//! From Q, K and V as they are given to those that scores are made of: turned, then rounded.

use std::sync::Arc;

use super::model::Position;
use super::{Scene, Unrotated};
use crate::engine::{Cancelled, HeadInput, Matrix, Precision, Progress, alibi_slopes, rope};

/// What one head reads, and what its positions did.
pub(super) struct Prepared {
    pub input: HeadInput,
    pub unrotated: Option<Unrotated>,
    pub alibi_slope: Option<f64>,
}

impl Scene {
    /// Q, K and V of a query head as its scores would read them in `f64`: turned by rotary positions, not rounded to the precision
    /// of the scene. `None` past the last head.
    pub fn unrounded_input(&self, query_head: usize) -> Option<HeadInput> {
        let HeadInput { q, k, v } = self.head_inputs().get(query_head)?;
        let (q, k) = (turned(self, q, self.spec().position_offset), turned(self, k, 0));
        Some(HeadInput { q, k, v: Arc::clone(v) })
    }
}

/// Every query head of a scene. Heads that share their K and V go on sharing them.
pub(super) fn prepared(scene: &Scene, progress: &Progress) -> Result<Vec<Prepared>, Cancelled> {
    let heads = scene.head_inputs_with(progress)?;
    let slopes = match scene.spec().position {
        Position::Alibi => alibi_slopes(heads.len()),
        Position::None | Position::Rope { .. } | Position::Sinusoidal => Vec::new(),
    };
    let mut shared: Option<(HeadInput, HeadInput)> = None; // K and V of the head before, as given and as prepared
    let mut prepare = |(head, given): (usize, &HeadInput)| {
        let q = stored(scene, &turned(scene, &given.q, scene.spec().position_offset));
        let before = shared
            .take()
            .filter(|(before, _)| Arc::ptr_eq(&before.k, &given.k) && Arc::ptr_eq(&before.v, &given.v));
        let input = match before {
            Some((_, prepared)) => HeadInput { q, ..prepared },
            None => {
                let k = stored(scene, &turned(scene, &given.k, 0)); // key j stands at j
                HeadInput { q, k, v: stored(scene, &given.v) }
            }
        };
        shared = Some((given.clone(), input.clone()));
        let is_turned = matches!(scene.spec().position, Position::Rope { .. });
        Prepared {
            input,
            unrotated: is_turned.then(|| Unrotated { q: Arc::clone(&given.q), k: Arc::clone(&given.k) }),
            alibi_slope: slopes.get(head).copied(),
        }
    };
    Ok(heads.iter().enumerate().map(&mut prepare).collect())
}

/// Rows turned by rotary positions, where the scene has them. A valid scene has an even width.
fn turned(scene: &Scene, x: &Arc<Matrix>, first_position: i64) -> Arc<Matrix> {
    match scene.spec().position {
        Position::Rope { base, layout } => {
            rope(x, base, layout, first_position).map_or_else(|_odd| Arc::clone(x), Arc::new)
        }
        Position::None | Position::Alibi | Position::Sinusoidal => Arc::clone(x),
    }
}

/// Rounded on entry, where the scene asks for a narrower format.
fn stored(scene: &Scene, x: &Arc<Matrix>) -> Arc<Matrix> {
    match scene.attention_spec().precision_in_force() {
        Precision::F64 => Arc::clone(x),
        narrow => Arc::new(x.map(|value| narrow.round(value))),
    }
}

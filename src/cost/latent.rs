//! The arithmetic of multi-head latent attention: memory saved, paid for in multiply-adds.

use super::error::positive;
use super::pairs::causal_formula;
use super::{Breakdown, CostError, Field, Formula, LatentShape, LayerKind, Unit};

/// Whether keys and values are made from the latent before they are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatentForm {
    /// Up-projections are moved to the query and the output; scores and mix run over the latent. The cache holds latents.
    #[default]
    Absorbed,
    /// Keys and values of every head are made and cached.
    Expanded,
}

/// Multiply-adds of one latent layer for `n_new` tokens after `n_past` cached ones, causal.
pub fn latent_macs(
    shape: LatentShape,
    heads: u64,
    d_model: u64,
    (n_past, n_new): (u64, u64),
    form: LatentForm,
) -> Result<Breakdown, CostError> {
    let n_k = n_past.checked_add(n_new).ok_or(CostError::Overflow { field: Field::CachedKeys, bits: 64 })?;
    latent_macs_of_pairs(shape, heads, d_model, (n_new, causal_formula(n_new, n_k, None)), form)
}

/// The same where it is known how many pairs are computed.
pub(super) fn latent_macs_of_pairs(
    shape: LatentShape,
    heads: u64,
    d_model: u64,
    (n_new, pairs): (u64, Formula),
    form: LatentForm,
) -> Result<Breakdown, CostError> {
    LayerKind::Latent(shape).check()?;
    positive(Field::QueryHeads, heads)?;
    positive(Field::ModelWidth, d_model)?;
    let n = || Field::Queries.is(n_new);
    let (h, d) = (|| Field::QueryHeads.is(heads), || Field::ModelWidth.is(d_model));
    let (r, rope) = (|| Field::LatentWidth.is(shape.r_kv), || Field::RopeWidth.is(shape.d_rope));
    let (nope, v) = (|| Field::NopeWidth.is(shape.d_nope), || Field::ValueWidth.is(shape.d_v));
    let q = match shape.r_q.map(|width| Field::QueryLatentWidth.is(width)) {
        Some(r_q) => d() * r_q.clone() + r_q * h() * (nope() + rope()),
        None => d() * h() * (nope() + rope()),
    };
    let (k_width, v_width) = match form {
        LatentForm::Absorbed => (r() + rope(), r()),
        LatentForm::Expanded => (nope() + rope(), v()),
    };
    let pairs = || pairs.clone();
    let mut out = Breakdown::new();
    out.push("q_proj", "Q projection", Unit::Macs, n() * q)?;
    out.push("kv_down", "projection to the latent", Unit::Macs, n() * d() * (r() + rope()))?;
    out.push("up", "projections from the latent", Unit::Macs, n() * h() * r() * (nope() + v()))?;
    out.push("scores", "scores", Unit::Macs, pairs() * h() * k_width)?;
    out.push("mix", "mix", Unit::Macs, pairs() * h() * v_width)?;
    out.push("o_proj", "output projection", Unit::Macs, n() * h() * v() * d())?;
    let parts = [
        ("q_proj", "Q"),
        ("kv_down", "down"),
        ("up", "up"),
        ("scores", "scores"),
        ("mix", "mix"),
        ("o_proj", "O"),
    ];
    out.push("total_macs", "total", Unit::Macs, out.sum_of(&parts))?;
    let cached: Formula = match form {
        LatentForm::Absorbed => r() + rope(),
        LatentForm::Expanded => h() * (nope() + rope() + v()),
    };
    out.push("cache_elements_per_token", "cached values per token", Unit::Values, cached)?;
    Ok(out)
}

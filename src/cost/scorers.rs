//! What other ways of scoring cost: additive scores, and linear attention.

use super::error::positive;
use super::{Breakdown, CostError, Field, Formula, Unit};

/// Sizes of a comparison between dot-product and additive scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdditiveInputs {
    /// Queries.
    pub n_q: u64,
    /// Keys.
    pub n_k: u64,
    /// Query width.
    pub d_q: u64,
    /// Key width.
    pub d_k: u64,
    /// Width of the hidden layer that compares them.
    pub d_a: u64,
    /// Bytes of one number of the hidden layer.
    pub bytes_per_value: u64,
}

impl AdditiveInputs {
    /// Dot-product scores beside v·tanh(W_q q + W_k k), the projections made once for each token.
    ///
    /// A textbook's comparison sets multiply-adds of the dot product against additions plus multiply-adds of the additive
    /// score and leaves the hyperbolic tangents out; that figure is `reading_ops`, beside the itemised ones.
    pub fn costs(&self) -> Result<Breakdown, CostError> {
        positive(Field::KeyWidth, self.d_k)?;
        positive(Field::AttentionWidth, self.d_a)?;
        let (n_q, n_k) = (|| Field::Queries.is(self.n_q), || Field::Keys.is(self.n_k));
        let d_q = || Formula::named("query width", "d_q", u128::from(self.d_q));
        let (d_k, d_a) = (|| Field::KeyWidth.is(self.d_k), || Field::AttentionWidth.is(self.d_a));
        let hidden = || n_q() * n_k() * d_a();
        let mut out = Breakdown::new();
        out.push("dot_macs", "dot product", Unit::Macs, n_q() * n_k() * d_k())?;
        out.push("pair_adds", "additions for each pair", Unit::Operations, hidden())?;
        out.push("pair_tanh", "hyperbolic tangents", Unit::Operations, hidden())?;
        out.push("pair_macs", "products with v", Unit::Macs, hidden())?;
        let once = d_a() * (n_q() * d_q() + n_k() * d_k());
        out.push("precompute_macs", "projections, once for each token", Unit::Macs, once)?;
        let parts =
            [("pair_adds", "additions"), ("pair_macs", "products"), ("precompute_macs", "projections")];
        out.push("reading_ops", "additions and multiply-adds", Unit::Operations, out.sum_of(&parts))?;
        let one = || Formula::number(1_u64);
        out.push("parameters", "parameters", Unit::Parameters, d_a() * (d_q() + d_k() + one()))?;
        let stored = hidden() * Formula::named("bytes per value", "b", u128::from(self.bytes_per_value));
        out.push("intermediate_bytes", "hidden layer of all pairs", Unit::Bytes, stored)?;
        let again = n_q() * n_k() * d_a() * (d_q() + d_k() + one());
        out.push("without_precompute_macs", "projecting for every pair", Unit::Macs, again)?;
        Ok(out)
    }
}

/// Linear attention with features of width `feature_width` beside softmax attention of the same key width
/// (Katharopoulos et al., 2020). They break even near n = m.
pub fn linear_attention(n: u64, feature_width: u64, d_v: u64) -> Result<Breakdown, CostError> {
    positive(Field::FeatureWidth, feature_width)?;
    positive(Field::ValueWidth, d_v)?;
    let n = || Field::Tokens.is(n);
    let (m, d_v) = (|| Field::FeatureWidth.is(feature_width), || Field::ValueWidth.is(d_v));
    let mut out = Breakdown::new();
    let linear = Formula::number(2_u64) * n() * m() * d_v() + n() * m();
    out.push("linear_macs", "linear attention", Unit::Macs, linear)?;
    out.push("softmax_attention_macs", "softmax attention", Unit::Macs, n() * n() * (m() + d_v()))?;
    out.push("state_elements", "state of a head", Unit::Values, m() * d_v() + m())?;
    Ok(out)
}

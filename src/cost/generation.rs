//! Producing tokens one at a time, with and without a cache.
//!
//! Steps t = P+1 … P+N are counted: each feeds token t and attends to t tokens. The pass over the prompt itself is not
//! in these figures, except where a mode runs it again.

use serde::{Deserialize, Serialize};

use super::error::{check_heads, positive};
use super::pairs::{
    causal_pairs, causal_pairs_after, check_window, pairs_of_all_prefixes, squares_of_all_prefixes, triangle,
};
use super::{Breakdown, CostError, Field, Formula, Macs, Unit};

/// The sizes of one layer, and how many tokens are produced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GenerationInputs {
    /// Tokens before the first produced one.
    pub prompt: u64,
    /// Tokens produced.
    pub new_tokens: u64,
    /// Width of the model.
    pub d_model: u64,
    /// Query heads.
    pub heads: u64,
    /// KV heads.
    pub kv_heads: u64,
    /// Key width of a head.
    pub d_k: u64,
    /// Value width of a head.
    pub d_v: u64,
    /// Keys a query sees at most, itself included.
    pub window: Option<u64>,
    /// Whether W_O is counted.
    pub has_output_projection: bool,
}

/// What is done again at every step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GenerationMode {
    /// Nothing: keys and values of earlier tokens are kept.
    #[default]
    Cached,
    /// Keys and values of the whole prefix are projected again; only the last query attends.
    ReprojectKeysAndValues,
    /// The whole layer runs again over the prefix, visible pairs only.
    RerunLayer,
    /// The whole layer runs again over the prefix, and masked pairs are computed too.
    RerunLayerSquare,
}

/// One step of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenerationStep {
    /// How many tokens there are after this step.
    pub tokens: u64,
    /// X·W_Q, X·W_K, X·W_V and W_O.
    pub projections: Macs,
    /// Scores and mix.
    pub attention: Macs,
}

impl Default for GenerationInputs {
    fn default() -> Self {
        Self {
            prompt: 0,
            new_tokens: 0,
            d_model: 64,
            heads: 1,
            kv_heads: 1,
            d_k: 64,
            d_v: 64,
            window: None,
            has_output_projection: false,
        }
    }
}

impl GenerationMode {
    /// Every mode, cheapest first.
    pub const ALL: [Self; 4] =
        [Self::Cached, Self::ReprojectKeysAndValues, Self::RerunLayer, Self::RerunLayerSquare];

    /// The mode in words.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Cached => "keys and values cached",
            Self::ReprojectKeysAndValues => "keys and values projected again",
            Self::RerunLayer => "layer run again, visible pairs",
            Self::RerunLayerSquare => "layer run again, all pairs",
        }
    }
}

impl GenerationInputs {
    /// Refuses zero heads, widths and windows, and heads that do not divide.
    pub fn check(&self) -> Result<(), CostError> {
        check_heads(self.heads, self.kv_heads)?;
        positive(Field::ModelWidth, self.d_model)?;
        positive(Field::KeyWidth, self.d_k)?;
        positive(Field::ValueWidth, self.d_v)?;
        check_window(self.window)?;
        let end = self.prompt.checked_add(self.new_tokens);
        end.map(|_| ()).ok_or(CostError::Overflow { field: Field::NewTokens, bits: 64 })
    }

    /// Multiply-adds of one token's query (and W_O) projection, and of its key and value projections.
    fn per_token(&self) -> (Formula, Formula) {
        let d_model = || Field::ModelWidth.is(self.d_model);
        let (d_k, d_v) = (|| Field::KeyWidth.is(self.d_k), || Field::ValueWidth.is(self.d_v));
        let heads = || Field::QueryHeads.is(self.heads);
        let query = d_model() * heads() * d_k();
        let query = match self.has_output_projection {
            true => query + heads() * d_v() * d_model(),
            false => query,
        };
        (query, d_model() * Field::KvHeads.is(self.kv_heads) * (d_k() + d_v()))
    }

    /// Projections, pairs, scores and mix of all steps together.
    pub fn totals(&self, mode: GenerationMode) -> Result<Breakdown, CostError> {
        self.check()?;
        let (query, keys_values) = self.per_token();
        let new = || Field::NewTokens.is(self.new_tokens);
        let end = u128::from(self.prompt) + u128::from(self.new_tokens);
        let prefixes = triangle(end)? - triangle(u128::from(self.prompt))?;
        let prefixes = || Formula::named("tokens of all prefixes", "Σ_t", prefixes);
        let projections = match mode {
            GenerationMode::Cached => new() * (query + keys_values),
            GenerationMode::ReprojectKeysAndValues => new() * query + prefixes() * keys_values,
            GenerationMode::RerunLayer | GenerationMode::RerunLayerSquare => {
                prefixes() * (query + keys_values)
            }
        };
        let mut out = Breakdown::new();
        out.push("projection_macs", "projections", Unit::Macs, projections)?;
        let pairs = Formula::named("visible pairs", "p", self.pairs(mode)?);
        out.push("pairs", "pairs", Unit::Pairs, pairs.clone())?;
        let per_pair = || pairs.clone() * Field::QueryHeads.is(self.heads);
        out.push("score_macs", "scores", Unit::Macs, per_pair() * Field::KeyWidth.is(self.d_k))?;
        out.push("mix_macs", "mix", Unit::Macs, per_pair() * Field::ValueWidth.is(self.d_v))?;
        let parts = [("projection_macs", "projections"), ("score_macs", "scores"), ("mix_macs", "mix")];
        out.push("total_macs", "total", Unit::Macs, out.sum_of(&parts))?;
        Ok(out)
    }

    fn pairs(&self, mode: GenerationMode) -> Result<u128, CostError> {
        let before = u128::from(self.prompt);
        let end = before + u128::from(self.new_tokens);
        match mode {
            GenerationMode::Cached | GenerationMode::ReprojectKeysAndValues => {
                causal_pairs_after(self.prompt, self.new_tokens, self.window)
            }
            GenerationMode::RerunLayer => {
                Ok(pairs_of_all_prefixes(end, self.window)? - pairs_of_all_prefixes(before, self.window)?)
            }
            GenerationMode::RerunLayerSquare => {
                Ok(squares_of_all_prefixes(end)? - squares_of_all_prefixes(before)?)
            }
        }
    }

    /// The first `limit` steps, one by one.
    pub fn steps(&self, mode: GenerationMode, limit: usize) -> Result<Vec<GenerationStep>, CostError> {
        self.check()?;
        let (query, keys_values) = self.per_token();
        let (query, keys_values) = (query.value()?, keys_values.value()?);
        let widths = u128::from(self.d_k) + u128::from(self.d_v);
        let per_pair = (Field::QueryHeads.is(self.heads) * Formula::number(widths)).value()?;
        // `check` has made sure that the last step still counts in 64 bits.
        let lengths = (1..=self.new_tokens).take(limit).map(|step| self.prompt + step);
        lengths.map(|tokens| self.step(mode, tokens, (query, keys_values), per_pair)).collect()
    }

    fn step(
        &self,
        mode: GenerationMode,
        tokens: u64,
        (query, keys_values): (u128, u128),
        per_pair: u128,
    ) -> Result<GenerationStep, CostError> {
        let t = u128::from(tokens);
        let seen = self.window.map_or(t, |window| t.min(u128::from(window)));
        let (queries, keys, pairs) = match mode {
            GenerationMode::Cached => (1, 1, seen),
            GenerationMode::ReprojectKeysAndValues => (1, t, seen),
            GenerationMode::RerunLayer => (t, t, causal_pairs(t, self.window)?),
            GenerationMode::RerunLayerSquare => (t, t, t * t),
        };
        let overflow = CostError::Overflow { field: Field::NewTokens, bits: 128 };
        let projections = query
            .checked_mul(queries)
            .zip(keys_values.checked_mul(keys))
            .and_then(|(query, keys_values)| query.checked_add(keys_values));
        match projections.zip(pairs.checked_mul(per_pair)) {
            Some((projections, attention)) => {
                Ok(GenerationStep { tokens, projections: Macs(projections), attention: Macs(attention) })
            }
            None => Err(overflow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_every_mode_add_up_to_its_total() {
        for window in [None, Some(3)] {
            for mode in GenerationMode::ALL {
                let inputs = GenerationInputs {
                    prompt: 5,
                    new_tokens: 7,
                    d_model: 12,
                    heads: 4,
                    kv_heads: 2,
                    d_k: 3,
                    d_v: 2,
                    window,
                    has_output_projection: true,
                };
                let totals = inputs.totals(mode).unwrap();
                let steps = inputs.steps(mode, 100).unwrap();
                assert_eq!(steps.len(), 7);
                let projections: u128 = steps.iter().map(|step| step.projections.0).sum();
                let attention: u128 = steps.iter().map(|step| step.attention.0).sum();
                assert_eq!(projections, totals.value("projection_macs"));
                assert_eq!(attention, totals.value("score_macs") + totals.value("mix_macs"));
            }
        }
    }
}

//! The arithmetic of one attention layer: projections, scores, mix, output, softmax; its parameters and score memory.
//!
//! One multiply-add (MAC) is two FLOPs. Softmax, scaling, masking and rotation are not multiply-adds; softmax is
//! counted apart, by a chosen convention.

use serde::{Deserialize, Serialize};

use super::error::{check_heads, positive};
use super::pairs::{causal_formula, check_window};
use super::{CostError, Field, Formula, PairCount, Quantity, Unit};

/// The sizes that decide what attention costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComplexityInputs {
    /// Queries; the tokens that are new.
    pub n_q: u64,
    /// Keys, cached ones included.
    pub n_k: u64,
    /// Key width of one head. Independent of `d_model / heads`.
    pub d_k: u64,
    /// Value width of one head.
    pub d_v: u64,
    /// Query heads.
    pub heads: u64,
    /// KV heads; divides `heads`.
    pub kv_heads: u64,
    /// Width of the model; `None` where Q, K and V are given and nothing is projected.
    pub d_model: Option<u64>,
    /// Width of what keys and values are projected from; `None` = `d_model`.
    pub d_context: Option<u64>,
    /// Whether a later key is never seen. The last query sees every key (bottom-right corner).
    pub causal: bool,
    /// With `causal`: how many keys a query sees at most, **itself included**.
    pub window: Option<u64>,
    /// Visible pairs of one head as counted from a scene's own mask; overrides `causal` and `window`.
    pub visible_pairs: Option<u64>,
    /// Visible pairs of all query heads together, where each head has a mask of its own; overrides `visible_pairs`.
    pub visible_pairs_of_all_heads: Option<u64>,
    /// Keys whose K and V are taken from a cache and are not projected again.
    pub cached_keys: u64,
    /// Bytes of one stored score.
    pub bytes_per_score: u64,
    /// Whether the heads' outputs go through W_O.
    pub has_output_projection: bool,
    /// Layers that do the same.
    pub layers: u64,
    /// What one softmax entry counts as.
    pub softmax: SoftmaxCount,
}

/// How many operations one entry of a softmax counts as. Sources disagree; nobody counts them as multiply-adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SoftmaxCount {
    /// 0, as in nanoGPT's sizing.
    #[default]
    NotCounted,
    /// 1, as in DeepSpeed's profiler.
    OnePerEntry,
    /// 3, as in the appendix of Hoffmann et al., 2022.
    ThreePerEntry,
    /// 5: maximum, subtraction, exponential, sum, division, as in LLM-Viewer.
    FivePerEntry,
}

/// What the sizes come to, each with its formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComplexityReport {
    /// Pairs that the mask leaves visible, for one head (for all heads where each has a mask of its own).
    pub visible_pairs: Quantity,
    /// Pairs of the full rectangle n_q · n_k: what a kernel computes that masks afterwards.
    pub all_pairs: Quantity,
    /// Q·Kᵀ. Counts query heads: sharing KV heads does not reduce it.
    pub scores: Quantity,
    /// Weights · V.
    pub mix: Quantity,
    /// Scores and mix together, for the visible pairs.
    pub attention: Quantity,
    /// X·W_Q, X·W_K, X·W_V and W_O, where there is something to project.
    pub projections: Vec<Quantity>,
    /// Everything that is a multiply-add.
    pub total: Quantity,
    /// Two for each multiply-add, and the softmax by its convention.
    pub flops: Quantity,
    /// Exponentials of the softmax, for all heads.
    pub softmax_entries: Quantity,
    /// Operations of the softmax by the chosen convention.
    pub softmax_operations: Quantity,
    /// Numbers in W_Q, W_K, W_V and W_O, without biases.
    pub parameters: Option<Quantity>,
    /// One head's score matrix, kept in full.
    pub score_bytes_per_head: Quantity,
    /// The score matrices of all heads and layers.
    pub score_bytes: Quantity,
}

impl Default for ComplexityInputs {
    fn default() -> Self {
        Self {
            n_q: 0,
            n_k: 0,
            d_k: 64,
            d_v: 64,
            heads: 1,
            kv_heads: 1,
            d_model: None,
            d_context: None,
            causal: false,
            window: None,
            visible_pairs: None,
            visible_pairs_of_all_heads: None,
            cached_keys: 0,
            bytes_per_score: 4,
            has_output_projection: false,
            layers: 1,
            softmax: SoftmaxCount::NotCounted,
        }
    }
}

impl SoftmaxCount {
    /// Every convention.
    pub const ALL: [Self; 4] = [Self::NotCounted, Self::OnePerEntry, Self::ThreePerEntry, Self::FivePerEntry];

    /// Operations for one entry.
    pub const fn per_entry(self) -> u64 {
        match self {
            Self::NotCounted => 0,
            Self::OnePerEntry => 1,
            Self::ThreePerEntry => 3,
            Self::FivePerEntry => 5,
        }
    }
}

impl ComplexityInputs {
    /// The same sizes with these pairs counted: those that the mask leaves visible, or all of them.
    #[must_use]
    pub fn counting(self, pairs: PairCount) -> Self {
        match pairs {
            PairCount::Visible => self,
            PairCount::All => Self {
                causal: false,
                window: None,
                visible_pairs: None,
                visible_pairs_of_all_heads: None,
                ..self
            },
        }
    }

    /// Refuses sizes that describe no attention: zero heads, widths or layers, heads that do not divide, a window of
    /// 0, more cached keys than keys, or more visible pairs than pairs. No tokens at all is fine and costs nothing.
    pub fn check(&self) -> Result<(), CostError> {
        check_heads(self.heads, self.kv_heads)?;
        positive(Field::Layers, self.layers)?;
        positive(Field::KeyWidth, self.d_k)?;
        positive(Field::ValueWidth, self.d_v)?;
        positive(Field::BytesPerScore, self.bytes_per_score)?;
        self.d_model.map_or(Ok(()), |width| positive(Field::ModelWidth, width))?;
        self.d_context.map_or(Ok(()), |width| positive(Field::ContextWidth, width))?;
        check_window(self.window)?;
        not_above((Field::CachedKeys, self.cached_keys), (Field::Keys, self.n_k))?;
        let all = u128::from(self.n_q) * u128::from(self.n_k);
        let of_all_heads = all.saturating_mul(u128::from(self.heads));
        pairs_not_above(self.visible_pairs, all)?;
        pairs_not_above(self.visible_pairs_of_all_heads, of_all_heads)
    }

    /// Visible pairs of one head; of all heads where only that is known.
    fn pairs(&self) -> Formula {
        match (self.visible_pairs_of_all_heads.or(self.visible_pairs), self.causal) {
            (Some(pairs), _) => Field::VisiblePairs.is(pairs),
            (None, true) => causal_formula(self.n_q, self.n_k, self.window),
            (None, false) => Field::Queries.is(self.n_q) * Field::Keys.is(self.n_k),
        }
    }

    /// Multiplies by the number of layers, and leaves it out where it is one.
    fn per_model(&self, formula: Formula) -> Formula {
        match self.layers {
            1 => formula,
            layers => formula * Field::Layers.is(layers),
        }
    }

    /// Visible pairs of all heads.
    fn head_pairs(&self) -> Formula {
        match self.visible_pairs_of_all_heads {
            Some(_) => self.pairs(),
            None => self.pairs() * Field::QueryHeads.is(self.heads),
        }
    }

    fn matrices(&self) -> Option<Vec<Projection>> {
        let d_model = || self.d_model.map(|width| Field::ModelWidth.is(width));
        let context = || self.d_context.map(|width| Field::ContextWidth.is(width)).or_else(d_model);
        let (heads, kv_heads) = (|| Field::QueryHeads.is(self.heads), || Field::KvHeads.is(self.kv_heads));
        let (d_k, d_v) = (|| Field::KeyWidth.is(self.d_k), || Field::ValueWidth.is(self.d_v));
        let queries = || Field::Queries.is(self.n_q);
        let keys = || match self.cached_keys {
            0 => Field::Keys.is(self.n_k),
            cached => Field::Keys.is(self.n_k) - Field::CachedKeys.is(cached),
        };
        let mut out = vec![
            Projection::new("q_projection", "Q projection", queries(), d_model()? * heads() * d_k()),
            Projection::new("k_projection", "K projection", keys(), context()? * kv_heads() * d_k()),
            Projection::new("v_projection", "V projection", keys(), context()? * kv_heads() * d_v()),
        ];
        if self.has_output_projection {
            let weights = heads() * d_v() * d_model()?;
            out.push(Projection::new("o_projection", "output projection", queries(), weights));
        }
        Some(out)
    }
}

/// A weight matrix and the rows that go through it.
struct Projection {
    id: &'static str,
    label: &'static str,
    rows: Formula,
    weights: Formula,
}

impl Projection {
    const fn new(id: &'static str, label: &'static str, rows: Formula, weights: Formula) -> Self {
        Self { id, label, rows, weights }
    }
}

impl ComplexityReport {
    /// Counts everything for these sizes.
    ///
    /// # Errors
    /// [`CostError`] where the sizes describe no attention (see [`ComplexityInputs::check`]) or a count needs more than
    /// 128 bits.
    pub fn new(inputs: &ComplexityInputs) -> Result<Self, CostError> {
        inputs.check()?;
        let macs = |id, label, formula| Quantity::new(id, label, Unit::Macs, formula);
        let of_all_pairs = |width: Formula| inputs.per_model(inputs.head_pairs() * width);
        let scores = macs("scores", "scores", of_all_pairs(Field::KeyWidth.is(inputs.d_k)))?;
        let mix = macs("mix", "mix", of_all_pairs(Field::ValueWidth.is(inputs.d_v)))?;
        let both = scores.as_factor("scores") + mix.as_factor("mix");
        let matrices = inputs.matrices().unwrap_or_default();
        let projections = projections(inputs, &matrices)?;
        let total = macs("total_macs", "total", total_formula(&projections, &scores, &mix))?;
        let (softmax_entries, softmax_operations) = softmax(inputs)?;
        let twice = Formula::number(2_u64) * total.as_factor("MACs");
        let flops = match inputs.softmax {
            SoftmaxCount::NotCounted => twice,
            _ => twice + softmax_operations.as_factor("softmax"),
        };
        let all_pairs = Field::Queries.is(inputs.n_q) * Field::Keys.is(inputs.n_k);
        let (score_bytes_per_head, score_bytes) = score_memory(inputs)?;
        Ok(Self {
            visible_pairs: visible_pairs(inputs)?,
            all_pairs: Quantity::new("all_pairs", "all pairs", Unit::Pairs, all_pairs)?,
            attention: macs("attention", "scores and mix", both)?,
            flops: Quantity::new("flops", "FLOPs", Unit::Flops, flops)?,
            parameters: parameters(inputs, matrices)?,
            scores,
            mix,
            projections,
            total,
            softmax_entries,
            softmax_operations,
            score_bytes_per_head,
            score_bytes,
        })
    }

    /// Every quantity in the order in which to show them.
    pub fn quantities(&self) -> Vec<&Quantity> {
        let Self {
            visible_pairs,
            all_pairs,
            scores,
            mix,
            attention,
            projections,
            total,
            flops,
            softmax_entries,
            softmax_operations,
            parameters,
            score_bytes_per_head,
            score_bytes,
        } = self;
        let mut out = vec![visible_pairs, all_pairs, scores, mix, attention];
        out.extend(projections);
        out.extend([total, flops, softmax_entries, softmax_operations]);
        out.extend(parameters);
        out.extend([score_bytes_per_head, score_bytes]);
        out
    }

    /// The quantity of this id.
    pub fn get(&self, id: &str) -> Option<&Quantity> {
        self.quantities().into_iter().find(|quantity| quantity.id == id)
    }
}

fn projections(inputs: &ComplexityInputs, matrices: &[Projection]) -> Result<Vec<Quantity>, CostError> {
    let quantity = |matrix: &Projection| {
        let formula = inputs.per_model(matrix.rows.clone() * matrix.weights.clone());
        Quantity::new(matrix.id, matrix.label, Unit::Macs, formula)
    };
    matrices.iter().map(quantity).collect()
}

/// Entries, and operations by the chosen convention.
fn softmax(inputs: &ComplexityInputs) -> Result<(Quantity, Quantity), CostError> {
    let all = inputs.per_model(inputs.head_pairs());
    let entries = Quantity::new("softmax_entries", "softmax entries", Unit::Entries, all)?;
    let each = Formula::named("operations per entry", "c", u128::from(inputs.softmax.per_entry()));
    let operations = entries.as_factor("entries") * each;
    let operations = Quantity::new("softmax_operations", "softmax operations", Unit::Operations, operations)?;
    Ok((entries, operations))
}

/// The score matrices kept in full, of one head and of all heads and layers.
fn score_memory(inputs: &ComplexityInputs) -> Result<(Quantity, Quantity), CostError> {
    let pairs = Field::Queries.is(inputs.n_q) * Field::Keys.is(inputs.n_k);
    let head = pairs * Field::BytesPerScore.is(inputs.bytes_per_score);
    let all = inputs.per_model(head.clone() * Field::QueryHeads.is(inputs.heads));
    Ok((
        Quantity::new("score_bytes_per_head", "score matrix per head", Unit::Bytes, head)?,
        Quantity::new("score_bytes", "score matrices of all heads", Unit::Bytes, all)?,
    ))
}

fn visible_pairs(inputs: &ComplexityInputs) -> Result<Quantity, CostError> {
    let label = match inputs.visible_pairs_of_all_heads {
        Some(_) => "visible pairs of all heads",
        None => "visible pairs",
    };
    Quantity::new("visible_pairs", label, Unit::Pairs, inputs.pairs())
}

fn total_formula(projections: &[Quantity], scores: &Quantity, mix: &Quantity) -> Formula {
    let symbols = ["Q", "K", "V", "O"];
    let mut parts: Vec<Formula> =
        projections.iter().zip(symbols).map(|(quantity, symbol)| quantity.as_factor(symbol)).collect();
    parts.extend([scores.as_factor("scores"), mix.as_factor("mix")]);
    Formula::Sum(parts)
}

fn parameters(inputs: &ComplexityInputs, matrices: Vec<Projection>) -> Result<Option<Quantity>, CostError> {
    if matrices.is_empty() {
        return Ok(None);
    }
    let all = Formula::Sum(matrices.into_iter().map(|matrix| matrix.weights).collect());
    Quantity::new("parameters", "parameters", Unit::Parameters, inputs.per_model(all)).map(Some)
}

fn pairs_not_above(pairs: Option<u64>, all: u128) -> Result<(), CostError> {
    // More pairs than 64 bits count cannot be exceeded by a number of 64 bits.
    let all = u64::try_from(all).unwrap_or(u64::MAX);
    pairs.map_or(Ok(()), |pairs| not_above((Field::VisiblePairs, pairs), (Field::Keys, all)))
}

fn not_above(part: (Field, u64), whole: (Field, u64)) -> Result<(), CostError> {
    match part.1 > whole.1 {
        true => Err(CostError::PartExceedsWhole {
            part_field: part.0,
            part: part.1,
            whole_field: whole.0,
            whole: whole.1,
        }),
        false => Ok(()),
    }
}

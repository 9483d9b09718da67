//! The memory of a key/value cache in a model whose layers are all alike; the formula of the textbooks.
//!
//! 2 · layers · KV heads · head width · bytes per value, for each token. Query heads do not appear.
//! Models whose layers differ are in [`super::LayerGroup`].

use serde::{Deserialize, Serialize};

use super::error::{check_heads, positive};
use super::{Bytes, CostError, Field, Formula, Quantity, StorageType, Unit};

/// The sizes that decide what a cache takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheInputs {
    /// Layers that attend.
    pub layers: u64,
    /// Query heads. They change nothing but what the KV heads may be.
    pub heads: u64,
    /// KV heads (not heads per KV head, which some call the group size).
    pub kv_heads: u64,
    /// Key width of one head. Independent of `d_model / heads`.
    pub d_k: u64,
    /// Value width of one head.
    pub d_v: u64,
    /// How keys are stored.
    pub k_type: StorageType,
    /// How values are stored.
    pub v_type: StorageType,
    /// Tokens in each sequence.
    pub tokens: u64,
    /// Sequences held at the same time.
    pub sequences: u64,
}

/// What the cache takes, each figure with its formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheReport {
    /// One token's keys and values in one layer.
    pub bytes_per_token_per_layer: Quantity,
    /// One token's keys and values in all layers.
    pub bytes_per_token: Quantity,
    /// One sequence of `tokens`.
    pub bytes_per_sequence: Quantity,
    /// All sequences.
    pub bytes_all_sequences: Quantity,
    /// The same query heads with as many KV heads (MHA), fewer (GQA) and one (MQA).
    pub sharing: Vec<HeadSharing>,
}

/// A way of sharing KV heads among the same query heads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadSharing {
    /// `MHA`, `GQA` or `MQA`.
    pub name: &'static str,
    /// KV heads.
    pub kv_heads: u64,
    /// Query heads that share one KV head.
    pub heads_per_kv_head: u64,
    /// Whether these are the KV heads asked about.
    pub is_chosen: bool,
    /// One token in all layers.
    pub bytes_per_token: Bytes,
    /// One sequence.
    pub bytes_per_sequence: Bytes,
    /// All sequences.
    pub bytes_all_sequences: Bytes,
}

impl Default for CacheInputs {
    fn default() -> Self {
        Self {
            layers: 1,
            heads: 1,
            kv_heads: 1,
            d_k: 64,
            d_v: 64,
            k_type: StorageType::f16,
            v_type: StorageType::f16,
            tokens: 0,
            sequences: 1,
        }
    }
}

impl CacheInputs {
    /// Refuses sizes that describe no cache: zero layers, heads or widths, heads that do not divide, rows that do not
    /// fill whole blocks of their storage type. No tokens or no sequences are fine and take nothing.
    pub fn check(&self) -> Result<(), CostError> {
        check_heads(self.heads, self.kv_heads)?;
        positive(Field::Layers, self.layers)?;
        positive(Field::KeyWidth, self.d_k)?;
        positive(Field::ValueWidth, self.d_v)?;
        let kv_heads = u128::from(self.kv_heads);
        self.k_type.check_row(kv_heads * u128::from(self.d_k), Field::KeyType)?;
        self.v_type.check_row(kv_heads * u128::from(self.d_v), Field::ValueType)
    }

    fn per_token_per_layer(&self) -> Formula {
        let kv_heads = || Field::KvHeads.is(self.kv_heads);
        let plain = self.k_type.block().0 == 1;
        if self.k_type == self.v_type && self.d_k == self.d_v {
            let row = kv_heads() * Field::HeadWidth.is(self.d_k);
            return Formula::number(2_u64) * self.k_type.row_formula(row, Field::StorageType);
        }
        if self.k_type == self.v_type && plain {
            let widths = Field::KeyWidth.is(self.d_k) + Field::ValueWidth.is(self.d_v);
            return self.k_type.row_formula(kv_heads() * widths, Field::StorageType);
        }
        let k_row = self.k_type.row_formula(kv_heads() * Field::KeyWidth.is(self.d_k), Field::KeyType);
        let v_row = self.v_type.row_formula(kv_heads() * Field::ValueWidth.is(self.d_v), Field::ValueType);
        k_row + v_row
    }

    fn per_token(&self) -> Formula {
        // The textbook order: 2 · L · G · d_head · b.
        match self.per_token_per_layer() {
            Formula::Product(mut parts) if parts.first() == Some(&Formula::number(2_u64)) => {
                parts.insert(1, Field::Layers.is(self.layers));
                Formula::Product(parts)
            }
            other => Field::Layers.is(self.layers) * other,
        }
    }
}

impl CacheReport {
    /// Counts the cache of these sizes.
    ///
    /// # Errors
    /// [`CostError`] where the sizes describe no cache (see [`CacheInputs::check`]) or a count needs more than 128 bits.
    pub fn new(inputs: &CacheInputs) -> Result<Self, CostError> {
        inputs.check()?;
        let bytes = |id, label, formula| Quantity::new(id, label, Unit::Bytes, formula);
        let bytes_per_token_per_layer =
            bytes("bytes_per_token_per_layer", "per token and layer", inputs.per_token_per_layer())?;
        let bytes_per_token = bytes("bytes_per_token", "per token", inputs.per_token())?;
        let tokens = Field::Tokens.is(inputs.tokens);
        let bytes_per_sequence = bytes(
            "bytes_per_sequence",
            "per sequence",
            bytes_per_token.as_factor("bytes per token") * tokens,
        )?;
        let bytes_all_sequences = bytes(
            "bytes_all_sequences",
            "all sequences",
            bytes_per_sequence.as_factor("bytes per sequence") * Field::Sequences.is(inputs.sequences),
        )?;
        Ok(Self {
            bytes_per_token_per_layer,
            bytes_per_token,
            bytes_per_sequence,
            bytes_all_sequences,
            sharing: head_sharing(inputs)?,
        })
    }

    /// Every quantity in the order in which to show them.
    pub fn quantities(&self) -> Vec<&Quantity> {
        vec![
            &self.bytes_per_token_per_layer,
            &self.bytes_per_token,
            &self.bytes_per_sequence,
            &self.bytes_all_sequences,
        ]
    }

    /// The quantity of this id.
    pub fn get(&self, id: &str) -> Option<&Quantity> {
        self.quantities().into_iter().find(|quantity| quantity.id == id)
    }
}

/// (tokens, bytes of all sequences) at `points` lengths spread evenly over 0 ..= `max_tokens`.
///
/// # Errors
/// As [`CacheReport::new`].
pub fn cache_over_tokens(
    inputs: &CacheInputs,
    max_tokens: u64,
    points: usize,
) -> Result<Vec<(u64, Bytes)>, CostError> {
    inputs.check()?;
    let per_token = inputs.per_token().value()?;
    let overflow = || CostError::Overflow { field: Field::Tokens, bits: 128 };
    let slope = per_token.checked_mul(u128::from(inputs.sequences)).ok_or_else(overflow)?;
    super::series::spread(max_tokens, points)
        .map(|tokens| Ok((tokens, Bytes(slope.checked_mul(u128::from(tokens)).ok_or_else(overflow)?))))
        .collect()
}

fn head_sharing(inputs: &CacheInputs) -> Result<Vec<HeadSharing>, CostError> {
    let mut out = Vec::new();
    for (name, kv_heads) in [
        ("MHA", Some(inputs.heads)),
        ("GQA", grouped_heads(inputs)),
        ("MQA", Some(1).filter(|_| inputs.heads > 1)),
    ] {
        let Some(kv_heads) = kv_heads else { continue };
        let variant = CacheInputs { kv_heads, ..inputs.clone() };
        // A row of fewer heads may leave a block half empty; such a cache does not exist and is left out.
        if variant.check().is_err() {
            continue;
        }
        let bytes_per_token = variant.per_token().value()?;
        let times = |bytes: u128, count: u64, field| {
            bytes.checked_mul(u128::from(count)).ok_or(CostError::Overflow { field, bits: 128 })
        };
        let bytes_per_sequence = times(bytes_per_token, inputs.tokens, Field::Tokens)?;
        out.push(HeadSharing {
            name,
            kv_heads,
            heads_per_kv_head: inputs.heads / kv_heads,
            is_chosen: kv_heads == inputs.kv_heads,
            bytes_per_token: Bytes(bytes_per_token),
            bytes_per_sequence: Bytes(bytes_per_sequence),
            bytes_all_sequences: Bytes(times(bytes_per_sequence, inputs.sequences, Field::Sequences)?),
        });
    }
    Ok(out)
}

/// The KV heads of the GQA column: the ones asked about where they are between one and all; otherwise the largest
/// divisor of at most a quarter of the query heads, or of at most half where there is none.
fn grouped_heads(inputs: &CacheInputs) -> Option<u64> {
    let heads = inputs.heads;
    if inputs.kv_heads > 1 && inputs.kv_heads < heads {
        return Some(inputs.kv_heads);
    }
    let into = |share: u64| (heads.is_multiple_of(share) && heads / share > 1).then(|| heads / share);
    // Real models have at most a few hundred heads; the search is bounded so that a silly input costs nothing.
    (4..=10_000).chain([2, 3]).find_map(into)
}

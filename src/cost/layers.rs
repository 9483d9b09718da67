//! Layers of a model as groups that cache alike, so that one type covers GPT-2, Llama, Mistral, Gemma, DeepSeek, T5
//! and models that mix attention with recurrence.

use serde::{Deserialize, Serialize};

use super::error::positive;
use super::{CostError, Field, Formula, StorageType, spread_over_devices};

/// So many layers that cache in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerGroup {
    /// How many.
    pub layers: u64,
    /// What they keep.
    pub kind: LayerKind,
}

/// What a layer keeps of the tokens before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum LayerKind {
    /// Keys and values of every token.
    Full(KvShape),
    /// Keys and values of the last `window` tokens, the current one **included**.
    Window {
        /// Keys a query sees at most, itself included.
        window: u64,
        /// The heads.
        shape: KvShape,
    },
    /// Keys and values of the current chunk at most.
    Chunked {
        /// Tokens of a chunk.
        chunk: u64,
        /// The heads.
        shape: KvShape,
    },
    /// One latent row for each token, from which keys and values of all heads are made (multi-head latent attention).
    /// No factor 2 and no heads.
    Latent(LatentShape),
    /// Keys and values of a source sequence, made once: cross-attention.
    Static {
        /// Tokens of the source.
        source_tokens: u64,
        /// The heads.
        shape: KvShape,
    },
    /// A state whose size does not depend on the tokens: linear attention, delta nets.
    Linear {
        /// Bytes of the state of one layer and sequence.
        state_bytes: u64,
    },
    /// Nothing of its own: it reads the rows of another layer.
    Shared {
        /// The kind of the layer that it reads, where known.
        reads: Option<Box<Self>>,
    },
    /// Nothing: an encoder sees the whole sequence at once and caches none of it.
    Encoder(KvShape),
}

/// The KV heads of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KvShape {
    /// KV heads.
    pub kv_heads: u64,
    /// Key width of one head.
    pub d_k: u64,
    /// Value width of one head.
    pub d_v: u64,
}

/// The widths of a latent layer (DeepSeek-V2, 2024).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatentShape {
    /// Width of the latent that keys and values share.
    pub r_kv: u64,
    /// Width of the rotated key that all heads share.
    pub d_rope: u64,
    /// Width of a head's key without rotation.
    pub d_nope: u64,
    /// Value width of a head.
    pub d_v: u64,
    /// Width of the queries' own latent; `None` where queries are projected directly.
    pub r_q: Option<u64>,
}

/// How rows are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RowTypes {
    /// Keys, and latent rows.
    pub keys: StorageType,
    /// Values.
    pub values: StorageType,
    /// Keys and values of windowed layers, where an engine keeps them in another type.
    pub windowed: Option<StorageType>,
}

impl RowTypes {
    /// Keys and values alike.
    pub const fn both(storage: StorageType) -> Self {
        Self { keys: storage, values: storage, windowed: None }
    }

    const fn of(self, kind: &LayerKind) -> (StorageType, StorageType) {
        match (kind, self.windowed) {
            (LayerKind::Window { .. } | LayerKind::Chunked { .. }, Some(storage)) => (storage, storage),
            _ => (self.keys, self.values),
        }
    }
}

impl LayerKind {
    /// The name of the kind in words.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Full(_) => "full",
            Self::Window { .. } => "window",
            Self::Chunked { .. } => "chunked",
            Self::Latent(_) => "latent",
            Self::Static { .. } => "cross",
            Self::Linear { .. } => "linear",
            Self::Shared { .. } => "shared",
            Self::Encoder(_) => "encoder",
        }
    }

    /// The KV heads, where the kind has any of its own.
    pub const fn shape(&self) -> Option<KvShape> {
        match self {
            Self::Full(shape)
            | Self::Encoder(shape)
            | Self::Window { shape, .. }
            | Self::Chunked { shape, .. }
            | Self::Static { shape, .. } => Some(*shape),
            Self::Latent(_) | Self::Linear { .. } | Self::Shared { .. } => None,
        }
    }

    /// How many tokens' rows are kept at most; `None` where it grows without end.
    pub(super) const fn limit(&self) -> Option<u64> {
        match self {
            Self::Full(_) | Self::Latent(_) => None,
            Self::Window { window, .. } => Some(*window),
            Self::Chunked { chunk, .. } => Some(*chunk),
            Self::Static { .. } | Self::Linear { .. } | Self::Shared { .. } | Self::Encoder(_) => Some(0),
        }
    }

    /// How many tokens' rows are kept of `tokens`, as a formula.
    pub(super) fn kept_tokens(&self, tokens: u64) -> Formula {
        let tokens = Field::Tokens.is(tokens);
        match self {
            Self::Static { source_tokens, .. } => Field::SourceTokens.is(*source_tokens),
            Self::Window { window, .. } => tokens.min(Field::Window.is(*window)),
            Self::Chunked { chunk, .. } => tokens.min(Field::Chunk.is(*chunk)),
            Self::Full(_) | Self::Latent(_) => tokens,
            Self::Linear { .. } | Self::Shared { .. } | Self::Encoder(_) => Formula::number(0_u64),
        }
    }

    /// The bytes of one kept token in one layer, as a formula; `None` where no token is kept.
    pub(super) fn row_formula(&self, types: RowTypes) -> Result<Option<Formula>, CostError> {
        let (k_type, v_type) = types.of(self);
        match self {
            Self::Latent(shape) => {
                let values = u128::from(shape.r_kv) + u128::from(shape.d_rope);
                k_type.check_row(values, Field::KeyType)?;
                let width = Field::LatentWidth.is(shape.r_kv) + Field::RopeWidth.is(shape.d_rope);
                Ok(Some(k_type.row_formula(width, Field::StorageType)))
            }
            Self::Full(shape)
            | Self::Window { shape, .. }
            | Self::Chunked { shape, .. }
            | Self::Static { shape, .. } => shape.row_formula(k_type, v_type).map(Some),
            Self::Linear { .. } | Self::Shared { .. } | Self::Encoder(_) => Ok(None),
        }
    }

    /// Leaves only what one of `devices` keeps.
    pub(super) fn spread(&mut self, devices: u64) -> Result<(), CostError> {
        match self {
            Self::Full(shape)
            | Self::Encoder(shape)
            | Self::Window { shape, .. }
            | Self::Chunked { shape, .. }
            | Self::Static { shape, .. } => {
                let share = spread_over_devices(shape.kv_heads, devices, false)?;
                shape.kv_heads = share.kv_heads.unwrap_or(shape.kv_heads);
            }
            Self::Linear { state_bytes } => *state_bytes = state_bytes.div_ceil(devices),
            Self::Shared { reads: Some(kind) } => kind.spread(devices)?,
            Self::Latent(_) | Self::Shared { reads: None } => {}
        }
        Ok(())
    }

    /// Refuses zero widths, heads, windows and chunks.
    pub fn check(&self) -> Result<(), CostError> {
        match self {
            Self::Full(shape) | Self::Encoder(shape) | Self::Static { shape, .. } => shape.check(),
            Self::Window { window, shape } => positive(Field::Window, *window).and_then(|()| shape.check()),
            Self::Chunked { chunk, shape } => positive(Field::Chunk, *chunk).and_then(|()| shape.check()),
            Self::Latent(shape) => shape.check(),
            Self::Linear { .. } => Ok(()),
            Self::Shared { reads } => reads.as_ref().map_or(Ok(()), |kind| kind.check()),
        }
    }
}

impl LayerGroup {
    /// A group.
    pub const fn new(layers: u64, kind: LayerKind) -> Self {
        Self { layers, kind }
    }

    /// Refuses no layers, and what [`LayerKind::check`] refuses.
    pub fn check(&self) -> Result<(), CostError> {
        positive(Field::Layers, self.layers).and_then(|()| self.kind.check())
    }
}

impl KvShape {
    /// KV heads of one width for keys and values.
    pub const fn square(kv_heads: u64, head_width: u64) -> Self {
        Self { kv_heads, d_k: head_width, d_v: head_width }
    }

    fn check(self) -> Result<(), CostError> {
        positive(Field::KvHeads, self.kv_heads)?;
        positive(Field::KeyWidth, self.d_k)?;
        positive(Field::ValueWidth, self.d_v)
    }

    /// Bytes of one token's keys and values: `2 · G · d_head · b` where keys and values are alike.
    pub(super) fn row_formula(self, k_type: StorageType, v_type: StorageType) -> Result<Formula, CostError> {
        let heads = || Field::KvHeads.is(self.kv_heads);
        k_type.check_row(u128::from(self.kv_heads) * u128::from(self.d_k), Field::KeyType)?;
        v_type.check_row(u128::from(self.kv_heads) * u128::from(self.d_v), Field::ValueType)?;
        if k_type == v_type && self.d_k == self.d_v {
            let row = heads() * Field::HeadWidth.is(self.d_k);
            return Ok(Formula::number(2_u64) * k_type.row_formula(row, Field::StorageType));
        }
        if k_type == v_type && k_type.block().0 == 1 {
            let widths = Field::KeyWidth.is(self.d_k) + Field::ValueWidth.is(self.d_v);
            return Ok(k_type.row_formula(heads() * widths, Field::StorageType));
        }
        let k_row = k_type.row_formula(heads() * Field::KeyWidth.is(self.d_k), Field::KeyType);
        let v_row = v_type.row_formula(heads() * Field::ValueWidth.is(self.d_v), Field::ValueType);
        Ok(k_row + v_row)
    }
}

impl LatentShape {
    fn check(self) -> Result<(), CostError> {
        positive(Field::LatentWidth, self.r_kv)?;
        positive(Field::NopeWidth, self.d_nope)?;
        positive(Field::ValueWidth, self.d_v)?;
        self.r_q.map_or(Ok(()), |width| positive(Field::QueryLatentWidth, width))
    }
}

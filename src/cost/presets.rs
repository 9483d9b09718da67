//! Shapes of published models, each with where it was read.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{
    Configuration, CostError, DeltaNet, Field, KvShape, LatentShape, LayerGroup, LayerKind, RowTypes,
    StorageType, nearest,
};

/// The shape of a published model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Preset {
    /// A short stable name: `llama-3.1-8b`.
    pub id: String,
    /// The model's own name.
    pub name: String,
    /// `decoder`, `encoder` or `encoder-decoder`.
    pub arch: String,
    /// `mha`, `gqa`, `mqa`, `mla`, `hybrid` or `hybrid-linear`.
    pub attention_kind: String,
    /// Decoder layers; the layers of an encoder.
    pub layers: u64,
    /// Query heads.
    pub q_heads: u64,
    /// KV heads of a uniform or windowed layer.
    pub kv_heads: u64,
    /// Key width of a head.
    pub head_dim: u64,
    /// Value width of a head.
    pub head_dim_v: u64,
    /// Width of the model.
    pub d_model: u64,
    /// The longest context it was made for; `None` where nothing limits it or it could not be verified.
    pub max_context: Option<u64>,
    /// Keys a windowed layer's query sees, itself included.
    pub window: Option<u64>,
    /// Repeated from layer 0: G full, L windowed, R recurrent.
    pub layer_pattern: String,
    /// Last layers that keep no keys and values of their own.
    pub shared_kv_layers: u64,
    /// KV heads of full layers where they differ.
    pub global_kv_heads: Option<u64>,
    /// Head width of full layers where it differs.
    pub global_head_dim: Option<u64>,
    /// Whether the decoder also attends to a source.
    #[serde(default)]
    pub cross_attention: bool,
    /// Widths of latent attention.
    mla: Option<Latent>,
    /// Sizes of recurrent layers.
    linear: Option<Linear>,
    /// Where the figures were read.
    pub source: Vec<String>,
    /// How they were checked.
    #[serde(default)]
    pub verification: String,
    /// What a reader should know.
    #[serde(default)]
    pub notes: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct Latent {
    kv_lora_rank: u64,
    q_lora_rank: Option<u64>,
    qk_nope_head_dim: u64,
    qk_rope_head_dim: u64,
    v_head_dim: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct Linear {
    conv_kernel: u64,
    key_heads: u64,
    key_head_dim: u64,
    value_heads: u64,
    value_head_dim: u64,
}

#[derive(Deserialize)]
struct File {
    presets: Vec<Preset>,
}

/// Tokens of the source sequence that a preset with cross-attention starts with.
const SOURCE_TOKENS: u64 = 512;

static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    // The file is compiled in and a test reads it; there is no reader to tell about a mistake in it.
    serde_json::from_str::<File>(include_str!("presets.json")).map(|file| file.presets).unwrap_or_default()
});

/// Every preset, oldest model first.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// The preset of this id.
///
/// # Errors
/// [`CostError::UnknownName`] with the nearest id.
pub fn preset(id: &str) -> Result<&'static Preset, CostError> {
    let wanted = id.trim().to_lowercase();
    PRESETS.iter().find(|preset| preset.id == wanted).ok_or_else(|| CostError::UnknownName {
        kind: "preset",
        name: id.to_owned(),
        nearest: nearest(&wanted, PRESETS.iter().map(|preset| preset.id.as_str()))
            .unwrap_or_default()
            .to_owned(),
    })
}

/// Presets in whose id, name, kind or notes every word of `text` occurs; all of them for no text.
pub fn search_presets(text: &str) -> Vec<&'static Preset> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let matches = |preset: &&Preset| {
        let Preset { id, name, arch, attention_kind, notes, .. } = preset;
        let all = format!("{id} {name} {arch} {attention_kind} {notes}").to_lowercase();
        words.iter().all(|word| all.contains(word.as_str()))
    };
    PRESETS.iter().filter(matches).collect()
}

impl Preset {
    /// The layers as groups that cache alike: windowed, full, cross, recurrent, then those that share. Of an
    /// encoder–decoder only the decoder is here; its encoder runs once, over the source, and caches nothing.
    pub fn groups(&self) -> Result<Vec<LayerGroup>, CostError> {
        let mut groups: Vec<LayerGroup> = Vec::new();
        let owners = self.layers.saturating_sub(self.shared_kv_layers);
        for letter in ['L', 'G'] {
            add(&mut groups, self.layers_of(letter, 0..owners), self.kind_of(letter)?);
        }
        if self.cross_attention {
            let shape = KvShape { kv_heads: self.kv_heads, d_k: self.head_dim, d_v: self.head_dim_v };
            add(&mut groups, self.layers, LayerKind::Static { source_tokens: SOURCE_TOKENS, shape });
        }
        add(&mut groups, self.layers_of('R', 0..owners), self.kind_of('R')?);
        for letter in ['L', 'G'] {
            let reads = Some(Box::new(self.kind_of(letter)?));
            add(&mut groups, self.layers_of(letter, owners..self.layers), LayerKind::Shared { reads });
        }
        Ok(groups)
    }

    /// The model with its published context (at most 8,192 tokens to begin with), one sequence, 16-bit cache.
    pub fn configuration(&self) -> Result<Configuration, CostError> {
        Ok(Configuration {
            name: self.name.clone(),
            heads: self.q_heads,
            d_model: self.d_model,
            groups: self.groups()?,
            types: RowTypes::both(StorageType::bf16),
            tokens: self.max_context.unwrap_or(8192).min(8192),
            max_context: self.max_context,
            ..Configuration::default()
        })
    }

    /// How many layers of a range have this letter.
    fn layers_of(&self, letter: char, range: std::ops::Range<u64>) -> u64 {
        let letters = (0..range.end).zip(self.layer_pattern.chars().cycle());
        letters.filter(|(layer, kind)| *layer >= range.start && *kind == letter).map(|_| 1).sum()
    }

    fn kind_of(&self, letter: char) -> Result<LayerKind, CostError> {
        let local = KvShape { kv_heads: self.kv_heads, d_k: self.head_dim, d_v: self.head_dim_v };
        let global = KvShape {
            kv_heads: self.global_kv_heads.unwrap_or(self.kv_heads),
            d_k: self.global_head_dim.unwrap_or(self.head_dim),
            d_v: self.global_head_dim.unwrap_or(self.head_dim_v),
        };
        Ok(match (letter, self.mla, self.linear) {
            ('R', _, Some(linear)) => LayerKind::Linear { state_bytes: linear.state_bytes()? },
            ('L', _, _) => LayerKind::Window { window: self.window.unwrap_or(1), shape: local },
            (_, Some(mla), _) => LayerKind::Latent(mla.shape()),
            _ if self.arch == "encoder" => LayerKind::Encoder(global),
            _ => LayerKind::Full(global),
        })
    }
}

impl Latent {
    const fn shape(self) -> LatentShape {
        LatentShape {
            r_kv: self.kv_lora_rank,
            d_rope: self.qk_rope_head_dim,
            d_nope: self.qk_nope_head_dim,
            d_v: self.v_head_dim,
            r_q: self.q_lora_rank,
        }
    }
}

impl Linear {
    fn state_bytes(self) -> Result<u64, CostError> {
        let Self { conv_kernel, key_heads, key_head_dim, value_heads, value_head_dim } = self;
        let net = DeltaNet { conv_kernel, key_heads, d_k: key_head_dim, value_heads, d_v: value_head_dim };
        let bytes = net.state_bytes()?.value("state_bytes_per_layer");
        u64::try_from(bytes).ok().ok_or(CostError::Overflow { field: Field::StateBytes, bits: 64 })
    }
}

fn add(groups: &mut Vec<LayerGroup>, layers: u64, kind: LayerKind) {
    if layers > 0 {
        groups.push(LayerGroup::new(layers, kind));
    }
}

//! The inputs of the calculators, named once.

/// An input of a calculator: what a factor of a formula points at and what an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "`label` says what each one is")]
pub enum Field {
    Layers,
    QueryHeads,
    KvHeads,
    KeyWidth,
    ValueWidth,
    HeadWidth,
    ModelWidth,
    ContextWidth,
    Queries,
    Keys,
    CachedKeys,
    VisiblePairs,
    Tokens,
    Sequences,
    Window,
    Chunk,
    KeyType,
    ValueType,
    StorageType,
    BytesPerScore,
    ScoreCopies,
    Prompt,
    NewTokens,
    SourceTokens,
    StateBytes,
    LatentWidth,
    QueryLatentWidth,
    RopeWidth,
    NopeWidth,
    ConvKernel,
    LinearKeyHeads,
    LinearValueHeads,
    BlockSize,
    BatchedTokens,
    ContextLength,
    MicroBatch,
    SharedTokens,
    Devices,
    Budget,
    GroupSize,
    Bits,
    AttentionWidth,
    FeatureWidth,
    FastMemory,
    BlockRows,
    WeightBytes,
    ActiveParameters,
    Bandwidth,
    PeakFlops,
}

impl Field {
    /// The field's name as a person reads it beside the number.
    pub const fn label(self) -> &'static str {
        self.names().0
    }

    /// The symbol that stands for it in a formula, with `_` before a subscript.
    pub const fn symbol(self) -> &'static str {
        self.names().1
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Layers => ("layers", "L"),
            Self::QueryHeads => ("query heads", "H"),
            Self::KvHeads => ("KV heads", "G"),
            Self::KeyWidth => ("key width", "d_k"),
            Self::ValueWidth => ("value width", "d_v"),
            Self::HeadWidth => ("head width", "d_head"),
            Self::ModelWidth => ("model width", "d_model"),
            Self::ContextWidth => ("context width", "d_context"),
            Self::Queries => ("queries", "n_q"),
            Self::Keys => ("keys", "n_k"),
            Self::CachedKeys => ("keys already cached", "n_past"),
            Self::VisiblePairs => ("visible pairs", "p"),
            Self::Tokens => ("tokens", "T"),
            Self::Sequences => ("sequences", "B"),
            Self::Window => ("window", "W"),
            Self::Chunk => ("chunk", "C"),
            Self::KeyType => ("key storage", "b_K"),
            Self::ValueType => ("value storage", "b_V"),
            Self::StorageType => ("bytes per value", "b"),
            Self::BytesPerScore => ("bytes per score", "b"),
            Self::ScoreCopies => ("score matrices held", "c"),
            Self::Prompt => ("prompt tokens", "P"),
            Self::NewTokens => ("new tokens", "N"),
            Self::SourceTokens => ("source tokens", "S"),
            Self::StateBytes => ("bytes of state per layer", "s"),
            Self::LatentWidth => ("latent width", "r_kv"),
            Self::QueryLatentWidth => ("query latent width", "r_q"),
            Self::RopeWidth => ("rotary width", "d_rope"),
            Self::NopeWidth => ("width without rotation", "d_nope"),
            Self::ConvKernel => ("convolution kernel", "k_conv"),
            Self::LinearKeyHeads => ("key heads of the linear layer", "h_k"),
            Self::LinearValueHeads => ("value heads of the linear layer", "h_v"),
            Self::BlockSize => ("tokens per block", "s_blk"),
            Self::BatchedTokens => ("tokens batched at once", "n_batch"),
            Self::ContextLength => ("context length", "n_ctx"),
            Self::MicroBatch => ("tokens of a micro-batch", "n_ubatch"),
            Self::SharedTokens => ("shared prefix tokens", "P"),
            Self::Devices => ("devices", "tp"),
            Self::Budget => ("memory budget", "M"),
            Self::GroupSize => ("values per scale", "g_s"),
            Self::Bits => ("bits per value", "bits"),
            Self::AttentionWidth => ("attention width", "d_a"),
            Self::FeatureWidth => ("feature width", "m"),
            Self::FastMemory => ("values in fast memory", "M"),
            Self::BlockRows => ("query rows of a tile", "B_r"),
            Self::WeightBytes => ("bytes of weights", "w"),
            Self::ActiveParameters => ("active parameters", "P_act"),
            Self::Bandwidth => ("memory bandwidth", "BW"),
            Self::PeakFlops => ("peak arithmetic", "F"),
        }
    }
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.label())
    }
}

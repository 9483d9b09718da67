//! What a scene file says, as plain data.

use std::sync::Arc;

use crate::engine::{Fault, MaskRule, Matrix, Precision, RopeLayout, SoftmaxSpec};

/// A whole scene file, decoded but not yet proved valid. [`Scene::new`](super::Scene::new) does that.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneSpec {
    /// Shown above the board and in the scene list.
    pub title: String,
    /// The group in the scene list.
    pub topic: String,
    /// Markdown shown beside the board.
    pub notes: String,
    /// Labels of the axes.
    pub tokens: Tokens,
    /// Where Q, K and V come from.
    pub input: Input,
    /// How scores are made.
    pub scoring: ScoringSpec,
    /// c in c·tanh(s/c).
    pub softcap: Option<f64>,
    /// Mask layers, in order.
    pub mask: Vec<MaskRule>,
    /// How attention comes to know where a token stands.
    pub position: Position,
    /// The position of query 0.
    pub position_offset: i64,
    /// The softmax in force.
    pub softmax: SoftmaxSpec,
    /// A learned logit of each query head that takes part in the softmax but belongs to no key; none where this is empty.
    pub sinks: Vec<f64>,
    /// Dropout of the weights.
    pub dropout: Option<DropoutSpec>,
    /// The number format that Q, K, V and every stage are kept in.
    pub precision: Precision,
    /// A mistake to make on purpose.
    pub fault: Option<Fault>,
    /// How the scene wants to be shown.
    pub view: View,
}

/// Labels of the axes. Missing labels are shown as numbers from 1.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Tokens {
    /// Positions are shown by number.
    #[default]
    Numbers,
    /// One sequence on both sides.
    Shared(Vec<String>),
    /// A label per query and a label per key.
    Sides {
        /// One label per query.
        queries: Vec<String>,
        /// One label per key.
        keys: Vec<String>,
    },
}

/// Where Q, K and V come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Written out: one Q per query head, one K and one V per KV head.
    Heads {
        /// One matrix per query head, each (n_q, d_k).
        q: Vec<MatrixSource>,
        /// One matrix per KV head, each (n_k, d_k).
        k: Vec<MatrixSource>,
        /// One matrix per KV head, each (n_k, d_v).
        v: Vec<MatrixSource>,
    },
    /// Projected from hidden states: y = x·W + b.
    Projected(Box<Projected>),
    /// Read from a safetensors file; each tensor has the shape (heads, n, d).
    Tensors {
        /// Path relative to the scene.
        file: String,
        /// Name of the tensor that holds Q.
        q: String,
        /// Name of the tensor that holds K.
        k: String,
        /// Name of the tensor that holds V.
        v: String,
    },
    /// Attention maps that were computed elsewhere: only the weights are known. Shape (heads, n_q, n_k), or (n_q, n_k), or
    /// (1, heads, n_q, n_k).
    Weights {
        /// Path relative to the scene: a safetensors file, or an `.npy` file.
        file: String,
        /// Name of the tensor in a safetensors file; `None` for an `.npy` file, which holds one array without a name.
        name: Option<String>,
    },
}

/// Hidden states and the weights that make Q, K and V of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Projected {
    /// Hidden states, one row per query position. Shape (n_q, d_model).
    pub x: MatrixSource,
    /// Hidden states that keys and values are made of; `None` for self-attention. Shape (n_k, d_context).
    pub context: Option<MatrixSource>,
    /// Query heads.
    pub heads: usize,
    /// Key/value heads; divides `heads`.
    pub kv_heads: usize,
    /// Shape (d_model, heads · d_k).
    pub w_q: MatrixSource,
    /// Shape (d_context, kv_heads · d_k).
    pub w_k: MatrixSource,
    /// Shape (d_context, kv_heads · d_v).
    pub w_v: MatrixSource,
    /// heads · d_k numbers.
    pub b_q: Option<Vec<f64>>,
    /// kv_heads · d_k numbers.
    pub b_k: Option<Vec<f64>>,
    /// kv_heads · d_v numbers.
    pub b_v: Option<Vec<f64>>,
    /// Shape (heads · d_v, d_out).
    pub w_o: Option<MatrixSource>,
    /// d_out numbers.
    pub b_o: Option<Vec<f64>>,
}

/// How a matrix is given in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum MatrixSource {
    /// Rows of numbers.
    Rows(Arc<Matrix>),
    /// `factor · np.random.randn(rows, cols)` after `np.random.seed(seed)` and `skip` draws.
    Randn {
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
        /// The seed, as NumPy takes it.
        seed: u32,
        /// How many draws to throw away first.
        skip: usize,
        /// What every draw is multiplied by.
        factor: f64,
    },
    /// Ones on the diagonal.
    Identity {
        /// Rows and columns.
        n: usize,
    },
    /// Read from an `.npy` file.
    File {
        /// Path relative to the scene.
        path: String,
    },
}

/// How scores are made, with matrices as the file gives them.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum ScoringSpec {
    /// q·k / √d_k.
    #[default]
    ScaledDot,
    /// q·k.
    Dot,
    /// q·k times this.
    Scale(f64),
    /// v·tanh(W_q q + W_k k).
    Additive {
        /// Shape (d_att, d_q).
        w_q: MatrixSource,
        /// Shape (d_att, d_k).
        w_k: MatrixSource,
        /// d_att numbers, as a matrix of one row (rows of numbers or `Randn(rows: 1, ..)`).
        v: MatrixSource,
    },
    /// q·W·k.
    General {
        /// Shape (d_q, d_k).
        w: MatrixSource,
    },
}

/// How attention comes to know where a token stands. Query i stands at i + `position_offset`, key j at j.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Position {
    /// It does not, apart from what masks say.
    #[default]
    None,
    /// Queries and keys of every head are turned by angles that grow with their positions (Su et al., 2021).
    Rope {
        /// Pair f of d/2 turns by base^(−2f/d) radians a position.
        base: f64,
        /// Which features are turned together.
        layout: RopeLayout,
    },
    /// slope · (key position − query position) is added to the scaled scores; slopes differ from query head to query head
    /// (Press et al., 2022).
    Alibi,
    /// Sines and cosines are added to the hidden states (Vaswani et al., 2017).
    Sinusoidal,
}

/// Dropout of the weights, as training does it: some become 0, the others are divided by 1 − rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropoutSpec {
    /// The share of weights that become 0; 0 or more and less than 1.
    pub rate: f64,
    /// Which ones: those that `np.random.seed(seed)` drops.
    pub seed: u32,
}

/// How the scene wants to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Decimal places in cells.
    pub decimals: usize,
    /// Colours of the weights.
    pub palette: Palette,
    /// Which way round the matrices are drawn.
    pub orientation: Orientation,
    /// Which stages are on the board.
    pub stages: Vec<Stage>,
    /// The query head that is shown first, from 1 as people count.
    pub head: usize,
}

impl Default for View {
    fn default() -> Self {
        Self {
            decimals: 4,
            palette: Palette::default(),
            orientation: Orientation::default(),
            stages: Stage::ALL.to_vec(),
            head: 1,
        }
    }
}

/// Colours of the weights, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Palette {
    /// White to deep violet.
    #[default]
    Violet,
    /// White to deep blue.
    Blue,
    /// White to black, for print.
    Grey,
    /// Dark blue to yellow (viridis).
    Viridis,
    /// Blue to yellow (cividis).
    Cividis,
}

impl Palette {
    /// Every palette, in the order in which they are offered.
    pub const ALL: [Self; 5] = [Self::Violet, Self::Blue, Self::Grey, Self::Viridis, Self::Cividis];
}

/// Which way round the matrices are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Orientation {
    /// Queries down, keys across.
    #[default]
    QueriesAsRows,
    /// Keys down, queries across.
    QueriesAsColumns,
}

/// The five stages of attention, always in this order and under these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Q·Kᵀ.
    RawScores,
    /// raw · scale.
    ScaledScores,
    /// scaled + mask.
    MaskedScores,
    /// softmax.
    Weights,
    /// weights · V.
    Output,
}

impl Stage {
    /// All five in order.
    pub const ALL: [Self; 5] =
        [Self::RawScores, Self::ScaledScores, Self::MaskedScores, Self::Weights, Self::Output];

    /// The name used in files, tables and on the command line: `raw_scores`, `weights`, …
    pub fn name(self) -> &'static str {
        match self {
            Self::RawScores => "raw_scores",
            Self::ScaledScores => "scaled_scores",
            Self::MaskedScores => "masked_scores",
            Self::Weights => "weights",
            Self::Output => "output",
        }
    }

    /// The name shown to people: `raw scores`, `weights`, …
    pub fn label(self) -> &'static str {
        match self {
            Self::RawScores => "raw scores",
            Self::ScaledScores => "scaled scores",
            Self::MaskedScores => "masked scores",
            Self::Weights => "weights",
            Self::Output => "output",
        }
    }
}

//! One head of attention with every stage kept under its own name.

use std::sync::Arc;

use super::softmax::{Normalizer, subtracted};
use super::{BlockedBy, Fault, FaultInForce, MaskRule, Matrix, Precision};

/// How a query and a key become one number.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Scoring {
    /// q·k / √d_k, with the head's own key width.
    #[default]
    ScaledDot,
    /// q·k.
    Dot,
    /// q·k times an explicit scale, which is obeyed as it stands.
    Scale(f64),
    /// v·tanh(W_q q + W_k k) (Bahdanau et al., 2015). Not divided by anything.
    Additive {
        /// Shape (d_att, d_q).
        w_q: Arc<Matrix>,
        /// Shape (d_att, d_k).
        w_k: Arc<Matrix>,
        /// d_att numbers.
        v: Arc<Vec<f64>>,
    },
    /// q·W·k (Luong et al., 2015), W of shape (d_q, d_k). Not divided by anything.
    General {
        /// Shape (d_q, d_k).
        w: Arc<Matrix>,
    },
}

/// What a query gets that may see nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyRow {
    /// Weights 0 and output 0.
    #[default]
    Zero,
    /// 0/0, as the formula says.
    NotANumber,
    /// 1/n_k each: what a large finite negative number in place of −∞ gives.
    Uniform,
}

/// Along which axis weights sum to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SoftmaxAxis {
    /// Along the keys: one distribution per query. The definition.
    #[default]
    Keys,
    /// Along the queries: the classic mistake.
    Queries,
}

/// Whether the row maximum is subtracted before exponentiating.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SoftmaxForm {
    /// exp(s − max). The same result, and no exponent above 0.
    #[default]
    Stable,
    /// exp(s), as the textbook writes it; overflows.
    Naive,
}

/// The softmax in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoftmaxSpec {
    /// Along which axis.
    pub over: SoftmaxAxis,
    /// With or without the row maximum.
    pub form: SoftmaxForm,
    /// What a query gets that may see nothing.
    pub empty_rows: EmptyRow,
}

/// What one head reads.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadInput {
    /// Shape (n_q, d_k).
    pub q: Arc<Matrix>,
    /// Shape (n_k, d_k).
    pub k: Arc<Matrix>,
    /// Shape (n_k, d_v).
    pub v: Arc<Matrix>,
}

/// Everything besides Q, K and V that decides the result of a head.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AttentionSpec {
    /// How scores are made.
    pub scoring: Scoring,
    /// c in c·tanh(s/c), applied to the scaled scores before any mask.
    pub softcap: Option<f64>,
    /// Layers, ANDed and summed.
    pub mask: Vec<MaskRule>,
    /// The position of query 0; key j always stands at j.
    pub position_offset: i64,
    /// The softmax in force.
    pub softmax: SoftmaxSpec,
    /// The number format that inputs and stages are kept in.
    pub precision: Precision,
    /// A learned logit for each query head (attention sinks: Xiao et al., 2023; in this form: OpenAI, 2025): one more term in the
    /// denominator that belongs to no key, so that weights may sum to less than 1. None without entries, and none where softmax
    /// runs over the queries.
    pub sinks: Arc<Vec<f64>>,
    /// A mistake to make on purpose; see [`spec_in_force`](super::spec_in_force) for what the head then really computes.
    pub fault: Option<FaultInForce>,
}

impl AttentionSpec {
    /// The sink of query head `query_head`, where there is one and softmax runs along the keys.
    pub fn sink_of(&self, query_head: usize) -> Option<f64> {
        let sink = self.sinks.get(query_head).copied();
        sink.filter(|_| self.softmax.over == SoftmaxAxis::Keys)
    }

    /// The format that stages are really kept in: that of the spec, unless the mistake that it names is about another one.
    pub fn precision_in_force(&self) -> Precision {
        match (self.fault.map(|in_force| in_force.fault), self.precision) {
            (Some(Fault::MinusOneBillion), Precision::F64) => Precision::F32,
            (_, precision) => precision,
        }
    }
}

/// Every stage of one head.
///
/// No stage holds −0. Raw and scaled scores are there for blocked pairs too, as the textbook shows the whole matrix; from the
/// masked scores on, a blocked pair has no influence on anything, whatever its key and value hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// The factor between raw and scaled scores (1 where the scoring has none).
    pub scale: f64,
    /// Q·Kᵀ, or the scorer's own value. Shape (n_q, n_k).
    pub raw_scores: Matrix,
    /// raw · scale, soft-capped if asked. Shape (n_q, n_k).
    pub scaled_scores: Matrix,
    /// scaled + mask; −∞ where blocked. Shape (n_q, n_k).
    pub masked_scores: Matrix,
    /// softmax of the masked scores. Shape (n_q, n_k).
    pub weights: Matrix,
    /// weights · V. Shape (n_q, d_v).
    pub output: Matrix,
    /// For each pair, row by row, the index of the first mask layer that blocks it.
    pub blocked_by: BlockedBy,
    /// The largest visible score of each query, or its sink where that is larger (−∞ where it sees nothing, NaN where it sees a NaN); what the stable softmax
    /// subtracts.
    pub row_max: Vec<f64>,
    /// Σ exp(s − max) of each query, or Σ exp(s) in the naive form, the sink's term included; 0 where it sees nothing.
    pub row_sum: Vec<f64>,
    /// Where softmax runs over the queries, the largest visible score of each key; empty otherwise. The weights are then made
    /// with these, and `row_max` and `row_sum` only say what the rows would have been divided by.
    pub column_max: Vec<f64>,
    /// Where softmax runs over the queries, Σ exp of each key; empty otherwise.
    pub column_sum: Vec<f64>,
}

impl Attention {
    /// A head of its stages in their order; the numbers that normalise its rows and columns are sorted by what they are.
    pub(super) fn of_stages(
        scale: f64,
        [raw_scores, scaled_scores, masked_scores]: [Matrix; 3],
        (weights, rows, columns): (Matrix, Vec<Normalizer>, Vec<Normalizer>),
        output: Matrix,
        blocked_by: BlockedBy,
    ) -> Self {
        let (row_max, row_sum) = rows.iter().map(|row| (row.max, row.sum)).unzip();
        let (column_max, column_sum) = columns.iter().map(|column| (column.max, column.sum)).unzip();
        Self {
            scale,
            raw_scores,
            scaled_scores,
            masked_scores,
            weights,
            output,
            blocked_by,
            row_max,
            row_sum,
            column_max,
            column_sum,
        }
    }

    /// Weights that were computed elsewhere, as a head of which nothing else is known: every other stage is empty, the output
    /// has a row per query but no columns, nothing is blocked, and no row has a maximum or a sum.
    ///
    /// `weights` has the shape (n_q, n_k) and is taken as it is, whatever its rows sum to.
    pub fn of_given_weights(weights: Matrix) -> Self {
        let unknown = Matrix::zeros(0, 0);
        Self {
            scale: 1.0,
            raw_scores: unknown.clone(),
            scaled_scores: unknown.clone(),
            masked_scores: unknown,
            output: Matrix::zeros(weights.rows(), 0), // (n_q, 0)
            blocked_by: BlockedBy::nothing(weights.rows() * weights.cols()),
            row_max: Vec::new(),
            row_sum: Vec::new(),
            column_max: Vec::new(),
            column_sum: Vec::new(),
            weights,
        }
    }

    /// Whether query `query` may see key `key`.
    pub fn allows(&self, query: usize, key: usize) -> bool {
        self.blocked_by(query, key).is_none()
    }

    /// exp(sink − max) / Σ: the weight that the head's learned sink takes from the keys of a query; `None` without a sink.
    pub fn weight_of_sink(&self, spec: &AttentionSpec, query_head: usize, query: usize) -> Option<f64> {
        let sink = spec.sink_of(query_head)?;
        let (max, sum) = (self.row_max[query], self.row_sum[query]);
        if sum == 0.0 {
            return Some(1.0); // nothing else is there
        }
        Some((sink - subtracted(spec.softmax.form, max)).exp() / sum)
    }

    /// The index of the first mask layer that hides `key` from `query`.
    pub fn blocked_by(&self, query: usize, key: usize) -> Option<usize> {
        self.blocked_by.get(query * self.weights.cols() + key)
    }
}

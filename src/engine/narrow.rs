//! The same stages in a narrower number format, as kernels compute them.
//!
//! Inputs are rounded on entry. While a stage is made, products and sums are kept in `F32` (`F64` for `F64`); the stage is
//! rounded when it is stored. The scaled score is rounded from the unrounded product, because kernels scale before they narrow;
//! the raw stage shows the rounded product.

use super::attend::{blocked_pairs, softmax};
use super::faults::attend_with_fault;
use super::scoring::{scale_of, soft_cap};
use super::{
    Attention, AttentionSpec, Cancelled, EmptyRow, HeadInput, MaskView, Matrix, Precision, Progress, Scoring,
};

/// [`attend`](super::attend()) with everything in `precision`, whatever the `spec` says; for `F64` it is the same, bit for bit.
///
/// # Panics
/// When the shapes do not fit together; [`HeadInput::check`] says so beforehand.
pub fn attend_in(
    precision: Precision,
    input: &HeadInput,
    spec: &AttentionSpec,
    query_head: usize,
) -> Attention {
    stages(precision, input, spec, query_head, &Progress::default())
}

/// [`attend_in`], stoppable: products of rounded numbers take a while in a large head.
///
/// # Errors
/// [`Cancelled`] when `progress` was cancelled before the end.
///
/// # Panics
/// As [`attend_in`].
pub fn attend_in_with(
    precision: Precision,
    input: &HeadInput,
    spec: &AttentionSpec,
    query_head: usize,
    progress: &Progress,
) -> Result<Attention, Cancelled> {
    progress.begin(input.q.rows());
    progress.check()?;
    if spec.fault.is_some() {
        let attention = attend_in(precision, input, spec, query_head);
        progress.advance(input.q.rows());
        return Ok(attention);
    }
    let stages = stages(precision, input, spec, query_head, progress);
    progress.check()?;
    Ok(stages)
}

/// Every stage; after the wish to stop, anything of the right shape.
fn stages(
    precision: Precision,
    input: &HeadInput,
    spec: &AttentionSpec,
    query_head: usize,
    progress: &Progress,
) -> Attention {
    if spec.fault.is_some() {
        let spec = AttentionSpec { precision, ..spec.clone() };
        let faulty = attend_with_fault(input, &spec, query_head);
        progress.advance(input.q.rows());
        return faulty;
    }
    let [q, k, v] = [&input.q, &input.k, &input.v].map(|matrix| matrix.map(|value| precision.round(value)));
    let narrow = Narrow { precision, progress };
    let scale = precision.round_sum(scale_of(&spec.scoring, k.cols()));
    let view = MaskView::new(&spec.mask, q.rows(), k.rows(), spec.position_offset, query_head);

    let unrounded = narrow.raw_scores(&spec.scoring, &q, &k); // (n_q, n_k)
    let raw_scores = unrounded.map(|score| precision.round(score) + 0.0); // (n_q, n_k)
    let scaled_scores = unrounded.map(|score| narrow.scale_and_cap(score, scale, spec.softcap)); // (n_q, n_k)
    let blocked_by = blocked_pairs(&view, q.rows(), k.rows());
    let blocked: Vec<bool> = blocked_by.iter().map(|layer| layer.is_some()).collect();
    let masked_scores = narrow.mask(&scaled_scores, &blocked, &view); // (n_q, n_k)
    let (weights, rows, columns) =
        softmax(precision, &masked_scores, &blocked, spec.softmax, spec.sink_of(query_head)); // (n_q, n_k)
    let output = narrow.mix(&weights, &blocked, &v, spec.softmax.empty_rows, spec.sink_of(query_head)); // (n_q, d_v)

    let scores = [raw_scores, scaled_scores, masked_scores];
    Attention::of_stages(scale, scores, (weights, rows, columns), output, blocked_by)
}

/// weights · V in one format, for weights and values that are already rounded to it; a blocked value of weight 0 is not read.
pub(super) fn mix_in(
    weights: &Matrix,
    blocked: &[bool],
    v: &Matrix,
    spec: &AttentionSpec,
    query_head: usize,
) -> Matrix {
    let narrow = Narrow { precision: spec.precision, progress: &Progress::default() };
    narrow.mix(weights, blocked, v, spec.softmax.empty_rows, spec.sink_of(query_head))
}

/// The arithmetic of one format.
#[derive(Clone, Copy)]
struct Narrow<'p> {
    precision: Precision,
    progress: &'p Progress,
}

impl Narrow<'_> {
    fn dot(self, left: &[f64], right: &[f64]) -> f64 {
        let kept = |value| self.precision.round_sum(value);
        left.iter().zip(right).fold(0.0, |sum, (left, right)| kept(sum + kept(left * right)))
    }

    /// Every row of `left` against every row of `right`.
    fn dots(self, left: &Matrix, right: &Matrix) -> Matrix {
        Matrix::from_fn(left.rows(), right.rows(), |row, col| self.dot(left.row(row), right.row(col)))
    }

    /// Every query against every key.
    fn pairs(self, q: &Matrix, k: &Matrix) -> Matrix {
        self.until_cancelled(q.rows(), k.rows(), Half::Even, |query, key| self.dot(q.row(query), k.row(key)))
    }

    /// A matrix of `value`s that counts half of its rows as finished; zeros from the wish to stop on.
    fn until_cancelled(
        self,
        n_q: usize,
        n_cols: usize,
        half: Half,
        value: impl Fn(usize, usize) -> f64,
    ) -> Matrix {
        Matrix::from_fn(n_q, n_cols, |query, col| {
            if self.progress.is_cancelled() {
                return 0.0;
            }
            if col == 0 && query % 2 == half as usize {
                self.progress.advance(1);
            }
            value(query, col)
        })
    }

    fn raw_scores(self, scoring: &Scoring, q: &Matrix, k: &Matrix) -> Matrix {
        let stored = |matrix: &Matrix| matrix.map(|value| self.precision.round(value));
        match scoring {
            Scoring::ScaledDot | Scoring::Dot | Scoring::Scale(_) => self.pairs(q, k), // (n_q, n_k)
            Scoring::General { w } => {
                let transformed = self.dots(q, &stored(&w.transpose())); // (n_q, d_k)
                self.pairs(&stored(&transformed), k) // (n_q, n_k)
            }
            Scoring::Additive { w_q, w_k, v } => {
                let from_queries = stored(&self.dots(q, &stored(w_q))); // (n_q, d_att)
                let from_keys = stored(&self.dots(k, &stored(w_k))); // (n_k, d_att)
                let v: Vec<f64> = v.iter().map(|&value| self.precision.round(value)).collect();
                self.until_cancelled(q.rows(), k.rows(), Half::Even, |query, key| {
                    let inside = from_queries.row(query).iter().zip(from_keys.row(key));
                    let hidden = inside.map(|(a, b)| self.precision.round_sum(a + b).tanh());
                    let hidden: Vec<f64> = hidden.map(|value| self.precision.round_sum(value)).collect();
                    self.dot(&v, &hidden)
                }) // (n_q, n_k)
            }
        }
    }

    fn scale_and_cap(self, unrounded: f64, scale: f64, softcap: Option<f64>) -> f64 {
        let scaled = self.precision.round_sum(unrounded * scale);
        let capped = softcap.map_or(scaled, |cap| self.precision.round_sum(soft_cap(scaled, cap)));
        self.precision.round(capped) + 0.0
    }

    fn mask(self, scaled: &Matrix, blocked: &[bool], view: &MaskView<'_>) -> Matrix {
        let n_k = scaled.cols();
        Matrix::from_fn(scaled.rows(), n_k, |query, key| {
            if blocked[query * n_k + key] {
                return f64::NEG_INFINITY;
            }
            let bias = self.precision.round(view.bias(query, key));
            self.precision.round(self.precision.round_sum(scaled.get(query, key) + bias)) + 0.0
        })
    }

    /// weights · V; a blocked value of weight 0 is not read.
    fn mix(
        self,
        weights: &Matrix,
        blocked: &[bool],
        v: &Matrix,
        empty_rows: EmptyRow,
        sink: Option<f64>,
    ) -> Matrix {
        let n_k = weights.cols();
        if n_k == 0 && empty_rows == EmptyRow::NotANumber && sink.is_none() {
            return Matrix::from_fn(weights.rows(), v.cols(), |_, _| f64::NAN);
        }
        let kept = |value| self.precision.round_sum(value);
        self.until_cancelled(weights.rows(), v.cols(), Half::Odd, |query, feature| {
            let read = |key: &usize| weights.get(query, *key) != 0.0 || !blocked[query * n_k + key];
            let add = |sum, key| kept(sum + kept(weights.get(query, key) * v.get(key, feature)));
            self.precision.round((0..n_k).filter(read).fold(0.0, add)) + 0.0
        }) // (n_q, d_v)
    }
}

/// The rows that a stage counts. Scores and output take about as long as each other.
#[derive(Clone, Copy)]
enum Half {
    Even = 0,
    Odd = 1,
}

//! The same output without ever holding the (n_q, n_k) matrices: one tile of keys after another, with a running maximum and a
//! running sum (online softmax: Milakov & Gimelshein, 2018; FlashAttention: Dao et al., 2022).
//!
//! This is the readable form, tested against [`attend`](super::attend()). Besides inputs and outputs it needs room for one tile.

use super::scoring::{raw_scores, scale_of, soft_cap};
use super::softmax::{empty_weight, with_sink};
use super::{AttentionSpec, EmptyRow, HeadInput, MaskView, Matrix, Precision, SoftmaxAxis, SoftmaxForm};

/// How many queries and keys one tile holds. Zeros count as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSize {
    /// Queries (rows of the score matrix).
    pub queries: usize,
    /// Keys (columns of the score matrix).
    pub keys: usize,
}

/// What the tiled pass ends with. It has no stage matrices; that is its point.
#[derive(Clone, Debug, PartialEq)]
pub struct TiledAttention {
    /// weights · V. Shape (n_q, d_v).
    pub output: Matrix,
    /// The largest visible score of each query, as in [`Attention`](super::Attention).
    pub row_max: Vec<f64>,
    /// Σ exp(s − max) of each query.
    pub row_sum: Vec<f64>,
}

/// One query after one tile of keys.
#[derive(Clone, Debug, PartialEq)]
pub struct OnlineStep {
    /// The query.
    pub query: usize,
    /// The first key of the tile.
    pub first_key: usize,
    /// How many keys the tile holds.
    pub n_keys: usize,
    /// The masked scores of the tile, one per key; −∞ where blocked.
    pub scores: Vec<f64>,
    /// The largest visible score before this tile; −∞ while nothing had been visible.
    pub max_before: f64,
    /// The largest visible score so far; −∞ while nothing has been visible.
    pub max: f64,
    /// exp(old max − new max): what everything gathered before is multiplied by. 1 when the maximum stays.
    pub correction: f64,
    /// Σ exp(s − max) so far.
    pub sum: f64,
    /// Σ exp(s − max)·v so far; divided by `sum` it is the output if no more keys came. d_v numbers.
    pub gathered: Vec<f64>,
}

impl OnlineStep {
    /// The output if no more keys came: `gathered` over `sum`, d_v numbers. `None` while there is nothing to divide by, as nothing
    /// has been visible.
    pub fn output_so_far(&self) -> Option<Vec<f64>> {
        let share = |gathered: &f64| gathered / self.sum + 0.0;
        (self.sum != 0.0).then(|| self.gathered.iter().map(share).collect())
    }
}

/// Why a tiled pass cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TiledError {
    /// Softmax runs over the queries.
    #[error("the tiled pass works row by row, but softmax runs over the queries; run it over the keys")]
    OverQueries,
    /// The naive softmax subtracts no maximum.
    #[error(
        "the tiled pass lives on subtracting the running maximum, but the softmax is naive; choose the stable form"
    )]
    Naive,
    /// The head makes a mistake on purpose.
    #[error(
        "the tiled pass computes attention as it is meant, but the head makes a mistake on purpose; leave the fault out"
    )]
    Fault,
    /// A narrower format was asked for.
    #[error(
        "the tiled pass computes in f64, but the precision is {}; choose f64 or keep the stages",
        .precision.label()
    )]
    Precision {
        /// The format asked for.
        precision: Precision,
    },
}

/// Attention by tiles, in `F64` whatever the precision of `spec`. `observe` is called for every query after every tile of keys.
///
/// # Errors
/// [`TiledError`] when the softmax is not the stable one over the keys, the precision not `F64`, or when `spec` names a mistake.
///
/// # Panics
/// When the shapes do not fit together; [`HeadInput::check`] says so beforehand.
pub fn attend_tiled(
    input: &HeadInput,
    spec: &AttentionSpec,
    query_head: usize,
    tile: TileSize,
    mut observe: impl FnMut(OnlineStep),
) -> Result<TiledAttention, TiledError> {
    if spec.softmax.over == SoftmaxAxis::Queries {
        return Err(TiledError::OverQueries);
    }
    if spec.softmax.form == SoftmaxForm::Naive {
        return Err(TiledError::Naive);
    }
    if spec.fault.is_some() {
        return Err(TiledError::Fault);
    }
    if spec.precision != Precision::F64 {
        return Err(TiledError::Precision { precision: spec.precision });
    }
    let HeadInput { q, k, v } = input; // (n_q, d_k), (n_k, d_k), (n_k, d_v)
    let (n_q, n_k) = (q.rows(), k.rows());
    let tiler = Tiler {
        spec,
        view: MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, query_head),
        scale: scale_of(&spec.scoring, k.cols()),
    };
    let mut rows = vec![OnlineRow::new(v.cols()); n_q];
    for first_query in (0..n_q).step_by(tile.queries.max(1)) {
        let q = q.row_range(first_query, (first_query + tile.queries.max(1)).min(n_q));
        for first_key in (0..n_k).step_by(tile.keys.max(1)) {
            let keys = first_key..(first_key + tile.keys.max(1)).min(n_k);
            let scores = tiler.scaled_scores(&q, &k.row_range(keys.start, keys.end)); // one tile
            for (row, scaled) in scores.iter_rows().enumerate() {
                let query = first_query + row;
                let visible = tiler.visible(query, first_key, scaled);
                let max_before = rows[query].max;
                let correction = rows[query].add(&visible, v);
                let mut scores = vec![f64::NEG_INFINITY; keys.len()];
                visible.iter().for_each(|&(key, score)| scores[key - first_key] = score);
                let OnlineRow { max, sum, gathered, .. } = rows[query].clone();
                let n_keys = keys.len();
                observe(OnlineStep {
                    query,
                    first_key,
                    n_keys,
                    scores,
                    max_before,
                    max,
                    correction,
                    sum,
                    gathered,
                });
            }
        }
    }
    Ok(finish(rows, v, spec.softmax.empty_rows, spec.sink_of(query_head)))
}

/// What every tile needs.
struct Tiler<'a> {
    spec: &'a AttentionSpec,
    view: MaskView<'a>,
    scale: f64,
}

impl Tiler<'_> {
    fn scaled_scores(&self, q: &Matrix, k: &Matrix) -> Matrix {
        let raw = raw_scores(&self.spec.scoring, q, k);
        raw.map(|score| self.spec.softcap.map_or(score * self.scale, |cap| soft_cap(score * self.scale, cap)))
    }

    /// The keys of a tile that the query may see, with their masked scores.
    fn visible(&self, query: usize, first_key: usize, scaled: &[f64]) -> Vec<(usize, f64)> {
        let keys = scaled.iter().enumerate().map(|(at, &score)| (first_key + at, score));
        let visible = keys.filter(|&(key, _)| self.view.allows(query, key));
        visible.map(|(key, score)| (key, score + self.view.bias(query, key))).collect()
    }
}

/// One query's running maximum, sum and weighted sum of values.
#[derive(Clone)]
struct OnlineRow {
    max: f64,
    sum: f64,
    gathered: Vec<f64>,
    sees_nothing: bool,
}

impl OnlineRow {
    fn new(d_v: usize) -> Self {
        Self { max: f64::NEG_INFINITY, sum: 0.0, gathered: vec![0.0; d_v], sees_nothing: true }
    }

    /// Takes in the visible keys of a tile and returns by what the earlier ones had to be multiplied.
    fn add(&mut self, visible: &[(usize, f64)], v: &Matrix) -> f64 {
        self.sees_nothing &= visible.is_empty();
        let max = visible.iter().fold(
            self.max,
            |max, &(_, score)| {
                if score > max || score.is_nan() { score } else { max }
            },
        );
        let correction = exp_difference(self.max, max);
        self.max = max;
        self.sum *= correction;
        self.gathered.iter_mut().for_each(|sum| *sum *= correction);
        for &(key, score) in visible {
            let exp = exp_difference(score, max);
            self.sum += exp;
            for (sum, value) in self.gathered.iter_mut().zip(v.row(key)) {
                *sum += exp * value;
            }
        }
        correction
    }

    /// The sink is one more key, whose value is nothing.
    fn add_sink(&mut self, sink: Option<f64>) {
        let Some(sink) = sink else { return };
        let max = with_sink(self.max, Some(sink));
        let correction = exp_difference(self.max, max);
        self.max = max;
        self.sum = self.sum * correction + exp_difference(sink, max);
        self.gathered.iter_mut().for_each(|sum| *sum *= correction);
    }
}

/// exp(score − max), where −∞ against −∞ gives 0: a visible score of −∞ weighs nothing beside whatever is still to come.
fn exp_difference(score: f64, max: f64) -> f64 {
    if max == f64::NEG_INFINITY { 0.0 } else { (score - max).exp() }
}

/// Divides by the sums; 0/0 where every visible score is −∞, as in the plain form.
fn finish(mut rows: Vec<OnlineRow>, v: &Matrix, empty_rows: EmptyRow, sink: Option<f64>) -> TiledAttention {
    let mut output = Matrix::zeros(rows.len(), v.cols());
    for (query, row) in rows.iter_mut().enumerate() {
        let target = output.row_mut(query);
        if row.sees_nothing {
            if sink.is_none() {
                target.copy_from_slice(&empty_output(v, empty_rows));
            }
        } else {
            row.add_sink(sink);
            for (target, sum) in target.iter_mut().zip(&row.gathered) {
                *target = sum / row.sum + 0.0;
            }
        }
    }
    let (row_max, row_sum) = rows.iter().map(|row| (row.max, row.sum)).unzip();
    TiledAttention { output, row_max, row_sum }
}

/// The output of a query that sees nothing.
fn empty_output(v: &Matrix, policy: EmptyRow) -> Vec<f64> {
    let weight = empty_weight(policy, v.rows());
    match policy {
        EmptyRow::Zero => vec![0.0; v.cols()],
        EmptyRow::NotANumber => vec![weight; v.cols()],
        EmptyRow::Uniform => {
            let mean = |feature| v.iter_rows().fold(0.0, |sum, row| sum + weight * row[feature]);
            (0..v.cols()).map(mean).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{MaskRule, Scoring, attend};
    use super::*;

    #[test]
    fn the_running_sums_of_each_tile_are_those_of_the_keys_so_far() {
        let matrix = |step: f64| {
            Arc::new(Matrix::from_fn(7, 2, move |row, col| (step * (2 * row + col) as f64).cos()))
        };
        let input = HeadInput { q: matrix(0.7), k: matrix(1.9), v: matrix(0.3) };
        let spec = AttentionSpec { scoring: Scoring::Scale(3.0), ..Default::default() };
        let mut steps = Vec::new();
        let tile = TileSize { queries: 3, keys: 2 };
        attend_tiled(&input, &spec, 0, tile, |step| steps.push(step)).unwrap();
        assert_eq!(steps.len(), 7 * 4);
        for step in steps {
            let seen = step.first_key + step.n_keys;
            let so_far = |matrix: &Matrix| Arc::new(matrix.row_range(0, seen));
            let part = HeadInput { q: input.q.clone(), k: so_far(&input.k), v: so_far(&input.v) };
            let plain = attend(&part, &spec, 0);
            assert_eq!(step.max, plain.row_max[step.query]);
            assert_eq!(step.scores, plain.masked_scores.row(step.query)[step.first_key..]);
            assert!(step.max_before <= step.max);
            assert_eq!(step.correction, (step.max_before - step.max).exp());
            assert!((step.sum - plain.row_sum[step.query]).abs() < 1e-14);
            for (found, expected) in step.output_so_far().unwrap().iter().zip(plain.output.row(step.query)) {
                assert!((found - expected).abs() < 1e-14);
            }
            assert!((0.0..=1.0).contains(&step.correction));
        }
    }

    #[test]
    fn a_tile_of_blocked_keys_leaves_nothing_to_divide_by() {
        let numbers = |values: &[f64]| Arc::new(Matrix::from_fn(values.len(), 1, |row, _| values[row]));
        let input = HeadInput { q: numbers(&[1.0]), k: numbers(&[5.0, 2.0]), v: numbers(&[7.0, 3.0]) };
        let mask = vec![MaskRule::PaddedKeys(vec![true, false])];
        let spec = AttentionSpec { mask, scoring: Scoring::Dot, ..Default::default() };
        let mut steps = Vec::new();
        attend_tiled(&input, &spec, 0, TileSize { queries: 1, keys: 1 }, |step| steps.push(step)).unwrap();
        assert_eq!((&steps[0].scores[..], steps[0].max), (&[f64::NEG_INFINITY][..], f64::NEG_INFINITY));
        assert_eq!(steps[0].output_so_far(), None);
        assert_eq!((steps[1].max_before, steps[1].max), (f64::NEG_INFINITY, 2.0));
        assert_eq!(steps[1].output_so_far(), Some(vec![3.0]));
    }

    #[test]
    fn what_a_row_by_row_pass_cannot_do_is_refused() {
        let one = Arc::new(Matrix::identity(1));
        let input = HeadInput { q: one.clone(), k: one.clone(), v: one };
        let tile = TileSize { queries: 0, keys: 0 };
        let mut spec = AttentionSpec::default();
        assert_eq!(attend_tiled(&input, &spec, 0, tile, |_| ()).unwrap().output.row(0), [1.0]);
        spec.softmax.form = SoftmaxForm::Naive;
        assert_eq!(attend_tiled(&input, &spec, 0, tile, |_| ()), Err(TiledError::Naive));
        spec.softmax.over = SoftmaxAxis::Queries;
        assert_eq!(attend_tiled(&input, &spec, 0, tile, |_| ()), Err(TiledError::OverQueries));
    }
}

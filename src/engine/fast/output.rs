//! The output alone, as fast as this machine can: blocks that stay in cache, products by a library, exponentials in lanes, query
//! blocks over threads, and blocked tiles skipped.
//!
//! The mathematics is that of [`attend_tiled`](super::super::attend_tiled), which is the form to read first.

use std::sync::{Mutex, PoisonError};

use pulp::Arch;
use rayon::prelude::*;

use super::super::scoring::{scale_of, soft_cap};
use super::super::softmax::empty_weight;
use super::super::{
    AttentionSpec, Cancelled, EmptyRow, HeadShapeError, MaskView, Progress, Reach, Scoring, SoftmaxAxis,
    SoftmaxForm,
};
use super::lanes::{LANES, Running, TakeIn};
use super::product::{Layout, add_product, times_transposed};
use super::real::Real;
use super::view::HeadView;

/// Queries in a block, and keys in a tile: scores, keys and values of a tile stay in the second-level cache.
const BLOCK_QUERIES: usize = 256;
const TILE_KEYS: usize = 512;

/// Why the output cannot be made without its stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// Softmax runs over the queries.
    #[error(
        "the output-only form works row by row, but softmax runs over the queries; run it over the keys or keep the stages"
    )]
    OverQueries,
    /// The naive softmax subtracts no maximum.
    #[error(
        "the output-only form subtracts the running maximum, but the softmax is naive; choose the stable form or keep the stages"
    )]
    Naive,
    /// The scorer is not a matrix product.
    #[error(
        "the output-only form scores by dot products, but the scorer is additive or general; keep the stages instead"
    )]
    Scorer,
    /// The head makes a mistake on purpose.
    #[error(
        "the output-only form computes attention as it is meant, but the head makes a mistake on purpose; keep the stages instead"
    )]
    Fault,
    /// The matrices of a head do not fit together.
    #[error("head {}: {error}", query_head + 1)]
    Shape {
        /// Which query head, from 0.
        query_head: usize,
        /// What does not fit.
        error: HeadShapeError,
    },
    /// Asked to stop.
    #[error("{0}")]
    Cancelled(#[from] Cancelled),
}

/// softmax(Q·Kᵀ·scale + M)·V of every query head, each as n_q · d_v numbers row by row, without any stage.
///
/// Memory beyond inputs and outputs is a fixed number of tiles per thread. The result does not depend on the number of threads. It
/// agrees with [`attend`](super::super::attend()) up to rounding: scores are summed in another order, and products are fused where
/// the machine can. Blocked keys and values are never read, NaN in a visible score makes its row NaN, and empty rows follow the policy.
///
/// # Errors
/// [`OutputError`] for what needs its stages, for shapes that do not fit, and when `progress` was cancelled.
pub fn attend_output<R: Real>(
    heads: &[HeadView<'_, R>],
    spec: &AttentionSpec,
    progress: &Progress,
) -> Result<Vec<Vec<R>>, OutputError> {
    check(heads, spec)?;
    let passes: Vec<Pass<'_, R>> =
        heads.iter().enumerate().map(|(query_head, head)| Pass::new(head, spec, query_head)).collect();
    let mut outputs: Vec<Vec<R>> = passes.iter().map(|pass| vec![R::zero(); pass.n_outputs()]).collect();
    progress.begin(heads.iter().map(|head| head.q.rows()).sum());
    let mut blocks: Vec<Block<'_, '_, R>> = Vec::new();
    for (pass, output) in passes.iter().zip(&mut outputs) {
        blocks.extend(pass.blocks(output));
    }
    run_all(blocks, progress)?;
    Ok(outputs)
}

/// Every block, each by the next thread that is free. The largest come first.
fn run_all<R: Real>(blocks: Vec<Block<'_, '_, R>>, progress: &Progress) -> Result<(), Cancelled> {
    let n_workers = rayon::current_num_threads().min(blocks.len());
    let queue = Mutex::new(blocks.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    (0..n_workers).into_par_iter().with_max_len(1).try_for_each(|_| {
        let mut scratch = Scratch::default(); // once per thread: it is larger than what the allocator keeps
        while let Some(block) = next() {
            progress.check()?;
            let n_rows = block.n_rows;
            block.run(&mut scratch);
            progress.advance(n_rows);
        }
        Ok(())
    })
}

fn check<R: Real>(heads: &[HeadView<'_, R>], spec: &AttentionSpec) -> Result<(), OutputError> {
    if spec.softmax.over == SoftmaxAxis::Queries {
        return Err(OutputError::OverQueries);
    }
    if spec.softmax.form == SoftmaxForm::Naive {
        return Err(OutputError::Naive);
    }
    if matches!(spec.scoring, Scoring::Additive { .. } | Scoring::General { .. }) {
        return Err(OutputError::Scorer);
    }
    if spec.fault.is_some() {
        return Err(OutputError::Fault);
    }
    for (query_head, HeadView { q, k, v }) in heads.iter().enumerate() {
        let (n_k, n_v, d_q, d_k) = (k.rows(), v.rows(), q.cols(), k.cols());
        if n_k != n_v {
            return Err(OutputError::Shape { query_head, error: HeadShapeError::Values { n_k, n_v } });
        }
        if d_q != d_k {
            return Err(OutputError::Shape { query_head, error: HeadShapeError::Widths { d_q, d_k } });
        }
    }
    Ok(())
}

/// One query head.
struct Pass<'a, R> {
    head: HeadView<'a, R>,
    spec: &'a AttentionSpec,
    view: MaskView<'a>,
    scale: f64,
    sink: Option<f64>,
    /// Whether 0 · v is 0 for every value, so that blocked values may take part with the weight 0.
    values_are_finite: bool,
    arch: Arch,
}

impl<'a, R: Real> Pass<'a, R> {
    fn new(head: &HeadView<'a, R>, spec: &'a AttentionSpec, query_head: usize) -> Self {
        let (n_q, n_k) = (head.q.rows(), head.k.rows());
        Self {
            head: *head,
            spec,
            view: MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, query_head),
            scale: scale_of(&spec.scoring, head.k.cols()),
            sink: spec.sink_of(query_head),
            values_are_finite: head.v.is_finite(),
            arch: Arch::new(),
        }
    }

    /// The sum with the sink's term in it, in units of exp(max). Where the sink is so much larger that its term overflows, nothing is
    /// left for the keys, and the sum is ∞.
    fn sum_beside_sink(&self, running: &Running<R>) -> R {
        let term = self.sink.map_or(0.0, |sink| (sink - running.max.to_f64()).exp());
        R::from_f64(running.sum.to_f64() + term)
    }

    fn n_outputs(&self) -> usize {
        self.head.q.rows() * self.head.v.cols()
    }

    /// The query blocks, the last one first: under a causal mask it has the most to do.
    fn blocks<'p>(&'p self, output: &'p mut [R]) -> impl Iterator<Item = Block<'p, 'a, R>> {
        let d_v = self.head.v.cols();
        let n_q = if d_v == 0 { 0 } else { self.head.q.rows() };
        let blocks = output.chunks_mut((BLOCK_QUERIES * d_v).max(1)).enumerate();
        blocks.rev().map(move |(block_idx, output)| {
            let first_query = block_idx * BLOCK_QUERIES;
            Block { pass: self, first_query, n_rows: BLOCK_QUERIES.min(n_q - first_query), output }
        })
    }
}

/// What one thread works in.
#[derive(Default)]
struct Scratch<R> {
    /// Scores of a tile, then their exponentials. Shape (n_rows, TILE_KEYS).
    tile: Vec<R>,
    running: Vec<Running<R>>,
    reach: Vec<Reach>,
    has_seen: Vec<bool>,
}

/// One block of queries against every key that they can reach.
struct Block<'p, 'a, R> {
    pass: &'p Pass<'a, R>,
    first_query: usize,
    n_rows: usize,
    /// Σ exp(s − max) · v so far; in the end the output. Shape (n_rows, d_v).
    output: &'p mut [R],
}

impl<R: Real> Block<'_, '_, R> {
    fn run(mut self, scratch: &mut Scratch<R>) {
        let Self { pass, first_query, n_rows, .. } = self;
        scratch.tile.resize(BLOCK_QUERIES * TILE_KEYS, R::zero());
        scratch.running.clear();
        scratch.running.resize(n_rows, Running::new());
        scratch.has_seen.clear();
        scratch.has_seen.resize(n_rows, false);
        scratch.reach.clear();
        scratch.reach.extend((0..n_rows).map(|row| pass.view.reach(first_query + row)));
        let reached = || scratch.reach.iter().filter(|reach| !reach.keys.is_empty());
        let start = reached().map(|reach| reach.keys.start).min().unwrap_or(0);
        let end = reached().map(|reach| reach.keys.end).max().unwrap_or(0);
        for first_key in (start..end).step_by(TILE_KEYS) {
            self.take_in_tile(first_key, TILE_KEYS.min(end - first_key), scratch);
        }
        self.finish(scratch);
    }

    fn take_in_tile(&mut self, first_key: usize, n_keys: usize, scratch: &mut Scratch<R>) {
        let Self { pass, first_query, n_rows, .. } = *self;
        let HeadView { q, k, v } = pass.head;
        let last_key = first_key + n_keys;
        let layout = Layout { rows: n_rows, cols: n_keys, stride: TILE_KEYS };
        let scale = R::from_f64(pass.scale);
        times_transposed(
            scale,
            (q.row_range(first_query, first_query + n_rows), Layout::dense(n_rows, q.cols())),
            (k.row_range(first_key, last_key), Layout::dense(n_keys, k.cols())),
            (&mut scratch.tile, layout),
        ); // (n_rows, n_keys)
        self.cap_and_mask(first_key, n_keys, scratch);
        let n_used = n_keys.next_multiple_of(LANES);
        let tile = &mut scratch.tile[..n_rows * TILE_KEYS];
        pass.arch.dispatch(TakeIn {
            rows: tile,
            row_width: TILE_KEYS,
            n_used,
            running: &mut scratch.running,
            gathered: self.output,
            gathered_width: v.cols(),
        });
        if pass.values_are_finite {
            let values = (v.row_range(first_key, last_key), Layout::dense(n_keys, v.cols()));
            add_product((tile, layout), values, (self.output, Layout::dense(n_rows, v.cols())));
        } else {
            self.mix_with_care(first_key, n_keys, tile);
        }
    }

    /// Soft cap, bias and −∞ for what is blocked and for the padding at the end of each row.
    fn cap_and_mask(&self, first_key: usize, n_keys: usize, scratch: &mut Scratch<R>) {
        let Self { pass, first_query, .. } = self;
        let rows = scratch.tile.chunks_exact_mut(TILE_KEYS).zip(&scratch.reach).zip(&mut scratch.has_seen);
        for (row_idx, ((row, reach), has_seen)) in rows.enumerate() {
            row[n_keys..n_keys.next_multiple_of(LANES)].fill(R::NEG_INFINITY);
            let scores = &mut row[..n_keys];
            if let Some(cap) = pass.spec.softcap {
                scores.iter_mut().for_each(|score| *score = R::from_f64(soft_cap(score.to_f64(), cap)));
            }
            let within = |key: usize| key.saturating_sub(first_key).min(n_keys);
            let (start, end) = (within(reach.keys.start), within(reach.keys.end));
            scores[..start].fill(R::NEG_INFINITY);
            scores[end.max(start)..].fill(R::NEG_INFINITY);
            if reach.is_whole {
                *has_seen |= start < end;
                continue;
            }
            for (at, score) in scores.iter_mut().enumerate().take(end).skip(start) {
                let (query, key) = (first_query + row_idx, first_key + at);
                if pass.view.allows(query, key) {
                    *has_seen = true;
                    *score = R::from_f64(score.to_f64() + pass.view.bias(query, key));
                } else {
                    *score = R::NEG_INFINITY;
                }
            }
        }
    }

    /// exp · V where some value is NaN or infinite: a blocked one is not read.
    fn mix_with_care(&mut self, first_key: usize, n_keys: usize, tile: &[R]) {
        let v = self.pass.head.v;
        let rows = tile.chunks_exact(TILE_KEYS).zip(self.output.chunks_exact_mut(v.cols()));
        for (row_idx, (exps, sums)) in rows.enumerate() {
            for (at, &exp) in exps[..n_keys].iter().enumerate() {
                if self.pass.view.allows(self.first_query + row_idx, first_key + at) {
                    for (sum, &value) in sums.iter_mut().zip(v.row(first_key + at)) {
                        *sum += exp * value;
                    }
                }
            }
        }
    }

    /// Divides by the sums; 0/0 where every visible score is −∞, as in the plain form.
    fn finish(self, scratch: &Scratch<R>) {
        let v = self.pass.head.v;
        let empty_rows = self.pass.spec.softmax.empty_rows;
        let rows = self.output.chunks_exact_mut(v.cols()).zip(&scratch.running).zip(&scratch.has_seen);
        for ((row, running), &has_seen) in rows {
            if has_seen {
                let sum = self.pass.sum_beside_sink(running);
                row.iter_mut().for_each(|value| *value = *value / sum + R::zero());
                continue;
            }
            if self.pass.sink.is_some() {
                continue; // which takes all the weight
            }
            let weight = R::from_f64(empty_weight(empty_rows, v.rows()));
            row.fill(if empty_rows == EmptyRow::NotANumber { weight } else { R::zero() });
            for key in 0..if empty_rows == EmptyRow::Uniform { v.rows() } else { 0 } {
                row.iter_mut().zip(v.row(key)).for_each(|(sum, &value)| *sum += weight * value);
            }
        }
    }
}

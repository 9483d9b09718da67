//! Every stage kept, fast: row block after row block, each pushed through all stages while it is in cache.
//!
//! The form to read is [`attend`](super::super::attend()); this one gives the same stages up to rounding.

use pulp::Arch;
use rayon::prelude::*;

use super::super::blocked::{BlockedBy, code};
use super::super::scoring::{raw_scores, scale_of, soft_cap};
use super::super::softmax::softmax_row_in;
use super::super::{
    Attention, AttentionSpec, Cancelled, HeadInput, MaskView, Matrix, Precision, Progress, Scoring,
    SoftmaxAxis, SoftmaxForm, attend,
};
use super::packed::Packed;
use super::rows::{Normalize, Scale};
use super::view::MatrixView;

/// Queries in a block: whole strips of a product, whose rows of all stages stay in the second-level cache.
const BLOCK_QUERIES: usize = 48;

/// Multiplications below which waking a thread for them costs more than it brings.
const WORTH_A_THREAD: usize = 1 << 20;

/// What a pair costs that is looked at on its own, in units of one that is not.
const CARE: usize = 16;

/// [`attend`](super::super::attend()), faster, over all threads, and stoppable: the same stages to about 10⁻¹⁵ of their size, the
/// same blocked pairs, and exact zeros where a pair is blocked. It does not depend on the number of threads.
///
/// What has no fast form (a narrower [`AttentionSpec::precision`], naive softmax, softmax over the queries, a mistake on purpose, no
/// keys) is left to the plain one. Additive scores are made by the plain scorer.
///
/// # Errors
/// [`Cancelled`] when `progress` was cancelled before the end.
///
/// # Panics
/// When the shapes do not fit together; [`HeadInput::check`] says so beforehand.
pub fn attend_fast(
    input: &HeadInput,
    spec: &AttentionSpec,
    query_head: usize,
    progress: &Progress,
) -> Result<Attention, Cancelled> {
    let HeadInput { q, k, v } = input;
    let (n_q, n_k) = (q.rows(), k.rows());
    progress.begin(n_q);
    progress.check()?;
    let is_plain = spec.softmax.over == SoftmaxAxis::Queries
        || spec.softmax.form == SoftmaxForm::Naive
        || spec.fault.is_some()
        || spec.precision != Precision::F64
        || spec.sink_of(query_head).is_some_and(|sink| !sink.is_finite());
    if is_plain || n_q == 0 || n_k == 0 || v.cols() == 0 {
        let attention = attend(input, spec, query_head);
        progress.advance(n_q);
        return Ok(attention);
    }
    let view = MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, query_head);
    let mut stages = stages_to_be_written(input, &view, scale_of(&spec.scoring, k.cols()));
    let transformed = match &spec.scoring {
        Scoring::General { w } => Some(q.matmul(w)), // (n_q, d_k)
        _ => None,
    };
    let pass = Pass {
        q: transformed.as_ref().unwrap_or(q),
        input,
        spec,
        view,
        scale: stages.scale,
        sink: spec.sink_of(query_head),
        packed: Packed::new(
            (!matches!(spec.scoring, Scoring::Additive { .. })).then_some(k),
            MatrixView::from(v.as_ref()).is_finite().then_some(v),
        ),
        arch: Arch::new(),
    };
    run_all(&pass, pass.blocks(&mut stages), progress)?;
    if pass.view.n_layers() == 0 {
        stages.masked_scores = stages.scaled_scores.clone(); // shares its numbers
    }
    stages.blocked_by = std::mem::replace(&mut stages.blocked_by, BlockedBy::nothing(0)).shrunk();
    Ok(stages)
}

/// Room for every stage; for masked scores and blocked pairs only where there is a layer.
fn stages_to_be_written(HeadInput { q, k, v }: &HeadInput, view: &MaskView<'_>, scale: f64) -> Attention {
    let (n_q, n_k) = (q.rows(), k.rows());
    let is_masked = view.n_layers() > 0;
    Attention {
        scale,
        raw_scores: Matrix::zeros(n_q, n_k),
        scaled_scores: Matrix::zeros(n_q, n_k),
        masked_scores: Matrix::zeros(if is_masked { n_q } else { 0 }, n_k),
        weights: Matrix::zeros(n_q, n_k),
        output: Matrix::zeros(n_q, v.cols()),
        blocked_by: if is_masked {
            BlockedBy::to_be_written(n_q * n_k)
        } else {
            BlockedBy::nothing(n_q * n_k)
        },
        row_max: vec![0.0; n_q],
        row_sum: vec![0.0; n_q],
        column_max: Vec::new(),
        column_sum: Vec::new(),
    }
}

fn run_all(pass: &Pass<'_>, blocks: Vec<Block<'_>>, progress: &Progress) -> Result<(), Cancelled> {
    let run = |mut block: Block<'_>| {
        progress.check()?;
        pass.run(&mut block);
        progress.advance(block.row_max.len());
        Ok(())
    };
    if pass.n_multiplications() < 2 * WORTH_A_THREAD {
        blocks.into_iter().try_for_each(run)
    } else {
        blocks.into_par_iter().try_for_each(run)
    }
}

/// What every block needs.
struct Pass<'a> {
    /// Q, or Q·W under general scoring. Shape (n_q, d_k).
    q: &'a Matrix,
    input: &'a HeadInput,
    spec: &'a AttentionSpec,
    view: MaskView<'a>,
    scale: f64,
    sink: Option<f64>,
    packed: Packed,
    arch: Arch,
}

/// The rows of every stage that belong to one block of queries.
struct Block<'s> {
    first_query: usize,
    raw: &'s mut [f64],
    scaled: &'s mut [f64],
    /// Empty where there is no layer.
    masked: &'s mut [f64],
    weights: &'s mut [f64],
    output: &'s mut [f64],
    /// Empty where there is no layer.
    blocked_by: &'s mut [u32],
    row_max: &'s mut [f64],
    row_sum: &'s mut [f64],
}

impl Pass<'_> {
    /// About how much there is to do.
    fn n_multiplications(&self) -> usize {
        let HeadInput { q, k, v } = self.input;
        let is_careful =
            self.view.n_layers() > 0 || self.spec.softcap.is_some() || self.packed.keys.is_none();
        q.rows() * k.rows() * (k.cols() + v.cols()) * if is_careful { CARE } else { 1 }
    }

    fn blocks<'s>(&self, stages: &'s mut Attention) -> Vec<Block<'s>> {
        let (n_k, d_v) = (self.input.k.rows(), self.input.v.cols());
        let pairs = BLOCK_QUERIES * n_k;
        let mut raw = stages.raw_scores.data_mut().chunks_mut(pairs);
        let mut scaled = stages.scaled_scores.data_mut().chunks_mut(pairs);
        let mut masked = stages.masked_scores.data_mut().chunks_mut(pairs);
        let mut weights = stages.weights.data_mut().chunks_mut(pairs);
        let mut output = stages.output.data_mut().chunks_mut(BLOCK_QUERIES * d_v);
        let mut blocked_by = stages.blocked_by.codes_mut().chunks_mut(pairs);
        let mut row_max = stages.row_max.chunks_mut(BLOCK_QUERIES);
        let mut row_sum = stages.row_sum.chunks_mut(BLOCK_QUERIES);
        let block = |first_query| {
            Some(Block {
                first_query,
                raw: raw.next()?,
                scaled: scaled.next()?,
                masked: masked.next().unwrap_or_default(),
                weights: weights.next()?,
                output: output.next()?,
                blocked_by: blocked_by.next().unwrap_or_default(),
                row_max: row_max.next()?,
                row_sum: row_sum.next()?,
            })
        };
        (0..self.q.rows()).step_by(BLOCK_QUERIES).map_while(block).collect()
    }

    fn run(&self, block: &mut Block<'_>) {
        let n_k = self.input.k.rows();
        self.score(block);
        self.arch.dispatch(Scale { raw: block.raw, scaled: block.scaled, factor: self.scale });
        if let Some(cap) = self.spec.softcap {
            block.scaled.iter_mut().for_each(|score| *score = soft_cap(*score, cap) + 0.0);
        }
        if !block.masked.is_empty() {
            block.masked.copy_from_slice(block.scaled);
            let rows = block.masked.chunks_exact_mut(n_k).zip(block.blocked_by.chunks_exact_mut(n_k));
            for (query, (masked, codes)) in (block.first_query..).zip(rows) {
                self.mask(query, masked, codes);
            }
        }
        self.softmax(block);
        match &self.packed.values {
            Some(values) => values.mix(self.arch, block.weights, block.row_max.len(), block.output),
            None => self.mix_with_care(block),
        }
    }

    fn score(&self, block: &mut Block<'_>) {
        let n_rows = block.row_max.len();
        let queries = &self.q.data()[block.first_query * self.q.cols()..][..n_rows * self.q.cols()];
        match &self.packed.keys {
            Some(keys) => keys.scores(self.arch, queries, n_rows, block.raw),
            None => {
                let queries = self.q.row_range(block.first_query, block.first_query + n_rows);
                block.raw.copy_from_slice(raw_scores(&self.spec.scoring, &queries, &self.input.k).data());
            }
        } // (n_rows, n_k)
    }

    /// From masked scores to weights. Rows that see nothing, or something that is not finite, are left to the plain form.
    fn softmax(&self, block: &mut Block<'_>) {
        let n_k = self.input.k.rows();
        let masked = if block.masked.is_empty() { &*block.scaled } else { &*block.masked };
        let (max, sum) = (&mut *block.row_max, &mut *block.row_sum);
        self.arch.dispatch(Normalize {
            scores: masked,
            n_k,
            sink: self.sink,
            weights: block.weights,
            max,
            sum,
        });
        for (row, scores) in masked.chunks_exact(n_k).enumerate() {
            if !sum[row].is_nan() {
                continue;
            }
            let allows = |key| self.view.allows(block.first_query + row, key);
            let blocked: Vec<bool> = (0..n_k).map(|key| !allows(key)).collect();
            let weights = &mut block.weights[row * n_k..(row + 1) * n_k];
            let plain =
                softmax_row_in(Precision::F64, scores, &blocked, self.spec.softmax, self.sink, weights);
            (max[row], sum[row]) = (plain.max, plain.sum);
        }
    }

    /// −∞ where blocked, the bias added elsewhere.
    fn mask(&self, query: usize, masked: &mut [f64], codes: &mut [u32]) {
        let reach = self.view.reach(query);
        let has_bias = self.view.has_bias();
        let inside = if reach.is_whole { reach.keys } else { 0..0 };
        let outside = (0..inside.start).chain(inside.end..masked.len());
        for key in outside {
            let (score, layer) = (&mut masked[key], &mut codes[key]);
            let blocked_by = self.view.blocked_by(query, key);
            *layer = code(blocked_by);
            if blocked_by.is_some() {
                *score = f64::NEG_INFINITY;
            } else if has_bias {
                *score += self.view.bias(query, key);
            }
        }
    }

    /// weights · V where some value is NaN or infinite: a blocked value of weight 0 is not read.
    fn mix_with_care(&self, block: &mut Block<'_>) {
        let v = &self.input.v;
        let rows = block.weights.chunks_exact(v.rows()).zip(block.output.chunks_exact_mut(v.cols()));
        for (row, (weights, sums)) in rows.enumerate() {
            for (key, &weight) in weights.iter().enumerate() {
                if weight == 0.0 && !self.view.allows(block.first_query + row, key) {
                    continue;
                }
                sums.iter_mut().zip(v.row(key)).for_each(|(sum, &value)| *sum += weight * value);
            }
        }
    }
}

//! Every stage kept, fast: row block after row block, each pushed through all stages while it is in cache.
//!
//! The form to read is [`attend`](super::super::attend()); this one gives the same stages up to rounding.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::super::blocked::{BlockedBy, code};
use super::super::scoring::{raw_scores, scale_of, soft_cap};
use super::super::{
    Attention, AttentionSpec, Cancelled, HeadInput, MaskView, Matrix, Progress, Scoring, SoftmaxAxis,
    SoftmaxForm, attend, softmax_row,
};
use super::lanes::{exp_less_into, max_of_any};
use super::product::{Layout, add_product, times_transposed};

/// Queries in a block.
const BLOCK_QUERIES: usize = 128;

/// [`attend`](super::super::attend()), faster, over all threads, and stoppable: the same stages to about 10⁻¹⁵ of their size, the
/// same blocked pairs, and exact zeros where a pair is blocked. It does not depend on the number of threads.
///
/// What has no fast form (naive softmax, softmax over the queries, a sink, a mistake on purpose, no keys) is left to the plain one. Additive scores are made by the
/// plain scorer.
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
        || spec.sink_of(query_head).is_some();
    if is_plain || n_q == 0 || n_k == 0 || v.cols() == 0 {
        let attention = attend(input, spec, query_head);
        progress.advance(n_q);
        return Ok(attention);
    }
    let view = MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, query_head);
    let n_pairs = n_q * n_k;
    let mut stages = Attention {
        scale: scale_of(&spec.scoring, k.cols()),
        raw_scores: Matrix::zeros(n_q, n_k),
        scaled_scores: Matrix::zeros(n_q, n_k),
        masked_scores: Matrix::zeros(if view.n_layers() == 0 { 0 } else { n_q }, n_k),
        weights: Matrix::zeros(n_q, n_k),
        output: Matrix::zeros(n_q, v.cols()),
        blocked_by: if view.n_layers() == 0 {
            BlockedBy::nothing(n_pairs)
        } else {
            BlockedBy::to_be_written(n_pairs)
        },
        row_max: vec![0.0; n_q],
        row_sum: vec![0.0; n_q],
        column_max: Vec::new(),
        column_sum: Vec::new(),
    };
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
        values_are_finite: v.data().iter().all(|value| value.is_finite()),
        arch: Arch::new(),
    };
    run_all(&pass, pass.blocks(&mut stages), progress)?;
    if pass.view.n_layers() == 0 {
        stages.masked_scores = stages.scaled_scores.clone(); // shares its numbers
    }
    stages.blocked_by = std::mem::replace(&mut stages.blocked_by, BlockedBy::nothing(0)).shrunk();
    Ok(stages)
}

/// One block is not worth waking a thread for.
fn run_all(pass: &Pass<'_>, blocks: Vec<Block<'_>>, progress: &Progress) -> Result<(), Cancelled> {
    let run = |mut block: Block<'_>| {
        progress.check()?;
        pass.run(&mut block);
        progress.advance(block.row_max.len());
        Ok(())
    };
    if blocks.len() == 1 {
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
    values_are_finite: bool,
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
        let HeadInput { k, v, .. } = self.input;
        let (n_rows, n_k) = (block.row_max.len(), k.rows());
        self.score(block, n_rows);
        for row in 0..n_rows {
            self.softmax(block, row);
        }
        if self.values_are_finite {
            let (pairs, values) = (Layout::dense(n_rows, n_k), Layout::dense(n_k, v.cols()));
            let outputs = Layout::dense(n_rows, v.cols());
            add_product((block.weights, pairs), (v.data(), values), (block.output, outputs));
            block.output.iter_mut().for_each(|value| *value += 0.0);
        } else {
            self.mix_with_care(block);
        }
    }

    fn score(&self, block: &mut Block<'_>, n_rows: usize) {
        let Self { q, input: HeadInput { k, .. }, .. } = self;
        let queries = q.row_range(block.first_query, block.first_query + n_rows);
        if matches!(self.spec.scoring, Scoring::Additive { .. }) {
            block.raw.copy_from_slice(raw_scores(&self.spec.scoring, &queries, k).data());
            return;
        }
        let (rows, keys) = (Layout::dense(n_rows, q.cols()), Layout::dense(k.rows(), k.cols()));
        let product = (&mut *block.raw, Layout::dense(n_rows, k.rows()));
        times_transposed(1.0, (queries.data(), rows), (k.data(), keys), product); // (n_rows, n_k)
    }

    /// One row from raw scores to weights.
    fn softmax(&self, block: &mut Block<'_>, row: usize) {
        let n_k = self.input.k.rows();
        let pairs = row * n_k..(row + 1) * n_k;
        let query = block.first_query + row;
        let (raw, scaled) = (&mut block.raw[pairs.clone()], &mut block.scaled[pairs.clone()]);
        let weights = &mut block.weights[pairs.clone()];
        self.arch.dispatch(Scale { raw, scaled, scale: self.scale });
        if let Some(cap) = self.spec.softcap {
            scaled.iter_mut().for_each(|score| *score = soft_cap(*score, cap) + 0.0);
        }
        let masked = if block.masked.is_empty() {
            scaled
        } else {
            let masked = &mut block.masked[pairs.clone()];
            masked.copy_from_slice(scaled);
            self.mask(query, masked, &mut block.blocked_by[pairs]);
            masked
        };
        let normalizer = self.arch.dispatch(Normalize { masked, weights });
        (block.row_max[row], block.row_sum[row]) = normalizer.unwrap_or_else(|| {
            let blocked: Vec<bool> = (0..n_k).map(|key| !self.view.allows(query, key)).collect();
            let plain = softmax_row(masked, &blocked, self.spec.softmax, weights);
            (plain.max, plain.sum)
        });
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

/// scaled = raw · scale. Adding 0 turns −0 into 0.
struct Scale<'a> {
    raw: &'a mut [f64],
    scaled: &'a mut [f64],
    scale: f64,
}

impl WithSimd for Scale<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (raw, scaled) in self.raw.iter_mut().zip(self.scaled) {
            *raw += 0.0;
            *scaled = *raw * self.scale + 0.0;
        }
    }
}

/// The weights of one row, with its maximum and sum; `None` where the row sees nothing or something that is not finite.
struct Normalize<'a> {
    masked: &'a [f64],
    weights: &'a mut [f64],
}

impl WithSimd for Normalize<'_> {
    type Output = Option<(f64, f64)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { masked, weights } = self;
        let max = max_of_any(masked);
        if !max.is_finite() {
            return None;
        }
        let sum = if S::IS_SCALAR {
            exp_less_into::<false>(masked, max, weights)
        } else {
            exp_less_into::<true>(masked, max, weights)
        };
        weights.iter_mut().for_each(|weight| *weight /= sum);
        (!sum.is_nan()).then_some((max, sum))
    }
}

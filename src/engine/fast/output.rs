//! The output alone, as fast as this machine can: blocks of queries over threads, each block as `block` says.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::super::{AttentionSpec, Cancelled, HeadShapeError, Progress, Scoring, SoftmaxAxis, SoftmaxForm};
use super::block::{BLOCK_QUERIES, Block, Pass, Scratch};
use super::real::Real;
use super::view::HeadView;

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

/// softmax(Q·Kᵀ·scale + M)·V of every query head, one head after the other, each n_q · d_v numbers row by row; no stage is kept.
///
/// Memory beyond inputs and outputs is a fixed number of tiles per thread. The result does not depend on the number of threads. It
/// agrees with [`attend`](super::super::attend()) up to rounding: products are fused where the machine can. It is computed in `R`
/// whatever [`AttentionSpec::precision`] says. Blocked keys and values are never read, NaN in a visible score makes its row NaN, and
/// empty rows follow the policy.
///
/// # Errors
/// [`OutputError`] for what needs its stages, for shapes that do not fit, and when `progress` was cancelled.
pub fn attend_output<R: Real>(
    heads: &[HeadView<'_, R>],
    spec: &AttentionSpec,
    progress: &Progress,
) -> Result<Vec<R>, OutputError> {
    check(heads, spec)?;
    let passes: Vec<Pass<'_, R>> =
        heads.iter().enumerate().map(|(query_head, head)| Pass::new(head, spec, query_head)).collect();
    progress.begin(heads.iter().map(|head| head.q.rows()).sum());
    // One allocation for all heads: the allocator keeps it for the next call, where it would give many small ones back.
    let mut outputs = vec![R::ZERO; heads.iter().map(|head| head.q.rows() * head.v.cols()).sum()];
    run_all(blocks(&passes, &mut outputs), progress)?;
    Ok(outputs)
}

/// The blocks of every head. Within a head the last one comes first: under a causal mask it has the most to do.
fn blocks<'p, 'a, R: Real>(passes: &'p [Pass<'a, R>], mut outputs: &'p mut [R]) -> Vec<Block<'p, 'a, R>> {
    let mut blocks = Vec::new();
    for pass in passes {
        let (n_q, d_v) = (pass.head.q.rows(), pass.head.v.cols());
        let (output, rest) = outputs.split_at_mut(n_q * d_v);
        outputs = rest;
        let in_blocks = output.chunks_mut((BLOCK_QUERIES * d_v).max(1)).enumerate();
        blocks.extend(in_blocks.rev().map(|(block_idx, output)| {
            let first_query = block_idx * BLOCK_QUERIES;
            Block { pass, first_query, n_rows: BLOCK_QUERIES.min(n_q - first_query), output }
        }));
    }
    blocks
}

/// Every block, each by the next thread that is free. One block is not worth waking a thread for.
fn run_all<R: Real>(blocks: Vec<Block<'_, '_, R>>, progress: &Progress) -> Result<(), Cancelled> {
    let n_workers = rayon::current_num_threads().min(blocks.len());
    let queue = Mutex::new(blocks.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = |_| {
        let mut scratch = Scratch::default(); // once per thread: it is larger than what the allocator keeps
        while let Some(block) = next() {
            progress.check()?;
            let n_rows = block.n_rows;
            block.run(&mut scratch);
            progress.advance(n_rows);
        }
        Ok(())
    };
    if n_workers <= 1 { work(0) } else { (0..n_workers).into_par_iter().with_max_len(1).try_for_each(work) }
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

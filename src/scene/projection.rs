//! Hidden states and the weights that make Q, K and V of them.

use std::sync::Arc;

use super::inputs::{Inputs, PerHead, head_count, shared_heads};
use super::model::Projected;
use super::resolve::Resolver;
use super::sizes::{KnownSizes, Sizes};
use crate::engine::{Cancelled, Fault, Matrix, Progress, faulty_split, project, sinusoidal, split_heads};

/// Hidden states and the weights that make Q, K and V of them, as matrices.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Hidden states of the queries, sinusoidal positions included. Shape (n_q, d_model).
    pub x: Arc<Matrix>,
    /// Hidden states of keys and values, sinusoidal positions included; the same matrix as `x` in self-attention. Shape (n_k, d_context).
    pub context: Arc<Matrix>,
    /// Shape (d_model, heads · d_k).
    pub w_q: Arc<Matrix>,
    /// Shape (d_context, kv_heads · d_k).
    pub w_k: Arc<Matrix>,
    /// Shape (d_context, kv_heads · d_v).
    pub w_v: Arc<Matrix>,
    /// heads · d_k numbers.
    pub b_q: Option<Vec<f64>>,
    /// kv_heads · d_k numbers.
    pub b_k: Option<Vec<f64>>,
    /// kv_heads · d_v numbers.
    pub b_v: Option<Vec<f64>>,
    /// Shape (heads · d_v, d_out).
    pub w_o: Option<Arc<Matrix>>,
    /// d_out numbers.
    pub b_o: Option<Vec<f64>>,
    /// The sums that `x` and `context` are, where sinusoidal positions are added.
    pub sinusoidal: Option<Sinusoidal>,
}

/// Hidden states before positions are added, and the positions.
#[derive(Clone, Debug)]
pub struct Sinusoidal {
    /// Hidden states of the queries as the scene gives them. Shape (n_q, d_model).
    pub x: Arc<Matrix>,
    /// What is added to them: row i for position i + offset. Shape (n_q, d_model).
    pub x_positions: Arc<Matrix>,
    /// Hidden states of keys and values as the scene gives them. Shape (n_k, d_context).
    pub context: Arc<Matrix>,
    /// What is added to them: row j for position j. Shape (n_k, d_context).
    pub context_positions: Arc<Matrix>,
}

impl Projection {
    /// Adds sinusoidal positions to the hidden states. In self-attention without an offset both sides stay one matrix.
    pub(super) fn add_positions(&mut self, position_offset: i64) {
        let positions = |x: &Matrix, first| Arc::new(sinusoidal(x.rows(), x.cols(), first));
        let sum = |x: &Matrix, p: &Matrix| {
            Arc::new(Matrix::from_fn(x.rows(), x.cols(), |row, col| x.get(row, col) + p.get(row, col)))
        };
        let (x, context) = (Arc::clone(&self.x), Arc::clone(&self.context));
        let is_shared = Arc::ptr_eq(&x, &context) && position_offset == 0;
        let x_positions = positions(&x, position_offset);
        self.x = sum(&x, &x_positions);
        let context_positions = if is_shared { Arc::clone(&x_positions) } else { positions(&context, 0) };
        self.context = if is_shared { Arc::clone(&self.x) } else { sum(&context, &context_positions) };
        self.sinusoidal = Some(Sinusoidal { x, x_positions, context, context_positions });
    }

    /// Q, K and V, each split by columns: head h takes columns h·d .. (h+1)·d, unless they are split wrongly on purpose.
    pub(super) fn split(
        &self,
        heads: usize,
        kv_heads: usize,
        fault: Option<Fault>,
        progress: &Progress,
    ) -> Result<(PerHead, PerHead, PerHead), Cancelled> {
        let split = match fault {
            Some(Fault::SplitWithoutTranspose) => faulty_split,
            _ => split_heads,
        };
        let Self { x, context, w_q, w_k, w_v, b_q, b_k, b_v, .. } = self;
        let per_head = |x: &Matrix, w: &Matrix, b: &Option<Vec<f64>>, n| {
            let all = project_with(x, w, b.as_deref(), progress)?;
            Ok(split(&all, n).unwrap_or_default().into_iter().map(Arc::new).collect())
        };
        Ok((
            per_head(x, w_q, b_q, heads)?,
            per_head(context, w_k, b_k, kv_heads)?,
            per_head(context, w_v, b_v, kv_heads)?,
        ))
    }
}

/// x·W + b, stoppable, counting its rows.
pub(super) fn project_with(
    x: &Matrix,
    w: &Matrix,
    b: Option<&[f64]>,
    progress: &Progress,
) -> Result<Matrix, Cancelled> {
    /// Rows between two looks at the progress.
    const BLOCK_ROWS: usize = 64;
    let mut y = Matrix::zeros(x.rows(), w.cols());
    for start in (0..x.rows()).step_by(BLOCK_ROWS) {
        progress.check()?;
        let end = (start + BLOCK_ROWS).min(x.rows());
        let block = project(&x.row_range(start, end), w, b);
        for (row, made) in (start..end).zip(block.iter_rows()) {
            y.row_mut(row).copy_from_slice(made);
        }
        progress.advance(end - start);
    }
    Ok(y) // (n, d_out)
}

/// Hidden states and weights, if they fit each other; otherwise complaints, and the sizes that are known nevertheless.
pub(super) fn resolve(
    projected: &Projected,
    known: &mut KnownSizes,
    resolver: &mut Resolver<'_>,
) -> Option<Inputs> {
    let Projected { heads, kv_heads, b_q, b_k, b_v, b_o, .. } = projected;
    let before = resolver.complaints.len();
    let x = resolver.matrix(&projected.x, "input.x", "X");
    let context = match &projected.context {
        Some(context) => resolver.matrix(context, "input.context", "the context"),
        None => x.clone(),
    };
    let w_q = resolver.matrix(&projected.w_q, "input.w_q", "W_Q");
    let w_k = resolver.matrix(&projected.w_k, "input.w_k", "W_K");
    let w_v = resolver.matrix(&projected.w_v, "input.w_v", "W_V");
    let w_o = projected.w_o.as_ref().map(|w_o| resolver.matrix(w_o, "input.w_o", "W_O"));
    let counts = [(*heads, "input.heads"), (*kv_heads, "input.kv_heads")]
        .map(|(n, field)| head_count(n, field, resolver).map(|()| n));
    if let [Some(heads), Some(kv_heads)] = counts {
        shared_heads(heads, kv_heads, "input.kv_heads", resolver);
    }
    let from = if projected.context.is_some() { "the context" } else { "X" };
    let [heads_known, kv_heads_known] = counts;
    let (x_known, context_known) = ((x.as_deref(), "X"), (context.as_deref(), from));
    let d_q = width_of((w_q.as_deref(), "q"), x_known, b_q.as_deref(), heads_known, resolver);
    let d_k = width_of((w_k.as_deref(), "k"), context_known, b_k.as_deref(), kv_heads_known, resolver);
    let d_v = width_of((w_v.as_deref(), "v"), context_known, b_v.as_deref(), kv_heads_known, resolver);
    // A W_O that could not be made has been complained about.
    if !matches!(w_o, Some(None)) {
        let concat = heads_known.zip(d_v).map(|(heads, d_v)| heads * d_v);
        output_projection(w_o.as_ref().and_then(Option::as_deref), b_o.as_deref(), concat, resolver);
    }
    let rows = |x: &Option<Arc<Matrix>>| x.as_ref().map(|x| x.rows());
    *known = KnownSizes { n_q: rows(&x), n_k: rows(&context), d_q, d_k, heads: heads_known };
    if resolver.complaints.len() > before {
        return None;
    }
    let (x, context, w_q, w_k, w_v, w_o) = (x?, context?, w_q?, w_k?, w_v?, w_o.flatten());
    let (n_q, n_k) = (x.rows(), context.rows());
    let wide = |n: usize, w: &Matrix| n as u128 * w.cols() as u128;
    let projected_numbers =
        wide(n_q, &w_q) + wide(n_k, &w_k) + wide(n_k, &w_v) + w_o.as_ref().map_or(0, |w_o| wide(n_q, w_o));
    let (d_q, d_k, d_v) = (d_q?, d_k?, d_v?);
    let sizes =
        Sizes { n_q, n_k, d_q, d_k, d_v, heads: *heads, kv_heads: *kv_heads, projected: projected_numbers };
    let (b_q, b_k, b_v, b_o) = (b_q.clone(), b_k.clone(), b_v.clone(), b_o.clone());
    let projection = Projection { x, context, w_q, w_k, w_v, b_q, b_k, b_v, w_o, b_o, sinusoidal: None };
    Some(Inputs::Projected(projection, sizes))
}

/// The width that one of W_Q, W_K and W_V gives each head, once it fits its hidden states, its bias and its heads as far as those are
/// known.
fn width_of(
    (w, letter): (Option<&Matrix>, &str),
    (x, from): (Option<&Matrix>, &str),
    b: Option<&[f64]>,
    heads: Option<usize>,
    resolver: &mut Resolver<'_>,
) -> Option<usize> {
    let (w, name, field) = (w?, format!("W_{}", letter.to_uppercase()), format!("input.w_{letter}"));
    let fits = x.is_none_or(|x| takes(w, &name, &field, x, from, resolver));
    bias(b, w.cols(), &format!("b_{letter}"), &name, resolver);
    // The width of a matrix that does not fit is not to be relied on.
    head_width(w, &name, heads?, &field, resolver).filter(|_| fits)
}

/// x·W needs as many rows in W as x has columns.
fn takes(w: &Matrix, name: &str, field: &str, x: &Matrix, from: &str, resolver: &mut Resolver<'_>) -> bool {
    let (rows, width) = (w.rows(), x.cols());
    if rows != width {
        resolver.complain(
            field,
            format!("{name} has {rows} rows but {from} is {width} wide; x·W needs one row per feature"),
        );
    }
    rows == width
}

fn head_width(
    w: &Matrix,
    name: &str,
    heads: usize,
    field: &str,
    resolver: &mut Resolver<'_>,
) -> Option<usize> {
    let cols = w.cols();
    if !cols.is_multiple_of(heads) {
        let message = format!("the {cols} columns of {name} cannot be split into {heads} heads evenly");
        resolver.complain(field, message);
        return None;
    }
    Some(cols / heads)
}

fn bias(b: Option<&[f64]>, expected: usize, name: &str, w: &str, resolver: &mut Resolver<'_>) {
    if let Some(b) = b
        && b.len() != expected
    {
        let found = b.len();
        let message =
            format!("{name} has {found} numbers but {w} has {expected} columns; every column needs one");
        resolver.complain(format!("input.{name}"), message);
    }
}

fn output_projection(
    w_o: Option<&Matrix>,
    b_o: Option<&[f64]>,
    concat: Option<usize>,
    resolver: &mut Resolver<'_>,
) {
    match w_o {
        Some(w_o) => {
            let rows = w_o.rows();
            if let Some(concat) = concat
                && rows != concat
            {
                resolver.complain(
                    "input.w_o",
                    format!("W_O has {rows} rows but the heads side by side are {concat} wide"),
                );
            }
            bias(b_o, w_o.cols(), "b_o", "W_O", resolver);
        }
        None if b_o.is_some() => {
            resolver.complain("input.b_o", "b_o is given but there is no w_o to add it to");
        }
        None => {}
    }
}

//! Hidden states and the weights that make Q, K and V of them.

use std::sync::Arc;

use super::inputs::{Inputs, PerHead, Sizes, head_count, shared_heads};
use super::model::Projected;
use super::resolve::Resolver;
use crate::engine::{Fault, Matrix, faulty_split, project, sinusoidal, split_heads};

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
    ) -> (PerHead, PerHead, PerHead) {
        let split = match fault {
            Some(Fault::SplitWithoutTranspose) => faulty_split,
            _ => split_heads,
        };
        let Self { x, context, w_q, w_k, w_v, b_q, b_k, b_v, .. } = self;
        let per_head = |x: &Matrix, w: &Matrix, b: &Option<Vec<f64>>, n| {
            let all = project(x, w, b.as_deref());
            split(&all, n).unwrap_or_default().into_iter().map(Arc::new).collect()
        };
        (
            per_head(x, w_q, b_q, heads),
            per_head(context, w_k, b_k, kv_heads),
            per_head(context, w_v, b_v, kv_heads),
        )
    }
}

/// Hidden states and weights, if they fit each other; complaints otherwise.
pub(super) fn resolve(projected: &Projected, resolver: &mut Resolver<'_>) -> Option<Inputs> {
    let Projected { heads, kv_heads, b_q, b_k, b_v, b_o, .. } = projected;
    let x = resolver.matrix(&projected.x, "input.x", "X");
    let context = match &projected.context {
        Some(context) => resolver.matrix(context, "input.context", "the context"),
        None => x.clone(),
    };
    let w_q = resolver.matrix(&projected.w_q, "input.w_q", "W_Q");
    let w_k = resolver.matrix(&projected.w_k, "input.w_k", "W_K");
    let w_v = resolver.matrix(&projected.w_v, "input.w_v", "W_V");
    let w_o = match &projected.w_o {
        Some(w_o) => Some(resolver.matrix(w_o, "input.w_o", "W_O")?),
        None => None,
    };
    let (x, context, w_q, w_k, w_v) = (x?, context?, w_q?, w_k?, w_v?);
    let heads_fit = head_count(*heads, "input.heads", resolver).is_some()
        && head_count(*kv_heads, "input.kv_heads", resolver).is_some()
        && shared_heads(*heads, *kv_heads, "input.kv_heads", resolver).is_some();
    let before = resolver.complaints.len();
    let from = if projected.context.is_some() { "the context" } else { "X" };
    takes(&w_q, "W_Q", "input.w_q", &x, "X", resolver);
    takes(&w_k, "W_K", "input.w_k", &context, from, resolver);
    takes(&w_v, "W_V", "input.w_v", &context, from, resolver);
    for (b, w, name) in [(b_q, &w_q, "q"), (b_k, &w_k, "k"), (b_v, &w_v, "v")] {
        bias(b.as_deref(), w.cols(), &format!("b_{name}"), &format!("W_{}", name.to_uppercase()), resolver);
    }
    if !heads_fit {
        return None;
    }
    let d_q = head_width(&w_q, "W_Q", *heads, "input.w_q", resolver);
    let d_k = head_width(&w_k, "W_K", *kv_heads, "input.w_k", resolver);
    let d_v = head_width(&w_v, "W_V", *kv_heads, "input.w_v", resolver);
    let (d_q, d_k, d_v) = (d_q?, d_k?, d_v?);
    output_projection(w_o.as_deref(), b_o.as_deref(), heads * d_v, resolver);
    if resolver.complaints.len() > before {
        return None;
    }
    let (n_q, n_k) = (x.rows(), context.rows());
    let wide = |n: usize, w: &Matrix| n as u128 * w.cols() as u128;
    let projected_numbers =
        wide(n_q, &w_q) + wide(n_k, &w_k) + wide(n_k, &w_v) + w_o.as_ref().map_or(0, |w_o| wide(n_q, w_o));
    let sizes =
        Sizes { n_q, n_k, d_q, d_k, d_v, heads: *heads, kv_heads: *kv_heads, projected: projected_numbers };
    let (b_q, b_k, b_v, b_o) = (b_q.clone(), b_k.clone(), b_v.clone(), b_o.clone());
    let projection = Projection { x, context, w_q, w_k, w_v, b_q, b_k, b_v, w_o, b_o, sinusoidal: None };
    Some(Inputs::Projected(projection, sizes))
}

/// x·W needs as many rows in W as x has columns.
fn takes(w: &Matrix, name: &str, field: &str, x: &Matrix, from: &str, resolver: &mut Resolver<'_>) {
    let (rows, width) = (w.rows(), x.cols());
    if rows != width {
        resolver.complain(
            field,
            format!("{name} has {rows} rows but {from} is {width} wide; x·W needs one row per feature"),
        );
    }
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

fn output_projection(w_o: Option<&Matrix>, b_o: Option<&[f64]>, concat: usize, resolver: &mut Resolver<'_>) {
    match w_o {
        Some(w_o) => {
            let rows = w_o.rows();
            if rows != concat {
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

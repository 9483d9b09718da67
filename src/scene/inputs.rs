//! Q, K and V, and the hidden states and weights that they are made of, as matrices that fit each other.

use std::sync::Arc;

use super::model::{Input, MatrixSource, Projected};
use super::resolve::Resolver;
use crate::engine::{HeadInput, Matrix, project, split_heads};

/// Where the engine's input comes from, resolved.
#[derive(Debug)]
pub(super) enum Inputs {
    Heads { q: Vec<Arc<Matrix>>, k: Vec<Arc<Matrix>>, v: Vec<Arc<Matrix>>, sizes: Sizes },
    Projected(Projection, Sizes),
}

/// Every size of a scene.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub n_q: usize,
    pub n_k: usize,
    pub d_q: usize,
    pub d_k: usize,
    pub d_v: usize,
    pub heads: usize,
    pub kv_heads: usize,
    /// Numbers made by projections, and by W_O.
    pub projected: u128,
}

/// Hidden states and the weights that make Q, K and V of them, as matrices.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Hidden states of the queries. Shape (n_q, d_model).
    pub x: Arc<Matrix>,
    /// Hidden states of keys and values; the same matrix as `x` in self-attention. Shape (n_k, d_context).
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
}

impl Inputs {
    pub fn sizes(&self) -> &Sizes {
        match self {
            Self::Heads { sizes, .. } | Self::Projected(_, sizes) => sizes,
        }
    }

    /// Q, K and V of each query head.
    pub fn head_inputs(&self) -> Vec<HeadInput> {
        let Sizes { heads, kv_heads, .. } = *self.sizes();
        let (q, k, v) = match self {
            Self::Heads { q, k, v, .. } => (q.clone(), k.clone(), v.clone()),
            Self::Projected(projection, _) => projection.split(heads, kv_heads),
        };
        let per_query_head = |(head, q): (usize, &Arc<Matrix>)| {
            let kv_head = head * kv_heads / heads;
            HeadInput { q: Arc::clone(q), k: Arc::clone(&k[kv_head]), v: Arc::clone(&v[kv_head]) }
        };
        q.iter().enumerate().map(per_query_head).collect()
    }
}

/// One matrix per head.
type PerHead = Vec<Arc<Matrix>>;

impl Projection {
    /// Q, K and V, each split by columns: head h takes columns h·d .. (h+1)·d.
    fn split(&self, heads: usize, kv_heads: usize) -> (PerHead, PerHead, PerHead) {
        let Self { x, context, w_q, w_k, w_v, b_q, b_k, b_v, .. } = self;
        let per_head = |x: &Matrix, w: &Matrix, b: &Option<Vec<f64>>, n| {
            let all = project(x, w, b.as_deref());
            let split = split_heads(&all, n).unwrap_or_default();
            split.into_iter().map(Arc::new).collect()
        };
        (
            per_head(x, w_q, b_q, heads),
            per_head(context, w_k, b_k, kv_heads),
            per_head(context, w_v, b_v, kv_heads),
        )
    }
}

/// The matrices of an input, if they fit each other; complaints otherwise.
pub(super) fn resolve(input: &Input, resolver: &mut Resolver<'_>) -> Option<Inputs> {
    match input {
        Input::Heads { q, k, v } => {
            let mut side = |sources: &[MatrixSource], letter: &str| {
                let resolve = |(head, source): (usize, &MatrixSource)| {
                    let field = format!("input.{}[{head}]", letter.to_lowercase());
                    resolver.matrix(source, &field, &format!("{letter} of head {}", head + 1))
                };
                sources.iter().enumerate().map(resolve).collect::<Vec<_>>().into_iter().collect()
            };
            let (q, k, v): (Option<PerHead>, Option<PerHead>, Option<PerHead>) =
                (side(q, "Q"), side(k, "K"), side(v, "V"));
            heads(q?, k?, v?, resolver)
        }
        Input::Tensors { file, q, k, v } => {
            if let Err(error) = resolver.files.check(file) {
                resolver.complain("input.file", format!("\"{file}\" cannot be used: {error}"));
                return None;
            }
            let mut side = |name: &str, letter: &str| tensor(file, name, letter, resolver);
            let (q, k, v) = (side(q, "q"), side(k, "k"), side(v, "v"));
            heads(q?, k?, v?, resolver)
        }
        Input::Projected(projected) => projection(projected, resolver),
    }
}

fn tensor(file: &str, name: &str, letter: &str, resolver: &mut Resolver<'_>) -> Option<PerHead> {
    match resolver.files.heads(file, name) {
        Ok(heads) => Some(heads),
        Err(error) => {
            let names = resolver.files.tensor_names(file);
            let hint = match super::nearest::nearest(name, names.iter().copied()) {
                _ if names.contains(&name) => None,
                Some(nearest) => Some(format!("did you mean `{nearest}`?")),
                None => Some(format!("it has {}", super::syntax::shorten(&names.join(", ")))),
            };
            resolver.complain(format!("input.{letter}"), format!("\"{file}\" cannot be used: {error}"));
            if let (Some(complaint), Some(hint)) = (resolver.complaints.last_mut(), hint) {
                complaint.hint = Some(hint);
            }
            None
        }
    }
}

/// Checks Q, K and V against each other.
fn heads(q: PerHead, mut k: PerHead, mut v: PerHead, resolver: &mut Resolver<'_>) -> Option<Inputs> {
    let before = resolver.complaints.len();
    for (letter, matrices) in [("q", &q), ("k", &k), ("v", &v)] {
        if matrices.is_empty() {
            let letter_shown = letter.to_uppercase();
            let message = format!("{letter_shown} has no heads; at least one matrix is needed");
            resolver.complain(format!("input.{letter}"), message);
        }
    }
    if k.len() != v.len() {
        let (n_k, n_v) = (k.len(), v.len());
        let message = format!("K has {n_k} heads but V has {n_v}; every KV head needs one K and one V");
        resolver.complain("input.v", message);
    }
    if resolver.complaints.len() > before {
        return None;
    }
    shared_heads(q.len(), k.len(), "input.k", resolver);
    // A matrix without rows cannot show its width in a file; it takes that of its neighbours.
    let d_q = width(&q).or_else(|| width(&k)).unwrap_or(0);
    let d_k = width(&k).unwrap_or(d_q);
    let d_v = width(&v).unwrap_or(0);
    let mut q = q;
    for (matrices, width) in [(&mut q, d_q), (&mut k, d_k), (&mut v, d_v)] {
        for matrix in matrices.iter_mut().filter(|matrix| (matrix.rows(), matrix.cols()) == (0, 0)) {
            *matrix = Arc::new(Matrix::zeros(0, width));
        }
    }
    for (letter, what, matrices) in [("q", "queries", &q), ("k", "keys", &k), ("v", "values", &v)] {
        same_shape(letter, what, matrices, resolver);
    }
    for (head, (k, v)) in k.iter().zip(&v).enumerate().filter(|(_, (k, v))| k.rows() != v.rows()) {
        let (n_k, n_v) = (k.rows(), v.rows());
        let message =
            format!("head {} has {n_k} keys but {n_v} values; every key needs exactly one value", head + 1);
        resolver.complain(format!("input.v[{head}]"), message);
    }
    if resolver.complaints.len() > before {
        return None;
    }
    let (n_q, n_k) = (q[0].rows(), k[0].rows());
    let (heads, kv_heads) = (q.len(), k.len());
    let sizes = Sizes { n_q, n_k, d_q, d_k, d_v, heads, kv_heads, projected: 0 };
    Some(Inputs::Heads { q, k, v, sizes })
}

/// The width of the first matrix that has one.
fn width(matrices: &[Arc<Matrix>]) -> Option<usize> {
    matrices.iter().find(|matrix| (matrix.rows(), matrix.cols()) != (0, 0)).map(|matrix| matrix.cols())
}

/// Heads stand on one board: they share their tokens and their widths.
fn same_shape(letter: &str, what: &str, matrices: &[Arc<Matrix>], resolver: &mut Resolver<'_>) {
    let first = &matrices[0];
    for (head, matrix) in matrices.iter().enumerate().skip(1) {
        let (head_shown, field) = (head + 1, format!("input.{letter}[{head}]"));
        if matrix.rows() != first.rows() {
            let (found, expected) = (matrix.rows(), first.rows());
            resolver.complain(
                &field,
                format!("head {head_shown} has {found} {what}, head 1 has {expected}; all heads share their tokens"),
            );
        }
        if matrix.cols() != first.cols() {
            let (found, expected) = (matrix.cols(), first.cols());
            resolver.complain(
                &field,
                format!("{what} of head {head_shown} are {found} wide, those of head 1 {expected}; all heads have one width"),
            );
        }
    }
}

fn shared_heads(heads: usize, kv_heads: usize, field: &str, resolver: &mut Resolver<'_>) -> Option<()> {
    match crate::engine::kv_head_of(0, heads, kv_heads) {
        Ok(_) => Some(()),
        Err(error) => {
            resolver.complain(field, error.to_string());
            None
        }
    }
}

fn projection(projected: &Projected, resolver: &mut Resolver<'_>) -> Option<Inputs> {
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
    let heads_fit = positive(*heads, "input.heads", resolver).is_some()
        && positive(*kv_heads, "input.kv_heads", resolver).is_some()
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
    let projection = Projection { x, context, w_q, w_k, w_v, b_q, b_k, b_v, w_o, b_o };
    Some(Inputs::Projected(projection, sizes))
}

fn positive(n: usize, field: &str, resolver: &mut Resolver<'_>) -> Option<()> {
    if n == 0 {
        resolver.complain(field, "there are 0 heads; at least 1 is needed");
    }
    (n > 0).then_some(())
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
            resolver.complain("input.b_o", "b_o is given but there is no w_o to add it to")
        }
        None => {}
    }
}

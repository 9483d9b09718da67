//! Q, K and V, and the hidden states and weights that they are made of, as matrices that fit each other.

use std::sync::Arc;

use super::given::{self, GivenWeights};
use super::model::{Input, MatrixSource};
use super::projection::{self, Projection};
use super::resolve::Resolver;
use super::sizes::{KnownSizes, Sizes};
use crate::engine::{Cancelled, Fault, HeadInput, Matrix, Progress, faulty_kv_head_of};

/// Query heads, or KV heads.
pub(super) const MAX_HEADS: usize = 4096;

/// Where the engine's input comes from, resolved.
#[derive(Debug)]
pub(super) enum Inputs {
    Heads {
        q: Vec<Arc<Matrix>>,
        k: Vec<Arc<Matrix>>,
        v: Vec<Arc<Matrix>>,
        sizes: Sizes,
    },
    Projected(Projection, Sizes),
    /// Only the weights, computed elsewhere; widths are 0.
    Weights(GivenWeights, Sizes),
}

impl Inputs {
    pub fn sizes(&self) -> &Sizes {
        match self {
            Self::Heads { sizes, .. } | Self::Projected(_, sizes) | Self::Weights(_, sizes) => sizes,
        }
    }

    /// Q, K and V of each query head, without columns where only the weights are known; a mistake between the heads is made. Counts
    /// the rows that it projects.
    pub fn head_inputs(
        &self,
        fault: Option<Fault>,
        progress: &Progress,
    ) -> Result<Vec<HeadInput>, Cancelled> {
        let Sizes { n_q, n_k, heads, kv_heads, .. } = *self.sizes();
        let (q, k, v) = match self {
            Self::Heads { q, k, v, .. } => (q.clone(), k.clone(), v.clone()),
            Self::Projected(projection, _) => projection.split(heads, kv_heads, fault, progress)?,
            Self::Weights(..) => {
                let unknown = |n| {
                    let nothing = Arc::new(Matrix::zeros(n, 0));
                    vec![nothing; heads]
                };
                (unknown(n_q), unknown(n_k), unknown(n_k))
            }
        };
        let per_query_head = |(head, q): (usize, &Arc<Matrix>)| {
            let kv_head = kv_head_of(head, heads, kv_heads, fault);
            HeadInput { q: Arc::clone(q), k: Arc::clone(&k[kv_head]), v: Arc::clone(&v[kv_head]) }
        };
        Ok(q.iter().enumerate().map(per_query_head).collect())
    }
}

/// The KV head that a query head reads: each serves heads / kv_heads consecutive query heads, unless they are tiled by mistake.
pub(super) fn kv_head_of(head: usize, heads: usize, kv_heads: usize, fault: Option<Fault>) -> usize {
    match fault {
        Some(Fault::TiledKvHeads) => faulty_kv_head_of(head, heads, kv_heads),
        _ => crate::engine::kv_head_of(head, heads, kv_heads),
    }
    .unwrap_or_default()
}

/// One matrix per head.
pub(super) type PerHead = Vec<Arc<Matrix>>;

/// The matrices of an input, if they fit each other; otherwise complaints, and the sizes that are known nevertheless.
pub(super) fn resolve(input: &Input, known: &mut KnownSizes, resolver: &mut Resolver<'_>) -> Option<Inputs> {
    match input {
        Input::Heads { q, k, v } => {
            known.heads = Some(q.len()).filter(|n| (1..=MAX_HEADS).contains(n));
            let mut side = |sources: &[MatrixSource], letter: &str| {
                let resolve = |(head, source): (usize, &MatrixSource)| {
                    let field = format!("input.{}[{head}]", letter.to_lowercase());
                    resolver.matrix(source, &field, &format!("{letter} of head {}", head + 1))
                };
                sources.iter().enumerate().map(resolve).collect::<Vec<_>>().into_iter().collect()
            };
            let sides = (side(q, "Q"), side(k, "K"), side(v, "V"));
            heads(sides, known, resolver)
        }
        Input::Tensors { file, q, k, v } => {
            if let Err(error) = resolver.files.check(file) {
                resolver.complain("input.file", format!("\"{file}\" cannot be used: {error}"));
                return None;
            }
            let mut side = |name: &str, letter: &str| tensor(file, name, letter, resolver);
            let sides = (side(q, "q"), side(k, "k"), side(v, "v"));
            heads(sides, known, resolver)
        }
        Input::Projected(projected) => projection::resolve(projected, known, resolver),
        Input::Weights { file, name } => given::resolve(file, name.as_deref(), resolver),
    }
}

fn tensor(file: &str, name: &str, letter: &str, resolver: &mut Resolver<'_>) -> Option<PerHead> {
    match resolver.files.heads(file, name) {
        Ok(heads) => Some(heads),
        Err(error) => {
            resolver.complain(format!("input.{letter}"), format!("\"{file}\" cannot be used: {error}"));
            hint_at_tensors(file, name, resolver);
            None
        }
    }
}

/// Where a file has no tensor of this name, tells in the last complaint which it has.
pub(super) fn hint_at_tensors(file: &str, name: &str, resolver: &mut Resolver<'_>) {
    let names = resolver.files.tensor_names(file);
    if names.contains(&name) || names.is_empty() {
        return;
    }
    let hint = match super::nearest::nearest(name, names.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("it has {}", super::syntax::shorten(&names.join(", "))),
    };
    if let Some(complaint) = resolver.complaints.last_mut() {
        complaint.hint = Some(hint);
    }
}

/// Q, K and V as far as they could be made; what is missing has been complained about.
type Sides = (Option<PerHead>, Option<PerHead>, Option<PerHead>);

/// Checks Q, K and V against each other.
fn heads(sides: Sides, known: &mut KnownSizes, resolver: &mut Resolver<'_>) -> Option<Inputs> {
    let before = resolver.complaints.len();
    let (q, k, v) = with_widths(sides);
    head_counts(q.as_deref(), k.as_deref(), v.as_deref(), resolver);
    let pairs = k.iter().flatten().zip(v.iter().flatten());
    for (head, (k, v)) in pairs.enumerate().filter(|(_, (k, v))| k.rows() != v.rows()) {
        let (n_k, n_v) = (k.rows(), v.rows());
        let message =
            format!("head {} has {n_k} keys but {n_v} values; every key needs exactly one value", head + 1);
        resolver.complain(format!("input.v[{head}]"), message);
    }
    // Values that differ from their keys have been named; that they differ from each other follows.
    for (letter, what, matrices) in [("q", "queries", &q), ("k", "keys", &k), ("v", "values", &v)] {
        let rows_matter = letter != "v" || resolver.complaints.len() == before;
        same_shape(letter, what, matrices.as_deref().unwrap_or_default(), rows_matter, resolver);
    }
    *known = known_of(q.as_deref(), k.as_deref(), v.as_deref(), *known);
    let (q, k, v) = (q?, k?, v?);
    if resolver.complaints.len() > before {
        return None;
    }
    let (n_q, n_k, d_q, d_k, d_v) = (q[0].rows(), k[0].rows(), q[0].cols(), k[0].cols(), v[0].cols());
    let (heads, kv_heads) = (q.len(), k.len());
    let sizes = Sizes { n_q, n_k, d_q, d_k, d_v, heads, kv_heads, projected: 0 };
    Some(Inputs::Heads { q, k, v, sizes })
}

/// A matrix without rows cannot show its width in a file; it takes that of its neighbours.
fn with_widths((mut q, mut k, mut v): Sides) -> Sides {
    let of = |side: &Option<PerHead>| side.as_deref().and_then(width);
    let d_q = of(&q).or_else(|| of(&k)).unwrap_or(0);
    let d_k = of(&k).unwrap_or(d_q);
    let d_v = of(&v).unwrap_or(0);
    for (side, width) in [(&mut q, d_q), (&mut k, d_k), (&mut v, d_v)] {
        let shapeless = |matrix: &&mut Arc<Matrix>| (matrix.rows(), matrix.cols()) == (0, 0);
        for matrix in side.iter_mut().flatten().filter(shapeless) {
            *matrix = Arc::new(Matrix::zeros(0, width));
        }
    }
    (q, k, v)
}

/// Whether there are heads, and as many of one side as the others need.
fn head_counts(
    q: Option<&[Arc<Matrix>]>,
    k: Option<&[Arc<Matrix>]>,
    v: Option<&[Arc<Matrix>]>,
    resolver: &mut Resolver<'_>,
) {
    let before = resolver.complaints.len();
    for (letter, matrices) in [("q", q), ("k", k), ("v", v)] {
        let field = format!("input.{letter}");
        match matrices {
            Some([]) => {
                let letter = letter.to_uppercase();
                resolver.complain(field, format!("{letter} has no heads; at least one matrix is needed"));
            }
            Some(matrices) => _ = head_count(matrices.len(), &field, resolver),
            None => {}
        }
    }
    if let (Some(k), Some(v)) = (k, v)
        && k.len() != v.len()
    {
        let (n_k, n_v) = (k.len(), v.len());
        let message = format!("K has {n_k} heads but V has {n_v}; every KV head needs one K and one V");
        resolver.complain("input.v", message);
    }
    // How queries share KV heads can be told only when it is settled how many there are.
    if let (Some(q), Some(k)) = (q, k)
        && resolver.complaints.len() == before
    {
        shared_heads(q.len(), k.len(), "input.k", resolver);
    }
}

/// The sizes that all matrices of a side agree on.
fn known_of(
    q: Option<&[Arc<Matrix>]>,
    k: Option<&[Arc<Matrix>]>,
    v: Option<&[Arc<Matrix>]>,
    known: KnownSizes,
) -> KnownSizes {
    let [q, k, v] = [q, k, v].map(Option::unwrap_or_default);
    KnownSizes {
        n_q: common(q.iter().map(|q| q.rows())),
        n_k: common(k.iter().chain(v).map(|matrix| matrix.rows())),
        d_q: common(q.iter().map(|q| q.cols())),
        d_k: common(k.iter().map(|k| k.cols())),
        heads: known.heads.or(Some(q.len()).filter(|n| *n > 0)),
    }
}

/// The number that all of these are.
fn common(mut numbers: impl Iterator<Item = usize>) -> Option<usize> {
    let first = numbers.next()?;
    numbers.all(|number| number == first).then_some(first)
}

/// The width of the first matrix that has one.
fn width(matrices: &[Arc<Matrix>]) -> Option<usize> {
    matrices.iter().find(|matrix| (matrix.rows(), matrix.cols()) != (0, 0)).map(|matrix| matrix.cols())
}

/// Heads stand on one board: they share their tokens and their widths.
fn same_shape(
    letter: &str,
    what: &str,
    matrices: &[Arc<Matrix>],
    rows_matter: bool,
    resolver: &mut Resolver<'_>,
) {
    let Some(first) = matrices.first() else { return };
    for (head, matrix) in matrices.iter().enumerate().skip(1) {
        let (head_shown, field) = (head + 1, format!("input.{letter}[{head}]"));
        if rows_matter && matrix.rows() != first.rows() {
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

/// Whether query heads can share the KV heads evenly.
pub(super) fn shared_heads(
    heads: usize,
    kv_heads: usize,
    field: &str,
    resolver: &mut Resolver<'_>,
) -> Option<()> {
    match crate::engine::kv_head_of(0, heads, kv_heads) {
        Ok(_) => Some(()),
        Err(error) => {
            resolver.complain(field, error.to_string());
            None
        }
    }
}

pub(super) fn head_count(n: usize, field: &str, resolver: &mut Resolver<'_>) -> Option<()> {
    if (1..=MAX_HEADS).contains(&n) {
        return Some(());
    }
    resolver.complain(field, format!("there are {n} heads; expected 1 to {MAX_HEADS}"));
    None
}

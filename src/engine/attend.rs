//! Attention as the readings write it: softmax(Q·Kᵀ·scale + M)·V, stage by stage.

use super::faults::attend_with_fault;
use super::scoring::{raw_scores, scale_of, soft_cap};
use super::softmax::{Normalizer, softmax_row_in};
use super::{
    Attention, AttentionSpec, BlockedBy, EmptyRow, HeadInput, MaskView, Matrix, Precision, SoftmaxAxis,
    SoftmaxSpec, attend_in,
};

/// Every stage of query head `query_head` (which matters only to masks and biases that differ by head), in the precision of
/// `spec`: narrower formats are the business of [`attend_in`]. A mistake that `spec` names is made.
///
/// softmax(Q·Kᵀ/√d_k + M)·V (Vaswani et al., 2017). A key or value that a mask hides from a query cannot influence that
/// query's weights or output, not even by being NaN.
///
/// # Panics
/// When the shapes do not fit together; [`HeadInput::check`] says so beforehand in words.
pub fn attend(input: &HeadInput, spec: &AttentionSpec, query_head: usize) -> Attention {
    if spec.fault.is_some() {
        return attend_with_fault(input, spec, query_head);
    }
    if spec.precision != Precision::F64 {
        return attend_in(spec.precision, input, spec, query_head);
    }
    let HeadInput { q, k, v } = input; // (n_q, d_k), (n_k, d_k), (n_k, d_v)
    let scale = scale_of(&spec.scoring, k.cols());
    let view = MaskView::new(&spec.mask, q.rows(), k.rows(), spec.position_offset, query_head);

    let raw_scores = raw_scores(&spec.scoring, q, k); // (n_q, n_k)
    let scaled_scores = scale_and_cap(&raw_scores, scale, spec.softcap); // (n_q, n_k)
    let blocked_by = blocked_pairs(&view, q.rows(), k.rows());
    let blocked: Vec<bool> = blocked_by.iter().map(|layer| layer.is_some()).collect();
    let masked_scores = mask(&scaled_scores, &blocked, &view); // (n_q, n_k)
    let (weights, rows, columns) =
        softmax(Precision::F64, &masked_scores, &blocked, spec.softmax, spec.sink_of(query_head)); // (n_q, n_k)
    let output = mix(&weights, &blocked, v, spec, query_head); // (n_q, d_v)

    let scores = [raw_scores, scaled_scores, masked_scores];
    Attention::of_stages(scale, scores, (weights, rows, columns), output, blocked_by)
}

/// raw · scale, then c·tanh(s/c) if asked. Adding 0 turns −0 into 0.
fn scale_and_cap(raw: &Matrix, scale: f64, softcap: Option<f64>) -> Matrix {
    raw.map(|score| match softcap {
        Some(cap) => soft_cap(score * scale, cap) + 0.0,
        None => score * scale + 0.0,
    })
}

pub(super) fn blocked_pairs(view: &MaskView<'_>, n_q: usize, n_k: usize) -> BlockedBy {
    (0..n_q).flat_map(|query| (0..n_k).map(move |key| view.blocked_by(query, key))).collect()
}

/// −∞ where blocked, scaled + bias elsewhere.
fn mask(scaled: &Matrix, blocked: &[bool], view: &MaskView<'_>) -> Matrix {
    if view.n_layers() == 0 {
        return scaled.clone(); // shares its numbers
    }
    let has_bias = view.has_bias();
    let n_k = scaled.cols();
    Matrix::from_fn(scaled.rows(), n_k, |query, key| {
        if blocked[query * n_k + key] {
            f64::NEG_INFINITY
        } else if has_bias {
            scaled.get(query, key) + view.bias(query, key)
        } else {
            scaled.get(query, key)
        }
    })
}

/// The weights, and what normalised each row and, where softmax runs over the queries, each column.
pub(super) fn softmax(
    precision: Precision,
    masked: &Matrix,
    blocked: &[bool],
    spec: SoftmaxSpec,
    sink: Option<f64>,
) -> (Matrix, Vec<Normalizer>, Vec<Normalizer>) {
    let (along_keys, rows) = softmax_rows(precision, masked, blocked, spec, sink);
    match spec.over {
        SoftmaxAxis::Keys => (along_keys, rows, Vec::new()),
        SoftmaxAxis::Queries => {
            let (n_q, n_k) = (masked.rows(), masked.cols());
            let blocked = (0..n_k * n_q).map(|at| blocked[(at % n_q) * n_k + at / n_q]).collect::<Vec<_>>();
            let (along_queries, columns) = softmax_rows(precision, &masked.transpose(), &blocked, spec, None);
            (along_queries.transpose(), rows, columns)
        }
    }
}

fn softmax_rows(
    precision: Precision,
    scores: &Matrix,
    blocked: &[bool],
    spec: SoftmaxSpec,
    sink: Option<f64>,
) -> (Matrix, Vec<Normalizer>) {
    let n_cols = scores.cols();
    let mut weights = Matrix::zeros(scores.rows(), n_cols);
    let normalizers = (0..scores.rows())
        .map(|row| {
            let blocked = &blocked[row * n_cols..(row + 1) * n_cols];
            softmax_row_in(precision, scores.row(row), blocked, spec, sink, weights.row_mut(row))
        })
        .collect();
    (weights, normalizers)
}

/// weights · V, key after key. A blocked value of weight 0 is not read, since 0 · NaN would be NaN.
fn mix(weights: &Matrix, blocked: &[bool], v: &Matrix, spec: &AttentionSpec, query_head: usize) -> Matrix {
    let n_k = weights.cols();
    let mut output = Matrix::zeros(weights.rows(), v.cols());
    if n_k == 0 && spec.softmax.empty_rows == EmptyRow::NotANumber && spec.sink_of(query_head).is_none() {
        return output.map(|_| f64::NAN); // 0/0, though there is no weight to show it
    }
    for query in 0..weights.rows() {
        let sums = output.row_mut(query);
        for (key, &weight) in weights.row(query).iter().enumerate() {
            if weight == 0.0 && blocked[query * n_k + key] {
                continue;
            }
            for (sum, &value) in sums.iter_mut().zip(v.row(key)) {
                *sum += weight * value;
            }
        }
    }
    output // (n_q, d_v)
}

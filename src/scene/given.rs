//! Attention maps that were computed elsewhere: read from a file, judged, and put where an evaluation would be.

use std::sync::Arc;

use super::complaint::Complaint;
use super::inputs::{Inputs, MAX_HEADS, PerHead, hint_at_tensors};
use super::model::{Position, SceneSpec, ScoringSpec, Stage};
use super::resolve::Resolver;
use super::sizes::Sizes;
use super::warnings::shown;
use super::{Evaluation, HeadEvaluation, Scene};
use crate::engine::{Attention, HeadInput, Matrix, Precision, SoftmaxSpec, row_sum_tolerance};

/// The weights of every head, as a file gives them.
#[derive(Debug)]
pub(super) struct GivenWeights {
    /// At least one, all of the shape (n_q, n_k).
    pub heads: PerHead,
    /// The number format of the file.
    pub kept_in: Precision,
    /// The field that names them.
    field: &'static str,
}

impl GivenWeights {
    /// The format that their sums are judged by. Attention is hardly ever computed in more than single precision, and files are
    /// often widened on their way.
    pub fn judged_in(&self) -> Precision {
        match self.kept_in {
            Precision::F64 => Precision::F32,
            narrow => narrow,
        }
    }
}

/// The weights in a tensor or an array; `None` after a complaint.
pub(super) fn resolve(file: &str, name: Option<&str>, resolver: &mut Resolver<'_>) -> Option<Inputs> {
    let refused = |error| format!("\"{file}\" cannot be used: {error}");
    if let Err(error) = resolver.files.check(file) {
        resolver.complain("input.file", refused(error));
        return None;
    }
    let field = if name.is_some() { "input.name" } else { "input.file" };
    let (heads, kept_in) = match resolver.files.weights(file, name) {
        Ok((heads, kept_in)) => (heads.into_iter().map(without_signed_zeros).collect::<PerHead>(), kept_in),
        Err(error) => {
            resolver.complain(field, refused(error));
            hint_at_name(file, name, resolver);
            return None;
        }
    };
    let Some(first) = heads.first() else {
        let message = format!("\"{file}\" has no heads; expected 1 to {MAX_HEADS}");
        resolver.complain(field, message);
        return None;
    };
    let (n_q, n_k, n_heads) = (first.rows(), first.cols(), heads.len());
    let sizes = Sizes { n_q, n_k, d_q: 0, d_k: 0, d_v: 0, heads: n_heads, kv_heads: n_heads, projected: 0 };
    Some(Inputs::Weights(GivenWeights { heads, kept_in, field }, sizes))
}

/// No stage holds −0, and weights that are given are no exception.
fn without_signed_zeros(weights: Arc<Matrix>) -> Arc<Matrix> {
    let is_signed_zero = |weight: &f64| *weight == 0.0 && weight.is_sign_negative();
    match weights.data().iter().any(is_signed_zero) {
        true => Arc::new(weights.map(|weight| weight + 0.0)),
        false => weights,
    }
}

/// Which name to write, or that none is wanted.
fn hint_at_name(file: &str, name: Option<&str>, resolver: &mut Resolver<'_>) {
    match name {
        Some(_) if resolver.files.tensor_names(file).is_empty() => {
            if let Some(complaint) = resolver.complaints.last_mut() {
                complaint.hint = Some("leave `name` out".to_owned());
            }
        }
        Some(name) => hint_at_tensors(file, name, resolver),
        None => {
            let names = resolver.files.tensor_names(file).join(", ");
            if let (Some(complaint), false) = (resolver.complaints.last_mut(), names.is_empty()) {
                complaint.hint = Some(format!("add name: \"..\"; it has {}", super::syntax::shorten(&names)));
            }
        }
    }
}

/// Refuses what says how weights are made. A new setting of that kind belongs into this list.
pub(super) fn settings(spec: &SceneSpec, resolver: &mut Resolver<'_>) {
    let SceneSpec { scoring, softcap, mask, position, position_offset, softmax, .. } = spec;
    let SceneSpec { sinks, dropout, precision, fault, view, .. } = spec;
    let set = [
        ("scoring", *scoring != ScoringSpec::default()),
        ("softcap", softcap.is_some()),
        ("mask", !mask.is_empty()),
        ("position", *position != Position::None),
        ("position_offset", *position_offset != 0),
        ("softmax", *softmax != SoftmaxSpec::default()),
        ("sinks", !sinks.is_empty()),
        ("dropout", dropout.is_some()),
        ("fault", fault.is_some()),
        ("precision", *precision != Precision::F64),
    ];
    for (field, _) in set.iter().filter(|(_, is_set)| *is_set) {
        let message = format!("`{field}` says how weights are made, but this input gives the weights");
        resolver.complain_with(field, &message, &format!("leave `{field}` out"));
    }
    if !view.stages.is_empty() && !view.stages.contains(&Stage::Weights) {
        let message = "the stages to be shown leave out the weights, but this input gives nothing else";
        resolver.complain_with("view.stages", message, "leave `stages` out");
    }
}

/// The weights where an evaluation has them; everything else is empty.
pub(super) fn evaluation(scene: &Scene, given: &GivenWeights) -> Evaluation {
    let head = |(query_head, weights): (usize, &Arc<Matrix>)| {
        let unknown = |n| Arc::new(Matrix::zeros(n, 0));
        let (n_q, n_k) = (weights.rows(), weights.cols());
        HeadEvaluation {
            query_head,
            kv_head: query_head,
            input: HeadInput { q: unknown(n_q), k: unknown(n_k), v: unknown(n_k) },
            unrotated: None,
            alibi: None,
            dropped: None,
            attention: Attention::of_given_weights(Matrix::clone(weights)),
        }
    };
    let nothing = Arc::new(Matrix::zeros(scene.n_q(), 0));
    Evaluation {
        heads: given.heads.iter().enumerate().map(head).collect(),
        concat: Arc::clone(&nothing),
        output: nothing,
        fault: None,
        warnings: scene.warnings().iter().map(|warning| warning.message.clone()).collect(),
    }
}

/// What is odd about the weights: one looks at foreign maps to find just this. Each kind is named at its first place, with the
/// number of the others.
pub(super) fn warnings(given: &GivenWeights, warnings: &mut Vec<Complaint>) {
    let mut warn = |message| warnings.push(Complaint::warning(given.field, message));
    if let Some((place, number, more)) = first_cell(given, |weight| !weight.is_finite()) {
        let more = others(more, "more weight is not finite", "more weights are not finite");
        warn(format!("{place} is {}{more}", shown(number)));
    }
    if let Some((place, number, more)) = first_cell(given, |weight| weight.is_finite() && weight < 0.0) {
        let more = others(more, "more weight is below 0", "more weights are below 0");
        warn(format!("{place} is {number}, and a weight is never below 0{more}"));
    }
    if let Some((head, row, sum, more)) = first_wrong_sum(given) {
        let of_head = of_head(given, head);
        let more = others(more, "more row does not sum to 1", "more rows do not sum to 1");
        let why = match columns_sum_to_one(given, head) {
            true => "; its columns do, so that queries may stand across in this file",
            false => "",
        };
        warn(format!("{of_head}row {} sums to {} where 1 is expected{more}{why}", row + 1, rounded(sum)));
    }
}

/// The first weight that is odd in this way: its place in words, its value, and how many others there are.
fn first_cell(given: &GivenWeights, is_odd: impl Fn(f64) -> bool) -> Option<(String, f64, usize)> {
    let mut odd = given.heads.iter().enumerate().flat_map(|(head, weights)| {
        let is_odd = &is_odd;
        let cells = weights.data().iter().enumerate().filter(move |(_, weight)| is_odd(**weight));
        cells.map(move |(at, weight)| (head, at / weights.cols(), at % weights.cols(), *weight))
    });
    let (head, row, col, weight) = odd.next()?;
    let place = format!("{}the weight in row {}, column {}", of_head(given, head), row + 1, col + 1);
    Some((place, weight, odd.count()))
}

/// The first row of finite weights that do not sum to 1: head, row, sum, and how many others there are.
fn first_wrong_sum(given: &GivenWeights) -> Option<(usize, usize, f64, usize)> {
    let tolerance = |n_keys| row_sum_tolerance(given.judged_in(), n_keys);
    let mut wrong = given.heads.iter().enumerate().flat_map(|(head, weights)| {
        let sums = weights.iter_rows().map(|row| row.iter().fold(0.0, |sum, weight| sum + weight));
        let wrong = sums
            .enumerate()
            .filter(move |(_, sum)| sum.is_finite() && (sum - 1.0_f64).abs() > tolerance(weights.cols()));
        wrong.map(move |(row, sum)| (head, row, sum))
    });
    let (head, row, sum) = wrong.next()?;
    Some((head, row, sum, wrong.count()))
}

fn columns_sum_to_one(given: &GivenWeights, head: usize) -> bool {
    let columns = given.heads[head].transpose(); // (n_k, n_q)
    let tolerance = row_sum_tolerance(given.judged_in(), columns.cols());
    columns.iter_rows().all(|column| (column.iter().sum::<f64>() - 1.0).abs() <= tolerance)
}

/// `head 3: ` where there is more than one.
fn of_head(given: &GivenWeights, head: usize) -> String {
    if given.heads.len() > 1 { format!("head {}: ", head + 1) } else { String::new() }
}

fn others(n: usize, one: &str, many: &str) -> String {
    match n {
        0 => String::new(),
        1 => format!("; 1 {one}"),
        n => format!("; {n} {many}"),
    }
}

/// To so many places that a sum which is not 1 never reads as 1.
fn rounded(sum: f64) -> String {
    let sum = sum + 0.0; // no −0
    let text = format!("{sum:.6}");
    if text.parse() == Ok(1.0) { sum.to_string() } else { text }
}

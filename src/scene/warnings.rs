//! What a reader should know though nothing is wrong.

use std::fmt::Write as _;

use super::complaint::Complaint;
use super::inputs::{Inputs, Projection, Sizes};
use super::model::SceneSpec;
use crate::engine::{Attention, EmptyRow, HeadInput, MaskRule, MaskView, Matrix, SoftmaxAxis};

/// Warnings that need no scores.
pub(super) fn of_spec(spec: &SceneSpec, inputs: &Inputs) -> Vec<Complaint> {
    let mut warnings = Vec::new();
    zero_one_masks(spec, &mut warnings);
    empty_rows(spec, inputs, &mut warnings);
    not_finite_inputs(inputs, &mut warnings);
    warnings
}

/// An additive mask of zeros and ones hides nothing; a boolean one was meant.
fn zero_one_masks(spec: &SceneSpec, warnings: &mut Vec<Complaint>) {
    let zeros_and_ones = |matrix: &Matrix| {
        let numbers = matrix.data();
        numbers.contains(&1.0) && numbers.iter().all(|&number| number == 0.0 || number == 1.0)
    };
    for (layer, rule) in spec.mask.iter().enumerate() {
        let suspicious = match rule {
            MaskRule::Additive(matrix) => zeros_and_ones(matrix),
            MaskRule::AdditivePerHead(heads) => !heads.is_empty() && heads.iter().all(zeros_and_ones),
            _ => false,
        };
        if suspicious {
            let message =
                "this additive mask holds only 0 and 1: they are added to the scores, and nothing is blocked";
            let hint = "to block pairs write -inf, or Matrix(convention: .., rows: ..) with true and false";
            warnings.push(Complaint::warning(format!("mask[{layer}]"), message).with_hint(hint));
        }
    }
}

/// Queries that may see nothing, and what they get.
fn empty_rows(spec: &SceneSpec, inputs: &Inputs, warnings: &mut Vec<Complaint>) {
    let Sizes { n_q, n_k, heads, .. } = *inputs.sizes();
    if spec.softmax.over == SoftmaxAxis::Queries || n_q == 0 {
        return;
    }
    let gets = match spec.softmax.empty_rows {
        EmptyRow::Zero => "weights 0 and output 0 (Zero)",
        EmptyRow::NotANumber => "0/0, which is NaN (NotANumber)",
        EmptyRow::Uniform => "1/n_k for every key (Uniform)",
    };
    if n_k == 0 {
        warnings.push(Complaint::warning(
            "input.k",
            "there are no keys: no query sees anything, and its output is 0",
        ));
        return;
    }
    let per_head =
        |rule: &MaskRule| matches!(rule, MaskRule::MatrixPerHead { .. } | MaskRule::AdditivePerHead(_));
    let differ = spec.mask.iter().any(per_head);
    for head in 0..if differ { heads } else { 1 } {
        let mask = MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, head);
        let empty = |query: &usize| !(0..n_k).any(|key| mask.allows(*query, key));
        let rows: Vec<usize> = (0..n_q).filter(empty).map(|query| query + 1).collect();
        if !rows.is_empty() {
            let of_head = if differ { format!("in head {}, ", head + 1) } else { String::new() };
            let (queries, sees) = match rows.as_slice() {
                [row] => (format!("query {row}"), "may see no key and gets"),
                _ => (format!("queries {}", ranges(&rows)), "may see no key and get"),
            };
            warnings.push(Complaint::warning("mask", format!("{of_head}{queries} {sees} {gets}")));
        }
    }
}

/// `1–3, 5`.
fn ranges(rows: &[usize]) -> String {
    let mut shown = String::new();
    let mut rest = rows;
    while let Some(&first) = rest.first() {
        let n = rest.iter().zip(first..).take_while(|(row, expected)| **row == *expected).count();
        let separator = if shown.is_empty() { "" } else { ", " };
        let last = first + n - 1;
        let _ = if n == 1 {
            write!(shown, "{separator}{first}")
        } else {
            write!(shown, "{separator}{first}–{last}")
        };
        rest = &rest[n..];
    }
    shown
}

/// NaN and ∞ are values like others, but seldom meant. One warning a matrix names the first place.
fn not_finite_inputs(inputs: &Inputs, warnings: &mut Vec<Complaint>) {
    for (field, what, matrix) in named_inputs(inputs) {
        let Some(at) = matrix.data().iter().position(|number| !number.is_finite()) else { continue };
        let (row, col) = (at / matrix.cols(), at % matrix.cols());
        let number = shown(matrix.data()[at]);
        let others = matrix.data()[at + 1..].iter().filter(|number| !number.is_finite()).count();
        let more = if others > 0 {
            format!(", and {others} more numbers there are not finite")
        } else {
            String::new()
        };
        let message = format!("{what} has {number} in row {}, column {}{more}", row + 1, col + 1);
        warnings.push(Complaint::warning(format!("{field}[{row}][{col}]"), message));
    }
}

/// Every matrix of an input with its field and its name.
fn named_inputs(inputs: &Inputs) -> Vec<(String, String, &Matrix)> {
    match inputs {
        Inputs::Heads { q, k, v, .. } => {
            let sides = [("Q", q), ("K", k), ("V", v)];
            let each = sides.into_iter().flat_map(|(letter, matrices)| {
                let n_heads = matrices.len();
                matrices.iter().enumerate().map(move |(head, matrix)| {
                    let of_head = if n_heads > 1 { format!(" of head {}", head + 1) } else { String::new() };
                    let field = format!("input.{}[{head}]", letter.to_lowercase());
                    (field, format!("{letter}{of_head}"), &**matrix)
                })
            });
            each.collect()
        }
        Inputs::Projected(projection, _) => {
            let Projection { x, context, w_q, w_k, w_v, w_o, .. } = projection;
            let mut all = vec![("x", "X", &**x)];
            if !std::sync::Arc::ptr_eq(x, context) {
                all.push(("context", "the context", &**context));
            }
            all.extend([("w_q", "W_Q", &**w_q), ("w_k", "W_K", &**w_k), ("w_v", "W_V", &**w_v)]);
            all.extend(w_o.as_deref().map(|w_o| ("w_o", "W_O", w_o)));
            let full = |(field, what, matrix)| (format!("input.{field}"), String::from(what), matrix);
            all.into_iter().map(full).collect()
        }
    }
}

/// Rows of weights that are NaN, each with the number that caused it: *weights row 2 is NaN because Q[2][1] is NaN*.
///
/// Indices count from 1, as rows on the board do. Rows that see nothing are not meant: their policy speaks for them.
pub(super) fn not_a_number_rows(
    head: usize,
    n_heads: usize,
    input: &HeadInput,
    attention: &Attention,
) -> Vec<String> {
    /// Rows named one by one; one NaN in K makes every row NaN.
    const SHOWN: usize = 3;
    let n_k = attention.weights.cols();
    let sees = |query: usize| (0..n_k).any(|key| attention.allows(query, key));
    let is_nan =
        |query: &usize| attention.weights.row(*query).iter().any(|weight| weight.is_nan()) && sees(*query);
    let rows: Vec<usize> = (0..attention.weights.rows()).filter(is_nan).collect();
    let of_head = if n_heads > 1 { format!("head {}: ", head + 1) } else { String::new() };
    let mut warnings: Vec<String> = rows
        .iter()
        .take(SHOWN)
        .map(|&query| {
            let row = query + 1;
            format!("{of_head}weights row {row} is NaN because {}", cause(query, input, attention))
        })
        .collect();
    if rows.len() > SHOWN {
        let more = rows.len() - SHOWN;
        warnings.push(format!("{of_head}{more} more rows of the weights are NaN"));
    }
    warnings
}

/// The first number on the way from Q and K to the row that is not finite.
fn cause(query: usize, input: &HeadInput, attention: &Attention) -> String {
    let not_finite = |row: &[f64]| row.iter().position(|number| !number.is_finite());
    if let Some(col) = not_finite(input.q.row(query)) {
        return format!("Q[{}][{}] is {}", query + 1, col + 1, shown(input.q.get(query, col)));
    }
    let visible = || (0..attention.weights.cols()).filter(|&key| attention.allows(query, key));
    if let Some((key, col)) = visible().find_map(|key| Some((key, not_finite(input.k.row(key))?))) {
        return format!("K[{}][{}] is {}", key + 1, col + 1, shown(input.k.get(key, col)));
    }
    let score = |key: &usize| !attention.masked_scores.get(query, *key).is_finite();
    match visible().find(score) {
        Some(key) => {
            let (row, col) = (query + 1, key + 1);
            format!("masked_scores[{row}][{col}] is {}", shown(attention.masked_scores.get(query, key)))
        }
        None => "its exponentials overflow".to_owned(),
    }
}

fn shown(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "∞"
    } else {
        "−∞"
    }
}

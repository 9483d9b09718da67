//! Sums of products as text: dot products, weighted sums, projections.

use super::numbers::{format_number, format_short};
use super::trace::{TraceLine, TraceSection, elided, factor};
use super::{FigureInput, Pin};
use crate::engine::{Carry, Matrix, OutputTrace, SumOfProducts, trace_product};
use crate::scene::HeadEvaluation;

/// So many entries of a vector are shown before it is shortened.
const MOST_ENTRIES: usize = 6;
/// So many entries of a projected row are traced.
const MOST_TRACED: usize = 4;

/// `0·1 + 1·1 = 1`
pub fn product_sum(sum: &SumOfProducts, decimals: usize) -> String {
    let terms = sum
        .terms
        .iter()
        .map(|term| format!("{}·{}", factor(term.left, decimals), factor(term.right, decimals)));
    let mut text = elided(terms.collect(), " + ");
    if let Some(bias) = sum.bias {
        text = format!("{text} + {}", factor(bias, decimals));
    }
    format!("{text} = {}", format_short(sum.total, decimals))
}

/// `0.2483·[2, 0] + 0.2483·[0, 4] + 0.5035·[1, 1]`
pub fn output_sum(output: &OutputTrace, decimals: usize) -> String {
    if output.keys.is_empty() {
        return "no key is read".to_owned();
    }
    let term = |i: usize| {
        let weight =
            output.features.first().and_then(|feature| feature.terms.get(i)).map_or(0.0, |term| term.left);
        let values: Vec<f64> = output
            .features
            .iter()
            .filter_map(|feature| feature.terms.get(i))
            .map(|term| term.right)
            .collect();
        format!("{}·{}", format_number(weight, decimals), vector(&values, |v| format_short(v, decimals)))
    };
    elided((0..output.keys.len()).map(term).collect(), " + ")
}

/// `[2, 0]`, shortened behind the first few entries.
pub fn vector(values: &[f64], write: impl Fn(f64) -> String) -> String {
    let shown: Vec<String> = values.iter().take(MOST_ENTRIES).map(|value| write(*value)).collect();
    let more = values.len().saturating_sub(MOST_ENTRIES);
    if more == 0 {
        format!("[{}]", shown.join(", "))
    } else {
        format!("[{}, … {more} more]", shown.join(", "))
    }
}

/// How the query, the key and the value of a pair come from hidden states. Empty where nothing is projected.
pub fn projections(
    input: &FigureInput<'_>,
    head: &HeadEvaluation,
    pin: Pin,
    decimals: usize,
) -> Vec<TraceSection> {
    let Some(projection) = input.projection else { return Vec::new() };
    let (q, k, v) = (&head.input.q, &head.input.k, &head.input.v); // their widths; positions come later
    let rows = [
        (
            "Query q = x W_Q",
            "q",
            &projection.x,
            &projection.w_q,
            &projection.b_q,
            pin.query,
            head.query_head * q.cols(),
            q,
        ),
        (
            "Key k = x W_K",
            "k",
            &projection.context,
            &projection.w_k,
            &projection.b_k,
            pin.key,
            head.kv_head * k.cols(),
            k,
        ),
        (
            "Value v = x W_V",
            "v",
            &projection.context,
            &projection.w_v,
            &projection.b_v,
            pin.key,
            head.kv_head * v.cols(),
            v,
        ),
    ];
    rows.into_iter()
        .map(|(title, name, x, w, b, row, first, result)| {
            let columns = (first, result.cols());
            let lines = projected((x, w, b.as_deref()), (name, row), columns, decimals);
            TraceSection { is_preparation: true, ..TraceSection::new(title, lines) }
        })
        .collect()
}

fn projected(
    (x, w, b): (&Matrix, &Matrix, Option<&[f64]>),
    (name, row): (&str, usize),
    (first, n): (usize, usize),
    decimals: usize,
) -> Vec<TraceLine> {
    let mut lines: Vec<TraceLine> = (0..n.min(MOST_TRACED))
        .filter_map(|i| {
            let sum = trace_product(x, w, b, (row, first + i), Carry::Exact)?;
            Some(TraceLine::plain(format!("{name}[{}] = {}", i + 1, product_sum(&sum, decimals))))
        })
        .collect();
    if n > MOST_TRACED {
        lines.push(TraceLine::muted(format!("… and {} more entries", n - MOST_TRACED)));
    }
    lines
}

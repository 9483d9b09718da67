//! Sums of products as text: dot products, weighted sums, projections.

use super::numbers::{format_number, format_short};
use super::trace::{TraceLine, TraceSection, Writing, elided, factor};
use super::{FigureInput, Pin};
use crate::engine::{Carry, Fault, Matrix, OutputTrace, Precision, SumOfProducts, trace_product};
use crate::scene::HeadEvaluation;

/// So many entries of a vector are shown before it is shortened.
const MOST_ENTRIES: usize = 6;
/// So many entries of a projected row are traced.
const MOST_TRACED: usize = 4;

/// `0·1 + 1·1 = 1`
pub fn product_sum(sum: &SumOfProducts, writing: Writing) -> String {
    let terms = sum.terms.iter().map(|term| {
        format!("{}·{}", factor(term.left, writing.decimals), factor(term.right, writing.decimals))
    });
    let mut text = elided(writing, terms.collect(), " + ");
    if let Some(bias) = sum.bias {
        text = format!("{text} + {}", factor(bias, writing.decimals));
    }
    format!("{text} = {}", format_short(sum.total, writing.decimals))
}

/// `0.2483·[2, 0] + 0.2483·[0, 4] + 0.5035·[1, 1]`
pub fn output_sum(output: &OutputTrace, writing: Writing) -> String {
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
        format!(
            "{}·{}",
            format_number(weight, writing.decimals),
            vector(writing, &values, |v| format_short(v, writing.decimals))
        )
    };
    elided(writing, (0..output.keys.len()).map(term).collect(), " + ")
}

/// `[2, 0]`, shortened behind the first few entries.
pub fn vector(writing: Writing, values: &[f64], write: impl Fn(f64) -> String) -> String {
    let most = writing.terms.shown_of(values.len(), MOST_ENTRIES);
    let shown: Vec<String> = values.iter().take(most).map(|value| write(*value)).collect();
    let more = values.len().saturating_sub(most);
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
    writing: Writing,
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
            let d = result.cols();
            let place = |i: usize| match input.fault() {
                // Row by row, the pieces of all tokens of a head come before those of the next head.
                Some(Fault::SplitWithoutTranspose) => {
                    let at = first * x.rows() + row * d + i;
                    (at / w.cols(), at % w.cols())
                }
                _ => (row, first + i),
            };
            let mut lines = projected((x, w, b.as_deref()), name, (d, &place), writing);
            lines.extend(stored(input, head, name, result.row(row), writing));
            let title = if b.is_some() { format!("{title} + b") } else { title.to_owned() };
            TraceSection { is_preparation: true, ..TraceSection::new(title, lines) }
        })
        .collect()
}

/// What a narrow number format makes of a projected row; rotary positions turn q and k before they are stored.
fn stored(
    input: &FigureInput<'_>,
    head: &HeadEvaluation,
    name: &str,
    row: &[f64],
    writing: Writing,
) -> Option<TraceLine> {
    let precision = input.spec.precision_in_force();
    let is_turned_first = head.unrotated.is_some() && name != "v";
    (precision != Precision::F64 && !is_turned_first).then(|| {
        let row = vector(writing, row, |value| format_short(value, writing.decimals));
        TraceLine::muted(format!("stored in {}: {row}", precision.label()))
    })
}

/// How the heads of a query, side by side, go through W_O. Nothing where there is none.
pub fn through_w_o(input: &FigureInput<'_>, pin: Pin, writing: Writing) -> Option<TraceSection> {
    let projection = input.projection?;
    let w_o = projection.w_o.as_ref()?;
    let operands = (input.concat, &**w_o, projection.b_o.as_deref());
    let lines = projected(operands, "o", (w_o.cols(), &|i| (pin.query, i)), writing);
    Some(TraceSection::new("Output row of all heads = concat W_O", lines))
}

/// One line for each of `n` entries; `place` tells the row and the column of the product where entry i stands.
fn projected(
    (x, w, b): (&Matrix, &Matrix, Option<&[f64]>),
    name: &str,
    (n, place): (usize, &dyn Fn(usize) -> (usize, usize)),
    writing: Writing,
) -> Vec<TraceLine> {
    let most = writing.terms.shown_of(n, MOST_TRACED);
    let mut lines: Vec<TraceLine> = (0..n.min(most))
        .filter_map(|i| {
            let sum = trace_product(x, w, b, place(i), Carry::Exact)?;
            Some(TraceLine::plain(format!("{name}[{}] = {}", i + 1, product_sum(&sum, writing))))
        })
        .collect();
    if n > most {
        lines.push(TraceLine::muted(format!("… and {} more entries", n - most)));
    }
    lines
}

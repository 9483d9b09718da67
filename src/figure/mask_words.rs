//! Mask layers in words: what each is called, and why it blocks a pair.

use super::FigureInput;
use super::numbers::{format_number, format_short};
use super::trace::TraceLine;
use crate::engine::{Corner, MaskRule, Trace};

/// The name of a layer with its settings: `causal, top left`, `window of 2 before and 0 after`.
pub fn mask_name(rule: &MaskRule) -> String {
    match rule {
        MaskRule::Causal(Corner::TopLeft) => "causal, top left".to_owned(),
        MaskRule::Causal(Corner::BottomRight) => "causal, bottom right".to_owned(),
        MaskRule::ValidKeys(n) => format!("first {n} keys valid"),
        MaskRule::PaddedKeys(_) => "padded keys".to_owned(),
        MaskRule::Window { left, right } => {
            format!("window of {} before and {} after", side(*left), side(*right))
        }
        MaskRule::Documents(_) => "documents".to_owned(),
        MaskRule::Prefix(n) => format!("prefix of {n}"),
        MaskRule::Global(positions) => {
            let n = positions.len();
            format!("{n} global {}", if n == 1 { "position" } else { "positions" })
        }
        MaskRule::Strided(stride) => format!("every {stride} positions"),
        MaskRule::Matrix { .. } => "boolean matrix".to_owned(),
        MaskRule::Additive(_) => "additive matrix".to_owned(),
        MaskRule::Alibi(_) => "ALiBi".to_owned(),
        MaskRule::MatrixPerHead { .. } => "boolean matrix of this head".to_owned(),
        MaskRule::AdditivePerHead(_) => "additive matrix of this head".to_owned(),
    }
}

fn side(width: Option<usize>) -> String {
    width.map_or_else(|| "any number".to_owned(), |width| width.to_string())
}

/// What the mask says about the traced pair, and which layer says so. Positions are counted from 1, as on the axes.
pub fn verdict(
    input: &FigureInput<'_>,
    head: usize,
    trace: &Trace,
    decimals: usize,
    skips_zeros: bool,
) -> Vec<TraceLine> {
    let layers = &input.spec.mask;
    if layers.is_empty() {
        return vec![TraceLine::muted("no mask: every key is visible")];
    }
    let mut lines = Vec::new();
    if let Some(layer) = trace.mask.blocked_by {
        let name = layers.get(layer).map_or_else(String::new, mask_name);
        lines.push(TraceLine::result(format!("blocked by layer {}: {name}", layer + 1)));
        if let Some(reason) = layers.get(layer).and_then(|rule| reason(rule, input, trace, false)) {
            lines.push(TraceLine::plain(reason));
        }
        lines.push(TraceLine::plain("masked score −∞"));
        return lines;
    }
    let reasons: Vec<String> = layers.iter().filter_map(|rule| reason(rule, input, trace, true)).collect();
    let is_open = layers.iter().all(|rule| matches!(rule, MaskRule::Alibi(_)));
    lines.push(TraceLine::plain(format!(
        "visible{}{}",
        if is_open {
            ": no mask"
        } else if reasons.is_empty() {
            ""
        } else {
            ": "
        },
        reasons.join("; ")
    )));
    // Layers that a mistake has made into numbers add 0 to most pairs.
    let biases = trace.mask.biases.iter().filter(|(_, bias)| !skips_zeros || *bias != 0.0);
    for (layer, bias) in biases.clone() {
        lines.push(TraceLine::plain(match layers.get(*layer) {
            Some(MaskRule::Alibi(slopes)) => linear_bias(input, trace, slopes, head, *bias, decimals),
            _ => format!("layer {} adds {}", layer + 1, format_number(*bias, decimals)),
        }));
    }
    if biases.count() > 0 {
        lines.push(TraceLine::result(format!("masked score {}", format_number(trace.mask.masked, decimals))));
    }
    lines
}

/// `ALiBi adds 0.25 · (1 − 3) = −0.5`: key position − query position, counted as on the axes.
fn linear_bias(
    input: &FigureInput<'_>,
    trace: &Trace,
    slopes: &[f64],
    head: usize,
    bias: f64,
    decimals: usize,
) -> String {
    let slope = slopes.get(head).copied().unwrap_or(f64::NAN);
    let (key, query) = (trace.key as i64 + 1, trace.query as i64 + 1 + input.spec.position_offset);
    let query = if query < 0 { format!("(−{})", query.unsigned_abs()) } else { query.to_string() };
    format!("ALiBi adds {} · ({key} − {query}) = {}", format_short(slope, 6), format_number(bias, decimals))
}

/// The comparison that a layer makes, for layers that compare positions.
fn reason(rule: &MaskRule, input: &FigureInput<'_>, trace: &Trace, allows: bool) -> Option<String> {
    let key = trace.key as i64 + 1;
    let (n_q, n_k) = (input.query_labels.len() as i64, input.key_labels.len() as i64);
    match rule {
        MaskRule::Causal(corner) => {
            let shift = if *corner == Corner::TopLeft { input.spec.position_offset } else { n_k - n_q };
            let last = trace.query as i64 + 1 + shift;
            // A prefix may open what causality closes; then the comparison would be false.
            if allows {
                (key <= last).then(|| format!("causal allows {key} ≤ {last}"))
            } else {
                Some(format!("{key} > {last}: the key comes after the query"))
            }
        }
        MaskRule::ValidKeys(n) if allows => Some(format!("key {key} of {n} valid ones")),
        MaskRule::ValidKeys(n) => Some(format!("key {key} lies behind the {n} valid ones")),
        MaskRule::PaddedKeys(_) if !allows => Some(format!("key {key} is padding")),
        MaskRule::Window { .. } if !allows => {
            let query = trace.query as i64 + 1 + input.spec.position_offset;
            Some(format!("position {key} lies outside the window around {query}"))
        }
        MaskRule::Documents(_) if !allows => Some("query and key belong to different documents".to_owned()),
        _ => None,
    }
}

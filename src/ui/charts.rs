//! The calculators' charts as figures: the same data as in the panels, drawn for a slide.

use crate::cost::{CostError, cache_over_tokens, growth};
use crate::figure::{AxisScale, ChartLine, ChartSpec};
use crate::session::Session;

/// Lengths 64 to 65,536.
const FIRST_LENGTH: u64 = 64;
const DOUBLINGS: u32 = 11;
const MIB: f64 = 1_048_576.0;

/// What scores and mix cost over the tokens, beside the projections where there are any.
pub fn complexity(session: &Session) -> ChartSpec {
    let rows = growth(session.complexity(), FIRST_LENGTH, DOUBLINGS).unwrap_or_default();
    let line = |label: &str, points| ChartLine { label: label.to_owned(), points, dashed: false };
    let attention = rows.iter().map(|row| (row.tokens as f64, row.macs.0 as f64)).collect();
    let mut lines = vec![line("scores and mix", attention)];
    if rows.iter().any(|row| row.total.0 > row.macs.0) {
        let projections =
            rows.iter().map(|row| (row.tokens as f64, (row.total.0 - row.macs.0) as f64)).collect();
        lines.push(line("projections", projections));
    }
    ChartSpec {
        title: "Multiply-adds of one attention layer".to_owned(),
        x_label: "tokens".to_owned(),
        y_label: "MACs".to_owned(),
        x_scale: AxisScale::Log2,
        y_scale: AxisScale::Log10,
        lines,
        marker: None,
    }
}

/// What the cache takes over the tokens, for every way of sharing KV heads among the same query heads.
pub fn cache(session: &Session) -> ChartSpec {
    ChartSpec {
        title: "Cache memory of one sequence".to_owned(),
        x_label: "tokens".to_owned(),
        y_label: "MiB".to_owned(),
        x_scale: AxisScale::Linear,
        y_scale: AxisScale::Linear,
        lines: cache_lines(session).unwrap_or_default(),
        marker: None,
    }
}

fn cache_lines(session: &Session) -> Result<Vec<ChartLine>, CostError> {
    let inputs = session.cache();
    let report = crate::cost::CacheReport::new(inputs)?;
    let longest = 4096.max(inputs.tokens.saturating_mul(2));
    report
        .sharing
        .iter()
        .map(|sharing| {
            let shared =
                crate::cost::CacheInputs { kv_heads: sharing.kv_heads, sequences: 1, ..inputs.clone() };
            let points = cache_over_tokens(&shared, longest, 65)?;
            Ok(ChartLine {
                label: format!("{}, {} KV heads", sharing.name, sharing.kv_heads),
                points: points
                    .into_iter()
                    .map(|(tokens, bytes)| (tokens as f64, bytes.0 as f64 / MIB))
                    .collect(),
                dashed: !sharing.is_chosen,
            })
        })
        .collect()
}

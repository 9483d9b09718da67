//! Dropout in words and numbers.

use super::numbers::{format_number, format_short};
use super::trace::{TraceLine, TraceSection, Writing};
use super::trace_products::{output_sum, vector};
use crate::engine::DropoutTrace;

/// What becomes of the weight of the pair.
pub fn dropout(trace: &DropoutTrace, writing: Writing) -> TraceSection {
    let number = |value| format_number(value, writing.decimals);
    let kept = format_short(1.0 - trace.rate, writing.decimals.max(4));
    let line = if trace.is_kept {
        format!("kept: {} / {kept} = {}", number(trace.before), number(trace.after))
    } else if trace.before == 0.0 {
        "dropped, though it was 0 already".to_owned()
    } else {
        format!("dropped: {} becomes 0", number(trace.before))
    };
    TraceSection::new(format!("Dropout of {}", format_short(trace.rate, 4)), vec![TraceLine::result(line)])
}

/// The weighted sum of what is left.
pub fn output_after_dropout(trace: &DropoutTrace, writing: Writing) -> TraceSection {
    let row = vector(writing, &trace.output.row(), |value| format_number(value, writing.decimals));
    let lines =
        vec![TraceLine::plain(output_sum(&trace.output, writing)), TraceLine::result(format!("= {row}"))];
    TraceSection::new("Output row after dropout", lines)
}

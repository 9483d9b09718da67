//! The number that made a row NaN or infinite, in the words of the warning about it.

use super::FigureInput;
use super::trace::{TraceLine, TraceSection};
use crate::scene::{HeadEvaluation, why_not_finite};

/// Adds the cause where the row first goes wrong: to the softmax if its weights are not finite, else to the output. Adds nothing to
/// a finite row, nor to one that sees nothing, which its policy explains.
pub fn add_cause(
    input: &FigureInput<'_>,
    head: &HeadEvaluation,
    query: usize,
    softmax: &mut TraceSection,
    output: &mut TraceSection,
) {
    let Some(why) = input.scene.and_then(|scene| why_not_finite(scene, head, query)) else { return };
    let in_weights = head.attention.weights.row(query).iter().any(|weight| !weight.is_finite());
    let section = if in_weights { softmax } else { output };
    section.lines.push(TraceLine::plain(format!("not finite, because {why}")));
}

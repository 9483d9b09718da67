//! Mistakes made on purpose, in the words of a trace: what is done, and what comes of it for one pair.

use super::FigureInput;
use super::mask_words::{mask_name, verdict};
use super::numbers::{format_number, format_short};
use super::trace::{TraceLine, TraceSection};
use crate::engine::{Fault, Trace, kv_head_of};
use crate::scene::HeadEvaluation;

/// Names the mistake before anything is computed. Nothing where none is made.
pub fn named(input: &FigureInput<'_>, head: &HeadEvaluation) -> Option<TraceSection> {
    let fault = input.fault()?;
    let mut lines = vec![TraceLine::plain(fault.label())];
    let n_heads = input.heads.len();
    lines.extend(
        match fault {
            Fault::TiledKvHeads => kv_head_of(head.query_head, n_heads, input.kv_heads()).ok().map(|meant| {
                format!(
                    "query head {} reads KV head {}; meant is {}",
                    head.query_head + 1,
                    head.kv_head + 1,
                    meant + 1
                )
            }),
            Fault::SplitWithoutTranspose if input.projection.is_some() => {
                Some("q, k and v of a head are cut out of the rows of a few tokens".to_owned())
            }
            Fault::MergeWithoutTranspose => {
                Some("a row of the heads side by side holds one head's outputs for several tokens".to_owned())
            }
            Fault::BiasScaledWithScores => {
                Some("what layers add is multiplied by the scale, as the scores are".to_owned())
            }
            _ => None,
        }
        .map(TraceLine::muted),
    );
    Some(TraceSection::new("Mistake made on purpose", lines))
}

/// What the mask says of a pair, and what a mistake makes of that. `computed` has the settings in force, `meant` those of the scene.
pub fn mask_lines(
    meant: &FigureInput<'_>,
    computed: &FigureInput<'_>,
    head: usize,
    trace: &Trace,
    decimals: usize,
) -> Vec<TraceLine> {
    let Some(fault) = meant.fault() else { return verdict(meant, head, trace, decimals, false) };
    if trace.mask.is_held_back() {
        return vec![
            TraceLine::result("by mistake blocked: every layer lets it through"),
            TraceLine::plain("masked score −∞"),
        ];
    }
    if let Some(layer) = trace.mask.let_through() {
        let is_settings = computed.fault().is_none();
        let mut added = if is_settings { verdict(computed, head, trace, decimals, true) } else { Vec::new() };
        // "visible" is what should not be; only what is added is of interest.
        added.retain(|line| !line.text.starts_with("visible"));
        let has_score = !added.is_empty();
        return [added, let_through(meant, layer, (fault, has_score), trace, decimals)].concat();
    }
    if trace.mask.blocked_by.is_some() {
        // Blocked as it was meant, and so by the layer that was meant.
        let mut trace = trace.clone();
        trace.mask.blocked_by = trace.mask.meant;
        return verdict(meant, head, &trace, decimals, false);
    }
    let mut lines = verdict(computed, head, trace, decimals, true);
    if let (Fault::SoftCapAfterMask, Some(cap)) = (fault, trace.soft_cap) {
        let (c, before) = (format_short(cap.cap, decimals), format_number(cap.before, decimals));
        let after = format_number(cap.after, decimals);
        // The verdict's score is that after the cap, which is told here.
        lines.retain(|line| !line.text.starts_with("masked score"));
        lines.push(TraceLine::result(format!(
            "the soft cap comes last: {c} · tanh({before} / {c}) = {after}"
        )));
    }
    lines
}

/// Which layer should block the pair, and the score that it has instead of −∞.
fn let_through(
    input: &FigureInput<'_>,
    layer: usize,
    (fault, has_score): (Fault, bool),
    trace: &Trace,
    decimals: usize,
) -> Vec<TraceLine> {
    let name = input.spec.mask.get(layer).map_or_else(String::new, mask_name);
    let masked = format_number(trace.mask.masked, decimals);
    let should = format!("by mistake not blocked: layer {} ({name}) should block it", layer + 1);
    let instead = match (fault, trace.soft_cap) {
        (Fault::MaskMultiplied, _) => {
            "the score is multiplied by 0 and takes part as 0, not as −∞".to_owned()
        }
        (Fault::MaskAfterSoftmax, _) => format!("the softmax runs before the mask, over {masked} as well"),
        (Fault::SoftCapAfterMask, Some(cap)) => {
            let c = format_short(cap.cap, decimals);
            format!("the soft cap comes last: {c} · tanh(−∞ / {c}) = {masked}")
        }
        // The verdict says what is added, and what comes of it.
        _ if trace.mask.masked == f64::NEG_INFINITY => {
            "the number is beyond the format and becomes −∞, which the softmax takes for a score".to_owned()
        }
        _ if has_score => return vec![TraceLine::result(should)],
        _ => format!("masked score {masked} in place of −∞"),
    };
    vec![TraceLine::result(should), TraceLine::plain(instead)]
}

//! The mistakes that are nothing but other settings.

use std::borrow::Cow;

use super::super::attend::blocked_pairs;
use super::super::{AttentionSpec, BlockedBy, MaskView, Scoring, SoftmaxAxis, SoftmaxForm};
use super::masks::{inverted, other_corner, padded_rows, penalised, scaled_biases};
use super::{Fault, FaultInForce};

/// The settings that a head really computes with: those of its mistake, where a mistake is nothing but other settings.
///
/// The result has no fault left in it, but for the mistakes that no settings can express (mask after softmax, mask multiplied in, soft
/// cap after the mask, sum in half precision), which stay as they are. A mistake about something that the head does not have changes
/// nothing, and so do, within a head, the mistakes between the heads.
pub fn spec_in_force(
    spec: &AttentionSpec,
    n_q: usize,
    n_k: usize,
    d_k: usize,
    query_head: usize,
) -> Cow<'_, AttentionSpec> {
    let Some(FaultInForce { fault, d_model }) = spec.fault else { return Cow::Borrowed(spec) };
    let mut changed = AttentionSpec { fault: None, ..spec.clone() };
    match fault {
        Fault::SoftmaxOverQueries => changed.softmax.over = SoftmaxAxis::Queries,
        Fault::NaiveExp => changed.softmax.form = SoftmaxForm::Naive,
        Fault::NoScale => rescale(&mut changed, 1.0),
        Fault::ModelWidthScale => rescale(&mut changed, 1.0 / (d_model.max(1) as f64).sqrt()),
        Fault::InvertedBoolean if spec.mask.is_empty() => {}
        Fault::InvertedBoolean => changed.mask = inverted(spec, n_q, n_k, query_head),
        Fault::WrongCorner => changed.mask = other_corner(spec),
        Fault::PaddingOnQueryRows => changed.mask = padded_rows(spec, n_q, n_k),
        Fault::MinusTenThousand => changed.mask = penalised(spec, n_q, n_k, query_head, -1e4),
        Fault::MinusOneBillion => {
            changed.mask = penalised(spec, n_q, n_k, query_head, -1e9);
            changed.precision = spec.precision_in_force();
        }
        Fault::BiasScaledWithScores => changed.mask = scaled_biases(spec, n_q, n_k, d_k, query_head),
        Fault::TiledKvHeads | Fault::SplitWithoutTranspose | Fault::MergeWithoutTranspose => {}
        Fault::SoftCapAfterMask if spec.softcap.is_none() => {}
        Fault::MaskAfterSoftmax
        | Fault::MaskMultiplied
        | Fault::SoftCapAfterMask
        | Fault::SumInHalfPrecision => return Cow::Borrowed(spec),
    }
    Cow::Owned(changed)
}

/// Which pairs a head really blocks, by the layers of [`spec_in_force`]; what its mistake lets through is none of them.
pub fn blocked_in_force(
    spec: &AttentionSpec,
    n_q: usize,
    n_k: usize,
    d_k: usize,
    query_head: usize,
) -> BlockedBy {
    let in_force = spec_in_force(spec, n_q, n_k, d_k, query_head);
    if in_force.fault.is_some_and(|in_force| in_force.fault.blocks_nothing()) {
        return BlockedBy::nothing(n_q * n_k);
    }
    let view = MaskView::new(&in_force.mask, n_q, n_k, in_force.position_offset, query_head);
    blocked_pairs(&view, n_q, n_k)
}

/// Another scale, where the scoring has one of its own.
fn rescale(spec: &mut AttentionSpec, scale: f64) {
    if spec.scoring == Scoring::ScaledDot {
        spec.scoring = if scale == 1.0 { Scoring::Dot } else { Scoring::Scale(scale) };
    }
}

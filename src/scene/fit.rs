//! Whether scoring, masks and settings fit Q, K and V. Whether the whole is of a size that can be computed is judged in `room`.

use std::sync::Arc;

use super::model::{DropoutSpec, Input, Position, SceneSpec, ScoringSpec};
use super::resolve::Resolver;
use super::sizes::KnownSizes;
use super::tensors::grouped;
use crate::engine::{Dropout, MaskRule, MaskShapeError, OddWidth, Scoring};

/// The scoring with its matrices; its shapes are checked as far as those of the input are known.
pub(super) fn scoring(
    spec: &ScoringSpec,
    known: &KnownSizes,
    resolver: &mut Resolver<'_>,
) -> Option<Scoring> {
    match spec {
        ScoringSpec::ScaledDot | ScoringSpec::Dot | ScoringSpec::Scale(_) => {
            if let KnownSizes { d_q: Some(d_q), d_k: Some(d_k), .. } = known
                && d_q != d_k
            {
                let message = format!(
                    "queries are {d_q} wide but keys are {d_k} wide; a dot product needs equal widths"
                );
                resolver.complain("input.k", message);
            }
        }
        ScoringSpec::Additive { .. } | ScoringSpec::General { .. } => {}
    }
    match spec {
        ScoringSpec::ScaledDot => Some(Scoring::ScaledDot),
        ScoringSpec::Dot => Some(Scoring::Dot),
        ScoringSpec::Scale(scale) if scale.is_finite() => Some(Scoring::Scale(*scale)),
        ScoringSpec::Scale(scale) => {
            resolver.complain("scoring", format!("the scale is {scale}; expected a finite number"));
            None
        }
        ScoringSpec::General { w } => {
            let w = resolver.matrix(w, "scoring.w", "W of the scorer")?;
            let shape = known.d_q.zip(known.d_k);
            needs(shape, (w.rows(), w.cols()), "W", "(d_q, d_k)", "scoring.w", resolver);
            Some(Scoring::General { w })
        }
        ScoringSpec::Additive { w_q, w_k, v } => {
            let w_q = resolver.matrix(w_q, "scoring.w_q", "W_q of the scorer");
            let w_k = resolver.matrix(w_k, "scoring.w_k", "W_k of the scorer");
            let v = resolver.matrix(v, "scoring.v", "v of the scorer");
            let (w_q, w_k, v) = (w_q?, w_k?, v?);
            let d_att = w_q.rows();
            let [for_q, for_k] = [known.d_q, known.d_k].map(|width| width.map(|width| (d_att, width)));
            needs(for_q, (d_att, w_q.cols()), "W_q", "(d_att, d_q)", "scoring.w_q", resolver);
            needs(for_k, (w_k.rows(), w_k.cols()), "W_k", "(d_att, d_k)", "scoring.w_k", resolver);
            needs(Some((1, d_att)), (v.rows(), v.cols()), "v", "(1, d_att)", "scoring.v", resolver);
            Some(Scoring::Additive { w_q, w_k, v: Arc::new(v.data().to_vec()) })
        }
    }
}

fn needs(
    expected: Option<(usize, usize)>,
    found: (usize, usize),
    name: &str,
    shape: &str,
    field: &str,
    resolver: &mut Resolver<'_>,
) {
    if let Some(expected) = expected
        && expected != found
    {
        let ((rows, cols), (found_rows, found_cols)) = (expected, found);
        resolver.complain(
            field,
            format!("{name} of the scorer is {found_rows} × {found_cols}; expected {rows} × {cols}: {shape}"),
        );
    }
}

/// Numbers that have to lie in a range.
pub(super) fn settings(spec: &SceneSpec, resolver: &mut Resolver<'_>) {
    /// Positions are counted in `f64` where they become angles and slopes.
    const MAX_OFFSET: i64 = 1 << 40;
    if let Some(softcap) = spec.softcap
        && !(softcap.is_finite() && softcap > 0.0)
    {
        resolver.complain("softcap", format!("the soft cap is {softcap}; expected a finite number above 0"));
    }
    if spec.position_offset.unsigned_abs() > MAX_OFFSET.unsigned_abs() {
        let (found, most) = (spec.position_offset, grouped(MAX_OFFSET.unsigned_abs()));
        resolver.complain("position_offset", format!("the offset is {found}; expected −{most} to {most}"));
    }
    if let Some(DropoutSpec { rate, seed }) = spec.dropout
        && let Err(error) = Dropout::new(rate, seed)
    {
        resolver.complain("dropout.rate", error.to_string());
    }
    for (head, sink) in spec.sinks.iter().enumerate().filter(|(_, sink)| !sink.is_finite()) {
        let message = format!("the sink of head {} is {sink}; expected a finite number", head + 1);
        resolver.complain(format!("sinks[{head}]"), message);
    }
    let decimals = spec.view.decimals;
    if decimals > 17 {
        let message =
            format!("{decimals} decimals are asked for; expected 0 to 17, all that such a number holds");
        resolver.complain("view.decimals", message);
    }
    if spec.view.stages.is_empty() {
        resolver.complain("view.stages", "no stages are to be shown; expected at least one");
    }
}

/// Whether this input can be given its positions in this way; what kind of input it is may be unknown.
pub(super) fn positions(
    spec: &SceneSpec,
    known: &KnownSizes,
    input_unread: bool,
    resolver: &mut Resolver<'_>,
) {
    match spec.position {
        Position::None | Position::Alibi => {}
        Position::Sinusoidal => {
            if !input_unread && !matches!(spec.input, Input::Projected(_)) {
                let message =
                    "sinusoidal positions are added to hidden states, but this input gives Q, K and V";
                resolver.complain_with(
                    "position",
                    message,
                    "write input: Projected(..), or take Rope or Alibi, which need no hidden states",
                );
            }
        }
        Position::Rope { base, .. } => {
            if !(base.is_finite() && base >= 1.0) {
                let message = format!("the base is {base}; expected a finite number, 1 or more");
                resolver.complain("position.base", message);
            }
            let mut widths = [known.d_q, known.d_k].into_iter().flatten();
            if let Some(width) = widths.find(|width| !width.is_multiple_of(2)) {
                resolver.complain("position", OddWidth { width }.to_string());
            }
        }
    }
}

/// Every layer against the queries, keys and heads, where their numbers are known.
pub(super) fn masks(layers: &[MaskRule], known: &KnownSizes, resolver: &mut Resolver<'_>) {
    let KnownSizes { n_q: Some(n_q), n_k: Some(n_k), heads: Some(heads), .. } = *known else { return };
    for (layer, rule) in layers.iter().enumerate() {
        if let Err(error) = rule.check_shape(n_q, n_k, heads) {
            let within = match (&error, rule) {
                (MaskShapeError::Row { head: Some(head), row, .. }, MaskRule::MatrixPerHead { .. }) => {
                    format!(".heads[{head}][{row}]")
                }
                (MaskShapeError::Row { row, .. }, MaskRule::Matrix { .. }) => format!(".rows[{row}]"),
                (MaskShapeError::Row { head: Some(head), row, .. }, _) => format!("[{head}][{row}]"),
                (MaskShapeError::Row { row, .. }, _) => format!("[{row}]"),
                (MaskShapeError::Rows { head: Some(head), .. }, MaskRule::MatrixPerHead { .. }) => {
                    format!(".heads[{head}]")
                }
                (MaskShapeError::Rows { head: Some(head), .. }, _) | (MaskShapeError::Slope { head }, _) => {
                    format!("[{head}]")
                }
                _ => String::new(),
            };
            resolver.complain(format!("mask[{layer}]{within}"), error.to_string());
        }
    }
}

/// The head that is to be shown first.
pub(super) fn head_shown(head: usize, known: &KnownSizes, resolver: &mut Resolver<'_>) {
    let message = match known.heads {
        Some(n_heads) if head == 0 || head > n_heads => {
            format!("head {head} is to be shown first; expected 1 to {n_heads}, the query heads there are")
        }
        None if head == 0 => "head 0 is to be shown first; heads are counted from 1".to_owned(),
        _ => return,
    };
    resolver.complain("view.head", message);
}

/// One sink for each head, or none.
pub(super) fn sinks(sinks: &[f64], known: &KnownSizes, resolver: &mut Resolver<'_>) {
    let n_sinks = sinks.len();
    if let Some(n_heads) = known.heads
        && n_sinks != 0
        && n_sinks != n_heads
    {
        let message = format!(
            "the list of sinks has the length {n_sinks}; expected {n_heads}: one number for each query head"
        );
        resolver.complain("sinks", message);
    }
}

//! Whether scoring, masks and settings fit Q, K and V. Whether the whole is of a size that can be computed is judged in `room`.

use std::sync::Arc;

use super::inputs::{Inputs, Sizes};
use super::model::{DropoutSpec, Input, Position, SceneSpec, ScoringSpec};
use super::resolve::Resolver;
use super::tensors::grouped;
use crate::engine::{Dropout, MaskRule, MaskShapeError, OddWidth, Scoring};

/// The scoring with its matrices; its shapes are checked as soon as the input is known.
pub(super) fn scoring(
    spec: &ScoringSpec,
    inputs: Option<&Inputs>,
    resolver: &mut Resolver<'_>,
) -> Option<Scoring> {
    let sizes = inputs.map(Inputs::sizes);
    match spec {
        ScoringSpec::ScaledDot | ScoringSpec::Dot | ScoringSpec::Scale(_) => {
            if let Some(Sizes { d_q, d_k, .. }) = sizes
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
            let shape = sizes.map(|sizes| (sizes.d_q, sizes.d_k));
            needs(shape, (w.rows(), w.cols()), "W", "(d_q, d_k)", "scoring.w", resolver);
            Some(Scoring::General { w })
        }
        ScoringSpec::Additive { w_q, w_k, v } => {
            let w_q = resolver.matrix(w_q, "scoring.w_q", "W_q of the scorer");
            let w_k = resolver.matrix(w_k, "scoring.w_k", "W_k of the scorer");
            let v = resolver.matrix(v, "scoring.v", "v of the scorer");
            let (w_q, w_k, v) = (w_q?, w_k?, v?);
            let d_att = w_q.rows();
            let shape = |width: fn(&Sizes) -> usize| sizes.map(|sizes| (d_att, width(sizes)));
            let (for_q, for_k) = (shape(|sizes| sizes.d_q), shape(|sizes| sizes.d_k));
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

/// Whether this input can be given its positions in this way.
pub(super) fn positions(spec: &SceneSpec, inputs: Option<&Inputs>, resolver: &mut Resolver<'_>) {
    match spec.position {
        Position::None | Position::Alibi => {}
        Position::Sinusoidal => {
            if !matches!(spec.input, Input::Projected(_)) {
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
            let widths = inputs.map(|inputs| [inputs.sizes().d_q, inputs.sizes().d_k]);
            if let Some(width) = widths.into_iter().flatten().find(|width| !width.is_multiple_of(2)) {
                resolver.complain("position", OddWidth { width }.to_string());
            }
        }
    }
}

/// Every layer against the queries, keys and heads.
pub(super) fn masks(layers: &[MaskRule], inputs: &Inputs, resolver: &mut Resolver<'_>) {
    let Sizes { n_q, n_k, heads, .. } = *inputs.sizes();
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

/// The head that is to be shown first, and what is given for each head.
pub(super) fn per_head(spec: &SceneSpec, inputs: &Inputs, resolver: &mut Resolver<'_>) {
    let (head, n_heads) = (spec.view.head, inputs.sizes().heads);
    if head == 0 || head > n_heads {
        let message =
            format!("head {head} is to be shown first; expected 1 to {n_heads}, the query heads there are");
        resolver.complain("view.head", message);
    }
    let n_sinks = spec.sinks.len();
    if n_sinks != 0 && n_sinks != n_heads && !matches!(inputs, Inputs::Weights(..)) {
        let message = format!("there are {n_sinks} sinks but {n_heads} query heads; every head needs one");
        resolver.complain("sinks", message);
    }
}

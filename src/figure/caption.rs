//! What stands above or below a matrix: its name, its shape, and what was done to get there.

use super::numbers::format_short;
use super::sketch::{Sketch, width};
use super::{Anchor, Color, Face, Label, MatrixId, Point, Theme};
use crate::engine::{AttentionSpec, Fault, MaskRule, Scoring, SoftmaxAxis};
use crate::scene::HeadEvaluation;

/// Size of names, in points.
pub const NAME: f32 = 11.5;
/// Size of shapes, operations and legends, in points.
pub const SMALL: f32 = 9.0;
/// Between a name and its shape, in points.
const GAP: f32 = 6.0;

/// Name and shape on one line, what was done on the next.
pub struct Caption {
    name: Label,
    shape: String,
    operation: Option<Label>,
}

impl Caption {
    /// The caption of a matrix with so many rows and columns, written as drawn.
    pub fn new(id: MatrixId, transposed: bool, (rows, cols): (usize, usize), theme: &Theme) -> Self {
        let (down, across) = if transposed { (cols, rows) } else { (rows, cols) };
        let name = Label::markup(&name(id, transposed), Face::Bold, NAME, name_color(id, theme));
        Self { name, shape: format!("{down} × {across}"), operation: None }
    }

    /// The caption of a matrix that is none of the scene's.
    pub fn named(markup: &str, color: Color, (down, across): (usize, usize)) -> Self {
        let name = Label::markup(markup, Face::Bold, NAME, color);
        Self { name, shape: format!("{down} × {across}"), operation: None }
    }

    /// Says of Q and K that rotary positions have turned them.
    pub fn of_head(mut self, id: MatrixId, head: &HeadEvaluation, theme: &Theme) -> Self {
        if head.unrotated.is_some() && matches!(id, MatrixId::Q | MatrixId::K) {
            self.name = self.name.push_colored(" rotated", name_color(id, theme));
        }
        self
    }

    /// Adds the range of the colours behind the shape, for matrices that have neither digits nor a legend.
    pub fn with_range(mut self, largest: f64) -> Self {
        self.shape = format!("{} · ±{}", self.shape, format_short(largest, 4));
        self
    }

    /// Says behind the shape that several entries share a cell.
    pub fn with_blocks(mut self, (down, across): (usize, usize)) -> Self {
        if down.max(across) > 1 {
            self.shape = format!("{}, strongest of {down} × {across}", self.shape);
        }
        self
    }

    /// Adds what was done to get here.
    pub fn with_operation(mut self, markup: &str, theme: &Theme) -> Self {
        self.operation = Some(Label::markup(markup, Face::Regular, SMALL, theme.muted));
        self
    }

    /// The name alone.
    pub fn content(&self) -> String {
        self.name.content()
    }

    /// The wider of both lines.
    pub fn width(&self, sketch: &Sketch) -> f32 {
        let first = self.name.width() + GAP + width(&self.shape, sketch.muted(SMALL));
        first.max(self.operation.as_ref().map_or(0.0, Label::width))
    }

    /// Draws the caption with the baseline of its name at `at`; returns its last baseline.
    pub fn draw(&self, sketch: &mut Sketch, at: Point) -> f32 {
        sketch.extend(self.name.place(at, Anchor::Start));
        let shape_at = Point { x: at.x + self.name.width() + GAP, y: at.y };
        sketch.text(&self.shape, sketch.muted(SMALL), shape_at, Anchor::Start);
        let Some(operation) = &self.operation else { return at.y };
        let below = Point { x: at.x, y: at.y + 14.0 };
        sketch.extend(operation.place(below, Anchor::Start));
        below.y
    }
}

/// The name of a matrix as markup; a transposed Q, K or V carries its ᵀ.
pub fn name(id: MatrixId, transposed: bool) -> String {
    let name = match id {
        MatrixId::X => "X",
        MatrixId::Context => "context",
        MatrixId::WQ => "W_Q",
        MatrixId::WK => "W_K",
        MatrixId::WV => "W_V",
        MatrixId::WO => "W_O",
        MatrixId::Q => "Q",
        MatrixId::K => "K",
        MatrixId::V => "V",
        MatrixId::RawScores => "raw scores",
        MatrixId::ScaledScores => "scaled scores",
        MatrixId::MaskedScores => "masked scores",
        MatrixId::Weights => "weights",
        MatrixId::Output | MatrixId::FinalOutput => "output",
        MatrixId::Concat => "heads side by side",
        MatrixId::UnrotatedQ => "Q",
        MatrixId::UnrotatedK => "K",
        MatrixId::GivenX => "X before positions",
        MatrixId::XPositions | MatrixId::ContextPositions => "P",
        MatrixId::GivenContext => "context before positions",
        MatrixId::AlibiBias => "ALiBi bias",
        MatrixId::Pairs => "pairs",
        MatrixId::Numbers => "numbers",
        MatrixId::DroppedWeights => "weights after dropout",
        MatrixId::OutputBeforeDropout => "output before dropout",
    };
    let is_input =
        matches!(id, MatrixId::Q | MatrixId::K | MatrixId::V | MatrixId::UnrotatedQ | MatrixId::UnrotatedK);
    if transposed && is_input { format!("{name}^T") } else { name.to_owned() }
}

/// The colour that a matrix is named in.
pub fn name_color(id: MatrixId, theme: &Theme) -> Color {
    match id {
        MatrixId::Q | MatrixId::WQ | MatrixId::UnrotatedQ => theme.query,
        MatrixId::K | MatrixId::WK | MatrixId::UnrotatedK => theme.key,
        MatrixId::V
        | MatrixId::WV
        | MatrixId::WO
        | MatrixId::Output
        | MatrixId::OutputBeforeDropout
        | MatrixId::Concat
        | MatrixId::FinalOutput => theme.value,
        MatrixId::Weights | MatrixId::DroppedWeights => theme.weight,
        MatrixId::X
        | MatrixId::Context
        | MatrixId::RawScores
        | MatrixId::ScaledScores
        | MatrixId::MaskedScores
        | MatrixId::GivenX
        | MatrixId::XPositions
        | MatrixId::GivenContext
        | MatrixId::ContextPositions
        | MatrixId::AlibiBias
        | MatrixId::Pairs
        | MatrixId::Numbers => theme.ink,
    }
}

/// What was done to get a stage, as markup. Empty for inputs.
pub fn operation(id: MatrixId, transposed: bool, spec: &AttentionSpec, head: &HeadEvaluation) -> String {
    match id {
        MatrixId::RawScores => scorer(&spec.scoring, transposed).to_owned(),
        MatrixId::ScaledScores => scaling(spec, head.attention.scale),
        MatrixId::MaskedScores => masking(spec, transposed, head),
        MatrixId::AlibiBias => {
            linear_bias(head).map_or_else(String::new, |bias| format!("{bias}, query i, key j"))
        }
        MatrixId::Weights => {
            let sums =
                if (spec.softmax.over == SoftmaxAxis::Keys) == transposed { "columns" } else { "rows" };
            let sees_nothing = head.attention.row_sum.contains(&0.0);
            match spec.sink_of(head.query_head) {
                _ if fault_of(spec) == Some(Fault::MaskAfterSoftmax) => "softmax, then masked".to_owned(),
                _ if fault_of(spec) == Some(Fault::SumInHalfPrecision) => {
                    "softmax, its sum kept in f16".to_owned()
                }
                None if sees_nothing && spec.softmax.over == SoftmaxAxis::Keys => {
                    "softmax over the keys".to_owned()
                }
                Some(sink) => format!("softmax beside a sink of {}", format_short(sink, 4)),
                None => format!("softmax, {sums} sum to 1"),
            }
        }
        MatrixId::DroppedWeights => head.dropped.as_ref().map_or_else(String::new, |dropped| {
            format!(
                "kept ones ÷ {}, seed {}",
                format_short(1.0 - dropped.dropout.rate(), 4),
                dropped.dropout.seed()
            )
        }),
        MatrixId::Output | MatrixId::OutputBeforeDropout if transposed => "V^T W^T".to_owned(),
        MatrixId::Output if head.dropped.is_some() => "(W after dropout) V".to_owned(),
        MatrixId::Output | MatrixId::OutputBeforeDropout => "W V".to_owned(),
        _ => String::new(),
    }
}

fn scorer(scoring: &Scoring, transposed: bool) -> &'static str {
    match scoring {
        Scoring::ScaledDot | Scoring::Dot | Scoring::Scale(_) if transposed => "K Q^T",
        Scoring::ScaledDot | Scoring::Dot | Scoring::Scale(_) => "Q K^T",
        Scoring::Additive { .. } => "v^T tanh(W_q q + W_k k)",
        Scoring::General { .. } if transposed => "K W^T Q^T",
        Scoring::General { .. } => "Q W K^T",
    }
}

/// `+ M`, `+ 0.25 (j − i)`, or both. The layer that ALiBi is for the engine is no part of M.
fn masking(spec: &AttentionSpec, transposed: bool, head: &HeadEvaluation) -> String {
    let has_mask = spec.mask.len() > usize::from(head.alibi.is_some());
    let mask = match fault_of(spec) {
        Some(Fault::MaskAfterSoftmax) if adds_numbers(spec) => "+ biases, not masked yet",
        Some(Fault::MaskAfterSoftmax) => "not masked yet",
        Some(Fault::MaskMultiplied) if adds_numbers(spec) => "+ biases, times 0 or 1",
        Some(Fault::MaskMultiplied) => "times 0 or 1",
        Some(Fault::SoftCapAfterMask) => "+ M, then capped",
        _ if transposed => "+ M^T",
        _ => "+ M",
    };
    match linear_bias(head) {
        Some(bias) if has_mask => format!("{mask} + {bias}"),
        Some(bias) => format!("+ {bias}, no mask"),
        None if has_mask => mask.to_owned(),
        None => "no mask".to_owned(),
    }
}

/// What ALiBi adds to a pair of a query at i and a key at j.
fn linear_bias(head: &HeadEvaluation) -> Option<String> {
    head.alibi.as_ref().map(|alibi| format!("{} (j − i)", format_short(alibi.slope, 6)))
}

/// Whether a layer adds numbers that are written out.
pub fn adds_numbers(spec: &AttentionSpec) -> bool {
    spec.mask.iter().any(|rule| matches!(rule, MaskRule::Additive(_) | MaskRule::AdditivePerHead(_)))
}

/// Whether a layer other than ALiBi hides or adds something.
pub fn has_mask(spec: &AttentionSpec) -> bool {
    spec.mask.iter().any(|rule| !matches!(rule, MaskRule::Alibi(_)))
}

/// A mistake that is no matter of settings.
fn fault_of(spec: &AttentionSpec) -> Option<Fault> {
    spec.fault.map(|in_force| in_force.fault)
}

fn scaling(spec: &AttentionSpec, scale: f64) -> String {
    let scale = match spec.scoring {
        Scoring::ScaledDot if scale > 0.0 => {
            format!("÷ √d_k = {}", format_short(1.0 / scale, 4))
        }
        Scoring::Scale(scale) => format!("× {}", format_short(scale, 4)),
        _ => "not scaled".to_owned(),
    };
    match spec.softcap.filter(|_| fault_of(spec) != Some(Fault::SoftCapAfterMask)) {
        Some(cap) => format!("{scale}, capped at ±{}", format_short(cap, 4)),
        None => scale,
    }
}

//! The formula in force, as TeX.

use super::FigureInput;
use super::caption::{adds_numbers, has_mask};
use super::numbers::format_short;
use crate::engine::{AttentionSpec, Fault, MaskRule, Precision, Scoring, SoftmaxAxis};

/// Attention(Q, K, V) = …, with the settings in force; a mistake that is no matter of settings stands in it as it is made.
pub fn attention_tex(input: &FigureInput<'_>, spec: &AttentionSpec) -> String {
    let fault = spec.fault.map(|in_force| in_force.fault);
    let softmax = softmax_tex(input, spec);
    let weights = format!(r"{softmax}\!\left({}\right)", argument(input, spec, fault));
    let weights = match fault {
        Some(Fault::MaskAfterSoftmax) => format!(r"\left(B\odot {weights}\right)"),
        _ => weights,
    };
    let format = match spec.precision {
        Precision::F64 => String::new(),
        narrow => format!(r"\qquad\text{{in {}}}", narrow.label()),
    };
    format!(r"\mathrm{{Attention}}(Q,K,V)={weights}V{format}")
}

/// What the softmax runs over. B is the mask as ones and zeros, M what it adds.
fn argument(input: &FigureInput<'_>, spec: &AttentionSpec, fault: Option<Fault>) -> String {
    let mask = mask_tex(input, spec);
    // Of a mask that is not added, what its additive layers add still is.
    let biases = format!("{}{}", if adds_numbers(spec) { "+M" } else { "" }, distance_tex(spec));
    match (fault, spec.softcap.map(tex_number)) {
        (Some(Fault::MaskAfterSoftmax), cap) => format!("{}{biases}", capped(input, spec, cap)),
        (Some(Fault::MaskMultiplied), cap) if biases.is_empty() => {
            format!(r"B\odot {}", capped(input, spec, cap))
        }
        (Some(Fault::MaskMultiplied), cap) => {
            format!(r"B\odot\left({}{biases}\right)", capped(input, spec, cap))
        }
        (Some(Fault::SoftCapAfterMask), Some(cap)) => {
            format!(r"{cap}\tanh\!\left(\frac{{{}{mask}}}{{{cap}}}\right)", scaled(input, spec, ""))
        }
        (_, cap) => format!("{}{mask}", capped(input, spec, cap)),
    }
}

fn capped(input: &FigureInput<'_>, spec: &AttentionSpec, cap: Option<String>) -> String {
    match cap {
        Some(cap) => format!(r"{cap}\tanh\!\left({}\right)", scaled(input, spec, &cap)),
        None => scaled(input, spec, ""),
    }
}

/// The scaled scores, over `divisor` too where that is not empty.
fn scaled(input: &FigureInput<'_>, spec: &AttentionSpec, divisor: &str) -> String {
    let (q, k) = if input.is_rotated() { (r"Q_{\mathrm{rot}}", r"K_{\mathrm{rot}}") } else { ("Q", "K") };
    let product = format!(r"{q}{k}^{{\top}}");
    let (scores, root) = match &spec.scoring {
        Scoring::ScaledDot => (product, r"\sqrt{d_k}"),
        Scoring::Dot => (product, ""),
        Scoring::Scale(scale) => (format!(r"{}\,{product}", tex_number(*scale)), ""),
        Scoring::Additive { .. } => (r"v^{\top}\tanh(W_q\,q+W_k\,k)".to_owned(), ""),
        Scoring::General { .. } => (format!(r"{q}W{k}^{{\top}}"), ""),
    };
    let divisor = format!("{divisor}{root}");
    if divisor.is_empty() { scores } else { format!(r"\frac{{{scores}}}{{{divisor}}}") }
}

fn mask_tex(input: &FigureInput<'_>, spec: &AttentionSpec) -> String {
    let mask = if has_mask(spec) { "+M" } else { "" };
    let all = format!("{mask}{}", distance_tex(spec));
    match (input.fault(), &spec.scoring) {
        (Some(Fault::BiasScaledWithScores), Scoring::ScaledDot) if !all.is_empty() => {
            format!(r"+\frac{{{}}}{{\sqrt{{d_k}}}}", all.trim_start_matches('+'))
        }
        (Some(Fault::BiasScaledWithScores), Scoring::Scale(scale)) if !all.is_empty() => {
            format!(r"+{}\left({}\right)", tex_number(*scale), all.trim_start_matches('+'))
        }
        _ => all,
    }
}

fn distance_tex(spec: &AttentionSpec) -> &'static str {
    let is_alibi = |rule: &MaskRule| matches!(rule, MaskRule::Alibi(_));
    if spec.mask.iter().any(is_alibi) { r"+m\,(j-i)" } else { "" }
}

fn softmax_tex(input: &FigureInput<'_>, spec: &AttentionSpec) -> String {
    let below = match spec.softmax.over {
        SoftmaxAxis::Queries => r"_{\mathrm{queries}}",
        SoftmaxAxis::Keys if !spec.sinks.is_empty() => r"_{\mathrm{sink}}",
        SoftmaxAxis::Keys => "",
    };
    let drops = input.heads.iter().any(|head| head.dropped.is_some());
    let dropout = if drops { r"\mathrm{dropout}\;" } else { "" };
    format!(r"{dropout}\mathrm{{softmax}}{below}")
}

fn tex_number(value: f64) -> String {
    format_short(value, 4).replace('−', "-").replace('∞', r"\infty")
}

//! A trace in words and numbers: what the inspector shows and the trace figure draws.

use super::given_trace::given_trace;
use super::mistake_words::{mask_lines, named};
use super::numbers::{format_number, format_short};
use super::shorten::shorten_to_graphemes;
use super::trace_cause::add_cause;
use super::trace_dropout::{dropout, output_after_dropout};
use super::trace_positions::{additions, rotations};
use super::trace_products::{output_sum, product_sum, projections, through_w_o, vector};
use super::{FigureInput, Pin};
use crate::engine::{
    Carry, EmptyRow, Fault, Precision, ScoreTrace, Scoring, SoftmaxAxis, SoftmaxTrace, SumOfProducts, Trace,
    soft_cap, trace, trace_dropout,
};

/// How a line is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// What the section comes to.
    Result,
    /// A step.
    Plain,
    /// An aside.
    Muted,
}

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// The line as it stands.
    pub text: String,
    /// How it is to be read.
    pub kind: LineKind,
}

/// One step of attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSection {
    /// What is computed.
    pub title: String,
    /// How.
    pub lines: Vec<TraceLine>,
    /// Whether it only prepares q, k and v; where there is little room such steps may be folded away.
    pub is_preparation: bool,
}

/// Everything behind one cell, in the order in which it is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceText {
    /// The pair: `sat → cat`.
    pub title: String,
    /// The steps.
    pub sections: Vec<TraceSection>,
}

impl TraceLine {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: LineKind::Plain }
    }

    pub(super) fn result(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: LineKind::Result }
    }

    pub(super) fn muted(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: LineKind::Muted }
    }
}

impl TraceSection {
    pub(super) fn new(title: impl Into<String>, lines: Vec<TraceLine>) -> Self {
        Self { title: title.into(), lines, is_preparation: false }
    }
}

/// How a trace is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writing {
    /// Decimals of every number.
    pub decimals: usize,
    /// How long sums and vectors may be.
    pub terms: Terms,
}

/// How many terms of a sum, or entries of a vector, are written out. What is left out is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Terms {
    /// A few: what a narrow column shows at a glance.
    Few,
    /// All of them, unless there are more than so many; then a few.
    UpTo(usize),
    /// All of them.
    Every,
}

impl Terms {
    /// How many of `n` are written out, where a few are `few`.
    pub(super) fn shown_of(self, n: usize, few: usize) -> usize {
        match self {
            Self::Every => n,
            Self::UpTo(most) if n <= most => n,
            Self::Few | Self::UpTo(_) => n.min(few),
        }
    }
}

/// The trace of a pair in a head. `None` where there is no such pair or head.
pub fn trace_text(input: &FigureInput<'_>, head: usize, pin: Pin, writing: Writing) -> Option<TraceText> {
    let decimals = writing.decimals;
    let head = input.head(head)?;
    if input.gives_weights {
        return given_trace(input, head, pin, writing);
    }
    let pair = (pin.query, pin.key);
    let traced = |carry| trace(&head.input, input.spec, head.query_head, pair, carry);
    // Mistakes that are nothing but other settings are spelt out as those settings.
    let in_force = input.in_force(head.query_head);
    let as_computed = FigureInput { spec: &in_force, ..*input };
    // What is on the board, and beside its output what paper or the widest format give.
    let (shown, beside) = match in_force.precision {
        Precision::F64 => (traced(Carry::Exact)?, traced(Carry::Decimals(decimals))?),
        narrow => (traced(Carry::Stored(narrow))?, traced(Carry::Exact)?),
    };
    let mut sections: Vec<TraceSection> = named(input, head).into_iter().collect();
    sections.extend(additions(input, pin, writing));
    sections.extend(projections(input, head, pin, writing));
    sections.extend(rotations(input, head, pin, writing));
    sections.push(raw_score(&shown, writing));
    sections.push(scaled(&as_computed, &shown, writing));
    let title = if head.alibi.is_some() { "Mask and bias" } else { "Mask" };
    let mask = mask_lines(input, &as_computed, head.query_head, &shown, decimals);
    sections.push(TraceSection::new(title, mask));
    let mut softmax = softmax(&shown.softmax, (pin.query, pin.key), shown.carry, writing);
    softmax.lines.extend(after_softmax(input, &shown));
    let mut output = output(&shown, &beside, writing);
    add_cause(input, head, pin.query, &mut softmax, &mut output);
    sections.push(softmax);
    if let Some(dropped) = &head.dropped {
        let carry = shown.carry;
        let (input, spec) = (&head.input, input.spec);
        let traced = trace_dropout(dropped.dropout, input, spec, head.query_head, pair, carry)?;
        output.title = "Output row before dropout".to_owned();
        sections.extend([output, dropout(&traced, writing), output_after_dropout(&traced, writing)]);
    } else {
        sections.push(output);
    }
    sections.extend(through_w_o(input, pin, writing));
    Some(TraceText { title: title_of(input, pin), sections })
}

/// `sat → cat`.
pub(super) fn title_of(input: &FigureInput<'_>, pin: Pin) -> String {
    format!("{} → {}", label_of(input.query_labels, pin.query), label_of(input.key_labels, pin.key))
}

/// A label, or the number of the position where there is none.
pub(super) fn label_of(labels: &[String], index: usize) -> String {
    labels.get(index).map_or_else(|| (index + 1).to_string(), |label| shorten_to_graphemes(label, 32))
}

fn raw_score(trace: &Trace, writing: Writing) -> TraceSection {
    let mut section = scorer(trace, writing);
    if let Carry::Stored(precision) = trace.carry {
        let stored = format_short(trace.carry.store(trace.score.total()), writing.decimals);
        let name = precision.label();
        let sums = if precision == Precision::F32 { "" } else { ", products and sums kept in f32" };
        section.lines.push(TraceLine::muted(format!("stored in {name}: {stored}{sums}")));
    }
    section
}

fn scorer(trace: &Trace, writing: Writing) -> TraceSection {
    let short = |value| format_short(value, writing.decimals);
    match &trace.score {
        ScoreTrace::Dot(product) => {
            let sum = product_sum(product, writing);
            TraceSection::new("Raw score q · k", vec![TraceLine::plain(format!("s = {sum}"))])
        }
        ScoreTrace::Additive { units, total } => {
            let n_shown = writing.terms.shown_of(units.len(), 4);
            let shown = units.iter().take(n_shown).enumerate().flat_map(|(i, unit)| {
                let unit_line = TraceLine::plain(format!(
                    "unit {}: {} · tanh({} + {}) = {}",
                    i + 1,
                    short(unit.v),
                    short(unit.from_query.total),
                    factor(unit.from_key.total, writing.decimals),
                    short(unit.product)
                ));
                let operands = (writing.terms != Terms::Few).then(|| {
                    let (of_query, of_key) =
                        (product_sum(&unit.from_query, writing), product_sum(&unit.from_key, writing));
                    TraceLine::muted(format!("W_q q: {of_query}; W_k k: {of_key}"))
                });
                operands.into_iter().chain([unit_line])
            });
            let mut lines: Vec<TraceLine> = shown.collect();
            if units.len() > n_shown {
                lines.push(TraceLine::muted(format!("… and {} more units", units.len() - n_shown)));
            }
            lines.push(TraceLine::result(format!("s = {}", short(*total))));
            TraceSection::new("Raw score v · tanh(W_q q + W_k k)", lines)
        }
        ScoreTrace::General { transformed, product } => {
            let n_shown = writing.terms.shown_of(transformed.len(), 4);
            let entry = |(i, entry): (usize, &SumOfProducts)| {
                let stored = format_short(trace.carry.store(entry.total), writing.decimals);
                let sum = product_sum(entry, writing);
                let stored = match trace.carry {
                    Carry::Stored(precision) => format!(", stored in {}: {stored}", precision.label()),
                    Carry::Exact | Carry::Decimals(_) => String::new(),
                };
                TraceLine::plain(format!("(q W)[{}] = {sum}{stored}", i + 1))
            };
            let mut lines: Vec<TraceLine> = transformed.iter().enumerate().take(n_shown).map(entry).collect();
            if transformed.len() > n_shown {
                let more = transformed.len() - n_shown;
                lines.push(TraceLine::muted(format!("… and {more} more entries of q W")));
            }
            lines.push(TraceLine::plain(format!("s = {}", product_sum(product, writing))));
            TraceSection::new("Raw score (q W) · k", lines)
        }
    }
}

fn scaled(input: &FigureInput<'_>, trace: &Trace, writing: Writing) -> TraceSection {
    let raw = format_short(trace.score.total(), writing.decimals);
    // A narrow format stores the scaled score, made of the unrounded product; with a soft cap, the capped one.
    let exact = trace.carry.carry(trace.score.total() * trace.scale);
    let result = match trace.carry {
        Carry::Stored(precision) if exact != trace.scaled => format!(
            "{}, stored in {}: {}",
            format_number(exact, writing.decimals),
            precision.label(),
            format_number(trace.scaled, writing.decimals)
        ),
        _ => format_number(trace.scaled, writing.decimals),
    };
    let width = input.heads.first().map_or(0, |head| head.input.k.cols());
    let line = match input.spec.scoring {
        Scoring::ScaledDot => TraceLine::plain(format!("{raw} / √{width} = {result}")),
        Scoring::Scale(scale) => {
            let scale = factor(scale, writing.decimals);
            TraceLine::plain(format!("{raw} · {scale} = {result}"))
        }
        _ => TraceLine::muted(format!("not scaled: {result}")),
    };
    let mut lines = vec![line];
    if let Some(cap) = trace.soft_cap.filter(|_| input.fault() != Some(Fault::SoftCapAfterMask)) {
        let c = format_short(cap.cap, writing.decimals);
        let before = format_number(cap.before, writing.decimals);
        let after = with_stored(soft_cap(cap.before, cap.cap), trace.carry, writing.decimals);
        lines.push(TraceLine::plain(format!("soft cap: {c} · tanh({before} / {c}) = {after}")));
    }
    TraceSection::new("Scaled score", lines)
}

fn softmax(
    trace: &SoftmaxTrace,
    (query, key): (usize, usize),
    carry: Carry,
    writing: Writing,
) -> TraceSection {
    let number = |value| format_number(value, writing.decimals);
    let (title, own, whole) = match trace.over {
        SoftmaxAxis::Keys => ("Softmax over keys", key, "row"),
        SoftmaxAxis::Queries => ("Softmax over queries", query, "column"),
    };
    if let Some(policy) = trace.empty {
        let words = match policy {
            _ if trace.sink.is_some() => "nothing is visible: the sink takes everything",
            EmptyRow::Zero => "nothing is visible; policy Zero: every weight is 0",
            EmptyRow::NotANumber => "nothing is visible; policy NotANumber: 0 / 0 is not a number",
            EmptyRow::Uniform => "nothing is visible; policy Uniform: all weights are equal",
        };
        let weight = format!("weight {}", number(trace.weight));
        return TraceSection::new(title, vec![TraceLine::plain(words), TraceLine::result(weight)]);
    }
    let Some(term) = trace.terms.get(own) else { return TraceSection::new(title, Vec::new()) };
    // A blocked weight is exactly 0, which 0.0000 would not say.
    let is_blocked = term.blocked_by.is_some();
    let own_number = |value| if is_blocked { "0".to_owned() } else { number(value) };
    let exp = own_number(term.exp);
    let exponent = if term.blocked_by.is_some() {
        "−∞".to_owned()
    } else if trace.subtracted == 0.0 {
        number(term.masked)
    } else {
        difference(term.masked, trace.subtracted, writing.decimals)
    };
    let exps = trace.terms.iter().filter(|term| term.blocked_by.is_none()).map(|term| number(term.exp));
    let mut sum = elided(writing, exps.collect(), " + ");
    if trace.sink.is_some() {
        sum = format!("{sum} + {}", number(trace.sink_exp));
    }
    let mut lines = vec![
        TraceLine::plain(format!("exp({exponent}) = {exp}")),
        TraceLine::muted(format!("{whole} max {}", number(trace.max))),
        TraceLine::plain(format!("Σexp = {sum} = {}", number(trace.sum))),
    ];
    lines.extend(trace.sink.map(|sink| {
        let share = number(trace.sink_exp / trace.sum);
        let exponent = match trace.subtracted {
            0.0 => number(sink),
            subtracted => difference(sink, subtracted, writing.decimals),
        };
        TraceLine::muted(format!("the last term is the sink, exp({exponent}): it takes {share}"))
    }));
    let weight = if is_blocked { 0.0 } else { term.exp / trace.sum };
    let weight = if is_blocked { own_number(weight) } else { with_stored(weight, carry, writing.decimals) };
    lines.push(TraceLine::result(format!("{exp} / {} = {weight}", number(trace.sum))));
    TraceSection::new(title, lines)
}

/// What a mistake does to the weight after the softmax, or to the sum within it.
fn after_softmax(input: &FigureInput<'_>, trace: &Trace) -> Option<TraceLine> {
    match input.fault()? {
        Fault::MaskAfterSoftmax if trace.mask.let_through().is_some() => {
            Some(TraceLine::result("set to 0 after the softmax; what is left of the row no longer sums to 1"))
        }
        Fault::SumInHalfPrecision => {
            Some(TraceLine::muted("by mistake the running sum is rounded to f16 after each term"))
        }
        _ => None,
    }
}

fn output(shown: &Trace, beside: &Trace, writing: Writing) -> TraceSection {
    let mut lines = vec![TraceLine::plain(output_sum(&shown.output, writing))];
    let stored = match shown.carry {
        Carry::Stored(precision) => format!(", as stored in {}", precision.label()),
        Carry::Exact | Carry::Decimals(_) => String::new(),
    };
    lines.push(TraceLine::result(format!(
        "= {}{stored}",
        vector(writing, &shown.output.row(), |v| format_number(v, writing.decimals))
    )));
    let other = vector(writing, &beside.output.row(), |v| format_number(v, writing.decimals));
    lines.push(TraceLine::muted(match shown.carry {
        Carry::Stored(_) => format!("the same inputs in f64: {other}"),
        Carry::Exact | Carry::Decimals(_) => {
            format!("rounded to {} places at each step: {other}", writing.decimals)
        }
    }));
    TraceSection::new("Output row", lines)
}

/// A number as it is computed, and as a narrow format stores it where that shows.
pub(super) fn with_stored(exact: f64, carry: Carry, decimals: usize) -> String {
    let text = format_number(exact, decimals);
    let Carry::Stored(precision) = carry else { return text };
    let stored = format_number(carry.store(carry.carry(exact)), decimals);
    if stored == text { text } else { format!("{text}, stored in {}: {stored}", precision.label()) }
}

/// `a − b`, or `a + |b|` where b is negative.
fn difference(a: f64, b: f64, decimals: usize) -> String {
    let sign = if b < 0.0 { "+" } else { "−" };
    format!("{} {sign} {}", format_number(a, decimals), format_number(b.abs(), decimals))
}

/// A factor or summand: in parentheses where it carries a sign of its own.
pub(super) fn factor(value: f64, decimals: usize) -> String {
    let text = format_short(value, decimals);
    if text.starts_with('−') { format!("({text})") } else { text }
}

/// Longer sums than this are shortened in their middle.
const MOST_TERMS: usize = 6;

/// The terms joined; in longer sums the first three and the last, with the number of those left out.
pub(super) fn elided(writing: Writing, terms: Vec<String>, joint: &str) -> String {
    if writing.terms.shown_of(terms.len(), MOST_TERMS) == terms.len() {
        return if terms.is_empty() { "0".to_owned() } else { terms.join(joint) };
    }
    let left_out = terms.len() - 4;
    let first = terms[..3].join(joint);
    format!("{first}{joint}… {left_out} more …{joint}{}", terms[terms.len() - 1])
}

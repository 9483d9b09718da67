//! A spec as the tree of what has to be written: defaults left out, numbers in their shortest exact form.
//!
//! Two specs are the same scene exactly when these trees are equal (so NaN equals NaN here).

use super::decode::{fault_name, layout_name, palette_name, precision_name, stage_name};
use super::model::{
    DropoutSpec, Input, MatrixSource, Orientation, Position, Projected, SceneSpec, ScoringSpec, Tokens, View,
};
use crate::engine::{
    Convention, Corner, EmptyRow, MaskRule, Matrix, Precision, SoftmaxAxis, SoftmaxForm, SoftmaxSpec,
};

/// A value to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Out {
    /// A number, a bare name, `true`, `false`.
    Word(String),
    /// A text, unescaped.
    Text(String),
    List(Vec<Self>),
    /// `Name(field: value, ..)`; the name may be empty.
    Group(&'static str, Fields),
    /// `Name(value)`.
    Call(&'static str, Box<Self>),
}

/// Fields in the order in which they are written.
pub(super) type Fields = Vec<(&'static str, Out)>;

/// Every field that can be left out, and those around it, in the order in which they are written.
pub(super) const ORDER: [&str; 50] = [
    "title",
    "topic",
    "notes",
    "tokens",
    "queries",
    "keys",
    "input",
    "file",
    "name",
    "x",
    "context",
    "heads",
    "kv_heads",
    "w_q",
    "w_k",
    "w_v",
    "b_q",
    "b_k",
    "b_v",
    "w_o",
    "b_o",
    "scoring",
    "softcap",
    "mask",
    "rows",
    "cols",
    "seed",
    "skip",
    "factor",
    "left",
    "right",
    "position",
    "base",
    "layout",
    "position_offset",
    "softmax",
    "over",
    "form",
    "empty_rows",
    "sinks",
    "dropout",
    "rate",
    "precision",
    "fault",
    "view",
    "decimals",
    "palette",
    "orientation",
    "stages",
    "head",
];

pub(super) fn scene(spec: &SceneSpec) -> Out {
    let SceneSpec {
        title,
        topic,
        notes,
        tokens,
        input: source,
        scoring: scorer,
        softcap,
        mask: layers,
        position: place,
        position_offset,
        softmax: softmax_spec,
        sinks,
        dropout,
        precision,
        fault,
        view: view_spec,
    } = spec;
    let mut fields = Vec::new();
    for (name, value) in [("title", title), ("topic", topic), ("notes", notes)] {
        unless(value.is_empty(), name, || Out::Text(value.clone()), &mut fields);
    }
    match tokens {
        Tokens::Numbers => {}
        Tokens::Shared(tokens) => fields.push(("tokens", texts(tokens))),
        Tokens::Sides { queries, keys } => {
            let mut sides = Vec::new();
            unless(queries.is_empty(), "queries", || texts(queries), &mut sides);
            unless(keys.is_empty(), "keys", || texts(keys), &mut sides);
            fields.push(("tokens", Out::Group("", sides)));
        }
    }
    fields.push(("input", input(source)));
    unless(*scorer == ScoringSpec::default(), "scoring", || scoring(scorer), &mut fields);
    fields.extend(softcap.map(|softcap| ("softcap", number(softcap))));
    unless(layers.is_empty(), "mask", || list(layers, mask), &mut fields);
    fields.extend(position(place).map(|place| ("position", place)));
    unless(*position_offset == 0, "position_offset", || word(position_offset), &mut fields);
    unless(*softmax_spec == SoftmaxSpec::default(), "softmax", || softmax(softmax_spec), &mut fields);
    unless(sinks.is_empty(), "sinks", || numbers(sinks), &mut fields);
    fields.extend(dropout.map(|DropoutSpec { rate, seed }| {
        ("dropout", Out::Group("", vec![("rate", number(rate)), ("seed", word(seed))]))
    }));
    let format = || word(precision_name(*precision));
    unless(*precision == Precision::F64, "precision", format, &mut fields);
    fields.extend(fault.map(|fault| ("fault", word(fault_name(fault)))));
    unless(*view_spec == View::default(), "view", || view(view_spec), &mut fields);
    Out::Group("Scene", fields)
}

fn unless(default: bool, name: &'static str, value: impl FnOnce() -> Out, fields: &mut Fields) {
    if !default {
        fields.push((name, value()));
    }
}

fn input(input: &Input) -> Out {
    match input {
        Input::Heads { q, k, v } => {
            Out::Group("Heads", vec![("q", list(q, source)), ("k", list(k, source)), ("v", list(v, source))])
        }
        Input::Tensors { file, q, k, v } => {
            let names = [("file", file), ("q", q), ("k", k), ("v", v)];
            Out::Group("Tensors", names.map(|(name, text)| (name, Out::Text(text.clone()))).to_vec())
        }
        Input::Weights { file, name } => {
            let mut fields = vec![("file", Out::Text(file.clone()))];
            fields.extend(name.iter().map(|name| ("name", Out::Text(name.clone()))));
            Out::Group("Weights", fields)
        }
        Input::Projected(projected) => {
            let Projected { x, context, heads, kv_heads, w_q, w_k, w_v, b_q, b_k, b_v, w_o, b_o } =
                &**projected;
            let mut fields = vec![("x", source(x))];
            fields.extend(context.iter().map(|context| ("context", source(context))));
            fields.extend([("heads", word(heads)), ("kv_heads", word(kv_heads))]);
            fields.extend([("w_q", source(w_q)), ("w_k", source(w_k)), ("w_v", source(w_v))]);
            let bias = |name, b: &Option<Vec<f64>>| b.as_ref().map(|b| (name, numbers(b)));
            fields.extend([bias("b_q", b_q), bias("b_k", b_k), bias("b_v", b_v)].into_iter().flatten());
            fields.extend(w_o.iter().map(|w_o| ("w_o", source(w_o))));
            fields.extend(bias("b_o", b_o));
            Out::Group("Projected", fields)
        }
    }
}

fn source(source: &MatrixSource) -> Out {
    match source {
        MatrixSource::Rows(rows) => matrix(rows),
        MatrixSource::Identity { n } => Out::Group("Identity", vec![("n", word(n))]),
        MatrixSource::File { path } => Out::Group("File", vec![("path", Out::Text(path.clone()))]),
        MatrixSource::Randn { rows, cols, seed, skip, factor } => {
            let mut fields = vec![("rows", word(rows)), ("cols", word(cols)), ("seed", word(seed))];
            unless(*skip == 0, "skip", || word(skip), &mut fields);
            unless(*factor == 1.0, "factor", || number(*factor), &mut fields);
            Out::Group("Randn", fields)
        }
    }
}

fn scoring(scoring: &ScoringSpec) -> Out {
    match scoring {
        ScoringSpec::ScaledDot => word("ScaledDot"),
        ScoringSpec::Dot => word("Dot"),
        ScoringSpec::Scale(scale) => call("Scale", number(*scale)),
        ScoringSpec::General { w } => Out::Group("General", vec![("w", source(w))]),
        ScoringSpec::Additive { w_q, w_k, v } => {
            let v = match v {
                MatrixSource::Rows(row) if row.rows() == 1 => numbers(row.data()),
                other => source(other),
            };
            Out::Group("Additive", vec![("w_q", source(w_q)), ("w_k", source(w_k)), ("v", v)])
        }
    }
}

fn mask(rule: &MaskRule) -> Out {
    let rows = |rows: &Vec<Vec<bool>>| list(rows, |row| words(row));
    let convention = |convention: &Convention| {
        let name = match convention {
            Convention::TrueAllows => "TrueAllows",
            Convention::TrueBlocks => "TrueBlocks",
        };
        ("convention", word(name))
    };
    match rule {
        MaskRule::Causal(Corner::TopLeft) => call("Causal", word("TopLeft")),
        MaskRule::Causal(Corner::BottomRight) => call("Causal", word("BottomRight")),
        MaskRule::ValidKeys(n) => call("ValidKeys", word(n)),
        MaskRule::PaddedKeys(padding) => call("PaddedKeys", words(padding)),
        MaskRule::Window { left, right } => {
            let mut fields = Vec::new();
            fields.extend(left.map(|left| ("left", word(left))));
            fields.extend(right.map(|right| ("right", word(right))));
            Out::Group("Window", fields)
        }
        MaskRule::Documents(documents) => call("Documents", words(documents)),
        MaskRule::Prefix(n) => call("Prefix", word(n)),
        MaskRule::Global(positions) => call("Global", words(positions)),
        MaskRule::Strided(stride) => call("Strided", word(stride)),
        MaskRule::Matrix { convention: c, rows: r } => {
            Out::Group("Matrix", vec![convention(c), ("rows", rows(r))])
        }
        MaskRule::Additive(bias) => call("Additive", matrix(bias)),
        MaskRule::Alibi(slopes) => call("Alibi", numbers(slopes)),
        MaskRule::MatrixPerHead { convention: c, heads } => {
            Out::Group("MatrixPerHead", vec![convention(c), ("heads", list(heads, rows))])
        }
        MaskRule::AdditivePerHead(heads) => call("AdditivePerHead", list(heads, matrix)),
    }
}

/// Both fields of `Rope` are always written: neither is agreed upon among models.
fn position(position: &Position) -> Option<Out> {
    match position {
        Position::None => None,
        Position::Alibi => Some(word("Alibi")),
        Position::Sinusoidal => Some(word("Sinusoidal")),
        Position::Rope { base, layout } => {
            let fields = vec![("base", number(*base)), ("layout", word(layout_name(*layout)))];
            Some(Out::Group("Rope", fields))
        }
    }
}

fn softmax(softmax: &SoftmaxSpec) -> Out {
    let SoftmaxSpec { over, form, empty_rows } = *softmax;
    let mut fields = Vec::new();
    unless(over == SoftmaxAxis::Keys, "over", || word("Queries"), &mut fields);
    unless(form == SoftmaxForm::Stable, "form", || word("Naive"), &mut fields);
    match empty_rows {
        EmptyRow::Zero => {}
        EmptyRow::NotANumber => fields.push(("empty_rows", word("NotANumber"))),
        EmptyRow::Uniform => fields.push(("empty_rows", word("Uniform"))),
    }
    Out::Group("", fields)
}

fn view(view: &View) -> Out {
    let default = View::default();
    let View { decimals, palette, orientation, stages, head } = view;
    let mut fields = Vec::new();
    unless(*decimals == default.decimals, "decimals", || word(decimals), &mut fields);
    unless(*palette == default.palette, "palette", || word(palette_name(*palette)), &mut fields);
    unless(
        *orientation == Orientation::QueriesAsRows,
        "orientation",
        || word("QueriesAsColumns"),
        &mut fields,
    );
    let names = || list(stages, |stage| word(stage_name(*stage)));
    unless(*stages == default.stages, "stages", names, &mut fields);
    unless(*head == default.head, "head", || word(head), &mut fields);
    Out::Group("", fields)
}

fn call(name: &'static str, value: Out) -> Out {
    Out::Call(name, Box::new(value))
}

fn word(value: impl ToString) -> Out {
    Out::Word(value.to_string())
}

fn list<T>(items: &[T], item: impl Fn(&T) -> Out) -> Out {
    Out::List(items.iter().map(item).collect())
}

fn words<T: ToString>(items: &[T]) -> Out {
    list(items, |item| word(item.to_string()))
}

fn texts(texts: &[String]) -> Out {
    list(texts, |text| Out::Text(text.clone()))
}

fn numbers(numbers: &[f64]) -> Out {
    list(numbers, |value| number(*value))
}

fn matrix(matrix: &Matrix) -> Out {
    Out::List(matrix.iter_rows().map(numbers).collect())
}

/// The shortest digits that read back as exactly this number; whole numbers without a point.
fn number(value: f64) -> Out {
    let mut digits = format!("{value:?}"); // `inf`, `-inf`, `NaN` are spelt as RON spells them
    if digits.ends_with(".0") && value != 0.0 {
        digits.truncate(digits.len() - 2);
    }
    Out::Word(if digits == "0.0" { "0".to_owned() } else { digits })
}

//! What `qkv compute --format json` prints, number after number: nothing of the size of a stage is made for it.

use std::io::Write;

use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};

use crate::engine::Matrix;
use crate::scene::{AlibiBias, Evaluation, HeadEvaluation, OutputScene, Outputs, Scene, Unrotated};

use super::Failure;

/// Writes `value` with indentation and a last line end.
pub fn write(value: &impl Serialize, out: &mut dyn Write) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(writeln!(out)?)
}

/// The whole evaluation. The shape of this is a contract: it only grows. Where the weights were computed elsewhere, they are there,
/// and what nobody knows is left out.
#[derive(Serialize)]
pub struct Whole<'a> {
    heads: Vec<Head<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Rows<'a>>,
    warnings: &'a [String],
    precision: &'static str,
}

impl<'a> Whole<'a> {
    /// Of a scene and what it comes to.
    pub fn of(scene: &'a Scene, evaluation: &'a Evaluation) -> Self {
        Self {
            heads: evaluation.heads.iter().map(|head| Head::of(head, scene.gives_weights())).collect(),
            output: (!scene.gives_weights()).then(|| Rows(&evaluation.output)),
            warnings: &evaluation.warnings,
            precision: scene.attention_spec().precision.label(),
        }
    }
}

#[derive(Serialize)]
struct Head<'a> {
    query_head: usize,
    #[serde(flatten)]
    before: Option<BeforeWeights<'a>>,
    weights: Rows<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Rows<'a>>,
    #[serde(flatten)]
    turned: Option<Turned<'a>>,
    #[serde(flatten)]
    alibi: Option<Alibi<'a>>,
    #[serde(flatten)]
    dropped: Option<AroundDropout<'a>>,
}

/// What weights are made of; nobody knows it where they were computed elsewhere.
#[derive(Serialize)]
struct BeforeWeights<'a> {
    kv_head: usize,
    raw_scores: Rows<'a>,
    scaled_scores: Rows<'a>,
    masked_scores: Rows<'a>,
}

/// Q and K before and after rotary positions.
#[derive(Serialize)]
struct Turned<'a> {
    q: Rows<'a>,
    k: Rows<'a>,
    q_rotated: Rows<'a>,
    k_rotated: Rows<'a>,
}

/// What dropout leaves of the weights, and the output without it; `weights` are those before, `output` is the one after.
#[derive(Serialize)]
struct AroundDropout<'a> {
    weights_after_dropout: Rows<'a>,
    output_before_dropout: Rows<'a>,
}

/// What ALiBi adds.
#[derive(Serialize)]
struct Alibi<'a> {
    alibi_slope: Number,
    alibi_bias: Rows<'a>,
}

impl<'a> Head<'a> {
    fn of(head: &'a HeadEvaluation, gives_weights: bool) -> Self {
        let HeadEvaluation { query_head, kv_head, input, unrotated, alibi, attention, dropped } = head;
        let turned = |Unrotated { q, k }: &'a Unrotated| Turned {
            q: Rows(q),
            k: Rows(k),
            q_rotated: Rows(&input.q),
            k_rotated: Rows(&input.k),
        };
        let biased = |AlibiBias { slope, bias }: &'a AlibiBias| Alibi {
            alibi_slope: Number(*slope),
            alibi_bias: Rows(bias),
        };
        Self {
            query_head: *query_head,
            before: (!gives_weights).then_some(BeforeWeights {
                kv_head: *kv_head,
                raw_scores: Rows(&attention.raw_scores),
                scaled_scores: Rows(&attention.scaled_scores),
                masked_scores: Rows(&attention.masked_scores),
            }),
            weights: Rows(&attention.weights),
            output: (!gives_weights).then(|| Rows(head.output())),
            turned: unrotated.as_ref().map(turned),
            alibi: alibi.as_ref().map(biased),
            dropped: dropped.as_ref().map(|dropped| AroundDropout {
                weights_after_dropout: Rows(&dropped.weights),
                output_before_dropout: Rows(&attention.output),
            }),
        }
    }
}

/// The outputs alone, under the same names.
#[derive(Serialize)]
pub struct OutputOnly<'a> {
    heads: Vec<HeadOutput<'a>>,
    output: Rows<'a>,
    warnings: Vec<&'a str>,
    precision: &'static str,
}

#[derive(Serialize)]
struct HeadOutput<'a> {
    query_head: usize,
    kv_head: usize,
    output: Rows<'a>,
}

impl<'a> OutputOnly<'a> {
    /// Of a scene and its outputs.
    pub fn of(scene: &'a OutputScene, outputs: &'a Outputs) -> Self {
        let head = |(query_head, output): (usize, &'a Matrix)| HeadOutput {
            query_head,
            kv_head: scene.kv_head_of(query_head),
            output: Rows(output),
        };
        Self {
            heads: outputs.heads.iter().enumerate().map(head).collect(),
            output: Rows(&outputs.output),
            warnings: scene.warnings().iter().map(|warning| warning.message.as_str()).collect(),
            precision: scene.precision().label(),
        }
    }
}

/// A matrix as a list of rows.
struct Rows<'a>(&'a Matrix);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.rows()))?;
        for row in self.0.iter_rows() {
            rows.serialize_element(&Row(row))?;
        }
        rows.end()
    }
}

struct Row<'a>(&'a [f64]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|number| Number(*number)))
    }
}

/// JSON has no NaN and no infinities; they are strings.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            number if number.is_nan() => serializer.serialize_str("nan"),
            f64::INFINITY => serializer.serialize_str("inf"),
            f64::NEG_INFINITY => serializer.serialize_str("-inf"),
            number => serializer.serialize_f64(number),
        }
    }
}

//! `qkv compute`: every stage of every head as JSON, CSV or text.

use std::io::Write;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::engine::Matrix;
use crate::export::{MatrixTable, csv};
use crate::figure::{MatrixId, labels_of};
use crate::scene::{Evaluation, HeadEvaluation, Scene, Stage, evaluate};

use super::{Failure, load};

/// Arguments of `qkv compute`.
#[derive(clap::Args)]
pub struct Args {
    /// A scene file or the name of a bundled scene.
    scene: String,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Only this query head, from 1 (text and CSV).
    #[arg(long, value_name = "N")]
    head: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Every number with all its digits; NaN and infinities as strings.
    Json,
    /// One table per stage, with labels, every number with all its digits.
    Csv,
    /// Aligned columns with the scene's own decimals.
    Text,
}

/// Prints the evaluation.
pub fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write) -> Result<(), Failure> {
    let scene = load::scene(&args.scene)?;
    let evaluation = evaluate(&scene);
    if args.format == Format::Json {
        serde_json::to_writer_pretty(&mut *out, &as_json(&scene, &evaluation))
            .map_err(|error| Failure::Input(error.to_string()))?;
        return Ok(writeln!(out)?);
    }
    for warning in &evaluation.warnings {
        writeln!(err, "{}: warning: {warning}", args.scene)?;
    }
    tables(&scene, &evaluation, args, out)
}

/// The whole evaluation. The shape of this is a contract: it only grows. Where the weights were computed elsewhere, they are
/// there, and what nobody knows (the KV head, the other stages, the output) is left out.
fn as_json(scene: &Scene, evaluation: &Evaluation) -> Value {
    let heads: Vec<Value> = evaluation
        .heads
        .iter()
        .map(|head| {
            let attention = &head.attention;
            if scene.gives_weights() {
                return json!({
                    "query_head": head.query_head,
                    "weights": rows(&attention.weights),
                });
            }
            let mut value = json!({
                "query_head": head.query_head,
                "kv_head": head.kv_head,
                "raw_scores": rows(&attention.raw_scores),
                "scaled_scores": rows(&attention.scaled_scores),
                "masked_scores": rows(&attention.masked_scores),
                "weights": rows(&attention.weights),
                "output": rows(&attention.output),
            });
            add_positions(&mut value, head);
            value
        })
        .collect();
    let mut value = json!({
        "heads": heads,
        "warnings": evaluation.warnings,
        "precision": scene.attention_spec().precision.label(),
    });
    if !scene.gives_weights() {
        value["output"] = rows(&evaluation.output);
    }
    value
}

/// What positions did to a head, where they did something.
fn add_positions(value: &mut Value, head: &HeadEvaluation) {
    if let Some(unrotated) = &head.unrotated {
        value["q"] = rows(&unrotated.q);
        value["k"] = rows(&unrotated.k);
        value["q_rotated"] = rows(&head.input.q);
        value["k_rotated"] = rows(&head.input.k);
    }
    if let Some(alibi) = &head.alibi {
        value["alibi_slope"] = number(alibi.slope);
        value["alibi_bias"] = rows(&alibi.bias);
    }
}

fn rows(matrix: &Matrix) -> Value {
    matrix.iter_rows().map(|row| row.iter().map(|value| number(*value)).collect::<Value>()).collect()
}

/// JSON has no NaN and no infinities; they are strings.
fn number(value: f64) -> Value {
    if value.is_nan() {
        json!("nan")
    } else if value == f64::INFINITY {
        json!("inf")
    } else if value == f64::NEG_INFINITY {
        json!("-inf")
    } else {
        json!(value)
    }
}

fn tables(scene: &Scene, evaluation: &Evaluation, args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(head) = args.head.filter(|head| *head == 0 || *head > evaluation.heads.len()) {
        return Err(Failure::Input(format!(
            "there is no head {head}; this scene has heads 1 to {}",
            evaluation.heads.len()
        )));
    }
    for head in &evaluation.heads {
        if args.head.is_some_and(|wanted| wanted != head.query_head + 1) {
            continue;
        }
        for stage in Stage::ALL {
            if scene.gives_weights() && stage != Stage::Weights {
                continue;
            }
            let matrix = stage.of(&head.attention);
            let title = match scene.gives_weights() {
                true => format!("head {}, {}, computed elsewhere", head.query_head + 1, stage.label()),
                false => {
                    format!("head {} (KV head {}), {}", head.query_head + 1, head.kv_head + 1, stage.label())
                }
            };
            print(scene, &title, stage.into(), matrix, args.format, out)?;
        }
    }
    if (evaluation.heads.len() > 1 || has_w_o(scene)) && !scene.gives_weights() {
        let title = if has_w_o(scene) {
            "output, heads side by side times W_O"
        } else {
            "output, heads side by side"
        };
        print(scene, title, MatrixId::FinalOutput, &evaluation.output, args.format, out)?;
    }
    Ok(())
}

fn print(
    scene: &Scene,
    title: &str,
    id: MatrixId,
    matrix: &Matrix,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let labels = labels_of(scene, id, matrix);
    match format {
        Format::Csv => {
            writeln!(out, "# {title}")?;
            let table =
                MatrixTable { matrix, row_labels: &labels.rows, col_labels: &labels.cols, decimals: None };
            write!(out, "{}", csv(&table, true))?;
            writeln!(out)?;
        }
        Format::Json | Format::Text => {
            writeln!(out, "{title}, {} × {}", matrix.rows(), matrix.cols())?;
            aligned(matrix, &labels.rows, &labels.cols, scene.spec().view.decimals, out)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

fn aligned(
    matrix: &Matrix,
    rows: &[String],
    cols: &[String],
    decimals: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let cells: Vec<Vec<String>> = matrix
        .iter_rows()
        .map(|row| row.iter().map(|value| crate::figure::format_number(*value, decimals)).collect())
        .collect();
    let width = |text: &String| text.chars().count();
    let label_width = rows.iter().map(width).max().unwrap_or(0);
    let widest = cells.iter().flatten().chain(cols).map(width).max().unwrap_or(0);
    write!(out, "  {:label_width$}", "")?;
    for col in cols {
        write!(out, "  {col:>widest$}")?;
    }
    writeln!(out)?;
    for (label, row) in rows.iter().zip(&cells) {
        write!(out, "  {label:label_width$}")?;
        for cell in row {
            write!(out, "  {cell:>widest$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn has_w_o(scene: &Scene) -> bool {
    scene.projection().is_some_and(|projection| projection.w_o.is_some())
}

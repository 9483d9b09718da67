//! `qkv compute`: every stage of every head, or the output alone, as JSON, CSV or text.

use std::io::{BufWriter, Write};

use clap::ValueEnum;

use crate::engine::Matrix;
use crate::figure::{FigureInput, MatrixId, labels_of};
use crate::scene::{Evaluation, OutputScene, Outputs, Scene, Stage, evaluate_with};

use super::compute_json as json;
use super::matrix_text::{Labelled, write_csv, write_text};
use super::waiting::with_progress;
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
    /// Only the outputs. Memory then grows with the tokens and not with their pairs, so that scenes whose stages would not fit can
    /// be computed (dot products, stable softmax over the keys, F64).
    #[arg(long)]
    output_only: bool,
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
    let mut out = BufWriter::new(out);
    if args.output_only {
        output_only(args, &mut out, err)?;
    } else {
        every_stage(args, &mut out, err)?;
    }
    Ok(out.flush()?)
}

fn every_stage(args: &Args, out: &mut dyn Write, err: &mut dyn Write) -> Result<(), Failure> {
    let scene = load::scene(&args.scene)?;
    check_head(args, scene.heads())?;
    let evaluation = with_progress(err, |progress| evaluate_with(&scene, progress))
        .map_err(|error| Failure::Input(error.to_string()))?;
    if args.format == Format::Json {
        return json::write(&json::Whole::of(&scene, &evaluation), out);
    }
    for warning in &evaluation.warnings {
        writeln!(err, "{}: warning: {warning}", args.scene)?;
    }
    tables(&scene, &evaluation, args, out)
}

fn output_only(args: &Args, out: &mut dyn Write, err: &mut dyn Write) -> Result<(), Failure> {
    let scene = load::output_scene(&args.scene)?;
    check_head(args, scene.heads())?;
    let outputs = with_progress(err, |progress| scene.output(progress))
        .map_err(|error| Failure::Input(error.to_string()))?;
    if args.format == Format::Json {
        return json::write(&json::OutputOnly::of(&scene, &outputs), out);
    }
    for warning in scene.warnings() {
        writeln!(err, "{}: warning: {}", args.scene, warning.message)?;
    }
    output_tables(&scene, &outputs, args, out)
}

fn check_head(args: &Args, n_heads: usize) -> Result<(), Failure> {
    match args.head {
        Some(head) if head == 0 || head > n_heads => {
            Err(Failure::Input(format!("there is no head {head}; this scene has heads 1 to {n_heads}")))
        }
        _ => Ok(()),
    }
}

/// What is printed of each head, in the order in which it is computed.
const TABLES: [MatrixId; 7] = [
    MatrixId::RawScores,
    MatrixId::ScaledScores,
    MatrixId::MaskedScores,
    MatrixId::Weights,
    MatrixId::OutputBeforeDropout,
    MatrixId::DroppedWeights,
    MatrixId::Output,
];

fn tables(scene: &Scene, evaluation: &Evaluation, args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let input = FigureInput::new(scene, evaluation);
    for head in &evaluation.heads {
        if args.head.is_some_and(|wanted| wanted != head.query_head + 1) {
            continue;
        }
        for id in TABLES {
            // What a scene does not have, or what nobody knows of it, is left out.
            let Some(matrix) = input.matrix(id, head.query_head) else { continue };
            let (number, name) = (head.query_head + 1, id.label().to_lowercase());
            let title = match scene.gives_weights() {
                true => format!("head {number}, {name}, computed elsewhere"),
                false => format!("head {number} (KV head {}), {name}", head.kv_head + 1),
            };
            let labels = labels_of(scene, id, matrix);
            let table = Labelled { matrix, rows: &labels.rows, cols: &labels.cols };
            print(&title, &table, args.format, scene.spec().view.decimals, out)?;
        }
    }
    let has_w_o = scene.projection().is_some_and(|projection| projection.w_o.is_some());
    if (evaluation.heads.len() > 1 || has_w_o) && !scene.gives_weights() {
        let matrix = &evaluation.output;
        let labels = labels_of(scene, MatrixId::FinalOutput, matrix);
        let table = Labelled { matrix, rows: &labels.rows, cols: &labels.cols };
        print(title_of_all(has_w_o), &table, args.format, scene.spec().view.decimals, out)?;
    }
    Ok(())
}

fn output_tables(
    scene: &OutputScene,
    outputs: &Outputs,
    args: &Args,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let rows = scene.query_labels();
    let numbers = |matrix: &Matrix| (1..=matrix.cols()).map(|col| col.to_string()).collect::<Vec<_>>();
    for (query_head, matrix) in outputs.heads.iter().enumerate() {
        if args.head.is_some_and(|wanted| wanted != query_head + 1) {
            continue;
        }
        let kv_head = scene.kv_head_of(query_head);
        let stage = Stage::Output.label();
        let title = format!("head {} (KV head {}), {stage}", query_head + 1, kv_head + 1);
        let table = Labelled { matrix, rows, cols: &numbers(matrix) };
        print(&title, &table, args.format, scene.decimals(), out)?;
    }
    if outputs.heads.len() > 1 || scene.has_w_o() {
        let matrix = &outputs.output;
        let table = Labelled { matrix, rows, cols: &numbers(matrix) };
        print(title_of_all(scene.has_w_o()), &table, args.format, scene.decimals(), out)?;
    }
    Ok(())
}

fn title_of_all(has_w_o: bool) -> &'static str {
    if has_w_o { "output, heads side by side times W_O" } else { "output, heads side by side" }
}

fn print(
    title: &str,
    table: &Labelled<'_>,
    format: Format,
    decimals: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    match format {
        Format::Csv => {
            writeln!(out, "# {title}")?;
            write_csv(table, out)?;
        }
        Format::Json | Format::Text => {
            writeln!(out, "{title}, {} × {}", table.matrix.rows(), table.matrix.cols())?;
            write_text(table, decimals, out)?;
        }
    }
    Ok(writeln!(out)?)
}

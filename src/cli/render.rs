//! `qkv render`: a figure as SVG, PNG or PDF.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::disk;
use crate::export::{ExportOptions, Format, Ground, TextMode, export};
use crate::figure::{Figure, FigureOptions, FigureTheme, MatrixId, Pin, Study, compose};
use crate::scene::{Scene, Stage, evaluate};

use super::{Failure, load};

/// Arguments of `qkv render`.
#[derive(clap::Args)]
pub struct Args {
    /// A scene file or the name of a bundled scene.
    scene: String,
    /// Where to write; the extension decides the format (svg, png, pdf). `-` is standard output, as SVG.
    #[arg(short, long, value_name = "FIGURE")]
    output: PathBuf,
    /// What to draw: board, heads, projection, positions, trace; a closer look: formats, tiles, decoding, gradients, linear; or one
    /// matrix: scores, raw_scores, scaled_scores, masked_scores, weights,
    /// output, q, k, v.
    #[arg(long, default_value = "board", value_name = "NAME")]
    figure: String,
    /// The query head, from 1; the scene's own otherwise.
    #[arg(long, value_name = "N")]
    head: Option<usize>,
    /// Outline a pair: query and key, from 1.
    #[arg(long, value_name = "ROW,COL")]
    pin: Option<String>,
    /// Width in centimetres; the natural size of the figure otherwise.
    #[arg(long, value_name = "CM")]
    width: Option<f32>,
    /// Resolution of a PNG.
    #[arg(long, default_value_t = 300.0)]
    dpi: f32,
    /// Text as outlines, which look the same everywhere, or as text that can be edited. PDF keeps text unless asked.
    #[arg(long, value_enum)]
    text: Option<Text>,
    /// Which stages stand on the board, separated by commas; the scene's own otherwise.
    #[arg(long, value_delimiter = ',', value_name = "STAGES")]
    stages: Vec<String>,
    /// Decimal places in cells; the scene's own otherwise.
    #[arg(long)]
    decimals: Option<usize>,
    /// Colours: light, dark or print.
    #[arg(long, value_enum, default_value_t = Theme::Light)]
    theme: Theme,
    /// What lies behind the figure.
    #[arg(long, value_enum, default_value_t = Behind::Transparent)]
    ground: Behind,
    /// Colour each query's weights up to its own largest one instead of up to 1.
    #[arg(long)]
    per_row: bool,
    /// Write out sums of up to 64 terms in the trace; otherwise the middle of long ones is left out.
    #[arg(long)]
    every_term: bool,
    /// Leave out title and formula.
    #[arg(long)]
    no_title: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Text {
    Shapes,
    Text,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Theme {
    Light,
    Dark,
    Print,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Behind {
    Transparent,
    Paper,
}

/// Composes and writes the figure.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let to_stdout = args.output.as_os_str() == "-";
    let format = if to_stdout {
        Some(Format::Svg)
    } else {
        args.output.extension().and_then(|ending| Format::from_extension(&ending.to_string_lossy()))
    };
    let format = format.ok_or_else(|| {
        Failure::Usage(format!(
            "the name of the figure must end in .svg, .png or .pdf: {}",
            args.output.display()
        ))
    })?;
    let scene = load::scene(&args.scene)?;
    let options = figure_options(args, &scene)?;
    let figure = figure_named(&args.figure)?;
    if scene.gives_weights() {
        weights_only(&figure, &args.stages)?;
    }
    if figure == Figure::Projection && scene.projection().is_none() {
        return Err(Failure::Input("this scene has no projections: its Q, K and V are given".to_owned()));
    }
    let drawing = compose(&figure, &scene, &evaluate(&scene), &options);
    let source = load::read(&args.scene).text;
    let options = export_options(args, options.theme, source.to_string());
    let bytes = export(&drawing, format, &options).map_err(|error| Failure::Input(error.to_string()))?;
    if to_stdout {
        return Ok(out.write_all(&bytes)?);
    }
    disk::write_whole(&args.output, &bytes).map_err(|error| {
        Failure::Input(format!("the figure could not be written: {error}: {}", args.output.display()))
    })
}

/// Of weights that were computed elsewhere there is nothing else to draw.
fn weights_only(figure: &Figure, stages: &[String]) -> Result<(), Failure> {
    let is_drawn = match figure {
        Figure::Board => stages.is_empty() || stages.iter().any(|name| name.trim() == Stage::Weights.name()),
        Figure::Stage(stage) => *stage == Stage::Weights,
        Figure::Heads | Figure::Trace | Figure::Chart(_) => true,
        Figure::Study(study) => !study.needs_inputs(),
        Figure::Matrix(_) | Figure::Projection | Figure::Positions => false,
    };
    match is_drawn {
        true => Ok(()),
        false => Err(Failure::Input(
            "this scene gives only the weights, which were computed elsewhere; there are board, weights, heads, trace and gradients"
                .to_owned(),
        )),
    }
}

fn figure_options(args: &Args, scene: &Scene) -> Result<FigureOptions, Failure> {
    let n_heads = scene.heads();
    let mut options = FigureOptions::of_view(&scene.spec().view);
    if let Some(head) = args.head {
        if head == 0 || head > n_heads {
            return Err(Failure::Usage(format!(
                "there is no head {head}; this scene has heads 1 to {n_heads}"
            )));
        }
        options.head = head - 1;
    }
    options.theme = match args.theme {
        Theme::Light => FigureTheme::Light,
        Theme::Dark => FigureTheme::Dark,
        Theme::Print => FigureTheme::Print,
    };
    options.title = !args.no_title;
    options.pin = args.pin.as_deref().map(|pin| pin_of(pin, scene)).transpose()?;
    options.weights_per_row = args.per_row;
    options.every_term = args.every_term;
    options.decimals = args.decimals.unwrap_or(options.decimals);
    if options.decimals > 17 {
        return Err(Failure::Usage(format!(
            "a number has at most 17 decimals here; found {}",
            options.decimals
        )));
    }
    if !args.stages.is_empty() {
        options.stages = args.stages.iter().map(|name| stage_named(name)).collect::<Result<_, _>>()?;
    }
    Ok(options)
}

fn export_options(args: &Args, theme: FigureTheme, scene_source: String) -> ExportOptions {
    ExportOptions {
        width_cm: args.width,
        dpi: args.dpi,
        ground: if args.ground == Behind::Paper {
            Ground::Paper(theme.colors().paper)
        } else {
            Ground::Transparent
        },
        text: match args.text {
            None => TextMode::Usual,
            Some(Text::Shapes) => TextMode::Shapes,
            Some(Text::Text) => TextMode::Text,
        },
        scene_source: Some(scene_source),
    }
}

fn pin_of(text: &str, scene: &Scene) -> Result<Pin, Failure> {
    let parts = text.split_once(',').and_then(|(row, col)| {
        let number = |part: &str| part.trim().parse::<usize>().ok()?.checked_sub(1);
        Some((number(row)?, number(col)?))
    });
    match parts {
        Some((query, key)) if query < scene.n_q() && key < scene.n_k() => Ok(Pin { query, key }),
        Some(_) => Err(Failure::Usage(format!(
            "the pin {text} lies outside the scores: queries run from 1 to {}, keys from 1 to {}",
            scene.n_q(),
            scene.n_k()
        ))),
        None => Err(Failure::Usage(format!("a pin is a query and a key from 1, like 3,2; found {text}"))),
    }
}

fn stage_named(name: &str) -> Result<Stage, Failure> {
    Stage::ALL.into_iter().find(|stage| stage.name() == name.trim()).ok_or_else(|| {
        let names: Vec<&str> = Stage::ALL.into_iter().map(Stage::name).collect();
        Failure::Usage(format!("no stage is called {name}; the stages are {}", names.join(", ")))
    })
}

fn figure_named(name: &str) -> Result<Figure, Failure> {
    let matrices = [
        MatrixId::Q,
        MatrixId::K,
        MatrixId::V,
        MatrixId::UnrotatedQ,
        MatrixId::UnrotatedK,
        MatrixId::AlibiBias,
        MatrixId::DroppedWeights,
        MatrixId::OutputBeforeDropout,
    ];
    match name {
        "board" => Ok(Figure::Board),
        // The short name of what the weights are made of.
        "scores" => Ok(Figure::Stage(Stage::MaskedScores)),
        "heads" => Ok(Figure::Heads),
        "projection" => Ok(Figure::Projection),
        "positions" => Ok(Figure::Positions),
        "trace" => Ok(Figure::Trace),
        name => Stage::ALL
            .into_iter()
            .find(|stage| stage.name() == name)
            .map(Figure::Stage)
            .or_else(|| Study::ALL.into_iter().find(|study| study.name() == name).map(Figure::Study))
            .or_else(|| matrices.into_iter().find(|matrix| matrix.name() == name).map(Figure::Matrix))
            .ok_or_else(|| {
                Failure::Usage(format!(
                    "no figure is called {name}; there are board, heads, projection, positions, trace, formats, tiles, \
                     decoding, gradients, linear, raw_scores, scaled_scores, masked_scores, weights, output, q, k, v, \
                     q_unrotated, k_unrotated, alibi_bias, weights_after_dropout and output_before_dropout"
                ))
            }),
    }
}

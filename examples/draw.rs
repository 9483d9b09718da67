//! Rasterises figures of scenes for the eye of the developer: `draw SCENE.ron OUT.png [key=value …]`.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use qkv::export::{ExportOptions, Format, Ground, export};
use qkv::figure::{Figure, FigureOptions, FigureTheme, MatrixId, Pin, compose};
use qkv::scene::{Orientation, Palette, Stage, evaluate, read};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let text = std::fs::read_to_string(&args[0]).unwrap();
    let scene = read(&text, &mut |path| std::fs::read(path)).unwrap_or_else(|e| panic!("{e:#?}"));
    let evaluation = evaluate(&scene);
    let mut options = FigureOptions::of_view(&scene.spec().view);
    let mut figure = Figure::Board;
    let mut scale = 1.5;
    for arg in &args[2..] {
        let (key, value) = arg.split_once('=').unwrap();
        match key {
            "theme" => {
                options.theme = match value {
                    "dark" => FigureTheme::Dark,
                    "print" => FigureTheme::Print,
                    _ => FigureTheme::Light,
                }
            }
            "pin" => {
                let (q, k) = value.split_once(',').unwrap();
                options.pin = Some(Pin { query: q.parse().unwrap(), key: k.parse().unwrap() });
            }
            "cols" => options.orientation = Orientation::QueriesAsColumns,
            "three" => options.stages = vec![Stage::RawScores, Stage::Weights, Stage::Output],
            "stages" => {
                options.stages =
                    Stage::ALL.into_iter().filter(|s| value.split(',').any(|v| v == s.name())).collect()
            }
            "head" => options.head = value.parse().unwrap(),
            "scale" => scale = value.parse().unwrap(),
            "palette" => {
                options.palette = match value {
                    "viridis" => Palette::Viridis,
                    "grey" => Palette::Grey,
                    "blue" => Palette::Blue,
                    "cividis" => Palette::Cividis,
                    _ => Palette::Violet,
                }
            }
            "figure" => {
                figure = match value {
                    "heads" => Figure::Heads,
                    "projection" => Figure::Projection,
                    "trace" => Figure::Trace,
                    "weights" => Figure::Stage(Stage::Weights),
                    "masked" => Figure::Stage(Stage::MaskedScores),
                    "output" => Figure::Stage(Stage::Output),
                    "q" => Figure::Matrix(MatrixId::Q),
                    "k" => Figure::Matrix(MatrixId::K),
                    _ => Figure::Board,
                }
            }
            _ => panic!("{key}"),
        }
    }
    let start = std::time::Instant::now();
    let drawing = compose(&figure, &scene, &evaluation, &options);
    let mut took = start.elapsed();
    for _ in 0..20 {
        let start = std::time::Instant::now();
        std::hint::black_box(compose(&figure, &scene, &evaluation, &options));
        took = took.min(start.elapsed());
    }
    println!(
        "{} × {} pt, {} items, {took:?}\n{}",
        drawing.size.width,
        drawing.size.height,
        drawing.items.len(),
        drawing.description
    );
    let ground = Ground::Paper(options.theme.colors().paper);
    let format = Format::from_path(args[1].as_ref()).unwrap();
    let options = ExportOptions { dpi: 72.0 * scale, ground, ..ExportOptions::default() };
    std::fs::write(&args[1], export(&drawing, format, &options).unwrap()).unwrap();
}

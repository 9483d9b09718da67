//! How long the three annotated 8×8 matrices take to be written.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

#[path = "../tests/sample_drawing/mod.rs"]
mod sample_drawing;

use criterion::{Criterion, criterion_group, criterion_main};
use qkv::export::{ExportOptions, Format, Ground, TextMode, export};
use qkv::figure::{Anchor, Color, Face, Point, text};

fn exports(criterion: &mut Criterion) {
    let drawing = sample_drawing::annotated_matrices();
    let ground = Ground::Paper(Color::rgb(255, 255, 255));
    let options = ExportOptions { dpi: 200.0, ground, ..ExportOptions::default() };
    for format in Format::ALL {
        criterion.bench_function(&format!("three 8×8 matrices as {}", format.name()), |bencher| {
            bencher.iter(|| export(&drawing, format, &options).unwrap());
        });
    }
    let text = ExportOptions { text: TextMode::Text, ..options };
    criterion.bench_function("three 8×8 matrices as SVG with text", |bencher| {
        bencher.iter(|| export(&drawing, Format::Svg, &text).unwrap());
    });
}

fn numbers(criterion: &mut Criterion) {
    let (ink, at) = (Color::rgb(0, 0, 0), Point { x: 10.0, y: 10.0 });
    criterion.bench_function("set 0.2483", |bencher| {
        bencher.iter(|| text(std::hint::black_box("0.2483"), Face::Regular, 10.0, ink, at, Anchor::Middle));
    });
    criterion.bench_function("set a label seen before", |bencher| {
        bencher.iter(|| text(std::hint::black_box("queries"), Face::Regular, 10.0, ink, at, Anchor::Middle));
    });
}

criterion_group!(benches, exports, numbers);
criterion_main!(benches);

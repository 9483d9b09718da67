//! How long figures take to be laid out.
#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{Criterion, criterion_group, criterion_main};
use qkv::figure::{Figure, FigureOptions, compose};
use qkv::scene::{Stage, evaluate, read};

fn boards(criterion: &mut Criterion) {
    for n in [3, 8, 64, 512] {
        let text = format!(
            "Scene(title: \"Benchmark\", input: Heads(q: [Randn(rows: {n}, cols: 16, seed: 0)],
                k: [Randn(rows: {n}, cols: 16, seed: 1)], v: [Randn(rows: {n}, cols: 16, seed: 2)]),
                scoring: ScaledDot, mask: [Causal(TopLeft)])"
        );
        let scene = read(&text, &mut |path| Err(std::io::Error::other(path.to_owned()))).unwrap();
        let evaluation = evaluate(&scene);
        let options = FigureOptions::default();
        criterion.bench_function(&format!("board of five stages, {n} × {n}"), |bencher| {
            bencher.iter(|| compose(&Figure::Board, &scene, &evaluation, &options));
        });
        criterion.bench_function(&format!("weights alone, {n} × {n}"), |bencher| {
            bencher.iter(|| compose(&Figure::Stage(Stage::Weights), &scene, &evaluation, &options));
        });
    }
}

criterion_group!(benches, boards);
criterion_main!(benches);

//! The engine's forms at the sizes that `benches/README.md` speaks of.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use qkv::engine::{
    AttentionSpec, Corner, HeadInput, HeadView, MaskRule, Matrix, MatrixView, Progress, TileSize, attend,
    attend_fast, attend_output, attend_tiled,
};

const D: usize = 64;

fn doubles(n_tokens: usize) -> HeadInput {
    let wave = |step: f64| {
        Arc::new(Matrix::from_fn(n_tokens, D, |row, col| (step * (row * D + col) as f64).sin() * 1.4))
    };
    HeadInput { q: wave(0.37), k: wave(1.13), v: wave(0.71) }
}

fn causal() -> AttentionSpec {
    AttentionSpec { mask: vec![MaskRule::Causal(Corner::TopLeft)], ..Default::default() }
}

/// The output of `n_heads` equal heads in `f32`.
fn output(c: &mut Criterion, name: &str, n_heads: usize, n_tokens: usize, spec: &AttentionSpec) {
    let input = doubles(n_tokens);
    let [q, k, v] = [&input.q, &input.k, &input.v]
        .map(|matrix| matrix.data().iter().map(|&value| value as f32).collect::<Vec<f32>>());
    let view = |data| MatrixView::new(n_tokens, D, data).unwrap();
    let heads = vec![HeadView { q: view(&q), k: view(&k), v: view(&v) }; n_heads];
    c.bench_function(name, |b| {
        b.iter(|| attend_output(black_box(&heads), spec, &Progress::default()).unwrap());
    });
}

fn outputs(c: &mut Criterion) {
    output(c, "output f32 4096", 1, 4096, &AttentionSpec::default());
    output(c, "output f32 4096 causal", 1, 4096, &causal());
    output(c, "output f32 1024, 12 heads", 12, 1024, &AttentionSpec::default());
}

fn stages(c: &mut Criterion) {
    for n_tokens in [64, 2048] {
        let input = doubles(n_tokens);
        let spec = AttentionSpec::default();
        c.bench_function(&format!("stages f64 {n_tokens}"), |b| {
            b.iter(|| attend_fast(black_box(&input), &spec, 0, &Progress::default()).unwrap());
        });
        c.bench_function(&format!("stages f64 {n_tokens} causal"), |b| {
            b.iter(|| attend_fast(black_box(&input), &causal(), 0, &Progress::default()).unwrap());
        });
    }
}

/// The forms to read, for comparison.
fn plain(c: &mut Criterion) {
    let (input, spec) = (doubles(64), AttentionSpec::default());
    c.bench_function("plain f64 64", |b| b.iter(|| attend(black_box(&input), &spec, 0)));
    let tile = TileSize { queries: 16, keys: 16 };
    c.bench_function("tiled f64 64", |b| {
        b.iter(|| attend_tiled(black_box(&input), &spec, 0, tile, |_| ()).unwrap());
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = outputs, stages, plain
}
criterion_main!(benches);

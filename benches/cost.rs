//! How long the calculators take: a full report for a preset, and the plot of a model with windowed layers.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use qkv::cost::{ConfigurationReport, CostSeries, preset};

fn report(criterion: &mut Criterion) {
    for id in ["llama-3.1-8b", "gemma-3n-e4b", "deepseek-v3"] {
        let Ok(configuration) = preset(id).and_then(|preset| preset.configuration()) else { continue };
        criterion.bench_function(&format!("full report of {id}"), |bencher| {
            bencher.iter(|| ConfigurationReport::new(black_box(&configuration)));
        });
    }
}

fn plot(criterion: &mut Criterion) {
    let Ok(configuration) = preset("gemma-3-27b").and_then(|preset| preset.configuration()) else { return };
    criterion.bench_function("4096 points of a model with windows", |bencher| {
        bencher.iter(|| CostSeries::memory(black_box(&configuration), 131_072, 4096));
    });
}

criterion_group!(benches, report, plot);
criterion_main!(benches);

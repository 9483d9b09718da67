//! `qkv bench`: how fast this machine computes attention, at doubling lengths.

use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;

use crate::engine::{
    AttentionSpec, Corner, HeadInput, HeadView, MaskRule, Matrix, MatrixView, Progress, StageMemory, attend,
    attend_fast, attend_output,
};

/// Width of queries, keys and values.
const D_HEAD: usize = 64;
/// Heads of the work that has several.
const N_HEADS: usize = 12;
/// What the stages of one measurement may take.
const STAGE_BYTES: u128 = 2_000_000_000;

/// What to measure.
#[derive(clap::Args)]
pub struct Args {
    /// The longest sequence.
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    up_to: u32,
    /// One length instead of doubling ones.
    #[arg(long, value_name = "N", conflicts_with = "up_to", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    at: Option<u32>,
    /// One kind of work instead of all.
    #[arg(long, value_name = "WORK")]
    only: Option<Work>,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// A kind of work, always with heads 64 wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Work {
    /// The output of one head, in f32.
    Output,
    /// The same under a causal mask.
    Causal,
    /// The output of 12 heads, in f32.
    Heads,
    /// All five stages of one head, in f64.
    Stages,
    /// The same by the plain form that the rest is tested against.
    Plain,
}

#[derive(Serialize)]
struct Report {
    threads: usize,
    d_head: usize,
    measurements: Vec<Measurement>,
}

#[derive(Serialize)]
struct Measurement {
    work: Work,
    n_tokens: usize,
    runs: usize,
    best_ms: f64,
    median_ms: f64,
    /// Two for every multiply-add of both products over the visible pairs, by the median.
    gflop_per_s: f64,
}

impl Args {
    /// Measures and prints.
    ///
    /// # Errors
    /// What writing fails with.
    pub fn run(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut measurements = Vec::new();
        for work in Work::value_variants().iter().filter(|work| self.only.is_none_or(|only| only == **work)) {
            for n_tokens in self.lengths().into_iter().filter(|&n_tokens| work.is_sensible(n_tokens)) {
                measurements.push(measure(*work, n_tokens));
            }
        }
        let report = Report { threads: rayon::current_num_threads(), d_head: D_HEAD, measurements };
        if self.json {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            return writeln!(out);
        }
        table(&report, out)
    }

    fn lengths(&self) -> Vec<usize> {
        let (first, last) = self.at.map_or((64.min(self.up_to), self.up_to), |at| (at, at));
        let doubled = |length: &u32| length.checked_mul(2);
        std::iter::successors(Some(first), doubled)
            .take_while(|&length| length <= last)
            .map(|n| n as usize)
            .collect()
    }
}

impl Work {
    /// Whether the matrices that the work keeps fit.
    fn is_sensible(self, n_tokens: usize) -> bool {
        let stages = StageMemory { heads: 1, n_q: n_tokens, n_k: n_tokens, d_v: D_HEAD, has_mask: false };
        match self {
            Self::Output | Self::Causal | Self::Heads => true,
            Self::Stages => stages.check(STAGE_BYTES).is_ok(),
            Self::Plain => n_tokens <= 2048 && stages.check(STAGE_BYTES).is_ok(),
        }
    }

    fn flops(self, n_tokens: usize) -> f64 {
        let n = n_tokens as f64;
        let pairs = match self {
            Self::Causal => n * (n + 1.0) / 2.0,
            Self::Heads => N_HEADS as f64 * n * n,
            Self::Output | Self::Stages | Self::Plain => n * n,
        };
        4.0 * pairs * D_HEAD as f64
    }
}

fn measure(work: Work, n_tokens: usize) -> Measurement {
    let mask = if work == Work::Causal { vec![MaskRule::Causal(Corner::TopLeft)] } else { Vec::new() };
    let spec = AttentionSpec { mask, ..Default::default() };
    let times = match work {
        Work::Output | Work::Causal => output_times(1, n_tokens, &spec),
        Work::Heads => output_times(N_HEADS, n_tokens, &spec),
        Work::Stages => {
            let input = doubles(n_tokens);
            repeat(|| drop(black_box(attend_fast(&input, &spec, 0, &Progress::default()))))
        }
        Work::Plain => {
            let input = doubles(n_tokens);
            repeat(|| drop(black_box(attend(&input, &spec, 0))))
        }
    };
    let (best, median) = (times[0], times[times.len() / 2]);
    Measurement {
        work,
        n_tokens,
        runs: times.len(),
        best_ms: best.as_secs_f64() * 1e3,
        median_ms: median.as_secs_f64() * 1e3,
        gflop_per_s: work.flops(n_tokens) / median.as_secs_f64() / 1e9,
    }
}

fn output_times(n_heads: usize, n_tokens: usize, spec: &AttentionSpec) -> Vec<Duration> {
    let size = n_tokens * D_HEAD;
    let [q, k, v] = [1, 2, 3].map(|seed| numbers(seed, n_heads * size).map(|x| x as f32).collect::<Vec<_>>());
    let heads: Option<Vec<_>> = (0..n_heads)
        .map(|head| {
            let view = |data| MatrixView::new(n_tokens, D_HEAD, data);
            let part = head * size..(head + 1) * size;
            Some(HeadView { q: view(&q[part.clone()])?, k: view(&k[part.clone()])?, v: view(&v[part])? })
        })
        .collect();
    let heads = heads.unwrap_or_default();
    repeat(|| drop(black_box(attend_output(&heads, spec, &Progress::default()))))
}

fn doubles(n_tokens: usize) -> HeadInput {
    let [q, k, v] = [1, 2, 3].map(|seed| {
        let mut numbers = numbers(seed, n_tokens * D_HEAD);
        Arc::new(Matrix::from_fn(n_tokens, D_HEAD, |_, _| numbers.next().unwrap_or_default()))
    });
    HeadInput { q, k, v }
}

/// Repeats until a second has passed, at least 3 and at most 1000 times, after one run that does not count. Sorted.
fn repeat(mut run: impl FnMut()) -> Vec<Duration> {
    run();
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < 3 || (times.len() < 1000 && begin.elapsed() < Duration::from_secs(1)) {
        let start = Instant::now();
        run();
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times
}

/// Numbers of mean 0 and variance 1, the same on every machine: the sum of twelve uniform ones, shifted.
fn numbers(seed: u64, count: usize) -> impl Iterator<Item = f64> {
    let mut state = seed;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count).map(move |_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0)
}

fn table(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Report { threads, d_head, measurements } = report;
    writeln!(out, "{threads} threads, heads {d_head} wide; milliseconds, and GFLOP/s by the median\n")?;
    writeln!(
        out,
        "{:<8}{:>10}{:>8}{:>12}{:>12}{:>10}",
        "work", "tokens", "runs", "best", "median", "GFLOP/s"
    )?;
    for Measurement { work, n_tokens, runs, best_ms, median_ms, gflop_per_s } in measurements {
        let work = work.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        writeln!(out, "{work:<8}{n_tokens:>10}{runs:>8}{best_ms:>12.3}{median_ms:>12.3}{gflop_per_s:>10.1}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(up_to: u32, at: Option<u32>, json: bool) -> Args {
        Args { up_to, at, only: Some(Work::Causal), json }
    }

    #[test]
    fn lengths_double_up_to_the_longest() {
        assert_eq!(args(300, None, false).lengths(), [64, 128, 256]);
        assert_eq!(args(10, None, false).lengths(), [10]);
        assert_eq!(args(4096, Some(100), false).lengths(), [100]);
    }

    #[test]
    fn the_json_says_what_was_measured() {
        let mut out = Vec::new();
        args(4096, Some(8), true).run(&mut out).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let measured = &report["measurements"][0];
        assert_eq!((&measured["work"], &measured["n_tokens"]), (&"causal".into(), &8.into()));
        assert!(measured["median_ms"].as_f64().unwrap() > 0.0);
        assert!(measured["best_ms"].as_f64() <= measured["median_ms"].as_f64());
    }

    #[test]
    fn stages_that_would_not_fit_are_left_out() {
        assert!(Work::Stages.is_sensible(4096) && !Work::Stages.is_sensible(100_000));
        assert!(Work::Output.is_sensible(100_000));
    }
}

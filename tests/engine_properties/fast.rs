//! The fast forms equal the plain one.

use std::sync::Arc;

use proptest::prelude::*;
use qkv::engine::{
    Attention, AttentionSpec, Cancelled, Corner, EmptyRow, HeadInput, HeadView, MaskRule, Matrix, MatrixView,
    OutputError, Precision, Progress, Scoring, SoftmaxAxis, SoftmaxForm, attend, attend_fast, attend_in,
    attend_output,
};

use crate::scene::{AnyHead, any_head};
use crate::tiled::{not_finite, spoil};

fn is_close(found: f64, expected: f64, tolerance: f64) -> bool {
    found == expected
        || (found.is_nan() && expected.is_nan())
        || (found - expected).abs() <= tolerance * expected.abs().max(1.0)
}

fn output_of(input: &HeadInput, spec: &AttentionSpec) -> Vec<f64> {
    attend_output(&[HeadView::from(input)], spec, &Progress::default()).unwrap()
}

/// The output in `f32`, widened again.
fn single_output_of(input: &HeadInput, spec: &AttentionSpec) -> Vec<f64> {
    let narrow = |matrix: &Matrix| matrix.data().iter().map(|&value| value as f32).collect::<Vec<_>>();
    let (q, k, v) = (narrow(&input.q), narrow(&input.k), narrow(&input.v));
    let view = |matrix: &Matrix, data| MatrixView::new(matrix.rows(), matrix.cols(), data).unwrap();
    let head = HeadView { q: view(&input.q, &q), k: view(&input.k, &k), v: view(&input.v, &v) };
    let output = attend_output(&[head], spec, &Progress::default()).unwrap();
    output.into_iter().map(f64::from).collect()
}

/// Sizes that need several blocks and tiles and leave a remainder in both.
fn large(n_q: usize, n_k: usize, d_k: usize, d_v: usize) -> HeadInput {
    let wave = |rows, cols, step: f64| {
        Arc::new(Matrix::from_fn(rows, cols, |row, col| {
            (step * ((row * cols + col) as f64 + 0.5)).sin() * 2.0
        }))
    };
    HeadInput { q: wave(n_q, d_k, 0.37), k: wave(n_k, d_k, 1.13), v: wave(n_k, d_v, 0.71) }
}

fn masks(n_q: usize, n_k: usize) -> Vec<Vec<MaskRule>> {
    let window = |left, right| MaskRule::Window { left, right };
    let bias = Matrix::from_fn(n_q, n_k, |query, key| {
        if (query + 3 * key) % 7 == 0 { f64::NEG_INFINITY } else { (key % 5) as f64 - 2.0 }
    });
    vec![
        vec![],
        vec![MaskRule::Causal(Corner::TopLeft)],
        vec![MaskRule::Causal(Corner::BottomRight), MaskRule::ValidKeys(n_k - 3)],
        vec![window(Some(40), Some(3))],
        vec![window(Some(700), None), MaskRule::Causal(Corner::BottomRight)],
        vec![window(Some(5), Some(0)), MaskRule::Global(vec![0, 17])],
        vec![MaskRule::Prefix(20), MaskRule::Causal(Corner::TopLeft)],
        vec![MaskRule::Strided(3), MaskRule::Causal(Corner::TopLeft)],
        vec![MaskRule::PaddedKeys((0..n_k).map(|key| key % 11 < 2).collect())],
        vec![MaskRule::Documents((0..n_q.max(n_k)).map(|at| (at / 150) as i64).collect())],
        vec![MaskRule::Additive(bias)],
        vec![MaskRule::ValidKeys(0)],
    ]
}

#[test]
fn every_kind_of_mask_gives_the_plain_output_over_several_blocks_and_tiles() {
    let input = large(300, 1100, 20, 9);
    for mask in masks(300, 1100) {
        let spec = AttentionSpec { mask, position_offset: 1, ..Default::default() };
        let plain = attend(&input, &spec, 0).output;
        for (found, expected) in output_of(&input, &spec).into_iter().zip(plain.data()) {
            assert!(is_close(found, *expected, 1e-13), "{:?}: {found} is not {expected}", spec.mask.first());
        }
        for (found, expected) in single_output_of(&input, &spec).into_iter().zip(plain.data()) {
            assert!(is_close(found, *expected, 2e-5), "{:?}: {found} is not {expected}", spec.mask.first());
        }
    }
}

/// The first stage that differs, and how.
fn difference(fast: &Attention, plain: &Attention) -> Option<String> {
    let stages = [
        ("raw", &fast.raw_scores, &plain.raw_scores),
        ("scaled", &fast.scaled_scores, &plain.scaled_scores),
        ("masked", &fast.masked_scores, &plain.masked_scores),
        ("weights", &fast.weights, &plain.weights),
        ("output", &fast.output, &plain.output),
    ];
    for (name, fast, plain) in stages {
        let differs =
            |(a, b): &(&f64, &f64)| !is_close(**a, **b, 1e-13) || a.to_bits() == (-0.0_f64).to_bits();
        if let Some((a, b)) = fast.data().iter().zip(plain.data()).find(differs) {
            return Some(format!("{name}: {a} is not {b}"));
        }
    }
    let rows = [("maximum", &fast.row_max, &plain.row_max), ("sum", &fast.row_sum, &plain.row_sum)];
    for (name, fast, plain) in rows {
        if let Some((a, b)) = fast.iter().zip(plain).find(|(a, b)| !is_close(**a, **b, 1e-13)) {
            return Some(format!("{name}: {a} is not {b}"));
        }
    }
    let is_exactly_zero =
        |pair: usize| (fast.weights.data()[pair] == 0.0) == (plain.weights.data()[pair] == 0.0);
    let blocked = || (0..plain.blocked_by.len()).filter(|&pair| plain.blocked_by.get(pair).is_some());
    if let Some(pair) = blocked().find(|&pair| !is_exactly_zero(pair)) {
        return Some(format!("weight of blocked pair {pair}: {}", fast.weights.data()[pair]));
    }
    (fast.blocked_by != plain.blocked_by).then(|| "blocked pairs".to_owned())
}

#[test]
fn every_stage_is_that_of_the_plain_form_over_several_blocks() {
    let input = large(150, 333, 20, 9);
    for mask in masks(150, 333) {
        let spec = AttentionSpec { mask, position_offset: 1, ..Default::default() };
        let fast = attend_fast(&input, &spec, 0, &Progress::default()).unwrap();
        assert_eq!(difference(&fast, &attend(&input, &spec, 0)), None, "{:?}", spec.mask.first());
    }
}

#[test]
fn stages_can_be_cancelled_too() {
    let input = large(150, 20, 4, 4);
    let progress = Progress::default();
    attend_fast(&input, &AttentionSpec::default(), 0, &progress).unwrap();
    assert_eq!(progress.fraction(), 1.0);
    progress.cancel();
    assert_eq!(attend_fast(&input, &AttentionSpec::default(), 0, &progress), Err(Cancelled));
}

/// What a pool of so many threads gives.
fn with_threads<T: Send>(n_threads: usize, run: impl Fn() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap().install(run)
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let input = large(700, 900, 16, 8);
    for mask in [vec![], vec![MaskRule::Causal(Corner::BottomRight)]] {
        let spec = AttentionSpec { mask, ..Default::default() };
        let bits = |output: Vec<f64>| output.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let all_forms = || {
            let stages = attend_fast(&input, &spec, 0, &Progress::default()).unwrap();
            let numbers = [&stages.raw_scores, &stages.masked_scores, &stages.weights, &stages.output];
            let stages = numbers.map(|stage| bits(stage.data().to_vec()));
            (bits(output_of(&input, &spec)), bits(single_output_of(&input, &spec)), stages)
        };
        let one = with_threads(1, all_forms);
        assert!([2, 3, 7].into_iter().all(|n_threads| with_threads(n_threads, all_forms) == one));
    }
}

#[test]
fn a_sink_takes_its_share_over_several_blocks_and_tiles() {
    let input = large(300, 1100, 20, 9);
    for sink in [-50.0, 1.5, 300.0] {
        let spec = AttentionSpec {
            mask: vec![MaskRule::Window { left: Some(40), right: Some(3) }, MaskRule::ValidKeys(200)],
            sinks: Arc::new(vec![sink]),
            ..Default::default()
        };
        let plain = attend(&input, &spec, 0);
        let fast = attend_fast(&input, &spec, 0, &Progress::default()).unwrap();
        assert_eq!(difference(&fast, &plain), None, "{sink}");
        for (found, expected) in output_of(&input, &spec).into_iter().zip(plain.output.data()) {
            assert!(is_close(found, *expected, 1e-13), "{sink}: {found} is not {expected}");
        }
    }
}

#[test]
fn the_stages_of_a_narrower_format_are_those_of_that_format_to_the_last_bit() {
    let input = large(20, 30, 8, 5);
    for precision in [Precision::F32, Precision::Bf16, Precision::F16] {
        let spec = AttentionSpec { precision, ..Default::default() };
        let fast = attend_fast(&input, &spec, 0, &Progress::default()).unwrap();
        assert_eq!(fast, attend_in(precision, &input, &spec, 0));
    }
}

#[test]
fn a_later_token_changes_no_earlier_output() {
    let input = large(600, 600, 16, 8);
    let spec = AttentionSpec { mask: vec![MaskRule::Causal(Corner::TopLeft)], ..Default::default() };
    let before = output_of(&input, &spec);
    for (key, value) in [(300, 1e3), (300, f64::NAN), (511, f64::INFINITY), (599, -4.0)] {
        let mut changed = input.clone();
        Arc::make_mut(&mut changed.k).row_mut(key).fill(value);
        Arc::make_mut(&mut changed.v).row_mut(key).fill(value);
        let after = output_of(&changed, &spec);
        let moved =
            |row: &usize| (0..8).any(|col| !is_close(after[row * 8 + col], before[row * 8 + col], 1e-14));
        assert_eq!((0..600).find(moved), Some(key), "{value} at {key}");
    }
}

#[test]
fn query_heads_may_share_keys_and_values() {
    let (first, second) = (large(70, 90, 8, 4), large(50, 60, 8, 4));
    let shared = HeadInput { q: second.q.clone(), ..first.clone() };
    let heads = [HeadView::from(&first), HeadView::from(&shared), HeadView::from(&second)];
    let found = attend_output(&heads, &AttentionSpec::default(), &Progress::default()).unwrap();
    let alone = [&first, &shared, &second].map(|input| output_of(input, &AttentionSpec::default()));
    assert_eq!(found, alone.concat());
}

#[test]
fn what_needs_its_stages_or_does_not_fit_is_refused_in_words() {
    let input = large(2, 3, 2, 2);
    let refused = |input: &HeadInput, spec: &AttentionSpec| {
        attend_output(&[HeadView::from(input)], spec, &Progress::default()).unwrap_err()
    };
    let mut spec = AttentionSpec::default();
    spec.softmax.form = SoftmaxForm::Naive;
    assert_eq!(refused(&input, &spec), OutputError::Naive);
    spec.softmax.over = SoftmaxAxis::Queries;
    assert_eq!(refused(&input, &spec), OutputError::OverQueries);
    let spec = AttentionSpec {
        scoring: Scoring::General { w: Arc::new(Matrix::identity(2)) },
        ..Default::default()
    };
    assert_eq!(refused(&input, &spec), OutputError::Scorer);
    let short = HeadInput { v: Arc::new(Matrix::zeros(2, 2)), ..input };
    let sentence = refused(&short, &AttentionSpec::default()).to_string();
    assert_eq!(sentence, "head 1: there are 3 keys but 2 values; every key needs exactly one value");
}

#[test]
fn a_cancelled_pass_has_no_result_and_a_finished_one_is_complete() {
    let input = large(600, 20, 4, 4);
    let progress = Progress::default();
    assert_eq!(progress.fraction(), 0.0);
    attend_output(&[HeadView::from(&input)], &AttentionSpec::default(), &progress).unwrap();
    assert_eq!(progress.fraction(), 1.0);
    progress.cancel();
    let found = attend_output(&[HeadView::from(&input)], &AttentionSpec::default(), &progress);
    assert_eq!(found, Err(OutputError::Cancelled(Cancelled)));
    assert_eq!(progress.fraction(), 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_fast_output_is_the_plain_one(
        AnyHead { input, mut spec } in any_head(),
        spoilt in (0_usize..12, any::<prop::sample::Index>(), not_finite()),
    ) {
        spec.softmax.over = SoftmaxAxis::Keys;
        spec.softmax.form = SoftmaxForm::Stable;
        if matches!(spec.scoring, Scoring::Additive { .. } | Scoring::General { .. }) {
            return Ok(());
        }
        let input = spoil(&input, spoilt);
        let plain = attend(&input, &spec, 0);
        for (found, expected) in output_of(&input, &spec).iter().zip(plain.output.data()) {
            prop_assert!(is_close(*found, *expected, 1e-13), "{} is not {}", found, expected);
            prop_assert!(found.to_bits() != (-0.0_f64).to_bits());
        }
    }

    #[test]
    fn the_fast_stages_are_the_plain_ones(
        AnyHead { input, spec } in any_head(),
        spoilt in (0_usize..12, any::<prop::sample::Index>(), not_finite()),
    ) {
        let input = spoil(&input, spoilt);
        let fast = attend_fast(&input, &spec, 0, &Progress::default()).unwrap();
        prop_assert_eq!(difference(&fast, &attend(&input, &spec, 0)), None);
    }

    #[test]
    fn the_fast_output_in_single_precision_is_nearly_the_plain_one(AnyHead { input, mut spec } in any_head()) {
        spec.softmax.over = SoftmaxAxis::Keys;
        spec.softmax.form = SoftmaxForm::Stable;
        spec.softmax.empty_rows = EmptyRow::Uniform;
        if matches!(spec.scoring, Scoring::Additive { .. } | Scoring::General { .. }) {
            return Ok(());
        }
        let plain = attend(&input, &spec, 0);
        for (found, expected) in single_output_of(&input, &spec).iter().zip(plain.output.data()) {
            prop_assert!(is_close(*found, *expected, 5e-5), "{} is not {}", found, expected);
        }
    }
}

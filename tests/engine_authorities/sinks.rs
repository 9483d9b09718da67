//! A learned sink is one more logit in the denominator.

use std::sync::Arc;

use qkv::engine::{
    AttentionSpec, Carry, Check, CheckOutcome, CheckedHead, EmptyRow, HeadView, MaskRule, Progress, TileSize,
    attend, attend_output, attend_tiled, standing_checks, trace,
};

use crate::cases::{TOLERANCE, assert_stages, case, causal};
use crate::json::{assert_all_close, head, number, vector};

fn with_sink() -> (qkv::engine::HeadInput, AttentionSpec, serde_json::Value) {
    let case = case("C36");
    let inputs = &case["inputs"];
    let spec = AttentionSpec {
        mask: vec![causal()],
        sinks: Arc::new(vec![number(&inputs["sink_logit"])]),
        ..Default::default()
    };
    (head(&inputs["Q"], &inputs["K"], &inputs["V"]), spec, case)
}

#[test]
fn a_sink_takes_weight_away_and_without_it_rows_sum_to_one() {
    let (input, spec, case) = with_sink();
    let found = attend(&input, &spec, 0);
    assert_stages("sink", &found, &case["expected"]);
    let sums: Vec<f64> = found.weights.iter_rows().map(|row| row.iter().sum()).collect();
    assert_all_close("row sums", &sums, &vector(&case["expected"]["row_sums"]), TOLERANCE);
    let without = attend(&input, &AttentionSpec { sinks: Default::default(), ..spec }, 0);
    assert_stages("ignored", &without, &case["if_wrong"]);
}

#[test]
fn the_log_of_the_sum_without_the_sink_leads_to_the_same_row_sums() {
    let (input, spec, case) = with_sink();
    let sink = spec.sinks[0];
    let without = attend(&input, &AttentionSpec { sinks: Default::default(), ..spec }, 0);
    let share = |(max, sum): (&f64, &f64)| {
        let log_sum = max + sum.ln();
        let (low, high) = if log_sum < sink { (log_sum, sink) } else { (sink, log_sum) };
        (log_sum - (high + (low - high).exp().ln_1p())).exp()
    };
    let shares: Vec<f64> = without.row_max.iter().zip(&without.row_sum).map(share).collect();
    assert_all_close("shares", &shares, &vector(&case["expected"]["row_sums"]), TOLERANCE);
}

#[test]
fn every_form_knows_the_sink() {
    let (input, spec, _) = with_sink();
    let plain = attend(&input, &spec, 0);
    let tiled = attend_tiled(&input, &spec, 0, TileSize { queries: 2, keys: 1 }, |_| ()).unwrap();
    assert_all_close("tiled", tiled.output.data(), plain.output.data(), 1e-15);
    let fast = attend_output(&[HeadView::from(&input)], &spec, &Progress::default()).unwrap();
    assert_all_close("fast", &fast, plain.output.data(), 1e-15);
    let traced = trace(&input, &spec, 0, (1, 0), Carry::Exact).unwrap();
    assert_eq!(traced.softmax.weight.to_bits(), plain.weights.get(1, 0).to_bits());
    assert_eq!(traced.softmax.sink, Some(0.75));
}

#[test]
fn a_query_that_sees_nothing_gives_everything_to_the_sink_whatever_the_policy() {
    let (input, mut spec, _) = with_sink();
    spec.mask = vec![MaskRule::ValidKeys(0)];
    for policy in [EmptyRow::Zero, EmptyRow::Uniform, EmptyRow::NotANumber] {
        spec.softmax.empty_rows = policy;
        assert!(attend(&input, &spec, 0).output.data().iter().all(|&value| value == 0.0), "{policy:?}");
    }
}

#[test]
fn the_check_says_why_rows_sum_to_less_than_one() {
    let (input, spec, _) = with_sink();
    let attention = attend(&input, &spec, 0);
    let checked = CheckedHead { query_head: 0, input: &input, attention: &attention };
    for (check, outcome) in standing_checks(&[checked], &spec) {
        assert!(!matches!(outcome, CheckOutcome::Fail { .. }), "{check:?}: {outcome:?}");
        if check == Check::RowsSumToOne {
            let CheckOutcome::Pass { note, .. } = outcome else { panic!("{outcome:?}") };
            let note = note.unwrap();
            assert_eq!(
                note,
                "each together with what its learned sink takes; the keys alone get as little as 0.2660"
            );
        }
    }
    let forgetful = AttentionSpec { sinks: Default::default(), ..spec };
    let outcome = &standing_checks(&[checked], &forgetful)[0].1;
    assert!(matches!(outcome, CheckOutcome::Fail { .. }), "{outcome:?}");
}

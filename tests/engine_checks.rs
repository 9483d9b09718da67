//! The standing checks pass where all is well, and fail where something is wrong.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use qkv::engine::{
    Attention, AttentionSpec, Check, CheckOutcome, CheckedHead, Convention, Corner, EmptyRow, HeadInput,
    MaskRule, Matrix, SoftmaxAxis, attend, standing_checks, standing_checks_of,
};

/// Six queries, six keys; numbers without any pattern that a mistake could hide in.
fn input() -> HeadInput {
    let wave = |step: f64| {
        Arc::new(Matrix::from_fn(6, 3, move |row, col| (step * (3 * row + col + 1) as f64).sin()))
    };
    HeadInput { q: wave(0.9), k: wave(1.7), v: wave(2.3) }
}

fn spec(mask: Vec<MaskRule>) -> AttentionSpec {
    AttentionSpec { mask, ..Default::default() }
}

fn causal() -> MaskRule {
    MaskRule::Causal(Corner::TopLeft)
}

/// The outcomes when `evaluate` made the weights and makes them again.
fn outcomes(
    input: &HeadInput,
    spec: &AttentionSpec,
    evaluate: impl Fn(&HeadInput, &AttentionSpec, usize) -> Attention,
) -> Vec<(Check, CheckOutcome)> {
    let attention = evaluate(input, spec, 0);
    let head = CheckedHead { query_head: 0, input, attention: &attention };
    standing_checks_of(&[head], spec, evaluate)
}

fn outcome(outcomes: &[(Check, CheckOutcome)], wanted: Check) -> &CheckOutcome {
    &outcomes.iter().find(|(check, _)| *check == wanted).unwrap().1
}

fn assert_fails_at(outcome: &CheckOutcome, query: usize, key: Option<usize>, word: &str) {
    match outcome {
        CheckOutcome::Fail { place, detail } => {
            assert_eq!((place.query, place.key), (query, key), "{detail}");
            assert!(detail.contains(word), "{detail}");
        }
        other => panic!("expected a failure, found {other:?}"),
    }
}

fn assert_passes(outcome: &CheckOutcome, count: usize) {
    match outcome {
        CheckOutcome::Pass { examined, .. } => assert_eq!((examined.count, examined.of), (count, count)),
        other => panic!("expected a pass, found {other:?}"),
    }
}

#[test]
fn every_check_passes_on_causal_attention_with_padding() {
    let spec = spec(vec![causal(), MaskRule::ValidKeys(4)]);
    let found = outcomes(&input(), &spec, attend);
    assert_passes(outcome(&found, Check::RowsSumToOne), 6);
    assert_passes(outcome(&found, Check::BlockedWeightsAreZero), 15 + 2 + 1);
    assert_passes(outcome(&found, Check::NoLeakFromLaterTokens), 5);
    assert_passes(outcome(&found, Check::PaddingMovesNothing), 2 + 1);
    assert_passes(outcome(&found, Check::KeyOrderDoesNotMatter), 1);
}

#[test]
fn checks_without_anything_to_check_say_so() {
    let found = outcomes(&input(), &spec(Vec::new()), attend);
    for check in [Check::BlockedWeightsAreZero, Check::NoLeakFromLaterTokens, Check::PaddingMovesNothing] {
        assert!(matches!(outcome(&found, check), CheckOutcome::NotApplicable { .. }), "{check:?}");
    }
    let nothing = HeadInput {
        q: Arc::new(Matrix::zeros(0, 3)),
        k: Arc::new(Matrix::zeros(0, 3)),
        v: Arc::new(Matrix::zeros(0, 2)),
    };
    let found = outcomes(&nothing, &spec(vec![causal(), MaskRule::ValidKeys(0)]), attend);
    assert!(matches!(outcome(&found, Check::RowsSumToOne), CheckOutcome::NotApplicable { .. }));
    assert!(matches!(outcome(&found, Check::NoLeakFromLaterTokens), CheckOutcome::NotApplicable { .. }));
    assert!(matches!(outcome(&found, Check::KeyOrderDoesNotMatter), CheckOutcome::NotApplicable { .. }));
}

#[test]
fn an_evaluation_that_drops_the_causal_mask_leaks() {
    let forgets = |input: &HeadInput, spec: &AttentionSpec, head| {
        attend(input, &AttentionSpec { mask: Vec::new(), ..spec.clone() }, head)
    };
    let found = outcomes(&input(), &spec(vec![causal()]), forgets);
    assert_fails_at(outcome(&found, Check::NoLeakFromLaterTokens), 0, Some(5), "key 6");
}

#[test]
fn a_mask_that_lets_one_future_key_through_is_found_with_its_place() {
    // Declared causal, evaluated with a matrix that also opens the pair (query 2, key 4).
    let leaky = |input: &HeadInput, spec: &AttentionSpec, head| {
        let rows = (0..6).map(|i| (0..6).map(|j| j <= i || (i, j) == (2, 4)).collect()).collect();
        let mask = vec![MaskRule::Matrix { convention: Convention::TrueAllows, rows }];
        attend(input, &AttentionSpec { mask, ..spec.clone() }, head)
    };
    let found = outcomes(&input(), &spec(vec![causal()]), leaky);
    assert_fails_at(outcome(&found, Check::NoLeakFromLaterTokens), 2, Some(4), "key 5");
}

#[test]
fn nan_in_a_later_value_that_is_multiplied_by_zero_leaks() {
    // Weights of 0 do not help an evaluation that multiplies every value, as 0 · NaN is NaN.
    let multiplies_all = |input: &HeadInput, spec: &AttentionSpec, head| {
        let mut found = attend(input, spec, head);
        let infinite = input.v.map(|value| if value > 2.5 { f64::INFINITY } else { value });
        found.output = found.weights.matmul(&infinite);
        found
    };
    let found = outcomes(&input(), &spec(vec![causal()]), multiplies_all);
    assert!(matches!(outcome(&found, Check::NoLeakFromLaterTokens), CheckOutcome::Fail { .. }));
}

#[test]
fn forgotten_padding_is_found() {
    let forgets = |input: &HeadInput, spec: &AttentionSpec, head| {
        attend(input, &AttentionSpec { mask: Vec::new(), ..spec.clone() }, head)
    };
    let padding = spec(vec![MaskRule::PaddedKeys(vec![false, false, false, false, true, true])]);
    let found = outcomes(&input(), &padding, forgets);
    assert_fails_at(outcome(&found, Check::PaddingMovesNothing), 0, Some(4), "what the padding holds");
    // All keys are valid, so nothing can be changed; but one more key moves the outputs.
    let found = outcomes(&input(), &spec(vec![MaskRule::ValidKeys(6)]), forgets);
    assert_fails_at(outcome(&found, Check::PaddingMovesNothing), 0, Some(6), "one more padding key");
}

#[test]
fn every_kind_of_layer_hides_one_more_key_when_the_padding_does() {
    let rows = vec![vec![true; 6]; 6];
    let convention = Convention::TrueAllows;
    let mask = vec![
        MaskRule::PaddedKeys(vec![true, false, false, false, false, false]),
        MaskRule::Window { left: Some(4), right: None },
        MaskRule::Documents(vec![0; 6]),
        MaskRule::Prefix(1),
        MaskRule::Global(vec![0]),
        MaskRule::Strided(1),
        MaskRule::Matrix { convention, rows },
        MaskRule::MatrixPerHead { convention: Convention::TrueBlocks, heads: vec![vec![vec![false; 6]; 6]] },
        MaskRule::Additive(Matrix::from_fn(6, 6, |i, j| 0.1 * i as f64 - 0.2 * j as f64)),
        MaskRule::AdditivePerHead(vec![Matrix::zeros(6, 6)]),
    ];
    let found = outcomes(&input(), &spec(mask), attend);
    assert_passes(outcome(&found, Check::PaddingMovesNothing), 2);
    assert_passes(outcome(&found, Check::KeyOrderDoesNotMatter), 1);
}

#[test]
fn one_more_padding_key_gives_no_document_to_a_query_that_has_none() {
    let one = |value: f64| Arc::new(Matrix::from_fn(1, 1, |_, _| value));
    let input = HeadInput { q: one(0.5), k: one(0.25), v: one(7.0) };
    let mask = vec![MaskRule::Documents(vec![0]), MaskRule::ValidKeys(1)];
    let spec = AttentionSpec { position_offset: 1, ..spec(mask) };
    assert_passes(outcome(&outcomes(&input, &spec, attend), Check::PaddingMovesNothing), 1);
}

#[test]
fn a_bottom_right_corner_is_not_moved_by_adding_keys() {
    let mask = vec![MaskRule::Causal(Corner::BottomRight), MaskRule::ValidKeys(5)];
    match outcome(&outcomes(&input(), &spec(mask), attend), Check::PaddingMovesNothing) {
        CheckOutcome::Pass { examined, note: Some(note) } => {
            assert_eq!(examined.count, 1);
            assert!(note.contains("bottom-right"));
        }
        other => panic!("expected a pass with a note, found {other:?}"),
    }
}

#[test]
fn softmax_over_the_queries_fails_and_says_that_columns_sum_to_one() {
    let mut spec = spec(Vec::new());
    spec.softmax.over = SoftmaxAxis::Queries;
    let found = outcomes(&input(), &spec, attend);
    assert_fails_at(outcome(&found, Check::RowsSumToOne), 0, None, "the columns sum to 1");
}

#[test]
fn a_row_with_nan_fails_and_a_row_that_sees_nothing_does_not() {
    let mut poisoned = input();
    Arc::make_mut(&mut poisoned.q).set(3, 0, f64::NAN);
    let found = outcomes(&poisoned, &spec(vec![causal()]), attend);
    assert_fails_at(outcome(&found, Check::RowsSumToOne), 3, None, "NaN");
    assert_passes(outcome(&found, Check::NoLeakFromLaterTokens), 5);

    let empty = vec![causal(), MaskRule::PaddedKeys(vec![true, true, false, false, false, false])];
    for policy in [EmptyRow::Zero, EmptyRow::NotANumber, EmptyRow::Uniform] {
        let mut spec = spec(empty.clone());
        spec.softmax.empty_rows = policy;
        let found = outcomes(&input(), &spec, attend);
        let n_rows = if policy == EmptyRow::Uniform { 6 } else { 4 };
        assert_passes(outcome(&found, Check::RowsSumToOne), n_rows);
        for check in [Check::BlockedWeightsAreZero, Check::NoLeakFromLaterTokens, Check::PaddingMovesNothing]
        {
            assert!(matches!(outcome(&found, check), CheckOutcome::Pass { .. }), "{policy:?} {check:?}");
        }
    }
}

#[test]
fn a_query_without_any_key_has_no_weights_that_could_sum_to_one() {
    let one_query = HeadInput {
        q: Arc::new(Matrix::zeros(1, 1)),
        k: Arc::new(Matrix::zeros(0, 1)),
        v: Arc::new(Matrix::zeros(0, 0)),
    };
    let mut spec = spec(Vec::new());
    spec.softmax.empty_rows = EmptyRow::Uniform;
    let found = outcomes(&one_query, &spec, attend);
    assert!(matches!(outcome(&found, Check::RowsSumToOne), CheckOutcome::NotApplicable { .. }));
}

#[test]
fn weights_that_do_not_sum_to_one_or_sit_on_blocked_pairs_are_found() {
    let unnormalised = |input: &HeadInput, spec: &AttentionSpec, head| {
        let mut found = attend(input, spec, head);
        found.weights.set(4, 1, found.weights.get(4, 1) + 0.01);
        found
    };
    let found = outcomes(&input(), &spec(vec![causal()]), unnormalised);
    assert_fails_at(outcome(&found, Check::RowsSumToOne), 4, None, "1.01");
    let leaky = |input: &HeadInput, spec: &AttentionSpec, head| {
        let mut found = attend(input, spec, head);
        found.weights.set(1, 2, 1e-12);
        found
    };
    let found = outcomes(&input(), &spec(vec![causal()]), leaky);
    assert_fails_at(outcome(&found, Check::BlockedWeightsAreZero), 1, Some(2), "exactly 0");
}

#[test]
fn an_evaluation_that_minds_the_order_of_keys_is_found() {
    let favours_the_first = |input: &HeadInput, spec: &AttentionSpec, head| {
        let mut found = attend(input, spec, head);
        let first = input.v.get(0, 0);
        found.output.set(2, 0, found.output.get(2, 0) + 1e-9 * first);
        found
    };
    let found = outcomes(&input(), &spec(Vec::new()), favours_the_first);
    assert_fails_at(outcome(&found, Check::KeyOrderDoesNotMatter), 2, None, "reverse order");
}

#[test]
fn a_prefix_is_open_to_all_and_no_leak() {
    let found = outcomes(&input(), &spec(vec![causal(), MaskRule::Prefix(3)]), attend);
    assert_passes(outcome(&found, Check::NoLeakFromLaterTokens), 3);
}

#[test]
fn long_inputs_are_sampled_and_the_outcome_says_so() {
    let n = 192;
    let wave =
        |step: f64| Arc::new(Matrix::from_fn(n, 16, move |row, col| (step * (16 * row + col) as f64).sin()));
    let input = HeadInput { q: wave(0.9), k: wave(1.7), v: wave(2.3) };
    let spec = spec(vec![causal()]);
    let attention = attend(&input, &spec, 0);
    let head = CheckedHead { query_head: 0, input: &input, attention: &attention };
    let found = standing_checks(&[head], &spec);
    match outcome(&found, Check::NoLeakFromLaterTokens) {
        CheckOutcome::Pass { examined, .. } => {
            assert!(examined.count >= 1 && examined.count < examined.of, "{examined:?}");
            assert_eq!((examined.of, examined.is_complete()), (n - 1, false));
        }
        other => panic!("expected a pass, found {other:?}"),
    }
}

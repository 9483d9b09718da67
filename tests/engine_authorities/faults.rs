//! Each named mistake gives the number that people reported, or one that is plainly wrong.

use std::sync::Arc;

use qkv::engine::{
    Attention, AttentionSpec, Check, CheckOutcome, CheckedHead, Convention, Corner, Fault, FaultInForce,
    FaultSite, HeadInput, MaskRule, Matrix, attend, concat_heads, faulty_concat, faulty_kv_head_of,
    faulty_split, kv_head_of, project, split_heads, standing_checks,
};
use serde_json::Value;

use crate::cases::{TOLERANCE, assert_stages, case, causal, with_mask};
use crate::json::{assert_all_close, assert_close, booleans, head, head_of, matrix};

const D_MODEL: usize = 8;

fn attend_with_fault(fault: Fault, input: &HeadInput, spec: &AttentionSpec, d_model: usize) -> Attention {
    let fault = Some(FaultInForce { fault, d_model });
    attend(input, &AttentionSpec { fault, ..spec.clone() }, 0)
}

fn input(case: &Value) -> HeadInput {
    let inputs = &case["inputs"];
    head(&inputs["Q"], &inputs["K"], &inputs["V"])
}

fn faulty(fault: Fault, input: &HeadInput, mask: Vec<MaskRule>) -> Attention {
    attend_with_fault(fault, input, &AttentionSpec { mask, ..Default::default() }, D_MODEL)
}

fn wave(rows: usize, cols: usize, step: f64) -> Matrix {
    Matrix::from_fn(rows, cols, |row, col| (step * (row * cols + col) as f64 + 0.3).sin() * 2.0)
}

fn some_head(n_q: usize, n_k: usize) -> HeadInput {
    head_of(wave(n_q, 4, 0.9), wave(n_k, 4, 1.7), wave(n_k, 3, 0.5))
}

#[test]
fn softmax_over_the_queries_makes_the_columns_sum_to_one() {
    let case = case("C37");
    assert_stages("wrong axis", &faulty(Fault::SoftmaxOverQueries, &input(&case), vec![]), &case["if_wrong"]);
}

#[test]
fn a_forgotten_scale_and_the_scale_of_the_model() {
    let case = case("C26");
    let found = faulty(Fault::NoScale, &input(&case), vec![]);
    let row = |name: &str| matrix(&case["expected"][name]["weights"]);
    assert_all_close("no scale", found.weights.row(0), row("scale_1").row(0), TOLERANCE);
    let model = attend_with_fault(Fault::ModelWidthScale, &input(&case), &AttentionSpec::default(), 3);
    assert_all_close("1/√3", model.weights.row(0), row("scale_inv_sqrt3").row(0), TOLERANCE);
}

#[test]
fn an_inverted_boolean_mask_shows_what_was_hidden_and_hides_what_was_shown() {
    let case = case("C02");
    let rows = booleans(&case["inputs"]["boolean"]);
    let mask = vec![MaskRule::Matrix { convention: Convention::TrueAllows, rows }];
    let found = faulty(Fault::InvertedBoolean, &input(&case), mask.clone());
    let expected = &case["expected"]["true_blocks"];
    for stage in ["weights", "output"] {
        assert_stages("inverted", &found, &serde_json::json!({ stage: expected[stage] }));
    }
    assert_eq!(found.blocked_by, with_mask(&input(&case), mask).blocked_by);
}

#[test]
fn a_mask_after_the_softmax_leaves_rows_that_sum_to_less_than_one() {
    let input = some_head(3, 3);
    let unmasked = attend(&input, &AttentionSpec::default(), 0);
    let found = faulty(Fault::MaskAfterSoftmax, &input, vec![causal()]);
    assert_eq!(found.weights.row(0), [unmasked.weights.get(0, 0), 0.0, 0.0]);
    assert!(found.weights.row(1).iter().sum::<f64>() < 0.99);
    assert_eq!(found.weights.row(2), unmasked.weights.row(2));
    // A later token reaches an earlier output through the sum.
    let leak = outcomes(Fault::MaskAfterSoftmax, &input, vec![causal()], Check::NoLeakFromLaterTokens);
    assert!(matches!(leak, CheckOutcome::Fail { .. }), "{leak:?}");
}

#[test]
fn a_mask_multiplied_in_gives_blocked_keys_the_weight_of_a_score_of_zero() {
    let input = some_head(2, 2);
    let found = faulty(Fault::MaskMultiplied, &input, vec![causal()]);
    let score = attend(&input, &AttentionSpec::default(), 0).scaled_scores.get(0, 0);
    assert_eq!(found.masked_scores.row(0), [score, 0.0]);
    assert!((found.weights.get(0, 1) - 1.0 / (1.0 + score.exp())).abs() < 1e-15);
}

#[test]
fn a_finite_penalty_forgets_the_mask_where_everything_is_blocked() {
    let input = some_head(2, 3);
    let mask = vec![MaskRule::ValidKeys(0)];
    let unmasked = attend(&input, &AttentionSpec::default(), 0);
    let thousand = faulty(Fault::MinusTenThousand, &input, mask.clone());
    assert_close("as if nothing were blocked", &thousand.weights, &unmasked.weights, 1e-11);
    let billion = faulty(Fault::MinusOneBillion, &input, mask);
    let third = f64::from(1.0_f32 / 3.0);
    assert_eq!(billion.weights, Matrix::from_fn(2, 3, |_, _| third));
    // Where something is visible, both are right to the last bit.
    let half = vec![MaskRule::ValidKeys(2)];
    let right = with_mask(&input, half.clone());
    assert_eq!(faulty(Fault::MinusTenThousand, &input, half).weights, right.weights);
}

#[test]
fn exp_without_the_maximum_overflows() {
    let case = case("C27");
    let scores = input(&case);
    let spec = AttentionSpec { scoring: qkv::engine::Scoring::Scale(1.0), ..Default::default() };
    assert!(attend(&scores, &spec, 0).weights.data().iter().all(|weight| weight.is_finite()));
    let found = attend_with_fault(Fault::NaiveExp, &scores, &spec, D_MODEL);
    assert!(found.weights.data().iter().all(|weight| weight.is_nan()));
}

#[test]
fn the_wrong_corner_is_the_other_one() {
    let case = case("C14");
    for (corner, other) in [(Corner::TopLeft, "bottom_right"), (Corner::BottomRight, "top_left")] {
        let found = faulty(Fault::WrongCorner, &input(&case), vec![MaskRule::Causal(corner)]);
        let weights = serde_json::json!({ "weights": case["expected"][other]["weights"] });
        assert_stages(other, &found, &weights);
    }
}

#[test]
fn padding_on_query_rows_lets_real_queries_see_padded_keys() {
    let input = some_head(3, 3);
    let mask = vec![MaskRule::PaddedKeys(vec![false, false, true])];
    let found = faulty(Fault::PaddingOnQueryRows, &input, mask);
    assert!(found.weights.get(0, 2) > 0.0);
    assert_eq!(found.weights.row(2), [0.0; 3]);
}

#[test]
fn tiled_kv_heads_send_a_query_head_to_the_wrong_keys() {
    let case = case("C21");
    let read = |name: &str, head: usize| matrix(&case["inputs"][name][head]);
    let heads = [0, 1, 2, 3].map(|head| kv_head_of(head, 4, 2).unwrap());
    let tiled = [0, 1, 2, 3].map(|head| faulty_kv_head_of(head, 4, 2).unwrap());
    assert_eq!((heads, tiled), ([0, 0, 1, 1], [0, 1, 0, 1]));
    let wrong = with_mask(&head_of(read("Q", 1), read("K", tiled[1]), read("V", tiled[1])), vec![]);
    // What the report saw for query head 1, at the four digits that it gives.
    assert_all_close("tiled", wrong.output.row(0), &[1.4084, 1.4784], 5e-5);
    assert!(faulty_kv_head_of(0, 6, 4).is_err());
}

#[test]
fn heads_merged_without_a_transpose_put_one_head_in_a_row() {
    let case = case("C22");
    let outputs: Vec<Matrix> =
        case["expected"]["head_output"].as_array().unwrap().iter().map(matrix).collect();
    let merged = faulty_concat(&outputs.iter().collect::<Vec<_>>());
    assert_all_close("merged", merged.row(0), &[-4.4894, 5.9976, 2.4986, 2.4902], 5e-5);
    assert_eq!(concat_heads(&outputs.iter().collect::<Vec<_>>()).row(0)[..2], merged.row(0)[..2]);
}

#[test]
fn heads_split_without_a_transpose_hold_pieces_of_a_few_tokens() {
    let case = case("C22");
    let q = project(&matrix(&case["inputs"]["X"]), &matrix(&case["inputs"]["W_Q"]), None); // (3, 4)
    let (right, wrong) = (split_heads(&q, 2).unwrap(), faulty_split(&q, 2).unwrap());
    assert_eq!((wrong[0].row(0), wrong[0].row(1)), (&q.row(0)[..2], &q.row(0)[2..]));
    assert_eq!(wrong[0].row(0), right[0].row(0));
    assert_ne!(wrong[0].row(1), right[0].row(1));
    // The two mistakes undo each other, which is why nobody notices until a mask or a bias is per token.
    assert_eq!(faulty_concat(&wrong.iter().collect::<Vec<_>>()), q);
}

#[test]
fn a_soft_cap_after_the_mask_lets_a_blocked_key_leak() {
    let case = case("C08");
    let mask = vec![MaskRule::Matrix {
        convention: Convention::TrueAllows,
        rows: booleans(&case["inputs"]["boolean_true_allows"]),
    }];
    let spec = AttentionSpec { softcap: case["inputs"]["softcap"].as_f64(), mask, ..Default::default() };
    let found = attend_with_fault(Fault::SoftCapAfterMask, &input(&case), &spec, D_MODEL);
    assert_stages("leak", &found, &case["if_wrong"]);
    let checked = CheckedHead { query_head: 0, input: &input(&case), attention: &found };
    let leak = &standing_checks(&[checked], &spec)[1];
    assert!(matches!(leak, (Check::BlockedWeightsAreZero, CheckOutcome::Fail { .. })), "{leak:?}");
}

#[test]
fn a_bias_scaled_with_the_scores_loses_half_its_force_at_a_key_width_of_four() {
    let input = some_head(2, 3);
    let bias = wave(2, 3, 1.1);
    let found = faulty(Fault::BiasScaledWithScores, &input, vec![MaskRule::Additive(bias.clone())]);
    let scaled = attend(&input, &AttentionSpec::default(), 0).scaled_scores;
    let expected = Matrix::from_fn(2, 3, |row, col| scaled.get(row, col) + bias.get(row, col) / 2.0);
    assert_close("masked", &found.masked_scores, &expected, 1e-15);
}

#[test]
fn a_sum_in_half_precision_stalls_at_2048() {
    let expected = &case("C29")["if_wrong"]["f16_running_sum_of_4096_ones"];
    let n_k = 4096;
    let input = head_of(Matrix::zeros(1, 1), Matrix::zeros(n_k, 1), Matrix::from_fn(n_k, 1, |_, _| 1.0));
    let found = faulty(Fault::SumInHalfPrecision, &input, vec![]);
    assert_eq!(Some(found.row_sum[0]), expected.as_f64());
    assert_eq!(found.output.row(0), [2.0]);
}

#[test]
fn a_fault_of_what_a_head_does_not_have_changes_nothing() {
    let input = some_head(3, 4);
    let plain = attend(&input, &AttentionSpec::default(), 0);
    for fault in [
        Fault::InvertedBoolean,
        Fault::MaskAfterSoftmax,
        Fault::MaskMultiplied,
        Fault::MinusTenThousand,
        Fault::WrongCorner,
        Fault::PaddingOnQueryRows,
        Fault::SoftCapAfterMask,
        Fault::BiasScaledWithScores,
    ] {
        assert_eq!(faulty(fault, &input, vec![]), plain, "{fault:?}");
    }
}

#[test]
fn every_fault_of_a_head_changes_a_number_somewhere() {
    let bias = Matrix::from_fn(4, 4, |query, key| if query == key { 0.5 } else { -0.25 });
    let spec = AttentionSpec {
        softcap: Some(2.0),
        mask: vec![
            MaskRule::Causal(Corner::TopLeft),
            MaskRule::PaddedKeys(vec![true, false, false, false]),
            MaskRule::Additive(bias),
        ],
        ..Default::default()
    };
    for fault in Fault::ALL.into_iter().filter(|fault| fault.site() == FaultSite::Head) {
        let (mut input, mut spec) = (some_head(4, 4), spec.clone());
        match fault {
            // Overflow and the other corner need other inputs.
            Fault::NaiveExp => {
                Arc::make_mut(&mut input.q).row_mut(1).fill(1e6);
                spec.softcap = None;
            }
            Fault::WrongCorner => {
                input.q = Arc::new(input.q.row_range(0, 3));
                spec.mask.truncate(1);
            }
            _ => {}
        }
        let plain = attend(&input, &spec, 0);
        let found = attend_with_fault(fault, &input, &spec, D_MODEL);
        assert_ne!(found.weights, plain.weights, "{fault:?}");
        assert_eq!(found.blocked_by, plain.blocked_by, "{fault:?}");
    }
}

fn outcomes(fault: Fault, input: &HeadInput, mask: Vec<MaskRule>, check: Check) -> CheckOutcome {
    let spec = AttentionSpec { mask, ..Default::default() };
    let wrong = |input: &HeadInput, spec: &AttentionSpec, _| attend_with_fault(fault, input, spec, D_MODEL);
    let attention = wrong(input, &spec, 0);
    let checked = CheckedHead { query_head: 0, input, attention: &attention };
    let outcomes = qkv::engine::standing_checks_of(&[checked], &spec, wrong);
    outcomes.into_iter().find(|(found, _)| *found == check).unwrap().1
}

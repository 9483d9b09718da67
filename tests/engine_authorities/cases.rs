//! Small cases distilled from public bug reports on other people's attention.

use qkv::engine::{
    Attention, AttentionSpec, Convention, Corner, EmptyRow, HeadInput, MaskRule, Matrix, Scoring,
    SoftmaxAxis, attend, concat_heads, entropy_bits, entropy_nats, kv_head_of, project, split_heads,
};
use serde_json::Value;

use crate::json::{assert_all_close, assert_close, booleans, head, head_of, load, matrices, matrix, vector};

pub const TOLERANCE: f64 = 1e-12;

pub fn case(id: &str) -> Value {
    let all = load("engine/cases.json");
    let found = all["cases"].as_array().unwrap().iter().find(|case| case["id"] == id);
    found.unwrap_or_else(|| panic!("no case {id}")).clone()
}

fn input(case: &Value) -> HeadInput {
    let inputs = &case["inputs"];
    head(&inputs["Q"], &inputs["K"], &inputs["V"])
}

pub fn with_mask(input: &HeadInput, mask: Vec<MaskRule>) -> Attention {
    attend(input, &AttentionSpec { mask, ..Default::default() }, 0)
}

pub fn assert_stages(place: &str, found: &Attention, expected: &Value) {
    let stages = [
        ("scaled", &found.scaled_scores),
        ("masked", &found.masked_scores),
        ("weights", &found.weights),
        ("output", &found.output),
    ];
    let mut n_compared = 0;
    for (name, found) in stages {
        if let Some(expected) = expected.get(name) {
            assert_close(&format!("{place} {name}"), found, &matrix(expected), TOLERANCE);
            n_compared += 1;
        }
    }
    assert!(n_compared > 0, "{place}: nothing to compare with");
}

fn allows(value: &Value) -> MaskRule {
    MaskRule::Matrix { convention: Convention::TrueAllows, rows: booleans(value) }
}

pub fn causal() -> MaskRule {
    MaskRule::Causal(Corner::TopLeft)
}

#[test]
fn a_lower_triangle_of_ones_added_to_the_scores_hides_nothing() {
    let case = case("C01");
    let additive = matrix(&case["inputs"]["additive"]);
    let found = with_mask(&input(&case), vec![MaskRule::Additive(additive.clone())]);
    assert_stages("added", &found, &case["expected"]["read_as_additive"]);
    let rows = additive.iter_rows().map(|row| row.iter().map(|&entry| entry == 1.0).collect()).collect();
    let found = with_mask(&input(&case), vec![MaskRule::Matrix { convention: Convention::TrueAllows, rows }]);
    assert_stages("allowed", &found, &case["expected"]["read_as_boolean_true_allows"]);
}

#[test]
fn one_boolean_matrix_means_two_things() {
    let case = case("C02");
    let rows = booleans(&case["inputs"]["boolean"]);
    let conventions = [(Convention::TrueAllows, "true_allows"), (Convention::TrueBlocks, "true_blocks")];
    for (convention, name) in conventions {
        let found = with_mask(&input(&case), vec![MaskRule::Matrix { convention, rows: rows.clone() }]);
        assert_stages(name, &found, &case["expected"][name]);
    }
}

#[test]
fn a_query_that_sees_nothing_follows_the_policy_and_the_other_rows_do_not_notice() {
    let case = case("C04");
    let evaluate = |empty_rows| {
        let mut spec = AttentionSpec {
            mask: vec![allows(&case["inputs"]["boolean_true_allows"])],
            ..Default::default()
        };
        spec.softmax.empty_rows = empty_rows;
        attend(&input(&case), &spec, 0)
    };
    let zero = evaluate(EmptyRow::Zero);
    assert_stages("zero", &zero, &case["expected"]["policy_zero"]);
    assert_eq!((zero.row_max[1], zero.row_sum[1]), (f64::NEG_INFINITY, 0.0));
    let others = [(EmptyRow::Uniform, "policy_finite_minimum"), (EmptyRow::NotANumber, "policy_nan")];
    for (policy, name) in others {
        let found = evaluate(policy);
        let expected = &case["expected"][name];
        assert_all_close(name, found.weights.row(1), &vector(&expected["weights_row"]), TOLERANCE);
        assert_all_close(name, found.output.row(1), &vector(&expected["output_row"]), TOLERANCE);
        for row in [0, 2] {
            assert_eq!(found.weights.row(row), zero.weights.row(row), "{name}");
            assert_eq!(found.output.row(row), zero.output.row(row), "{name}");
        }
    }
}

#[test]
fn nan_and_infinity_in_a_blocked_key_and_value_do_not_reach_the_result() {
    let case = case("C05");
    let mask = vec![allows(&case["inputs"]["boolean_true_allows"])];
    let poisoned = with_mask(&input(&case), mask.clone());
    assert_stages("poisoned", &poisoned, &case["expected"]);
    let mut clean = input(&case);
    let finite = |matrix: &Matrix| matrix.map(|value| if value.is_finite() { value } else { 1.0 });
    clean = head_of((*clean.q).clone(), finite(&clean.k), finite(&clean.v));
    let clean = with_mask(&clean, mask);
    assert_eq!(poisoned.weights, clean.weights);
    assert_eq!(poisoned.output, clean.output);
    assert_eq!(poisoned.masked_scores, clean.masked_scores);
    assert_eq!((poisoned.row_max, poisoned.row_sum), (clean.row_max, clean.row_sum));
}

#[test]
fn padding_at_the_left_and_causal_together_leave_the_first_rows_empty() {
    let case = case("C06");
    let padding = vector(&case["inputs"]["padding_valid"]).iter().map(|&valid| valid == 0.0).collect();
    let found = with_mask(&input(&case), vec![causal(), MaskRule::PaddedKeys(padding)]);
    assert_stages("both", &found, &case["expected"]["policy_zero"]);
    let empty: Vec<_> = (0..4).filter(|&row| found.row_sum[row] == 0.0).collect();
    assert_eq!(empty, [0, 1]);
}

#[test]
fn the_soft_cap_comes_before_the_mask() {
    let case = case("C08");
    let spec = AttentionSpec {
        softcap: case["inputs"]["softcap"].as_f64(),
        mask: vec![allows(&case["inputs"]["boolean_true_allows"])],
        ..Default::default()
    };
    let found = attend(&input(&case), &spec, 0);
    for stage in ["masked", "weights", "output"] {
        let one = serde_json::json!({ stage: case["expected"][stage] });
        assert_stages("capped", &found, &one);
    }
    let uncapped = attend(&input(&case), &AttentionSpec { softcap: None, ..spec }, 0);
    assert_close("scaled", &uncapped.scaled_scores, &matrix(&case["expected"]["scaled"]), TOLERANCE);
}

#[test]
fn packed_documents_do_not_see_each_other() {
    let case = case("C10");
    let segments = case["inputs"]["segments"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap());
    let mask = vec![causal(), MaskRule::Documents(segments.collect())];
    let found = with_mask(&input(&case), mask.clone());
    assert_stages("packed", &found, &case["expected"]);
    let HeadInput { q, k, v } = input(&case);
    let (mut k, mut v) = ((*k).clone(), (*v).clone());
    k.row_mut(0).copy_from_slice(&[9.0, -9.0]);
    v.row_mut(0).copy_from_slice(&[77.0, 77.0]);
    let changed = with_mask(&head_of((*q).clone(), k, v), mask);
    assert_eq!(changed.output.row(3), found.output.row(3));
    assert_eq!(changed.output.row(4), found.output.row(4));
    assert_ne!(changed.output.row(0), found.output.row(0));
}

#[test]
fn a_window_works_without_any_other_mask() {
    let case = case("C12");
    let found = with_mask(&input(&case), vec![MaskRule::Window { left: Some(1), right: Some(1) }]);
    assert_stages("window", &found, &case["expected"]);
}

#[test]
fn both_causal_corners_are_offered_when_queries_and_keys_differ_in_number() {
    for id in ["C14", "C15"] {
        let case = case(id);
        for (corner, name) in [(Corner::TopLeft, "top_left"), (Corner::BottomRight, "bottom_right")] {
            let found = with_mask(&input(&case), vec![MaskRule::Causal(corner)]);
            assert_stages(&format!("{id} {name}"), &found, &case["expected"][name]);
        }
    }
}

#[test]
fn one_query_after_three_cached_keys_sees_all_four() {
    let case = case("C14");
    let spec = AttentionSpec { mask: vec![causal()], position_offset: 3, ..Default::default() };
    let found = attend(&input(&case), &spec, 0);
    assert_stages("decode step", &found, &case["expected"]["bottom_right"]);
}

#[test]
fn a_window_of_three_keys_is_two_before_and_the_token_itself() {
    let case = case("C17");
    let width = case["inputs"]["window_tokens_including_self"].as_u64().unwrap() as usize;
    let mask = vec![causal(), MaskRule::Window { left: Some(width - 1), right: None }];
    let found = with_mask(&input(&case), mask);
    assert_stages("window", &found, &case["expected"]);
    let visible: Vec<_> =
        (0..5).map(|query| (0..5).filter(|&key| found.allows(query, key)).count()).collect();
    assert_eq!(visible, [1, 2, 3, 3, 3]);
}

#[test]
fn a_window_wider_than_the_text_is_plain_causal() {
    let case = case("C19");
    let wide = with_mask(&input(&case), vec![causal(), MaskRule::Window { left: Some(9), right: None }]);
    assert_stages("wide window", &wide, &case["expected"]);
    assert_eq!(wide, with_mask(&input(&case), vec![causal()]));
}

#[test]
fn consecutive_query_heads_share_a_kv_head() {
    for id in ["C21", "C24"] {
        let case = case(id);
        let inputs = &case["inputs"];
        let (q, k, v) = (matrices(&inputs["Q"]), matrices(&inputs["K"]), matrices(&inputs["V"]));
        let mut n_compared = 0;
        for (query_head, q) in q.iter().enumerate() {
            let kv_head = kv_head_of(query_head, inputs["Q"].as_array().unwrap().len(), k.len()).unwrap();
            assert_eq!(Some(kv_head as u64), inputs["kv_head_of_query_head"][query_head].as_u64());
            let input = head_of(q.clone(), k[kv_head].clone(), v[kv_head].clone());
            let found = attend(&input, &AttentionSpec::default(), query_head);
            for (name, found) in [("weights", &found.weights), ("output", &found.output)] {
                if let Some(expected) = case["expected"].get(name) {
                    let place = format!("{id} head {query_head} {name}");
                    assert_close(&place, found, &matrix(&expected[query_head]), TOLERANCE);
                    n_compared += 1;
                }
            }
        }
        assert!(n_compared >= q.len());
    }
}

#[test]
fn heads_take_columns_and_stand_side_by_side_again() {
    let case = case("C22");
    let inputs = &case["inputs"];
    let x = matrix(&inputs["X"]);
    let n_heads = inputs["heads"].as_u64().unwrap() as usize;
    let projected = ["Q", "K", "V"].map(|name| {
        let y = project(&x, &matrix(&inputs[format!("W_{name}")]), None);
        assert_close(name, &y, &matrix(&case["expected"][name]), TOLERANCE);
        split_heads(&y, n_heads).unwrap()
    });
    let [q, k, v] = projected;
    let heads: Vec<_> = (0..n_heads)
        .map(|h| with_mask(&head_of(q[h].clone(), k[h].clone(), v[h].clone()), Vec::new()))
        .collect();
    for (h, head) in heads.iter().enumerate() {
        assert_close("weights", &head.weights, &matrix(&case["expected"]["weights"][h]), TOLERANCE);
        assert_close("output", &head.output, &matrix(&case["expected"]["head_output"][h]), TOLERANCE);
    }
    let concat = concat_heads(&heads.iter().map(|head| &head.output).collect::<Vec<_>>());
    assert_close("concat", &concat, &matrix(&case["expected"]["concat"]), TOLERANCE);
    let output = project(&concat, &matrix(&inputs["W_O"]), None);
    assert_close("output", &output, &matrix(&case["expected"]["output"]), TOLERANCE);
}

#[test]
fn an_explicit_scale_is_obeyed_and_the_default_comes_from_the_key_width() {
    let case = case("C26");
    let scorings = [
        (Scoring::ScaledDot, "default"),
        (Scoring::Scale(1.0), "scale_1"),
        (Scoring::Scale(0.577_350_269_189_626), "scale_inv_sqrt3"),
    ];
    for (scoring, name) in scorings {
        let found = attend(&input(&case), &AttentionSpec { scoring, ..Default::default() }, 0);
        assert_stages(name, &found, &case["expected"][name]);
    }
}

#[test]
fn scores_near_784449_do_not_overflow() {
    let case = case("C27");
    let spec = AttentionSpec { scoring: Scoring::Scale(1.0), ..Default::default() };
    assert_stages("huge", &attend(&input(&case), &spec, 0), &case["expected"]);
}

#[test]
fn nan_in_one_query_spoils_that_row_only() {
    let case = case("C30");
    let found = with_mask(&input(&case), Vec::new());
    assert_stages("one NaN", &found, &case["expected"]);
    assert!(
        found.row_max[1].is_nan() && found.row_sum[1].is_nan(),
        "not mistaken for a row that sees nothing"
    );
}

#[test]
fn the_entropy_of_a_row_with_zeros_is_a_number() {
    let case = case("C33");
    let rows: Vec<_> = case["inputs"]["rows"].as_array().unwrap().iter().map(vector).collect();
    let nats: Vec<_> = rows.iter().map(|row| entropy_nats(row)).collect();
    let bits: Vec<_> = rows.iter().map(|row| entropy_bits(row)).collect();
    assert_all_close("nats", &nats, &vector(&case["expected"]["entropy_nats"]), TOLERANCE);
    assert_all_close("bits", &bits, &vector(&case["expected"]["entropy_bits"]), TOLERANCE);
}

#[test]
fn one_token_no_keys_and_no_queries_are_all_fine() {
    let case = case("C35");
    let one = &case["inputs"]["one_token"];
    let found = with_mask(&head(&one["Q"], &one["K"], &one["V"]), Vec::new());
    assert_stages("one token", &found, &case["expected"]["one_token"]);

    let no_keys = head_of(matrix(&case["inputs"]["no_keys"]["Q"]), Matrix::zeros(0, 2), Matrix::zeros(0, 3));
    let found = with_mask(&no_keys, vec![causal()]);
    assert_eq!((found.weights.rows(), found.weights.cols()), (1, 0));
    assert_close("no keys", &found.output, &matrix(&case["expected"]["no_keys"]["output"]), 0.0);
    let mut spec = AttentionSpec::default();
    spec.softmax.empty_rows = EmptyRow::NotANumber;
    assert!(attend(&no_keys, &spec, 0).output.row(0).iter().all(|value| value.is_nan()));

    let one_key = &case["inputs"]["no_queries"];
    let no_queries = head_of(Matrix::zeros(0, 2), matrix(&one_key["K"]), matrix(&one_key["V"]));
    for over in [SoftmaxAxis::Keys, SoftmaxAxis::Queries] {
        spec.softmax.over = over;
        let found = attend(&no_queries, &spec, 0);
        assert_eq!((found.output.rows(), found.output.cols()), (0, 1));
    }
}

#[test]
fn softmax_runs_along_the_keys_and_the_other_axis_is_the_known_mistake() {
    let case = case("C37");
    assert_stages("keys", &with_mask(&input(&case), Vec::new()), &case["expected"]);
    let mut spec = AttentionSpec::default();
    spec.softmax.over = SoftmaxAxis::Queries;
    let wrong = attend(&input(&case), &spec, 0);
    assert_stages("queries", &wrong, &case["if_wrong"]);
    for key in 0..3 {
        let sum = wrong.weights.get(0, key) + wrong.weights.get(1, key);
        assert_all_close("column", &[sum], &[1.0], TOLERANCE);
    }
    assert_eq!((wrong.column_max.len(), wrong.column_sum.len()), (3, 3));
}

#[test]
fn no_stage_holds_a_minus_zero() {
    assert_eq!(case("C57")["inputs"]["values"][0]["value"], "-0.0");
    let q = Matrix::from_rows(&[[-0.0, 0.0], [1.0, -1.0], [-1e-200, 1e-200]]).unwrap();
    let v = Matrix::from_rows(&[[-0.0, -1e-320], [-0.0, 0.0], [-0.0, -0.0]]).unwrap();
    let input = head_of(q.clone(), q.map(|value| -value), v);
    for scoring in [Scoring::ScaledDot, Scoring::Scale(-1.0)] {
        for softcap in [None, Some(2.0), Some(-2.0)] {
            let mask = vec![causal(), MaskRule::Additive(Matrix::from_fn(3, 3, |_, _| -0.0))];
            let spec = AttentionSpec { scoring: scoring.clone(), softcap, mask, ..Default::default() };
            let found = attend(&input, &spec, 0);
            let stages =
                [found.raw_scores, found.scaled_scores, found.masked_scores, found.weights, found.output];
            for stage in stages {
                assert!(
                    stage.data().iter().all(|value| value.to_bits() != (-0.0_f64).to_bits()),
                    "{stage:?}"
                );
            }
        }
    }
}

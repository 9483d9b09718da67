//! The printed numbers of the texts behind the scenes, at full precision and as printed.

use qkv::engine::{Attention, Matrix, Scoring};
use serde_json::Value;

use crate::lesson::{Lesson, numbers};

const READINGS: &str = include_str!("../data/readings.json");
const TOLERANCE: f64 = 1e-12;

fn reading(name: &str) -> Value {
    let all: Value = serde_json::from_str(READINGS).unwrap();
    let found = all[name].clone();
    assert!(!found.is_null(), "{name}");
    found
}

fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("-inf") => f64::NEG_INFINITY,
        Some(other) => panic!("{other}"),
        None => value.as_f64().unwrap(),
    }
}

fn close(found: f64, expected: f64) -> bool {
    found == expected || (found - expected).abs() <= TOLERANCE
}

fn assert_rows(what: &str, found: &Matrix, first_row: usize, expected: &Value) {
    let expected = expected.as_array().unwrap();
    for (row_idx, row) in expected.iter().enumerate() {
        let found = found.row(first_row + row_idx);
        let row: Vec<f64> = row.as_array().unwrap().iter().map(number).collect();
        assert_eq!(found.len(), row.len(), "{what}");
        assert!(found.iter().zip(&row).all(|(f, e)| close(*f, *e)), "{what}: {found:?}, expected {row:?}");
    }
}

/// Every stage of head 1, from `first_row` (counted from 0) on, against a reading.
fn assert_stages(scene: &str, first_row: usize, name: &str) {
    let lesson = Lesson::open(scene);
    let expected = reading(name);
    let Attention { raw_scores, scaled_scores, masked_scores, weights, output, .. } = lesson.head(1);
    let stages = [
        ("raw_scores", raw_scores),
        ("scaled_scores", scaled_scores),
        ("masked_scores", masked_scores),
        ("weights", weights),
        ("output", output),
    ];
    for (stage, matrix) in stages {
        assert_eq!(matrix.rows(), first_row + expected[stage].as_array().unwrap().len(), "{scene}: {stage}");
        assert_rows(&format!("{scene}: {stage}"), matrix, first_row, &expected[stage]);
    }
    let input = &lesson.evaluation.heads[0].input;
    assert_rows(&format!("{scene}: q"), &input.q, first_row, &expected["q"]);
    assert_rows(&format!("{scene}: k"), &input.k, 0, &expected["k"]);
    assert_rows(&format!("{scene}: v"), &input.v, 0, &expected["v"]);
    if let Some(allowed) = expected["mask_allowed"].as_array() {
        for (query, row) in allowed.iter().enumerate() {
            for (key, allowed) in row.as_array().unwrap().iter().enumerate() {
                assert_eq!(
                    Some(lesson.head(1).allows(query, key)),
                    allowed.as_bool(),
                    "{scene}: {query}, {key}"
                );
            }
        }
    }
}

#[test]
fn every_stage_agrees_with_the_readings_at_full_precision() {
    for (scene, name) in [
        ("two_positions", "lesson_two_positions_q_1_0"),
        ("two_positions_second_key", "lesson_two_positions_q_0_1"),
        ("two_positions_even", "lesson_two_positions_q_1_1"),
        ("three_positions", "lesson_three_positions"),
        ("three_positions_causal", "lesson_three_positions_causal"),
        ("causal_and_padding", "lesson_causal_and_padding"),
        ("animals_and_places", "animal_place"),
        ("query_times_four", "exercise_query_times_4"),
        ("duplicate_key", "exercise_duplicate_key_0"),
    ] {
        assert_stages(scene, 0, name);
    }
}

#[test]
fn the_unscaled_gap_and_the_stable_softmax_give_the_same_weights() {
    let gap = reading("lesson_unscaled_gap");
    assert_rows(
        "without scaling",
        &Lesson::open("without_scaling").head(1).weights,
        0,
        &Value::from(vec![gap]),
    );
    let stable = reading("lesson_stable_softmax");
    let lesson = Lesson::open("large_scores");
    assert_rows("large scores", &lesson.head(1).raw_scores, 0, &Value::from(vec![stable["scores"].clone()]));
    assert_rows("large scores", &lesson.head(1).weights, 0, &Value::from(vec![stable["weights"].clone()]));
}

#[test]
fn the_additive_scorer_draws_the_same_parameters_bit_for_bit_and_scores_alike() {
    let expected = reading("additive_scorer");
    let lesson = Lesson::open("additive_scorer");
    let Scoring::Additive { w_q, w_k, v } = &lesson.scene.attention_spec().scoring else {
        panic!("the scorer is additive")
    };
    let flat = |value: &Value| -> Vec<f64> {
        let rows = value.as_array().unwrap().iter();
        rows.flat_map(|row| row.as_array().cloned().unwrap_or_else(|| vec![row.clone()]))
            .map(|x| number(&x))
            .collect()
    };
    assert_eq!(w_q.data(), flat(&expected["w_q"]));
    assert_eq!(w_k.data(), flat(&expected["w_k"]));
    assert_eq!(**v, flat(&expected["v"]));
    assert_eq!(Some((w_q.data().len() + w_k.data().len() + v.len()) as u64), expected["parameters"].as_u64());
    let head = lesson.head(1);
    for (found, name) in [(&head.raw_scores, "scores"), (&head.weights, "weights"), (&head.output, "output")]
    {
        assert_rows(name, found, 0, &Value::from(vec![expected[name].clone()]));
    }
}

#[test]
fn the_dot_scorer_is_the_first_row_of_the_animal_example() {
    let expected = reading("animal_place");
    let lesson = Lesson::open("dot_scorer");
    for (found, name) in
        [(&lesson.head(1).scaled_scores, "scaled_scores"), (&lesson.head(1).weights, "weights")]
    {
        assert_rows(name, found, 0, &Value::from(vec![expected[name][0].clone()]));
    }
}

#[test]
fn a_head_of_the_grouped_scene_is_the_three_position_example() {
    for scene in ["grouped_heads", "multi_query"] {
        assert_stages(scene, 0, "lesson_three_positions");
    }
}

#[test]
fn two_heads_with_w_o_have_the_sizes_and_the_parameters_of_the_reading() {
    let expected = reading("lesson_multi_head_parameters");
    let lesson = Lesson::open("two_heads");
    let sizes = [
        (lesson.scene.d_model().unwrap(), "d_model"),
        (lesson.scene.heads(), "heads"),
        (lesson.scene.d_k(), "d_head"),
        (lesson.scene.d_v(), "d_head"),
    ];
    for (found, name) in sizes {
        assert_eq!(Some(found as u64), expected[name].as_u64(), "{name}");
    }
    let projections = Lesson::open("projections");
    let scene = &projections.scene;
    assert_eq!((scene.n_q(), scene.d_model(), scene.d_k(), scene.d_v()), (3, Some(8), 4, 4));
}

type Stage = fn(&Attention) -> &Matrix;
const SCALED: Stage = |head| &head.scaled_scores;
const WEIGHTS: Stage = |head| &head.weights;
const OUTPUT: Stage = |head| &head.output;

/// What the readings print, as they print it: scene, stage, row counted from 1, digits.
const PRINTED: &[(&str, Stage, usize, &str)] = &[
    ("two_positions", SCALED, 1, "[0.7071, 0]"),
    ("two_positions", WEIGHTS, 1, "[0.6698, 0.3302]"),
    ("two_positions", OUTPUT, 1, "[1.3395, 1.3210]"),
    ("two_positions_second_key", WEIGHTS, 1, "[0.3302, 0.6698]"),
    ("two_positions_second_key", OUTPUT, 1, "[0.6605, 2.6790]"),
    ("two_positions_even", WEIGHTS, 1, "[0.5, 0.5]"),
    ("two_positions_even", OUTPUT, 1, "[1, 2]"),
    ("without_scaling", WEIGHTS, 1, "[0.7311, 0.2689]"),
    ("large_scores", WEIGHTS, 1, "[0.7311, 0.2689]"),
    ("three_positions", SCALED, 1, "[0.7071, 0, 0.7071]"),
    ("three_positions", SCALED, 2, "[0, 0.7071, 0.7071]"),
    ("three_positions", SCALED, 3, "[0.7071, 0.7071, 1.4142]"),
    ("three_positions", WEIGHTS, 1, "[0.4011, 0.1978, 0.4011]"),
    ("three_positions", WEIGHTS, 2, "[0.1978, 0.4011, 0.4011]"),
    ("three_positions", WEIGHTS, 3, "[0.2483, 0.2483, 0.5035]"),
    ("three_positions", OUTPUT, 1, "[1.2033, 1.1922]"),
    ("three_positions", OUTPUT, 2, "[0.7967, 2.0056]"),
    ("three_positions", OUTPUT, 3, "[1.0000, 1.4965]"),
    ("three_positions_causal", WEIGHTS, 1, "[1, 0, 0]"),
    ("three_positions_causal", WEIGHTS, 2, "[0.3302, 0.6698, 0]"),
    ("three_positions_causal", WEIGHTS, 3, "[0.2483, 0.2483, 0.5035]"),
    ("three_positions_causal", OUTPUT, 1, "[2, 0]"),
    ("three_positions_causal", OUTPUT, 2, "[0.6605, 2.679]"),
    ("three_positions_causal", OUTPUT, 3, "[1, 1.4965]"),
    ("animals_and_places", SCALED, 1, "[2, 0, 1.9]"),
    ("animals_and_places", WEIGHTS, 1, "[0.4902, 0.0663, 0.4435]"),
    ("animals_and_places", OUTPUT, 1, "[0.7119, 0.2881]"),
    ("animals_and_places", WEIGHTS, 2, "[0.1053, 0.7783, 0.1164]"),
    ("animals_and_places", OUTPUT, 2, "[0.1635, 0.8365]"),
    ("animals_and_places", WEIGHTS, 3, "[0.3333, 0.3333, 0.3333]"),
    ("animals_and_places", OUTPUT, 3, "[0.5, 0.5]"),
    ("dot_scorer", SCALED, 1, "[2, 0, 1.9]"),
    ("dot_scorer", WEIGHTS, 1, "[0.4902, 0.0663, 0.4435]"),
    ("dot_scorer", OUTPUT, 1, "[0.7119, 0.2881]"),
    ("additive_scorer", SCALED, 1, "[0.8151, -0.2195, 0.7713]"),
    ("additive_scorer", WEIGHTS, 1, "[0.4324, 0.1537, 0.4139]"),
    ("additive_scorer", OUTPUT, 1, "[0.6394, 0.3606]"),
];

#[test]
fn every_printed_row_comes_out_to_the_digits_printed() {
    for (scene, stage, row, printed) in PRINTED {
        let lesson = Lesson::open(scene);
        let found = stage(lesson.head(1)).row(row - 1);
        let printed = numbers(printed).unwrap();
        assert_eq!(found.len(), printed.len(), "{scene}, row {row}");
        for ((printed, decimals), found) in printed.iter().zip(found) {
            let half = 0.5 * 10f64.powi(-decimals.max(&4)) + TOLERANCE;
            assert!(
                (printed - found).abs() <= half,
                "{scene}, row {row}: {printed} is printed, {found} comes out"
            );
        }
    }
}

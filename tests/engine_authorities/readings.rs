//! Every worked number of the two readings that comes out of attention itself.

use std::sync::Arc;

use qkv::engine::{
    Attention, AttentionSpec, Convention, Corner, MaskRule, Matrix, Scoring, SoftmaxForm, SoftmaxSpec, attend,
};
use serde_json::Value;

use crate::json::{assert_all_close, assert_close, booleans, head, load, matrix, number, vector};

const TOLERANCE: f64 = 1e-14;

fn readings() -> Value {
    load("readings.json")
}

fn evaluate(worked: &Value, mask: Vec<MaskRule>) -> Attention {
    let input = head(&worked["q"], &worked["k"], &worked["v"]);
    attend(&input, &AttentionSpec { mask, ..Default::default() }, 0)
}

fn assert_stages(name: &str, found: &Attention, worked: &Value) {
    let stages = [
        ("raw_scores", &found.raw_scores),
        ("scaled_scores", &found.scaled_scores),
        ("masked_scores", &found.masked_scores),
        ("weights", &found.weights),
        ("output", &found.output),
    ];
    for (stage, found) in stages {
        assert_close(&format!("{name} {stage}"), found, &matrix(&worked[stage]), TOLERANCE);
    }
}

fn assert_printed(found: &Matrix, printed: &[&[f64]]) {
    let rounded = found.map(|value| (value * 1e4).round() / 1e4);
    assert_eq!(rounded, Matrix::from_rows(printed).unwrap());
}

#[test]
fn every_worked_example_has_the_stages_of_the_readings() {
    let readings = readings();
    let mut n_examples = 0;
    for (name, worked) in readings.as_object().unwrap() {
        if worked.get("raw_scores").is_none() {
            continue;
        }
        let mask = match &worked["mask_allowed"] {
            Value::Null => Vec::new(),
            allowed => vec![MaskRule::Matrix { convention: Convention::TrueAllows, rows: booleans(allowed) }],
        };
        assert_stages(name, &evaluate(worked, mask), worked);
        n_examples += 1;
    }
    assert_eq!(n_examples, 9);
}

#[test]
fn causal_and_padding_masks_say_the_same_as_their_matrices() {
    let readings = readings();
    let causal = MaskRule::Causal(Corner::TopLeft);
    let worked = &readings["lesson_three_positions_causal"];
    assert_stages("causal", &evaluate(worked, vec![causal.clone()]), worked);
    let worked = &readings["lesson_causal_and_padding"];
    assert_stages("padding", &evaluate(worked, vec![causal.clone(), MaskRule::ValidKeys(2)]), worked);
    let padded = MaskRule::PaddedKeys(vec![false, false, true]);
    assert_stages("padding", &evaluate(worked, vec![padded, causal]), worked);
}

#[test]
fn the_numbers_printed_in_the_lesson_are_these() {
    let readings = readings();
    let two = evaluate(&readings["lesson_two_positions_q_1_0"], Vec::new());
    assert_printed(&two.weights, &[&[0.6698, 0.3302]]);
    assert_printed(&two.output, &[&[1.3395, 1.3210]]);
    let swapped = evaluate(&readings["lesson_two_positions_q_0_1"], Vec::new());
    assert_printed(&swapped.output, &[&[0.6605, 2.6790]]);
    let three = evaluate(&readings["lesson_three_positions"], Vec::new());
    assert_printed(
        &three.weights,
        &[&[0.4011, 0.1978, 0.4011], &[0.1978, 0.4011, 0.4011], &[0.2483, 0.2483, 0.5035]],
    );
    assert_printed(&three.output, &[&[1.2033, 1.1922], &[0.7967, 2.0056], &[1.0, 1.4965]]);
    let causal = evaluate(&readings["lesson_three_positions"], vec![MaskRule::Causal(Corner::TopLeft)]);
    assert_printed(&causal.output, &[&[2.0, 0.0], &[0.6605, 2.6790], &[1.0, 1.4965]]);
}

#[test]
fn exponentials_and_sums_are_those_written_out_in_the_lesson() {
    let worked = &readings()["lesson_three_positions"];
    let softmax = SoftmaxSpec { form: SoftmaxForm::Naive, ..Default::default() };
    let input = head(&worked["q"], &worked["k"], &worked["v"]);
    let found = attend(&input, &AttentionSpec { softmax, ..Default::default() }, 0);
    assert_all_close("sums", &found.row_sum, &[5.0562, 5.0562, 8.1695], 2e-5);
    assert_close("weights", &found.weights, &matrix(&worked["weights"]), TOLERANCE);
}

#[test]
fn the_numbers_printed_for_animal_and_place_are_these() {
    let found = evaluate(&readings()["animal_place"], Vec::new());
    assert_printed(
        &found.weights,
        &[&[0.4902, 0.0663, 0.4435], &[0.1053, 0.7783, 0.1164], &[0.3333, 0.3333, 0.3333]],
    );
    assert_printed(&found.output, &[&[0.7119, 0.2881], &[0.1635, 0.8365], &[0.5, 0.5]]);
}

#[test]
fn the_additive_scorer_gives_the_scores_weights_and_output_of_the_reading() {
    let readings = readings();
    let scorer = &readings["additive_scorer"];
    let scoring = Scoring::Additive {
        w_q: Arc::new(matrix(&scorer["w_q"])),
        w_k: Arc::new(matrix(&scorer["w_k"])),
        v: Arc::new(vector(&scorer["v"])),
    };
    let items = &readings["exercise_query_times_4"];
    let animal = serde_json::json!([[2.0, 0.0, 2.0, 0.0]]);
    let input = head(&animal, &items["k"], &items["v"]);
    let found = attend(&input, &AttentionSpec { scoring, ..Default::default() }, 0);
    assert_eq!(found.scale, 1.0);
    assert_all_close("scores", found.scaled_scores.row(0), &vector(&scorer["scores"]), TOLERANCE);
    assert_all_close("weights", found.weights.row(0), &vector(&scorer["weights"]), TOLERANCE);
    assert_all_close("output", found.output.row(0), &vector(&scorer["output"]), TOLERANCE);
    assert_printed(&found.weights, &[&[0.4324, 0.1537, 0.4139]]);
}

#[test]
fn without_the_scale_a_gap_of_one_gives_odds_of_e() {
    let readings = readings();
    let worked = &readings["lesson_two_positions_q_1_0"];
    let input = head(&worked["q"], &worked["k"], &worked["v"]);
    let found = attend(&input, &AttentionSpec { scoring: Scoring::Dot, ..Default::default() }, 0);
    assert_all_close("weights", found.weights.row(0), &vector(&readings["lesson_unscaled_gap"]), TOLERANCE);
}

#[test]
fn the_stable_softmax_survives_scores_of_a_thousand_and_the_naive_one_does_not() {
    let lesson = &readings()["lesson_stable_softmax"];
    let identity = Matrix::identity(2);
    let scores = Matrix::from_rows(&[vector(&lesson["scores"])]).unwrap();
    let input = crate::json::head_of(scores, identity.clone(), identity);
    let mut spec = AttentionSpec { scoring: Scoring::Dot, ..Default::default() };
    let stable = attend(&input, &spec, 0);
    assert_all_close("stable", stable.weights.row(0), &vector(&lesson["weights"]), TOLERANCE);
    spec.softmax.form = SoftmaxForm::Naive;
    assert!(attend(&input, &spec, 0).weights.row(0).iter().all(|weight| weight.is_nan()));
    assert!(number(&lesson["scores"][0]) > 709.0, "exp overflows in f64 above 709.78");
}

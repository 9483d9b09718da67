//! More of the cases from bug reports: positions, and number formats narrower than `f64`.

use qkv::engine::{
    AttentionSpec, MaskRule, Matrix, Precision, RopeLayout, alibi_bias, alibi_slopes, attend_in, rope,
};
use serde_json::Value;

use crate::cases::{TOLERANCE, assert_stages, case, causal, with_mask};
use crate::json::{assert_all_close, assert_close, head, head_of, matrix, vector};

#[test]
fn alibi_slopes_are_geometric_also_for_six_heads() {
    let case = case("C40");
    assert_eq!(alibi_slopes(8), vector(&case["expected"]["slopes_8"]));
    assert_eq!(alibi_slopes(6), vector(&case["expected"]["slopes_6"]));
    assert_eq!(alibi_slopes(0), [] as [f64; 0]);
    let worked = &case["inputs"]["worked"];
    let slope = alibi_slopes(6)[worked["head"].as_u64().unwrap() as usize];
    let bias = alibi_bias(slope, 4, 4, 0);
    assert_close("bias", &bias, &matrix(&case["expected"]["worked"]["bias"]), 0.0);
    let input = head(&worked["Q"], &worked["K"], &worked["V"]);
    let found = with_mask(&input, vec![causal(), MaskRule::Additive(bias)]);
    assert_stages("worked", &found, &case["expected"]["worked"]);
}

#[test]
fn rotary_layouts_turn_different_pairs() {
    let case = case("C42");
    let x = Matrix::from_rows(&[vector(&case["inputs"]["x"])]).unwrap();
    let base = case["inputs"]["base"].as_f64().unwrap();
    for (layout, name) in [(RopeLayout::Interleaved, "interleaved"), (RopeLayout::HalfSplit, "half_split")] {
        let expected = matrix(&case["expected"][name]);
        for (row, position) in vector(&case["inputs"]["positions"]).into_iter().enumerate() {
            let found = rope(&x, base, layout, position as i64).unwrap();
            assert_all_close(name, found.row(0), expected.row(row), TOLERANCE);
        }
    }
}

#[test]
fn a_long_flat_row_still_sums_to_one_in_narrow_formats() {
    let case = case("C29");
    let precision_of = |row: &Value| match row["precision"].as_str().unwrap() {
        "f16" => Precision::F16,
        "bf16" => Precision::Bf16,
        other => panic!("unknown precision {other}"),
    };
    let rows =
        case["inputs"]["rows"].as_array().unwrap().iter().zip(case["expected"]["rows"].as_array().unwrap());
    for (given, expected) in rows {
        let n_k = given["n_k"].as_u64().unwrap() as usize;
        let ones = Matrix::from_fn(n_k, 1, |_, _| 1.0);
        let input = head_of(Matrix::zeros(1, 1), Matrix::zeros(n_k, 1), ones);
        let found = attend_in(precision_of(given), &input, &AttentionSpec::default(), 0);
        let weight =
            expected.get("weight").or(expected.get("weight_rounded_to_f16")).unwrap().as_f64().unwrap();
        assert!(found.weights.row(0).iter().all(|&found| (found - weight).abs() < 1e-18), "{given}");
        if expected.get("row_sum").is_some() {
            assert_eq!((found.weights.row(0).iter().sum::<f64>(), found.output.get(0, 0)), (1.0, 1.0));
        }
    }
}

#[test]
fn half_precision_rounds_to_nearest_with_ties_to_even_and_keeps_subnormals() {
    let case = case("C38");
    let rows = case["expected"]["rows"].as_array().unwrap();
    for row in rows {
        let f32_bits = u32::from_str_radix(&row["f32_bits"].as_str().unwrap()[2..], 16).unwrap();
        let expected: f64 = row["f16"].as_str().unwrap().parse().unwrap();
        let found = Precision::F16.round(f64::from(f32::from_bits(f32_bits)));
        assert_eq!(found.to_bits(), expected.to_bits(), "{row}");
    }
    assert_eq!(rows.len(), 16);
}

//! Mistakes that calculators out there have made, and the right figures.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use qkv::cost::{
    Bytes, CacheInputs, CacheReport, ComplexityInputs, ComplexityReport, CostError, Prefix, StorageType,
};
use serde_json::Value;

fn case(id: &str) -> Value {
    let file: Value = serde_json::from_str(include_str!("data/cost_cases.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    cases.iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("there is no case {id}")).clone()
}

fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a whole number"))
}

/// A cache of 16-bit values; where a case names no query heads, one for each KV head.
fn cache(inputs: &Value, kv_heads: u64, tokens: u64, sequences: u64) -> Result<CacheReport, CostError> {
    assert_eq!(inputs["bytes_per_value"], 2);
    let width = whole(&inputs["head_dim"]);
    CacheReport::new(&CacheInputs {
        layers: whole(&inputs["layers"]),
        heads: inputs["query_heads"].as_u64().unwrap_or(kv_heads),
        kv_heads,
        d_k: width,
        d_v: width,
        k_type: StorageType::f16,
        v_type: StorageType::f16,
        tokens,
        sequences,
    })
}

fn assert_same(bytes: u128, expected: &Value) {
    assert_eq!(bytes, u128::from(whole(&expected["bytes"])));
    let units = [("MB", Prefix::Mega), ("MiB", Prefix::Mebi), ("GB", Prefix::Giga), ("GiB", Prefix::Gibi)];
    for (unit, prefix) in units {
        let shown = Bytes(bytes).in_unit(prefix, 15);
        let number: f64 = shown.strip_suffix(unit).unwrap().trim().parse().unwrap();
        let expected = expected[unit].as_f64().unwrap();
        assert!((number - expected).abs() <= 1e-15 + expected * 1e-15, "{shown} is not {expected} {unit}");
    }
}

#[test]
fn the_head_width_is_its_own_field_and_not_the_model_width_over_the_heads() {
    let case = case("C43");
    let inputs = &case["inputs"];
    let kv_heads = whole(&inputs["kv_heads"]);
    let report = cache(inputs, kv_heads, 1, 1).unwrap();
    assert_same(report.bytes_per_token.value, &case["expected"]["per_token"]);
    let report = cache(inputs, kv_heads, 4096, 1).unwrap();
    assert_same(report.bytes_per_sequence.value, &case["expected"]["at_4096"]);
}

#[test]
fn a_cache_counts_kv_heads_and_not_query_heads() {
    let case = case("C44");
    let (inputs, expected) = (&case["inputs"], &case["expected"]);
    let (kv_heads, tokens) = (whole(&inputs["kv_heads"]), whole(&inputs["tokens"]));
    for (sequences, id) in [(1, "batch_1"), (3, "batch_3")] {
        let report = cache(inputs, kv_heads, tokens, sequences).unwrap();
        assert_eq!(report.bytes_per_token.value, u128::from(whole(&expected["per_token_bytes"])));
        assert_same(report.bytes_all_sequences.value, &expected[id]);
    }
}

#[test]
fn kv_heads_and_heads_per_kv_head_are_told_apart() {
    let case = case("C46");
    let (inputs, expected) = (&case["inputs"], &case["expected"]);
    let (groups, tokens) = (whole(&inputs["groups"]), whole(&inputs["tokens"]));
    let report = cache(inputs, groups, tokens, 1).unwrap();
    assert_same(report.bytes_per_sequence.value, &expected["groups_are_kv_heads"]);
    let chosen = report.sharing.iter().find(|column| column.is_chosen).unwrap();
    assert_eq!((chosen.kv_heads, chosen.heads_per_kv_head), (4, 6));
    let shared_by_four = whole(&inputs["query_heads"]) / groups;
    let report = cache(inputs, shared_by_four, tokens, 1).unwrap();
    assert_same(report.bytes_per_sequence.value, &expected["groups_are_heads_per_kv_head"]);
}

#[test]
fn decimal_and_binary_units_are_never_mixed() {
    let case = case("C47");
    let (inputs, expected) = (&case["inputs"], &case["expected"]);
    let report = cache(inputs, whole(&inputs["kv_heads"]), whole(&inputs["tokens"]), 1).unwrap();
    let bytes = report.bytes_per_sequence.value;
    assert_same(bytes, &expected["total"]);
    let shown = |unit: &str| format!("{} {unit}", expected["shown_two_decimals"][unit].as_str().unwrap());
    assert_eq!(Bytes(bytes).decimal(), shown("GB"));
    assert_eq!(Bytes(bytes).binary_beside_decimal(), shown("GiB"));
}

#[test]
fn multiply_adds_flops_and_the_causal_share_are_counted_exactly() {
    let case = case("C49");
    let (cases, expected) = (case["inputs"]["cases"].as_array().unwrap(), &case["expected"]);
    let count = |sizes: &Value, causal: bool, window: Option<u64>| {
        let n = whole(&sizes["n"]);
        ComplexityReport::new(&ComplexityInputs {
            n_q: n,
            n_k: n,
            d_k: whole(&sizes["d_k"]),
            d_v: whole(&sizes["d_v"]),
            causal,
            window,
            bytes_per_score: 2,
            ..ComplexityInputs::default()
        })
        .unwrap()
    };
    let compare = |report: &ComplexityReport, expected: &Value| {
        for (quantity, key) in [
            (&report.visible_pairs, "pairs"),
            (&report.scores, "macs_scores"),
            (&report.mix, "macs_mix"),
            (&report.attention, "macs"),
            (&report.flops, "flops"),
        ] {
            assert_eq!(quantity.value, u128::from(whole(&expected[key])), "{key}");
        }
    };
    for place in 0..2 {
        compare(&count(&cases[place], false, None), &expected["full"][place]);
        compare(&count(&cases[place], true, None), &expected["causal"][place]);
    }
    let windowed = count(&cases[2], true, cases[2]["window"].as_u64());
    compare(&windowed, &expected["causal_window_128"]);
    assert_eq!(
        windowed.score_bytes_per_head.value,
        u128::from(whole(&expected["score_matrix_bytes_f16_per_head"]))
    );
}

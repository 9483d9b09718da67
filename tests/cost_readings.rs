//! Every cost that the two readings print, from the same sizes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use qkv::cost::{
    Bytes, CacheInputs, CacheReport, ComplexityInputs, ComplexityReport, CostError, Field, Prefix,
    StorageType, cache_over_tokens, growth, scaled,
};
use serde_json::Value;

fn readings() -> Value {
    serde_json::from_str(include_str!("data/readings.json")).unwrap()
}

fn whole(value: &Value) -> u128 {
    u128::from(value.as_u64().unwrap_or_else(|| panic!("{value} is not a whole number")))
}

/// One head of width 64, as in the table of growing lengths.
fn one_head(tokens: u64, width: u64) -> ComplexityInputs {
    ComplexityInputs { n_q: tokens, n_k: tokens, d_k: width, d_v: width, ..ComplexityInputs::default() }
}

#[test]
fn doubling_the_length_quadruples_the_arithmetic_and_the_score_matrix() {
    let readings = readings();
    let printed = readings["complexity_d64"].as_array().unwrap();
    let rows = growth(&one_head(0, 64), 256, 5).unwrap();
    assert_eq!(rows.len(), printed.len());
    for (row, printed) in rows.iter().zip(printed) {
        assert_eq!(u128::from(row.tokens), whole(&printed["T"]));
        assert_eq!(row.macs.0, whole(&printed["macs"]));
        assert_eq!(row.score_matrix.0, whole(&printed["score_matrix_bytes_f32"]));
    }
    let millions: Vec<String> = rows.iter().map(|row| scaled(row.macs.0, Prefix::Mega, 0)).collect();
    assert_eq!(millions, ["8", "34", "134", "537", "2147"]);
    let megabytes: Vec<String> = rows.iter().map(|row| scaled(row.score_matrix.0, Prefix::Mega, 1)).collect();
    assert_eq!(megabytes, ["0.3", "1.0", "4.2", "16.8", "67.1"]);
    assert_eq!(rows[0].factor, None);
    assert!(rows[1..].iter().all(|row| row.factor == Some(4.0)));
}

#[test]
fn a_wider_head_costs_more_arithmetic_and_no_more_score_memory() {
    for printed in readings()["exercise_complexity_T1024"].as_array().unwrap() {
        let report = ComplexityReport::new(&one_head(1024, printed["d"].as_u64().unwrap())).unwrap();
        assert_eq!(report.attention.value, whole(&printed["macs"]));
        assert_eq!(report.score_bytes.value, whole(&printed["score_matrix_bytes_f32"]));
    }
}

#[test]
fn a_score_matrix_of_32_heads_takes_64_and_256_megabytes() {
    for printed in readings()["lesson_score_matrix"].as_array().unwrap() {
        let n = printed["n"].as_u64().unwrap();
        let inputs = ComplexityInputs { heads: 32, kv_heads: 32, bytes_per_score: 2, ..one_head(n, 64) };
        let report = ComplexityReport::new(&inputs).unwrap();
        assert_eq!(report.all_pairs.value, whole(&printed["pairs"]));
        assert_eq!(report.score_bytes_per_head.value, whole(&printed["bytes_f16_per_head"]));
        assert_eq!(report.score_bytes.value, whole(&printed["bytes_f16_32_heads"]));
    }
    let shown = |bytes: u128| Bytes(bytes).in_unit(Prefix::Mega, 0);
    assert_eq!(
        [2_000_000, 8_000_000, 64_000_000, 256_000_000].map(shown),
        ["2 MB", "8 MB", "64 MB", "256 MB"]
    );
}

#[test]
fn two_heads_over_a_width_of_8_have_256_parameters() {
    let inputs = ComplexityInputs {
        heads: 2,
        kv_heads: 2,
        d_model: Some(8),
        has_output_projection: true,
        ..one_head(3, 4)
    };
    let report = ComplexityReport::new(&inputs).unwrap();
    let parameters = report.parameters.as_ref().unwrap();
    assert_eq!(parameters.value, whole(&readings()["lesson_multi_head_parameters"]["parameters_no_bias"]));
    assert_eq!(parameters.substituted(), "8 · 2 · 4 + 8 · 2 · 4 + 8 · 2 · 4 + 2 · 4 · 8 = 256 parameters");
    // Three tokens through four 8×8 matrices, then 9 pairs · 2 heads · 4 wide, twice.
    let projections: u128 = report.projections.iter().map(|quantity| quantity.value).sum();
    assert_eq!(projections, 3 * 256);
    assert_eq!(report.total.value, 3 * 256 + 2 * 72);
}

fn model(kv_heads: u64) -> CacheInputs {
    CacheInputs {
        layers: 32,
        heads: 32,
        kv_heads,
        d_k: 128,
        d_v: 128,
        k_type: StorageType::f16,
        v_type: StorageType::f16,
        tokens: 8000,
        sequences: 1,
    }
}

#[test]
fn a_cache_takes_what_the_lesson_says_with_8_and_with_32_kv_heads() {
    for printed in readings()["lesson_kv_cache"].as_array().unwrap() {
        let report = CacheReport::new(&model(printed["kv_heads"].as_u64().unwrap())).unwrap();
        assert_eq!(report.bytes_per_token.value, whole(&printed["bytes_per_token"]));
        assert_eq!(report.bytes_per_sequence.value, whole(&printed["bytes"]));
    }
    let report = CacheReport::new(&model(8)).unwrap();
    assert_eq!(report.bytes_per_token.formula.symbols(), "2 · L · G · d_head · b");
    assert_eq!(report.bytes_per_token.substituted(), "2 · 32 · 8 · 128 · 2 = 131,072 B");
    let sequence = Bytes(report.bytes_per_sequence.value);
    assert_eq!((sequence.decimal(), sequence.binary_beside_decimal()), ("1.05 GB".into(), "0.98 GiB".into()));
    assert_eq!(sequence.exact(), "1,048,576,000 B");
    assert_eq!(report.bytes_per_sequence.substituted(), "131,072 · 8,000 = 1,048,576,000 B");
}

#[test]
fn sharing_kv_heads_is_shown_beside_not_sharing_them() {
    let inputs = CacheInputs { sequences: 3, ..model(8) };
    let sharing = CacheReport::new(&inputs).unwrap().sharing;
    let columns: Vec<_> = sharing
        .iter()
        .map(|column| {
            (column.name, column.kv_heads, column.heads_per_kv_head, column.bytes_per_token.binary())
        })
        .collect();
    assert_eq!(
        columns,
        [
            ("MHA", 32, 1, "512.00 KiB".to_owned()),
            ("GQA", 8, 4, "128.00 KiB".to_owned()),
            ("MQA", 1, 32, "16.00 KiB".to_owned())
        ]
    );
    assert_eq!(sharing[0].bytes_per_sequence.decimal(), "4.19 GB");
    assert_eq!(sharing[1].bytes_all_sequences, Bytes(3 * 1_048_576_000));
    assert_eq!(sharing.iter().map(|column| column.is_chosen).collect::<Vec<_>>(), [false, true, false]);
    // Asked about the extremes, the middle column still shows a possible sharing.
    let extreme = CacheReport::new(&model(32)).unwrap().sharing;
    assert_eq!(extreme[1].kv_heads, 8);
}

#[test]
fn no_tokens_cost_nothing_and_no_heads_are_refused_by_name() {
    assert_eq!(CacheReport::new(&CacheInputs { tokens: 0, ..model(8) }).unwrap().bytes_per_sequence.value, 0);
    let nothing = ComplexityReport::new(&one_head(0, 64)).unwrap();
    assert!(nothing.quantities().iter().all(|quantity| quantity.value == 0));
    let refused = |inputs: CacheInputs| CacheReport::new(&inputs).unwrap_err();
    assert_eq!(refused(model(0)), CostError::MustBePositive { field: Field::KvHeads });
    let error = refused(model(5));
    assert_eq!(error.field(), Some(Field::KvHeads));
    assert!(
        error.to_string().contains("32 query heads") && error.to_string().contains("5 KV heads"),
        "{error}"
    );
    let error = refused(CacheInputs { layers: u64::MAX, d_k: u64::MAX, d_v: u64::MAX, ..model(8) });
    assert_eq!(error.code(), "Overflow");
}

#[test]
fn the_plot_of_a_cache_is_a_straight_line_through_nothing() {
    let line = cache_over_tokens(&model(8), 8000, 5).unwrap();
    let expected: Vec<_> = [0, 2000, 4000, 6000, 8000].map(|t| (t, Bytes(u128::from(t) * 131_072))).to_vec();
    assert_eq!(line, expected);
    assert_eq!(cache_over_tokens(&model(8), 2, 100).unwrap().len(), 3);
}

#[test]
fn a_causal_mask_leaves_the_triangle_and_a_scene_may_count_its_own_pairs() {
    let causal = ComplexityInputs { causal: true, ..one_head(4, 2) };
    let report = ComplexityReport::new(&causal).unwrap();
    assert_eq!((report.visible_pairs.value, report.all_pairs.value), (10, 16));
    assert_eq!(report.visible_pairs.substituted(), "4 · (4 + 1) / 2 = 10 pairs");
    assert_eq!(report.scores.value, 20);
    let counted = ComplexityInputs { visible_pairs: Some(7), ..causal };
    assert_eq!(ComplexityReport::new(&counted).unwrap().mix.value, 14);
    // Two heads with masks of their own: 7 pairs and 5.
    let each = ComplexityInputs { heads: 2, visible_pairs_of_all_heads: Some(12), ..counted };
    let report = ComplexityReport::new(&each).unwrap();
    assert_eq!((report.scores.value, report.softmax_entries.value), (24, 12));
    let too_many = ComplexityInputs { visible_pairs: Some(17), ..counted };
    assert_eq!(ComplexityReport::new(&too_many).unwrap_err().field(), Some(Field::VisiblePairs));
}

//! Cases computed by other people's implementations: the ONNX Attention operator and PyTorch.
//!
//! Every case of every `*.json` in `tests/data/engine/attention/` is run.

use std::fs;

use qkv::engine::{
    Attention, AttentionSpec, Convention, Corner, MaskRule, Matrix, Precision, RopeLayout, Scoring,
    alibi_bias, alibi_slopes, attend, attend_in, concat_heads, kv_head_of, project, rope, split_heads,
};
use serde_json::Value;

use crate::json::{assert_close, data_path, head_of, number, vector};

#[test]
fn the_engine_agrees_with_every_case_of_other_implementations() {
    let mut n_run = 0;
    let mut n_files = 0;
    for entry in fs::read_dir(data_path("engine/attention")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        n_files += 1;
        let cases: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        for case in &cases {
            run(case);
            n_run += 1;
        }
    }
    assert_eq!((n_files, n_run), (2, 132 + 18));
}

fn run(case: &Value) {
    match (case["kind"].as_str(), case["precision"].as_str()) {
        (Some("multihead"), None) => run_multihead(case),
        (Some("sdpa"), None) => run_heads(case, Precision::F64, 1e-12),
        (None, Some("f32")) => {
            run_heads(case, Precision::F64, 2e-5);
            run_heads(case, Precision::F32, 2e-5);
        }
        (None, Some("f16")) => run_heads(case, Precision::F16, 4e-3),
        (None, Some("bf16")) => run_heads(case, Precision::Bf16, 4e-2),
        (Some("rope"), None) => run_rope(case),
        (Some("alibi"), None) => run_alibi(case),
        other => panic!("unknown kind of case: {other:?}"),
    }
}

/// Q, K and V given by head.
fn run_heads(case: &Value, precision: Precision, tolerance: f64) {
    let [q, k, v] = ["q", "k", "v"].map(|name| tensor(&case[name]));
    let spec = AttentionSpec {
        scoring: case.get("scale").and_then(Value::as_f64).map_or(Scoring::ScaledDot, Scoring::Scale),
        softcap: case.get("softcap").and_then(Value::as_f64),
        mask: mask_of(case, q.len()),
        position_offset: case.get("position_offset").and_then(Value::as_i64).unwrap_or(0),
        ..Default::default()
    };
    for (query_head, q_head) in q.iter().enumerate() {
        let kv_head = kv_head_of(query_head, q.len(), k.len()).unwrap();
        let input = head_of(q_head.clone(), k[kv_head].clone(), v[kv_head].clone());
        for rule in &spec.mask {
            rule.check_shape(q_head.rows(), input.k.rows(), q.len()).unwrap();
        }
        assert_head(case, query_head, &attend_in(precision, &input, &spec, query_head), tolerance);
    }
}

/// Queries and keys are turned first; then it is plain causal attention.
fn run_rope(case: &Value) {
    let base = case["base"].as_f64().unwrap();
    let layout = match case["layout"].as_str().unwrap() {
        "half" => RopeLayout::HalfSplit,
        "interleaved" => RopeLayout::Interleaved,
        other => panic!("unknown layout {other}"),
    };
    let [q, k] = ["q", "k"].map(|name| {
        let expected = tensor(&case["expected"][format!("{name}_rotated")]);
        let turned = tensor(&case[name]).into_iter().zip(expected).map(|(x, expected)| {
            let turned = rope(&x, base, layout, 0).unwrap();
            assert_close(&format!("{} {name}", case["name"]), &turned, &expected, 1e-12);
            turned
        });
        turned.collect::<Vec<_>>()
    });
    let spec = AttentionSpec { mask: mask_of(case, q.len()), ..Default::default() };
    assert_eq!(spec.mask.len(), 1);
    for (h, v) in tensor(&case["v"]).into_iter().enumerate() {
        let found = attend(&head_of(q[h].clone(), k[h].clone(), v), &spec, h);
        let expected = &tensor(&case["expected"]["output"])[h];
        assert_close(&format!("{} head {h}", case["name"]), &found.output, expected, 1e-12);
    }
}

/// The bias of every head is an additive layer of its own.
fn run_alibi(case: &Value) {
    let [q, k, v] = ["q", "k", "v"].map(|name| tensor(&case[name]));
    let slopes = alibi_slopes(q.len());
    assert_eq!(slopes, vector(&case["expected"]["slopes"]));
    let biases = slopes.iter().map(|&slope| alibi_bias(slope, q[0].rows(), k[0].rows(), 0));
    let mut mask = mask_of(case, q.len());
    mask.push(MaskRule::AdditivePerHead(biases.collect()));
    assert_eq!(mask.len(), 2);
    let spec = AttentionSpec { mask, ..Default::default() };
    for h in 0..q.len() {
        let found = attend(&head_of(q[h].clone(), k[h].clone(), v[h].clone()), &spec, h);
        let expected = &tensor(&case["expected"]["output"])[h];
        assert_close(&format!("{} head {h}", case["name"]), &found.output, expected, 1e-12);
    }
}

/// Compares every stage that the case gives.
fn assert_head(case: &Value, query_head: usize, found: &Attention, tolerance: f64) {
    for (stage, expected) in case["expected"].as_object().unwrap() {
        let found = match stage.as_str() {
            "scaled_scores" | "softcapped_scores" => &found.scaled_scores,
            "masked_scores" => &found.masked_scores,
            "weights" => &found.weights,
            "output" => &found.output,
            other => panic!("unknown stage {other}"),
        };
        let place = format!("{} head {query_head} {stage}", case["name"]);
        assert_close(&place, found, &tensor(expected)[query_head], tolerance);
    }
}

fn mask_of(case: &Value, n_heads: usize) -> Vec<MaskRule> {
    let mut mask = Vec::new();
    if case.get("causal").or(case.get("causal_top_left")) == Some(&Value::Bool(true)) {
        mask.push(MaskRule::Causal(Corner::TopLeft));
    }
    let count = |name: &str| Some(case.get(name)?.as_u64()? as usize);
    let (left, right) = (count("window_left"), count("window_right"));
    if left.is_some() || right.is_some() {
        mask.push(MaskRule::Window { left, right });
    }
    mask.extend(count("valid_keys").map(MaskRule::ValidKeys));
    if let Some(given) = case.get("mask").filter(|given| !given.is_null()) {
        mask.push(explicit_mask(given, n_heads));
    }
    mask
}

/// A mask of shape (n_q, n_k) for all heads, or (heads, n_q, n_k).
fn explicit_mask(given: &Value, n_heads: usize) -> MaskRule {
    let per_head = given["shape"].as_array().unwrap().len() == 3;
    match given["kind"].as_str().unwrap() {
        "additive" if per_head => MaskRule::AdditivePerHead(tensor(given)),
        "allowed" => {
            let shape = shape(given);
            let entries = given["data"].as_array().unwrap().iter().map(|entry| entry.as_bool().unwrap());
            let entries: Vec<bool> = entries.collect();
            let rows: Vec<_> = entries.chunks(shape[shape.len() - 1]).map(<[bool]>::to_vec).collect();
            let convention = Convention::TrueAllows;
            if !per_head {
                return MaskRule::Matrix { convention, rows };
            }
            let heads: Vec<_> = rows.chunks(shape[1]).map(<[Vec<bool>]>::to_vec).collect();
            assert_eq!(heads.len(), n_heads);
            MaskRule::MatrixPerHead { convention, heads }
        }
        other => panic!("unknown mask {other}"),
    }
}

/// Hidden states, projections, heads and W_O.
fn run_multihead(case: &Value) {
    const TOLERANCE: f64 = 1e-12;
    let n_heads = case["heads"].as_u64().unwrap() as usize;
    let context = if case["context"].is_null() { &case["x"] } else { &case["context"] };
    let projected = [("x", "q"), ("context", "k"), ("context", "v")].map(|(from, name)| {
        let x = flat(if from == "x" { &case["x"] } else { context });
        let y = project(&x, &flat(&case[format!("w_{name}")]), bias(&case[format!("b_{name}")]).as_deref());
        split_heads(&y, n_heads).unwrap()
    });
    let [q, k, v] = projected;
    let spec = AttentionSpec { mask: multihead_mask(case), ..Default::default() };
    let heads: Vec<_> =
        (0..n_heads).map(|h| attend(&head_of(q[h].clone(), k[h].clone(), v[h].clone()), &spec, h)).collect();
    let weights = tensor(&case["expected"]["weights"]);
    for (h, head) in heads.iter().enumerate() {
        assert_close(&format!("{} weights of head {h}", case["name"]), &head.weights, &weights[h], TOLERANCE);
    }
    let concat = concat_heads(&heads.iter().map(|head| &head.output).collect::<Vec<_>>());
    let output = project(&concat, &flat(&case["w_o"]), bias(&case["b_o"]).as_deref());
    assert_close(case["name"].as_str().unwrap(), &output, &flat(&case["expected"]["output"]), TOLERANCE);
}

fn multihead_mask(case: &Value) -> Vec<MaskRule> {
    let is_true = |entry: &Value| entry.as_bool().unwrap();
    let data = |given: &Value| given["data"].as_array().unwrap().clone();
    let mut mask = Vec::new();
    if let Some(given) = case.get("mask_blocked").filter(|given| !given.is_null()) {
        let entries: Vec<bool> = data(given).iter().map(is_true).collect();
        let rows = entries.chunks(shape(given)[1]).map(<[bool]>::to_vec).collect();
        mask.push(MaskRule::Matrix { convention: Convention::TrueBlocks, rows });
    }
    if let Some(given) = case.get("key_padding_blocked").filter(|given| !given.is_null()) {
        mask.push(MaskRule::PaddedKeys(data(given).iter().map(is_true).collect()));
    }
    if let Some(given) = case.get("mask_additive").filter(|given| !given.is_null()) {
        mask.push(MaskRule::Additive(flat(given)));
    }
    mask
}

fn shape(tensor: &Value) -> Vec<usize> {
    tensor["shape"].as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
}

/// A tensor of shape (heads, n, d) as one matrix per head.
fn tensor(value: &Value) -> Vec<Matrix> {
    let shape = shape(value);
    let [n_heads, rows, cols] = shape[..] else { panic!("not of three dimensions: {shape:?}") };
    let data: Vec<f64> = value["data"].as_array().unwrap().iter().map(number).collect();
    assert_eq!(data.len(), n_heads * rows * cols);
    data.chunks(rows * cols).map(|head| Matrix::new(rows, cols, head.to_vec()).unwrap()).collect()
}

fn flat(value: &Value) -> Matrix {
    let shape = shape(value);
    Matrix::new(shape[0], shape[1], vector(&value["data"])).unwrap()
}

fn bias(value: &Value) -> Option<Vec<f64>> {
    (!value.is_null()).then(|| vector(&value["data"]))
}

//! Scenes with positions and number formats: read, evaluated, and held against PyTorch and the plain engine.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

use std::fmt::Write as _;
use std::io;

use qkv::engine::{Carry, CheckOutcome, Matrix, Precision, rope, sinusoidal, trace};
use qkv::engine::{RopeLayout, attend_in};
use qkv::scene::{Complaint, Evaluation, Position, Scene, checks, evaluate, read, write};
use serde_json::Value;

const TORCH: &str = include_str!("data/engine/attention/torch_attention.json");

fn no_files(path: &str) -> io::Result<Vec<u8>> {
    Err(io::Error::new(io::ErrorKind::NotFound, path.to_owned()))
}

fn good(text: &str) -> Scene {
    read(text, &mut no_files).unwrap_or_else(|complaints| panic!("{complaints:#?}\n{text}"))
}

/// `line:column field: message | hint` of every complaint.
fn complaints(text: &str) -> Vec<String> {
    let summary = |complaint: &Complaint| {
        let place = complaint.place.expect("a complaint about a text has a place");
        let hint = complaint.hint.as_deref().map_or(String::new(), |hint| format!(" | {hint}"));
        format!("{}:{} {}: {}{hint}", place.line, place.column, complaint.field, complaint.message)
    };
    read(text, &mut no_files).expect_err("this scene should be refused").iter().map(summary).collect()
}

fn torch(name: &str) -> Value {
    let all: Value = serde_json::from_str(TORCH).unwrap();
    let cases = all.as_array().or_else(|| all["cases"].as_array()).unwrap();
    cases.iter().find(|case| case["name"] == name).unwrap().clone()
}

/// One matrix per head of a tensor of shape (heads, n, d).
fn tensor(value: &Value) -> Vec<Matrix> {
    let shape: Vec<usize> =
        value["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
    let data: Vec<f64> = value["data"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    let [heads, n, d] = shape[..] else { panic!("{shape:?}") };
    let head = |head: usize| Matrix::new(n, d, data[head * n * d..(head + 1) * n * d].to_vec()).unwrap();
    (0..heads).map(head).collect()
}

fn written(heads: &[Matrix]) -> String {
    let mut text = String::from("[");
    for head in heads {
        let rows: Vec<Vec<f64>> = head.iter_rows().map(<[f64]>::to_vec).collect();
        let _ = write!(text, "{rows:?}, ");
    }
    text + "]"
}

fn scene_of(case: &Value, lines: &str) -> Scene {
    let [q, k, v] = ["q", "k", "v"].map(|name| written(&tensor(&case[name])));
    good(&format!("Scene(input: Heads(q: {q}, k: {k}, v: {v}), mask: [Causal(TopLeft)], {lines})"))
}

fn assert_close(found: &Matrix, expected: &Matrix, tolerance: f64, what: &str) {
    assert_eq!((found.rows(), found.cols()), (expected.rows(), expected.cols()), "{what}");
    for (found, expected) in found.data().iter().zip(expected.data()) {
        assert!((found - expected).abs() <= tolerance, "{what}: {found} is not {expected}");
    }
}

#[test]
fn rotary_scenes_agree_with_torch_in_both_layouts() {
    for (name, layout) in [("rope/half", "HalfSplit"), ("rope/interleaved", "Interleaved")] {
        let case = torch(name);
        let scene = scene_of(&case, &format!("position: Rope(base: 10000.0, layout: {layout}),"));
        let evaluation = evaluate(&scene);
        let expected = |what: &str| tensor(&case["expected"][what]);
        for (h, head) in evaluation.heads.iter().enumerate() {
            assert_close(&head.input.q, &expected("q_rotated")[h], 1e-12, name);
            assert_close(&head.input.k, &expected("k_rotated")[h], 1e-12, name);
            assert_close(&head.attention.output, &expected("output")[h], 1e-12, name);
            let unrotated = head.unrotated.as_ref().unwrap();
            assert_eq!((&*unrotated.q, &*unrotated.k), (&tensor(&case["q"])[h], &tensor(&case["k"])[h]));
        }
    }
}

#[test]
fn alibi_scenes_agree_with_torch_for_six_heads() {
    let case = torch("alibi/6_heads");
    let scene = scene_of(&case, "position: Alibi,");
    let evaluation = evaluate(&scene);
    let slopes: Vec<f64> =
        case["expected"]["slopes"].as_array().unwrap().iter().map(|slope| slope.as_f64().unwrap()).collect();
    for (h, head) in evaluation.heads.iter().enumerate() {
        assert_close(&head.attention.output, &tensor(&case["expected"]["output"])[h], 1e-12, "output");
        let alibi = head.alibi.as_ref().unwrap();
        assert_eq!(alibi.slope, slopes[h]);
        assert_eq!(alibi.bias.get(3, 1), -2.0 * slopes[h], "two positions back");
        let added = head.attention.masked_scores.get(3, 1) - head.attention.scaled_scores.get(3, 1);
        assert!((added - alibi.bias.get(3, 1)).abs() < 1e-15);
    }
    let own = format!("mask: [Causal(TopLeft), Alibi({slopes:?})],");
    let own = write(scene.spec()).replace("mask: [Causal(TopLeft)],", &own).replace("position: Alibi,", "");
    assert_eq!(evaluate(&good(&own)).output, evaluation.output, "the same slopes, given as a layer");
}

#[test]
fn sinusoidal_positions_are_added_to_the_hidden_states_of_both_sides() {
    let weights = "heads: 1, w_q: Identity(n: 2), w_k: Identity(n: 2), w_v: Identity(n: 2)";
    let alone = format!("Scene(input: Projected(x: [[1, 2], [3, 4]], {weights}), position: Sinusoidal)");
    let evaluation = evaluate(&good(&alone));
    let input = &evaluation.heads[0].input;
    let expected = Matrix::from_rows(&[[1.0, 3.0], [3.0 + 1_f64.sin(), 4.0 + 1_f64.cos()]]).unwrap();
    assert_eq!((&*input.q, &*input.k, &*input.v), (&expected, &expected, &expected));

    let crossed = format!(
        "Scene(input: Projected(x: [[1, 2]], context: [[0, 0], [0, 0]], {weights}), position: Sinusoidal, position_offset: 5)"
    );
    let scene = good(&crossed);
    let input = &evaluate(&scene).heads[0].input;
    let moved = sinusoidal(1, 2, 5);
    assert_eq!(input.q.row(0), [1.0 + moved.get(0, 0), 2.0 + moved.get(0, 1)], "query 1 stands at 5");
    assert_eq!(*input.k, sinusoidal(2, 2, 0), "keys stand at 0 and 1");
    let added = scene.projection().unwrap().sinusoidal.as_ref().unwrap();
    assert_eq!((added.x.row(0), added.x_positions.row(0)), (&[1.0, 2.0][..], moved.row(0)));
}

#[test]
fn a_decode_step_turns_its_query_to_where_it_stands() {
    let heads =
        |q: &str| format!("input: Heads(q: [{q}], k: [[[1, 0], [0, 1], [1, 1]]], v: [[[1], [2], [4]]])");
    let rope = "position: Rope(base: 100, layout: Interleaved), mask: [Causal(TopLeft)]";
    let whole = evaluate(&good(&format!("Scene({}, {rope})", heads("[[2, 0], [0, 3], [1, -1]]"))));
    let step = evaluate(&good(&format!("Scene({}, {rope}, position_offset: 2)", heads("[[1, -1]]"))));
    assert_eq!(step.output.row(0), whole.output.row(2));
}

#[test]
fn heads_that_share_a_key_head_share_its_turned_keys() {
    let scene = good(
        "Scene(input: Heads(q: [[[1, 0]], [[0, 1]]], k: [[[1, 0], [0, 1]]], v: [[[1], [2]]]), position: Rope, precision: F32)",
    );
    let evaluation = evaluate(&scene);
    let [first, second] = &evaluation.heads[..] else { panic!() };
    assert!(std::sync::Arc::ptr_eq(&first.input.k, &second.input.k));
    let turned = rope(&scene.head_inputs()[0].k, 1e4, RopeLayout::HalfSplit, 0).unwrap();
    assert_eq!(*first.input.k, turned.map(|value| Precision::F32.round(value)));
}

#[test]
fn positions_that_do_not_fit_are_refused_in_words() {
    let with = |width: &str, line: &str| {
        format!("Scene(\ninput: Heads(q: [[{width}]], k: [[{width}]], v: [[[1]]]),\n{line}\n)")
    };
    assert_eq!(
        complaints(&with("[1, 2, 3]", "position: Rope(),")),
        ["3:11 position: a width of 3 cannot be turned in pairs; rotary positions need an even width"]
    );
    assert_eq!(
        complaints(&with("[1, 2]", "position: Rope(base: 0.5),")),
        ["3:22 position.base: the base is 0.5; expected a finite number, 1 or more"]
    );
    assert_eq!(
        complaints(&with("[1, 2]", "position: Sinusoidal,")),
        [
            "3:11 position: sinusoidal positions are added to hidden states, but this input gives Q, K and V | write input: Projected(..), or take Rope or Alibi, which need no hidden states"
        ]
    );
    assert_eq!(
        complaints(&with("[1, 2]", "position: Rope(layout: Interleave),")),
        ["3:24 position.layout: `Interleave` is not a layout of pairs | did you mean `Interleaved`?"]
    );
    assert_eq!(
        complaints(&with("[1, 2]", "position: Alibi(0.5),")),
        [
            "3:11 position: `Alibi` takes nothing in parentheses: its slopes follow from the number of heads | for slopes of your own write mask: [Alibi([0.5, 0.25, ..])]"
        ]
    );
    assert_eq!(
        complaints(&with("[1, 2]", "position: Alib,")),
        ["3:11 position: `Alib` is not a way to give positions | did you mean `Alibi`?"]
    );
    assert_eq!(
        complaints(&with("[1, 2]", "precision: F8,")),
        ["3:12 precision: `F8` is not a number format | known are F64, F32, Bf16, F16"]
    );
    assert_eq!(
        complaints(&with("[1, 2]", "mask: [Alibi([0.5, 0.25])],")),
        ["3:8 mask[0]: there are 2 ALiBi slopes for 1 query heads; every query head needs exactly one slope"]
    );
    assert_eq!(
        complaints(&with("[1, 2]", "mask: [Alibi([inf])],")),
        ["3:15 mask[0][0]: the ALiBi slope of head 1 is not finite; distances are multiplied by it"]
    );
}

const ROUGH: &str = "Scene(
    input: Heads(
        q: [[[0.1, 3.3], [1.7, -0.4], [2.2, 0.9]]],
        k: [[[0.7, 1.1], [-0.3, 2.9], [1.9, 0.2]]],
        v: [[[0.1, 10.3], [3.7, -0.9], [7.7, 0.3]]],
    ),
    mask: [Causal(TopLeft)],
    position: Rope(base: 10, layout: Interleaved),
)";

fn in_precision(name: &str) -> (Scene, Evaluation) {
    let scene = good(&ROUGH.replace("position:", &format!("precision: {name}, position:")));
    let evaluation = evaluate(&scene);
    (scene, evaluation)
}

#[test]
fn every_stage_of_a_narrow_scene_is_stored_in_its_format() {
    let (_, exact) = in_precision("F64");
    for (name, precision) in [("F32", Precision::F32), ("Bf16", Precision::Bf16), ("F16", Precision::F16)] {
        let (scene, evaluation) = in_precision(name);
        let head = &evaluation.heads[0];
        let attention = &head.attention;
        let stages = [&*head.input.q, &*head.input.k, &*head.input.v, &attention.weights, &attention.output];
        for number in stages.into_iter().flat_map(Matrix::data) {
            assert_eq!(precision.round(*number), *number, "{name}");
        }
        assert_ne!(evaluation.output, exact.output, "{name}");
        assert_eq!(*attention, attend_in(precision, &exact.heads[0].input, scene.attention_spec(), 0));
        assert_close(&evaluation.output, &exact.output, 40.0 * precision.unit_roundoff(), name);
        for (check, outcome) in checks(&scene, &evaluation) {
            assert!(!matches!(outcome, CheckOutcome::Fail { .. }), "{name} {check:?}: {outcome:?}");
        }
        let traced = trace(&head.input, scene.attention_spec(), 0, (2, 1), Carry::Stored(precision)).unwrap();
        assert_eq!(traced.output.row(), attention.output.row(2), "{name}");
    }
}

#[test]
fn a_score_that_overflows_in_f16_is_named() {
    let scene = |precision: &str| {
        let line = format!("scoring: Dot, precision: {precision}");
        good(&format!("Scene(input: Heads(q: [[[300]]], k: [[[300], [1]]], v: [[[1], [2]]]), {line})"))
    };
    assert!(evaluate(&scene("Bf16")).warnings.is_empty());
    assert_eq!(
        evaluate(&scene("F16")).warnings,
        [
            "weights row 1 is NaN because masked_scores[1][1] is ∞, though Q and K are finite; the largest f16 number is 65504"
        ]
    );
}

#[test]
fn positions_and_formats_are_written_as_they_are_read() {
    for line in [
        "position: Rope(base: 500000, layout: Interleaved),",
        "position: Alibi,",
        "precision: Bf16,",
        "mask: [Alibi([0.5])],",
    ] {
        let text = format!("Scene(input: Heads(q: [[[1, 2]]], k: [[[1, 2]]], v: [[[1]]]), {line})");
        let spec = good(&text).spec().clone();
        let again = write(&spec);
        assert!(again.contains(line), "{line} in {again}");
        assert_eq!(*good(&again).spec(), spec);
    }
    let short = good("Scene(input: Heads(q: [[[1, 2]]], k: [[[1, 2]]], v: [[[1]]]), position: Rope)");
    assert_eq!(short.spec().position, Position::Rope { base: 1e4, layout: RopeLayout::HalfSplit });
}

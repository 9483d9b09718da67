//! Attention maps that were computed elsewhere: which files are taken, what is odd about them, and what is refused.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use qkv::engine::{Check, CheckOutcome, Matrix, Precision};
use qkv::scene::{
    Complaint, Evaluation, Input, Scene, checks, evaluate, named_files, read, read_spec, render_complaint,
    rewrite, write,
};

/// The maps in `tests/data/weights`: the first head as a model with a causal mask makes it, the second without one.
const FIRST: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]];
const SECOND: [[f64; 3]; 3] = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]];

fn data(file: &str) -> std::io::Result<Vec<u8>> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/weights").join(file))
}

fn read_whole(text: &str) -> Result<Scene, Vec<Complaint>> {
    read(text, &mut data)
}

fn tensor(name: &str) -> Result<Scene, Vec<Complaint>> {
    read_whole(&format!("Scene(input: Weights(file: \"maps.safetensors\", name: \"{name}\"))"))
}

fn evaluated(name: &str) -> (Scene, Evaluation) {
    let scene = tensor(name).unwrap();
    let evaluation = evaluate(&scene);
    (scene, evaluation)
}

fn refused(text: &str) -> String {
    let complaints = read_whole(text).unwrap_err();
    complaints
        .iter()
        .map(|complaint| format!("{}: {complaint}", complaint.field))
        .collect::<Vec<_>>()
        .join("\n")
}

fn far(found: &Matrix, expected: &[[f64; 3]; 3]) -> f64 {
    assert_eq!((found.rows(), found.cols()), (3, 3));
    found.data().iter().zip(expected.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn checked(name: &str) -> Vec<(Check, CheckOutcome)> {
    let (scene, evaluation) = evaluated(name);
    checks(&scene, &evaluation)
}

#[test]
fn every_number_format_is_read_to_its_own_precision() {
    let formats = [
        ("f64", Precision::F64, 0.0),
        ("f32", Precision::F32, 3e-8),
        ("f16", Precision::F16, 2.5e-4),
        ("bf16", Precision::Bf16, 2e-3),
    ];
    for (name, precision, tolerance) in formats {
        let (scene, evaluation) = evaluated(name);
        assert_eq!((scene.heads(), scene.n_q(), scene.n_k()), (2, 3, 3), "{name}");
        for (head, expected) in evaluation.heads.iter().zip([&FIRST, &SECOND]) {
            assert!(far(&head.attention.weights, expected) <= tolerance, "{name}, head {}", head.query_head);
        }
        assert_eq!(scene.attention_spec().precision, precision, "{name}");
        assert!(evaluation.warnings.is_empty(), "{name}: {:?}", evaluation.warnings);
        assert!(matches!(checked(name)[0], (Check::RowsSumToOne, CheckOutcome::Pass { .. })), "{name}");
    }
}

#[test]
fn one_head_may_leave_out_the_axis_of_heads_and_one_sequence_may_keep_its_batch() {
    let (scene, evaluation) = evaluated("one_head");
    assert_eq!(scene.heads(), 1);
    assert!(far(&evaluation.heads[0].attention.weights, &SECOND) < 1e-7);
    let (scene, evaluation) = evaluated("batch_of_one");
    assert_eq!(scene.heads(), 2);
    assert!(far(&evaluation.heads[1].attention.weights, &SECOND) < 1e-7);
    let (scene, _) = evaluated("two_queries");
    assert_eq!((scene.heads(), scene.n_q(), scene.n_k()), (2, 2, 3));
}

#[test]
fn an_npy_file_has_no_names() {
    let scene = read_whole("Scene(input: Weights(file: \"maps.npy\"))").unwrap();
    assert_eq!(evaluate(&scene).heads, evaluated("f32").1.heads);
    assert_eq!(scene.key_labels(), ["1", "2", "3"]);
    assert_eq!(
        refused("Scene(input: Weights(file: \"maps.npy\", name: \"f32\"))"),
        "input.name: \"maps.npy\" cannot be used: it is an .npy file, which holds one array without a name (leave `name` out)"
    );
}

#[test]
fn tokens_come_from_the_metadata_of_the_file_unless_the_scene_names_them() {
    let (scene, _) = evaluated("f32");
    assert_eq!(scene.query_labels(), ["the", "cat", "sat"]);
    assert_eq!(scene.key_labels(), ["the", "cat", "sat"]);
    let (scene, _) = evaluated("two_queries");
    assert_eq!(
        (scene.query_labels().len(), scene.key_labels()),
        (2, &["the", "cat", "sat"].map(String::from)[..])
    );
    let own = read_whole(
        "Scene(tokens: [\"a\", \"b\", \"c\"], input: Weights(file: \"maps.safetensors\", name: \"f32\"))",
    );
    assert_eq!(own.unwrap().query_labels(), ["a", "b", "c"]);
}

#[test]
fn nothing_but_the_weights_is_there() {
    let (scene, evaluation) = evaluated("f32");
    assert!(scene.gives_weights());
    assert_eq!((scene.d_k(), scene.d_v(), scene.d_model()), (0, 0, None));
    for head in &evaluation.heads {
        let attention = &head.attention;
        let stages =
            [&attention.raw_scores, &attention.scaled_scores, &attention.masked_scores, &attention.output];
        assert!(stages.iter().all(|stage| stage.data().is_empty()));
        assert!(attention.row_max.is_empty() && attention.row_sum.is_empty());
    }
    assert!(evaluation.output.data().is_empty() && evaluation.concat.data().is_empty());
    for (check, outcome) in &checked("f32")[1..] {
        let CheckOutcome::NotApplicable { why } = outcome else { panic!("{check:?}: {outcome:?}") };
        assert_eq!(why, "only the weights are given");
    }
}

#[test]
fn what_cannot_be_weights_is_refused_with_the_shape_found_and_expected() {
    let cases = [
        (
            "vector",
            "tensor `vector` has the shape [3]; expected (heads, n_q, n_k), (n_q, n_k) or (1, heads, n_q, n_k)",
        ),
        (
            "batch_of_two",
            "tensor `batch_of_two` has the shape [2, 1, 3, 3], a batch of 2 sequences; expected one: (1, heads, n_q, n_k)",
        ),
        ("whole_numbers", "tensor `whole_numbers` is of type I64; F64, F32, F16 and BF16 are supported"),
        ("f23", "it has no tensor `f23` (did you mean `f32`?)"),
    ];
    for (name, sentence) in cases {
        let text = format!("Scene(input: Weights(file: \"maps.safetensors\", name: \"{name}\"))");
        assert_eq!(refused(&text), format!("input.name: \"maps.safetensors\" cannot be used: {sentence}"));
    }
    assert_eq!(
        refused("Scene(input: Weights(file: \"maps.safetensors\", name: \"no_heads\"))"),
        "input.name: \"maps.safetensors\" has no heads; expected 1 to 4096"
    );
    let nameless = refused("Scene(input: Weights(file: \"maps.safetensors\"))");
    assert!(nameless.starts_with(
        "input.file: \"maps.safetensors\" cannot be used: it is a safetensors file, and no tensor in it is named (add name: \"..\"; it has across, "
    ), "{nameless}");
    let missing = refused("Scene(input: Weights(file: \"none.npy\"))");
    assert!(missing.starts_with("input.file: \"none.npy\" cannot be used: it cannot be read: "), "{missing}");
}

#[test]
fn complaints_point_into_the_file() {
    let text = "Scene(\n    input: Weights(\n        file: \"maps.safetensors\",\n        name: \"layers\",\n    ),\n    mask: [Causal(TopLeft)],\n)";
    let complaints = read_whole(text).unwrap_err();
    let places: Vec<_> = complaints
        .iter()
        .map(|complaint| complaint.place.map(|place| (place.line, place.column)).unwrap())
        .collect();
    assert_eq!(places, [(4, 15), (6, 11)]);
    assert!(render_complaint("maps.ron", text, &complaints[1]).contains("maps.ron:6:11"));
    let misspelt = read_whole("Scene(input: Weights(file: \"maps.npy\", nam: \"f32\"))").unwrap_err();
    assert_eq!(misspelt[0].to_string(), "`nam` is not a field of Weights (did you mean `name`?)");
    let fileless = read_whole("Scene(input: Weights(name: \"f32\"))").unwrap_err();
    assert!(fileless[0].to_string().contains("file"), "{fileless:?}");
}

#[test]
fn what_says_how_weights_are_made_is_refused_in_one_sentence_each() {
    let settings = [
        ("scoring", "Dot"),
        ("scoring", "General(w: [[1]])"),
        ("softcap", "30"),
        ("mask", "[Causal(TopLeft)]"),
        ("mask", "[ValidKeys(900)]"),
        ("position", "Alibi"),
        ("position", "Sinusoidal"),
        ("position", "Rope(base: 10000, layout: HalfSplit)"),
        ("position_offset", "2"),
        ("softmax", "(over: Queries)"),
        ("sinks", "[0.5]"),
        ("dropout", "(rate: 0.5, seed: 1)"),
        ("fault", "NoScale"),
        ("precision", "F16"),
    ];
    for (field, value) in settings {
        let text =
            format!("Scene(input: Weights(file: \"maps.safetensors\", name: \"f32\"), {field}: {value})");
        assert_eq!(
            refused(&text),
            format!(
                "{field}: `{field}` says how weights are made, but this input gives the weights (leave `{field}` out)"
            ),
            "{value}"
        );
    }
    let stages = refused("Scene(input: Weights(file: \"maps.npy\"), view: (stages: [RawScores, Output]))");
    assert!(stages.contains("view.stages") && stages.contains("nothing else"), "{stages}");
    assert!(read_whole("Scene(input: Weights(file: \"maps.npy\"), scoring: ScaledDot, mask: [])").is_ok());
    assert!(
        refused("Scene(input: Weights(file: \"maps.npy\"), view: (head: 3))").contains("expected 1 to 2")
    );
}

#[test]
fn odd_weights_are_shown_and_named_at_their_first_place() {
    let warnings = |name| evaluated(name).1.warnings;
    assert_eq!(
        warnings("negative"),
        [
            "head 2: the weight in row 2, column 2 is -0.25, and a weight is never below 0; 1 more weight is below 0"
        ]
    );
    assert_eq!(
        warnings("dropped"),
        ["head 2: row 2 sums to 0.200000 where 1 is expected; 1 more row does not sum to 1"]
    );
    assert_eq!(
        warnings("not_finite"),
        ["head 2: the weight in row 2, column 1 is NaN; 1 more weight is not finite"]
    );
    assert_eq!(
        warnings("across"),
        [
            "row 1 sums to 1.050000 where 1 is expected; 2 more rows do not sum to 1; its columns do, so that queries may stand across in this file"
        ]
    );
    let CheckOutcome::Fail { place, detail } = &checked("dropped")[0].1 else {
        panic!("rows do not sum to 1")
    };
    assert_eq!((place.query_head, place.query), (1, 1));
    assert!(detail.contains("0.2"), "{detail}");
    let CheckOutcome::Fail { detail, .. } = &checked("not_finite")[0].1 else { panic!("a row has no sum") };
    assert!(detail.contains("no finite sum"), "{detail}");
}

#[test]
fn a_warning_stands_at_the_tensor_that_caused_it() {
    let text = "Scene(\n    input: Weights(file: \"maps.safetensors\", name: \"dropped\"),\n)";
    let scene = read_whole(text).unwrap();
    let place = scene.warnings()[0].place.unwrap();
    assert_eq!((place.line, place.column), (2, 52));
}

#[test]
fn the_scene_is_written_as_it_was_read() {
    let named = r#"Scene(input: Weights(file: "maps.safetensors", name: "f32"))"#;
    let nameless = r#"Scene(input: Weights(file: "maps.npy"))"#;
    for text in [named, nameless] {
        let spec = read_spec(text).unwrap();
        assert_eq!(read_spec(&write(&spec)).unwrap(), spec);
        assert_eq!(rewrite(text, &spec).text, text);
        assert_eq!(named_files(&spec).len(), 1);
    }
    let original =
        "Scene(\n    input: Weights(\n        file: \"maps.safetensors\", // from the lab\n    ),\n)";
    let renamed = read_spec(&original.replace("// from", "name: \"f16\", // from")).unwrap();
    let rewritten = rewrite(original, &renamed);
    assert_eq!(read_spec(&rewritten.text).unwrap(), renamed);
    assert!(rewritten.text.contains("// from the lab") && !rewritten.lost_comments, "{}", rewritten.text);
}

#[test]
fn sizes_beyond_any_memory_are_refused_before_anything_is_reserved() {
    let header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (4096, {0}, {0}), }}", 1_u64 << 30);
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.into_bytes());
    let huge = read("Scene(input: Weights(file: \"huge.npy\"))", &mut |_| Ok(bytes.clone())).unwrap_err();
    assert!(huge[0].to_string().contains("more than any memory holds"), "{huge:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Whatever is in the file, the scene either says what is wrong or shows exactly these numbers.
    #[test]
    fn any_array_is_taken_as_it_is_or_refused(
        shape in prop::collection::vec(0..4_usize, 0..5),
        number in prop::sample::select(vec![0.25, -0.0, -1.0, f64::NAN, f64::INFINITY, 1e300]),
    ) {
        let n: usize = shape.iter().product();
        let axes = shape.iter().map(|axis| format!("{axis},")).collect::<String>();
        let header = format!("{:<117}\n", format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({axes}), }}"));
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.into_bytes());
        bytes.extend(std::iter::repeat_n(number.to_le_bytes(), n).flatten());
        match read("Scene(input: Weights(file: \"x.npy\"))", &mut |_| Ok(bytes.clone())) {
            Ok(scene) => {
                let evaluation = evaluate(&scene);
                prop_assert_eq!(evaluation.heads.len() * scene.n_q() * scene.n_k(), n);
                let same = |weight: &f64| weight.to_bits() == (number + 0.0).to_bits(); // −0 becomes 0
                prop_assert!(evaluation.heads.iter().all(|head| head.attention.weights.data().iter().all(same)));
                prop_assert_eq!(checks(&scene, &evaluation).len(), Check::ALL.len());
                let is_weights = matches!(scene.spec().input, Input::Weights { .. });
                prop_assert!(is_weights);
            }
            Err(complaints) => prop_assert!(!complaints.is_empty() && complaints[0].place.is_some()),
        }
    }
}

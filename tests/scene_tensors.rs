//! Tensor files: what is read, and what is said about hostile ones.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::fs;
use std::io;
use std::path::Path;

use qkv::scene::{Complaint, Scene, TensorFiles, read};
use serde_json::Value;

fn data(folder: &str, file: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder).join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What `EXPECTED.json` says about the files of one kind.
fn expected(ending: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_slice(&data("safetensors", "EXPECTED.json")).unwrap();
    all.into_iter().filter(|case| case["file"].as_str().unwrap().ends_with(ending)).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// A safetensors file with this header and so many zero bytes of data.
fn safetensors(header: &str, n_bytes: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + n_bytes, 0);
    bytes
}

fn read_with(bytes: &[u8]) -> Result<Scene, Vec<Complaint>> {
    let text = r#"Scene(
    input: Tensors(file: "x.safetensors", q: "q", k: "k", v: "v"),
)"#;
    read(text, &mut |_| Ok(bytes.to_vec()))
}

fn refused(bytes: &[u8]) -> String {
    read_with(bytes).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn valid_safetensors_are_accepted_whatever_their_order_padding_or_emptiness() {
    let mut n_ok = 0;
    for case in expected(".safetensors").iter().filter(|case| case["result"] == "ok") {
        let file = case["file"].as_str().unwrap();
        let mut files = TensorFiles::new();
        files.load(file, data("safetensors", file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let names: Vec<String> = case["values"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(files.tensor_names(file), names, "{file}");
        n_ok += 1;
    }
    assert_eq!(n_ok, 4);
}

#[test]
fn hostile_safetensors_are_refused_with_what_was_wanted_and_found() {
    let says = [
        (
            "header_len_2_63.safetensors",
            "its header wants 9,223,372,036,854,775,808 bytes, the whole file has 10",
        ),
        ("header_len_126MiB.safetensors", "its header wants 132,095,296 bytes, the whole file has 10"),
        ("too_short.safetensors", "a safetensors file has at least 8 bytes; found 3"),
        ("not_brace.safetensors", "its header has to begin with `{`; found `[`"),
        ("cut.safetensors", "expected 28 data bytes, found 23"),
    ];
    assert_eq!(says.len(), expected(".safetensors").iter().filter(|case| case["result"] == "error").count());
    for (file, sentence) in says {
        assert_eq!(
            TensorFiles::new().load(file, data("safetensors", file)).unwrap_err().to_string(),
            sentence
        );
        let complaints = read_with(&data("safetensors", file)).unwrap_err();
        let [complaint] = complaints.as_slice() else { panic!("{complaints:?}") };
        assert_eq!(complaint.field, "input.file");
        assert_eq!(complaint.message, format!("\"x.safetensors\" cannot be used: {sentence}"));
        let place = complaint.place.unwrap();
        assert_eq!((place.line, place.column), (2, 26));
    }
}

#[test]
fn offsets_that_overlap_or_lie_about_the_shape_are_refused() {
    let tensor = |name: &str, shape: &str, from: u64, to: u64| {
        format!(r#""{name}":{{"dtype":"F32","shape":{shape},"data_offsets":[{from},{to}]}}"#)
    };
    let header = |tensors: &[String]| format!("{{{}}}", tensors.join(","));
    let overlapping = header(&[tensor("q", "[1,1,2]", 0, 8), tensor("k", "[1,1,2]", 4, 12)]);
    assert!(refused(&safetensors(&overlapping, 12)).contains("may not overlap or leave gaps"));
    let wrong_size = header(&[tensor("q", "[1,1,3]", 0, 8)]);
    assert!(refused(&safetensors(&wrong_size, 8)).contains("do not come to the bytes that are set aside"));
    let huge = header(&[tensor("q", "[4294967296,4294967296,4294967296]", 0, 8)]);
    assert!(refused(&safetensors(&huge, 8)).contains("larger than any memory"));
    let twice = header(&[tensor("q", "[1,1,2]", 0, 8), tensor("q", "[1,1,1]", 0, 4)]);
    assert!(refused(&safetensors(&twice, 8)).contains("cannot be used"));
    let many_empty = header(&[
        tensor("q", "[1152921504606846976,0,0]", 0, 0),
        tensor("k", "[1,1,1]", 0, 4),
        tensor("v", "[1,1,1]", 4, 8),
    ]);
    assert!(refused(&safetensors(&many_empty, 8)).contains("1152921504606846976 heads"));
}

#[test]
fn tensors_that_are_missing_or_of_another_shape_or_type_are_named() {
    let header = r#"{"layers.5.q":{"dtype":"F32","shape":[1,1,2],"data_offsets":[0,8]},"k":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]},"v":{"dtype":"I64","shape":[1,1,1],"data_offsets":[16,24]}}"#;
    let text = r#"Scene(input: Tensors(file: "m", q: "layer.5.q", k: "k", v: "v"))"#;
    let complaints = read(text, &mut |_| Ok(safetensors(header, 24))).unwrap_err();
    let found: Vec<_> =
        complaints.iter().map(|complaint| (complaint.field.as_str(), complaint.to_string())).collect();
    assert_eq!(
        found,
        [
            (
                "input.q",
                "\"m\" cannot be used: it has no tensor `layer.5.q` (did you mean `layers.5.q`?)".to_owned()
            ),
            (
                "input.k",
                "\"m\" cannot be used: tensor `k` has 2 axes [1, 2]; expected 3: (heads, positions, width)"
                    .to_owned()
            ),
            (
                "input.v",
                "\"m\" cannot be used: tensor `v` is of type I64; F64, F32, F16 and BF16 are supported"
                    .to_owned()
            ),
        ]
    );
}

#[test]
fn every_float_type_becomes_the_same_numbers_and_tokens_name_the_axes() {
    let values = [1.0_f64, -0.5, 2.0, 0.25];
    let half = |value: f64| half::f16::from_f64(value).to_le_bytes().to_vec();
    let brain = |value: f64| half::bf16::from_f64(value).to_le_bytes().to_vec();
    type Encode<'a> = &'a dyn Fn(f64) -> Vec<u8>;
    let encodings: [(&str, Encode<'_>); 4] = [
        ("F64", &|value| value.to_le_bytes().to_vec()),
        ("F32", &|value| (value as f32).to_le_bytes().to_vec()),
        ("F16", &half),
        ("BF16", &brain),
    ];
    for (dtype, encode) in encodings {
        let bytes: Vec<u8> = values.iter().flat_map(|value| encode(*value)).collect();
        let n = bytes.len();
        let entry = |name: &str, at: usize| {
            format!(
                r#""{name}":{{"dtype":"{dtype}","shape":[2,2,1],"data_offsets":[{},{}]}}"#,
                at * n,
                (at + 1) * n
            )
        };
        let header = format!(
            r#"{{"__metadata__":{{"tokens":"[\"the\",\"böat\"]"}},{},{},{}}}"#,
            entry("q", 0),
            entry("k", 1),
            entry("v", 2)
        );
        let mut file = safetensors(&header, 0);
        (0..3).for_each(|_| file.extend(&bytes));
        let scene = read_with(&file).unwrap();
        assert_eq!((scene.heads(), scene.n_q(), scene.d_v()), (2, 2, 1), "{dtype}");
        assert_eq!(scene.head_inputs()[1].v.data(), [2.0, 0.25], "{dtype}");
        assert_eq!(scene.query_labels(), ["the", "böat"]);
        assert_eq!(scene.key_labels(), ["the", "böat"]);
        assert!(scene.warnings().is_empty());
    }
}

#[test]
fn tokens_of_a_file_that_do_not_fit_are_a_warning_and_positions_are_numbered() {
    let header = |tokens: &str| {
        let entry = |name: &str, at: usize| {
            format!(r#""{name}":{{"dtype":"F32","shape":[1,1,1],"data_offsets":[{at},{}]}}"#, at + 4)
        };
        format!(
            r#"{{"__metadata__":{{"tokens":"{tokens}"}},{},{},{}}}"#,
            entry("q", 0),
            entry("k", 4),
            entry("v", 8)
        )
    };
    for (tokens, words) in [(r#"[\"a\",\"b\"]"#, "names 2 tokens"), ("the boat", "not a JSON list of texts")]
    {
        let scene = read_with(&safetensors(&header(tokens), 12)).unwrap();
        assert_eq!(scene.query_labels(), ["1"]);
        let [warning] = scene.warnings() else { panic!("{:?}", scene.warnings()) };
        assert!(warning.message.contains(words), "{}", warning.message);
        assert!(warning.place.is_some());
    }
}

#[test]
fn npy_files_of_every_order_and_type_give_their_numbers() {
    let mut n_ok = 0;
    for case in expected(".npy").iter().filter(|case| case["result"] == "ok") {
        let file = case["file"].as_str().unwrap();
        if file == "bool_mask_2x2.npy" {
            continue; // true and false are no numbers; see below
        }
        let text = format!(
            "Scene(input: Heads(q: [File(path: \"{file}\")], k: [File(path: \"{file}\")], v: [File(path: \"{file}\")]))"
        );
        let scene = read(&text, &mut |path| Ok(data("npy", path)))
            .unwrap_or_else(|error| panic!("{file}: {error:?}"));
        let expected: Vec<f64> = case["values"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|row| row.as_array().unwrap().iter().map(number))
            .collect();
        let found = scene.head_inputs()[0].q.data();
        assert_eq!(found.len(), expected.len(), "{file}");
        for (found, expected) in found.iter().zip(expected) {
            // The JSON reader may miss the last bit.
            assert!((found - expected).abs() <= expected.abs() * 1e-15, "{file}: {found} is not {expected}");
        }
        assert_eq!(scene.n_q() as u64, case["shape"][0].as_u64().unwrap(), "{file}");
        n_ok += 1;
    }
    assert_eq!(n_ok, 7);
}

#[test]
fn hostile_npy_files_are_refused_at_once_with_their_reason() {
    let says = [
        ("complex_2x2.npy", "complex64"),
        ("header_claims_1GiB.npy", "it claims 1,073,741,824 bytes, found 2"),
        ("shape_product_wraps.npy", "more than any memory holds"),
        ("shape_huge_but_no_data.npy", "expected 4,000,000,000,000 bytes of data, found 16"),
        ("negative_shape.npy", "axis 1 of its shape is -"),
        ("cut_in_data.npy", "expected 48 bytes of data, found 40"),
        ("cut_in_header.npy", "its header is cut"),
        ("not_npy.npy", "zip archive"),
        ("object_array.npy", "Python objects (a pickle)"),
        ("structured.npy", "structured type"),
    ];
    assert_eq!(says.len(), expected(".npy").iter().filter(|case| case["result"] == "error").count());
    for (file, words) in says.into_iter().chain([("bool_mask_2x2.npy", "true and false")]) {
        let error = TensorFiles::new().load(file, data("npy", file)).unwrap_err().to_string();
        assert!(error.contains(words), "{file}: {error}");
    }
}

#[test]
fn a_file_cut_anywhere_or_with_any_byte_changed_never_panics() {
    for (folder, file) in
        [("safetensors", "good.safetensors"), ("npy", "c_order_2x3_f8.npy"), ("npy", "f_order_2x3_f8.npy")]
    {
        let good = data(folder, file);
        for at in 0..good.len() {
            let _ = TensorFiles::new().load(file, good[..at].to_vec());
            for byte in [0, b'9', b'-', b'(', 0xff] {
                let mut changed = good.clone();
                changed[at] = byte;
                let mut files = TensorFiles::new();
                let _ = files.load(file, changed);
                files.tensor_names(file);
                let _ = files.tokens(file);
            }
        }
    }
}

#[test]
fn an_edited_scene_is_checked_again_without_the_disk() {
    let text = r#"Scene(input: Heads(q: [File(path: "w.npy")], k: [[[1, 2, 3]]], v: [[[1]]]))"#;
    let mut n_read = 0;
    let scene = read(text, &mut |path| {
        n_read += 1;
        if path == "w.npy" {
            Ok(data("npy", "c_order_2x3_f8.npy"))
        } else {
            Err(io::Error::other("elsewhere"))
        }
    })
    .unwrap();
    let mut spec = scene.spec().clone();
    spec.title = "edited".to_owned();
    let edited = Scene::new(spec, scene.files()).unwrap();
    assert_eq!(edited.head_inputs()[0].q.row(1), [4.0, 5.0, 6.0]);
    assert_eq!(n_read, 1);
}

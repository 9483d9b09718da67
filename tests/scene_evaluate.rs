//! Scenes evaluated: bug reports of others, random matrices of NumPy, projections, and the bundled scenes as files.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::fs;
use std::io;
use std::path::Path;

use proptest::prelude::*;
use qkv::engine::{Cancelled, CheckOutcome, Matrix, Progress, attend};
use qkv::scene::bundled;
use qkv::scene::{
    Evaluation, OutputScene, Scene, checks, checks_with, evaluate, evaluate_with, read, read_spec, rewrite,
    write,
};
use serde_json::Value;

fn json(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scenes").join(file);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn case(id: &str) -> Value {
    let cases = json("cases.json")["cases"].as_array().unwrap().clone();
    cases.into_iter().find(|case| case["id"] == id).unwrap()
}

fn good(text: &str) -> Scene {
    let mut no_files = |path: &str| Err(io::Error::new(io::ErrorKind::NotFound, path.to_owned()));
    read(text, &mut no_files).unwrap_or_else(|complaints| panic!("{complaints:#?}\n{text}"))
}

fn value(value: &Value) -> f64 {
    match value.as_str() {
        Some("nan") => f64::NAN,
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        _ => value.as_f64().unwrap(),
    }
}

/// A matrix of a case as it is written in a scene.
fn rows(matrix: &Value) -> String {
    matrix.to_string().replace("\"nan\"", "NaN").replace("\"inf\"", "inf").replace("\"-inf\"", "-inf")
}

/// A scene with the Q, K and V of a case and one more line.
fn scene_of(inputs: &Value, line: &str) -> Scene {
    let [q, k, v] = ["Q", "K", "V"].map(|name| rows(&inputs[name]));
    good(&format!("Scene(input: Heads(q: [{q}], k: [{k}], v: [{v}]), {line})"))
}

fn assert_close(found: &Matrix, expected: &Value, what: &str) {
    let expected = expected.as_array().unwrap();
    assert_eq!(found.rows(), expected.len(), "rows of {what}");
    for (row_idx, (found, expected)) in found.iter_rows().zip(expected).enumerate() {
        let expected: Vec<f64> = expected.as_array().unwrap().iter().map(value).collect();
        assert_eq!(found.len(), expected.len(), "row {row_idx} of {what}");
        for (found, expected) in found.iter().zip(expected) {
            let same = found == &expected || (found.is_nan() && expected.is_nan());
            assert!(
                same || (found - expected).abs() < 1e-12,
                "{what}, row {row_idx}: {found} is not {expected}"
            );
        }
    }
}

fn assert_stages(evaluation: &Evaluation, expected: &Value) {
    let attention = &evaluation.heads[0].attention;
    let mut n_compared = 0;
    for (name, matrix) in [
        ("scaled", &attention.scaled_scores),
        ("masked", &attention.masked_scores),
        ("weights", &attention.weights),
        ("output", &attention.output),
    ] {
        if !expected[name].is_null() {
            assert_close(matrix, &expected[name], name);
            n_compared += 1;
        }
    }
    assert!(n_compared >= 2, "nothing to compare in {expected}");
}

#[test]
fn a_zero_one_triangle_added_hides_nothing_and_says_so() {
    let case = case("C01");
    let triangle = rows(&case["inputs"]["additive"]);
    let added = scene_of(&case["inputs"], &format!("mask: [Additive({triangle})]"));
    let evaluation = evaluate(&added);
    assert_stages(&evaluation, &case["expected"]["read_as_additive"]);
    let [warning] = evaluation.warnings.as_slice() else { panic!("{:?}", evaluation.warnings) };
    assert!(warning.contains("holds only 0 and 1"), "{warning}");
    assert_eq!(added.warnings()[0].field, "mask[0]");
    assert!(added.warnings()[0].place.is_some());

    let boolean = triangle.replace("1.0", "true").replace("0.0", "false");
    let meant =
        scene_of(&case["inputs"], &format!("mask: [Matrix(convention: TrueAllows, rows: {boolean})]"));
    assert_stages(&evaluate(&meant), &case["expected"]["read_as_boolean_true_allows"]);
    assert!(meant.warnings().is_empty());
}

#[test]
fn one_boolean_matrix_means_two_things_and_the_scene_says_which() {
    let case = case("C02");
    let boolean = rows(&case["inputs"]["boolean"]);
    for (convention, expected) in [("TrueAllows", "true_allows"), ("TrueBlocks", "true_blocks")] {
        let line = format!("mask: [Matrix(convention: {convention}, rows: {boolean})]");
        assert_stages(&evaluate(&scene_of(&case["inputs"], &line)), &case["expected"][expected]);
    }
    let text = format!("Scene(input: Heads(q: [], k: [], v: []), mask: [Matrix(rows: {boolean})])");
    let complaints = read_spec(&text).unwrap_err();
    assert_eq!(complaints[0].message, "Matrix has no `convention`: does `true` allow or block?");
}

#[test]
fn a_query_that_sees_nothing_follows_the_policy_in_force_and_is_named() {
    let case = case("C04");
    let boolean = rows(&case["inputs"]["boolean_true_allows"]);
    let with = |policy: &str| {
        let line = format!(
            "mask: [Matrix(convention: TrueAllows, rows: {boolean})], softmax: (empty_rows: {policy})"
        );
        evaluate(&scene_of(&case["inputs"], &line))
    };
    let zero = with("Zero");
    assert_stages(&zero, &case["expected"]["policy_zero"]);
    assert_eq!(zero.warnings, ["query 2 may see no key and gets weights 0 and output 0 (Zero)"]);
    for (policy, expected) in [("NotANumber", "policy_nan"), ("Uniform", "policy_finite_minimum")] {
        let evaluation = with(policy);
        let attention = &evaluation.heads[0].attention;
        let expected = &case["expected"][expected];
        let row = |matrix: &Matrix| Matrix::from_rows(&[matrix.row(1)]).unwrap();
        assert_close(
            &row(&attention.weights),
            &Value::Array(vec![expected["weights_row"].clone()]),
            "weights",
        );
        assert_close(&row(&attention.output), &Value::Array(vec![expected["output_row"].clone()]), "output");
        let [warning] = evaluation.warnings.as_slice() else { panic!("{:?}", evaluation.warnings) };
        assert!(warning.contains(&format!("({policy})")), "{warning}");
        for other in [0, 2] {
            assert_eq!(attention.weights.row(other), zero.heads[0].attention.weights.row(other));
        }
    }
}

#[test]
fn more_queries_than_keys_leave_rows_empty_in_one_corner_and_they_are_named() {
    let case = case("C15");
    let bottom_right = evaluate(&scene_of(&case["inputs"], "mask: [Causal(BottomRight)]"));
    assert_stages(&bottom_right, &case["expected"]["bottom_right"]);
    assert_eq!(bottom_right.warnings, ["queries 1–3 may see no key and get weights 0 and output 0 (Zero)"]);
    let top_left = evaluate(&scene_of(&case["inputs"], "mask: [Causal(TopLeft)]"));
    assert_stages(&top_left, &case["expected"]["top_left"]);
    assert!(top_left.warnings.is_empty());
}

#[test]
fn nan_in_a_query_spoils_its_row_only_and_is_pointed_at() {
    let case = case("C30");
    let scene = scene_of(&case["inputs"], "");
    let evaluation = evaluate(&scene);
    assert_stages(&evaluation, &case["expected"]);
    assert_eq!(
        evaluation.warnings,
        ["Q has NaN in row 2, column 1", "weights row 2 is NaN because Q[2][1] is NaN"]
    );
}

#[test]
fn infinity_in_a_value_is_blamed_for_the_output_it_spoils() {
    let scene = good(
        "Scene(input: Heads(q: [[[1], [1]]], k: [[[1], [1]]], v: [[[1], [inf]]]), mask: [Causal(TopLeft)])",
    );
    let warnings = evaluate(&scene).warnings;
    assert_eq!(warnings[1..], ["output row 2 is ∞ because V[2][1] is ∞"]);
}

#[test]
fn nan_in_a_key_that_nobody_may_see_changes_nothing() {
    let with = |key: &str| {
        evaluate(&good(&format!(
            "Scene(input: Heads(q: [[[1, 2]]], k: [[[1, 0], {key}]], v: [[[3], [4]]]), mask: [ValidKeys(1)])"
        )))
    };
    let (clean, spoilt) = (with("[0, 0]"), with("[NaN, inf]"));
    assert_eq!(clean.output, spoilt.output);
    assert_eq!(spoilt.warnings, ["K has NaN in row 2, column 1, and 1 more numbers there are not finite"]);
}

#[test]
fn one_token_no_keys_and_no_queries_are_scenes_too() {
    let case = case("C35");
    let one = scene_of(&case["inputs"]["one_token"], "tokens: [\"alone\"]");
    assert_stages(&evaluate(&one), &case["expected"]["one_token"]);

    let no_keys = good("Scene(input: Heads(q: [[[1, 2]]], k: [[]], v: [Randn(rows: 0, cols: 3, seed: 0)]))");
    assert_eq!((no_keys.n_k(), no_keys.d_k(), no_keys.d_v()), (0, 2, 3));
    let evaluation = evaluate(&no_keys);
    assert_close(&evaluation.heads[0].attention.weights, &case["expected"]["no_keys"]["weights"], "weights");
    assert_close(&evaluation.output, &case["expected"]["no_keys"]["output"], "output");
    assert_eq!(evaluation.warnings, ["there are no keys: no query sees anything, and its output is 0"]);
    checks(&no_keys, &evaluation);

    let no_queries =
        good("Scene(input: Heads(q: [[]], k: [[[1, 2]]], v: [[[1]]]), mask: [Causal(BottomRight)])");
    assert_eq!((no_queries.n_q(), evaluate(&no_queries).output.rows()), (0, 0));
    checks(&no_queries, &evaluate(&no_queries));
    let nothing = good("Scene(input: Heads(q: [[]], k: [[]], v: [[]]))");
    assert_eq!(evaluate(&nothing).output.data().len(), 0);
}

#[test]
fn a_scene_can_be_sent_to_a_worker_and_is_shared_by_its_clones() {
    let scene = good("Scene(input: Heads(q: [[[1]]], k: [[[1]]], v: [[[3]]]))");
    let copy = scene.clone();
    let evaluation = std::thread::spawn(move || evaluate(&copy)).join().unwrap();
    assert_eq!(evaluation.output.data(), [3.0]);
    assert!(std::ptr::eq(scene.spec(), scene.clone().spec()));
}

#[test]
fn equal_and_empty_labels_are_kept_as_they_are() {
    let scene = good(
        "Scene(tokens: [\"the\", \"the\", \"\", \" \", \"the\"],
         input: Heads(q: [Randn(rows: 5, cols: 2, seed: 1)], k: [Randn(rows: 5, cols: 2, seed: 2)], v: [Randn(rows: 5, cols: 2, seed: 3)]))",
    );
    assert_eq!(scene.query_labels(), ["the", "the", "", " ", "the"]);
    assert_eq!(evaluate(&scene).heads[0].attention.weights.rows(), 5);
}

#[test]
fn the_additive_scorer_of_the_reading_comes_out_bit_for_bit() {
    let reading = json("additive_scorer.json");
    let scene = good(
        "Scene(
            input: Heads(q: [Randn(rows: 1, cols: 4, seed: 1)], k: [Randn(rows: 3, cols: 4, seed: 2)], v: [[[1], [2], [3]]]),
            scoring: Additive(
                w_q: Randn(rows: 8, cols: 4, seed: 0, factor: 0.5),
                w_k: Randn(rows: 8, cols: 4, seed: 0, skip: 32, factor: 0.5),
                v: Randn(rows: 1, cols: 8, seed: 0, skip: 64, factor: 0.5),
            ),
        )",
    );
    let qkv::engine::Scoring::Additive { w_q, w_k, v } = &scene.attention_spec().scoring else { panic!() };
    let exact = |numbers: &[f64], expected: &Value| {
        // Parsed by the standard library, which is exact to the last bit.
        let text = expected.to_string().replace(['[', ']'], "");
        let expected: Vec<f64> = text.split(',').map(|number| number.parse().unwrap()).collect();
        assert_eq!(numbers, expected);
    };
    exact(w_q.data(), &reading["w_q"]);
    exact(w_k.data(), &reading["w_k"]);
    exact(v, &reading["v"]);
}

#[test]
fn heads_take_their_columns_side_by_side_and_the_output_is_concat_times_w_o_plus_b_o() {
    // X is the identity, so that Q, K and V are the weights themselves plus the bias.
    let scene = good(
        "Scene(input: Projected(
            x: Identity(n: 2), heads: 4, kv_heads: 2,
            w_q: [[11, 12, 13, 14], [21, 22, 23, 24]],
            w_k: [[1, 2], [3, 4]], b_k: [0.5, 0.25],
            w_v: [[1, 2, 3, 4], [5, 6, 7, 8]],
            w_o: [[1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1]], b_o: [100, 200],
        ))",
    );
    assert_eq!((scene.heads(), scene.kv_heads(), scene.d_k(), scene.d_v()), (4, 2, 1, 2));
    assert_eq!(scene.d_model(), Some(2));
    let inputs = scene.head_inputs();
    assert_eq!(inputs[2].q.data(), [13.0, 23.0]);
    assert_eq!(inputs[1].k.data(), [1.5, 3.5], "query heads 1 and 2 share KV head 1");
    assert_eq!(inputs[2].k.data(), [2.25, 4.25], "query heads 3 and 4 share KV head 2");
    assert_eq!(inputs[3].v.data(), [3.0, 4.0, 7.0, 8.0]);
    let evaluation = evaluate(&scene);
    assert_eq!(evaluation.heads.iter().map(|head| head.kv_head).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert_eq!((evaluation.concat.rows(), evaluation.concat.cols()), (2, 8));
    assert_eq!(evaluation.concat.row(1)[4..6], *evaluation.heads[2].attention.output.row(1));
    for row in 0..2 {
        let concat = evaluation.concat.row(row);
        let even: f64 = [0, 2, 4, 6].iter().map(|&col| concat[col]).sum();
        let odd: f64 = [1, 3, 5, 7].iter().map(|&col| concat[col]).sum();
        let found = evaluation.output.row(row);
        assert!((found[0] - even - 100.0).abs() < 1e-12 && (found[1] - odd - 200.0).abs() < 1e-12);
    }
}

#[test]
fn checks_pass_on_a_causal_scene_and_say_why_where_they_do_not_apply() {
    let scene = good(
        "Scene(input: Heads(q: [Randn(rows: 4, cols: 2, seed: 1)], k: [Randn(rows: 4, cols: 2, seed: 2)], v: [Randn(rows: 4, cols: 2, seed: 3)]), mask: [Causal(TopLeft)])",
    );
    let outcomes = checks(&scene, &evaluate(&scene));
    assert_eq!(outcomes.len(), 5);
    let n_passed =
        outcomes.iter().filter(|(_, outcome)| matches!(outcome, CheckOutcome::Pass { .. })).count();
    assert_eq!(n_passed, 4, "{outcomes:#?}");
    assert!(outcomes.iter().any(|(_, outcome)| matches!(outcome, CheckOutcome::NotApplicable { .. })));
}

fn bundled_bytes(path: &str) -> io::Result<Vec<u8>> {
    bundled::file(path)
        .map(<[u8]>::to_vec)
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, path.to_owned()))
}

#[test]
fn every_bundled_scene_survives_being_written_and_rewritten() {
    assert!(bundled::all().len() >= 20);
    for bundled in bundled::all() {
        let scene = read(bundled.text, &mut bundled_bytes)
            .unwrap_or_else(|complaints| panic!("{}: {complaints:#?}", bundled.name));
        let unchanged = rewrite(bundled.text, scene.spec());
        assert_eq!(unchanged.text, bundled.text, "{}", bundled.name);
        assert!(!unchanged.lost_comments);
        let fresh = write(scene.spec());
        assert_eq!(format!("{:?}", read_spec(&fresh).unwrap()), format!("{:?}", scene.spec()), "{fresh}");

        let mut edited = scene.spec().clone();
        edited.title.push_str(" (edited)");
        // Weights that are given have no scores to cap.
        edited.softcap = (!scene.gives_weights()).then_some(1.5);
        edited.view.decimals = 7;
        let rewritten = rewrite(bundled.text, &edited);
        assert!(!rewritten.lost_comments);
        let changed_lines = bundled.text.lines().filter(|line| !rewritten.text.contains(line)).count();
        assert!(changed_lines <= 2, "{}: {changed_lines} lines changed\n{}", bundled.name, rewritten.text);
        let again = read(&rewritten.text, &mut bundled_bytes).unwrap();
        assert_eq!(again.spec(), &edited);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_bundled_scene_with_bytes_changed_never_makes_the_reader_panic(
        scene in 0..20_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, "\\PC|[\\[\\](){}\",:/*#'0-9\n-]"), 1..6),
    ) {
        let mut text: Vec<char> = bundled::all()[scene].text.chars().collect();
        for (at, what, new) in changes {
            if text.is_empty() {
                break;
            }
            let at = at.index(text.len());
            match what {
                0 => drop(text.remove(at)),
                1 => text.truncate(at.max(1)),
                2 => text[at] = new.chars().next().unwrap_or(' '),
                _ => drop(text.splice(at..at, new.chars())),
            }
        }
        let text: String = text.into_iter().collect();
        match read(&text, &mut bundled_bytes) {
            Ok(scene) => drop(evaluate(&scene)),
            Err(complaints) => {
                prop_assert!(!complaints.is_empty());
                for complaint in &complaints {
                    qkv::scene::render_complaint("scene.ron", &text, complaint);
                }
            }
        }
    }
}

/// Two heads of `n` tokens with one more line in the scene; large from about 256 tokens on.
fn long(n: usize, more: &str) -> String {
    let matrix = |seed: usize| format!("Randn(rows: {n}, cols: 16, seed: {seed})");
    let side = |seed: usize| format!("[{}, {}]", matrix(seed), matrix(seed + 1));
    format!("Scene(input: Heads(q: {}, k: {}, v: {}), {more})", side(1), side(3), side(5))
}

#[test]
fn a_large_head_is_computed_to_the_numbers_of_the_plain_form() {
    let scene = good(&long(300, "mask: [Causal(TopLeft), ValidKeys(280)]"));
    let progress = Progress::default();
    let evaluation = evaluate_with(&scene, &progress).unwrap();
    assert_eq!(progress.fraction(), 1.0);
    for head in &evaluation.heads {
        assert!(head.input.is_large());
        let plain = attend(&head.input, scene.attention_spec(), head.query_head);
        assert_eq!(head.attention.blocked_by, plain.blocked_by);
        for (found, expected) in
            [(&head.attention.weights, &plain.weights), (&head.attention.output, &plain.output)]
        {
            let off = found.data().iter().zip(expected.data()).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) < 1e-13);
        }
    }
}

#[test]
fn the_checks_of_a_large_scene_pass_whatever_its_padding_holds() {
    for v in ["", ", factor: 1e300"] {
        let mask = "mask: [Causal(TopLeft), ValidKeys(250)]";
        let text = long(257, mask).replace("seed: 5", &format!("seed: 5{v}"));
        let scene = good(&text);
        let outcomes = checks(&scene, &evaluate(&scene));
        let all_pass = outcomes.iter().all(|(_, outcome)| matches!(outcome, CheckOutcome::Pass { .. }));
        assert!(all_pass, "{outcomes:#?}");
    }
}

#[test]
fn an_evaluation_stops_when_it_is_asked_to_in_every_number_format() {
    for precision in ["F64", "F16"] {
        let scene = good(&long(280, &format!("precision: {precision}")));
        let progress = Progress::default();
        progress.cancel();
        assert_eq!(evaluate_with(&scene, &progress), Err(Cancelled));
        let evaluation = evaluate_with(&scene, &Progress::default()).unwrap();
        assert_eq!(checks_with(&scene, &evaluation, &progress), Err(Cancelled));
    }
}

#[test]
fn a_narrow_format_counts_every_row_once() {
    let scene = good(&long(33, "precision: Bf16"));
    let progress = Progress::default();
    evaluate_with(&scene, &progress).unwrap();
    assert_eq!(progress.fraction(), 1.0);
}

#[test]
fn the_output_without_stages_is_that_of_the_evaluation() {
    for more in [
        "",
        "mask: [Causal(BottomRight)], softcap: 3.0",
        "position: Alibi",
        "position: Rope(base: 100.0, layout: Interleaved), mask: [Window(left: 9)]",
    ] {
        let text = long(40, more);
        let expected = evaluate(&good(&text));
        let mut no_files = |_: &str| Err(io::ErrorKind::NotFound.into());
        let scene = OutputScene::read(&text, &mut no_files).unwrap();
        let found = scene.output(&Progress::default()).unwrap();
        let off = found.output.data().iter().zip(expected.output.data()).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-13, "{more}");
        assert_eq!(found.heads.len(), 2);
    }
}

#[test]
fn a_number_that_is_not_finite_spoils_what_reads_it_in_a_large_scene_and_is_named() {
    for (seed, name) in [(1, "Q"), (3, "K"), (5, "V")] {
        for number in ["NaN", "inf", "-inf"] {
            let rows: Vec<String> = (0..900)
                .map(|row| if row == 2 { format!("[{number}]") } else { "[0.5]".to_owned() })
                .collect();
            let bad = format!("[{}]", rows.join(", "));
            let fine = |seed: usize| format!("Randn(rows: 900, cols: 1, seed: {seed})");
            let of = |own: usize| if own == seed { bad.clone() } else { fine(own) };
            let text = format!("Scene(input: Heads(q: [{}], k: [{}], v: [{}]))", of(1), of(3), of(5));
            let evaluation = evaluate(&good(&text));
            let warnings = evaluation.warnings.join("\n");
            assert!(warnings.contains(&format!("{name}[3][1] is")), "{name} {number}: {warnings}");
        }
    }
}

#[test]
fn projections_count_towards_the_progress_and_stop_with_it() {
    let w = |seed: usize| format!("Randn(rows: 8, cols: 8, seed: {seed})");
    let text = format!(
        "Scene(input: Projected(x: Randn(rows: 70, cols: 8, seed: 0), heads: 2, kv_heads: 2, w_q: {}, w_k: {}, w_v: {}, w_o: {}))",
        w(1),
        w(2),
        w(3),
        w(4)
    );
    let scene = good(&text);
    let cancelled = Progress::default();
    cancelled.cancel();
    assert_eq!(evaluate_with(&scene, &cancelled), Err(Cancelled));
    for _ in 0..2 {
        let progress = Progress::default();
        evaluate_with(&scene, &progress).unwrap();
        assert_eq!(progress.fraction(), 1.0, "also where Q, K and V are there already");
    }
    let projection = scene.projection().unwrap();
    let q = qkv::engine::project(&projection.x, &projection.w_q, None);
    assert_eq!(scene.head_inputs()[1].q.row(69), &q.row(69)[4..]);
}

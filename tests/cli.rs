//! The command line as a user types it, through the built program.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn qkv(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_qkv")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn scenes_lists_every_bundled_scene_and_shows_one() {
    let listed = stdout(&qkv(&["scenes"]));
    for scene in qkv::scene::bundled::all() {
        assert!(listed.contains(scene.name), "{} is missing", scene.name);
    }
    let shown = qkv(&["scenes", "--show", "three_positions"]);
    assert_eq!(stdout(&shown), qkv::scene::bundled::find("three_positions").unwrap().text);
    let unknown = qkv(&["scenes", "--show", "four_positions"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("four_positions"));
}

#[test]
fn compute_prints_every_stage_of_every_head_with_all_digits() {
    let output = qkv(&["compute", "three_positions_causal", "--format", "json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let head = &json["heads"][0];
    assert_eq!(head["query_head"], 0);
    assert_eq!(head["kv_head"], 0);
    assert_eq!(head["raw_scores"][2][2], 2.0);
    assert_eq!(head["masked_scores"][0][1], "-inf");
    assert_eq!(head["weights"][0][1], 0.0);
    let weight = head["weights"][1][0].as_f64().unwrap();
    assert!((weight - 0.330_238_450_673_343_1).abs() < 1e-15);
    let output = json["output"][2][1].as_f64().unwrap();
    assert!((output - 1.496_510_156_515_446_2).abs() < 1e-15);
    assert!(json["warnings"].as_array().is_some());
}

#[test]
fn compute_prints_what_positions_did_and_the_number_format() {
    let json = |scene| -> serde_json::Value {
        let output = qkv(&["compute", scene, "--format", "json"]);
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    let rotated = json("rotary_positions");
    assert_eq!((&rotated["heads"][0]["q"][1][1], &rotated["precision"]), (&1.0.into(), &"f64".into()));
    assert_eq!(rotated["heads"][0]["q_rotated"][1][1], 1_f64.cos());
    assert_eq!(rotated["heads"][0].get("alibi_slope"), None);
    let biased = json("linear_biases");
    assert_eq!(biased["heads"][1]["alibi_slope"], 0.0625);
    assert_eq!(biased["heads"][1]["alibi_bias"][3][1], -0.125);
    assert_eq!(json("lost_differences")["precision"], "bf16");
}

#[test]
fn compute_prints_what_dropout_leaves_beside_what_there_was() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "Scene(input: Heads(q: [[[1]]], k: [[[1], [2]]], v: [[[2], [4]]]), dropout: (rate: 0.5, seed: 3))";
    let scene = write(folder.path(), "dropped.ron", text);
    let output = qkv(&["compute", scene.to_str().unwrap(), "--format", "json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let head = &json["heads"][0];
    for key in 0..2 {
        let number = |name: &str| head[name][0][key].as_f64().unwrap();
        let (before, after) = (number("weights"), number("weights_after_dropout"));
        assert!(after == 0.0 || after == 2.0 * before, "{before} became {after}");
    }
    assert_eq!(head["output"], json["output"]);
    let number = |name: &str, key: usize| head[name][0][key].as_f64().unwrap();
    let before = 2.0 * number("weights", 0) + 4.0 * number("weights", 1);
    assert!((number("output_before_dropout", 0) - before).abs() < 1e-12);
    let text = stdout(&qkv(&["compute", scene.to_str().unwrap()]));
    assert!(text.contains("weights after dropout, 1 × 2"), "{text}");
    assert!(text.contains("output before dropout, 1 × 1"), "{text}");
}

#[test]
fn compute_as_text_and_csv_names_stages_and_tokens() {
    let text = stdout(&qkv(&["compute", "three_positions"]));
    assert!(text.contains("weights") && text.contains("0.4011"), "{text}");
    let csv = stdout(&qkv(&["compute", "three_positions", "--format", "csv"]));
    assert!(csv.contains("0.4011120926797859"), "{csv}");
}

#[test]
fn render_writes_every_format_and_the_figure_opens_again_as_its_scene() {
    let folder = tempfile::tempdir().unwrap();
    for extension in ["svg", "png", "pdf"] {
        let figure = folder.path().join(format!("board.{extension}"));
        let path = figure.to_str().unwrap();
        let output = qkv(&["render", "three_positions_causal", "-o", path, "--pin", "3,2", "--dpi", "96"]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(std::fs::metadata(&figure).unwrap().len() > 2000);
        let again = qkv(&["compute", path, "--format", "json"]);
        assert!(again.status.success(), "{extension}: {}", stderr(&again));
        assert_eq!(stdout(&again), stdout(&qkv(&["compute", "three_positions_causal", "--format", "json"])));
    }
}

#[test]
fn render_draws_every_closer_look_and_names_them_where_a_figure_is_unknown() {
    let unknown = stderr(&qkv(&["render", "three_positions", "-o", "-", "--figure", "nothing"]));
    let help = stdout(&qkv(&["render", "--help"]));
    for study in qkv::figure::Study::ALL {
        let name = study.name();
        let output =
            qkv(&["render", "half_precision_overflow", "-o", "-", "--figure", name, "--text", "text"]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        assert!(stdout(&output).contains(study.label()), "{name}");
        assert!(unknown.contains(name), "{name} is missing in {unknown}");
        assert!(help.contains(name), "{name} is missing in {help}");
    }
}

#[test]
fn check_gives_every_mistake_its_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let text = "Scene(\n    title: \"Broken\",\n    tokesn: [\"a\"],\n    input: Heads(\n        q: [[[1, 0]]],\n        \
                k: [[[1, 0], [0]]],\n        v: [[[2, 0]]],\n    ),\n    mask: [Window(left: -1)],\n)\n";
    let path = write(folder.path(), "broken.ron", text);
    let output = qkv(&["check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let printed = stdout(&output);
    for expected in ["broken.ron:3:5", "broken.ron:6:", "broken.ron:9:", "tokens"] {
        assert!(printed.contains(expected), "{expected} is missing in\n{printed}");
    }
}

#[test]
fn check_says_ok_for_every_bundled_scene() {
    let names: Vec<&str> =
        std::iter::once("check").chain(qkv::scene::bundled::all().iter().map(|scene| scene.name)).collect();
    let output = qkv(&names);
    assert!(output.status.success(), "{}", stdout(&output));
}

#[test]
fn wrong_usage_is_two_and_wrong_input_is_one() {
    assert_eq!(qkv(&["render", "three_positions"]).status.code(), Some(2));
    assert_eq!(qkv(&["compute", "no_such_scene.ron"]).status.code(), Some(1));
    let odd = qkv(&["render", "three_positions", "-o", "figure.bmp"]);
    assert_eq!(odd.status.code(), Some(2));
    assert!(stderr(&odd).contains(".svg, .png or .pdf"), "{}", stderr(&odd));
    let pin = qkv(&["render", "three_positions", "-o", "-", "--pin", "9,9"]);
    assert!(stderr(&pin).contains("queries run from 1 to 3"), "{}", stderr(&pin));
}

#[test]
fn a_scene_whose_stages_do_not_fit_is_refused_with_its_sizes_and_its_output_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let side = |cols: usize, seed: usize| format!("[Randn(rows: 20000, cols: {cols}, seed: {seed})]");
    // A window, so that the test ends soon.
    let text = format!(
        "Scene(\n  input: Heads(q: {}, k: {}, v: {}),\n  mask: [Window(left: 3, right: 0)],\n)",
        side(2, 1),
        side(2, 2),
        side(1, 3)
    );
    let scene = write(folder.path(), "long.ron", &text);
    let scene = scene.to_str().unwrap();
    for command in ["compute", "check"] {
        let refused = qkv(&[command, scene]);
        assert_eq!(refused.status.code(), Some(1));
        let said = stdout(&refused) + &stderr(&refused);
        assert!(said.contains("long.ron:2:10"), "{said}");
        assert!(said.contains("the stages of 1 head with 20,000 queries and 20,000 keys want 14,400,480,000 bytes (13.4 GiB)"), "{said}");
        assert!(said.contains("qkv compute SCENE --output-only"), "{said}");
    }
    let made = qkv(&["compute", scene, "--output-only", "--format", "json"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let json: serde_json::Value = serde_json::from_str(&stdout(&made)).unwrap();
    assert_eq!(json["output"].as_array().unwrap().len(), 20_000);
    assert_eq!(json["heads"][0]["output"][7], json["output"][7]);
    assert_eq!(json["heads"][0].get("weights"), None);
}

#[test]
fn the_output_alone_is_printed_like_the_output_among_its_stages() {
    // It sums in another order: the last digits may differ, which the text does not show and a single nine in CSV would.
    let rounded = |text: &str| {
        let cell =
            |cell: &str| cell.parse::<f64>().map_or_else(|_| cell.to_owned(), |value| format!("{value:.12}"));
        let line = |line: &str| line.split(',').map(cell).collect::<Vec<_>>().join(",");
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    for format in ["text", "csv"] {
        let whole = rounded(&stdout(&qkv(&["compute", "three_positions_causal", "--format", format])));
        let alone = rounded(&stdout(&qkv(&[
            "compute",
            "three_positions_causal",
            "--format",
            format,
            "--output-only",
        ])));
        let from = whole.find("head 1 (KV head 1), output").unwrap();
        assert!(whole[from..].starts_with(alone.trim_start_matches("# ").trim_end()), "{alone}\n{whole}");
    }
    let folder = tempfile::tempdir().unwrap();
    let text = "Scene(\n  input: Heads(q: [[[1]]], k: [[[1]]], v: [[[2]]]),\n  softmax: (over: Queries),\n)";
    let scene = write(folder.path(), "queries.ron", text);
    let refused = qkv(&["compute", scene.to_str().unwrap(), "--output-only"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("queries.ron:3:"), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("softmax runs over the queries"), "{}", stderr(&refused));
}

#[test]
fn help_and_version_are_there() {
    assert!(stdout(&qkv(&["--version"])).contains(env!("CARGO_PKG_VERSION")));
    let help = stdout(&qkv(&["--help"]));
    for command in ["render", "compute", "check", "scenes", "cost"] {
        assert!(help.contains(command), "{command}");
    }
}

#[test]
fn the_cache_of_the_reading_is_counted_on_the_command_line() {
    let arguments = [
        "cost",
        "cache",
        "--layers",
        "32",
        "--heads",
        "32",
        "--kv-heads",
        "8",
        "--head-width",
        "128",
        "--tokens",
        "8000",
    ];
    let output = qkv(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for expected in ["131,072", "1,048,576,000", "1.05 GB", "0.98 GiB"] {
        assert!(text.contains(expected), "{expected} is missing in\n{text}");
    }
}

#[test]
fn compute_of_given_weights_prints_them_and_leaves_out_what_nobody_knows() {
    let output = qkv(&["compute", "maps_from_elsewhere", "--format", "json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["heads"].as_array().unwrap().len(), 12);
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&json), ["heads", "precision", "warnings"]);
    assert_eq!(keys(&json["heads"][2]), ["query_head", "weights"]);
    assert_eq!(json["precision"], "f32");
    assert!(json["heads"][2]["weights"][4][3].as_f64().unwrap() > 0.9968);
    for format in ["text", "csv"] {
        let table = stdout(&qkv(&["compute", "maps_from_elsewhere", "--head", "3", "--format", format]));
        assert!(table.contains("head 3, weights, computed elsewhere"), "{table}");
        for unknown in ["scores", "output", "KV head"] {
            assert!(!table.contains(unknown), "{unknown} in {table}");
        }
    }
}

#[test]
fn render_draws_given_weights_and_nothing_that_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("figure.svg");
    let drawn = |arguments: &[&str]| {
        let all = [&["render", "maps_from_elsewhere", "-o", path.to_str().unwrap()], arguments].concat();
        qkv(&all)
    };
    for figure in ["board", "weights", "heads", "trace"] {
        let output = drawn(&["--figure", figure, "--head", "7", "--pin", "3,1"]);
        assert!(output.status.success(), "{figure}: {}", stderr(&output));
    }
    for figure in ["q", "k", "v", "scores", "raw_scores", "output", "projection", "positions", "alibi_bias"] {
        let output = drawn(&["--figure", figure]);
        assert_eq!(output.status.code(), Some(1), "{figure}");
        assert!(stderr(&output).contains("gives only the weights"), "{figure}: {}", stderr(&output));
    }
    assert_eq!(drawn(&["--stages", "raw_scores,output"]).status.code(), Some(1));
    assert!(drawn(&["--stages", "raw_scores,weights"]).status.success());
}

#[test]
fn check_warns_of_a_row_that_does_not_sum_to_one_and_still_says_ok() {
    let folder = tempfile::tempdir().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/weights/maps.safetensors");
    std::fs::copy(data, folder.path().join("maps.safetensors")).unwrap();
    let scene =
        |name| format!("Scene(\n    input: Weights(file: \"maps.safetensors\", name: \"{name}\"),\n)\n");
    let dropped = write(folder.path(), "dropped.ron", &scene("dropped"));
    let output = qkv(&["check", dropped.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stdout(&output));
    let printed = stdout(&output);
    assert!(printed.contains("dropped.ron:2:") && printed.contains("row 2 sums to 0.200000"), "{printed}");
    assert_eq!(printed.matches("sums to").count(), 1, "said once: {printed}");
    assert!(printed.contains("dropped.ron: ok"));
    let vector = write(folder.path(), "vector.ron", &scene("vector"));
    let output = qkv(&["check", vector.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("expected (heads, n_q, n_k)"), "{}", stdout(&output));
}

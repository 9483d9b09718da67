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

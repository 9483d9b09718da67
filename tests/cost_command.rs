//! `qkv cost` as text and JSON.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../src/cli/cost/mod.rs"]
mod command;

use clap::Parser;
// The command's file speaks of `crate::cost`, here as in the library.
use qkv::cost;
use serde_json::Value;

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    cost: command::Args,
}

fn run(line: &str) -> Result<String, String> {
    let words = std::iter::once("qkv").chain(line.split_whitespace());
    let program = Program::try_parse_from(words).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    program.cost.run(&mut out).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).unwrap())
}

fn json(line: &str) -> Value {
    serde_json::from_str(&run(&format!("{line} --format json")).unwrap()).unwrap()
}

fn value(result: &Value, id: &str) -> u64 {
    let rows = result["quantities"].as_array().unwrap();
    let row =
        rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("there is no {id} in {result:#}"));
    row["value"].as_u64().unwrap()
}

#[test]
fn the_cache_of_the_lesson_is_printed_with_its_formula_and_both_units() {
    let text = run("cache --layers 32 --heads 32 --kv-heads 8 --head-width 128 --tokens 8000 --budget 24GiB")
        .unwrap();
    for line in [
        "per token: 2 · L · G · d_head · b = 2 · 32 · 8 · 128 · 2 = 131,072 B (131.07 kB, 128.00 KiB)",
        "per sequence: bytes per token · T = 131,072 · 8,000 = 1,048,576,000 B (1.05 GB, 0.98 GiB)",
        "largest context within 25,769,803,776 B: 196,608 tokens",
    ] {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
}

#[test]
fn a_preset_gives_the_same_figures_as_its_sizes() {
    let preset = json("cache --preset llama-3.1-8b --tokens 8000 --type f16");
    let sizes = json("cache --layers 32 --heads 32 --kv-heads 8 --head-width 128 --tokens 8000");
    assert_eq!(preset["quantities"], sizes["quantities"]);
    assert_eq!(value(&preset, "bytes_all_sequences"), 1_048_576_000);
    assert_eq!(preset["sharing"][0]["bytes_per_token"], 524_288);
}

#[test]
fn a_model_with_windows_shows_what_is_needed_and_what_an_engine_sets_aside() {
    let line = "cache --preset gpt-oss-20b --tokens 8192 --sequences 32 --engine paged-unified";
    let result = json(line);
    assert_eq!(value(&result, "needed_bytes"), 6_543_114_240);
    assert_eq!(value(&result, "allocated_bytes"), 12_884_901_888);
    assert_eq!(result["groups"][0]["kind"], "window");
    assert!(
        run(line).unwrap().contains("needed: L · row · min(T, W) · B = 12 · 2,048 · min(8,192, 128) · 32")
    );
}

#[test]
fn complexity_prints_the_table_of_doubling_lengths() {
    let text = run("complexity --tokens 256 --head-width 64 --doublings 5").unwrap();
    let table: Vec<Vec<&str>> =
        text.lines().rev().take(5).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(table[0], ["4096", "2.15", "G", "4.0", "67.11", "MB"]);
    assert_eq!(table[4], ["256", "8.39", "M", "262.14", "kB"]);
    let result = json("complexity --tokens 3 --heads 2 --head-width 4 --d-model 8");
    assert_eq!(value(&result, "parameters"), 256);
}

#[test]
fn complexity_of_a_preset_counts_a_prefill_and_a_decode_step() {
    let result = json("complexity --preset gpt2 --tokens 1024");
    // Four projections of 1024 · 768 · 768, scores and mix of 1024 · 1025 / 2 pairs, twelve layers.
    let layer: u64 = 4 * 1024 * 768 * 768 + 2 * (1024 * 1025 / 2) * 768;
    assert_eq!(value(&result, "prefill_macs"), 12 * layer);
    assert_eq!(value(&result, "decode_macs"), 12 * (4 * 768 * 768 + 2 * 1025 * 768));
}

#[test]
fn presets_are_listed_and_searched() {
    assert_eq!(run("presets").unwrap().lines().count(), 36);
    assert_eq!(run("presets falcon").unwrap().lines().count(), 1);
}

#[test]
fn wrong_sizes_are_refused_in_a_sentence() {
    for (line, words) in [
        ("cache --heads 32 --kv-heads 5", "32 query heads cannot be shared out over 5 KV heads"),
        ("cache --preset llama-3.1-8b --devices 5", "5 devices"),
        ("cache --layers 0", "“layers” holds 0"),
        ("cache --type q3", "did you mean"),
        ("cache --preset lama-3.1-8b", "llama-3.1-8b"),
        ("cache --preset gpt2 --budget 3XB", "no amount of memory"),
        ("cache --config nowhere.ron", "cannot be read"),
        ("cache --head-width 100 --type q4_0", "multiple of 32"),
        ("complexity --tokens 4 --softmax 2", "0, 1, 3 or 5"),
        ("complexity --tokens 4 --window 0", "“window” holds 0"),
        ("complexity --tokens 4 --doublings 70", "more than 128 bits"),
    ] {
        let error = run(line).unwrap_err();
        assert!(error.contains(words), "{line}: {error}");
    }
}

#[test]
fn a_configuration_file_is_read_and_its_mistakes_are_placed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.ron");
    std::fs::write(&path, "Configuration(\n  name: \"mine\",\n  tokens: 16,\n)").unwrap();
    let line = format!("cache --config {}", path.display());
    assert_eq!(value(&json(&line), "needed_bytes"), 16 * 131_072);
    std::fs::write(&path, "Configuration(\n  tokns: 16,\n)").unwrap();
    let error = run(&line).unwrap_err();
    assert!(error.contains("mine.ron:2:") && error.contains("tokns"), "{error}");
}

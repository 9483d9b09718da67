//! Every vector of every file in `tests/data/calculators/`, compared digit for digit.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arithmetic;
mod attention;
mod memory;

use std::path::Path;

use qkv::cost::{Breakdown, CostError, Prefix, preset, scaled};
use serde_json::{Map, Value, json};

/// What a calculator gave, in the shape of the file's `expected`: integers as decimal strings.
type Found = Result<Map<String, Value>, CostError>;

/// The inputs of a vector.
struct Inputs<'a>(&'a Value);

impl Inputs<'_> {
    fn whole(&self, key: &str) -> u64 {
        self.whole_or(key, None)
    }

    fn or(&self, key: &str, default: u64) -> u64 {
        self.whole_or(key, Some(default))
    }

    fn whole_or(&self, key: &str, default: Option<u64>) -> u64 {
        match (&self.0[key], default) {
            (Value::Null, Some(default)) => default,
            (Value::String(digits), _) => digits.parse().unwrap(),
            (value, _) => value.as_u64().unwrap_or_else(|| panic!("{key} is {value}")),
        }
    }

    fn optional(&self, key: &str) -> Option<u64> {
        (!self.0[key].is_null()).then(|| self.whole(key))
    }

    fn flag(&self, key: &str, default: bool) -> bool {
        self.0[key].as_bool().unwrap_or(default)
    }

    fn text<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        self.0[key].as_str().unwrap_or(default)
    }
}

fn digits(value: u128) -> Value {
    Value::String(value.to_string())
}

/// Named results as an object.
fn object<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn from_breakdown(breakdown: &Breakdown) -> Map<String, Value> {
    breakdown.rows.iter().map(|row| (row.id.to_owned(), digits(row.value))).collect()
}

fn compute(function: &str, inputs: &Inputs<'_>) -> Found {
    match function {
        "attn_macs" => arithmetic::layer(inputs),
        "params_mha" => arithmetic::parameters(inputs),
        "pairs" => arithmetic::pairs(inputs),
        "pairs_chunked" => arithmetic::chunked(inputs),
        "mla_macs" => arithmetic::latent(inputs),
        "generation" => arithmetic::generation(inputs),
        "additive_cost" => arithmetic::additive(inputs),
        "linear_attention" => arithmetic::linear(inputs),
        "intensity" => arithmetic::decode_intensity(inputs),
        "intensity_prefill" => arithmetic::prefill_intensity(inputs),
        "decode_bound" => arithmetic::decode_bound(inputs),
        "score_memory" => memory::scores(inputs),
        "flash_memory" => memory::tiled(inputs),
        "hbm_standard" => memory::standard_traffic(inputs),
        "hbm_flash1" => memory::traffic_keys_outside(inputs),
        "hbm_flash2" => memory::traffic_queries_outside(inputs),
        "kv_uniform" => memory::uniform(inputs),
        "kv_layers" => memory::layers(inputs),
        "kv_read_bytes" => memory::read(inputs),
        "kv_group_scaled" => memory::group_scaled(inputs),
        "vllm_per_token_head_scaled" => memory::scaled_per_head(inputs),
        "deltanet_state" => memory::delta_net(inputs),
        "paged" => memory::paged(inputs),
        "vllm_window" => memory::paged_window(inputs),
        "llamacpp_iswa" => memory::up_front(inputs),
        "prefix_share" => memory::prefix(inputs),
        "tp_kv_heads" => memory::devices(inputs),
        "max_tokens" => memory::largest_context(inputs),
        "format_bytes" => memory::formatted(inputs),
        "attention" | "additive" => attention::attend(inputs),
        unknown => panic!("no calculator answers {unknown:?}"),
    }
}

fn files() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/calculators");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path.display().to_string(), serde_json::from_str(&text).unwrap())
        })
        .collect();
    files.sort_by(|left, right| left.0.cmp(&right.0));
    assert!(!files.is_empty(), "there are no vectors to compare with");
    files
}

fn matches(key: &str, found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(found, expected)| matches(key, found, expected))
        }
        (Value::Number(found), Value::Number(expected)) => {
            let (found, expected) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
            // Printed to four decimals, except where the name says that every digit is there.
            let tolerance = if key.ends_with("_f64") { 1e-12 * expected.abs() } else { 5e-5 };
            (found - expected).abs() <= tolerance
        }
        _ => found == expected,
    }
}

fn check_printed(found: &Map<String, Value>, printed: &Value) -> Result<(), String> {
    for (text, how) in printed.as_object().into_iter().flatten() {
        let value: u128 = found[how["field"].as_str().unwrap()].as_str().unwrap().parse().unwrap();
        let unit = how["unit"].as_str().unwrap();
        let prefix = Prefix::from_letters(unit.trim_end_matches('B')).unwrap();
        let decimals = how["decimals"].as_u64().unwrap() as usize;
        let shown = format!("{} {unit}", scaled(value, prefix, decimals));
        if shown != *text {
            return Err(format!("shows {shown}, printed was {text}"));
        }
    }
    Ok(())
}

fn check(vector: &Value) -> Result<(), String> {
    let expected = vector["expected"].as_object().unwrap();
    let found = compute(vector["fn"].as_str().unwrap(), &Inputs(&vector["inputs"]));
    match (found, expected.get("error")) {
        (Ok(found), None) => {
            for (key, expected) in expected {
                let found = found.get(key).ok_or_else(|| format!("there is no {key}"))?;
                if !matches(key, found, expected) {
                    return Err(format!("{key} is {found}, expected {expected}"));
                }
            }
            check_printed(&found, &vector["printed"])
        }
        (Err(error), Some(code)) if error.code() == code => Ok(()),
        // The engine gives a row of zeros in place of this one error, and says so.
        (Ok(found), Some(code)) if found.get("error") == Some(code) => Ok(()),
        (found, Some(code)) => Err(format!("gave {found:?}, expected the error {code}")),
        (Err(error), None) => Err(format!("was refused: {error}")),
    }
}

#[test]
fn every_vector_agrees_digit_for_digit() {
    let (mut count, mut wrong) = (0, Vec::new());
    for (file, contents) in files() {
        for vector in contents["vectors"].as_array().unwrap() {
            count += 1;
            if let Err(complaint) = check(vector) {
                wrong.push(format!("{file}: {}: {complaint}", vector["id"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} vectors disagree:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 0, "the files hold no vectors");
}

#[test]
fn every_preset_takes_the_memory_that_the_table_says() {
    let mut count = 0;
    for (_, contents) in files() {
        for row in contents["preset_table"].as_array().into_iter().flatten() {
            count += 1;
            let id = row["id"].as_str().unwrap();
            let configuration = preset(id).unwrap().configuration().unwrap();
            let plan = configuration.plan().unwrap();
            if row["kv_cache"] == json!(false) {
                assert_eq!(plan.bytes(1000, 1).unwrap().0, 0, "{id} is an encoder and keeps nothing");
                continue;
            }
            let whole = |key: &str| row[key].as_str().unwrap().parse::<u128>().unwrap();
            let tokens = row["tokens"].as_u64().unwrap();
            assert_eq!(plan.bytes(1, 1).unwrap().0, whole("bytes_at_1_token"), "{id}");
            assert_eq!(plan.bytes(tokens, 1).unwrap().0, whole("total_bytes"), "{id}");
            assert_eq!(plan.marginal(tokens).unwrap().0, whole("marginal_bytes_at_tokens"), "{id}");
            assert_eq!(configuration.max_context, row["max_context"].as_u64(), "{id}");
            if let Some(longest) = row["max_context"].as_u64() {
                assert_eq!(plan.bytes(longest, 1).unwrap().0, whole("total_bytes_at_max_context"), "{id}");
            }
        }
    }
    assert_eq!(count, qkv::cost::presets().len());
}

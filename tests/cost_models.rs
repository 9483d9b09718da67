//! Whole models against what engines print and papers state.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use qkv::cost::{
    Bytes, Comparison, Configuration, ConfigurationReport, CostError, CostSeries, Engine, Field,
    GenerationInputs, GenerationMode, Hardware, KvShape, LargestContext, LatentForm, LatentShape, LayerGroup,
    LayerKind, RowTypes, StorageType, decode_intensity, latent_intensity, latent_macs, pairs, preset,
    presets, search_presets, tiled_traffic_keys_outside,
};
use serde_json::Value;

const MIB: u128 = 1 << 20;

fn model(id: &str) -> Configuration {
    preset(id).unwrap().configuration().unwrap()
}

fn stored(configuration: &Configuration, storage: StorageType, tokens: u64, sequences: u64) -> u128 {
    let configuration = Configuration { types: RowTypes::both(storage), ..configuration.clone() };
    configuration.plan().unwrap().bytes(tokens, sequences).unwrap().0
}

#[test]
fn caches_are_as_large_as_engines_report_them() {
    assert_eq!(stored(&model("llama-3.1-70b"), StorageType::f16, 2048, 1), 640 * MIB);
    assert_eq!(stored(&model("deepseek-v3"), StorageType::q8_0, 32_768, 1) * 1000, 1_166_625 * MIB);
    // 16384.00 MiB of keys and values and 598.50 MiB of states for four sequences.
    assert_eq!(stored(&model("qwen3.6-27b"), StorageType::f16, 65_536, 4) * 10, (163_840 + 5_985) * MIB);
}

#[test]
fn an_engine_that_pads_its_cells_sets_aside_what_its_log_says() {
    let engine = |micro_batch| Engine::UpFront { micro_batch, unified: true, full_windows: false };
    let allocated = |id: &str, tokens: u64, micro_batch: u64| {
        let configuration = model(id);
        engine(micro_batch)
            .allocated(&configuration.groups, RowTypes::both(StorageType::f16), tokens, 1)
            .unwrap()
            .0
    };
    assert_eq!(allocated("gemma-3-4b", 131_072, 512), (2560 + 174) * MIB);
    assert_eq!(allocated("gemma-4-e4b", 4096, 1024), (64 + 60) * MIB);
}

#[test]
fn an_engine_never_sets_aside_less_than_is_needed() {
    let engines = [
        Engine::Exact,
        Engine::Paged { block_size: 16, batched_tokens: 8192, windows_apart: true },
        Engine::Paged { block_size: 16, batched_tokens: 8192, windows_apart: false },
        Engine::UpFront { micro_batch: 512, unified: false, full_windows: false },
        Engine::UpFront { micro_batch: 512, unified: true, full_windows: true },
    ];
    for preset in presets() {
        let configuration = preset.configuration().unwrap();
        for tokens in [0, 1, 100, 5000] {
            let needed = configuration.plan().unwrap().bytes(tokens, 3).unwrap();
            for engine in engines {
                let allocated =
                    engine.allocated(&configuration.groups, configuration.types, tokens, 3).unwrap();
                assert!(allocated >= needed, "{} at {tokens} with {engine:?}", preset.id);
            }
            let exact = Engine::Exact.allocated(&configuration.groups, configuration.types, tokens, 3);
            assert_eq!(exact.unwrap(), needed, "{}", preset.id);
        }
    }
}

#[test]
fn the_needed_bytes_of_a_report_are_those_of_its_plan() {
    for preset in presets() {
        let configuration = Configuration { sequences: 3, ..preset.configuration().unwrap() };
        let report = ConfigurationReport::new(&configuration).unwrap();
        let plan = configuration.plan().unwrap();
        let bytes = plan.bytes(configuration.tokens, 3).unwrap().0;
        assert_eq!(report.summary.value("needed_bytes"), bytes, "{}", preset.id);
        let (more, less) = (configuration.tokens + 1, configuration.tokens);
        let step = plan.bytes(more, 1).unwrap().0 - plan.bytes(less, 1).unwrap().0;
        assert_eq!(report.summary.value("marginal_bytes"), step, "{}", preset.id);
        let read = plan.bytes_read(configuration.tokens, 3).unwrap().0;
        assert_eq!(report.summary.value("read_bytes"), read, "{}", preset.id);
        let fixed = plan.saturated(configuration.tokens).unwrap().0;
        assert_eq!(report.summary.value("fixed_bytes"), fixed, "{}", preset.id);
        assert_eq!(report.summary.value("allocated_bytes"), bytes, "{}", preset.id);
        assert_eq!(report.layers_not_counted, if preset.id == "qwen3.6-27b" { 48 } else { 0 });
    }
}

#[test]
fn sharing_rows_saves_memory_and_not_reading() {
    let gemma = Configuration { tokens: 8192, ..model("gemma-3n-e4b") };
    let summary = ConfigurationReport::new(&gemma).unwrap().summary;
    assert_eq!(summary.value("needed_bytes"), 83_886_080);
    assert_eq!(summary.value("read_bytes"), 146_800_640);
}

#[test]
fn a_prefill_and_the_decode_steps_after_it_see_the_pairs_of_one_long_pass() {
    let gpt2 = |tokens| ConfigurationReport::new(&Configuration { tokens, ..model("gpt2") }).unwrap();
    let scores = |breakdown: &qkv::cost::Breakdown| breakdown.value("scores");
    let whole = scores(gpt2(20).groups[0].prefill.as_ref().unwrap());
    let start = scores(gpt2(12).groups[0].prefill.as_ref().unwrap());
    let steps: u128 = (12..20).map(|past| scores(gpt2(past).groups[0].decode.as_ref().unwrap())).sum();
    assert_eq!(start + steps, whole);
}

#[test]
fn producing_tokens_without_a_cache_costs_what_the_script_printed() {
    let readings: Value = serde_json::from_str(include_str!("data/readings.json")).unwrap();
    let printed = &readings["kv_cache"];
    let width = printed["d"].as_u64().unwrap();
    let inputs = GenerationInputs {
        new_tokens: printed["T"].as_u64().unwrap(),
        d_model: width,
        d_k: width,
        d_v: width,
        ..GenerationInputs::default()
    };
    let projections = |mode| inputs.totals(mode).unwrap().value("projection_macs");
    let cached = projections(GenerationMode::Cached);
    let again = projections(GenerationMode::ReprojectKeysAndValues);
    assert_eq!(again, u128::from(printed["projection_macs_naive"].as_u64().unwrap()));
    assert_eq!(cached, u128::from(printed["projection_macs_cached"].as_u64().unwrap()));
    assert_eq!((again, cached), (294_912, 49_152));
    assert_eq!(again as f64 / cached as f64, 6.0);
    assert_eq!(projections(GenerationMode::RerunLayer) as f64 / cached as f64, 8.5);
    let steps = inputs.steps(GenerationMode::Cached, 100).unwrap();
    let per_step: Vec<u64> = steps.iter().map(|step| step.attention.0 as u64).collect();
    assert_eq!(serde_json::json!(per_step), printed["attention_macs_per_step"]);
}

#[test]
fn a_latent_cache_trades_arithmetic_for_memory() {
    let shape = LatentShape { r_kv: 512, d_rope: 64, d_nope: 128, d_v: 128, r_q: Some(1536) };
    let one_pair = |form| {
        let macs = latent_macs(shape, 128, 7168, (0, 1), form).unwrap();
        (macs.value("scores") + macs.value("mix"), macs.value("cache_elements_per_token"))
    };
    assert_eq!(one_pair(LatentForm::Absorbed), (139_264, 576));
    assert_eq!(one_pair(LatentForm::Expanded), (40_960, 40_960));
    assert_eq!(latent_intensity(128, shape, StorageType::bf16).unwrap().to_string(), "2176/9");
    assert_eq!(decode_intensity(32, 32, StorageType::bf16).unwrap().to_string(), "1");
}

#[test]
fn tiles_of_keys_move_what_the_loops_say() {
    let moved = tiled_traffic_keys_outside(1024, 64, 98_304).unwrap();
    assert_eq!(moved.value("elements"), 800_768);
}

#[test]
fn the_largest_context_is_the_last_one_that_fits() {
    for preset in presets() {
        let plan = preset.configuration().unwrap().plan().unwrap();
        let budget = Bytes(3_000_000_000);
        match plan.largest_context(budget, 2).unwrap() {
            LargestContext::Tokens(tokens) => {
                assert!(plan.bytes(tokens, 2).unwrap() <= budget, "{}", preset.id);
                assert!(plan.bytes(tokens + 1, 2).unwrap() > budget, "{}", preset.id);
            }
            LargestContext::Unbounded => {
                assert_eq!(plan.marginal(u64::MAX).unwrap(), Bytes(0), "{}", preset.id);
            }
        }
    }
    // Every layer of this one has a window, and the windows of two sequences fit.
    let mistral = model("mistral-7b-v0.1").plan().unwrap();
    assert_eq!(mistral.largest_context(Bytes(3_000_000_000), 2).unwrap(), LargestContext::Unbounded);
}

#[test]
fn quantised_keys_may_stand_beside_unquantised_values_and_windows() {
    let groups = vec![
        LayerGroup::new(1, LayerKind::Full(KvShape::square(2, 64))),
        LayerGroup::new(1, LayerKind::Window { window: 10, shape: KvShape::square(2, 64) }),
    ];
    let types =
        RowTypes { keys: StorageType::q8_0, values: StorageType::q4_0, windowed: Some(StorageType::f16) };
    let configuration = Configuration { heads: 2, groups, types, ..Configuration::default() };
    // 128 values: 4 blocks of 34 bytes and 4 of 18; the window keeps two bytes each.
    let plan = configuration.plan().unwrap();
    assert_eq!(plan.group_bytes(100, 1).unwrap(), [Bytes(100 * (136 + 72)), Bytes(10 * 512)]);
}

#[test]
fn a_plot_bends_where_the_window_fills_and_agrees_with_the_plan() {
    let gemma = model("gemma-3-27b");
    let series = CostSeries::memory(&gemma, 100_000, 4096).unwrap();
    assert!(series.points.len() >= 4096);
    assert!(series.points.iter().any(|(tokens, _)| *tokens == 1024));
    assert!(series.points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
    let plan = gemma.plan().unwrap();
    for (tokens, bytes) in series.points.iter().step_by(500) {
        assert_eq!(plan.bytes(*tokens, 1).unwrap(), Bytes(*bytes));
    }
}

#[test]
fn four_models_stand_side_by_side_and_five_do_not() {
    let four = ["gpt2", "llama-3.1-8b", "deepseek-v3", "bert-base"].map(model);
    let comparison = Comparison::new(&four).unwrap();
    assert_eq!(comparison.names, ["GPT-2 small", "Llama 3.1 8B", "DeepSeek-V3 / R1 (671B)", "BERT-base"]);
    let needed = comparison.rows.iter().find(|row| row.id == "needed_bytes").unwrap();
    assert_eq!(needed.values, [Some(37_748_736), Some(1_073_741_824), Some(575_668_224), Some(0)]);
    let five = vec![Configuration::default(); 5];
    assert_eq!(Comparison::new(&five), Err(CostError::TooMany { found: 5, limit: 4 }));
}

#[test]
fn a_preset_is_found_by_any_of_its_words_and_a_misspelt_one_names_its_neighbour() {
    let found = search_presets("LLAMA 70b");
    assert_eq!(
        found.iter().map(|preset| preset.id.as_str()).collect::<Vec<_>>(),
        ["llama-2-70b", "llama-3.1-70b"]
    );
    assert_eq!(search_presets("").len(), 36);
    assert!(search_presets("no such model").is_empty());
    assert!(presets().iter().all(|preset| !preset.source.is_empty()));
    let error = preset("llama-3.1-8").unwrap_err();
    assert!(error.to_string().contains("llama-3.1-8b"), "{error}");
}

#[test]
fn a_model_without_a_layer_or_with_odd_heads_is_refused_by_name() {
    let with = |group: LayerGroup| {
        Configuration { groups: vec![group], ..Configuration::default() }.plan().unwrap_err()
    };
    let shape = KvShape::square(8, 128);
    assert_eq!(with(LayerGroup::new(0, LayerKind::Full(shape))).field(), Some(Field::Layers));
    let window = LayerKind::Window { window: 0, shape };
    assert_eq!(with(LayerGroup::new(1, window)).code(), "WindowMustBePositive");
    let odd = LayerKind::Full(KvShape::square(5, 128));
    assert_eq!(with(LayerGroup::new(1, odd)).code(), "KvHeadsMustDivideQHeads");
    let huge = LayerKind::Full(KvShape { kv_heads: 32, d_k: u64::MAX, d_v: u64::MAX });
    assert_eq!(with(LayerGroup::new(u64::MAX, huge)).code(), "Overflow");
    assert_eq!(pairs::causal_pairs(u128::MAX, Some(3)).unwrap_err().code(), "Overflow");
}

#[test]
fn a_machine_is_bound_by_memory_left_of_its_ridge() {
    let h100 = Hardware { name: "mine".into(), bandwidth: 1_000, peak_flops: 300_000 };
    assert_eq!(h100.ridge().unwrap().to_string(), "300");
    assert_eq!(h100.attainable(4.0), 4_000.0);
    assert_eq!(h100.attainable(1_000.0), 300_000.0);
}

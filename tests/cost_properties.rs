//! What holds for every size, however small, large or wrong.

use proptest::prelude::*;
use qkv::cost::{
    AdditiveInputs, CacheInputs, CacheReport, ComplexityInputs, ComplexityReport, Configuration,
    ConfigurationReport, CostSeries, DecodeStep, Engine, GenerationInputs, GenerationMode, KvShape,
    LatentShape, LayerGroup, LayerKind, RowTypes, StorageType, growth, linear_attention, pairs,
    shared_prefix, spread_over_devices, standard_traffic, tiled_traffic_keys_outside,
    tiled_traffic_queries_outside,
};

/// Sizes that break calculators: nothing, one, ordinary ones, and the ends of the integers.
fn size() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => 0..5_u64,
        5 => 1..5000_u64,
        1 => prop::sample::select(vec![1 << 31, 1 << 32, (1 << 53) - 1, 1 << 63, u64::MAX - 1, u64::MAX]),
    ]
}

fn storage() -> impl Strategy<Value = StorageType> {
    prop::sample::select(StorageType::ALL.to_vec())
}

fn shape() -> impl Strategy<Value = KvShape> {
    (size(), size(), size()).prop_map(|(kv_heads, d_k, d_v)| KvShape { kv_heads, d_k, d_v })
}

fn kind() -> impl Strategy<Value = LayerKind> {
    prop_oneof![
        shape().prop_map(LayerKind::Full),
        (size(), shape()).prop_map(|(window, shape)| LayerKind::Window { window, shape }),
        (size(), shape()).prop_map(|(chunk, shape)| LayerKind::Chunked { chunk, shape }),
        (size(), shape()).prop_map(|(source_tokens, shape)| LayerKind::Static { source_tokens, shape }),
        size().prop_map(|state_bytes| LayerKind::Linear { state_bytes }),
        shape().prop_map(|shape| LayerKind::Shared { reads: Some(Box::new(LayerKind::Full(shape))) }),
        (size(), size(), size(), size(), proptest::option::of(size())).prop_map(
            |(r_kv, d_rope, d_nope, d_v, r_q)| LayerKind::Latent(LatentShape {
                r_kv,
                d_rope,
                d_nope,
                d_v,
                r_q
            })
        ),
        shape().prop_map(LayerKind::Encoder),
    ]
}

fn engine() -> impl Strategy<Value = Engine> {
    prop_oneof![
        Just(Engine::Exact),
        (size(), size(), any::<bool>()).prop_map(|(block_size, batched_tokens, windows_apart)| {
            Engine::Paged { block_size, batched_tokens, windows_apart }
        }),
        (size(), any::<bool>(), any::<bool>()).prop_map(|(micro_batch, unified, full_windows)| {
            Engine::UpFront { micro_batch, unified, full_windows }
        }),
    ]
}

prop_compose! {
    fn configuration()(
        heads in size(), d_model in size(), tokens in size(), sequences in size(), engine in engine(),
        groups in prop::collection::vec((size(), kind()), 0..4),
        keys in storage(), values in storage(),
    ) -> Configuration {
        let groups = groups.into_iter().map(|(layers, kind)| LayerGroup::new(layers, kind)).collect();
        let types = RowTypes { keys, values, windowed: None };
        Configuration { heads, d_model, groups, types, tokens, sequences, engine, ..Configuration::default() }
    }
}

prop_compose! {
    fn complexity()(
        lengths in (size(), size(), size()), widths in (size(), size()), heads in (size(), size()),
        d_model in proptest::option::of(size()), causal in any::<bool>(), window in proptest::option::of(size()),
        rest in (size(), size(), any::<bool>()),
    ) -> ComplexityInputs {
        let ((n_q, n_k, cached_keys), (d_k, d_v), (heads, kv_heads)) = (lengths, widths, heads);
        let (bytes_per_score, layers, has_output_projection) = rest;
        ComplexityInputs {
            n_q, n_k, cached_keys, d_k, d_v, heads, kv_heads, d_model, causal, window, bytes_per_score, layers,
            has_output_projection, ..ComplexityInputs::default()
        }
    }
}

proptest! {
    #[test]
    fn whole_models_are_counted_or_refused_and_never_wrapped(configuration in configuration()) {
        if let Ok(report) = ConfigurationReport::new(&configuration) {
            let plan = configuration.plan().unwrap();
            let needed = plan.bytes(configuration.tokens, configuration.sequences).unwrap().0;
            prop_assert_eq!(report.summary.value("needed_bytes"), needed);
            let engine = configuration.engine;
            prop_assert!(report.summary.value("allocated_bytes") >= needed, "{:?}", engine);
            for row in &report.summary.rows {
                prop_assert_eq!(row.formula.value().unwrap(), row.value);
            }
        }
        let _ = CostSeries::memory(&configuration, configuration.tokens, 9);
    }

    #[test]
    fn a_layer_is_counted_or_refused_and_never_wrapped(inputs in complexity()) {
        if let Ok(report) = ComplexityReport::new(&inputs) {
            prop_assert!(report.visible_pairs.value <= report.all_pairs.value);
            let parts: u128 = report.projections.iter().map(|part| part.value).sum();
            prop_assert_eq!(report.total.value, parts + report.scores.value + report.mix.value);
        }
        let _ = growth(&inputs, inputs.n_q, u32::MAX);
    }

    #[test]
    fn a_uniform_cache_is_counted_or_refused(
        heads in (size(), size()), widths in (size(), size()), counts in (size(), size(), size()),
        types in (storage(), storage()),
    ) {
        let (layers, tokens, sequences) = counts;
        let inputs = CacheInputs {
            layers, heads: heads.0, kv_heads: heads.1, d_k: widths.0, d_v: widths.1,
            k_type: types.0, v_type: types.1, tokens, sequences,
        };
        if let Ok(report) = CacheReport::new(&inputs) {
            prop_assert!(report.sharing.iter().filter(|column| column.is_chosen).count() <= 1);
            let chosen = report.sharing.iter().find(|column| column.is_chosen).unwrap();
            prop_assert_eq!(chosen.bytes_all_sequences.0, report.bytes_all_sequences.value);
        }
    }

    #[test]
    fn generations_are_counted_or_refused(
        lengths in (size(), size()), widths in (size(), size(), size()), heads in (size(), size()),
        window in proptest::option::of(size()),
    ) {
        let inputs = GenerationInputs {
            prompt: lengths.0, new_tokens: lengths.1, d_model: widths.0, d_k: widths.1, d_v: widths.2,
            heads: heads.0, kv_heads: heads.1, window, has_output_projection: true,
        };
        let totals = GenerationMode::ALL.map(|mode| inputs.totals(mode).map(|found| found.value("total_macs")));
        if let [Ok(cached), Ok(again), Ok(rerun), Ok(square)] = totals {
            prop_assert!(cached <= again && again <= rerun && rerun <= square);
        }
        for mode in GenerationMode::ALL {
            let _ = inputs.steps(mode, 3);
        }
    }

    #[test]
    fn single_formulas_take_any_number(a in size(), b in size(), c in size(), d in size()) {
        let _ = pairs::chunked_pairs(a, b);
        let _ = pairs::causal_pairs_after(a, b, Some(c));
        let _ = pairs::pairs_of_all_prefixes(u128::from(a) * u128::from(b), Some(c));
        let _ = shared_prefix(a, b, c, d);
        let _ = spread_over_devices(a, b, false);
        let _ = standard_traffic(a, b, c);
        let _ = tiled_traffic_keys_outside(a, b, c);
        let _ = tiled_traffic_queries_outside(a, (b, c), d, true);
        let _ = linear_attention(a, b, c);
        let _ = AdditiveInputs { n_q: a, n_k: b, d_q: c, d_k: d, d_a: c, bytes_per_value: 4 }.costs();
        let step = DecodeStep { weight_bytes: a, cache_bytes: u128::from(b), sequences: c, active_parameters: d };
        if let Ok(bound) = step.bound(a, Some(b)) {
            prop_assert!(bound.step_seconds.to_f64() > 0.0);
        }
    }
}

//! Multiply-adds, pairs, intensities.

use qkv::cost::{
    self, AdditiveInputs, ComplexityInputs, ComplexityReport, CostError, DecodeStep, GenerationInputs,
    GenerationMode, LatentForm, LatentShape, SoftmaxCount, StorageType,
};
use serde_json::json;

use super::{Found, Inputs, digits, from_breakdown, object};

fn sizes(inputs: &Inputs<'_>) -> ComplexityInputs {
    let past = inputs.or("n_past", 0);
    let n_q = inputs.or("n_q", 0);
    let d_k = inputs.or("head_dim", 64);
    ComplexityInputs {
        n_q,
        n_k: past + n_q,
        d_k,
        d_v: inputs.or("head_dim_v", d_k),
        heads: inputs.or("q_heads", 1),
        kv_heads: inputs.or("kv_heads", 1),
        causal: inputs.flag("causal", true),
        window: inputs.optional("window"),
        cached_keys: past,
        layers: inputs.or("layers", 1),
        softmax: match inputs.text("softmax", "none") {
            "none" => SoftmaxCount::NotCounted,
            "llm_viewer" => SoftmaxCount::FivePerEntry,
            other => panic!("softmax counted as {other:?}"),
        },
        ..ComplexityInputs::default()
    }
}

pub fn layer(inputs: &Inputs<'_>) -> Found {
    let d_model = inputs.flag("include_projections", true).then(|| inputs.whole("d_model"));
    let report = ComplexityReport::new(&ComplexityInputs {
        d_model,
        has_output_projection: inputs.flag("include_output", true),
        ..sizes(inputs)
    })?;
    let projection = |id: &str| {
        let found = report.projections.iter().find(|quantity| quantity.id == id);
        digits(found.map_or(0, |quantity| quantity.value))
    };
    Ok(object([
        ("q_proj", projection("q_projection")),
        ("k_proj", projection("k_projection")),
        ("v_proj", projection("v_projection")),
        ("o_proj", projection("o_projection")),
        ("scores", digits(report.scores.value)),
        ("mix", digits(report.mix.value)),
        ("total_macs", digits(report.total.value)),
        ("softmax_ops", digits(report.softmax_operations.value)),
        ("total_flops", digits(report.flops.value)),
    ]))
}

pub fn parameters(inputs: &Inputs<'_>) -> Found {
    let report = ComplexityReport::new(&ComplexityInputs {
        d_model: Some(inputs.whole("d_model")),
        has_output_projection: true,
        ..sizes(inputs)
    })?;
    Ok(object([("parameters", digits(report.parameters.unwrap().value))]))
}

pub fn pairs(inputs: &Inputs<'_>) -> Found {
    let report = ComplexityReport::new(&sizes(inputs))?;
    let (visible, all) = (report.visible_pairs.value, report.all_pairs.value);
    Ok(object([("pairs", digits(visible)), ("full_rectangle", digits(all))]))
}

pub fn chunked(inputs: &Inputs<'_>) -> Found {
    let pairs = cost::pairs::chunked_pairs(inputs.whole("n"), inputs.whole("chunk"))?;
    Ok(object([("pairs", digits(pairs))]))
}

pub fn latent(inputs: &Inputs<'_>) -> Found {
    let shape = LatentShape {
        r_kv: inputs.whole("kv_lora_rank"),
        d_rope: inputs.whole("qk_rope"),
        d_nope: inputs.whole("qk_nope"),
        d_v: inputs.whole("v_dim"),
        r_q: inputs.optional("q_lora_rank"),
    };
    let form = if inputs.flag("absorb", true) { LatentForm::Absorbed } else { LatentForm::Expanded };
    let lengths = (inputs.or("n_past", 0), inputs.whole("n_q"));
    let macs = cost::latent_macs(shape, inputs.whole("q_heads"), inputs.whole("d_model"), lengths, form)?;
    Ok(from_breakdown(&macs))
}

pub fn generation(inputs: &Inputs<'_>) -> Found {
    let width = inputs.whole("head_dim");
    let sizes = GenerationInputs {
        prompt: inputs.whole("prompt"),
        new_tokens: inputs.whole("new"),
        d_model: inputs.whole("d_model"),
        heads: inputs.whole("q_heads"),
        kv_heads: inputs.whole("kv_heads"),
        d_k: width,
        d_v: inputs.or("head_dim_v", width),
        window: inputs.optional("window"),
        has_output_projection: inputs.flag("include_output", false),
    };
    let mode = match inputs.text("mode", "cached") {
        "cached" => GenerationMode::Cached,
        "naive_kv" => GenerationMode::ReprojectKeysAndValues,
        "naive_full" => GenerationMode::RerunLayer,
        "naive_full_square" => GenerationMode::RerunLayerSquare,
        other => panic!("generation as {other:?}"),
    };
    Ok(from_breakdown(&sizes.totals(mode)?))
}

pub fn additive(inputs: &Inputs<'_>) -> Found {
    let sizes = AdditiveInputs {
        n_q: inputs.whole("n_q"),
        n_k: inputs.whole("n_k"),
        d_q: inputs.whole("d_q"),
        d_k: inputs.whole("d_k"),
        d_a: inputs.whole("d_att"),
        bytes_per_value: inputs.or("bytes_per_value", 4),
    };
    Ok(from_breakdown(&sizes.costs()?))
}

pub fn linear(inputs: &Inputs<'_>) -> Found {
    let (n, m) = (inputs.whole("n"), inputs.whole("feature_dim"));
    Ok(from_breakdown(&cost::linear_attention(n, m, inputs.whole("d_v"))?))
}

fn storage(inputs: &Inputs<'_>) -> Result<StorageType, CostError> {
    StorageType::named(inputs.text("dtype", "bf16"))
}

pub fn decode_intensity(inputs: &Inputs<'_>) -> Found {
    let (heads, kv_heads) = (inputs.whole("q_heads"), inputs.whole("kv_heads"));
    let ratio = cost::decode_intensity(heads, kv_heads, storage(inputs)?)?;
    Ok(object([("flop_per_byte", json!(ratio.to_string()))]))
}

pub fn prefill_intensity(inputs: &Inputs<'_>) -> Found {
    let ratio = cost::prefill_intensity(inputs.whole("n"), inputs.whole("m"), storage(inputs)?)?;
    Ok(object([("flop_per_byte", json!(ratio.to_string()))]))
}

pub fn decode_bound(inputs: &Inputs<'_>) -> Found {
    let step = DecodeStep {
        weight_bytes: inputs.whole("weight_bytes"),
        cache_bytes: u128::from(inputs.whole("kv_bytes_per_sequence")),
        sequences: inputs.whole("batch"),
        active_parameters: inputs.or("active_params", 0),
    };
    let bound = step.bound(inputs.whole("bandwidth_bytes_per_s"), inputs.optional("peak_flops"))?;
    Ok(object([
        ("step_seconds", json!(bound.step_seconds.to_string())),
        ("tokens_per_second", json!(bound.tokens_per_second.to_string())),
        ("step_seconds_f64", json!(bound.step_seconds.to_f64())),
        ("tokens_per_second_f64", json!(bound.tokens_per_second.to_f64())),
    ]))
}

//! Bytes: caches, score matrices, allocation, traffic.

use qkv::cost::{
    self, Bytes, CacheInputs, CachePlan, CacheReport, CostError, DeltaNet, GroupScaled, KvShape,
    LargestContext, LatentShape, LayerGroup, LayerKind, Prefix, RowTypes, StorageType,
};
use serde_json::{Value, json};

use super::{Found, Inputs, digits, from_breakdown, object};

fn storage(inputs: &Inputs<'_>) -> Result<StorageType, CostError> {
    StorageType::named(inputs.text("dtype", "f16"))
}

pub fn scores(inputs: &Inputs<'_>) -> Found {
    let lengths = (inputs.whole("n_q"), inputs.whole("n_k"));
    let memory = cost::score_memory(
        lengths,
        inputs.or("heads", 1),
        inputs.or("bytes_per_value", 4),
        inputs.or("copies", 1),
    )?;
    Ok(from_breakdown(&memory))
}

pub fn tiled(inputs: &Inputs<'_>) -> Found {
    let (n, d_v) = (inputs.whole("n"), inputs.whole("head_dim_v"));
    Ok(from_breakdown(&cost::tiled_memory(n, d_v, inputs.whole("heads"), inputs.whole("bytes_per_value"))?))
}

pub fn standard_traffic(inputs: &Inputs<'_>) -> Found {
    let d = inputs.whole("d");
    Ok(from_breakdown(&cost::standard_traffic(inputs.whole("n"), d, d)?))
}

pub fn traffic_keys_outside(inputs: &Inputs<'_>) -> Found {
    let (n, d) = (inputs.whole("n"), inputs.whole("d"));
    Ok(from_breakdown(&cost::tiled_traffic_keys_outside(n, d, inputs.whole("sram_elements"))?))
}

pub fn traffic_queries_outside(inputs: &Inputs<'_>) -> Found {
    let (n, d) = (inputs.whole("n"), inputs.whole("d"));
    let (rows, causal) = (inputs.whole("block_rows"), inputs.flag("causal", false));
    Ok(from_breakdown(&cost::tiled_traffic_queries_outside(n, (d, d), rows, causal)?))
}

pub fn uniform(inputs: &Inputs<'_>) -> Found {
    let (d_k, stored) = (inputs.whole("head_dim"), storage(inputs)?);
    let report = CacheReport::new(&CacheInputs {
        layers: inputs.whole("layers"),
        heads: inputs.whole("q_heads"),
        kv_heads: inputs.whole("kv_heads"),
        d_k,
        d_v: inputs.or("head_dim_v", d_k),
        k_type: stored,
        v_type: stored,
        tokens: inputs.whole("tokens"),
        sequences: inputs.or("batch", 1),
    })?;
    let total = report.bytes_all_sequences.value;
    if inputs.or("width", 128) == 64 {
        Bytes(total).to_u64()?;
    }
    Ok(object([
        ("bytes_per_token_per_layer", digits(report.bytes_per_token_per_layer.value)),
        ("bytes_per_token", digits(report.bytes_per_token.value)),
        ("total_bytes", digits(total)),
    ]))
}

fn kind(group: &Value) -> LayerKind {
    let inputs = Inputs(group);
    let shape = || {
        let d_k = inputs.whole("head_dim");
        KvShape { kv_heads: inputs.whole("kv_heads"), d_k, d_v: inputs.or("head_dim_v", d_k) }
    };
    match inputs.text("kind", "") {
        "full" => LayerKind::Full(shape()),
        "window" => LayerKind::Window { window: inputs.whole("window"), shape: shape() },
        "static" => LayerKind::Static { source_tokens: inputs.whole("source_tokens"), shape: shape() },
        "linear" => LayerKind::Linear { state_bytes: inputs.whole("state_bytes") },
        "shared" => {
            LayerKind::Shared { reads: (!group["reads"].is_null()).then(|| Box::new(kind(&group["reads"]))) }
        }
        // The other widths change the arithmetic, not the cache.
        "mla" => LayerKind::Latent(LatentShape {
            r_kv: inputs.whole("kv_lora_rank"),
            d_rope: inputs.whole("qk_rope_head_dim"),
            d_nope: 128,
            d_v: 128,
            r_q: None,
        }),
        other => panic!("a layer of kind {other:?}"),
    }
}

fn plan(inputs: &Inputs<'_>) -> Result<CachePlan, CostError> {
    let groups = inputs.0["groups"].as_array().unwrap();
    let groups: Vec<LayerGroup> =
        groups.iter().map(|group| LayerGroup::new(Inputs(group).whole("layers"), kind(group))).collect();
    CachePlan::new(&groups, RowTypes::both(storage(inputs)?))
}

pub fn layers(inputs: &Inputs<'_>) -> Found {
    let (plan, tokens, batch) = (plan(inputs)?, inputs.whole("tokens"), inputs.or("batch", 1));
    let groups = plan.group_bytes(tokens, batch)?.iter().map(|bytes| digits(bytes.0)).collect();
    Ok(object([
        ("total_bytes", digits(plan.bytes(tokens, batch)?.0)),
        ("group_bytes", Value::Array(groups)),
        ("marginal_bytes_next_token_per_sequence", digits(plan.marginal(tokens)?.0)),
    ]))
}

pub fn read(inputs: &Inputs<'_>) -> Found {
    let read = plan(inputs)?.bytes_read(inputs.whole("tokens"), inputs.or("batch", 1))?;
    Ok(object([("bytes_read", digits(read.0))]))
}

pub fn group_scaled(inputs: &Inputs<'_>) -> Found {
    let scaled = GroupScaled {
        values: inputs.whole("elements"),
        bits: inputs.whole("bits"),
        group_size: inputs.whole("group_size"),
        scale_bytes: inputs.whole("scale_bytes"),
        zero_bytes: inputs.whole("zero_bytes"),
        residual_values: inputs.or("residual_elements", 0),
        residual_bytes: inputs.or("residual_bytes", 2),
    };
    let bits = scaled.bits_per_value()?.to_string();
    Ok(object([("bytes", digits(scaled.bytes()?.value("bytes"))), ("effective_bits", json!(bits))]))
}

pub fn scaled_per_head(inputs: &Inputs<'_>) -> Found {
    let (layers, heads) = (inputs.whole("layers"), inputs.whole("kv_heads"));
    let (width, tokens) = (inputs.whole("head_dim"), inputs.whole("tokens"));
    Ok(from_breakdown(&cost::scaled_per_token_and_head(layers, heads, width, tokens)?))
}

pub fn delta_net(inputs: &Inputs<'_>) -> Found {
    let net = DeltaNet {
        conv_kernel: inputs.whole("conv_kernel"),
        key_heads: inputs.whole("key_heads"),
        d_k: inputs.whole("key_head_dim"),
        value_heads: inputs.whole("value_heads"),
        d_v: inputs.whole("value_head_dim"),
    };
    Ok(object([("state_bytes_per_layer", digits(net.state_bytes()?.value("state_bytes_per_layer")))]))
}

pub fn paged(inputs: &Inputs<'_>) -> Found {
    let row = u128::from(inputs.whole("bytes_per_token"));
    Ok(from_breakdown(&cost::paged(inputs.whole("tokens"), inputs.whole("block_size"), row)?))
}

pub fn paged_window(inputs: &Inputs<'_>) -> Found {
    let block_size = inputs.whole("block_size");
    let batched = inputs.whole("max_num_batched_tokens");
    let blocks =
        cost::paged_window(inputs.whole("window"), inputs.whole("max_model_len"), batched, block_size)?;
    let row = u128::from(inputs.whole("bytes_per_token_layer")) * u128::from(inputs.whole("layers"));
    let mut found = from_breakdown(&blocks);
    found.insert("bytes".into(), digits(blocks.value("blocks") * u128::from(block_size) * row));
    Ok(found)
}

pub fn up_front(inputs: &Inputs<'_>) -> Found {
    let (n_ctx, window) = (inputs.whole("n_ctx"), inputs.whole("n_swa"));
    let pooled = if inputs.flag("unified", true) { inputs.or("n_seq", 1) } else { 1 };
    Ok(from_breakdown(&cost::up_front_cells(n_ctx, window, inputs.whole("n_ubatch"), pooled)?))
}

pub fn prefix(inputs: &Inputs<'_>) -> Found {
    let blocks = cost::shared_prefix(
        inputs.whole("batch"),
        inputs.whole("shared_tokens"),
        inputs.whole("total_tokens_each"),
        inputs.whole("block_size"),
    )?;
    Ok(from_breakdown(&blocks))
}

pub fn devices(inputs: &Inputs<'_>) -> Found {
    let (kv_heads, devices) = (inputs.whole("kv_heads"), inputs.whole("tp"));
    let share = cost::spread_over_devices(kv_heads, devices, inputs.flag("mla", false))?;
    let heads = share.kv_heads.map_or(Value::Null, |heads| digits(heads.into()));
    Ok(object([("kv_heads_per_device", heads), ("cache_fraction", json!(share.fraction.to_string()))]))
}

pub fn largest_context(inputs: &Inputs<'_>) -> Found {
    let budget = Bytes(u128::from(inputs.whole("budget_bytes")));
    let (tokens, unbounded) = match plan(inputs)?.largest_context(budget, inputs.or("batch", 1))? {
        LargestContext::Tokens(tokens) => (digits(tokens.into()), false),
        LargestContext::Unbounded => (Value::Null, true),
    };
    Ok(object([("tokens", tokens), ("unbounded", json!(unbounded))]))
}

pub fn formatted(inputs: &Inputs<'_>) -> Found {
    let prefix = Prefix::from_letters(inputs.text("unit", "B").trim_end_matches('B')).unwrap();
    let decimals = inputs.whole("decimals") as usize;
    let text = Bytes(u128::from(inputs.whole("bytes"))).in_unit(prefix, decimals);
    Ok(object([("text", json!(text))]))
}

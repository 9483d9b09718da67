//! Room 2: exact counts. Multiply-adds, bytes, cache, traffic.
//!
//! This room does not know tensors. Every count is an exact integer of 128 bits, checked at every step, and carries
//! the formula it came from ([`Quantity`], [`Formula`]), so that the formula shown is the formula computed.
//!
//! Conventions: one multiply-add (MAC) is two FLOPs. A window counts keys **including** the token itself. No tokens
//! cost nothing; no layers, heads or widths are refused with the field named.

// The simple face: one layer's arithmetic, a uniform model's cache.
mod cache;
mod complexity;
mod growth;
// Models whose layers differ.
mod allocation;
mod comparison;
mod configuration;
mod latent;
mod layers;
mod pass;
mod plan;
mod presets;
mod report;
mod scaled_storage;
// Generation, other scorers, memory traffic, time.
mod generation;
mod roofline;
mod scorers;
mod series;
mod traffic;
// What the rest is made of.
mod breakdown;
mod error;
mod field;
mod formula;
mod json;
mod notation;
pub mod pairs;
mod ratio;
mod storage;
mod tables;
mod units;

pub use allocation::{
    DeviceShare, Engine, paged, paged_window, shared_prefix, spread_over_devices, up_front_cells,
};
pub use breakdown::Breakdown;
pub use cache::{CacheInputs, CacheReport, HeadSharing, cache_over_tokens};
pub use comparison::{Comparison, ComparisonRow};
pub use complexity::{ComplexityInputs, ComplexityReport, SoftmaxCount};
pub use configuration::Configuration;
pub use error::CostError;
pub use field::Field;
pub use formula::{Factor, Formula, Quantity};
pub use generation::{GenerationInputs, GenerationMode, GenerationStep};
pub use growth::{GrowthRow, growth};
pub use latent::{LatentForm, latent_macs};
pub use layers::{KvShape, LatentShape, LayerGroup, LayerKind, RowTypes};
pub use notation::Piece;
pub use pass::{GroupPass, PairCount, Pass, PassReport};
pub use plan::{CachePlan, LargestContext};
pub use presets::{Preset, preset, presets, search_presets};
pub use ratio::Ratio;
pub use report::{ConfigurationReport, GroupReport};
pub use roofline::{
    DecodeBound, DecodeStep, Hardware, decode_intensity, latent_intensity, prefill_intensity,
};
pub use scaled_storage::{DeltaNet, GroupScaled, scaled_per_token_and_head};
pub use scorers::{AdditiveInputs, linear_attention};
pub use series::{CostSeries, doublings, roofline, score_memory_series, scorer_series, spread};
pub use storage::StorageType;
pub use traffic::{
    score_memory, standard_traffic, tiled_memory, tiled_traffic_keys_outside, tiled_traffic_queries_outside,
};
pub use units::{Bytes, Macs, Prefix, Unit, grouped, scaled};

/// The name that takes the fewest edits to reach from `wanted`.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names.min_by_key(|name| edits(wanted, name))
}

/// Levenshtein's distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

//! Arithmetic for each byte, and the least time a step can take.

use serde::{Deserialize, Serialize};

use super::error::{check_heads, positive};
use super::{CostError, Field, Formula, LatentShape, Ratio, StorageType};

/// A machine's two ceilings. The figures differ between sources; they are meant to be edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// Its name.
    pub name: String,
    /// Bytes a second from its large memory.
    pub bandwidth: u64,
    /// Floating-point operations a second.
    pub peak_flops: u64,
}

impl Hardware {
    /// Starting rows, in 16-bit arithmetic without sparsity (as in llm-analysis's table).
    pub fn rows() -> Vec<Self> {
        [
            ("A100 SXM 80 GB", 2_039_000_000_000, 312_000_000_000_000),
            ("H100 SXM", 3_350_000_000_000, 989_000_000_000_000),
            ("H100 PCIe", 2_000_000_000_000, 756_000_000_000_000),
        ]
        .map(|(name, bandwidth, peak_flops)| Self { name: name.to_owned(), bandwidth, peak_flops })
        .into()
    }

    /// FLOPs for each byte at which arithmetic and memory take equally long.
    pub fn ridge(&self) -> Result<Ratio, CostError> {
        Ratio::new(u128::from(self.peak_flops), u128::from(self.bandwidth), Field::Bandwidth)
    }

    /// FLOPs a second that work of this intensity can reach at most: min(peak, intensity · bandwidth).
    pub fn attainable(&self, flops_per_byte: f64) -> f64 {
        (flops_per_byte * self.bandwidth as f64).min(self.peak_flops as f64)
    }
}

/// FLOPs for each byte of cache that decoding reads: 2·(H/G)/b, whatever the length and the number of sequences.
pub fn decode_intensity(heads: u64, kv_heads: u64, storage: StorageType) -> Result<Ratio, CostError> {
    check_heads(heads, kv_heads)?;
    let (values, bytes) = storage.block();
    let flops = 2 * u128::from(heads / kv_heads) * u128::from(values);
    Ratio::new(flops, u128::from(bytes), Field::StorageType)
}

/// The same for latent attention in its absorbed form: 2·H·(2r + ρ) / ((r + ρ)·b).
pub fn latent_intensity(heads: u64, shape: LatentShape, storage: StorageType) -> Result<Ratio, CostError> {
    positive(Field::QueryHeads, heads)?;
    let row = u128::from(shape.r_kv) + u128::from(shape.d_rope);
    let widths = row + u128::from(shape.r_kv);
    let flops = Formula::number(2_u64) * Field::QueryHeads.is(heads) * Formula::number(widths);
    Ratio::new(flops.value()?, storage.row_bytes(row, Field::StorageType)?, Field::LatentWidth)
}

/// FLOPs for each byte of one fused pass over n queries and m keys: 4·n·m·d over (2n + 2m)·d·b; T/2 for T = n = m in 16 bits.
pub fn prefill_intensity(n: u64, m: u64, storage: StorageType) -> Result<Ratio, CostError> {
    let (values, bytes) = storage.block();
    let flops = Formula::number(2_u64) * Field::Queries.is(n) * Field::Keys.is(m) * Formula::number(values);
    let moved = Formula::number(u128::from(n) + u128::from(m)) * Formula::number(bytes);
    Ratio::new(flops.value()?, moved.value()?, Field::Queries)
}

/// What one decode step moves and computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeStep {
    /// Bytes of all weights, read once for each step.
    pub weight_bytes: u64,
    /// Bytes of cache that one sequence reads.
    pub cache_bytes: u128,
    /// Sequences decoded together.
    pub sequences: u64,
    /// Parameters that take part; 0 to leave arithmetic out.
    pub active_parameters: u64,
}

/// The least time of a decode step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeBound {
    /// Seconds for one step of all sequences.
    pub step_seconds: Ratio,
    /// Tokens a second, of all sequences together.
    pub tokens_per_second: Ratio,
}

impl DecodeStep {
    /// B·KV/BW + max(2·B·P/peak, weights/BW): no machine with these two ceilings is faster.
    pub fn bound(&self, bandwidth: u64, peak_flops: Option<u64>) -> Result<DecodeBound, CostError> {
        positive(Field::Sequences, self.sequences)?;
        let sequences = || Field::Sequences.is(self.sequences);
        let cache = (sequences() * Formula::named("bytes read", "KV", self.cache_bytes)).value()?;
        let by_bandwidth = |bytes| Ratio::new(bytes, u128::from(bandwidth), Field::Bandwidth);
        let mut weights = by_bandwidth(u128::from(self.weight_bytes))?;
        if let Some(peak) = peak_flops {
            let flops =
                Formula::number(2_u64) * sequences() * Field::ActiveParameters.is(self.active_parameters);
            let arithmetic = Ratio::new(flops.value()?, u128::from(peak), Field::PeakFlops)?;
            weights = weights.max(arithmetic, Field::PeakFlops)?;
        }
        let step_seconds = by_bandwidth(cache)?.plus(weights, Field::Bandwidth)?;
        let tokens = (sequences() * Formula::number(step_seconds.denominator())).value()?;
        let tokens_per_second = Ratio::new(tokens, step_seconds.numerator(), Field::WeightBytes)?;
        Ok(DecodeBound { step_seconds, tokens_per_second })
    }
}

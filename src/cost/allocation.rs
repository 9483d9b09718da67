//! What engines set aside for a cache, as against what it needs. Rules as read in the engines' sources.

use serde::{Deserialize, Serialize};

use super::error::positive;
use super::{Breakdown, Bytes, CostError, Field, Formula, LayerGroup, LayerKind, Ratio, RowTypes, Unit};

/// An engine's rule for how many rows to set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Engine {
    /// Exactly the rows that are needed: a rolling buffer, as in Hugging Face's and Mistral's own code.
    Exact,
    /// Blocks of tokens on demand, as in vLLM.
    Paged {
        /// Tokens in a block; vLLM's default is 16.
        block_size: u64,
        /// Tokens that one scheduler step may add to a sequence.
        batched_tokens: u64,
        /// Whether windowed layers get only their window. Without it they are charged as full ones.
        windows_apart: bool,
    },
    /// All cells up front, padded to 256, as in llama.cpp.
    UpFront {
        /// Tokens of a micro-batch; llama.cpp's default is 512.
        micro_batch: u64,
        /// Whether all sequences share one pool of cells.
        unified: bool,
        /// Whether windowed layers get all cells all the same (`--swa-full`).
        full_windows: bool,
    },
}

/// A cache in blocks: how many, how many bytes, and how many of them are unused.
pub fn paged(tokens: u64, block_size: u64, bytes_per_token: u128) -> Result<Breakdown, CostError> {
    positive(Field::BlockSize, block_size)?;
    let size = || Field::BlockSize.is(block_size);
    let row = || Formula::named("bytes per token", "row", bytes_per_token);
    let mut out = Breakdown::new();
    let blocks = out.push("blocks", "blocks", Unit::Blocks, Field::Tokens.is(tokens).div_ceil(size()))?;
    let blocks = || Formula::named("blocks", "blocks", blocks);
    out.push("allocated_bytes", "allocated", Unit::Bytes, blocks() * size() * row())?;
    let unused = (blocks() * size() - Field::Tokens.is(tokens)) * row();
    out.push("wasted_bytes", "allocated and unused", Unit::Bytes, unused)?;
    Ok(out)
}

/// Blocks of one windowed group in a paged engine: ⌈min(W − 1 + batched, length)/block⌉ + 1 for each layer.
pub fn paged_window(
    window: u64,
    context_length: u64,
    batched_tokens: u64,
    block_size: u64,
) -> Result<Breakdown, CostError> {
    positive(Field::Window, window)?;
    positive(Field::BlockSize, block_size)?;
    let reach = Field::Window.is(window) - Formula::number(1_u64) + Field::BatchedTokens.is(batched_tokens);
    let mut out = Breakdown::new();
    let tokens = reach.min(Field::ContextLength.is(context_length));
    let tokens = out.push("tokens", "tokens kept", Unit::Tokens, tokens)?;
    let blocks = Formula::named("tokens kept", "tokens", tokens).div_ceil(Field::BlockSize.is(block_size));
    out.push("blocks", "blocks per layer", Unit::Blocks, blocks + Formula::number(1_u64))?;
    Ok(out)
}

/// Cells that llama.cpp sets aside for full and for windowed layers.
pub fn up_front_cells(
    n_ctx: u64,
    window: u64,
    micro_batch: u64,
    pooled_sequences: u64,
) -> Result<Breakdown, CostError> {
    positive(Field::Window, window)?;
    let padded = |cells: Formula| {
        let step = || Formula::number(256_u64);
        cells.div_ceil(step()) * step()
    };
    let context = || Field::ContextLength.is(n_ctx);
    let windows = match pooled_sequences {
        0 | 1 => Field::Window.is(window),
        pooled => Field::Window.is(window) * Field::Sequences.is(pooled),
    };
    let mut out = Breakdown::new();
    let reach = (windows + Field::MicroBatch.is(micro_batch)).min(context());
    out.push("swa_cells", "cells of a windowed layer", Unit::Tokens, padded(reach))?;
    out.push("base_cells", "cells of a full layer", Unit::Tokens, padded(context()))?;
    Ok(out)
}

/// Blocks of `sequences` sequences that begin with the same tokens. Only whole blocks of the prefix can be shared.
pub fn shared_prefix(
    sequences: u64,
    shared_tokens: u64,
    tokens_each: u64,
    block_size: u64,
) -> Result<Breakdown, CostError> {
    positive(Field::BlockSize, block_size)?;
    if shared_tokens > tokens_each {
        return Err(CostError::PartExceedsWhole {
            part_field: Field::SharedTokens,
            part: shared_tokens,
            whole_field: Field::Tokens,
            whole: tokens_each,
        });
    }
    let size = || Field::BlockSize.is(block_size);
    let sequences = || Field::Sequences.is(sequences);
    let each = || Field::Tokens.is(tokens_each).div_ceil(size());
    let mut out = Breakdown::new();
    let shared = Field::SharedTokens.is(shared_tokens).div_floor(size());
    let shared = out.push("blocks_shared", "blocks shared", Unit::Blocks, shared)?;
    let shared = || Formula::named("blocks shared", "s", shared);
    // No sequences hold no prefix either.
    let total = match sequences().value()? {
        0 => Formula::number(0_u64),
        _ => shared() + sequences() * (each() - shared()),
    };
    out.push("blocks_total", "blocks in all", Unit::Blocks, total)?;
    out.push("blocks_without_sharing", "blocks without sharing", Unit::Blocks, sequences() * each())?;
    Ok(out)
}

/// One device's share of the cache when heads are spread over devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceShare {
    /// KV heads on each device; `None` for latent rows, which every device keeps whole.
    pub kv_heads: Option<u64>,
    /// The part of the cache that each device holds.
    pub fraction: Ratio,
}

/// KV heads on each of `devices`: G/tp, or one each (copied) where there are more devices than heads. Latent rows have no
/// heads to spread, so every device keeps all of them.
///
/// # Errors
/// [`CostError::DevicesMustDivideKvHeads`] where the heads do not spread evenly.
pub fn spread_over_devices(kv_heads: u64, devices: u64, latent: bool) -> Result<DeviceShare, CostError> {
    positive(Field::KvHeads, kv_heads)?;
    positive(Field::Devices, devices)?;
    let share = |part, whole| Ratio::new(u128::from(part), u128::from(whole), Field::KvHeads);
    if latent {
        return Ok(DeviceShare { kv_heads: None, fraction: share(1, 1)? });
    }
    let even =
        if devices > kv_heads { devices.is_multiple_of(kv_heads) } else { kv_heads.is_multiple_of(devices) };
    if !even {
        return Err(CostError::DevicesMustDivideKvHeads { kv_heads, devices });
    }
    let each = (kv_heads / devices).max(1);
    Ok(DeviceShare { kv_heads: Some(each), fraction: share(each, kv_heads)? })
}

impl Engine {
    /// Bytes that the engine sets aside for `sequences` sequences of `tokens` tokens.
    pub fn allocated(
        self,
        groups: &[LayerGroup],
        types: RowTypes,
        tokens: u64,
        sequences: u64,
    ) -> Result<Bytes, CostError> {
        self.allocated_formula(groups, types, tokens, sequences)?.value().map(Bytes)
    }

    /// The same as a formula, one term for each group that keeps anything.
    pub fn allocated_formula(
        self,
        groups: &[LayerGroup],
        types: RowTypes,
        tokens: u64,
        sequences: u64,
    ) -> Result<Formula, CostError> {
        let mut terms = Vec::new();
        for group in groups {
            group.check()?;
            let layers = Field::Layers.is(group.layers);
            match (&group.kind, group.kind.row_formula(types)?) {
                (LayerKind::Linear { state_bytes }, _) => {
                    let states = layers * Field::StateBytes.is(*state_bytes);
                    terms.push(if sequences == 1 { states } else { states * Field::Sequences.is(sequences) });
                }
                (kind, Some(row)) => {
                    let row = Formula::named("row", "row", row.value()?);
                    terms.push(layers * row * self.rows(kind, tokens, sequences)?);
                }
                (_, None) => {}
            }
        }
        Ok(Formula::sum(terms))
    }

    /// Rows set aside in one layer for all sequences.
    fn rows(self, kind: &LayerKind, tokens: u64, sequences: u64) -> Result<Formula, CostError> {
        let each = |rows: Formula| match sequences {
            1 => rows,
            _ => rows * Field::Sequences.is(sequences),
        };
        if let LayerKind::Static { .. } = kind {
            return Ok(each(kind.kept_tokens(tokens)));
        }
        let window = kind.limit();
        match self {
            Self::Exact => Ok(each(kind.kept_tokens(tokens))),
            Self::Paged { block_size, batched_tokens, windows_apart } => {
                positive(Field::BlockSize, block_size)?;
                let blocks = match kind {
                    LayerKind::Window { window, .. } if windows_apart => {
                        paged_window(*window, tokens, batched_tokens, block_size)?.value("blocks")
                    }
                    LayerKind::Chunked { chunk, .. } if windows_apart => {
                        let reach = u128::from(*chunk) + u128::from(batched_tokens);
                        reach.min(u128::from(tokens)).div_ceil(u128::from(block_size))
                    }
                    _ => u128::from(tokens.div_ceil(block_size)),
                };
                // A sequence that has no tokens yet has no blocks either.
                let blocks = if tokens == 0 { 0 } else { blocks };
                Ok(each(Formula::named("blocks", "blocks", blocks) * Field::BlockSize.is(block_size)))
            }
            Self::UpFront { micro_batch, unified, full_windows } => {
                let pooled = if unified { sequences } else { 1 };
                let n_ctx = tokens
                    .checked_mul(pooled)
                    .ok_or(CostError::Overflow { field: Field::Tokens, bits: 64 })?;
                let cells = up_front_cells(n_ctx, window.unwrap_or(1), micro_batch, pooled)?;
                let id = if window.is_some() && !full_windows { "swa_cells" } else { "base_cells" };
                let cells = Formula::named("cells", "cells", cells.value(id));
                Ok(if unified { cells } else { each(cells) })
            }
        }
    }
}

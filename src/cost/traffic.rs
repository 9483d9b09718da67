//! Score memory and traffic to slow memory, for a kernel that keeps the scores and for one that works in tiles.
//!
//! The counts follow the loops step by step; sizes are in values, not bytes. Tiled attention needs memory linear in n;
//! its traffic is still quadratic, only with a far smaller constant.

use super::error::positive;
use super::{Breakdown, CostError, Field, Formula, Unit};

/// Bytes of the score matrix kept in full, for one head and for all. A kernel that keeps scores and weights apart holds
/// `copies` = 2.
pub fn score_memory(
    (n_q, n_k): (u64, u64),
    heads: u64,
    bytes_per_score: u64,
    copies: u64,
) -> Result<Breakdown, CostError> {
    positive(Field::QueryHeads, heads)?;
    let mut head = Field::Queries.is(n_q) * Field::Keys.is(n_k) * Field::BytesPerScore.is(bytes_per_score);
    if copies != 1 {
        head = head * Field::ScoreCopies.is(copies);
    }
    let mut out = Breakdown::new();
    out.push("bytes_per_head", "score matrix per head", Unit::Bytes, head.clone())?;
    out.push("total_bytes", "all heads", Unit::Bytes, head * Field::QueryHeads.is(heads))?;
    Ok(out)
}

/// Bytes that a tiled kernel holds besides its inputs: the output, and one f32 log-sum-exp for each row and head
/// (FlashAttention-2, 2023).
pub fn tiled_memory(n: u64, d_v: u64, heads: u64, bytes_per_value: u64) -> Result<Breakdown, CostError> {
    positive(Field::QueryHeads, heads)?;
    let rows = || Field::Queries.is(n) * Field::QueryHeads.is(heads);
    let mut out = Breakdown::new();
    let output = rows() * Field::ValueWidth.is(d_v) * Field::StorageType.is(bytes_per_value);
    out.push("output_bytes", "output", Unit::Bytes, output)?;
    out.push("extra_bytes", "row statistics", Unit::Bytes, rows() * Formula::number(4_u64))?;
    Ok(out)
}

/// Values moved when scores and weights are each written and read once: 4N² + 2N·d_k + 2N·d_v.
pub fn standard_traffic(n: u64, d_k: u64, d_v: u64) -> Result<Breakdown, CostError> {
    let n = || Field::Queries.is(n);
    let square = Formula::number(4_u64) * n() * n();
    let width = |width: Formula| Formula::number(2_u64) * n() * width;
    let mut out = Breakdown::new();
    let all = square + width(Field::KeyWidth.is(d_k)) + width(Field::ValueWidth.is(d_v));
    out.push("elements", "values moved", Unit::Values, all)?;
    Ok(out)
}

/// Values moved by FlashAttention's first loop order (keys outside), with `fast_memory` values of fast memory
/// (Dao et al., 2022, algorithm 1).
///
/// # Errors
/// [`CostError::FastMemoryTooSmall`] where not even one row fits.
pub fn tiled_traffic_keys_outside(n: u64, d: u64, fast_memory: u64) -> Result<Breakdown, CostError> {
    positive(Field::HeadWidth, d)?;
    if fast_memory < d {
        return Err(CostError::FastMemoryTooSmall { fast_memory, head_width: d });
    }
    let (n_, d_) = (|| Field::Queries.is(n), || Field::HeadWidth.is(d));
    let number = |value: u64| Formula::number(value);
    let mut out = Breakdown::new();
    let columns = Field::FastMemory.is(fast_memory).div_ceil(number(4) * d_());
    let columns = out.push("key_rows", "keys of a tile", Unit::Tokens, columns)?;
    let tiles = n_().div_ceil(Formula::named("keys of a tile", "B_c", columns));
    let tiles = out.push("key_blocks", "tiles of keys", Unit::Blocks, tiles)?;
    let again = number(3) * n_() * d_() + number(4) * n_();
    let first = n_() * d_() + number(2) * n_();
    let tiles = Formula::named("tiles of keys", "T_c", tiles);
    let all = number(2) * n_() * d_() + tiles * again + first;
    out.push("elements", "values moved", Unit::Values, all)?;
    Ok(out)
}

/// Values moved by the second loop order (queries outside): Q and O once, K and V once for each tile of queries, and one
/// statistic for each row. With a causal mask only key tiles at or below the diagonal are read.
pub fn tiled_traffic_queries_outside(
    n: u64,
    (d_k, d_v): (u64, u64),
    block_rows: u64,
    causal: bool,
) -> Result<Breakdown, CostError> {
    positive(Field::BlockRows, block_rows)?;
    let n_ = || Field::Queries.is(n);
    let rows = || Field::BlockRows.is(block_rows);
    let widths = || Field::KeyWidth.is(d_k) + Field::ValueWidth.is(d_v);
    let mut out = Breakdown::new();
    let blocks = out.push("row_blocks", "tiles of queries", Unit::Blocks, n_().div_ceil(rows()))?;
    let tiles = || Formula::named("tiles of queries", "T_r", blocks);
    let keys_read = match causal {
        false => n_() * tiles(),
        // Every tile but the last reads up to its own end; the last reads all.
        true => {
            let earlier = tiles() * (tiles() - Formula::number(1_u64)) / Formula::number(2_u64);
            rows() * earlier + n_()
        }
    };
    out.push("elements", "values moved", Unit::Values, n_() * widths() + n_() + keys_read * widths())?;
    Ok(out)
}

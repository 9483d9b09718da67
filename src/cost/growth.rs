//! What doubling the length does.

use super::{Bytes, ComplexityInputs, ComplexityReport, CostError, Field, Macs};

/// One length of a growth table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowthRow {
    /// Queries and keys.
    pub tokens: u64,
    /// Scores and mix.
    pub macs: Macs,
    /// Projections too.
    pub total: Macs,
    /// The score matrices of all heads.
    pub score_matrix: Bytes,
    /// How many times the multiply-adds of the row before; `None` in the first row or after a row of nothing.
    pub factor: Option<f64>,
}

/// The same attention at `start`, `2·start`, `4·start` … tokens: queries and keys both, nothing cached, `rows` lengths.
///
/// # Errors
/// As [`ComplexityReport::new`]; a length beyond 64 bits is an overflow.
pub fn growth(inputs: &ComplexityInputs, start: u64, rows: u32) -> Result<Vec<GrowthRow>, CostError> {
    let mut out: Vec<GrowthRow> = Vec::new();
    // A length of 64 bits cannot double more often; only a start of 0 would go on for ever.
    for row in 0..rows.min(65) {
        let tokens = start
            .checked_mul(1_u64.checked_shl(row).unwrap_or(0))
            .filter(|tokens| *tokens > 0 || start == 0)
            .ok_or(CostError::Overflow { field: Field::Tokens, bits: 64 })?;
        let report = ComplexityReport::new(&at_length(inputs, tokens))?;
        let before = out.last().map(|before| before.macs.0).filter(|macs| *macs > 0);
        out.push(GrowthRow {
            tokens,
            macs: Macs(report.attention.value),
            total: Macs(report.total.value),
            score_matrix: Bytes(report.score_bytes.value),
            factor: before.map(|before| report.attention.value as f64 / before as f64),
        });
    }
    Ok(out)
}

/// The same sizes with `tokens` queries over `tokens` keys and nothing cached.
pub(super) fn at_length(inputs: &ComplexityInputs, tokens: u64) -> ComplexityInputs {
    ComplexityInputs {
        n_q: tokens,
        n_k: tokens,
        cached_keys: 0,
        visible_pairs: None,
        visible_pairs_of_all_heads: None,
        ..inputs.clone()
    }
}

//! Room 2: exact counts. Multiply-adds, bytes, cache, traffic.
//!
//! This room does not know tensors. Every count is an exact integer of 128 bits, checked at every step, and carries
//! the formula it came from ([`Quantity`], [`Formula`]), so that the formula shown is the formula computed.
//!
//! Conventions: one multiply-add (MAC) is two FLOPs. A window counts keys **including** the token itself. No tokens
//! cost nothing; no layers, heads or widths are refused with the field named.

mod cache;
mod complexity;
mod error;
mod field;
mod formula;
pub mod pairs;
mod series;
mod storage;
mod units;

pub use cache::{CacheInputs, CacheReport, HeadSharing, cache_over_tokens};
pub use complexity::{ComplexityInputs, ComplexityReport, GrowthRow, SoftmaxCount, growth};
pub use error::CostError;
pub use field::Field;
pub use formula::{Factor, Formula, Quantity};
pub use series::spread;
pub use storage::StorageType;
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

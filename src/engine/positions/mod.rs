//! Where a token stands: attention itself does not know the order of its keys, so positions are put into its inputs.
//!
//! Added to the hidden states ([`sinusoidal()`]), turned into the queries and keys ([`rope()`]), or added to the scores
//! ([`alibi_bias`]). Positions count from 0; a query stands at its row plus the position offset.

mod alibi;
mod rope;
mod sinusoidal;

pub use alibi::{alibi_bias, alibi_slopes};
pub use rope::{OddWidth, RopeLayout, rope, rope_frequencies};
pub use sinusoidal::sinusoidal;

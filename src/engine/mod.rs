//! Room 1: the maths of attention. Values in, values out.
//!
//! This room does not know the names of tokens, files, colours or clocks.
//!
//! Dimensions, used everywhere under these names: `n_q` queries, `n_k` keys, `d_k` key width, `d_v` value width,
//! `d_model` model width, `h` query heads, `kv_heads` key/value heads. Shapes stand at line ends, `// (n_q, n_k)`.
//!
//! Start reading with [`attend()`], which is softmax(Q·Kᵀ/√d_k + M)·V in five lines. Its pieces are `scoring` (q and k to
//! one number), `mask` and `mask_view` (who may see whom) and `softmax` (scores to weights). Around it:
//!
//! - `heads`: projections, splitting and joining; `positions`: order put into the inputs;
//! - `trace`: every operand behind a number; `gradients`: the way back;
//! - `checks`: what has to hold; `non_finite`: where a NaN came from; `diagnostics`: entropy and the like;
//! - `decode`: one token at a time, with a cache; `tiled`: the same output in little memory;
//! - `precision`, `narrow` and `lens`: the same stages in narrower number formats;
//! - `linear`, `dropout`, `faults`: another attention, a noisy one, and wrong ones;
//! - `fast`: the same results sooner; `progress` and `memory`: how far, and whether it fits.

mod attend;
mod attention;
mod blocked;
mod checks;
mod decode;
mod diagnostics;
mod dropout;
mod fast;
mod faults;
mod gradients;
mod heads;
mod lens;
mod linear;
mod mask;
mod mask_reach;
mod mask_shape;
mod mask_view;
mod matrix;
mod memory;
mod narrow;
mod non_finite;
mod numbers;
mod positions;
mod precision;
mod progress;
mod scoring;
mod shapes;
mod softmax;
mod tiled;
mod trace;

pub use attend::attend;
pub use attention::{
    Attention, AttentionSpec, EmptyRow, HeadInput, Scoring, SoftmaxAxis, SoftmaxForm, SoftmaxSpec,
};
pub use blocked::BlockedBy;
pub use checks::{
    Check, CheckOutcome, CheckedHead, Examined, Place, blocked_weights_are_zero, checks_of_given_weights,
    key_order_does_not_matter, no_leak_from_later_tokens, padding_moves_nothing, row_sum_tolerance,
    rows_sum_to_one, standing_checks, standing_checks_of,
};
pub use decode::{KvCache, decode, decode_after, difference_from_full_pass};
pub use diagnostics::{effective_keys, entropy_bits, entropy_nats, rank, slope, top_weight};
pub use dropout::{Dropout, DropoutError, Dropped};
pub use fast::{HeadView, MatrixView, OutputError, Real, attend_fast, attend_output};
pub use faults::{
    Fault, FaultInForce, FaultSite, blocked_in_force, faulty_concat, faulty_kv_head_of, faulty_split,
    spec_in_force,
};
pub use gradients::{Gradients, ScorerGradients, backward, softmax_jacobian};
pub use heads::{HeadsError, concat_heads, kv_head_of, project, split_heads};
pub use lens::{InFormat, StageError, StageErrors, precision_lens};
pub use linear::{FeatureMap, LinearAttention, linear_attention};
pub use mask::{Convention, Corner, MaskRule};
pub use mask_reach::Reach;
pub use mask_shape::MaskShapeError;
pub use mask_view::MaskView;
pub use matrix::{Matrix, ShapeError};
pub use memory::{StageMemory, TooLarge};
pub use narrow::{attend_in, attend_in_with};
pub use non_finite::{Cause, cause_of_non_finite};
pub use positions::{OddWidth, RopeLayout, alibi_bias, alibi_slopes, rope, rope_frequencies, sinusoidal};
pub use precision::Precision;
pub use progress::{Cancelled, Progress};
pub use scoring::{raw_scores, scale_of, soft_cap};
pub use shapes::HeadShapeError;
pub use softmax::{Normalizer, softmax_row};
pub use tiled::{OnlineStep, TileSize, TiledAttention, TiledError, attend_tiled};
pub use trace::{
    Carry, DropoutTrace, ExpTerm, HiddenUnit, MaskTrace, OutputTrace, ScoreTrace, SoftCapTrace, SoftmaxTrace,
    SumOfProducts, Term, Trace, trace, trace_dropout, trace_product,
};

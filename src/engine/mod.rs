//! Room 1: the maths of attention. Values in, values out.
//!
//! This room does not know the names of tokens, files, colours or clocks.
//!
//! Dimensions, used everywhere under these names: `n_q` queries, `n_k` keys, `d_k` key width, `d_v` value width,
//! `d_model` model width, `h` query heads, `kv_heads` key/value heads.

mod attention;
mod mask;
mod matrix;

pub use attention::{
    Attention, AttentionSpec, EmptyRow, HeadInput, Scoring, SoftmaxAxis, SoftmaxForm, SoftmaxSpec,
};
pub use mask::{Convention, Corner, MaskRule};
pub use matrix::{Matrix, ShapeError};

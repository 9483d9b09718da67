//! Room 1: the maths of attention. Values in, values out.
//!
//! This room does not know the names of tokens, files, colours or clocks.
//!
//! Dimensions, used everywhere under these names: `n_q` queries, `n_k` keys, `d_k` key width, `d_v` value width,
//! `d_model` model width, `h` query heads, `kv_heads` key/value heads.

mod attend;
mod attention;
mod heads;
mod mask;
mod mask_shape;
mod mask_view;
mod matrix;
mod scoring;
mod shapes;
mod softmax;

pub use attend::attend;
pub use attention::{
    Attention, AttentionSpec, EmptyRow, HeadInput, Scoring, SoftmaxAxis, SoftmaxForm, SoftmaxSpec,
};
pub use heads::{HeadsError, concat_heads, kv_head_of, project, split_heads};
pub use mask::{Convention, Corner, MaskRule};
pub use mask_shape::MaskShapeError;
pub use mask_view::MaskView;
pub use matrix::{Matrix, ShapeError};
pub use scoring::{raw_scores, scale_of, soft_cap};
pub use shapes::HeadShapeError;
pub use softmax::{Normalizer, softmax_row};

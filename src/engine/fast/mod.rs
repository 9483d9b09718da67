//! The same attention, faster: siblings of the plain forms, tested against them. Read the plain ones first.
//!
//! - `stages`: every stage in `f64`;
//! - `output`: the output alone in `f32` or `f64`, in linear memory;
//! - `real`, `lanes`: exponentials, maxima and sums in vector lanes; `product`: matrix products; `view`: inputs where they lie.

mod aligned;
mod block;
mod lanes;
mod output;
mod packed;
mod product;
mod real;
mod rows;
mod stages;
mod view;

pub use output::{OutputError, attend_output};
pub use real::Real;
pub use stages::attend_fast;
pub use view::{HeadView, MatrixView};

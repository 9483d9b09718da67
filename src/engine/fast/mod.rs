//! The same attention, faster: siblings of the plain forms, tested against them. Read the plain ones first.
//!
//! - `stages`: every stage in `f64`, row block after row block; `packed`: K and V as its products want them; `rows`: its softmax;
//! - `output`: the output alone in `f32` or `f64`, in linear memory; `block`: one block of its queries; `lanes`: its softmax;
//! - `product`: matrix products; `real`: the two formats, their vectors and an exponential; `view`: inputs where they lie;
//! - `aligned`: scratch space.

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

/// The instruction sets that this machine can run, down to none.
#[cfg(test)]
fn every_arch() -> Vec<pulp::Arch> {
    let mut all = vec![pulp::Arch::new(), pulp::Arch::Scalar];
    #[cfg(target_arch = "x86_64")]
    all.extend(pulp::x86::V3::try_new().map(pulp::Arch::V3));
    all
}

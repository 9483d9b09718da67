//! Room 4: scenes. From text to a valid [`Scene`] and back, and `evaluate(scene)`.
//!
//! | part | what it does |
//! |---|---|
//! | [`read()`] | text → located tree (`syntax`) → [`SceneSpec`] (`decode`) → [`Scene`] (`judge`: `inputs`, `projection`, `given`, `fit`, `room`, `labels`) |
//! | [`evaluate()`] | [`Scene`] → [`Evaluation`]; [`OutputScene`] → [`Outputs`] where the stages would not fit |
//! | [`write()`], [`rewrite()`] | [`SceneSpec`] → text, fresh or with only the changes in it |
//! | [`Complaint`] | what is wrong, and where in the file |
//! | [`TensorFiles`] | tensor files: bytes in, arrays out |
//!
//! This room does not know pixels. Files reach it as bytes.

pub mod bundled;
mod catalogue;
mod complaint;
mod decode;
mod edits;
mod evaluate;
mod evaluation;
mod fit;
mod given;
mod inputs;
mod judge;
mod labels;
mod layout;
mod mistakes;
mod model;
mod nearest;
mod npy;
mod out;
mod output;
mod positions;
mod projection;
mod random;
mod read;
mod resolve;
mod rewrite;
mod room;
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod scene;
mod sizes;
mod source;
mod stage;
mod syntax;
mod tensors;
mod warnings;

pub use catalogue::{Lesson, catalogue, read_bundled};
pub use complaint::{Complaint, Place, Severity, render_complaint};
pub use evaluate::{checks, checks_with, evaluate, evaluate_with};
pub use evaluation::{AlibiBias, Evaluation, FaultEffect, HeadEvaluation, Unrotated};
pub use model::{
    DropoutSpec, Input, MatrixSource, Orientation, Palette, Position, Projected, SceneSpec, ScoringSpec,
    Stage, Tokens, View,
};
pub use output::{OutputScene, Outputs};
pub use projection::{Projection, Sinusoidal};
pub use read::{named_files, read, read_spec};
pub use rewrite::{Rewritten, rewrite, write};
pub use scene::Scene;
pub use tensors::{FileError, TensorFiles};
pub use warnings::why_not_finite;

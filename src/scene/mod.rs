//! Room 4: scenes. From text to a valid [`Scene`] and back, and `evaluate(scene)`.
//!
//! This room does not know pixels. Files reach it as bytes.

pub mod bundled;
mod evaluation;
mod model;

pub use evaluation::{Evaluation, HeadEvaluation};
pub use model::{
    Input, MatrixSource, Orientation, Palette, Projected, SceneSpec, ScoringSpec, Stage, Tokens, View,
};

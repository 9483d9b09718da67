//! The output of a scene whose stages are not wanted, or would not fit: in memory that grows with the tokens, not with their pairs.

use std::io;
use std::sync::Arc;

use super::evaluate::projected;
use super::positions::prepared;
use super::read::read_by;
use super::room::Keeps;
use super::{Complaint, Scene};
use crate::engine::{HeadView, Matrix, OutputError, Precision, Progress, attend_output, concat_heads};

/// A scene of which only the output is asked.
///
/// Its stages may be too large to be held, so it is a type of its own: it cannot be evaluated. It scores by dot products, with a
/// stable softmax along the keys, in `f64`.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputScene {
    scene: Scene,
}

/// What a scene comes to without its stages.
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs {
    /// The output of each query head, in order. Shape (n_q, d_v).
    pub heads: Vec<Matrix>,
    /// The heads side by side, times W_O plus b_o where the scene has them.
    pub output: Arc<Matrix>,
}

impl OutputScene {
    /// The scene that `text` describes; like [`read`](super::read()), but of any number of pairs.
    ///
    /// # Errors
    /// Every complaint that can be made at once, each with its place, in the order of the file; what needs its stages is one.
    pub fn read(
        text: &str,
        file_bytes: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
    ) -> Result<Self, Vec<Complaint>> {
        read_by(text, file_bytes, |spec, files| Scene::build(spec, files, Keeps::Output))
            .map(|scene| Self { scene })
    }

    /// Query heads.
    pub fn heads(&self) -> usize {
        self.scene.heads()
    }

    /// The KV head that a query head reads, from 0.
    pub fn kv_head_of(&self, query_head: usize) -> usize {
        self.scene.kv_head_of(query_head)
    }

    /// Whether the heads are multiplied by W_O.
    pub fn has_w_o(&self) -> bool {
        self.scene.projection().is_some_and(|projection| projection.w_o.is_some())
    }

    /// Digits after the point that the scene asks for.
    pub fn decimals(&self) -> usize {
        self.scene.spec().view.decimals
    }

    /// The number format; always `f64`, since only that has an output-only form.
    pub fn precision(&self) -> Precision {
        self.scene.spec().precision
    }

    /// One label per query.
    pub fn query_labels(&self) -> &[String] {
        self.scene.query_labels()
    }

    /// What a reader should know though nothing is wrong, as far as it can be known without scores.
    pub fn warnings(&self) -> &[Complaint] {
        self.scene.warnings()
    }

    /// The output of every head, and of the whole. Takes as long as an evaluation, but memory only for inputs and outputs.
    ///
    /// # Errors
    /// [`OutputError::Cancelled`] when `progress` was cancelled before the end.
    pub fn output(&self, progress: &Progress) -> Result<Outputs, OutputError> {
        let prepared = prepared(&self.scene, progress)?;
        let views: Vec<HeadView<'_, f64>> =
            prepared.iter().map(|prepared| HeadView::from(&prepared.input)).collect();
        let made = attend_output(&views, self.scene.attention_spec(), progress)?;
        let (n_q, d_v) = (self.scene.n_q(), self.scene.d_v());
        let of_head = |head: usize| {
            let first = head * n_q * d_v; // the outputs lie one after the other
            Matrix::from_fn(n_q, d_v, |query, feature| made[first + query * d_v + feature])
        };
        let heads: Vec<Matrix> = (0..views.len()).map(of_head).collect();
        let concat = Arc::new(concat_heads(&heads.iter().collect::<Vec<_>>())); // (n_q, heads · d_v)
        Ok(Outputs { output: projected(&self.scene, &concat, progress)?, heads })
    }
}

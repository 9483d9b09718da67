//! A scene that is known to be valid.

use std::sync::{Arc, OnceLock};

use super::complaint::Complaint;
use super::decode::Unread;
use super::given::GivenWeights;
use super::inputs::{Inputs, kv_head_of};
use super::judge::{Judged, judge};
use super::model::{DropoutSpec, Position, SceneSpec};
use super::projection::Projection;
use super::room::Keeps;
use super::tensors::TensorFiles;
use super::warnings;
use crate::engine::{
    AttentionSpec, Cancelled, Dropout, Fault, FaultInForce, HeadInput, MaskRule, Progress, alibi_slopes,
};

/// A scene whose parts are known to fit each other: evaluating it cannot fail.
///
/// Cheap to clone; clones share everything. To change a scene, change a copy of its [`spec`](Self::spec) and make a new
/// scene of it with the same [`files`](Self::files).
#[derive(Clone, Debug)]
pub struct Scene {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    spec: SceneSpec,
    files: TensorFiles,
    inputs: Inputs,
    attention: AttentionSpec,
    query_labels: Vec<String>,
    key_labels: Vec<String>,
    warnings: Vec<Complaint>,
    /// Projected when first asked for; projections of large scenes take time.
    head_inputs: OnceLock<Vec<HeadInput>>,
}

impl Scene {
    /// The scene that `spec` describes, if its parts fit each other. `files` holds the tensor files that it names.
    ///
    /// # Errors
    /// Every complaint that can be made at once, with the field but without a place in a file.
    pub fn new(spec: SceneSpec, files: &TensorFiles) -> Result<Self, Vec<Complaint>> {
        Self::build(spec, files, Keeps::Stages)
    }

    /// A scene whose evaluation keeps so much. One that keeps only its output must not be evaluated.
    pub(super) fn build(spec: SceneSpec, files: &TensorFiles, keeps: Keeps) -> Result<Self, Vec<Complaint>> {
        let Judged { inputs, scoring, labels, mut warnings, complaints } =
            judge(&spec, files, keeps, Unread::default());
        let (Some(mut inputs), Some(scoring), Some((query_labels, key_labels)), []) =
            (inputs, scoring, labels, complaints.as_slice())
        else {
            return Err(complaints);
        };
        if let (Inputs::Projected(projection, _), Position::Sinusoidal) = (&mut inputs, spec.position) {
            projection.add_positions(spec.position_offset);
        }
        let attention = AttentionSpec {
            scoring,
            softcap: spec.softcap,
            mask: mask_of(&spec, inputs.sizes().heads),
            position_offset: spec.position_offset,
            softmax: spec.softmax,
            precision: match &inputs {
                Inputs::Weights(given, _) => given.kept_in,
                Inputs::Heads { .. } | Inputs::Projected(..) => spec.precision,
            },
            sinks: Arc::new(spec.sinks.clone()),
            fault: spec.fault.map(|fault| fault_in_force(fault, &inputs)),
        };
        warnings.extend(warnings::of_spec(&spec, &inputs, &attention));
        let head_inputs = OnceLock::new();
        let files = files.clone();
        let inner = Inner { spec, files, inputs, attention, query_labels, key_labels, warnings, head_inputs };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What the file says.
    pub fn spec(&self) -> &SceneSpec {
        &self.inner.spec
    }

    /// The tensor files that it was made with.
    pub fn files(&self) -> &TensorFiles {
        &self.inner.files
    }

    /// Queries.
    pub fn n_q(&self) -> usize {
        self.inner.inputs.sizes().n_q
    }

    /// Keys.
    pub fn n_k(&self) -> usize {
        self.inner.inputs.sizes().n_k
    }

    /// Width of a key of one head; 0 where only the [weights are given](Self::gives_weights).
    pub fn d_k(&self) -> usize {
        self.inner.inputs.sizes().d_k
    }

    /// Width of a query of one head; differs from `d_k` only under a scorer that joins different widths.
    pub fn d_q(&self) -> usize {
        self.inner.inputs.sizes().d_q
    }

    /// Width of a value of one head; 0 where only the [weights are given](Self::gives_weights).
    pub fn d_v(&self) -> usize {
        self.inner.inputs.sizes().d_v
    }

    /// Query heads.
    pub fn heads(&self) -> usize {
        self.inner.inputs.sizes().heads
    }

    /// Key/value heads; divides [`heads`](Self::heads).
    pub fn kv_heads(&self) -> usize {
        self.inner.inputs.sizes().kv_heads
    }

    /// The KV head that a query head reads: each serves heads / kv_heads **consecutive** query heads, unless the scene makes the
    /// mistake of tiling them.
    pub fn kv_head_of(&self, query_head: usize) -> usize {
        kv_head_of(query_head, self.heads(), self.kv_heads(), self.spec().fault)
    }

    /// Dropout of the weights, where there is any.
    pub fn dropout(&self) -> Option<Dropout> {
        self.spec().dropout.and_then(|DropoutSpec { rate, seed }| Dropout::new(rate, seed).ok())
    }

    /// The same scene without the mistake that it makes on purpose; `None` where it makes none.
    pub fn as_meant(&self) -> Option<Self> {
        self.spec().fault?;
        Self::new(SceneSpec { fault: None, ..self.spec().clone() }, self.files()).ok()
    }

    /// Width of the hidden states; `None` when Q, K and V are given and nothing is projected.
    pub fn d_model(&self) -> Option<usize> {
        self.projection().map(|projection| projection.x.cols())
    }

    /// One label per query: tokens of the scene or of its tensor file, else numbers from 1. Labels may repeat or be empty.
    pub fn query_labels(&self) -> &[String] {
        &self.inner.query_labels
    }

    /// One label per key, as [`query_labels`](Self::query_labels).
    pub fn key_labels(&self) -> &[String] {
        &self.inner.key_labels
    }

    /// Hidden states and weights as matrices; `None` when Q, K and V are given.
    pub fn projection(&self) -> Option<&Projection> {
        match &self.inner.inputs {
            Inputs::Projected(projection, _) => Some(projection),
            Inputs::Heads { .. } | Inputs::Weights(..) => None,
        }
    }

    /// Whether only the weights are known, as they were computed elsewhere: there is no Q, K, V or output, and nothing behind a
    /// weight.
    pub fn gives_weights(&self) -> bool {
        self.given().is_some()
    }

    pub(super) fn given(&self) -> Option<&GivenWeights> {
        match &self.inner.inputs {
            Inputs::Weights(given, _) => Some(given),
            Inputs::Heads { .. } | Inputs::Projected(..) => None,
        }
    }

    /// Q, K and V of each query head as they are given or projected: not yet turned by rotary positions, not yet rounded. What
    /// scores are made of is in the [`evaluation`](super::HeadEvaluation::input). Projected at the first call, which takes time in
    /// large scenes. Without columns where only the weights are given.
    pub fn head_inputs(&self) -> &[HeadInput] {
        match self.head_inputs_with(&Progress::default()) {
            Ok(heads) => heads,
            Err(Cancelled) => unreachable!("nobody else holds this progress"),
        }
    }

    /// [`head_inputs`](Self::head_inputs), stoppable.
    pub(super) fn head_inputs_with(&self, progress: &Progress) -> Result<&[HeadInput], Cancelled> {
        let inner = &self.inner;
        if let Some(heads) = inner.head_inputs.get() {
            return Ok(heads);
        }
        let heads = inner.inputs.head_inputs(inner.spec.fault, progress)?;
        Ok(inner.head_inputs.get_or_init(|| heads))
    }

    /// Rows that an evaluation has to compute: of every head, and of the projections that are not made yet.
    pub(super) fn rows_to_compute(&self) -> usize {
        let (n_q, n_k) = (self.n_q(), self.n_k());
        let of_heads = self.heads().saturating_mul(n_q);
        let Some(projection) = self.projection() else { return of_heads };
        let of_inputs = if self.inner.head_inputs.get().is_none() { n_q + 2 * n_k } else { 0 };
        of_heads + of_inputs + if projection.w_o.is_some() { n_q } else { 0 }
    }

    /// What the engine needs besides Q, K and V. ALiBi is a layer behind those of the scene's mask. Where only the weights are
    /// given, its precision is that of their file, and the rest is unused.
    pub fn attention_spec(&self) -> &AttentionSpec {
        &self.inner.attention
    }

    /// What a reader should know though nothing is wrong, as far as it can be known without evaluating.
    pub fn warnings(&self) -> &[Complaint] {
        &self.inner.warnings
    }

    /// The same scene with its warnings placed in the text that it came from.
    pub(super) fn with_places(mut self, place: impl Fn(&mut Complaint)) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.warnings.iter_mut().for_each(place);
        }
        self
    }
}

/// The layers of the scene, and ALiBi behind them.
fn mask_of(spec: &SceneSpec, heads: usize) -> Vec<MaskRule> {
    let alibi = (spec.position == Position::Alibi).then(|| MaskRule::Alibi(alibi_slopes(heads)));
    spec.mask.iter().cloned().chain(alibi).collect()
}

/// The model that a scene speaks of is as wide as its hidden states or, where it has none, as its queries side by side.
fn fault_in_force(fault: Fault, inputs: &Inputs) -> FaultInForce {
    let d_model = match inputs {
        Inputs::Projected(projection, _) => projection.x.cols(),
        Inputs::Heads { sizes, .. } | Inputs::Weights(_, sizes) => sizes.heads * sizes.d_q,
    };
    FaultInForce { fault, d_model }
}

/// Two scenes are the same when they say the same; what follows from that is the same too.
impl PartialEq for Scene {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner) || self.spec() == other.spec()
    }
}

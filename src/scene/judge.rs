//! Whether the parts of a scene fit each other: every complaint that can be made at once.

use super::complaint::Complaint;
use super::decode::Unread;
use super::inputs::{self, Inputs};
use super::labels::labels;
use super::model::{Input, SceneSpec};
use super::resolve::Resolver;
use super::room::{self, Keeps};
use super::sizes::KnownSizes;
use super::tensors::TensorFiles;
use super::{fit, given};
use crate::engine::Scoring;

/// What came of the parts of a scene. They make a scene if all are there and nothing was complained about.
pub(super) struct Judged {
    pub inputs: Option<Inputs>,
    pub scoring: Option<Scoring>,
    /// One label per query, and one per key.
    pub labels: Option<(Vec<String>, Vec<String>)>,
    pub warnings: Vec<Complaint>,
    pub complaints: Vec<Complaint>,
}

/// Judges what of a scene was read. What is wrong in one part does not keep the others from being judged as far as they stand for
/// themselves.
pub(super) fn judge(spec: &SceneSpec, files: &TensorFiles, keeps: Keeps, unread: Unread) -> Judged {
    let mut resolver = Resolver::new(files);
    let mut known = KnownSizes::default();
    let inputs = if unread.input { None } else { inputs::resolve(&spec.input, &mut known, &mut resolver) };
    if let Some(inputs) = &inputs {
        known = inputs.sizes().into();
    }
    let is_given = matches!(spec.input, Input::Weights { .. });
    // What says how weights are made is judged by its shapes only where weights are made.
    let made_of = if is_given { KnownSizes::default() } else { known };
    let scoring = if unread.scoring { None } else { fit::scoring(&spec.scoring, &made_of, &mut resolver) };
    fit::settings(spec, &mut resolver);
    if is_given {
        given::settings(spec, &mut resolver);
    } else {
        fit::positions(spec, &made_of, unread.input, &mut resolver);
        fit::masks(&spec.mask, &made_of, &mut resolver);
        fit::sinks(&spec.sinks, &made_of, &mut resolver);
    }
    fit::head_shown(spec.view.head, &known, &mut resolver);
    if let (Some(inputs), false) = (&inputs, unread.scoring) {
        room::judge(spec, inputs, keeps, &mut resolver);
    }
    if let (Keeps::Output, Some((field, message))) = (keeps, room::without_output_form(spec)) {
        resolver.complain(field, message);
    }
    let mut warnings = Vec::new();
    let labels = labels(spec, &known, &mut resolver, &mut warnings);
    Judged { inputs, scoring, labels, warnings, complaints: resolver.complaints }
}

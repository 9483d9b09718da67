//! Located tree → [`SceneSpec`], with every complaint at once.
//!
//! A field that is wrong is complained about and skipped, so that the next one gets its turn; the spec comes only when
//! nothing was wrong. Whether the parts fit each other is not asked here but by [`Scene::new`](super::Scene::new).

mod decoder;
mod fault;
mod fields;
mod input;
mod mask;
mod matrix;
mod path;
mod position;
mod scene;

use super::complaint::{Complaint, Place};
use super::model::SceneSpec;
use super::syntax::{self, Tree};
use decoder::Decoder;
pub(super) use fault::fault_name;
pub(super) use matrix::plural;
pub(super) use position::{layout_name, precision_name};
pub(super) use scene::{palette_name, stage_name};

/// What came of a text.
pub(super) struct Decoded {
    /// The spec, where the text is a scene at all. It is what the text says only if there are no complaints.
    pub spec: Option<SceneSpec>,
    /// What of the spec stands empty because it could not be read.
    pub unread: Unread,
    /// The tree, unless the text is so broken that reading stopped.
    pub tree: Option<Tree>,
    /// Every complaint about form and meaning.
    pub complaints: Vec<Complaint>,
}

/// Parts of a spec that have no neutral form: where they could not be read, they must not be judged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unread {
    pub input: bool,
    pub scoring: bool,
}

/// Reads a text as far as it can be read.
pub(super) fn decode(text: &str) -> Decoded {
    let (tree, faults) = syntax::parse(text);
    let fault_complaint = |fault: syntax::Fault| Complaint {
        hint: fault.hint.map(str::to_owned),
        place: Some(Place::of(text, &fault.span)),
        ..Complaint::error("", fault.message)
    };
    let mut complaints: Vec<Complaint> = faults.into_iter().map(fault_complaint).collect();
    let mut decoder = Decoder::new(text);
    let (spec, unread) = match tree.as_ref().and_then(|tree| decoder.scene(&tree.root)) {
        Some((spec, unread)) => (Some(spec), unread),
        None => (None, Unread::default()),
    };
    complaints.append(&mut decoder.complaints);
    Decoded { spec, unread, tree, complaints }
}

/// The spec that a text spells out, and its tree.
///
/// # Errors
/// Every complaint about form and meaning, in order of appearance.
pub(super) fn decode_whole(text: &str) -> Result<(SceneSpec, Tree), Vec<Complaint>> {
    match decode(text) {
        Decoded { spec: Some(spec), tree: Some(tree), complaints, .. } if complaints.is_empty() => {
            Ok((spec, tree))
        }
        Decoded { mut complaints, .. } => {
            in_order(&mut complaints);
            Err(complaints)
        }
    }
}

/// Sorts complaints as they appear in the file; those without a place come first.
pub(super) fn in_order(complaints: &mut [Complaint]) {
    complaints.sort_by_key(|complaint| complaint.place.map(|place| (place.line, place.column)));
}

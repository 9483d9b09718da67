//! Located tree → [`SceneSpec`](super::SceneSpec), with every complaint at once.
//!
//! A field that is wrong is complained about and skipped, so that the next one gets its turn; the spec comes only when
//! nothing was wrong. Whether the parts fit each other is not asked here but by [`Scene::new`](super::Scene::new).

mod decoder;
mod fields;
mod input;
mod mask;
mod matrix;
mod path;
mod scene;

use super::complaint::{Complaint, Place};
use super::model::SceneSpec;
use super::syntax::{self, Tree};
use decoder::Decoder;
pub(super) use matrix::plural;
pub(super) use scene::{palette_name, stage_name};

/// The spec that a text spells out, and its tree.
///
/// # Errors
/// Every complaint about form and meaning, in order of appearance.
pub(super) fn decode(text: &str) -> Result<(SceneSpec, Tree), Vec<Complaint>> {
    let (tree, faults) = syntax::parse(text);
    let mut complaints: Vec<Complaint> = faults
        .into_iter()
        .map(|fault| Complaint {
            hint: fault.hint.map(str::to_owned),
            place: Some(Place::of(text, &fault.span)),
            ..Complaint::error("", fault.message)
        })
        .collect();
    let Some(tree) = tree else { return Err(complaints) };
    let mut decoder = Decoder::new(text);
    let spec = decoder.scene(&tree.root);
    complaints.append(&mut decoder.complaints);
    match spec {
        Some(spec) if complaints.is_empty() => Ok((spec, tree)),
        _ => {
            complaints.sort_by_key(|complaint| complaint.place.map(|place| (place.line, place.column)));
            Err(complaints)
        }
    }
}

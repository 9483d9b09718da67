//! From text to a valid scene.

use std::io;

use super::Scene;
use super::complaint::{Complaint, Place};
use super::decode::{Decoded, Unread, decode, decode_whole, in_order};
use super::judge::judge;
use super::model::{Input, MatrixSource, SceneSpec, ScoringSpec};
use super::room::Keeps;
use super::syntax::{Tree, locate};
use super::tensors::TensorFiles;

/// The scene that `text` describes. `file_bytes` is asked for each tensor file that the scene names, by the path in the
/// scene; where that path leads is the caller's business.
///
/// # Errors
/// Every complaint that can be made at once, each with its place, in the order of the file.
pub fn read(
    text: &str,
    file_bytes: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
) -> Result<Scene, Vec<Complaint>> {
    read_by(text, file_bytes, Scene::new)
}

/// [`read()`] with another way from a spec to a scene.
pub(super) fn read_by(
    text: &str,
    file_bytes: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
    scene_of: impl FnOnce(SceneSpec, &TensorFiles) -> Result<Scene, Vec<Complaint>>,
) -> Result<Scene, Vec<Complaint>> {
    let Decoded { spec, unread, tree, mut complaints } = decode(text);
    let (Some(spec), Some(tree)) = (spec, tree) else {
        in_order(&mut complaints);
        return Err(complaints);
    };
    let files = load_files(&spec, file_bytes);
    let scene = match unread {
        Unread { input: false, scoring: false } => scene_of(spec, &files),
        _ => Err(judge(&spec, &files, Keeps::Stages, unread).complaints),
    };
    match scene {
        Ok(scene) if complaints.is_empty() => {
            return Ok(scene.with_places(|warning| place(warning, text, &tree)));
        }
        Ok(_) => {}
        Err(mut misfits) => {
            misfits.iter_mut().for_each(|complaint| place(complaint, text, &tree));
            complaints.append(&mut misfits);
        }
    }
    in_order(&mut complaints);
    Err(complaints)
}

/// What `text` says, without asking whether its parts fit each other. Most callers want [`read()`].
///
/// # Errors
/// Every complaint about form and meaning, each with its place.
pub fn read_spec(text: &str) -> Result<SceneSpec, Vec<Complaint>> {
    decode_whole(text).map(|(spec, _)| spec)
}

fn place(complaint: &mut Complaint, text: &str, tree: &Tree) {
    let node = locate(&tree.root, text, &complaint.field);
    complaint.place = Some(Place::of(text, &node.span));
}

fn load_files(spec: &SceneSpec, file_bytes: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>) -> TensorFiles {
    let mut files = TensorFiles::new();
    for path in named_files(spec) {
        if files.contains(path) {
            continue;
        }
        match file_bytes(path) {
            // An unusable file is remembered with its reason, and the scene complains at the field that names it.
            Ok(bytes) => drop(files.load(path, bytes)),
            Err(error) => files.mark_unreadable(path, format!("it cannot be read: {error}")),
        }
    }
    files
}

/// The tensor files that a spec names, in the order in which they appear; a path may come twice.
pub fn named_files(spec: &SceneSpec) -> Vec<&str> {
    let mut sources: Vec<&MatrixSource> = Vec::new();
    let mut paths = Vec::new();
    match &spec.input {
        Input::Heads { q, k, v } => sources.extend(q.iter().chain(k).chain(v)),
        Input::Projected(projected) => {
            sources.push(&projected.x);
            sources.extend(&projected.context);
            sources.extend([&projected.w_q, &projected.w_k, &projected.w_v]);
            sources.extend(&projected.w_o);
        }
        Input::Tensors { file, .. } | Input::Weights { file, .. } => paths.push(file.as_str()),
    }
    match &spec.scoring {
        ScoringSpec::ScaledDot | ScoringSpec::Dot | ScoringSpec::Scale(_) => {}
        ScoringSpec::Additive { w_q, w_k, v } => sources.extend([w_q, w_k, v]),
        ScoringSpec::General { w } => sources.push(w),
    }
    paths.extend(sources.into_iter().filter_map(|source| match source {
        MatrixSource::File { path } => Some(path.as_str()),
        _ => None,
    }));
    paths
}

//! A scene by file name or bundled name.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::disk::{self, ReadScene};
use crate::scene::{Complaint, OutputScene, Scene, Severity, bundled, read_bundled, render_complaint};

use super::Failure;

/// Reads a scene file, or the bundled scene of this name where there is no such file.
pub fn read(name: &str) -> ReadScene {
    match bundled::find(name).filter(|_| !Path::new(name).exists()) {
        Some(lesson) => ReadScene { text: lesson.text.into(), result: read_bundled(lesson).map(Arc::new) },
        None => disk::read_scene(Path::new(name)),
    }
}

/// The scene, or every complaint about it.
pub fn scene(name: &str) -> Result<Arc<Scene>, Failure> {
    let ReadScene { text, result } = read(name);
    result.map_err(|complaints| refusal(name, &text, &complaints))
}

/// The scene of which only the output is wanted, or every complaint about it.
pub fn output_scene(name: &str) -> Result<Arc<OutputScene>, Failure> {
    let ReadScene { text, result } = match bundled::find(name).filter(|_| !Path::new(name).exists()) {
        Some(lesson) => {
            let bytes =
                |path: &str| bundled::file(path).map(<[u8]>::to_vec).ok_or(io::ErrorKind::NotFound.into());
            let result = OutputScene::read(lesson.text, &mut { bytes });
            ReadScene { text: lesson.text.into(), result: result.map(Arc::new) }
        }
        None => disk::read_scene_as(Path::new(name), |text, files| OutputScene::read(text, files)),
    };
    result.map_err(|complaints| refusal(name, &text, &complaints))
}

fn refusal(name: &str, text: &str, complaints: &[Complaint]) -> Failure {
    let errors = complaints.iter().filter(|complaint| complaint.severity == Severity::Error);
    let lines: Vec<String> = errors.map(|complaint| render_complaint(name, text, complaint)).collect();
    Failure::Input(lines.join("\n"))
}

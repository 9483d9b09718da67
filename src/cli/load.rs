//! A scene by file name or bundled name.

use std::path::Path;
use std::sync::Arc;

use crate::disk::{self, ReadScene};
use crate::scene::{Scene, Severity, bundled, read_bundled, render_complaint};

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
    result.map_err(|complaints| {
        let lines: Vec<String> = complaints
            .iter()
            .filter(|complaint| complaint.severity == Severity::Error)
            .map(|complaint| render_complaint(name, &text, complaint))
            .collect();
        Failure::Input(lines.join("\n"))
    })
}

//! The bundled scenes as a list to choose from.

use std::io;
use std::sync::OnceLock;

use super::bundled::{self, Bundled};
use super::{Complaint, Scene, read, read_spec};

/// A bundled scene as the list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// The stem of its file name, by which it is opened.
    pub name: &'static str,
    /// Its title.
    pub title: String,
    /// The group it belongs to.
    pub topic: String,
}

/// Every bundled scene with title and topic. Read once, at the first call.
pub fn catalogue() -> &'static [Lesson] {
    static CATALOGUE: OnceLock<Vec<Lesson>> = OnceLock::new();
    CATALOGUE.get_or_init(|| bundled::all().iter().filter_map(lesson).collect())
}

fn lesson(scene: &Bundled) -> Option<Lesson> {
    let spec = read_spec(scene.text).ok()?;
    Some(Lesson { name: scene.name, title: spec.title, topic: spec.topic })
}

/// Reads a bundled scene; the files that it names are compiled in as well.
///
/// # Errors
/// The complaints, were there any; a test reads every bundled scene.
pub fn read_bundled(scene: &Bundled) -> Result<Scene, Vec<Complaint>> {
    read(scene.text, &mut |path| {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "it is not bundled");
        bundled::file(path).map(<[u8]>::to_vec).ok_or_else(missing)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_scene_is_in_the_catalogue() {
        let names: Vec<&str> = catalogue().iter().map(|lesson| lesson.name).collect();
        let all: Vec<&str> = bundled::all().iter().map(|scene| scene.name).collect();
        assert_eq!(names, all);
    }
}

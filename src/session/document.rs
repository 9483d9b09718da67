//! The open scene, where it came from, and whether it differs from what is stored there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::scene::{self, Scene};

/// Where the open scene came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nowhere yet.
    Untitled,
    /// Compiled into the program, by name.
    Bundled(&'static str),
    /// A file.
    File(PathBuf),
}

/// What a new scene starts as.
const UNTITLED: &str = r#"Scene(
    title: "New scene",
    notes: "Click a number of Q, K or V and type. Everything downstream follows.",
    tokens: ["one", "two"],
    input: Heads(
        q: [[[1, 0], [0, 1]]],
        k: [[[1, 0], [0, 1]]],
        v: [[[1, 0], [0, 1]]],
    ),
)
"#;

/// The open scene.
#[derive(Clone, Debug)]
pub struct Document {
    scene: Arc<Scene>,
    origin: Origin,
    /// The text that the scene was read from or last written as; comments and layout live here.
    text: Arc<str>,
    /// The scene as that text has it.
    stored: Arc<Scene>,
}

impl Document {
    /// A scene and the text it was read from.
    pub fn new(scene: Arc<Scene>, origin: Origin, text: Arc<str>) -> Self {
        Self { stored: Arc::clone(&scene), scene, origin, text }
    }

    /// An empty scene to start from: two tokens, two features.
    pub fn untitled() -> Self {
        #[expect(clippy::expect_used, reason = "the text is compiled in and a test opens it")]
        let scene =
            scene::read(UNTITLED, &mut |_| Err(std::io::ErrorKind::NotFound.into())).expect("a valid scene");
        Self::new(Arc::new(scene), Origin::Untitled, UNTITLED.into())
    }

    /// A bundled scene.
    ///
    /// # Errors
    /// A sentence when there is no bundled scene of this name.
    pub fn bundled(name: &str) -> Result<Self, String> {
        let lesson =
            scene::bundled::find(name).ok_or_else(|| format!("no bundled scene is called “{name}”"))?;
        let scene = scene::read_bundled(lesson).map_err(|complaints| {
            complaints.first().map_or_else(|| format!("{name} cannot be read"), ToString::to_string)
        })?;
        Ok(Self::new(Arc::new(scene), Origin::Bundled(lesson.name), lesson.text.into()))
    }

    /// The text as it is stored: on disk, or compiled in.
    pub fn stored_text(&self) -> &Arc<str> {
        &self.text
    }

    /// The scene as it stands.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }

    /// Where it came from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Its file, if it has one.
    pub fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(path) => Some(path),
            Origin::Untitled | Origin::Bundled(_) => None,
        }
    }

    /// The name shown in the title bar.
    pub fn name(&self) -> String {
        match &self.origin {
            Origin::Untitled => "untitled.ron".to_owned(),
            Origin::Bundled(name) => format!("{name}.ron"),
            Origin::File(path) => path
                .file_name()
                .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned()),
        }
    }

    /// Whether the scene differs from what is stored.
    pub fn is_changed(&self) -> bool {
        !Arc::ptr_eq(&self.scene, &self.stored) && self.scene.spec() != self.stored.spec()
    }

    /// The text that saving would write: the stored text with only the changed values replaced, so that comments stay.
    pub fn text_to_save(&self) -> Arc<str> {
        self.rewritten().0
    }

    /// Whether comments of the stored text would be lost by saving. They hardly ever are; the user is asked first.
    pub fn would_lose_comments(&self) -> bool {
        self.rewritten().1
    }

    fn rewritten(&self) -> (Arc<str>, bool) {
        if !self.is_changed() {
            return (Arc::clone(&self.text), false);
        }
        let rewritten = scene::rewrite(&self.text, self.scene.spec());
        (rewritten.text.into(), rewritten.lost_comments)
    }

    pub(super) fn replace_scene(&mut self, scene: Arc<Scene>) {
        self.scene = scene;
    }

    /// The scene was written to `path` as `text`.
    pub(super) fn set_saved(&mut self, path: PathBuf, text: Arc<str>) {
        self.origin = Origin::File(path);
        self.text = text;
        self.stored = Arc::clone(&self.scene);
    }
}

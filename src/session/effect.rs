//! What the shell must do for the session, and what the world answered.

use std::path::PathBuf;
use std::sync::Arc;

use crate::scene::{Complaint, Scene};

use super::{Checked, Derived, FigureExport};

/// Something that only the shell can do: files, dialogs, the clipboard, threads.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask the user which scene to open; answer with [`Event::OpenChosen`].
    AskWhatToOpen,
    /// Ask the user where to write the scene; answer with [`Event::SaveChosen`].
    AskWhereToSave {
        /// The file name offered.
        suggested_name: String,
    },
    /// Ask the user where to write something else, write it, and report with [`Event::Written`] or [`Event::Failed`].
    AskWhereToExport(Export),
    /// Ask the user which file holds a configuration of the calculators, read it, and answer with
    /// [`Event::ConfigurationRead`].
    AskWhichConfiguration,
    /// Read this scene file and answer with [`Event::SceneRead`].
    ReadScene(PathBuf),
    /// Write the scene text, never leaving half a file, and answer with [`Event::Saved`] or [`Event::SaveFailed`].
    WriteScene {
        /// Where.
        path: PathBuf,
        /// The whole text.
        text: Arc<str>,
        /// What the file holds as far as this program knows; where it holds something else, somebody else changed it, and the
        /// answer is [`Event::FoundChanged`]. `None`: the user agreed to write over whatever is there.
        expected: Option<Arc<str>>,
    },
    /// Evaluate away from the frame and answer with [`Event::Derived`], then with [`Event::Checked`]. Whatever is still being
    /// computed is no longer wanted.
    Evaluate {
        /// The revision that the answer belongs to.
        revision: u64,
        /// The scene to evaluate.
        scene: Arc<Scene>,
    },
    /// Run the standing checks away from the frame and answer with [`Event::Checked`]. Whatever is still being computed is no
    /// longer wanted.
    Check(Arc<Derived>),
    /// Stop whatever is being computed away from the frame; nobody waits for an answer.
    StopComputing,
    /// Put a picture of this figure on the clipboard.
    CopyFigure(Arc<FigureExport>),
    /// Put text on the clipboard.
    CopyText(String),
    /// Watch this file for changes from outside (`None`: stop watching).
    Watch(Option<PathBuf>),
    /// Remember this file as recently opened.
    Remember(PathBuf),
    /// Close the window.
    Quit,
}

/// Something to write that is not the scene.
#[derive(Clone, Debug, PartialEq)]
pub enum Export {
    /// A figure.
    Figure(Arc<FigureExport>),
    /// Text, such as a matrix.
    Text {
        /// The file name offered.
        suggested_name: String,
        /// What to write.
        text: String,
    },
}

/// What the world answered.
#[derive(Clone, Debug)]
pub enum Event {
    /// The open dialog closed, with a file or without.
    OpenChosen(Option<PathBuf>),
    /// The save dialog closed, with a file or without.
    SaveChosen(Option<PathBuf>),
    /// A scene file was read.
    SceneRead {
        /// Which.
        path: PathBuf,
        /// Its text as far as it could be read.
        text: Arc<str>,
        /// The scene, or everything that is wrong with it.
        result: Result<Arc<Scene>, Vec<Complaint>>,
    },
    /// A file was read in which a configuration of the calculators should be.
    ConfigurationRead {
        /// Which.
        path: PathBuf,
        /// Its text, or why it could not be read.
        text: Result<String, String>,
    },
    /// The open file changed on disk.
    ChangedOnDisk(PathBuf),
    /// The scene was to be saved, but its file holds something that this program did not write.
    FoundChanged(PathBuf),
    /// The scene was written.
    Saved {
        /// Where.
        path: PathBuf,
        /// What was written.
        text: Arc<str>,
    },
    /// The scene could not be written.
    SaveFailed {
        /// Where.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// An evaluation is done.
    Derived(Arc<Derived>),
    /// The standing checks are done.
    Checked(Arc<Checked>),
    /// Something besides the scene was written.
    Written(PathBuf),
    /// Something besides the scene could not be done; one sentence.
    Failed(String),
    /// Something worth saying happened; one sentence.
    Said(String),
}

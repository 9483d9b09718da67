//! What waits to be seen by the user: each error in one place.

use std::path::PathBuf;
use std::sync::Arc;

use crate::scene::Complaint;

use super::Command;

/// A scene that did not load: shown as a banner where the board would be.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// Its text, to show the line.
    pub text: Arc<str>,
    /// Everything that is wrong with it.
    pub complaints: Vec<Complaint>,
}

/// A short message that passes: shown as a toast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Whether something failed.
    pub is_error: bool,
    /// One sentence.
    pub text: String,
}

/// A question that the user must answer before anything else happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// There are unsaved changes; this command waits for the answer.
    Unsaved {
        /// What the user wanted.
        then: Box<Command>,
    },
    /// The open file changed on disk while there are unsaved changes here.
    ChangedOnDisk(PathBuf),
    /// Saving to this file would lose comments of the scene's text.
    LosesComments(PathBuf),
}

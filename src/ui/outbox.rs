//! What panels ask for while they are drawn; it is done after the frame, in order.

use crate::session::{Command, Edit};

use super::Action;

/// Something that concerns the window, not the scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Take this action.
    Act(Action),
    /// Open this path, as typed by the user.
    OpenTyped(String),
    /// Open the configuration of the calculators at this path, as typed by the user.
    ConfigurationTyped(String),
    /// Save to this path, as typed by the user.
    SaveTyped(String),
    /// Write the waiting export to this path, as typed by the user.
    ExportTyped(String),
    /// The user closed the path field without a path.
    PathCancelled,
    /// Type a path instead of waiting for a file dialog.
    PathInstead,
    /// Forget the list of recent files.
    ClearRecent,
}

/// Commands and wishes in the order in which they were pushed.
#[derive(Debug, Default)]
pub struct Outbox {
    /// For the session.
    pub commands: Vec<Command>,
    /// For the window.
    pub wishes: Vec<Wish>,
}

impl Outbox {
    /// Asks the session for something.
    pub fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Asks for an edit that is a step of its own.
    pub fn edit(&mut self, edit: Edit) {
        self.commands.push(Command::Edit { edit, gesture: 0 });
    }

    /// Asks for an edit that belongs to a gesture; one gesture is one step.
    pub fn edit_in(&mut self, edit: Edit, gesture: u64) {
        self.commands.push(Command::Edit { edit, gesture });
    }

    /// Asks the window for something.
    pub fn wish(&mut self, wish: Wish) {
        self.wishes.push(wish);
    }
}

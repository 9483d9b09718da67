//! What the user wants.

use std::path::PathBuf;
use std::sync::Arc;

use crate::export::{ExportOptions, Format, TableFormat};
use crate::figure::{Drawing, MatrixId, Study};

use super::{Calculate, Edit};

/// One wish of the user's. Menus, keys, scripts and tests all speak these.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Start an empty scene. Asks first if there are unsaved changes.
    New,
    /// Ask which file to open. Asks first if there are unsaved changes.
    Open,
    /// Open this file. Asks first if there are unsaved changes.
    OpenFile(PathBuf),
    /// Open a bundled scene by name. Asks first if there are unsaved changes.
    OpenBundled(&'static str),
    /// Read the open file again, or the bundled scene as it came. Asks first if there are unsaved changes.
    Reload,
    /// Write the scene to its file; a scene without one asks where.
    Save,
    /// Ask where to write the scene.
    SaveAs,
    /// Write the scene to this file and go on working on it there.
    SaveTo(PathBuf),
    /// Close the program. Asks first if there are unsaved changes.
    Quit,
    /// Answer to the question about unsaved changes.
    Answer(Answer),
    /// Change the scene. One gesture is one step of the history.
    Edit {
        /// What to change.
        edit: Edit,
        /// Edits of the same gesture become one step; 0 stands alone.
        gesture: u64,
    },
    /// Take back the last step.
    Undo,
    /// Do the step again that was taken back.
    Redo,
    /// Show this query head, from 0.
    SelectHead(usize),
    /// Keep this query and this key lit, and spell out their arithmetic.
    Pin {
        /// Query, from 0.
        query: usize,
        /// Key, from 0.
        key: usize,
    },
    /// Let go of the pinned cell.
    Unpin,
    /// Fill the centre with one matrix, or show the whole board again.
    Focus(Option<MatrixId>),
    /// Show another figure in the centre.
    Show(Centre),
    /// Ask the calculators something.
    Calculate(Calculate),
    /// Ask where, then write this figure.
    ExportFigure(Arc<FigureExport>),
    /// Put this figure on the clipboard as a picture.
    CopyFigure(Arc<FigureExport>),
    /// Put one matrix on the clipboard as text.
    CopyMatrix {
        /// Which matrix of the head on screen.
        matrix: MatrixId,
        /// In which notation.
        format: TableFormat,
    },
    /// Ask where, then write one matrix as text.
    ExportMatrix {
        /// Which matrix of the head on screen.
        matrix: MatrixId,
        /// In which notation.
        format: TableFormat,
    },
    /// Put text on the clipboard.
    CopyText(String),
    /// Stop the evaluation that is under way. The board goes on showing what it showed before; nothing else changes.
    StopEvaluation,
    /// Evaluate the scene after all, whose evaluation was stopped.
    Evaluate,
    /// Go back from a scene that did not load to the last good one.
    DismissProblem,
    /// Tell the user something in one sentence.
    Say(String),
}

/// What fills the centre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Centre {
    /// The stages of one head.
    #[default]
    Board,
    /// How Q, K and V come from X.
    Projections,
    /// The weights of every head, and how the heads are put together.
    Heads,
    /// What positions do to Q and K, to X, or to the scores.
    Positions,
    /// A closer look at the head on screen.
    Study(Study),
    /// The calculators.
    Calculators,
}

/// A figure on its way out.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureExport {
    /// What to write.
    pub drawing: Arc<Drawing>,
    /// As what.
    pub format: Format,
    /// Size, resolution, ground, text.
    pub options: ExportOptions,
    /// The file name offered.
    pub suggested_name: String,
}

/// Answer to the question about unsaved changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Save, then go on. If saving fails or is cancelled, nothing is lost and nothing else happens.
    Save,
    /// Throw the changes away and go on.
    Discard,
    /// Stay.
    Cancel,
}

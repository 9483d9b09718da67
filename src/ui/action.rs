//! Everything that a menu entry or a key can do, with its text: menus, shortcuts and the list of keys all read this.

use crate::figure::Study;
use crate::session::{Centre, Command, Session};

/// One entry of the menus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Start an empty scene.
    New,
    /// Ask which file to open.
    Open,
    /// Type the path of a file to open.
    OpenPath,
    /// Write the scene to its file.
    Save,
    /// Ask where to write the scene.
    SaveAs,
    /// Read the file again.
    Reload,
    /// Open the export dialog.
    Export,
    /// Put the figure in the centre on the clipboard.
    CopyFigure,
    /// Close the program.
    Quit,
    /// Take back the last step.
    Undo,
    /// Do it again.
    Redo,
    /// Show or hide the left panel.
    ToggleScenes,
    /// Show or hide the right panel.
    ToggleInspector,
    /// Show or hide the notes.
    ToggleNotes,
    /// Hide all panels for a lecture, or bring them back.
    Present,
    /// Fill the screen.
    FullScreen,
    /// Light or dark.
    ToggleTheme,
    /// Scores, weights and output only.
    ThreeStages,
    /// All five stages.
    FiveStages,
    /// The stages of one head.
    ShowBoard,
    /// How Q, K and V come from X.
    ShowProjections,
    /// What positions do.
    ShowPositions,
    /// Every head side by side.
    ShowHeads,
    /// A closer look at the head on screen.
    ShowStudy(Study),
    /// The calculators in the centre.
    ShowCalculators,
    /// The next query head.
    NextHead,
    /// The query head before.
    PreviousHead,
    /// The next bundled scene.
    NextScene,
    /// The bundled scene before.
    PreviousScene,
    /// Go to the field that filters the scene list.
    FindScene,
    /// Let go of the pinned cell.
    Unpin,
    /// Write the notes.
    EditNotes,
    /// Labels, positions, widths and heads.
    EditTokens,
    /// Colour each query's weights up to its own largest one.
    WeightsPerRow,
    /// Fit the figure into the centre.
    ZoomFit,
    /// Panels, sizes and zoom as they were at the first start.
    RevertView,
    /// The list of keys.
    Shortcuts,
    /// Version and licences.
    About,
}

impl Action {
    /// Every action.
    pub const ALL: &'static [Self] = &[
        Self::New,
        Self::Open,
        Self::OpenPath,
        Self::Save,
        Self::SaveAs,
        Self::Reload,
        Self::Export,
        Self::CopyFigure,
        Self::Quit,
        Self::Undo,
        Self::Redo,
        Self::ToggleScenes,
        Self::ToggleInspector,
        Self::ToggleNotes,
        Self::Present,
        Self::FullScreen,
        Self::ToggleTheme,
        Self::ThreeStages,
        Self::FiveStages,
        Self::ShowBoard,
        Self::ShowProjections,
        Self::ShowHeads,
        Self::ShowPositions,
        Self::ShowStudy(Study::Formats),
        Self::ShowStudy(Study::Tiles),
        Self::ShowStudy(Study::Decoding),
        Self::ShowStudy(Study::Gradients),
        Self::ShowStudy(Study::Linear),
        Self::ShowCalculators,
        Self::NextHead,
        Self::PreviousHead,
        Self::NextScene,
        Self::PreviousScene,
        Self::FindScene,
        Self::Unpin,
        Self::EditNotes,
        Self::EditTokens,
        Self::WeightsPerRow,
        Self::ZoomFit,
        Self::RevertView,
        Self::Shortcuts,
        Self::About,
    ];

    /// The text of the menu entry.
    pub fn text(self) -> &'static str {
        match self {
            Self::New => "New scene",
            Self::Open => "Open…",
            Self::OpenPath => "Open a path…",
            Self::Save => "Save",
            Self::SaveAs => "Save as…",
            Self::Reload => "Reload",
            Self::Export => "Export figure…",
            Self::CopyFigure => "Copy figure",
            Self::Quit => "Quit",
            Self::Undo => "Undo",
            Self::Redo => "Redo",
            Self::ToggleScenes => "Scenes and settings",
            Self::ToggleInspector => "Inspector and calculators",
            Self::ToggleNotes => "Notes",
            Self::Present => "Present",
            Self::FullScreen => "Full screen",
            Self::ToggleTheme => "Switch light and dark",
            Self::ThreeStages => "Scores, weights, output",
            Self::FiveStages => "All five stages",
            Self::ShowBoard => "Board",
            Self::ShowProjections => "Projections",
            Self::ShowHeads => "All heads",
            Self::ShowPositions => "Positions",
            Self::ShowStudy(study) => study.label(),
            Self::ShowCalculators => "Calculators",
            Self::NextHead => "Next head",
            Self::PreviousHead => "Previous head",
            Self::NextScene => "Next scene",
            Self::PreviousScene => "Previous scene",
            Self::FindScene => "Find a scene",
            Self::Unpin => "Unpin",
            Self::EditNotes => "Title and notes…",
            Self::EditTokens => "Tokens and sizes…",
            Self::WeightsPerRow => "Colour weights row by row",
            Self::ZoomFit => "Fit the figure",
            Self::RevertView => "Reset the layout",
            Self::Shortcuts => "Keyboard",
            Self::About => "About Qkv",
        }
    }

    /// Whether the action can be taken now.
    pub fn is_enabled(self, session: &Session) -> bool {
        match self {
            Self::Undo => session.can_undo(),
            Self::Redo => session.can_redo(),
            Self::Unpin => session.pin().is_some(),
            Self::ShowProjections => session.has_projections(),
            Self::ShowPositions => session.has_positions(),
            Self::ShowStudy(study) => !session.gives_weights() || !study.needs_inputs(),
            Self::ThreeStages | Self::FiveStages => !session.gives_weights(),
            Self::NextHead | Self::PreviousHead | Self::ShowHeads => session.scene().heads() > 1,
            _ => true,
        }
    }

    /// Keys that a focused text field needs for itself.
    pub fn belongs_to_text_fields(self) -> bool {
        matches!(self, Self::Undo | Self::Redo)
    }

    /// The command behind the action, where it is one; the rest concerns the window alone.
    pub fn command(self, session: &Session) -> Option<Command> {
        let n_heads = session.scene().heads().max(1);
        Some(match self {
            Self::New => Command::New,
            Self::Open => Command::Open,
            Self::Save => Command::Save,
            Self::SaveAs => Command::SaveAs,
            Self::Reload => Command::Reload,
            Self::Quit => Command::Quit,
            Self::Undo => Command::Undo,
            Self::Redo => Command::Redo,
            Self::ShowBoard => Command::Show(Centre::Board),
            Self::ShowProjections => Command::Show(Centre::Projections),
            Self::ShowHeads => Command::Show(Centre::Heads),
            Self::ShowPositions => Command::Show(Centre::Positions),
            Self::ShowStudy(study) => Command::Show(Centre::Study(study)),
            Self::ShowCalculators => Command::Show(Centre::Calculators),
            Self::NextHead => Command::SelectHead((session.head() + 1) % n_heads),
            Self::PreviousHead => Command::SelectHead((session.head() + n_heads - 1) % n_heads),
            Self::Unpin => Command::Unpin,
            _ => return None,
        })
    }
}

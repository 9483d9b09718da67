//! Actions that concern the window alone.

use egui::{Context, ViewportCommand};

use crate::scene::{Stage, bundled};
use crate::session::{Command, Edit, Origin, Session};

use super::dialogs::Dialog;
use super::export_dialog::ExportState;
use super::{Action, Layout, Outbox, UiState, stage_switch};

/// Takes an action that is no command of the session's.
pub fn act(action: Action, ctx: &Context, session: &Session, state: &mut UiState, out: &mut Outbox) {
    match action {
        Action::Export => {
            state.dialog = Some(Dialog::Export(ExportState::new(super::figures::in_centre(session))));
        }
        Action::CopyFigure => out.push(state.figures.copy_command(session)),
        Action::ToggleScenes => state.layout.scenes = !state.layout.scenes,
        Action::ToggleInspector => state.layout.inspector = !state.layout.inspector,
        Action::ToggleNotes => state.layout.notes = !state.layout.notes,
        Action::Present => state.layout.presenting = !state.layout.presenting,
        Action::FullScreen => {
            let full = ctx.input(|input| input.viewport().fullscreen.unwrap_or(false));
            ctx.send_viewport_cmd(ViewportCommand::Fullscreen(!full));
        }
        Action::ToggleTheme => ctx.set_theme(match ctx.theme() {
            egui::Theme::Dark => egui::ThemePreference::Light,
            egui::Theme::Light => egui::ThemePreference::Dark,
        }),
        Action::ThreeStages => out.edit(Edit::SetStages(stage_switch::three(session.scene()).to_vec())),
        Action::FiveStages => {
            state.board.insist_on_five = true;
            out.edit(Edit::SetStages(Stage::ALL.to_vec()));
        }
        Action::NextScene => open_neighbour(session, out, 1),
        Action::PreviousScene => open_neighbour(session, out, -1),
        Action::FindScene => {
            state.layout.scenes = true;
            state.layout.presenting = false;
            state.focus_search = true;
        }
        Action::EditNotes => {
            let spec = session.document().scene().spec();
            state.dialog = Some(Dialog::Notes { title: spec.title.clone(), notes: spec.notes.clone() });
        }
        Action::EditTokens => state.dialog = Some(Dialog::Tokens),
        Action::WeightsPerRow => state.figures.weights_per_row = !state.figures.weights_per_row,
        Action::ZoomFit => state.board.zoom = None,
        Action::RevertView => {
            state.layout = Layout::default();
            state.board.zoom = None;
            ctx.set_zoom_factor(1.0);
            // Panel sizes live in egui's memory; forgetting them brings the defaults back.
            ctx.memory_mut(|memory| memory.data.remove_by_type::<egui::containers::panel::PanelState>());
        }
        Action::Shortcuts => state.dialog = Some(Dialog::Shortcuts),
        Action::About => state.dialog = Some(Dialog::About),
        // The rest are commands of the session's, or need the file system.
        _ => {}
    }
}

/// Opens the bundled scene before or after the open one; at either end it goes round.
fn open_neighbour(session: &Session, out: &mut Outbox, step: isize) {
    let lessons = bundled::all();
    if lessons.is_empty() {
        return;
    }
    let present =
        lessons.iter().position(|lesson| *session.document().origin() == Origin::Bundled(lesson.name));
    let n_lessons = lessons.len() as isize;
    let next = present.map_or(0, |index| (index as isize + step).rem_euclid(n_lessons) as usize);
    out.push(Command::OpenBundled(lessons[next].name));
}

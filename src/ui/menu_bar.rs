//! The menu bar: every command with its keys, the document's name, and the theme.

use egui::{Button, MenuBar, RichText, Ui, containers::menu::SubMenuButton};

use crate::figure::Study;
use crate::session::{Command, Session};

use super::style::Colors;
use super::{Action, Outbox, UiState, Wish, computing, shortcuts};

/// The entries of each menu; `None` is a rule.
const MENUS: &[(&str, &[Option<Action>])] = &[
    (
        "Edit",
        &[
            Some(Action::Undo),
            Some(Action::Redo),
            None,
            Some(Action::EditTokens),
            Some(Action::EditNotes),
            Some(Action::Unpin),
            None,
            Some(Action::FindScene),
        ],
    ),
    (
        "View",
        &[
            Some(Action::ShowBoard),
            Some(Action::ShowProjections),
            Some(Action::ShowHeads),
            Some(Action::ShowPositions),
            Some(Action::ShowCalculators),
            None,
            Some(Action::ThreeStages),
            Some(Action::FiveStages),
            Some(Action::WeightsPerRow),
            Some(Action::ZoomFit),
            None,
            Some(Action::ToggleScenes),
            Some(Action::ToggleInspector),
            Some(Action::ToggleNotes),
            None,
            Some(Action::Present),
            Some(Action::FullScreen),
            Some(Action::ToggleTheme),
            Some(Action::RevertView),
        ],
    ),
    (
        "Scene",
        &[
            Some(Action::PreviousScene),
            Some(Action::NextScene),
            None,
            Some(Action::PreviousHead),
            Some(Action::NextHead),
        ],
    ),
    ("Export", &[Some(Action::Export), Some(Action::CopyFigure)]),
    ("Help", &[Some(Action::Shortcuts), Some(Action::About)]),
];

/// Draws the bar.
pub fn show(ui: &mut Ui, session: &Session, state: &UiState, out: &mut Outbox) {
    MenuBar::new().ui(ui, |ui| {
        ui.menu_button("File", |ui| file_menu(ui, session, state, out));
        for (title, entries) in MENUS {
            ui.menu_button(*title, |ui| {
                ui.set_min_width(220.0);
                for item in *entries {
                    match item {
                        Some(action) => entry(ui, *action, session, out),
                        None => {
                            ui.separator();
                        }
                    }
                    if *item == Some(Action::ShowPositions) {
                        closer_looks(ui, session, out);
                    }
                }
                if *title == "Export" {
                    super::export_dialog::matrix_menus(ui, session, out);
                }
            });
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            theme_menu(ui);
            document_name(ui, session, state);
        });
    });
}

fn closer_looks(ui: &mut Ui, session: &Session, out: &mut Outbox) {
    SubMenuButton::new("Closer looks").ui(ui, |ui| {
        ui.set_min_width(200.0);
        for study in Study::ALL {
            entry(ui, Action::ShowStudy(study), session, out);
        }
    });
}

fn file_menu(ui: &mut Ui, session: &Session, state: &UiState, out: &mut Outbox) {
    ui.set_min_width(220.0);
    for action in [Action::New, Action::Open, Action::OpenPath] {
        entry(ui, action, session, out);
    }
    SubMenuButton::new("Open recent").ui(ui, |ui| {
        ui.set_min_width(260.0);
        if state.recent.is_empty() {
            ui.label("No files yet");
        }
        for (index, path) in state.recent.iter().enumerate() {
            let present = state.recent_present.get(index).copied().unwrap_or(false);
            let name = path
                .file_name()
                .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
            let button = ui.add_enabled(present, Button::new(name));
            if button.on_hover_text(path.display().to_string()).clicked() {
                out.push(Command::OpenFile(path.clone()));
            }
        }
        if !state.recent.is_empty() {
            ui.separator();
            if ui.button("Clear the list").clicked() {
                out.wish(Wish::ClearRecent);
            }
        }
    });
    ui.separator();
    for action in [Action::Save, Action::SaveAs, Action::Reload] {
        entry(ui, action, session, out);
    }
    ui.separator();
    entry(ui, Action::Export, session, out);
    ui.separator();
    entry(ui, Action::Quit, session, out);
}

fn entry(ui: &mut Ui, action: Action, session: &Session, out: &mut Outbox) {
    let mut button = Button::new(action.text());
    if let Some(keys) = shortcuts::keys_of(action).first() {
        button = button.shortcut_text(ui.ctx().format_shortcut(keys));
    }
    if ui.add_enabled(action.is_enabled(session), button).clicked() {
        out.wish(Wish::Act(action));
    }
}

/// Light, dark or as the system says. The same choice for the whole program.
fn theme_menu(ui: &mut Ui) {
    let preference = ui.ctx().options(|options| options.theme_preference);
    let name = |preference| match preference {
        egui::ThemePreference::System => "System",
        egui::ThemePreference::Light => "Light",
        egui::ThemePreference::Dark => "Dark",
    };
    let text = RichText::new(name(preference)).color(Colors::in_use(ui).muted);
    ui.menu_button(text, |ui| {
        for choice in
            [egui::ThemePreference::Light, egui::ThemePreference::Dark, egui::ThemePreference::System]
        {
            if ui.selectable_label(choice == preference, name(choice)).clicked() {
                ui.ctx().set_theme(choice);
                ui.close();
            }
        }
    })
    .response
    .on_hover_text("Theme of the window; exports have their own");
}

fn document_name(ui: &mut Ui, session: &Session, state: &UiState) {
    let document = session.document();
    let mark = if document.is_changed() { " •" } else { "" };
    let text = format!("{}{mark}", document.name());
    let response = ui.label(RichText::new(text).color(Colors::in_use(ui).muted));
    if document.is_changed() {
        response.on_hover_text("There are unsaved changes");
    }
    if let Some(percentage) = computing::percentage(state) {
        let text = RichText::new(percentage).small().color(Colors::in_use(ui).accent);
        ui.label(text).on_hover_text("The scene is being evaluated");
    }
}

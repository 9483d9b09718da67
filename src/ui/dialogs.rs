//! Dialogs: unsaved changes, a path to type, title and notes, the list of keys, about.

use egui::{Grid, Key, RichText, ScrollArea, TextEdit, Ui};

use crate::session::{Answer, Command, Edit, Question, Session};

use super::export_dialog::ExportState;
use super::style::{Colors, bold};
use super::{Action, Outbox, UiState, Wish, export_dialog, shortcuts, widgets};

/// The open dialog.
#[derive(Clone, Debug, PartialEq)]
pub enum Dialog {
    /// A path to type, where no file dialog can be had or none is wanted.
    Path(PathField),
    /// Title and notes of the scene.
    Notes {
        /// The title as typed so far.
        title: String,
        /// The notes as typed so far.
        notes: String,
    },
    /// Format, size and preview of a figure.
    Export(ExportState),
    /// Labels, positions, widths and heads.
    Tokens,
    /// The list of keys.
    Shortcuts,
    /// Version and licences.
    About,
}

/// A path being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathField {
    /// What the path is for.
    pub purpose: PathPurpose,
    /// What has been typed so far.
    pub text: String,
    /// Why the field is shown, where the user did not ask for it.
    pub reason: Option<String>,
}

/// What a typed path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathPurpose {
    /// A scene to open.
    Open,
    /// A configuration of the calculators to open.
    Configuration,
    /// Where to save the scene.
    Save,
    /// Where to write an export.
    Export,
}

/// Draws the question that must be answered first, or else the open dialog.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    if let Some(question) = session.question() {
        unsaved(ui, session, question, out);
        return;
    }
    let Some(dialog) = state.dialog.take() else { return };
    let kept = match dialog {
        Dialog::Path(field) => path_field(ui, field, out).map(Dialog::Path),
        Dialog::Notes { title, notes } => notes_editor(ui, title, notes, out),
        Dialog::Export(export) => export_dialog::show(ui, session, state, export, out).map(Dialog::Export),
        Dialog::Tokens => super::tokens_dialog::show(ui, session, state, out).then_some(Dialog::Tokens),
        Dialog::Shortcuts => keys(ui).then_some(Dialog::Shortcuts),
        Dialog::About => about(ui).then_some(Dialog::About),
    };
    // An action taken inside the dialog may have opened another one.
    state.dialog = state.dialog.take().or(kept);
}

/// A line that offers the path field while a file dialog has not answered.
pub fn slow(ui: &Ui, out: &mut Outbox) {
    let area = egui::Area::new(egui::Id::unique("slow dialog"))
        .anchor(egui::Align2::CENTER_TOP, egui::vec2(0.0, 44.0));
    area.show(ui.ctx(), |ui| {
        egui::Frame::popup(ui.style()).show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.label("Waiting for the file dialog.");
                if ui.button("Type a path instead").clicked() {
                    out.wish(Wish::PathInstead);
                }
            });
        });
    });
}

fn heading(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).family(bold()).size(16.0));
    ui.add_space(6.0);
}

fn unsaved(ui: &Ui, session: &Session, question: &Question, out: &mut Outbox) {
    let name = session.document().name();
    let response = widgets::modal(ui, "unsaved changes").show(ui.ctx(), |ui| {
        ui.set_width(400.0);
        let mut detail = "If you discard them, the changes since the last save are lost.";
        let (title, save, discard) = match question {
            Question::LosesComments(_) => {
                detail = "The text of the scene has comments that cannot be kept. Save under another name to keep the old text.";
                (format!("Save {name} without its comments?"), "Save all the same", "")
            }
            Question::Unsaved { .. } => (format!("Save the changes to {name}?"), "Save", "Discard"),
            Question::ChangedOnDisk(_) => (
                format!("{name} was changed by another program, and here as well"),
                "Keep mine and save",
                "Load theirs",
            ),
        };
        heading(ui, &title);
        ui.label(detail);
        ui.add_space(12.0);
        ui.horizontal(|ui| {
            for (text, answer) in
                [(save, Answer::Save), (discard, Answer::Discard), ("Cancel", Answer::Cancel)]
            {
                if text.is_empty() {
                    continue;
                }
                let button = ui.button(text);
                if answer == Answer::Save && ui.memory(|memory| memory.focused().is_none()) {
                    button.request_focus();
                }
                if button.clicked() {
                    out.push(Command::Answer(answer));
                }
            }
        });
    });
    if response.should_close() {
        out.push(Command::Answer(Answer::Cancel));
    }
}

fn path_field(ui: &Ui, mut field: PathField, out: &mut Outbox) -> Option<PathField> {
    let mut done = false;
    let response = widgets::modal(ui, "path field").show(ui.ctx(), |ui| {
        ui.set_width(520.0);
        let (title, button) = match field.purpose {
            PathPurpose::Open => ("Open a scene by its path", "Open"),
            PathPurpose::Configuration => ("Open a configuration by its path", "Open"),
            PathPurpose::Save => ("Save the scene to a path", "Save"),
            PathPurpose::Export => ("Write to a path", "Write"),
        };
        heading(ui, title);
        if let Some(reason) = &field.reason {
            ui.label(RichText::new(reason).color(Colors::in_use(ui).muted));
            ui.add_space(4.0);
        }
        let edit = ui.add(
            TextEdit::singleline(&mut field.text)
                .hint_text("/home/me/lecture.ron")
                .desired_width(f32::INFINITY),
        );
        edit.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Path"));
        // Asked before the focus is asked back, which makes the loss unseen.
        let entered = edit.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        if ui.memory(|memory| memory.focused().is_none()) {
            edit.request_focus();
        }
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let ready = !field.text.trim().is_empty();
            if ui.add_enabled(ready, egui::Button::new(button)).clicked() || (entered && ready) {
                let path = field.text.trim().to_owned();
                out.wish(match field.purpose {
                    PathPurpose::Open => Wish::OpenTyped(path),
                    PathPurpose::Configuration => Wish::ConfigurationTyped(path),
                    PathPurpose::Save => Wish::SaveTyped(path),
                    PathPurpose::Export => Wish::ExportTyped(path),
                });
                done = true;
            }
            if ui.button("Cancel").clicked() {
                out.wish(Wish::PathCancelled);
                done = true;
            }
        });
    });
    if response.should_close() && !done {
        out.wish(Wish::PathCancelled);
        done = true;
    }
    (!done).then_some(field)
}

fn notes_editor(ui: &Ui, mut title: String, mut notes: String, out: &mut Outbox) -> Option<Dialog> {
    let mut done = false;
    let response = widgets::modal(ui, "notes editor").show(ui.ctx(), |ui| {
        ui.set_width(620.0);
        heading(ui, "Title and notes");
        let field = ui.add(TextEdit::singleline(&mut title).desired_width(f32::INFINITY));
        field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Title"));
        ui.add_space(4.0);
        ui.label(RichText::new("Notes, in Markdown").small().color(Colors::in_use(ui).muted));
        ScrollArea::vertical().max_height(340.0).show(ui, |ui| {
            let field = ui.add(TextEdit::multiline(&mut notes).desired_rows(14).desired_width(f32::INFINITY));
            field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Notes"));
        });
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            if ui.button("Apply").clicked() {
                out.edit(Edit::SetTitle(title.clone()));
                out.edit(Edit::SetNotes(notes.clone()));
                done = true;
            }
            if ui.button("Cancel").clicked() {
                done = true;
            }
        });
    });
    let open = !done && !response.should_close();
    open.then_some(Dialog::Notes { title, notes })
}

fn keys(ui: &Ui) -> bool {
    let mut open = true;
    let response = widgets::modal(ui, "keys").show(ui.ctx(), |ui| {
        ui.set_width(560.0);
        heading(ui, "Keyboard");
        ScrollArea::vertical().max_height(460.0).show(ui, |ui| {
            Grid::new("keys").num_columns(2).spacing([28.0, 4.0]).show(ui, |ui| {
                for action in Action::ALL {
                    let keys: Vec<String> = shortcuts::keys_of(*action)
                        .iter()
                        .map(|keys| ui.ctx().format_shortcut(keys))
                        .collect();
                    if !keys.is_empty() {
                        row(ui, &keys.join("  or  "), action.text().trim_end_matches('…'));
                    }
                }
                for (keys, what) in CELL_KEYS {
                    row(ui, keys, what);
                }
            });
        });
        ui.add_space(8.0);
        if ui.button("Close").clicked() {
            open = false;
        }
    });
    open && !response.should_close()
}

/// Keys that act on the selected cell.
const CELL_KEYS: &[(&str, &str)] = &[
    ("click", "Select a cell; in the scores and weights also pin it"),
    ("double-click", "Fill the centre with one matrix"),
    ("arrows", "Move to the next cell"),
    ("a digit, F2 or Enter", "Edit the number of Q, K, V, X or a weight"),
    ("Alt+↑  Alt+↓", "Add or take a tenth"),
    ("Delete", "Set the number to 0"),
    ("Ctrl+C  Ctrl+V", "Copy the matrix; paste a block from a spreadsheet"),
    ("Ctrl+wheel", "Zoom the figure"),
    ("Esc", "Close one layer: enlarged matrix, selection, pin"),
];

fn row(ui: &mut Ui, keys: &str, what: &str) {
    ui.label(RichText::new(keys).family(bold()));
    ui.label(what);
    ui.end_row();
}

fn about(ui: &Ui) -> bool {
    let mut open = true;
    let response = widgets::modal(ui, "about").show(ui.ctx(), |ui| {
        ui.set_width(460.0);
        heading(ui, &format!("Qkv {}", env!("CARGO_PKG_VERSION")));
        ui.label("For teaching and learning attention: scenes in, every number explained, figures out.");
        ui.add_space(6.0);
        ui.label("Licensed MIT or Apache-2.0, as you like.");
        ui.label(
            "Typefaces: Inter (OFL), DejaVu (Bitstream Vera licence), KaTeX fonts (OFL), Noto Emoji (OFL).",
        );
        ui.label("Q, K and V of the two bank sentences come from all-MiniLM-L6-v2 (Apache-2.0).");
        ui.add_space(8.0);
        if ui.button("Close").clicked() {
            open = false;
        }
    });
    open && !response.should_close()
}

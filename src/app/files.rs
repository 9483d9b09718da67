//! Where files come from and go to: dialogs, the path field in their place, and exports.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::disk;
use crate::session::{Event, Export};
use crate::ui::{Dialog, PathField, PathPurpose, ToastKind};

use super::dialogs::{Outcome, Pending, Purpose, Request};
use super::shell::{App, with_extension};

impl App {
    /// Opens a file dialog, or the path field where none can be had.
    pub(super) fn ask(&mut self, purpose: Purpose, file_name: &str, frame: Option<&eframe::Frame>) {
        if self.world.dialog.is_some() {
            self.toasts.push(ToastKind::Done, "A file dialog is already open");
            return;
        }
        let folder = match &purpose {
            Purpose::Export(_) | Purpose::Configuration => self.settings.export_folder.clone(),
            Purpose::Open | Purpose::Save => self.settings.scene_folder.clone(),
        };
        let request = Request { folder: folder.as_deref(), file_name };
        let wake = self.world.wake.clone();
        let opened = match frame {
            Some(frame) => Pending::open(purpose.clone(), &request, frame, move || wake.request_repaint()),
            None => Err("There is no window to show a file dialog for.".to_owned()),
        };
        match opened {
            Ok(pending) => {
                self.world.dialog = Some(pending);
                // Wakes the frame that offers a path field, should the dialog never answer.
                self.world.wake.request_repaint_after(super::dialogs::PATIENCE + Duration::from_millis(100));
            }
            Err(reason) => self.offer_path(purpose, Some(reason), file_name),
        }
    }

    pub(super) fn offer_path(&mut self, purpose: Purpose, reason: Option<String>, file_name: &str) {
        let folder = match &purpose {
            Purpose::Export(_) | Purpose::Configuration => self.settings.export_folder.clone(),
            Purpose::Open | Purpose::Save => self.settings.scene_folder.clone(),
        };
        let text = folder
            .map_or_else(|| file_name.to_owned(), |folder| folder.join(file_name).display().to_string());
        let path_purpose = match purpose {
            Purpose::Open => PathPurpose::Open,
            Purpose::Configuration => PathPurpose::Configuration,
            Purpose::Save => PathPurpose::Save,
            Purpose::Export(export) => {
                self.world.waiting_export = Some(export);
                PathPurpose::Export
            }
        };
        self.ui.dialog = Some(Dialog::Path(PathField { purpose: path_purpose, text, reason }));
    }

    /// Whether a typed path may be written. A file that exists is replaced only when the user says so again, as file dialogs
    /// ask; the scene's own file needs no question.
    pub(super) fn may_write(&mut self, path: &Path, purpose: PathPurpose) -> bool {
        let own = purpose == PathPurpose::Save && self.session.document().path() == Some(path);
        if own || !path.exists() || self.world.replace.as_deref() == Some(path) {
            self.world.replace = None;
            return true;
        }
        self.world.replace = Some(path.to_owned());
        let reason =
            Some("This file exists. Confirm once more to replace it, or type another path.".to_owned());
        self.ui.dialog = Some(Dialog::Path(PathField { purpose, text: path.display().to_string(), reason }));
        false
    }

    pub(super) fn poll_dialog(&mut self, frame: Option<&eframe::Frame>) {
        let Some(pending) = &self.world.dialog else { return };
        let outcome = match pending.poll() {
            Some(outcome) => outcome,
            None if pending.is_slow() && self.ui.dialog.is_none() => {
                // The dialog may be standing open; the field is only an offer beside it.
                self.ui.slow_dialog = true;
                return;
            }
            None => return,
        };
        self.ui.slow_dialog = false;
        let Some(Pending { purpose, .. }) = self.world.dialog.take() else { return };
        match (outcome, purpose) {
            (Outcome::Chosen(path), Purpose::Open) => self.handle(Event::OpenChosen(Some(path)), frame),
            (Outcome::Chosen(path), Purpose::Configuration) => self.read_configuration(path, frame),
            (Outcome::Chosen(path), Purpose::Save) => {
                self.handle(Event::SaveChosen(Some(with_extension(path))), frame);
            }
            (Outcome::Chosen(path), Purpose::Export(export)) => self.export(&export, path),
            (Outcome::Cancelled, Purpose::Save) => self.handle(Event::SaveChosen(None), frame),
            (Outcome::Cancelled, _) => {}
            (Outcome::Unavailable(reason), purpose) => self.offer_path(purpose, Some(reason), ""),
        }
    }

    pub(super) fn read_configuration(&mut self, path: PathBuf, frame: Option<&eframe::Frame>) {
        self.settings.export_folder = path.parent().map(Path::to_owned);
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        self.handle(Event::ConfigurationRead { path, text }, frame);
    }

    /// Writes an export on a thread of its own; a large PNG takes longer than a frame.
    pub(super) fn export(&mut self, export: &Export, path: PathBuf) {
        self.settings.export_folder = path.parent().map(Path::to_owned);
        let (export, sender, wake) = (export.clone(), self.world.sender.clone(), self.world.wake.clone());
        let write = move || {
            let bytes = match &export {
                Export::Text { text, .. } => Ok(text.clone().into_bytes()),
                Export::Figure(figure) => {
                    let format = format_of(&path).unwrap_or(figure.format);
                    crate::export::export(&figure.drawing, format, &figure.options)
                        .map_err(|error| error.to_string())
                }
            };
            let written =
                bytes.and_then(|bytes| disk::write_whole(&path, &bytes).map_err(|error| error.to_string()));
            let event = match written {
                Ok(()) => Event::Written(path),
                Err(reason) => Event::Failed(format!("Nothing was written: {reason}: {}", path.display())),
            };
            if sender.send(event).is_ok() {
                wake.request_repaint();
            }
        };
        if let Err(error) = std::thread::Builder::new().name("qkv export".to_owned()).spawn(write) {
            self.handle(Event::Failed(format!("Nothing was written: {error}")), None);
        }
    }
}

/// The format that the user chose by the ending of the file name.
fn format_of(path: &Path) -> Option<crate::export::Format> {
    crate::export::Format::from_extension(&path.extension()?.to_string_lossy())
}

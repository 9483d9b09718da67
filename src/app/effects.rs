//! What the session asks of the world: files, dialogs, the clipboard, the worker.

use std::path::PathBuf;
use std::sync::Arc;

use crate::disk;
use crate::session::{Checked, Derived, Effect, Event, Export};
use crate::ui::ToastKind;

use super::dialogs::Purpose;
use super::shell::{App, folder_of};

impl App {
    /// Does what the session asked for. Answers come back as events, possibly at once.
    pub(super) fn perform(&mut self, effects: Vec<Effect>, frame: Option<&eframe::Frame>) {
        for effect in effects {
            match effect {
                Effect::AskWhatToOpen => self.ask(Purpose::Open, "", frame),
                Effect::AskWhichConfiguration => self.ask(Purpose::Configuration, "", frame),
                Effect::AskWhereToSave { suggested_name } => self.ask(Purpose::Save, &suggested_name, frame),
                Effect::AskWhereToExport(export) => {
                    let name = match &export {
                        Export::Figure(figure) => figure.suggested_name.clone(),
                        Export::Text { suggested_name, .. } => suggested_name.clone(),
                    };
                    self.ask(Purpose::Export(export), &name, frame);
                }
                Effect::ReadScene(path) => {
                    let read = disk::read_scene(&path);
                    self.handle(Event::SceneRead { path, text: read.text, result: read.result }, frame);
                }
                Effect::WriteScene { path, text, expected } => self.write_scene(path, text, expected, frame),
                Effect::Evaluate { revision, scene } => self.evaluate(revision, scene),
                Effect::Check(derived) => self.check(derived),
                Effect::StopComputing => self.world.worker.stop(),
                Effect::CopyFigure(figure) => self.copy_figure(&figure),
                Effect::CopyText(text) => {
                    self.world.wake.copy_text(text);
                    self.toasts.push(ToastKind::Brief, "Copied");
                }
                Effect::Watch(path) => {
                    let wake = self.world.wake.clone();
                    self.world.watch.set(path.as_deref(), &self.world.sender, move || wake.request_repaint());
                }
                Effect::Remember(path) => {
                    self.settings.remember(&path);
                    self.refresh_recent();
                }
                Effect::Quit => {
                    self.world.closing = true;
                    self.world.wake.send_viewport_cmd(egui::ViewportCommand::Close);
                }
            }
        }
    }

    /// Writes the scene, unless its file holds something else than what is known of it; tensor files come along.
    fn write_scene(
        &mut self,
        path: PathBuf,
        text: Arc<str>,
        expected: Option<Arc<str>>,
        frame: Option<&eframe::Frame>,
    ) {
        let found = expected.as_ref().and_then(|_| std::fs::read_to_string(&path).ok());
        if found.is_some_and(|found| expected.is_some_and(|expected| *found != *expected)) {
            return self.handle(Event::FoundChanged(path), frame);
        }
        let from = self.session.document().path().map(folder_of).unwrap_or_default();
        let scene = Arc::clone(self.session.document().scene());
        if let Err(error) = disk::write_whole(&path, text.as_bytes()) {
            return self.handle(Event::SaveFailed { path, reason: error.to_string() }, frame);
        }
        let brought = disk::bring_files_along(&scene, &from, &folder_of(&path));
        self.handle(Event::Saved { path, text }, frame);
        if let Err(sentence) = brought {
            self.handle(Event::Failed(format!("The scene was saved, but {sentence}")), frame);
        }
    }

    fn evaluate(&mut self, revision: u64, scene: Arc<crate::scene::Scene>) {
        if !self.world.worker.evaluate(revision, Arc::clone(&scene)) {
            let derived = Derived::of(revision, scene);
            let derived = Arc::new(derived);
            self.session.handle(Event::Derived(Arc::clone(&derived)));
            self.check(derived);
        }
    }

    fn check(&mut self, derived: Arc<Derived>) {
        if !self.world.worker.check(Arc::clone(&derived)) {
            self.session.handle(Event::Checked(Arc::new(Checked::of(&derived))));
        }
    }

    fn copy_figure(&mut self, figure: &crate::session::FigureExport) {
        let scale = figure.options.dpi / 72.0;
        match crate::export::rasterize(&figure.drawing, scale, figure.options.ground) {
            Ok(picture) => {
                let size = [picture.width, picture.height];
                self.world.wake.copy_image(egui::ColorImage::from_rgba_unmultiplied(size, &picture.rgba));
                self.toasts.push(ToastKind::Brief, "Copied as a picture");
            }
            Err(error) => {
                self.handle(Event::Failed(error.to_string()), None);
            }
        }
    }
}

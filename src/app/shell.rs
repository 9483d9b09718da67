//! The application: drains events in `logic`, draws in `ui`, performs effects after.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};

use crate::scene::bundled;
use crate::session::{Command, Document, Event, Export, Origin, Session};
use crate::ui::{self, Action, Outbox, PathPurpose, ToastKind, Toasts, UiState, Wish};

use super::dialogs::{Pending, Purpose};
use super::picture::Picture;
use super::settings::{Last, Settings};
use super::start::StartOptions;
use super::watch::Watch;
use super::worker::Worker;

/// The application.
pub struct App {
    pub(super) session: Session,
    pub(super) ui: UiState,
    pub(super) settings: Settings,
    pub(super) world: World,
    pub(super) toasts: Toasts,
}

/// What reaches out of the program.
pub(super) struct World {
    pub(super) events: Receiver<Event>,
    pub(super) sender: Sender<Event>,
    pub(super) wake: egui::Context,
    pub(super) worker: Worker,
    pub(super) watch: Watch,
    pub(super) dialog: Option<Pending>,
    /// An export that waits for a typed path.
    pub(super) waiting_export: Option<Export>,
    /// An existing file that the user was warned of; typing it again replaces it.
    pub(super) replace: Option<PathBuf>,
    pub(super) picture: Option<Picture>,
    /// The window may close now.
    pub(super) closing: bool,
    pub(super) first_frame: bool,
    pub(super) started: Option<std::time::Instant>,
    /// The title bar as last set.
    pub(super) title: String,
}

impl App {
    /// Opens with what the options, or else the last run, say.
    pub fn new(ctx: &egui::Context, storage: Option<&dyn eframe::Storage>, options: StartOptions) -> Self {
        super::fonts::install(ctx);
        ui::style::install(ctx);
        let settings = if options.fresh { Settings::default() } else { Settings::load(storage) };
        ctx.set_theme(options.theme.map_or_else(|| settings.theme.into(), egui::ThemePreference::from));
        if let Some(zoom) = settings.zoom {
            ctx.set_zoom_factor(zoom);
        }
        let (sender, events) = mpsc::channel();
        let wake = ctx.clone();
        let worker = Worker::start(sender.clone(), move || wake.request_repaint());
        let mut app = Self {
            session: Session::new(first_document(&settings)),
            ui: UiState { layout: settings.layout, recent: settings.recent.clone(), ..UiState::default() },
            settings,
            world: World {
                events,
                sender,
                wake: ctx.clone(),
                worker,
                watch: Watch::default(),
                dialog: None,
                waiting_export: None,
                replace: None,
                picture: options.picture.map(Picture::new),
                closing: false,
                first_frame: true,
                started: options.started,
                title: String::new(),
            },
            toasts: Toasts::default(),
        };
        app.refresh_recent();
        if let Some(notice) = options.notice {
            app.session.handle(Event::Failed(notice));
        }
        app.open_first(options.open.as_deref());
        app
    }

    /// The session, for tests.
    pub fn session(&self) -> &Session {
        &self.session
    }

    fn open_first(&mut self, asked: Option<&str>) {
        let last_file = match &self.settings.last {
            Last::File(path) if path.exists() => Some(path.clone()),
            _ => None,
        };
        match asked {
            Some(asked) => match bundled::find(asked).filter(|_| !Path::new(asked).exists()) {
                Some(lesson) => self.apply(Command::OpenBundled(lesson.name), None),
                None => self.apply(Command::OpenFile(PathBuf::from(asked)), None),
            },
            None => {
                if let Some(path) = last_file {
                    self.apply(Command::OpenFile(path), None);
                }
            }
        }
    }

    fn apply(&mut self, command: Command, frame: Option<&eframe::Frame>) {
        let effects = self.session.apply(command);
        self.perform(effects, frame);
    }

    pub(super) fn handle(&mut self, event: Event, frame: Option<&eframe::Frame>) {
        let effects = self.session.handle(event);
        self.perform(effects, frame);
    }

    fn grant(&mut self, wish: Wish, frame: &eframe::Frame) {
        match wish {
            Wish::Act(action) => self.act(action, frame),
            Wish::OpenTyped(path) => self.apply(Command::OpenFile(expanded(&path)), Some(frame)),
            Wish::ConfigurationTyped(path) => self.read_configuration(expanded(&path), Some(frame)),
            Wish::SaveTyped(path) => {
                let path = with_extension(expanded(&path));
                if self.may_write(&path, PathPurpose::Save) {
                    self.handle(Event::SaveChosen(Some(path)), Some(frame));
                }
            }
            Wish::ExportTyped(path) => {
                let path = expanded(&path);
                if self.may_write(&path, PathPurpose::Export)
                    && let Some(export) = self.world.waiting_export.take()
                {
                    self.export(&export, path);
                }
            }
            Wish::PathCancelled => {
                self.world.waiting_export = None;
                self.handle(Event::SaveChosen(None), Some(frame));
            }
            Wish::PathInstead => {
                self.ui.slow_dialog = false;
                if let Some(pending) = self.world.dialog.take() {
                    let reason = "The file dialog has not answered; some desktops offer none.".to_owned();
                    self.offer_path(pending.purpose, Some(reason), "");
                }
            }
            Wish::ClearRecent => {
                self.settings.recent.clear();
                self.refresh_recent();
            }
        }
    }

    fn act(&mut self, action: Action, frame: &eframe::Frame) {
        if !action.is_enabled(&self.session) {
            return;
        }
        if let Some(command) = action.command(&self.session) {
            self.apply(command, Some(frame));
            return;
        }
        if action == Action::OpenPath {
            self.offer_path(Purpose::Open, None, "");
            return;
        }
        let mut out = Outbox::default();
        ui::act(action, &self.world.wake, &self.session, &mut self.ui, &mut out);
        for command in out.commands {
            self.apply(command, Some(frame));
        }
    }

    pub(super) fn refresh_recent(&mut self) {
        self.ui.recent.clone_from(&self.settings.recent);
        self.ui.recent_present = self.settings.recent.iter().map(|path| path.exists()).collect();
    }

    /// Whether the watched file really differs from what was last read or written; a save of our own also wakes the watch.
    fn really_changed(&self, path: &Path) -> bool {
        let known = match self.session.problem() {
            Some(problem) if problem.path == path => &problem.text,
            _ => self.session.document().stored_text(),
        };
        std::fs::read_to_string(path).is_ok_and(|text| text != **known)
    }

    fn drain(&mut self, frame: Option<&eframe::Frame>) {
        let waiting: Vec<Event> = self.world.events.try_iter().collect();
        for event in waiting {
            match &event {
                Event::ChangedOnDisk(path) if !self.really_changed(path) => {}
                _ => self.handle(event, frame),
            }
        }
        self.poll_dialog(frame);
        for notice in self.session.take_notices() {
            self.toasts.push(if notice.is_error { ToastKind::Failed } else { ToastKind::Done }, notice.text);
        }
    }

    fn take_drops(&mut self, ctx: &egui::Context, frame: &eframe::Frame) {
        self.ui.dropping = ctx.input(|input| !input.raw.hovered_files.is_empty());
        let dropped = ctx.input(|input| input.raw.dropped_files.first().map(|file| file.path().to_owned()));
        if let Some(path) = dropped {
            self.apply(Command::OpenFile(path), Some(frame));
        }
    }

    /// The window's own close button asks the same question as the menu.
    fn guard_close(&mut self, ctx: &egui::Context, frame: &eframe::Frame) {
        let wants_to_close = ctx.input(|input| input.viewport().close_requested());
        if wants_to_close && !self.world.closing && self.session.document().is_changed() {
            ctx.send_viewport_cmd(egui::ViewportCommand::CancelClose);
            self.apply(Command::Quit, Some(frame));
        }
    }

    fn set_title(&mut self, ctx: &egui::Context) {
        let document = self.session.document();
        let mark = if document.is_changed() { "*" } else { "" };
        let title = format!("{}{mark} — Qkv", document.name());
        if title != self.world.title {
            ctx.send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.world.title = title;
        }
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, frame: &mut eframe::Frame) {
        if std::mem::take(&mut self.world.first_frame) {
            super::window_place::rescue(ctx, frame);
        }
        self.drain(Some(frame));
        self.take_drops(ctx, frame);
        self.guard_close(ctx, frame);
        self.set_title(ctx);
        self.ui.computing.fraction = self.world.worker.fraction();
        let is_busy = self.session.is_evaluating() || self.session.is_checking();
        if let Some(picture) = &mut self.world.picture
            && !is_busy
            && let Some(outcome) = picture.tick(ctx)
        {
            if let Err(reason) = outcome {
                log::error!("no picture: {reason}");
            }
            self.world.picture = None;
            self.world.closing = true;
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
    }

    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        let mut out = Outbox::default();
        if self.session.question().is_none()
            && self.ui.dialog.is_none()
            && let Some(action) = ui::pressed(ui.ctx())
        {
            out.wish(Wish::Act(action));
        }
        ui::show(ui, &self.session, &mut self.ui, &mut out);
        self.toasts.show(ui.ctx());
        if let Some(started) = self.world.started.take() {
            log::info!("the first frame was drawn {} ms after the start", started.elapsed().as_millis());
        }
        let changed = !out.commands.is_empty() || !out.wishes.is_empty();
        for command in out.commands {
            self.apply(command, Some(frame));
        }
        for wish in out.wishes {
            self.grant(wish, frame);
        }
        if changed {
            ui.ctx().request_repaint();
        }
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        if self.world.picture.is_some() {
            return;
        }
        self.settings.layout = self.ui.layout;
        self.settings.theme = self.world.wake.options(|options| options.theme_preference).into();
        self.settings.zoom = Some(self.world.wake.zoom_factor());
        self.settings.last = match self.session.document().origin() {
            Origin::Untitled => Last::Nothing,
            Origin::Bundled(name) => Last::Bundled((*name).to_owned()),
            Origin::File(path) => Last::File(path.clone()),
        };
        self.settings.store(storage);
    }
}

/// The scene of the last run, or the first bundled one.
fn first_document(settings: &Settings) -> Document {
    let last = match &settings.last {
        Last::Bundled(name) => bundled::find(name).and_then(|lesson| Document::bundled(lesson.name).ok()),
        Last::Nothing | Last::File(_) => None,
    };
    let first = || bundled::all().iter().find_map(|lesson| Document::bundled(lesson.name).ok());
    last.or_else(first).unwrap_or_else(Document::untitled)
}

pub(super) fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_owned()
}

/// `~` at the start of a typed path is the home folder, as people expect.
fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// A scene without an extension gets `.ron`.
pub(super) fn with_extension(path: PathBuf) -> PathBuf {
    if path.extension().is_some() { path } else { path.with_extension("ron") }
}

//! The session itself: the one writer.

use std::path::PathBuf;
use std::sync::Arc;

use crate::export::Format;
use crate::figure::MatrixId;
use crate::scene::{self, Scene};

use super::{
    Answer, Calculators, Centre, Checked, Command, Derived, Document, Edit, Effect, Event, Export, History,
    Notice, Origin, Problem, Question,
};

/// The pinned pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pin {
    /// Query, from 0.
    pub query: usize,
    /// Key, from 0.
    pub key: usize,
}

/// Everything that the window shows, and the only way to change it.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) document: Document,
    pub(super) derived: Arc<Derived>,
    pub(super) checked: Arc<Checked>,
    /// The user stopped the evaluation of the present revision.
    pub(super) is_stopped: bool,
    pub(super) history: History,
    pub(super) revision: u64,
    pub(super) head: usize,
    pub(super) pin: Option<Pin>,
    pub(super) focus: Option<MatrixId>,
    pub(super) centre: Centre,
    pub(super) calculators: Calculators,
    pub(super) problem: Option<Problem>,
    pub(super) question: Option<Question>,
    pub(super) notices: Vec<Notice>,
    /// What to do once the scene is saved.
    pub(super) after_save: Option<Command>,
    /// The sentence that refused the last edit, shown at the field that caused it.
    pub(super) refusal: Option<String>,
    /// A fresh scene is still being evaluated; it gets its first pin when it is done.
    pub(super) pin_is_due: bool,
}

impl Session {
    /// A session that starts with this document.
    pub fn new(document: Document) -> Self {
        let derived = Arc::new(Derived::of(0, Arc::clone(document.scene())));
        let checked = Arc::new(Checked::of(&derived));
        let mut session = Self {
            document,
            derived,
            checked,
            is_stopped: false,
            history: History::default(),
            revision: 0,
            head: 0,
            pin: None,
            focus: None,
            centre: Centre::Board,
            calculators: Calculators::default(),
            problem: None,
            question: None,
            notices: Vec::new(),
            after_save: None,
            refusal: None,
            pin_is_due: false,
        };
        session.head = first_head(session.document.scene());
        session.pin_something();
        session
    }

    /// Does what the user wants, and says what the shell must do for it.
    pub fn apply(&mut self, command: Command) -> Vec<Effect> {
        self.refusal = None;
        match command {
            Command::New
            | Command::Open
            | Command::OpenFile(_)
            | Command::OpenBundled(_)
            | Command::Reload
            | Command::Quit
                if self.document.is_changed() =>
            {
                self.question = Some(Question::Unsaved { then: Box::new(command) });
                Vec::new()
            }
            Command::Edit { edit, gesture } => self.edit(&edit, gesture),
            Command::Undo => {
                let before = self.history.undo(Arc::clone(self.document.scene()));
                before.map_or_else(Vec::new, |scene| self.show_scene(scene))
            }
            Command::Redo => {
                let after = self.history.redo(Arc::clone(self.document.scene()));
                after.map_or_else(Vec::new, |scene| self.show_scene(scene))
            }
            Command::Save => match self.document.path() {
                Some(path) => self.write_to(path.to_owned()),
                None => self.apply(Command::SaveAs),
            },
            Command::SaveAs => vec![Effect::AskWhereToSave { suggested_name: self.document.name() }],
            Command::SaveTo(path) => self.write_to(path),
            Command::Answer(answer) => self.answer(answer),
            Command::ExportFigure(export) => vec![Effect::AskWhereToExport(Export::Figure(export))],
            Command::CopyFigure(export) => vec![Effect::CopyFigure(export)],
            Command::CopyText(text) => vec![Effect::CopyText(text)],
            Command::CopyMatrix { matrix, format } => {
                self.table(matrix, format).map_or_else(Vec::new, |text| vec![Effect::CopyText(text)])
            }
            Command::ExportMatrix { matrix, format } => {
                let suggested_name = format!("{}.{}", matrix.name(), format.extension());
                self.table(matrix, format).map_or_else(Vec::new, |text| {
                    vec![Effect::AskWhereToExport(Export::Text { suggested_name, text })]
                })
            }
            Command::Say(text) => {
                self.say(true, text);
                Vec::new()
            }
            command => self.navigate(command),
        }
    }

    /// Opening, closing and looking: nothing here changes the scene.
    fn navigate(&mut self, command: Command) -> Vec<Effect> {
        match command {
            Command::New => return self.open(Document::untitled()),
            Command::Open => return vec![Effect::AskWhatToOpen],
            Command::OpenFile(path) => return vec![Effect::ReadScene(path)],
            Command::OpenBundled(name) => match Document::bundled(name) {
                Ok(document) => return self.open(document),
                Err(reason) => self.say(true, reason),
            },
            Command::Reload => match self.document.origin().clone() {
                Origin::File(path) => return vec![Effect::ReadScene(path)],
                Origin::Bundled(name) => match Document::bundled(name) {
                    Ok(document) => return self.reload(document),
                    Err(reason) => self.say(true, reason),
                },
                Origin::Untitled => {}
            },
            Command::Quit => return vec![Effect::Quit],
            Command::DismissProblem => {
                self.problem = None;
                return vec![Effect::Watch(self.document.path().map(ToOwned::to_owned))];
            }
            Command::SelectHead(head) => {
                self.head = head.min(self.document.scene().heads().saturating_sub(1));
            }
            Command::Pin { query, key } => {
                let scene = self.document.scene();
                if query < scene.n_q() && key < scene.n_k() {
                    self.pin = Some(Pin { query, key });
                }
            }
            Command::Unpin => self.pin = None,
            Command::Focus(matrix) => self.focus = matrix,
            Command::Show(centre) => {
                self.centre = centre;
                self.focus = None;
            }
            Command::Calculate(wish) => return self.calculate(wish),
            Command::StopEvaluation => return self.stop_evaluation(),
            Command::Evaluate => return self.evaluate_after_all(),
            _ => {}
        }
        Vec::new()
    }

    /// Takes in what the world answered.
    pub fn handle(&mut self, event: Event) -> Vec<Effect> {
        match event {
            // The dialog stood open beside the window; there may be changes by now.
            Event::OpenChosen(Some(path)) => return self.apply(Command::OpenFile(path)),
            Event::OpenChosen(None) => {}
            Event::SaveChosen(Some(path)) => return self.write_to(path),
            Event::SaveChosen(None) => self.after_save = None,
            Event::SceneRead { path, text, result } => return self.scene_read(path, text, result),
            Event::ChangedOnDisk(path) => return self.changed_on_disk(path),
            Event::FoundChanged(path) => self.question = Some(Question::ChangedOnDisk(path)),
            Event::Saved { path, text } => return self.saved(path, text),
            Event::SaveFailed { path, reason } => {
                self.after_save = None;
                self.say(true, format!("The scene was not saved: {reason}: {}", path.display()));
            }
            Event::ConfigurationRead { path, text } => self.configuration_read(&path, text),
            Event::Derived(derived) => self.take_derived(derived),
            Event::Checked(checked) => self.take_checked(checked),
            Event::Written(path) => self.say(false, format!("Written to {}", path.display())),
            Event::Failed(reason) => self.say(true, reason),
            Event::Said(text) => self.say(false, text),
        }
        Vec::new()
    }

    fn edit(&mut self, edit: &Edit, gesture: u64) -> Vec<Effect> {
        let before = Arc::clone(self.document.scene());
        let changed = edit.apply(&before).and_then(|spec| {
            Scene::new(spec, before.files()).map_err(|complaints| {
                complaints
                    .first()
                    .map_or_else(|| "this change is not possible".to_owned(), ToString::to_string)
            })
        });
        match changed {
            Ok(scene) if scene.spec() == before.spec() => Vec::new(),
            Ok(scene) => {
                self.history.record(before, gesture);
                self.show_scene(Arc::new(scene))
            }
            Err(reason) => {
                self.refusal = Some(reason);
                Vec::new()
            }
        }
    }

    fn open(&mut self, document: Document) -> Vec<Effect> {
        let scene = Arc::clone(document.scene());
        let path = document.path().map(ToOwned::to_owned);
        self.document = document;
        self.history = History::default();
        self.problem = None;
        self.focus = None;
        self.centre = Centre::Board;
        self.head = first_head(&scene);
        self.pin = None;
        let mut effects = self.show_scene(scene);
        self.pin_is_due = !self.is_up_to_date();
        if !self.pin_is_due {
            self.pin_something();
        }
        effects.push(Effect::Watch(path.clone()));
        effects.extend(path.map(Effect::Remember));
        effects
    }

    /// Shows what is stored now of the document that is open. What it replaces is one step back, and so are the steps before.
    fn reload(&mut self, document: Document) -> Vec<Effect> {
        let (head, pin) = (self.head, self.pin);
        let before = Arc::clone(self.document.scene());
        let mut history = std::mem::take(&mut self.history);
        if before.spec() != document.scene().spec() {
            history.record(before, 0);
        }
        let effects = self.open(document);
        self.history = history;
        (self.head, self.pin) = (head, pin.or(self.pin));
        self.keep_selection_inside();
        effects
    }

    fn scene_read(
        &mut self,
        path: PathBuf,
        text: Arc<str>,
        result: Result<Arc<Scene>, Vec<scene::Complaint>>,
    ) -> Vec<Effect> {
        match result {
            Ok(scene) => {
                let was_open = self.document.path() == Some(path.as_path());
                let document = Document::new(scene, origin_of(path), text);
                if was_open { self.reload(document) } else { self.open(document) }
            }
            // A configuration of the calculators that was opened or dropped like a scene.
            Err(_) if text.trim_start().starts_with("Configuration") => {
                self.configuration_read(&path, Ok(text.to_string()));
                Vec::new()
            }
            Err(complaints) => {
                self.problem = Some(Problem { path: path.clone(), text, complaints });
                // The file is watched all the same: when it is mended elsewhere, it opens.
                vec![Effect::Watch(Some(path))]
            }
        }
    }

    fn changed_on_disk(&mut self, path: PathBuf) -> Vec<Effect> {
        let is_open = self.document.path() == Some(path.as_path());
        let is_problem = self.problem.as_ref().is_some_and(|problem| problem.path == path);
        if !is_open && !is_problem || self.question.is_some() {
            return Vec::new();
        }
        match (is_open, self.document.is_changed()) {
            (_, false) => vec![Effect::ReadScene(path)],
            (true, true) => {
                self.question = Some(Question::ChangedOnDisk(path));
                Vec::new()
            }
            // Another file than the open one was mended; opening it is a change of documents.
            (false, true) => self.apply(Command::OpenFile(path)),
        }
    }

    fn answer(&mut self, answer: Answer) -> Vec<Effect> {
        match (self.question.take(), answer) {
            (None, _) => Vec::new(),
            (_, Answer::Cancel) | (Some(Question::LosesComments(_)), Answer::Discard) => {
                self.after_save = None;
                Vec::new()
            }
            (Some(Question::LosesComments(path)), Answer::Save) => {
                vec![Effect::WriteScene { path, text: self.document.text_to_save(), expected: None }]
            }
            (Some(Question::Unsaved { then }), Answer::Discard) => self.navigate(*then),
            (Some(Question::Unsaved { then }), Answer::Save) => {
                self.after_save = Some(*then);
                self.apply(Command::Save)
            }
            (Some(Question::ChangedOnDisk(path)), Answer::Discard) => vec![Effect::ReadScene(path)],
            (Some(Question::ChangedOnDisk(path)), Answer::Save) => {
                vec![Effect::WriteScene { path, text: self.document.text_to_save(), expected: None }]
            }
        }
    }

    fn write_to(&mut self, path: PathBuf) -> Vec<Effect> {
        let expected =
            (self.document.path() == Some(path.as_path())).then(|| Arc::clone(self.document.stored_text()));
        if self.document.would_lose_comments() {
            self.question = Some(Question::LosesComments(path));
            return Vec::new();
        }
        vec![Effect::WriteScene { path, text: self.document.text_to_save(), expected }]
    }

    fn saved(&mut self, path: PathBuf, text: Arc<str>) -> Vec<Effect> {
        self.document.set_saved(path.clone(), text);
        self.say(false, format!("Saved to {}", path.display()));
        let mut effects = vec![Effect::Watch(Some(path.clone())), Effect::Remember(path)];
        if let Some(command) = self.after_save.take() {
            effects.extend(self.navigate(command));
        }
        effects
    }

    /// A fresh scene shows a pinned cell at once: the last query and the key it looks at most.
    pub(super) fn pin_something(&mut self) {
        let scene = self.document.scene();
        let (n_q, n_k) = (scene.n_q(), scene.n_k());
        if n_q == 0 || n_k == 0 {
            return;
        }
        let query = n_q - 1;
        let weights = self.derived.evaluation.heads.get(self.head).map(|head| &head.attention.weights);
        let key =
            weights.filter(|weights| weights.rows() == n_q && weights.cols() == n_k).map_or(0, |weights| {
                let row = weights.row(query);
                (0..n_k).fold(0, |best, key| if row[key] > row[best] { key } else { best })
            });
        self.pin = Some(Pin { query, key });
    }

    pub(super) fn keep_selection_inside(&mut self) {
        let scene = self.document.scene();
        self.head = self.head.min(scene.heads().saturating_sub(1));
        self.pin = self.pin.filter(|pin| pin.query < scene.n_q() && pin.key < scene.n_k());
    }

    pub(super) fn say(&mut self, is_error: bool, text: String) {
        self.notices.push(Notice { is_error, text });
    }

    /// Messages that have not been shown yet; they are handed out once.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }
}

/// Where a scene came from. One that was read out of a figure has no file of its own: saving must not replace the figure.
fn origin_of(path: PathBuf) -> Origin {
    let is_figure =
        path.extension().is_some_and(|ending| Format::from_extension(&ending.to_string_lossy()).is_some());
    if is_figure { Origin::Untitled } else { Origin::File(path) }
}

/// The head that a scene wants to be seen first, from 0.
fn first_head(scene: &Scene) -> usize {
    scene.spec().view.head.saturating_sub(1).min(scene.heads().saturating_sub(1))
}

//! File dialogs that do not stop the frame, and what to do where none can be had.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

/// What a dialog was opened for.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    /// A scene to open.
    Open,
    /// A configuration of the calculators to open.
    Configuration,
    /// Where to save the scene.
    Save,
    /// Where to write an export.
    Export(crate::session::Export),
}

/// How a dialog ended.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// The user chose a file.
    Chosen(PathBuf),
    /// The user closed the dialog.
    Cancelled,
    /// There is no dialog to be had here; the reason in a sentence.
    Unavailable(String),
}

/// A dialog that is open.
pub struct Pending {
    /// What it is for.
    pub purpose: Purpose,
    answer: Receiver<Option<PathBuf>>,
    opened: Instant,
}

/// Nobody closes a dialog faster than this: an answer of "nothing" before it means that none was shown.
const FASTEST_HAND: Duration = Duration::from_millis(350);
/// After this long without an answer a path can be typed instead; some desktops never answer.
pub const PATIENCE: Duration = Duration::from_secs(4);

/// What a dialog is opened with.
pub struct Request<'a> {
    /// The folder shown first.
    pub folder: Option<&'a Path>,
    /// The file name offered when saving.
    pub file_name: &'a str,
}

impl Pending {
    /// Opens a dialog. It is created on this thread, as some systems demand, and awaited on another.
    ///
    /// # Errors
    /// A sentence where it is known beforehand that no dialog can be had.
    pub fn open(
        purpose: Purpose,
        request: &Request<'_>,
        frame: &eframe::Frame,
        wake: impl FnOnce() + Send + 'static,
    ) -> Result<Self, String> {
        if let Some(reason) = missing() {
            return Err(reason);
        }
        let mut dialog = rfd::AsyncFileDialog::new().set_parent(frame);
        if let Some(folder) = request.folder {
            dialog = dialog.set_directory(folder);
        }
        let (answers, answer) = mpsc::channel();
        let thread = thread::Builder::new().name("qkv file dialog".to_owned());
        let started = match &purpose {
            Purpose::Open | Purpose::Configuration => {
                let is_scene = purpose == Purpose::Open;
                let picked = dialog
                    .set_title(if is_scene { "Open a scene" } else { "Open a configuration" })
                    .add_filter(
                        if is_scene { "Scenes and figures made from scenes" } else { "Configurations" },
                        if is_scene { &["ron", "svg", "png", "pdf"] } else { &["ron"] },
                    )
                    .pick_file();
                thread.spawn(move || {
                    let path = pollster::block_on(picked).map(|file| file.path().to_owned());
                    // The window may be gone by now; then nobody needs the answer.
                    let _ = answers.send(path);
                    wake();
                })
            }
            Purpose::Save | Purpose::Export(_) => {
                let title = if purpose == Purpose::Save { "Save the scene" } else { "Export" };
                let saved = dialog.set_title(title).set_file_name(request.file_name).save_file();
                thread.spawn(move || {
                    let path = pollster::block_on(saved).map(|file| file.path().to_owned());
                    let _ = answers.send(path);
                    wake();
                })
            }
        };
        started.map_err(|error| format!("no thread for a file dialog: {error}"))?;
        Ok(Self { purpose, answer, opened: Instant::now() })
    }

    /// The outcome, once there is one.
    pub fn poll(&self) -> Option<Outcome> {
        match self.answer.try_recv() {
            Ok(Some(path)) => Some(Outcome::Chosen(path)),
            Ok(None) if self.opened.elapsed() < FASTEST_HAND => Some(Outcome::Unavailable(
                "The file dialog closed before it could be shown: there is neither a desktop portal nor zenity.".to_owned(),
            )),
            Ok(None) => Some(Outcome::Cancelled),
            Err(TryRecvError::Disconnected) => Some(Outcome::Unavailable("The file dialog stopped without an answer.".to_owned())),
            Err(TryRecvError::Empty) => None,
        }
    }

    /// Whether the dialog has been silent for so long that it may never answer.
    pub fn is_slow(&self) -> bool {
        self.opened.elapsed() > PATIENCE
    }
}

/// On Linux a dialog needs a session bus with a portal, or zenity. Elsewhere the system has one.
fn missing() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let bus = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some()
        || std::env::var_os("XDG_RUNTIME_DIR").is_some_and(|folder| Path::new(&folder).join("bus").exists());
    let zenity = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join("zenity").is_file()));
    (!bus && !zenity).then(|| {
        "No file dialog can be had here: there is no session bus for a desktop portal, and zenity is not installed. \
         Type a path instead, or drop a file onto the window."
            .to_owned()
    })
}

//! Notices when the open file changes on disk. The folder is watched, because editors save by renaming.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::session::Event;

/// The watch on one file.
#[derive(Default)]
pub struct Watch {
    watched: Option<(PathBuf, RecommendedWatcher)>,
}

impl Watch {
    /// Watches this file from now on, and no other.
    pub fn set(&mut self, path: Option<&Path>, events: &Sender<Event>, wake: impl Fn() + Send + 'static) {
        if self.watched.as_ref().map(|(watched, _)| watched.as_path()) == path {
            return;
        }
        self.watched = path.and_then(|path| Some((path.to_owned(), start(path, events.clone(), wake)?)));
    }
}

/// `None` where the system offers no watching; the file is then read again on request only.
fn start(path: &Path, events: Sender<Event>, wake: impl Fn() + Send + 'static) -> Option<RecommendedWatcher> {
    let file_name = path.file_name()?.to_owned();
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
    let watched = path.to_owned();
    let react = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        let is_change = event.kind.is_modify() || event.kind.is_create();
        if is_change && event.paths.iter().any(|path| path.file_name() == Some(&file_name)) {
            // The window compares the text before it believes that anything changed.
            if events.send(Event::ChangedOnDisk(watched.clone())).is_ok() {
                wake();
            }
        }
    };
    let mut watcher = notify::recommended_watcher(react).ok()?;
    watcher.watch(&folder, RecursiveMode::NonRecursive).ok()?;
    Some(watcher)
}

//! A computation that may take long, with its progress on a terminal.

use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::{Duration, Instant};

use crate::engine::Progress;

/// What is shorter than this passes without a word.
const UNSEEN: Duration = Duration::from_secs(1);
/// From one look to the next.
const STEP: Duration = Duration::from_millis(10);

/// The result of `work`. Where the error stream is a terminal, the share that is done stands there while it takes long.
pub fn with_progress<T: Send>(err: &mut dyn Write, work: impl FnOnce(&Progress) -> T + Send) -> T {
    let progress = Progress::default();
    if !io::stderr().is_terminal() {
        return work(&progress);
    }
    thread::scope(|scope| {
        let worker = scope.spawn(|| work(&progress));
        let begin = Instant::now();
        let mut shown = None;
        while !worker.is_finished() {
            thread::sleep(STEP);
            let percent = (100.0 * progress.fraction()).floor();
            if begin.elapsed() > UNSEEN && shown != Some(percent) {
                shown = Some(percent);
                // What cannot be shown is no reason to stop computing.
                let _ = write!(err, "\rcomputing: {percent:.0} %").and_then(|()| err.flush());
            }
        }
        if shown.is_some() {
            let _ = write!(err, "\r{:24}\r", "").and_then(|()| err.flush());
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

//! One named thread for what is too long for a frame. The latest wins: whatever is under way when something is asked stops within
//! a few rows, and what was asked before and not yet begun is dropped.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use crate::engine::{Cancelled, Progress};
use crate::scene::Scene;
use crate::session::{Checked, Derived, Event};

/// What is to be computed.
enum Task {
    /// An evaluation, and its checks after it.
    Evaluate { revision: u64, scene: Arc<Scene> },
    /// The checks of an evaluation that is there.
    Check(Arc<Derived>),
}

/// A task, and how far it is.
struct Job {
    task: Task,
    progress: Arc<Progress>,
}

/// The thread and the way to it.
pub struct Worker {
    jobs: Option<Sender<Job>>,
    latest: Arc<Progress>,
}

impl Worker {
    /// Starts the thread. Results go to `events`; `wake` is called after each, so that the window draws it.
    pub fn start(events: Sender<Event>, wake: impl Fn() + Send + 'static) -> Self {
        let (jobs, inbox) = mpsc::channel();
        let spawned = thread::Builder::new()
            .name("qkv evaluation".to_owned())
            .spawn(move || serve(&inbox, &events, wake));
        Self { jobs: spawned.is_ok().then_some(jobs), latest: Arc::default() }
    }

    /// Asks for an evaluation and its checks. Returns `false` where there is no thread to do it.
    pub fn evaluate(&mut self, revision: u64, scene: Arc<Scene>) -> bool {
        self.ask(Task::Evaluate { revision, scene })
    }

    /// Asks for the checks of an evaluation. Returns `false` where there is no thread to do it.
    pub fn check(&mut self, derived: Arc<Derived>) -> bool {
        self.ask(Task::Check(derived))
    }

    fn ask(&mut self, task: Task) -> bool {
        self.stop();
        self.latest = Arc::default();
        let job = Job { task, progress: Arc::clone(&self.latest) };
        self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }

    /// Stops what is under way. Results that were sent already arrive all the same.
    pub fn stop(&self) {
        self.latest.cancel();
    }

    /// The share of what was asked last that is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.latest.fraction()
    }
}

fn serve(inbox: &Receiver<Job>, events: &Sender<Event>, wake: impl Fn()) {
    let send = |event| {
        let is_heard = events.send(event).is_ok();
        wake();
        is_heard
    };
    while let Ok(first) = inbox.recv() {
        let Job { task, progress } = inbox.try_iter().last().unwrap_or(first);
        match work(task, &progress, &send) {
            Ok(true) | Err(Cancelled) => {}
            Ok(false) => return,
        }
    }
}

/// Does one task; `false` when nobody listens any more.
fn work(task: Task, progress: &Progress, send: &impl Fn(Event) -> bool) -> Result<bool, Cancelled> {
    let derived = match task {
        Task::Check(derived) => derived,
        Task::Evaluate { revision, scene } => {
            let derived = Arc::new(Derived::of_with(revision, scene, progress)?);
            if !send(Event::Derived(Arc::clone(&derived))) {
                return Ok(false);
            }
            derived
        }
    };
    let checked = Checked::of_with(&derived, progress)?;
    Ok(send(Event::Checked(Arc::new(checked))))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn scene(n: usize, seed: u32) -> Arc<Scene> {
        let matrix = |seed: u32| format!("[Randn(rows: {n}, cols: 16, seed: {seed})]");
        let (q, k, v) = (matrix(seed), matrix(seed + 1), matrix(seed + 2));
        let text = format!("Scene(title: \"Long\", input: Heads(q: {q}, k: {k}, v: {v}))");
        let no_files = &mut |_: &str| Err(std::io::ErrorKind::NotFound.into());
        Arc::new(crate::scene::read(&text, no_files).unwrap())
    }

    fn next(events: &Receiver<Event>) -> Event {
        events.recv_timeout(Duration::from_secs(120)).unwrap()
    }

    #[test]
    fn an_evaluation_arrives_before_its_checks() {
        let (sender, events) = mpsc::channel();
        let mut worker = Worker::start(sender, || {});
        assert!(worker.evaluate(3, scene(8, 1)));
        assert!(matches!(next(&events), Event::Derived(derived) if derived.revision == 3));
        assert!(matches!(next(&events), Event::Checked(checked) if checked.revision == 3));
        assert_eq!(worker.fraction(), 1.0);
    }

    #[test]
    fn the_latest_wins_and_nothing_is_heard_of_what_was_stopped() {
        let (sender, events) = mpsc::channel();
        let mut worker = Worker::start(sender, || {});
        // Takes far longer than the rest of this test, were it not stopped.
        assert!(worker.evaluate(1, scene(3000, 1)));
        while worker.fraction() == 0.0 {
            thread::sleep(Duration::from_millis(1)); // until it is under way
        }
        assert!(worker.evaluate(2, scene(8, 4)));
        assert!(matches!(next(&events), Event::Derived(derived) if derived.revision == 2));
        assert!(matches!(next(&events), Event::Checked(checked) if checked.revision == 2));
        worker.evaluate(3, scene(3000, 7));
        worker.stop();
        assert!(worker.evaluate(4, scene(8, 9)), "the thread is still there");
        assert!(matches!(next(&events), Event::Derived(derived) if derived.revision == 4));
    }
}

//! One named thread for evaluations that are too long for a frame. The latest wins: what was asked before and not yet
//! begun is dropped.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use crate::scene::Scene;
use crate::session::{Derived, Event};

/// A request for an evaluation.
struct Job {
    revision: u64,
    scene: Arc<Scene>,
}

/// The thread and the way to it.
pub struct Worker {
    jobs: Option<Sender<Job>>,
}

impl Worker {
    /// Starts the thread. Results go to `events`; `wake` is called after each, so that the window draws it.
    pub fn start(events: Sender<Event>, wake: impl Fn() + Send + 'static) -> Self {
        let (jobs, inbox) = mpsc::channel();
        let spawned = thread::Builder::new()
            .name("qkv evaluation".to_owned())
            .spawn(move || serve(&inbox, &events, wake));
        Self { jobs: spawned.is_ok().then_some(jobs) }
    }

    /// Asks for an evaluation. Returns `false` where there is no thread to do it.
    pub fn evaluate(&self, revision: u64, scene: Arc<Scene>) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.send(Job { revision, scene }).is_ok())
    }
}

fn serve(inbox: &Receiver<Job>, events: &Sender<Event>, wake: impl Fn()) {
    while let Ok(first) = inbox.recv() {
        let job = inbox.try_iter().last().unwrap_or(first);
        let derived = Derived::of(job.revision, job.scene);
        if events.send(Event::Derived(Arc::new(derived))).is_err() {
            return;
        }
        wake();
    }
}

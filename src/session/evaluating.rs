//! From the present scene to the board: in this frame, or away from it, where it can be stopped.

use std::sync::Arc;

use crate::scene::Scene;

use super::{Checked, Derived, Effect, Session, estimated_macs};

/// Evaluations above this many multiply-adds leave the frame and go to the worker.
const INLINE_MACS: u128 = 1_000_000;
/// The standing checks of evaluations above this many multiply-adds do so too: they evaluate again, several times.
const INLINE_CHECK_MACS: u128 = 100_000;

impl Session {
    /// Makes `scene` the present one and sees to its evaluation and its checks.
    pub(super) fn show_scene(&mut self, scene: Arc<Scene>) -> Vec<Effect> {
        let computes_elsewhere = self.is_evaluating() || self.is_checking();
        self.document.replace_scene(Arc::clone(&scene));
        self.revision += 1;
        self.is_stopped = false;
        self.keep_selection_inside();
        if Arc::ptr_eq(&self.derived.scene, &scene) {
            return self.show_again(computes_elsewhere);
        }
        let macs = estimated_macs(&scene);
        if macs > INLINE_MACS {
            return vec![self.evaluate_elsewhere()];
        }
        self.derived = Arc::new(Derived::of(self.revision, scene));
        if macs > INLINE_CHECK_MACS {
            return vec![Effect::Check(Arc::clone(&self.derived))];
        }
        self.checked = Arc::new(Checked::of(&self.derived));
        if computes_elsewhere { vec![Effect::StopComputing] } else { Vec::new() }
    }

    /// The present scene is the one on screen: a step was taken back before its evaluation was done.
    fn show_again(&mut self, computes_elsewhere: bool) -> Vec<Effect> {
        let was_checked = !self.is_checking();
        self.derived = Arc::new(Derived { revision: self.revision, ..Derived::clone(&self.derived) });
        if !was_checked {
            return vec![Effect::Check(Arc::clone(&self.derived))];
        }
        let outcomes = self.checked.outcomes.clone();
        self.checked = Arc::new(Checked { revision: self.revision, outcomes });
        if computes_elsewhere { vec![Effect::StopComputing] } else { Vec::new() }
    }

    fn evaluate_elsewhere(&self) -> Effect {
        Effect::Evaluate { revision: self.revision, scene: Arc::clone(self.document.scene()) }
    }

    /// The board goes on showing what it shows.
    pub(super) fn stop_evaluation(&mut self) -> Vec<Effect> {
        if !self.is_evaluating() {
            return Vec::new();
        }
        self.is_stopped = true;
        // The checks of the board that stays had to wait for the evaluation.
        let checks = Effect::Check(Arc::clone(&self.derived));
        vec![if self.is_checking() { checks } else { Effect::StopComputing }]
    }

    /// Evaluates a scene whose evaluation was stopped.
    pub(super) fn evaluate_after_all(&mut self) -> Vec<Effect> {
        if !self.is_stopped() {
            return Vec::new();
        }
        self.is_stopped = false;
        vec![self.evaluate_elsewhere()]
    }

    /// An evaluation is done. One that was stopped in its last moment is as good as any other.
    pub(super) fn take_derived(&mut self, derived: Arc<Derived>) {
        if derived.revision != self.revision {
            return;
        }
        self.derived = derived;
        self.is_stopped = false;
        if std::mem::take(&mut self.pin_is_due) {
            self.pin_something();
        }
    }

    /// Checks are done.
    pub(super) fn take_checked(&mut self, checked: Arc<Checked>) {
        if checked.revision == self.derived.revision {
            self.checked = checked;
        }
    }
}

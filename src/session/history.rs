//! Undo and redo as whole scenes. Scenes share their matrices, so a step costs little.

use std::sync::Arc;

use crate::scene::Scene;

/// The scenes before and after the present one.
#[derive(Clone, Debug, Default)]
pub struct History {
    past: Vec<Arc<Scene>>,
    future: Vec<Arc<Scene>>,
    /// The gesture that made the last step; edits of the same gesture extend it.
    gesture: Option<u64>,
}

impl History {
    /// Records `before` as a step, unless `gesture` (other than 0) also made the last one.
    pub fn record(&mut self, before: Arc<Scene>, gesture: u64) {
        self.future.clear();
        let extends = gesture != 0 && self.gesture == Some(gesture);
        if !extends {
            self.past.push(before);
        }
        self.gesture = Some(gesture);
    }

    /// Goes one step back from `present`.
    pub fn undo(&mut self, present: Arc<Scene>) -> Option<Arc<Scene>> {
        let before = self.past.pop()?;
        self.future.push(present);
        self.gesture = None;
        Some(before)
    }

    /// Goes one step forward from `present`.
    pub fn redo(&mut self, present: Arc<Scene>) -> Option<Arc<Scene>> {
        let after = self.future.pop()?;
        self.past.push(present);
        self.gesture = None;
        Some(after)
    }

    /// Whether there is a step to take back.
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// Whether there is a step to do again.
    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }
}

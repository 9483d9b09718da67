//! How far a long computation is, and the wish that it should stop.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Shared between a long computation and whoever waits for it. The computation looks at it between row blocks.
///
/// One value serves one computation after another: each sets its own size when it begins, unless the size of them all was
/// [announced](Self::announce). A cancelled value stays cancelled.
#[derive(Debug, Default)]
pub struct Progress {
    n_done: AtomicUsize,
    n_total: AtomicUsize,
    is_announced: AtomicBool,
    is_cancelled: AtomicBool,
}

/// The computation was asked to stop and has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the computation was cancelled before it was finished")]
pub struct Cancelled;

impl Progress {
    /// Says that computations of `n_rows` query rows together are to follow. Each of them then adds what it has finished, and the
    /// [fraction](Self::fraction) is that of the whole.
    pub fn announce(&self, n_rows: usize) {
        self.n_done.store(0, Ordering::Relaxed);
        self.n_total.store(n_rows, Ordering::Relaxed);
        self.is_announced.store(true, Ordering::Relaxed);
    }

    /// Asks the computation to stop at the next row block.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it has been asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// The share of rows that are finished, from 0 to 1; 0 before the computation has begun.
    pub fn fraction(&self) -> f64 {
        let n_total = self.n_total.load(Ordering::Relaxed);
        let n_done = self.n_done.load(Ordering::Relaxed);
        if n_total == 0 { 0.0 } else { (n_done as f64 / n_total as f64).min(1.0) }
    }

    /// A computation of `n_rows` rows begins.
    pub(super) fn begin(&self, n_rows: usize) {
        if !self.is_announced.load(Ordering::Relaxed) {
            self.n_done.store(0, Ordering::Relaxed);
            self.n_total.store(n_rows, Ordering::Relaxed);
        }
    }

    /// Counts finished rows.
    pub fn advance(&self, n_rows: usize) {
        self.n_done.fetch_add(n_rows, Ordering::Relaxed);
    }

    /// Stops the computation here if it has been asked to stop.
    ///
    /// # Errors
    /// [`Cancelled`] when it has been.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computations_that_were_announced_together_share_one_fraction() {
        let progress = Progress::default();
        progress.announce(8);
        progress.begin(4);
        progress.advance(4);
        assert_eq!(progress.fraction(), 0.5);
        progress.begin(4);
        assert_eq!(progress.fraction(), 0.5, "the second one begins where the first one ended");
        progress.advance(4);
        assert_eq!(progress.fraction(), 1.0);
    }

    #[test]
    fn a_computation_of_its_own_begins_at_nothing() {
        let progress = Progress::default();
        progress.begin(4);
        progress.advance(3);
        progress.begin(2);
        assert_eq!(progress.fraction(), 0.0);
        assert_eq!(progress.check(), Ok(()));
        progress.cancel();
        assert_eq!(progress.check(), Err(Cancelled));
    }
}

//! Scratch space that begins where a cache line begins, so that no vector lies across two.

use super::real::Real;

/// Bytes of a cache line, and of the widest vector.
const LINE: usize = 64;

/// Numbers that are kept from one use to the next, zeros at first.
pub(super) struct Aligned<R> {
    numbers: Vec<R>,
    start: usize,
    len: usize,
}

impl<R> Default for Aligned<R> {
    fn default() -> Self {
        Self::none()
    }
}

impl<R> Aligned<R> {
    /// No numbers yet.
    pub(super) const fn none() -> Self {
        Self { numbers: Vec::new(), start: 0, len: 0 }
    }
}

impl<R: Real> Aligned<R> {
    /// The first `len` numbers, to be written.
    pub(super) fn of_len(&mut self, len: usize) -> &mut [R] {
        let slack = LINE / size_of::<R>();
        if self.numbers.len() < len + slack {
            self.numbers = vec![R::ZERO; len + slack];
        }
        self.len = len;
        self.start = self.numbers.as_ptr().align_offset(LINE).min(slack);
        &mut self.numbers[self.start..self.start + len]
    }

    /// The numbers last asked for.
    pub(super) fn get(&self) -> &[R] {
        &self.numbers[self.start..self.start + self.len]
    }
}

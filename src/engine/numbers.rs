//! Where the numbers of a matrix lie.

use std::ops::{Deref, DerefMut};

#[cfg(target_os = "linux")]
use memmap2::{Advice, MmapMut};

/// Numbers in a row. Very many zeros are asked for on large pages where the system has them: most of the time of writing a large
/// matrix for the first time would else go into being given its pages, 512 times as many.
pub(super) enum Numbers {
    /// From the allocator.
    Heap(Vec<f64>),
    /// Zeros straight from the system.
    #[cfg(target_os = "linux")]
    Mapped(MmapMut),
}

/// From how many bytes on large pages, of 2 MiB each, are worth it.
#[cfg(target_os = "linux")]
const MAPPED_FROM: usize = 8 << 20;

impl Numbers {
    /// `len` zeros.
    pub(super) fn zeros(len: usize) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(pages) = mapped(len) {
            return Self::Mapped(pages);
        }
        Self::Heap(vec![0.0; len])
    }

    /// Adds numbers at the end.
    pub(super) fn extend(&mut self, more: &[f64]) {
        match self {
            Self::Heap(numbers) => numbers.extend_from_slice(more),
            #[cfg(target_os = "linux")]
            Self::Mapped(_) => *self = Self::Heap([&**self, more].concat()),
        }
    }
}

/// Pages for `len` zeros; `None` where there are few, or where the system has none to give.
#[cfg(target_os = "linux")]
fn mapped(len: usize) -> Option<MmapMut> {
    let bytes = len.checked_mul(size_of::<f64>()).filter(|&bytes| bytes >= MAPPED_FROM)?;
    let pages = MmapMut::map_anon(bytes).ok()?;
    pages.advise(Advice::HugePage).ok()?;
    Some(pages)
}

impl Deref for Numbers {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::Heap(numbers) => numbers,
            #[cfg(target_os = "linux")]
            Self::Mapped(pages) => bytemuck::cast_slice(pages),
        }
    }
}

impl DerefMut for Numbers {
    fn deref_mut(&mut self) -> &mut [f64] {
        match self {
            Self::Heap(numbers) => numbers,
            #[cfg(target_os = "linux")]
            Self::Mapped(pages) => bytemuck::cast_slice_mut(pages),
        }
    }
}

impl Clone for Numbers {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl From<Vec<f64>> for Numbers {
    fn from(numbers: Vec<f64>) -> Self {
        Self::Heap(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_numbers_are_the_same_as_few_wherever_they_lie() {
        for len in [0, 1, 1000, (9 << 20) / size_of::<f64>()] {
            let mut numbers = Numbers::zeros(len);
            assert!(numbers.len() == len && numbers.iter().all(|&number| number == 0.0));
            numbers.iter_mut().zip(1..).for_each(|(number, at)| *number = f64::from(at));
            let mut copy = numbers.clone();
            assert!(copy == numbers && copy == Numbers::from(numbers.to_vec()));
            copy.extend(&[-1.0, -2.0]);
            assert!(copy != numbers && copy[..len] == numbers[..] && copy[len..] == [-1.0, -2.0]);
        }
    }
}

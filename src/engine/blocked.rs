//! Which mask layer hides each pair, in a quarter of the room of a list of options; in none where nothing is hidden.

/// For each pair, row by row, the index of the first mask layer that blocks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedBy {
    n_pairs: usize,
    /// Layer + 1, or 0 for a visible pair; empty when every pair is visible.
    layers: Vec<u32>,
}

impl BlockedBy {
    /// `n_pairs` visible pairs.
    pub fn nothing(n_pairs: usize) -> Self {
        Self { n_pairs, layers: Vec::new() }
    }

    /// As many pairs as [`BlockedBy::nothing`], all visible, with room to write into.
    pub(super) fn to_be_written(n_pairs: usize) -> Self {
        Self { n_pairs, layers: vec![0; n_pairs] }
    }

    /// The codes of the pairs, for writing with [`code`]; empty unless made by [`BlockedBy::to_be_written`].
    pub(super) fn codes_mut(&mut self) -> &mut [u32] {
        &mut self.layers
    }

    /// Without the room where nothing is blocked.
    pub(super) fn shrunk(self) -> Self {
        if self.blocks_any() { self } else { Self::nothing(self.n_pairs) }
    }

    /// The layer that blocks pair `pair` (query · n_k + key); `None` where it is visible.
    ///
    /// # Panics
    /// When there is no such pair.
    pub fn get(&self, pair: usize) -> Option<usize> {
        assert!(pair < self.n_pairs, "pair {pair} of {}", self.n_pairs);
        self.layers.get(pair).and_then(|code| code.checked_sub(1)).map(|layer| layer as usize)
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.n_pairs
    }

    /// Whether there is no pair at all.
    pub fn is_empty(&self) -> bool {
        self.n_pairs == 0
    }

    /// Whether any pair is blocked.
    pub fn blocks_any(&self) -> bool {
        self.layers.iter().any(|&code| code != 0)
    }

    /// Pair after pair.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<usize>> {
        (0..self.n_pairs).map(|pair| self.get(pair))
    }
}

/// How a layer is written down. Layers beyond 2³² − 2 would share the last number.
pub(super) fn code(layer: Option<usize>) -> u32 {
    layer.map_or(0, |layer| u32::try_from(layer).unwrap_or(u32::MAX - 1) + 1)
}

impl FromIterator<Option<usize>> for BlockedBy {
    fn from_iter<T: IntoIterator<Item = Option<usize>>>(pairs: T) -> Self {
        let layers: Vec<u32> = pairs.into_iter().map(code).collect();
        let n_pairs = layers.len();
        Self { n_pairs, layers }.shrunk()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_comes_out() {
        let pairs = [None, Some(0), Some(7), None];
        let blocked: BlockedBy = pairs.into_iter().collect();
        assert_eq!(blocked.iter().collect::<Vec<_>>(), pairs);
        let visible: BlockedBy = [None; 3].into_iter().collect();
        assert_eq!(visible, BlockedBy::nothing(3));
        assert_eq!((visible.get(2), visible.len()), (None, 3));
    }
}

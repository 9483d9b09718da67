//! Which keys a query can reach at all: the part of a mask that whole tiles can be judged by.

use std::ops::Range;

use super::mask_view::to_i64;
use super::{MaskRule, MaskView};

/// The keys that one query may see, as far as a range can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Every key outside is blocked.
    pub keys: Range<usize>,
    /// Whether every key inside is visible, with nothing added to its score.
    pub is_whole: bool,
}

impl MaskView<'_> {
    /// The keys that `query` can reach.
    ///
    /// Causal layers, windows and valid keys are ranges of keys and cut the range; a layer of any other kind leaves it as it is,
    /// and the range is then not whole.
    pub fn reach(&self, query: usize) -> Reach {
        let whole = Reach { keys: 0..self.n_k(), is_whole: true };
        let reach = self.rules().iter().fold(whole, |reach, rule| match self.range_of(rule, query) {
            Some(range) => Reach { keys: intersection(&reach.keys, &range), ..reach },
            None => Reach { is_whole: false, ..reach },
        });
        // An empty range is empty at the same place wherever it came from.
        if reach.keys.is_empty() { Reach { keys: 0..0, ..reach } } else { reach }
    }

    /// The keys that one layer lets the query see; `None` where they are not a range.
    fn range_of(&self, rule: &MaskRule, query: usize) -> Option<Range<usize>> {
        let n_k = self.n_k();
        match rule {
            MaskRule::Causal(corner) => {
                let end = key_at(self.last_visible(*corner, query).saturating_add(1), n_k);
                Some(0..end.max(self.n_prefix()))
            }
            MaskRule::ValidKeys(n_valid) => Some(0..*n_valid),
            MaskRule::Window { left, right } if self.has_no_global() => {
                let position = self.query_position(query);
                let start = left.map_or(0, |left| key_at(position.saturating_sub(to_i64(left)), n_k));
                let end = right.map_or(n_k, |right| {
                    key_at(position.saturating_add(to_i64(right)).saturating_add(1), n_k)
                });
                Some(start..end)
            }
            MaskRule::Prefix(_) | MaskRule::Global(_) => Some(0..n_k),
            _ => None,
        }
    }
}

/// A position as a key index, no smaller than 0 and no larger than `n_k`.
fn key_at(position: i64, n_k: usize) -> usize {
    usize::try_from(position.max(0)).map_or(n_k, |key| key.min(n_k))
}

fn intersection(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    a.start.max(b.start)..a.end.min(b.end)
}

#[cfg(test)]
mod tests {
    use super::super::Corner;
    use super::*;

    fn reach(rules: &[MaskRule], query: usize, offset: i64) -> (Range<usize>, bool) {
        let Reach { keys, is_whole } = MaskView::new(rules, 4, 6, offset, 0).reach(query);
        (keys, is_whole)
    }

    #[test]
    fn causal_layers_windows_and_valid_keys_are_ranges() {
        let causal = MaskRule::Causal(Corner::TopLeft);
        assert_eq!(reach(std::slice::from_ref(&causal), 2, 0), (0..3, true));
        assert_eq!(reach(&[MaskRule::Causal(Corner::BottomRight)], 0, 0), (0..3, true));
        let window = MaskRule::Window { left: Some(1), right: Some(1) };
        assert_eq!(reach(std::slice::from_ref(&window), 3, 0), (2..5, true));
        assert_eq!(reach(&[causal.clone(), window, MaskRule::ValidKeys(3)], 3, 0), (2..3, true));
        assert_eq!(reach(&[causal.clone(), MaskRule::Prefix(5)], 0, 0), (0..5, true));
        assert_eq!(reach(&[causal], 0, -1), (0..0, true));
    }

    #[test]
    fn what_is_not_a_range_is_left_to_be_asked_pair_by_pair() {
        let window = MaskRule::Window { left: Some(0), right: Some(0) };
        assert_eq!(reach(&[window, MaskRule::Global(vec![1])], 0, 0), (0..6, false));
        assert_eq!(reach(&[MaskRule::Strided(2), MaskRule::ValidKeys(2)], 0, 0), (0..2, false));
    }
}

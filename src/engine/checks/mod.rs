//! Standing checks: what has to hold for every attention, tried out on the one at hand.
//!
//! Two look at the weights as they are; three change the input and evaluate again. They take the evaluation as a function,
//! so that they can be shown one that is wrong.

mod given;
mod leak;
mod padding;
mod permutation;
mod weights;

use super::{Attention, AttentionSpec, HeadInput, attend};

pub use given::checks_of_given_weights;
pub use leak::no_leak_from_later_tokens;
pub use padding::padding_moves_nothing;
pub use permutation::key_order_does_not_matter;
pub use weights::{blocked_weights_are_zero, row_sum_tolerance, rows_sum_to_one};

/// One of the standing checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// The weights of every query that sees something sum to 1.
    RowsSumToOne,
    /// The weight of every blocked pair is exactly 0.
    BlockedWeightsAreZero,
    /// Under a causal mask, changing a later token leaves every earlier output as it was, bit for bit.
    NoLeakFromLaterTokens,
    /// Changing padding, or adding one more padding key, leaves every output as it was.
    PaddingMovesNothing,
    /// Shuffling keys together with their values leaves every output as it was.
    KeyOrderDoesNotMatter,
}

impl Check {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 5] = [
        Self::RowsSumToOne,
        Self::BlockedWeightsAreZero,
        Self::NoLeakFromLaterTokens,
        Self::PaddingMovesNothing,
        Self::KeyOrderDoesNotMatter,
    ];

    /// A few words, as a statement that holds or does not.
    pub fn label(self) -> &'static str {
        match self {
            Self::RowsSumToOne => "rows sum to 1",
            Self::BlockedWeightsAreZero => "blocked weights are 0",
            Self::NoLeakFromLaterTokens => "no leak from later tokens",
            Self::PaddingMovesNothing => "padding moves nothing",
            Self::KeyOrderDoesNotMatter => "key order does not matter",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckOutcome {
    /// Nothing wrong among what was examined.
    Pass {
        /// How much of what could be examined was.
        examined: Examined,
        /// What was left out on purpose, as a clause: `queries that see nothing are left out`.
        note: Option<String>,
    },
    /// The first thing that is wrong.
    Fail {
        /// Where.
        place: Place,
        /// What is wrong there, in one sentence with the numbers.
        detail: String,
    },
    /// There is nothing to check.
    NotApplicable {
        /// Why, in one clause: `no pair is blocked`.
        why: String,
    },
}

impl CheckOutcome {
    /// Adds a clause to the note of a check that passed.
    pub fn say(&mut self, clause: &str) {
        if let Self::Pass { note, .. } = self {
            *note = Some(match note.take() {
                Some(note) => format!("{clause}; {note}"),
                None => clause.to_owned(),
            });
        }
    }
}

/// How many of how many things a check examined; fewer where all would take too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Examined {
    /// Things examined.
    pub count: usize,
    /// Things that there are.
    pub of: usize,
    /// What the things are: `rows`, `blocked pairs`, `later tokens`, `padding keys`, `heads`.
    pub what: &'static str,
}

impl Examined {
    /// Whether nothing was left to a sample.
    pub fn is_complete(self) -> bool {
        self.count == self.of
    }
}

/// Where a check failed. All indices count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The query head.
    pub query_head: usize,
    /// The query whose weights or output are wrong.
    pub query: usize,
    /// The key that is involved, where one is.
    pub key: Option<usize>,
}

/// One head, as it was evaluated.
#[derive(Clone, Copy, Debug)]
pub struct CheckedHead<'a> {
    /// Which query head.
    pub query_head: usize,
    /// Its Q, K and V.
    pub input: &'a HeadInput,
    /// What was made of them.
    pub attention: &'a Attention,
}

/// Every check with its outcome, in the order of [`Check::ALL`].
pub fn standing_checks(heads: &[CheckedHead<'_>], spec: &AttentionSpec) -> Vec<(Check, CheckOutcome)> {
    standing_checks_of(heads, spec, attend)
}

/// [`standing_checks`] of another evaluation than [`attend()`].
pub fn standing_checks_of(
    heads: &[CheckedHead<'_>],
    spec: &AttentionSpec,
    attend: impl Fn(&HeadInput, &AttentionSpec, usize) -> Attention,
) -> Vec<(Check, CheckOutcome)> {
    let run = |check| match check {
        Check::RowsSumToOne => rows_sum_to_one(heads, spec),
        Check::BlockedWeightsAreZero => blocked_weights_are_zero(heads, spec),
        Check::NoLeakFromLaterTokens => no_leak_from_later_tokens(heads, spec, &attend),
        Check::PaddingMovesNothing => padding_moves_nothing(heads, spec, &attend),
        Check::KeyOrderDoesNotMatter => key_order_does_not_matter(heads, spec, &attend),
    };
    Check::ALL.map(|check| (check, run(check))).into()
}

/// About how many multiply-adds a check that evaluates again may cost.
const WORK_BUDGET: usize = 4_000_000;

/// How often each head may be evaluated again: at least once, however large it is.
fn evaluations_per_head(heads: &[CheckedHead<'_>]) -> usize {
    let work_of = |head: &CheckedHead<'_>| {
        let pairs = head.input.q.rows().saturating_mul(head.input.k.rows());
        head.input.macs().saturating_add(pairs.saturating_mul(8)) // 8: the exponential and the mask
    };
    let work = heads.iter().map(work_of).fold(1, usize::saturating_add);
    (WORK_BUDGET / work).max(1)
}

/// At most `count` of the `items`, evenly spread, the first and the last among them (only the last where `count` is 1).
fn spread<T: Copy>(items: &[T], count: usize) -> Vec<T> {
    if items.len() <= count {
        return items.to_vec();
    }
    let last = items.len() - 1;
    match count {
        0 => Vec::new(),
        1 => vec![items[last]],
        _ => (0..count).map(|at| items[at * last / (count - 1)]).collect(),
    }
}

/// Another number than `value`, whatever that is.
fn changed(value: f64) -> f64 {
    if value.is_finite() { value + 1.0 + value.abs() } else { 1.0 }
}

/// `input` with the keys and values in `keys` changed.
fn with_changed_keys(input: &HeadInput, keys: impl Iterator<Item = usize> + Clone) -> HeadInput {
    let change = |matrix: &super::Matrix| {
        let mut matrix = matrix.clone();
        for key in keys.clone() {
            matrix.row_mut(key).iter_mut().for_each(|value| *value = changed(*value));
        }
        std::sync::Arc::new(matrix)
    };
    HeadInput { q: input.q.clone(), k: change(&input.k), v: change(&input.v) }
}

/// The first query among `queries` whose output is not the same after a change: bit for bit, and up to rounding in a head so
/// large that the order of its sums may depend on the number of keys and on whether all values are finite.
fn first_moved(
    head: &CheckedHead<'_>,
    after: &Attention,
    mut queries: impl Iterator<Item = usize>,
) -> Option<usize> {
    let tolerance = if head.input.is_large() { ROUNDING * largest(&head.input.v) } else { 0.0 };
    let differs = |(&before, &after): (&f64, &f64)| !is_same(before, after, tolerance);
    queries.find(|&query| {
        let (before, after) = (head.attention.output.row(query), after.output.row(query));
        before.iter().zip(after).any(differs)
    })
}

/// How far outputs in `f64` may differ, relative to the largest value that is mixed, when their sums are made in another order.
const ROUNDING: f64 = 1e-12;

/// The largest finite magnitude.
fn largest(matrix: &super::Matrix) -> f64 {
    let magnitudes = matrix.data().iter().map(|value| value.abs()).filter(|value| value.is_finite());
    magnitudes.fold(f64::MIN_POSITIVE, f64::max)
}

/// Equal within `tolerance`; a NaN equals a NaN.
fn is_same(before: f64, after: f64, tolerance: f64) -> bool {
    before == after || (before.is_nan() && after.is_nan()) || (before - after).abs() <= tolerance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_from_the_first_to_the_last() {
        let items: Vec<usize> = (0..10).collect();
        assert_eq!(spread(&items, 4), [0, 3, 6, 9]);
        assert_eq!(spread(&items, 1), [9]);
        assert_eq!(spread(&items, 10), items);
        assert_eq!(spread(&items, 0), [] as [usize; 0]);
    }

    #[test]
    fn a_change_is_a_change() {
        for value in [0.0, 0.5, -1.0, 1e300, -1e-300, f64::NAN, f64::INFINITY] {
            assert!(changed(value).to_bits() != value.to_bits());
        }
    }
}

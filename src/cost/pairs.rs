//! How many query–key pairs are visible.
//!
//! A window of W counts W keys **including** the token itself: query i sees keys j with 0 ≤ i − j < W.

use super::error::positive;
use super::{CostError, Field, Formula};

const OVERFLOW: CostError = CostError::Overflow { field: Field::Tokens, bits: 128 };

/// n(n+1)/2: the pairs of a causal square. The T²/2 of textbooks is its leading term.
pub fn triangle(n: u128) -> Result<u128, CostError> {
    // One of two neighbours is even; halving it first keeps the product small.
    let (a, b) = if n.is_multiple_of(2) { (n / 2, n + 1) } else { (n.div_ceil(2), n) };
    a.checked_mul(b).ok_or(OVERFLOW)
}

/// Visible pairs of a causal square of n queries, each seeing at most `window` keys: S(n, W).
pub fn causal_pairs(n: u128, window: Option<u64>) -> Result<u128, CostError> {
    check_window(window)?;
    match window.map(u128::from) {
        Some(window) if n > window => {
            let rest = (n - window).checked_mul(window).ok_or(OVERFLOW)?;
            triangle(window)?.checked_add(rest).ok_or(OVERFLOW)
        }
        _ => triangle(n),
    }
}

/// Visible pairs of `new` queries that follow `past` cached tokens: S(past + new, W) − S(past, W).
pub fn causal_pairs_after(past: u64, new: u64, window: Option<u64>) -> Result<u128, CostError> {
    let (past, new) = (u128::from(past), u128::from(new));
    Ok(causal_pairs(past + new, window)? - causal_pairs(past, window)?)
}

/// Visible pairs of n queries when a token sees only earlier tokens of its own chunk.
pub fn chunked_pairs(n: u64, chunk: u64) -> Result<u128, CostError> {
    positive(Field::Chunk, chunk)?;
    let (n, chunk) = (u128::from(n), u128::from(chunk));
    let whole = (n / chunk).checked_mul(triangle(chunk)?).ok_or(OVERFLOW)?;
    whole.checked_add(triangle(n % chunk)?).ok_or(OVERFLOW)
}

/// Σ of S(t, W) over t = 1 … n: the pairs when every step runs the whole prefix again.
pub fn pairs_of_all_prefixes(n: u128, window: Option<u64>) -> Result<u128, CostError> {
    check_window(window)?;
    let tetrahedron = |n: u128| -> Result<u128, CostError> {
        // n(n+1)(n+2)/6 = triangle(n)·(n+2)/3, and the product is divisible by 3.
        triangle(n)?.checked_mul(n + 2).map(|product| product / 3).ok_or(OVERFLOW)
    };
    match window.map(u128::from) {
        Some(window) if n > window => {
            let steps = (triangle(n)? - triangle(window)?).checked_mul(window).ok_or(OVERFLOW)?;
            let missing = (n - window).checked_mul(triangle(window - 1)?).ok_or(OVERFLOW)?;
            (steps - missing).checked_add(tetrahedron(window)?).ok_or(OVERFLOW)
        }
        _ => tetrahedron(n),
    }
}

/// Σ of t² over t = 1 … n: every step computes the full square and masks afterwards.
pub fn squares_of_all_prefixes(n: u128) -> Result<u128, CostError> {
    // n(n+1)(2n+1)/6 = triangle(n)·(2n+1)/3.
    triangle(n)?.checked_mul(2 * n + 1).map(|product| product / 3).ok_or(OVERFLOW)
}

/// A window that holds not even the token itself is refused.
pub(super) fn check_window(window: Option<u64>) -> Result<(), CostError> {
    window.map_or(Ok(()), |keys| positive(Field::Window, keys))
}

/// The same count as a formula, for `n_q` queries whose last one sees every key.
pub(super) fn causal_formula(n_q: u64, n_k: u64, window: Option<u64>) -> Formula {
    let window = window.filter(|window| *window < n_k);
    let past = n_k.saturating_sub(n_q);
    match (n_q, window) {
        (1, None) if past > 0 => return Field::Keys.is(n_k),
        (1, Some(window)) => return Field::Keys.is(n_k).min(Field::Window.is(window)),
        _ => {}
    }
    let queries = || if n_q > n_k { Field::Keys.is(n_k) } else { Field::Queries.is(n_q) };
    let before = || Formula::named("tokens before the first query", "n_past", past.into());
    match (past, window) {
        // Queries that stand before the first key see nothing, so at most n_k of them count.
        (0, None) => Formula::triangle(queries()),
        (_, None) => queries() * before() + Formula::triangle(queries()),
        (0, Some(window)) => windowed(queries(), n_k, window),
        (_, Some(window)) => windowed(Field::Keys.is(n_k), n_k, window) - windowed(before(), past, window),
    }
}

/// n·W − W(W−1)/2, or the triangle where the window is not full yet.
fn windowed(n: Formula, count: u64, window: u64) -> Formula {
    if count <= window {
        return Formula::triangle(n);
    }
    let w = || Field::Window.is(window);
    n * w() - w() * (w() - Formula::number(1_u64)) / Formula::number(2_u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts pair by pair, straight from the definition of the mask.
    fn counted(past: u64, new: u64, window: Option<u64>) -> u128 {
        let mut pairs = 0;
        for query in past..past + new {
            for key in 0..past + new {
                if key <= query && window.is_none_or(|window| query - key < window) {
                    pairs += 1;
                }
            }
        }
        pairs
    }

    #[test]
    fn closed_forms_agree_with_counting_pair_by_pair() {
        for past in 0..9 {
            for new in 0..9 {
                for window in [None, Some(1), Some(2), Some(5), Some(40)] {
                    let closed = causal_pairs_after(past, new, window).unwrap();
                    assert_eq!(closed, counted(past, new, window), "past {past} new {new} window {window:?}");
                    let formula = causal_formula(new, past + new, window);
                    assert_eq!(formula.value().unwrap(), closed, "{}", formula.symbols());
                }
            }
        }
    }

    #[test]
    fn the_formula_of_one_more_token_is_the_number_of_keys_it_sees() {
        assert_eq!(causal_formula(1, 9, None).symbols(), "n_k");
        assert_eq!(causal_formula(1, 9, Some(4)).symbols(), "min(n_k, W)");
        assert_eq!(causal_formula(4, 4, None).symbols(), "n_q · (n_q + 1) / 2");
        assert_eq!(causal_formula(3, 5, None).symbols(), "n_q · n_past + n_q · (n_q + 1) / 2");
        // Five queries over three keys, last corner: the first two see nothing.
        assert_eq!(causal_formula(5, 3, None).value(), Ok(6));
        assert_eq!(causal_formula(5, 3, Some(2)).value(), Ok(5));
    }

    #[test]
    fn running_every_prefix_again_costs_the_sum_of_all_prefixes() {
        for n in 0..30_u64 {
            for window in [None, Some(1), Some(3), Some(7)] {
                let summed: u128 = (0..=n).map(|t| counted(0, t, window)).sum();
                assert_eq!(pairs_of_all_prefixes(u128::from(n), window).unwrap(), summed);
            }
            let squares: u128 = (0..=u128::from(n)).map(|t| t * t).sum();
            assert_eq!(squares_of_all_prefixes(u128::from(n)).unwrap(), squares);
        }
    }

    #[test]
    fn a_chunk_hides_every_token_of_earlier_chunks() {
        for n in 0..20 {
            for chunk in 1..8 {
                let mut pairs = 0;
                for query in 0..n {
                    pairs += u128::from(query % chunk + 1);
                }
                assert_eq!(chunked_pairs(n, chunk).unwrap(), pairs);
            }
        }
        assert_eq!(chunked_pairs(3, 0), Err(CostError::MustBePositive { field: Field::Chunk }));
    }
}

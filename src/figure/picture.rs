//! The cells of a matrix as they are drawn: one for each entry while they can be told apart, one for a block of entries in matrices
//! so large that they cannot.

use rayon::prelude::*;

use super::Outcome;

/// No more cells than this are drawn along a side.
const MOST_CELLS: usize = 1024;

/// So many of `n` entries in a row share one cell.
pub fn block_side(n: usize) -> usize {
    n.div_ceil(MOST_CELLS).max(1)
}

/// Cells row by row as drawn.
pub struct Picture {
    pub down: usize,
    pub across: usize,
    pub outcomes: Vec<Outcome>,
}

impl Picture {
    /// The cells of a matrix drawn with so many rows and columns; `outcome` tells of the entry in row and column as drawn.
    ///
    /// A block shows its most telling entry: what is no number first, then the strongest colour, and blocked only where all of it is.
    pub fn new(down: usize, across: usize, outcome: impl Fn(usize, usize) -> Outcome + Sync) -> Self {
        let (rows, cols) = (block_side(down), block_side(across));
        let (n_down, n_across) = (down.div_ceil(rows), across.div_ceil(cols));
        let block = |i: usize| {
            let (first_row, first_col) = (i / n_across * rows, i % n_across * cols);
            let (last_row, last_col) = ((first_row + rows).min(down), (first_col + cols).min(across));
            let mut telling = outcome(first_row, first_col);
            for row in first_row..last_row {
                for col in first_col..last_col {
                    telling = more_telling(telling, outcome(row, col));
                }
            }
            telling
        };
        let outcomes = match rows.max(cols) {
            1 => (0..down * across).map(|i| outcome(i / across, i % across)).collect(),
            _ => (0..n_down * n_across).into_par_iter().map(block).collect(),
        };
        Self { down: n_down, across: n_across, outcomes }
    }
}

fn more_telling(a: Outcome, b: Outcome) -> Outcome {
    if strength(b) > strength(a) { b } else { a }
}

fn strength(outcome: Outcome) -> f64 {
    match outcome {
        Outcome::Blocked => -1.0,
        Outcome::Value(position) | Outcome::Constant(position) => position.abs(),
        Outcome::Below | Outcome::Above => 2.0,
        Outcome::NegativeInfinity => 3.0,
        Outcome::PositiveInfinity => 4.0,
        Outcome::NotANumber => 5.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_matrix_has_a_cell_for_every_entry() {
        let picture = Picture::new(2, 3, |row, col| Outcome::Value((row * 3 + col) as f64));
        assert_eq!((picture.down, picture.across), (2, 3));
        assert_eq!(picture.outcomes[4], Outcome::Value(4.0));
    }

    #[test]
    fn a_block_shows_its_most_telling_entry() {
        let n = 2 * MOST_CELLS + 1; // three entries a side, the last block smaller
        let spike = |row: usize, col: usize| match (row, col) {
            (7, 2000) => Outcome::Value(-0.9),
            (2048, 2048) => Outcome::NotANumber,
            _ if col > row => Outcome::Blocked,
            _ => Outcome::Value(0.1),
        };
        let picture = Picture::new(n, n, spike);
        assert_eq!((picture.down, picture.across), (683, 683));
        let cell = |row: usize, col: usize| picture.outcomes[row * 683 + col];
        assert_eq!(cell(2, 666), Outcome::Value(-0.9));
        assert_eq!(cell(0, 1), Outcome::Blocked);
        assert_eq!(cell(1, 1), Outcome::Value(0.1));
        assert_eq!(cell(682, 682), Outcome::NotANumber);
    }
}

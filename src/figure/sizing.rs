//! How large cells and digits are: comfortable while there is room, smaller step by step, and colour only in the end.

use super::Size;

/// Up to this many cells along a side hold digits.
pub const DIGITS_UP_TO: usize = 64;
/// Up to this many features (columns of Q, K, V and outputs) hold digits on a board.
pub const FEATURES_UP_TO: usize = 12;
/// Extent of a side without digits, in points.
pub const COLOR_SIDE: f32 = 512.0;
/// Extent of a feature axis without digits, in points.
const STRIP: f32 = 112.0;
/// The narrowest cell with digits, in sizes of the digits; whole numbers then still make near-square cells.
pub const NARROWEST: f32 = 3.2;
/// Room between a number and both edges of its cell together, in sizes of the digits.
pub const PADDING: f32 = 0.66;

/// Digits of a board: their size in points, and how many decimals the stages give up for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    pub size: f32,
    /// Decimals that scores, inputs and outputs show less than asked for.
    pub dropped: usize,
    /// Decimals that weights show less than asked for.
    pub dropped_of_weights: usize,
}

/// From comfortable to tight. Larger digits are worth the last decimals of a score; all digits are there when one matrix is
/// shown alone.
pub const FITS: [Fit; 10] = [
    fit(10.5, 0, 0),
    fit(10.0, 0, 0),
    fit(9.5, 0, 0),
    fit(9.0, 0, 0),
    fit(9.0, 1, 0),
    fit(8.5, 1, 0),
    fit(8.0, 1, 0),
    fit(9.0, 2, 1),
    fit(8.5, 2, 1),
    fit(8.0, 2, 1),
];

const fn fit(size: f32, dropped: usize, dropped_of_weights: usize) -> Fit {
    Fit { size, dropped, dropped_of_weights }
}

/// Height of rows that hold digits, for so many rows.
pub fn row_height(n_rows: usize) -> f32 {
    match n_rows {
        0..=8 => 27.0,
        9..=16 => 23.0,
        17..=32 => 19.0,
        _ => 16.0,
    }
}

/// The largest digits that a row of this height takes.
pub fn digits_for_row(height: f32) -> f32 {
    (height * 0.47).min(10.5)
}

/// Side of a cell without digits where `n` of them make up an axis of this extent.
pub fn color_cell(n: usize, side: f32) -> f32 {
    (side / n.max(1) as f32).min(28.0)
}

/// Extent of one feature on an axis of `n` features without digits.
pub fn strip_cell(n: usize) -> f32 {
    (STRIP / n.max(1) as f32).min(7.0)
}

/// Cell of a matrix, and the size of its digits where it has any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellPlan {
    pub cell: Size,
    pub digits: Option<f32>,
}

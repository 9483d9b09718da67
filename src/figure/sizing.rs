//! How large cells and digits are: comfortable while there is room, smaller step by step, and colour only in the end.

use super::Size;

/// Up to this many cells along a side hold digits.
pub const DIGITS_UP_TO: usize = 64;
/// Up to this many features (columns of Q, K, V and outputs) hold digits on a board.
pub const FEATURES_UP_TO: usize = 12;
/// Extent of a side without digits, in points.
const COLOR_SIDE: f32 = 512.0;
/// Extent of a feature axis without digits, in points.
const STRIP: f32 = 112.0;
/// The narrowest cell with digits, in points; whole numbers then still make near-square cells.
pub const NARROWEST: f32 = 34.0;
/// Room between a number and both edges of its cell together, in points.
pub const PADDING: f32 = 7.0;

/// Digit sizes, from comfortable to tight, in points.
pub const DIGIT_SIZES: [f32; 6] = [10.5, 10.0, 9.5, 9.0, 8.5, 8.0];

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

/// Side of a cell without digits where `n` of them make up an axis.
pub fn color_cell(n: usize) -> f32 {
    (COLOR_SIDE / n.max(1) as f32).min(12.0)
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

//! From a request to a drawing.

use super::board::board;
use super::{Drawing, Figure, FigureInput, FigureOptions};

/// Lays out a figure. A pure function: the same input and the same options give the same drawing, to the bit.
///
/// What a scene does not have (a projection, say) gives an empty figure that says so.
pub fn compose_input(figure: &Figure, input: &FigureInput<'_>, options: &FigureOptions) -> Drawing {
    match figure {
        Figure::Board => board(input, options),
        _ => board(input, options),
    }
}

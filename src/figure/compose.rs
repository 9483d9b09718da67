//! From a request to a drawing.

use super::board::board;
use super::{Drawing, Figure, FigureInput, FigureOptions};
use crate::scene::{Evaluation, Scene};

/// Lays out a figure of a scene and of what it comes to.
pub fn compose(figure: &Figure, scene: &Scene, evaluation: &Evaluation, options: &FigureOptions) -> Drawing {
    compose_input(figure, &FigureInput::new(scene, evaluation), options)
}

/// Lays out a figure. A pure function: the same input and the same options give the same drawing, to the bit.
///
/// What a scene does not have (a projection, say) gives an empty figure that says so.
pub fn compose_input(figure: &Figure, input: &FigureInput<'_>, options: &FigureOptions) -> Drawing {
    match figure {
        Figure::Board => board(input, options),
        _ => board(input, options),
    }
}

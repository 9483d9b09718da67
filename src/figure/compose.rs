//! From a request to a drawing.

use super::board::board;
use super::chart::chart;
use super::heads::heads;
use super::positions::positions;
use super::projection::projection;
use super::study::study;
use super::trace_figure::trace_figure;
use super::{Drawing, Figure, FigureInput, FigureOptions, single};
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
        Figure::Stage(of) => single::stage(*of, input, options),
        Figure::Matrix(id) => single::matrix(*id, input, options),
        Figure::Heads => heads(input, options),
        Figure::Projection => projection(input, options),
        Figure::Positions => positions(input, options),
        Figure::Trace => trace_figure(input, options),
        Figure::Study(of) => study(*of, input, options),
        Figure::Chart(spec) => chart(spec, options.theme.colors()),
    }
}

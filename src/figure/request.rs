//! What to show, and how.

use super::{ChartSpec, FigureTheme, MatrixId, Study};
use crate::scene::{Orientation, Palette, Stage, View};

/// What a figure shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// Q, Kᵀ, V and the chosen stages of one head side by side.
    Board,
    /// One stage of one head on its own.
    Stage(Stage),
    /// Any one matrix on its own.
    Matrix(MatrixId),
    /// The arithmetic behind the pinned cell (or the first, when nothing is pinned).
    Trace,
    /// The weights of all heads in small, then concat · W_O = output.
    Heads,
    /// X times W_Q, W_K and W_V: where Q, K and V come from.
    Projection,
    /// What positions do: Q and K before and after rotation, what is added to X, or the bias of ALiBi.
    Positions,
    /// A closer look at one head.
    Study(Study),
    /// A line chart.
    Chart(Box<ChartSpec>),
}

/// The (query, key) pair that a reader holds on to, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pin {
    /// Which query.
    pub query: usize,
    /// Which key.
    pub key: usize,
}

/// How a figure is shown. The same options and the same evaluation give the same drawing, to the bit.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureOptions {
    /// Which query head, from 0. A number past the last head shows the last one.
    pub head: usize,
    /// Which stages are on the board.
    pub stages: Vec<Stage>,
    /// Decimal places in cells.
    pub decimals: usize,
    /// Colours of the weights.
    pub palette: Palette,
    /// Which way round the matrices are drawn.
    pub orientation: Orientation,
    /// Light, dark or print.
    pub theme: FigureTheme,
    /// Outlined on the board and explained in the trace. A pin outside the scene is ignored.
    pub pin: Option<Pin>,
    /// Whether title and formula stand above the figure.
    pub title: bool,
    /// Whether every matrix has its colour range below it.
    pub legends: bool,
    /// Whether row maxima and sums are written out below the board, for scenes small enough.
    pub softmax_rows: bool,
    /// Whether each query's weights are coloured from 0 to that query's largest weight instead of from 0 to 1.
    pub weights_per_row: bool,
    /// Whether cells of the board hold digits, up to 64 positions a side. Without them a board is small enough for any slide.
    pub digits: bool,
    /// Whether the trace writes out sums of up to 64 terms; otherwise the middle of longer ones than 6 is left out and counted.
    pub every_term: bool,
    /// Extent of a side of the board without digits, in points.
    pub color_side: f32,
}

impl Default for FigureOptions {
    fn default() -> Self {
        Self::of_view(&View::default())
    }
}

impl FigureOptions {
    /// The options that a scene asks for.
    pub fn of_view(view: &View) -> Self {
        Self {
            head: view.head.saturating_sub(1),
            stages: view.stages.clone(),
            decimals: view.decimals,
            palette: view.palette,
            orientation: view.orientation,
            theme: FigureTheme::default(),
            pin: None,
            title: true,
            legends: true,
            softmax_rows: true,
            weights_per_row: false,
            digits: true,
            every_term: false,
            color_side: super::sizing::COLOR_SIDE,
        }
    }
}

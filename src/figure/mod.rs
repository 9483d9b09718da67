//! Room 5: figures. A request and an evaluation become a [`Drawing`]: items at final positions, in points.
//!
//! | part | what it does |
//! |---|---|
//! | [`compose()`] | from a [`Figure`] and [`FigureOptions`] to a drawing |
//! | `board`, `board_rows`, `board_columns` | Kᵀ, Q, V and all stages of one head on one axis of queries |
//! | `single`, `heads`, `projection`, `chart`, `trace_figure` | the other figures |
//! | `study` | closer looks at one head: formats, tiles, decoding, gradients, linear attention |
//! | `matrix_view`, `hatch`, `axis`, `caption`, `legend`, `heading` | what figures are made of |
//! | `sizing` | how large cells and digits are |
//! | `color`, `ramp`, `color_scale`, `theme` | from a number to a colour |
//! | `numbers`, `ticks`, `shorten`, `words` | from a number, a label, a figure to text |
//! | [`trace_text`] | the arithmetic behind a cell, line by line |
//! | `fonts`, `shaping`, `text`, `label`, `formula` | text at final positions |
//! | [`Drawing`] | items at final positions |
//!
//! This room does not know egui nor files.

mod attention_tex;
mod axis;
mod board;
mod board_columns;
mod board_rows;
mod caption;
mod cell_marks;
mod chart;
mod color;
mod color_scale;
mod compose;
mod drawing;
mod equation;
mod font_data;
mod fonts;
mod formula;
mod geometry;
mod given_trace;
mod hatch;
mod heading;
mod heads;
mod input;
mod label;
mod legend;
mod mask_words;
mod matrix_id;
mod matrix_view;
mod missing_glyph;
mod mistake_words;
mod names;
mod numbers;
mod picture;
mod positions;
mod projection;
mod ramp;
mod request;
mod shaping;
mod shorten;
mod side_numbers;
mod single;
mod sizing;
mod sketch;
mod softmax_rows;
mod study;
mod text;
mod theme;
mod ticks;
mod trace;
mod trace_cause;
mod trace_dropout;
mod trace_figure;
mod trace_positions;
mod trace_products;
mod words;

pub use chart::{ChartLine, ChartSpec, line_color};
pub use color::Color;
pub use color_scale::{ColorScale, Outcome, Signed};
pub use compose::{compose, compose_input};
pub use drawing::{
    CellRef, Cells, Drawing, Glyph, Grid, Item, MatrixId, Outline, PathCommand, Polyline, Reading, RectItem,
    Stroke, Text,
};
pub use font_data::FontError;
pub use fonts::{Face, FaceMetrics, set_system_fallback};
pub use formula::{FormulaBox, FormulaError, formula};
pub use geometry::{Point, Rect, Size};
pub use input::FigureInput;
pub use label::Label;
pub use mask_words::mask_name;
pub use matrix_id::AxisOf;
pub use names::{Labels, labels_of, matrix_of};
pub use numbers::{NumberFormat, format_number, format_short};
pub use ramp::{Ramp, RampKind, ramp};
pub use request::{Figure, FigureOptions, Pin};
pub use shorten::{shorten_to_graphemes, shorten_to_width, visible};
pub use study::Study;
pub use text::{Anchor, measure, text};
pub use theme::{FigureTheme, Theme, Tone};
pub use ticks::{AxisScale, tick_label, ticks};
pub use trace::{LineKind, Terms, TraceLine, TraceSection, TraceText, Writing, trace_text};

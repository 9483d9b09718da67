//! Room 5: figures. A request and an evaluation become a [`Drawing`]: items at final positions, in points.
//!
//! This room does not know egui nor files.

mod color;
mod drawing;
mod fonts;
mod geometry;
mod text;

pub use color::Color;
pub use drawing::{
    CellRef, Cells, Drawing, Glyph, Grid, Item, MatrixId, Outline, PathCommand, Polyline, RectItem, Stroke,
    Text,
};
pub use fonts::Face;
pub use geometry::{Point, Rect, Size};
pub use text::{Anchor, measure, text};

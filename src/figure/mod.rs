//! Room 5: figures. A request and an evaluation become a [`Drawing`]: items at final positions, in points.
//!
//! This room does not know egui nor files.

mod color;
mod drawing;
mod font_data;
mod fonts;
mod formula;
mod geometry;
mod label;
mod missing_glyph;
mod shaping;
mod text;

pub use color::Color;
pub use drawing::{
    CellRef, Cells, Drawing, Glyph, Grid, Item, MatrixId, Outline, PathCommand, Polyline, RectItem, Stroke,
    Text,
};
pub use font_data::FontError;
pub use fonts::{Face, FaceMetrics, set_system_fallback};
pub use formula::{FormulaBox, FormulaError, formula};
pub use geometry::{Point, Rect, Size};
pub use label::Label;
pub use text::{Anchor, measure, text};

//! Room 6: a [`Drawing`] as SVG, PNG or PDF; a matrix as CSV, Markdown, LaTeX, Typst or NPY.
//!
//! This room does not lay anything out: every item is already at its place. The three writers walk the same items in the same
//! order. Large grids of cells become one image in all three, enlarged so far that viewers have no edge to blur.

mod cells;
mod metadata;
mod options;
mod paint;
mod pdf;
mod pdf_text;
mod png;
mod raster;
mod raster_text;
mod sane;
mod strokes;
mod svg;
mod svg_text;
mod table_format;
mod tables;
mod tex;

pub use self::png::write_png;
pub use metadata::scene_of_figure;
pub use options::{ExportError, ExportOptions, Format, Ground, TextMode};
pub use raster::{Raster, rasterize};
pub use table_format::{TableFormat, table};
pub use tables::{MatrixTable, csv, markdown, npy, tab_separated, write_csv};
pub use tex::{latex_matrix, latex_table, typst_matrix, typst_table};

use crate::figure::Drawing;

/// Writes a drawing as a file of the given format. The same drawing and options give the same bytes.
///
/// # Errors
/// [`ExportError`] when the size asked for is no size, or too large to be held in memory.
pub fn export(drawing: &Drawing, format: Format, options: &ExportOptions) -> Result<Vec<u8>, ExportError> {
    let scale = options.scale_of(drawing)?;
    let drawing = &*sane::drawable(drawing);
    match format {
        Format::Svg => svg::write(drawing, scale, options),
        Format::Png => png::write(drawing, scale, options),
        Format::Pdf => pdf::write(drawing, scale, options),
    }
}

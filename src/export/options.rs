//! What the user may choose about an exported figure, and what can go wrong.

use crate::figure::{Color, Drawing};

/// A file format for figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Scalable Vector Graphics, plain enough for PowerPoint and Inkscape.
    Svg,
    /// Pixels, with their physical size.
    Png,
    /// One page as large as the drawing.
    Pdf,
}

impl Format {
    /// Every format, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Svg, Self::Pdf, Self::Png];

    /// The format that a file name's ending means, with or without the dot, in capitals or not.
    pub fn from_extension(extension: &str) -> Option<Self> {
        let extension = extension.trim_start_matches('.');
        Self::ALL.into_iter().find(|format| format.extension().eq_ignore_ascii_case(extension))
    }

    /// The format that a file's ending means.
    pub fn from_path(path: &std::path::Path) -> Option<Self> {
        Self::from_extension(path.extension()?.to_str()?)
    }

    /// The usual ending of a file name, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// The name people use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Svg => "SVG",
            Self::Png => "PNG",
            Self::Pdf => "PDF",
        }
    }
}

/// What lies under the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ground {
    /// Whatever the figure is put on.
    #[default]
    Transparent,
    /// One colour.
    Paper(Color),
}

/// How letters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TextMode {
    /// Each format's own habit: shapes in SVG, text in PDF.
    #[default]
    Usual,
    /// As outlines: the same everywhere, without any font.
    Shapes,
    /// As characters: they can be searched, selected and edited, and in SVG depend on the fonts of the reader's machine.
    /// Formulas stay outlines in SVG, since hardly any machine has their fonts.
    Text,
}

/// How a figure is written.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportOptions {
    /// Width in centimetres; the whole drawing is scaled to it. `None` keeps the drawing's own size in points.
    pub width_cm: Option<f32>,
    /// Pixels per inch; only PNG has pixels.
    pub dpi: f32,
    /// What lies under the drawing.
    pub ground: Ground,
    /// How letters are written; PNG has only pixels.
    pub text: TextMode,
    /// The text of the scene that made the figure. It is kept inside the file, so that the figure can be opened as a scene.
    pub scene_source: Option<String>,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            width_cm: None,
            dpi: 300.0,
            ground: Ground::Transparent,
            text: TextMode::Usual,
            scene_source: None,
        }
    }
}

/// A figure or a table that could not be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExportError {
    /// The drawing has no area.
    #[error("the figure is {width} × {height} pt; a figure needs a width and a height above zero")]
    NoArea {
        /// Width of the drawing in points.
        width: f32,
        /// Height of the drawing in points.
        height: f32,
    },
    /// Not a width for a figure.
    #[error("a width of {0} cm cannot be used; choose one between 0.1 and 500 cm")]
    Width(f32),
    /// Not a resolution.
    #[error("a resolution of {0} dpi cannot be used; choose one between 1 and 9600 dpi")]
    Resolution(f32),
    /// More pixels than are sensible.
    #[error(
        "the picture would be {width} × {height} pixels and need {} MB of memory; choose a smaller width or fewer dpi (at most {} million pixels)",
        width * height * 4 / 1_000_000, super::raster::MAX_PIXELS / 1_000_000
    )]
    TooManyPixels {
        /// Pixels across.
        width: u64,
        /// Pixels down.
        height: u64,
    },
    /// The writer of the format gave up.
    #[error("the {format} file could not be written: {message}")]
    Writer {
        /// Which format.
        format: &'static str,
        /// What the writer said.
        message: String,
    },
}

/// Points per centimetre.
const PT_PER_CM: f32 = 72.0 / 2.54;

impl ExportOptions {
    /// Points of the file per point of the drawing.
    pub(super) fn scale_of(&self, drawing: &Drawing) -> Result<f32, ExportError> {
        let (width, height) = (drawing.size.width, drawing.size.height);
        let usable = |length: f32| length.is_finite() && length > 0.0;
        if !usable(width) || !usable(height) {
            return Err(ExportError::NoArea { width, height });
        }
        match self.width_cm {
            None => Ok(1.0),
            Some(cm) if (0.1..=500.0).contains(&cm) => Ok(cm * PT_PER_CM / width),
            Some(cm) => Err(ExportError::Width(cm)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_of_file_names_are_known() {
        assert_eq!(Format::from_extension("svg"), Some(Format::Svg));
        assert_eq!(Format::from_extension(".PDF"), Some(Format::Pdf));
        assert_eq!(Format::from_extension("jpeg"), None);
        assert_eq!(Format::from_extension(""), None);
        assert_eq!(Format::from_path("talks/weights.v2.Png".as_ref()), Some(Format::Png));
        assert_eq!(Format::from_path("svg".as_ref()), None);
    }
}

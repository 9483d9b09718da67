//! The faces that figures are set in, and their measures.

use super::font_data::{self, FontError, LoadedFont};
use super::{PathCommand, missing_glyph};

/// A face that glyphs come from. Every surface uses the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Face {
    /// Inter Regular, with figures of equal width.
    Regular,
    /// Inter SemiBold.
    Bold,
    /// Inter Italic.
    Italic,
    /// DejaVu Sans: signs, Hebrew, Arabic and whatever Inter lacks.
    Fallback,
    /// DejaVu Sans Mono.
    Mono,
    /// A KaTeX face, by its place in the table of formula faces.
    Math(u8),
    /// Noto Emoji, black and white.
    Emoji,
    /// A face of the machine, handed in by the program through [`set_system_fallback`]; without it this face has no glyph.
    System,
    /// No face at all: a box that shows the code point in hexadecimal. The field is the Unicode plane (0–16), the glyph
    /// number the rest of the code point, so the box is the same everywhere.
    Missing(u8),
}

/// Vertical measures of a face, in em (multiply by the size). All are distances, so all are positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceMetrics {
    /// From the baseline up to the top of tall letters and their accents.
    pub ascent: f32,
    /// From the baseline **down** to the bottom of letters such as g.
    pub descent: f32,
    /// Height of a capital letter.
    pub cap_height: f32,
    /// Height of a small x.
    pub x_height: f32,
}

/// The KaTeX faces in the order that `Face::Math` counts them: name in the layout engine, family, weight, whether slanted.
const MATH_FACES: [(&str, &str, u16, bool); 20] = [
    ("Main-Regular", "KaTeX_Main", 400, false),
    ("Main-Bold", "KaTeX_Main", 700, false),
    ("Main-Italic", "KaTeX_Main", 400, true),
    ("Main-BoldItalic", "KaTeX_Main", 700, true),
    ("Math-Italic", "KaTeX_Math", 400, true),
    ("Math-BoldItalic", "KaTeX_Math", 700, true),
    ("AMS-Regular", "KaTeX_AMS", 400, false),
    ("Caligraphic-Regular", "KaTeX_Caligraphic", 400, false),
    ("Caligraphic-Bold", "KaTeX_Caligraphic", 700, false),
    ("Fraktur-Regular", "KaTeX_Fraktur", 400, false),
    ("Fraktur-Bold", "KaTeX_Fraktur", 700, false),
    ("SansSerif-Regular", "KaTeX_SansSerif", 400, false),
    ("SansSerif-Bold", "KaTeX_SansSerif", 700, false),
    ("SansSerif-Italic", "KaTeX_SansSerif", 400, true),
    ("Script-Regular", "KaTeX_Script", 400, false),
    ("Typewriter-Regular", "KaTeX_Typewriter", 400, false),
    ("Size1-Regular", "KaTeX_Size1", 400, false),
    ("Size2-Regular", "KaTeX_Size2", 400, false),
    ("Size3-Regular", "KaTeX_Size3", 400, false),
    ("Size4-Regular", "KaTeX_Size4", 400, false),
];

impl Face {
    /// How many slots a table over all faces that have bytes needs.
    pub(super) const N_SLOTS: usize = 7 + MATH_FACES.len();

    /// Every bundled face: those of labels first, then emoji, then those of formulas.
    pub fn all() -> impl Iterator<Item = Self> {
        let labels = [Self::Regular, Self::Bold, Self::Italic, Self::Fallback, Self::Mono, Self::Emoji];
        labels.into_iter().chain((0..MATH_FACES.len()).map(|idx| Self::Math(idx as u8)))
    }

    /// The formula face that the layout engine calls `name`, e.g. `Math-Italic`.
    pub fn math(name: &str) -> Option<Self> {
        MATH_FACES.iter().position(|face| face.0 == name).map(|idx| Self::Math(idx as u8))
    }

    /// The font file (TrueType or OpenType); empty for `Missing`, for `System` when none was handed in, and for a `Math` out of range.
    pub fn bytes(self) -> &'static [u8] {
        self.loaded().map_or(&[], |font| font.bytes)
    }

    /// Which font of a collection file `bytes` means; 0 unless the system's face is a collection.
    pub fn collection_idx(self) -> u32 {
        self.loaded().map_or(0, |font| font.collection_idx)
    }

    /// The family as other programs know it, for surfaces that keep text as text.
    pub fn family_name(self) -> &'static str {
        match self {
            Self::Regular | Self::Bold | Self::Italic => "Inter",
            Self::Fallback => "DejaVu Sans",
            Self::Mono => "DejaVu Sans Mono",
            Self::Emoji => "Noto Emoji",
            Self::System | Self::Missing(_) => "sans-serif",
            Self::Math(idx) => MATH_FACES.get(usize::from(idx)).map_or("KaTeX_Main", |face| face.1),
        }
    }

    /// Weight on the usual scale: 400 regular, 600 semibold, 700 bold.
    pub fn weight(self) -> u16 {
        match self {
            Self::Bold => 600,
            Self::Math(idx) => MATH_FACES.get(usize::from(idx)).map_or(400, |face| face.2),
            _ => 400,
        }
    }

    /// Whether the letters slant.
    pub fn is_italic(self) -> bool {
        match self {
            Self::Italic => true,
            Self::Math(idx) => MATH_FACES.get(usize::from(idx)).is_some_and(|face| face.3),
            _ => false,
        }
    }

    /// Ascent, descent, cap height and x height in em.
    pub fn metrics(self) -> FaceMetrics {
        self.loaded().map_or(missing_glyph::METRICS, |font| font.metrics)
    }

    /// The number of the glyph for a character, if this face has one.
    pub fn glyph(self, character: char) -> Option<u16> {
        self.loaded()?.glyph(character)
    }

    /// How far glyph `id` moves the pen, in em; 0 for a glyph that does not exist.
    pub fn advance(self, id: u16) -> f32 {
        match self {
            Self::Missing(_) => missing_glyph::ADVANCE,
            _ => self.loaded().map_or(0.0, |font| font.advance(id)),
        }
    }

    /// The outline of glyph `id` in em, baseline at y = 0, y **down**; empty for a space. Outlines are made once and kept.
    pub fn outline(self, id: u16) -> &'static [PathCommand] {
        match self {
            Self::Missing(plane) => missing_glyph::outline(u32::from(plane) << 16 | u32::from(id)),
            _ => self.loaded().map_or(&[], |font| font.outline(id)),
        }
    }

    /// Where characters that this face lacks are looked for, in order.
    pub(super) fn fallbacks(self) -> [Self; 5] {
        [self, Self::Regular, Self::Fallback, Self::Emoji, Self::System]
    }

    /// The font behind this face, parsed once.
    pub(super) fn loaded(self) -> Option<&'static LoadedFont> {
        font_data::loaded(self)
    }

    /// This face's place in a table of `N_SLOTS`.
    pub(super) fn slot(self) -> Option<usize> {
        Some(match self {
            Self::Regular => 0,
            Self::Bold => 1,
            Self::Italic => 2,
            Self::Fallback => 3,
            Self::Mono => 4,
            Self::Emoji => 5,
            Self::System => 6,
            Self::Math(idx) if usize::from(idx) < MATH_FACES.len() => 7 + usize::from(idx),
            Self::Math(_) | Self::Missing(_) => return None,
        })
    }

    /// The file name of a formula face.
    pub(super) fn math_file(idx: u8) -> Option<String> {
        MATH_FACES.get(usize::from(idx)).map(|face| format!("KaTeX_{}.ttf", face.0))
    }
}

/// Hands in one face of the machine, looked at last, for scripts that no bundled face covers (Chinese, Japanese, Korean, Thai …).
///
/// Call it once, before the first figure: text that was set earlier keeps its replacement boxes. `collection_idx` picks a font
/// out of a collection file and is 0 otherwise.
///
/// # Errors
/// [`FontError`] when a face was handed in already, or the bytes are no font with outlines.
pub fn set_system_fallback(bytes: Vec<u8>, collection_idx: u32) -> Result<(), FontError> {
    font_data::set_system(bytes, collection_idx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_face_opens_and_has_a_letter_or_a_sign() {
        for face in Face::all() {
            assert!(!face.bytes().is_empty(), "{face:?} has no bytes");
            let sample = ['A', '(', '\u{1F600}'].into_iter().find_map(|c| face.glyph(c));
            let id = sample.unwrap_or_else(|| panic!("{face:?} has none of the sample characters"));
            assert!(face.advance(id) > 0.0, "{face:?}");
            assert!(!face.outline(id).is_empty(), "{face:?}");
        }
    }

    #[test]
    fn figures_have_equal_width_in_the_label_faces() {
        for face in [Face::Regular, Face::Bold, Face::Italic, Face::Mono] {
            let widths: Vec<f32> = ('0'..='9').map(|c| face.advance(face.glyph(c).unwrap())).collect();
            // A hundredth of a point at 10 pt: nobody sees it.
            assert!(widths.iter().all(|&width| (width - widths[0]).abs() < 0.0015), "{face:?}: {widths:?}");
        }
    }

    #[test]
    fn measures_are_positive_and_in_order() {
        for face in [Face::Regular, Face::Bold, Face::Italic, Face::Fallback, Face::Mono] {
            let FaceMetrics { ascent, descent, cap_height, x_height } = face.metrics();
            assert!(ascent >= cap_height && cap_height > x_height && x_height > 0.3, "{face:?}");
            assert!(descent > 0.1 && descent < 0.5, "{face:?}");
        }
    }

    #[test]
    fn a_capital_h_stands_on_the_baseline_and_is_as_tall_as_the_cap_height() {
        let outline = Face::Regular.outline(Face::Regular.glyph('H').unwrap());
        let ys: Vec<f32> = outline
            .iter()
            .filter_map(|command| match command {
                PathCommand::Move(point) | PathCommand::Line(point) => Some(point.y),
                _ => None,
            })
            .collect();
        let top = ys.iter().copied().fold(f32::INFINITY, f32::min);
        let bottom = ys.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        assert!((top + Face::Regular.metrics().cap_height).abs() < 0.01, "top {top}");
        assert!(bottom.abs() < 0.01, "bottom {bottom}");
    }

    #[test]
    fn curves_are_not_rounded_to_a_coarse_grid() {
        for face in [Face::Regular, Face::Fallback, Face::Math(0)] {
            let outline = face.outline(face.glyph('S').unwrap());
            let fine =
                outline.iter().filter_map(|step| step.end()).filter(|point| (point.x * 64.0).fract() != 0.0);
            assert!(fine.count() > 4, "{face:?} is rounded to 64ths of an em");
        }
    }

    #[test]
    fn a_face_of_the_machine_is_taken_once_and_only_if_it_is_a_font() {
        assert_eq!(set_system_fallback(b"no font".to_vec(), 0), Err(FontError::Unreadable));
        assert_eq!(set_system_fallback(Face::Mono.bytes().to_vec(), 3), Err(FontError::Unreadable));
        assert_eq!(Face::System.glyph('A'), None);
        assert_eq!(set_system_fallback(Face::Mono.bytes().to_vec(), 0), Ok(()));
        assert_eq!(Face::System.glyph('A'), Face::Mono.glyph('A'));
        assert_eq!(set_system_fallback(Face::Mono.bytes().to_vec(), 0), Err(FontError::AlreadySet));
    }

    #[test]
    fn a_face_that_does_not_exist_has_nothing() {
        assert_eq!(Face::Math(200).glyph('A'), None);
        assert!(Face::Math(200).outline(3).is_empty());
        assert_eq!(Face::Regular.advance(u16::MAX), 0.0);
        assert_eq!(Face::math("Math-Italic"), Some(Face::Math(4)));
        assert_eq!(Face::math("Nothing"), None);
    }
}

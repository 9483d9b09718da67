//! Font files, parsed once: character map, advances, shaper tables and a store of outlines.

use std::sync::OnceLock;

use harfrust::ShaperData;
use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider, OutlineGlyphCollection};

use super::fonts::FaceMetrics;
use super::{Face, PathCommand, Point};

/// Why a font of the machine was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FontError {
    /// One is there already.
    #[error("a fallback font was handed in already; it can be set only once, before the first figure")]
    AlreadySet,
    /// Not a font, or a collection without that member.
    #[error("the fallback font cannot be read; expected a TrueType or OpenType file")]
    Unreadable,
    /// Bitmap and colour-only fonts cannot be drawn at any size.
    #[error("the fallback font has no outlines; choose a font whose letters are drawn with curves")]
    NoOutlines,
}

/// One parsed font.
pub(super) struct LoadedFont {
    pub bytes: &'static [u8],
    pub collection_idx: u32,
    pub font: FontRef<'static>,
    pub shaper: ShaperData,
    pub metrics: FaceMetrics,
    /// Glyph number and advance of each ASCII character; `None` where the font lacks it.
    ascii: [Option<(u16, f32)>; 128],
    /// The same for the minus sign, U+2212.
    minus: Option<(u16, f32)>,
    charmap: Charmap<'static>,
    /// Em per font unit.
    per_em: f32,
    glyph_metrics: GlyphMetrics<'static>,
    glyphs: OutlineGlyphCollection<'static>,
    outlines: Box<[OnceLock<Box<[PathCommand]>>]>,
}

static FONTS: [OnceLock<Option<LoadedFont>>; Face::N_SLOTS] = [const { OnceLock::new() }; Face::N_SLOTS];

/// The font behind a face; `None` for faces without a file.
pub(super) fn loaded(face: Face) -> Option<&'static LoadedFont> {
    let slot = &FONTS[face.slot()?];
    if face == Face::System {
        return slot.get()?.as_ref();
    }
    slot.get_or_init(|| LoadedFont::parse(bundled_bytes(face)?, 0).ok()).as_ref()
}

/// Stores the machine's face.
pub(super) fn set_system(bytes: Vec<u8>, collection_idx: u32) -> Result<(), FontError> {
    let slot = Face::System.slot().and_then(|slot| FONTS.get(slot)).ok_or(FontError::AlreadySet)?;
    if slot.get().is_some() {
        return Err(FontError::AlreadySet);
    }
    // The font lives as long as the program, as the bundled ones do.
    let font = LoadedFont::parse(Vec::leak(bytes), collection_idx)?;
    slot.set(Some(font)).map_err(|_lost| FontError::AlreadySet)
}

fn bundled_bytes(face: Face) -> Option<&'static [u8]> {
    Some(match face {
        Face::Regular => include_bytes!("../../assets/fonts/Inter-Regular.otf"),
        Face::Bold => include_bytes!("../../assets/fonts/Inter-SemiBold.otf"),
        Face::Italic => include_bytes!("../../assets/fonts/Inter-Italic.otf"),
        Face::Fallback => include_bytes!("../../assets/fonts/DejaVuSans.ttf"),
        Face::Mono => include_bytes!("../../assets/fonts/DejaVuSansMono.ttf"),
        Face::Emoji => epaint_default_fonts::NOTO_EMOJI_REGULAR,
        Face::Math(idx) => match ratex_katex_fonts::ttf_bytes(&Face::math_file(idx)?)? {
            std::borrow::Cow::Borrowed(bytes) => bytes,
            std::borrow::Cow::Owned(bytes) => Vec::leak(bytes),
        },
        Face::System | Face::Missing(_) => return None,
    })
}

impl LoadedFont {
    fn parse(bytes: &'static [u8], collection_idx: u32) -> Result<Self, FontError> {
        let font = FontRef::from_index(bytes, collection_idx).map_err(|_unreadable| FontError::Unreadable)?;
        // Font units, divided here: at a size of one pixel the outlines would be rounded to 64ths of an em.
        let (size, location) = (Size::unscaled(), LocationRef::default());
        let glyphs = font.outline_glyphs();
        if glyphs.format().is_none() {
            return Err(FontError::NoOutlines);
        }
        let glyph_metrics = font.glyph_metrics(size, location);
        let charmap = font.charmap();
        let per_em = 1.0 / f32::from(font.metrics(size, location).units_per_em.max(1));
        let entry = |code: u32| {
            let id = charmap.map(code)?;
            Some((u16::try_from(id.to_u32()).ok()?, glyph_metrics.advance_width(id).unwrap_or(0.0) * per_em))
        };
        let ascii = std::array::from_fn(|code| entry(code as u32));
        let minus = entry(0x2212);
        let outlines = (0..glyph_metrics.glyph_count()).map(|_| OnceLock::new()).collect();
        let metrics = vertical_metrics(&font, per_em);
        let shaper = ShaperData::new(&font);
        Ok(Self {
            bytes,
            collection_idx,
            font,
            shaper,
            metrics,
            ascii,
            minus,
            charmap,
            per_em,
            glyph_metrics,
            glyphs,
            outlines,
        })
    }

    /// The glyph for a character.
    pub fn glyph(&self, character: char) -> Option<u16> {
        match self.ascii.get(character as usize) {
            Some(entry) => entry.map(|(id, _)| id),
            None => self.charmap.map(character).and_then(|id| u16::try_from(id.to_u32()).ok()),
        }
        .filter(|&id| id != 0)
    }

    /// Glyph and advance of a character of plain numbers: ASCII or the minus sign.
    pub fn plain_glyph(&self, character: char) -> Option<(u16, f32)> {
        match self.ascii.get(character as usize) {
            Some(entry) => *entry,
            None if character == '\u{2212}' => self.minus,
            None => None,
        }
    }

    /// Advance in em.
    pub fn advance(&self, id: u16) -> f32 {
        let known = usize::from(id) < self.outlines.len();
        if known {
            self.glyph_metrics.advance_width(GlyphId::from(id)).unwrap_or(0.0) * self.per_em
        } else {
            0.0
        }
    }

    /// Outline in em, y down.
    pub fn outline(&self, id: u16) -> &[PathCommand] {
        let Some(slot) = self.outlines.get(usize::from(id)) else { return &[] };
        slot.get_or_init(|| {
            let mut pen = Pen { path: Vec::new(), per_em: self.per_em };
            let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
            // A damaged glyph is drawn as far as it goes; there is nobody to tell.
            let _ = self.glyphs.get(GlyphId::from(id)).map(|glyph| glyph.draw(settings, &mut pen));
            pen.path.into_boxed_slice()
        })
    }
}

fn vertical_metrics(font: &FontRef<'_>, per_em: f32) -> FaceMetrics {
    let metrics = font.metrics(Size::unscaled(), LocationRef::default());
    FaceMetrics {
        ascent: metrics.ascent * per_em,
        descent: metrics.descent.abs() * per_em,
        cap_height: metrics.cap_height.filter(|&height| height > 0.0).map_or(0.7, |height| height * per_em),
        x_height: metrics.x_height.filter(|&height| height > 0.0).map_or(0.5, |height| height * per_em),
    }
}

/// Collects an outline, turning font units into em and y up into y down.
struct Pen {
    path: Vec<PathCommand>,
    per_em: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> Point {
        Point { x: x * self.per_em, y: -y * self.per_em }
    }
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.push(PathCommand::Move(self.at(x, y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.push(PathCommand::Line(self.at(x, y)));
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.path.push(PathCommand::Quad(self.at(cx, cy), self.at(x, y)));
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        self.path.push(PathCommand::Cubic(self.at(ax, ay), self.at(bx, by), self.at(x, y)));
    }

    fn close(&mut self) {
        self.path.push(PathCommand::Close);
    }
}

//! Text in PDF: glyphs of the embedded faces at their places, each with the characters that it stands for.

use std::cell::RefCell;
use std::collections::HashMap;

use krilla::geom::Point as PdfPoint;
use krilla::surface::Surface;
use krilla::text::{Font, GlyphId, KrillaGlyph};

use super::options::TextMode;
use super::paint::STEPS;
use super::pdf::{fill_of, path_of};
use crate::figure::{Face, Glyph, PathCommand, Point, Text};

thread_local! {
    /// Parsing a font costs more than writing a small figure.
    static FONTS: RefCell<HashMap<Face, Option<Font>>> = RefCell::default();
}

/// Draws one run.
pub(super) fn draw(surface: &mut Surface<'_>, run: &Text, mode: TextMode) {
    surface.set_stroke(None);
    surface.set_fill(Some(fill_of(run.color)));
    for glyphs in run.glyphs.chunk_by(|left, right| left.face == right.face) {
        let Some(first) = glyphs.first() else { continue };
        match font(first.face) {
            Some(font) if mode != TextMode::Shapes => {
                let start = PdfPoint::from_xy(run.origin.x + first.x, run.origin.y);
                surface.draw_glyphs(start, &placed(glyphs, run.size), font, &run.content, run.size, false);
            }
            _ => outlines(surface, run, glyphs),
        }
    }
}

fn font(face: Face) -> Option<Font> {
    FONTS.with_borrow_mut(|fonts| {
        let parse = || Font::new(face.bytes().into(), face.collection_idx());
        // The machine's face may be handed in later than the first figure is written.
        if face == Face::System && fonts.get(&face).is_some_and(Option::is_none) {
            fonts.remove(&face);
        }
        fonts.entry(face).or_insert_with(parse).clone()
    })
}

/// Each glyph moves the pen to where the next one stands. Where that is its own advance but for rounding, the font's advance is
/// taken, and the run stays one string.
fn placed(glyphs: &[Glyph], size: f32) -> Vec<KrillaGlyph> {
    let per_em = 1.0 / size;
    let nexts = glyphs.iter().skip(1).map(|glyph| Some(glyph.x)).chain([None]);
    let place = |(glyph, next): (&Glyph, Option<f32>)| KrillaGlyph {
        glyph_id: GlyphId::new(u32::from(glyph.id)),
        text_range: glyph.start as usize..glyph.end as usize,
        x_advance: advance(glyph, next.map(|next| (next - glyph.x) * per_em)),
        x_offset: 0.0,
        // Up is positive here.
        y_offset: -glyph.y * per_em,
        y_advance: 0.0,
        location: None,
    };
    glyphs.iter().zip(nexts).map(place).collect()
}

/// In em: to the next glyph, or the font's own.
fn advance(glyph: &Glyph, to_next: Option<f32>) -> f32 {
    let own = glyph.face.advance(glyph.id);
    to_next.filter(|to_next| (to_next - own).abs() > 0.0005).unwrap_or(own)
}

/// All glyphs as one path.
fn outlines(surface: &mut Surface<'_>, run: &Text, glyphs: &[Glyph]) {
    let mut commands: Vec<PathCommand> = Vec::new();
    for glyph in glyphs {
        let (x, y) = (run.origin.x + glyph.x, run.origin.y + glyph.y);
        // Two decimals, as in SVG: the file is half as long.
        let round = |value: f32| (value * STEPS).round() / STEPS;
        let place =
            |point: Point| Point { x: round(x + point.x * run.size), y: round(y + point.y * run.size) };
        commands.extend(glyph.face.outline(glyph.id).iter().map(|command| command.map(place)));
    }
    if let Some(path) = path_of(&commands) {
        surface.draw_path(&path);
    }
}

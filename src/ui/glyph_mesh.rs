//! Thousands of short numbers as one mesh: each glyph is looked up once, and then only placed.

use std::collections::HashMap;

use egui::epaint::{Color32, Mesh, Vertex};
use egui::{FontId, Painter, Pos2, TextureId, Vec2, pos2, vec2};

use crate::figure::{Face, Text};

use super::paint::{ScreenFromFigure, color, family};

/// A glyph in the font texture, and where it lies from the pen on the baseline.
#[derive(Clone, Copy)]
struct Placed {
    offset: Vec2,
    size: Vec2,
    uv_min: Pos2,
    uv_max: Pos2,
}

/// Collects runs of text into one mesh.
pub struct GlyphMesh<'a> {
    painter: &'a Painter,
    transform: ScreenFromFigure,
    known: HashMap<(Face, u32, char), Option<Placed>>,
    mesh: Mesh,
    pixels_per_point: f32,
}

impl<'a> GlyphMesh<'a> {
    /// An empty mesh.
    pub fn new(painter: &'a Painter, transform: ScreenFromFigure) -> Self {
        let pixels_per_point = painter.pixels_per_point();
        Self { painter, transform, known: HashMap::new(), mesh: Mesh::default(), pixels_per_point }
    }

    /// Whether a run can be placed glyph by glyph: plain characters of one face, each its own glyph.
    pub fn takes(text: &Text) -> bool {
        let plain = |c: char| c.is_ascii_graphic() || c == '\u{2212}' || c == '∞';
        text.glyphs.len() == text.content.chars().count()
            && text.content.chars().all(plain)
            && text.glyphs.iter().all(|glyph| glyph.face == text.face)
    }

    /// Adds a run at its place.
    pub fn add(&mut self, text: &Text) {
        let size = text.size * self.transform.scale;
        let origin = self.transform.point(text.origin);
        let ink = color(text.color);
        for (glyph, character) in text.glyphs.iter().zip(text.content.chars()) {
            let pen = origin + vec2(glyph.x, glyph.y) * self.transform.scale;
            if let Some(placed) = self.placed(text.face, size, character) {
                self.quad(placed, pen, ink);
            }
        }
    }

    /// The mesh, if anything was added.
    pub fn into_mesh(mut self) -> Option<Mesh> {
        if self.mesh.is_empty() {
            return None;
        }
        // Looking glyphs up may have grown the texture; its size counts once all of them are in it.
        let [width, height] = self.painter.fonts(|fonts| fonts.font_image_size());
        let texel = vec2(1.0 / width.max(1) as f32, 1.0 / height.max(1) as f32);
        for vertex in &mut self.mesh.vertices {
            vertex.uv = pos2(vertex.uv.x * texel.x, vertex.uv.y * texel.y);
        }
        self.mesh.texture_id = TextureId::default();
        Some(self.mesh)
    }

    fn placed(&mut self, face: Face, size: f32, character: char) -> Option<Placed> {
        let painter = self.painter;
        *self.known.entry((face, size.to_bits(), character)).or_insert_with(|| {
            let font = FontId::new(size, family(face));
            let galley = painter.layout_no_wrap(character.to_string(), font, Color32::PLACEHOLDER);
            let glyph = galley.rows.first()?.glyphs.first()?;
            let uv = glyph.uv_rect;
            let texel = |[x, y]: [u16; 2]| pos2(f32::from(x), f32::from(y));
            // The galley's own pen stands at the glyph's place; what counts is the offset from there.
            (!uv.is_nothing()).then(|| Placed {
                offset: uv.offset,
                size: uv.size,
                uv_min: texel(uv.min),
                uv_max: texel(uv.max),
            })
        })
    }

    /// Corners on whole pixels, as all text of the window is drawn.
    fn quad(&mut self, placed: Placed, pen: Pos2, ink: Color32) {
        let snap = |value: f32| (value * self.pixels_per_point).round() / self.pixels_per_point;
        let min = pos2(snap(pen.x + placed.offset.x), snap(pen.y + placed.offset.y));
        let max = min + placed.size;
        let first = self.mesh.vertices.len() as u32;
        let corner = |x: f32, y: f32, u: f32, v: f32| Vertex { pos: pos2(x, y), uv: pos2(u, v), color: ink };
        self.mesh.vertices.extend([
            corner(min.x, min.y, placed.uv_min.x, placed.uv_min.y),
            corner(max.x, min.y, placed.uv_max.x, placed.uv_min.y),
            corner(min.x, max.y, placed.uv_min.x, placed.uv_max.y),
            corner(max.x, max.y, placed.uv_max.x, placed.uv_max.y),
        ]);
        self.mesh.indices.extend([first, first + 1, first + 2, first + 2, first + 1, first + 3]);
    }
}

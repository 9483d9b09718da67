//! Glyphs as pixels: each glyph is smoothed once per size and quarter of a pixel, then stamped.

use std::collections::HashMap;

use tiny_skia::{FillRule, Mask, Pixmap, PremultipliedColorU8, Transform};

use super::raster::{blend, paint, path_of};
use crate::figure::{Face, Glyph, Point, Text};

/// Places within a pixel that are told apart, along each axis.
const QUARTERS: f32 = 4.0;

/// Larger glyphs, in pixels per em, are filled where they stand: they are few, and their stamps would be large.
const LARGEST_STAMP: f32 = 256.0;

/// Which stamp: face, glyph, size in bits, quarters of a pixel to the right and down.
type Key = (Face, u16, u32, u8, u8);

/// How much of each pixel a glyph covers.
struct Stamp {
    /// Of the top left pixel, from the pixel that the glyph's origin lies in.
    left: i64,
    top: i64,
    width: usize,
    coverage: Vec<u8>,
}

/// Draws runs of text, keeping its stamps.
#[derive(Default)]
pub(super) struct GlyphPainter {
    stamps: HashMap<Key, Option<Stamp>>,
}

impl GlyphPainter {
    /// Draws one run at `scale` pixels per point.
    pub fn draw(&mut self, pixmap: &mut Pixmap, run: &Text, scale: f32) {
        let color = run.color;
        let color = tiny_skia::ColorU8::from_rgba(color.r, color.g, color.b, color.a).premultiply();
        for glyph in &run.glyphs {
            self.draw_glyph(pixmap, glyph, run, scale, color);
        }
    }

    fn draw_glyph(
        &mut self,
        pixmap: &mut Pixmap,
        glyph: &Glyph,
        run: &Text,
        scale: f32,
        color: PremultipliedColorU8,
    ) {
        let size = run.size * scale;
        if size > LARGEST_STAMP {
            fill(pixmap, glyph, run, scale);
            return;
        }
        let (x, right) = pixel_and_quarter((run.origin.x + glyph.x) * scale);
        let (y, down) = pixel_and_quarter((run.origin.y + glyph.y) * scale);
        let key = (glyph.face, glyph.id, size.to_bits(), right, down);
        let stamp = self.stamps.entry(key).or_insert_with(|| {
            let offset = Point { x: f32::from(right) / QUARTERS, y: f32::from(down) / QUARTERS };
            stamp(glyph, size, offset)
        });
        if let Some(stamp) = stamp {
            press(pixmap, stamp, x, y, color);
        }
    }
}

fn fill(pixmap: &mut Pixmap, glyph: &Glyph, run: &Text, scale: f32) {
    let (x, y) = (run.origin.x + glyph.x, run.origin.y + glyph.y);
    let place = |point: Point| Point { x: x + point.x * run.size, y: y + point.y * run.size };
    if let Some(path) = path_of(glyph.face.outline(glyph.id), place) {
        let transform = Transform::from_scale(scale, scale);
        pixmap.fill_path(&path, &paint(run.color), FillRule::Winding, transform, None);
    }
}

fn pixel_and_quarter(value: f32) -> (i64, u8) {
    let quarters = (value * QUARTERS).round() as i64;
    (quarters.div_euclid(QUARTERS as i64), quarters.rem_euclid(QUARTERS as i64) as u8)
}

fn stamp(glyph: &Glyph, size: f32, offset: Point) -> Option<Stamp> {
    let place = |point: Point| Point { x: point.x * size + offset.x, y: point.y * size + offset.y };
    let path = path_of(glyph.face.outline(glyph.id), place)?;
    let bounds = path.bounds();
    let (left, top) = (bounds.left().floor(), bounds.top().floor());
    let (width, height) = (bounds.right().ceil() - left, bounds.bottom().ceil() - top);
    let mut mask = Mask::new((width as u32).max(1), (height as u32).max(1))?;
    // Moving the path itself is quicker than handing a transform to the filler.
    let path = path.transform(Transform::from_translate(-left, -top))?;
    mask.fill_path(&path, FillRule::Winding, true, Transform::identity());
    let width = mask.width() as usize;
    Some(Stamp { left: left as i64, top: top as i64, width, coverage: mask.take() })
}

fn press(pixmap: &mut Pixmap, stamp: &Stamp, x: i64, y: i64, color: PremultipliedColorU8) {
    let Stamp { left, top, width, coverage } = stamp;
    let (stride, height) = (pixmap.width() as usize, i64::from(pixmap.height()));
    let pixels = pixmap.pixels_mut();
    let (left, top) = (x + left, y + top);
    // The part of each row that lies on the picture.
    let first = usize::try_from(-left).unwrap_or(0);
    let last = usize::try_from(stride as i64 - left).unwrap_or(0).min(*width);
    if first >= last {
        return;
    }
    for (row, coverage) in coverage.chunks_exact(*width).enumerate() {
        let y = top + row as i64;
        if !(0..height).contains(&y) {
            continue;
        }
        let start = y as usize * stride + (left + first as i64) as usize;
        let pixels = &mut pixels[start..start + last - first];
        for (pixel, &coverage) in pixels.iter_mut().zip(&coverage[first..last]) {
            if coverage > 0 {
                *pixel = blend(color, coverage, *pixel);
            }
        }
    }
}

//! A drawing as pixels: cells, straight rules and plain rectangles on whole pixels, everything else smoothed.

use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use super::cells::{self, Rule};
use super::options::{ExportError, Ground};
use super::raster_text::GlyphPainter;
use super::{sane, strokes};
use crate::figure::{Cells, Color, Drawing, Item, Outline, PathCommand, Point, Polyline, Rect, RectItem};

/// A picture of more pixels is refused.
pub(super) const MAX_PIXELS: u64 = 100_000_000;

/// A picture.
#[derive(Clone, PartialEq, Eq)]
pub struct Raster {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// Red, green, blue, alpha of each pixel, one byte each, row by row from the top; colours are **not** multiplied by alpha.
    pub rgba: Vec<u8>,
}

impl std::fmt::Debug for Raster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Raster {} × {}", self.width, self.height)
    }
}

/// Draws into pixels at `scale` pixels per point.
///
/// # Errors
/// [`ExportError::TooManyPixels`] above 100 million pixels, [`ExportError::NoArea`] where the drawing or the scale has none.
pub fn rasterize(drawing: &Drawing, scale: f32, ground: Ground) -> Result<Raster, ExportError> {
    let (width, height) = pixel_size(drawing, scale)?;
    let drawing = &*sane::drawable(drawing);
    let too_many = ExportError::TooManyPixels { width: u64::from(width), height: u64::from(height) };
    let mut pixmap = Pixmap::new(width, height).ok_or(too_many)?;
    if let Ground::Paper(Color { r, g, b, a }) = ground {
        pixmap.fill(tiny_skia::Color::from_rgba8(r, g, b, a));
    }
    let mut canvas = Canvas { pixmap, scale, glyphs: GlyphPainter::default() };
    for items in strokes::grouped(&drawing.items) {
        canvas.items(items);
    }
    let premultiplied = canvas.pixmap.take();
    let opaque = matches!(ground, Ground::Paper(color) if color.a == 255);
    let rgba = if opaque { premultiplied } else { straight(premultiplied) };
    Ok(Raster { width: width as usize, height: height as usize, rgba })
}

/// Divides colours by alpha, where that is neither nothing nor everything.
fn straight(mut pixels: Vec<u8>) -> Vec<u8> {
    for pixel in pixels.chunks_exact_mut(4) {
        let alpha = u16::from(pixel[3]);
        if alpha != 0 && alpha != 255 {
            for channel in &mut pixel[..3] {
                *channel = ((u16::from(*channel) * 255 + alpha / 2) / alpha).min(255) as u8;
            }
        }
    }
    pixels
}

fn pixel_size(drawing: &Drawing, scale: f32) -> Result<(u32, u32), ExportError> {
    let (width, height) = (drawing.size.width, drawing.size.height);
    let usable = |length: f32| length.is_finite() && length > 0.0;
    if !(usable(width * scale) && usable(height * scale)) {
        return Err(ExportError::NoArea { width: width * scale, height: height * scale });
    }
    let pixels = |length: f32| (f64::from(length) * f64::from(scale)).round().max(1.0) as u64;
    let (width, height) = (pixels(width), pixels(height));
    if width.saturating_mul(height) > MAX_PIXELS {
        return Err(ExportError::TooManyPixels { width, height });
    }
    Ok((width as u32, height as u32))
}

/// The pixels being drawn on.
pub(super) struct Canvas {
    pub pixmap: Pixmap,
    scale: f32,
    glyphs: GlyphPainter,
}

impl Canvas {
    fn items(&mut self, items: &[Item]) {
        match items.first() {
            Some(Item::Cells(cells)) => self.cells(cells),
            Some(Item::Rect(item)) => self.rect(item),
            Some(Item::Polyline(look)) => self.polylines(look, items),
            Some(Item::Text(run)) => self.glyphs.draw(&mut self.pixmap, run, self.scale),
            Some(Item::Outline(outline)) => self.outline(outline),
            None => {}
        }
    }

    fn cells(&mut self, cells: &Cells) {
        let Cells { rect, rows, cols, fills, rule, rule_color } = cells;
        let edges = |start: f32, length: f32, n: usize| -> Vec<i64> {
            (0..=n).map(|idx| self.pixel(start + length * idx as f32 / n.max(1) as f32)).collect()
        };
        let (xs, ys) = (edges(rect.x, rect.width, *cols), edges(rect.y, rect.height, *rows));
        for (row, fills) in fills.chunks_exact((*cols).max(1)).take(*rows).enumerate() {
            for (col, &fill) in fills.iter().enumerate() {
                fill_pixels(&mut self.pixmap, [xs[col], ys[row], xs[col + 1], ys[row + 1]], fill);
            }
        }
        for line in cells::rules(cells) {
            let (start, end) = match line {
                Rule::Vertical(x) => (Point { x, y: rect.y }, Point { x, y: rect.bottom() }),
                Rule::Horizontal(y) => (Point { x: rect.x, y }, Point { x: rect.right(), y }),
            };
            self.straight(start, end, *rule, *rule_color);
        }
    }

    fn rect(&mut self, item: &RectItem) {
        let RectItem { rect, radius, fill, stroke } = item;
        if *radius > 0.0 {
            self.rounded(item);
            return;
        }
        if let Some(fill) = fill {
            let (left, top) = (self.pixel(rect.x), self.pixel(rect.y));
            // A fraction bar thinner than a pixel must not vanish.
            let (right, bottom) =
                (self.pixel(rect.right()).max(left + 1), self.pixel(rect.bottom()).max(top + 1));
            fill_pixels(&mut self.pixmap, [left, top, right, bottom], *fill);
        }
        if let Some(stroke) = stroke {
            self.frame(*rect, stroke.width, stroke.color);
        }
    }

    /// The four sides of a rectangle, without painting a corner twice.
    fn frame(&mut self, rect: Rect, width: f32, color: Color) {
        let (left, thick) = self.band(rect.x, width);
        let (right, _) = self.band(rect.right(), width);
        let (top, _) = self.band(rect.y, width);
        let (bottom, _) = self.band(rect.bottom(), width);
        let sides = [
            [left, top, right + thick, top + thick],
            [left, bottom, right + thick, bottom + thick],
            [left, top + thick, left + thick, bottom],
            [right, top + thick, right + thick, bottom],
        ];
        let color = self.thin(width, color);
        for side in sides {
            fill_pixels(&mut self.pixmap, side, color);
        }
    }

    fn rounded(&mut self, item: &RectItem) {
        let Some(path) = rounded_path(item.rect, item.radius) else { return };
        if let Some(fill) = item.fill {
            self.fill_path(&path, fill);
        }
        if let Some(stroke) = item.stroke {
            let style = Stroke { width: stroke.width, ..Stroke::default() };
            self.stroke_path(&path, &style, stroke.color);
        }
    }

    fn polylines(&mut self, look: &Polyline, items: &[Item]) {
        let mut builder = PathBuilder::new();
        for line in strokes::lines(items) {
            match (line.points.as_slice(), line.dash) {
                (&[start, end], None) if start.x == end.x || start.y == end.y => {
                    self.straight(start, end, look.stroke.width, look.stroke.color);
                }
                (points, _) => push_line(&mut builder, points, line.closed),
            }
        }
        let Some(path) = builder.finish() else { return };
        let style = Stroke {
            width: look.stroke.width,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Miter,
            dash: look.dash.and_then(|(on, off)| StrokeDash::new(vec![on, off], 0.0)),
            ..Stroke::default()
        };
        self.stroke_path(&path, &style, look.stroke.color);
    }

    /// An upright or level line as whole pixels.
    fn straight(&mut self, start: Point, end: Point, width: f32, color: Color) {
        let color = self.thin(width, color);
        let sorted = |a: f32, b: f32| (self.pixel(a.min(b)), self.pixel(a.max(b)));
        let area = if start.x == end.x {
            let ((left, thick), (top, bottom)) = (self.band(start.x, width), sorted(start.y, end.y));
            [left, top, left + thick, bottom]
        } else {
            let ((top, thick), (left, right)) = (self.band(start.y, width), sorted(start.x, end.x));
            [left, top, right, top + thick]
        };
        fill_pixels(&mut self.pixmap, area, color);
    }

    fn outline(&mut self, outline: &Outline) {
        if let Some(path) = path_of(&outline.path, |point| point) {
            self.fill_path(&path, outline.fill);
        }
    }

    fn fill_path(&mut self, path: &Path, color: Color) {
        let transform = Transform::from_scale(self.scale, self.scale);
        self.pixmap.fill_path(path, &paint(color), FillRule::Winding, transform, None);
    }

    fn stroke_path(&mut self, path: &Path, style: &Stroke, color: Color) {
        let transform = Transform::from_scale(self.scale, self.scale);
        self.pixmap.stroke_path(path, &paint(color), style, transform, None);
    }

    /// The pixel edge nearest to a coordinate.
    fn pixel(&self, value: f32) -> i64 {
        (value * self.scale).round() as i64
    }

    /// Where a rule centred on `at` starts, and how thick it is, in whole pixels.
    fn band(&self, at: f32, width: f32) -> (i64, i64) {
        let thick = (width * self.scale).round().max(1.0);
        ((at * self.scale - thick / 2.0).round() as i64, thick as i64)
    }

    /// A line thinner than a pixel is drawn one pixel wide and paler.
    fn thin(&self, width: f32, color: Color) -> Color {
        let share = (width * self.scale).clamp(0.0, 1.0);
        Color { a: (f32::from(color.a) * share).round() as u8, ..color }
    }
}

/// Paints the pixels from left, top to right, bottom (exclusive), as far as they lie on the picture.
fn fill_pixels(pixmap: &mut Pixmap, [left, top, right, bottom]: [i64; 4], color: Color) {
    let (width, height) = (i64::from(pixmap.width()), i64::from(pixmap.height()));
    let (left, right) = (left.clamp(0, width) as usize, right.clamp(0, width) as usize);
    let (top, bottom) = (top.clamp(0, height) as usize, bottom.clamp(0, height) as usize);
    if left >= right || color.a == 0 {
        return;
    }
    let premultiplied = tiny_skia::ColorU8::from_rgba(color.r, color.g, color.b, color.a).premultiply();
    let stride = width as usize;
    let pixels = pixmap.pixels_mut();
    for row in top..bottom {
        let pixels = &mut pixels[row * stride + left..row * stride + right];
        if color.a == 255 {
            pixels.fill(premultiplied);
        } else {
            pixels.iter_mut().for_each(|pixel| *pixel = blend(premultiplied, 255, *pixel));
        }
    }
}

/// A colour laid over a pixel where it covers `coverage` of 255 of it.
pub(super) fn blend(
    over: tiny_skia::PremultipliedColorU8,
    coverage: u8,
    under: tiny_skia::PremultipliedColorU8,
) -> tiny_skia::PremultipliedColorU8 {
    let share = |value: u8, of: u8| ((u32::from(value) * u32::from(of) + 127) / 255) as u8;
    let alpha = share(over.alpha(), coverage);
    let mix = |over: u8, under: u8| share(over, coverage).saturating_add(share(under, 255 - alpha));
    let a = mix(over.alpha(), under.alpha());
    let channel = |over: u8, under: u8| mix(over, under).min(a);
    tiny_skia::PremultipliedColorU8::from_rgba(
        channel(over.red(), under.red()),
        channel(over.green(), under.green()),
        channel(over.blue(), under.blue()),
        a,
    )
    .unwrap_or(under)
}

/// A colour as tiny-skia wants it, edges smoothed.
pub(super) fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(color.r, color.g, color.b, color.a);
    paint
}

/// An outline as a path, every point moved by `place`.
pub(super) fn path_of(commands: &[PathCommand], place: impl Fn(Point) -> Point) -> Option<Path> {
    let mut builder = PathBuilder::with_capacity(commands.len(), commands.len() * 2);
    for command in commands {
        match command.map(&place) {
            PathCommand::Move(to) => builder.move_to(to.x, to.y),
            PathCommand::Line(to) => builder.line_to(to.x, to.y),
            PathCommand::Quad(a, to) => builder.quad_to(a.x, a.y, to.x, to.y),
            PathCommand::Cubic(a, b, to) => builder.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y),
            PathCommand::Close => builder.close(),
        }
    }
    builder.finish()
}

fn push_line(builder: &mut PathBuilder, points: &[Point], closed: bool) {
    for (idx, point) in points.iter().enumerate() {
        if idx == 0 {
            builder.move_to(point.x, point.y);
        } else {
            builder.line_to(point.x, point.y);
        }
    }
    if closed {
        builder.close();
    }
}

fn rounded_path(rect: Rect, radius: f32) -> Option<Path> {
    path_of(&super::paint::rounded_rectangle(rect, radius), |point| point)
}

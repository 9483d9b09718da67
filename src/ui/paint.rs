//! A drawing on the screen: figure points become screen points by one scale and one shift, and nothing is laid out here.

use std::sync::{Arc, OnceLock};

use egui::epaint::{Mesh, PathShape, PathStroke, RectShape, TextShape};
use egui::{
    Color32, FontFamily, FontId, Painter, Pos2, Shape, Stroke, StrokeKind, TextureHandle, TextureOptions,
    pos2, vec2,
};

use super::cells_image::{MANY_CELLS, picture};
use super::glyph_mesh::GlyphMesh;
use crate::figure::{self, Cells, Drawing, Face, Item, Outline, PathCommand, Polyline, RectItem, Text};

/// Where the paper lies on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreenFromFigure {
    /// The top left corner of the paper, in screen points.
    pub origin: Pos2,
    /// Screen points per figure point.
    pub scale: f32,
}

impl ScreenFromFigure {
    /// A point of the paper on the screen.
    pub fn point(&self, point: figure::Point) -> Pos2 {
        self.origin + vec2(point.x, point.y) * self.scale
    }

    /// A rectangle of the paper on the screen.
    pub fn rect(&self, rect: figure::Rect) -> egui::Rect {
        let min = self.point(figure::Point { x: rect.x, y: rect.y });
        egui::Rect::from_min_size(min, vec2(rect.width, rect.height) * self.scale)
    }

    /// A point of the screen on the paper.
    pub fn figure_point(&self, screen: Pos2) -> figure::Point {
        let offset = (screen - self.origin) / self.scale;
        figure::Point { x: offset.x, y: offset.y }
    }
}

/// The family under which a face is installed in egui. Faces of one typeface are families of their own there.
pub fn family(face: Face) -> FontFamily {
    static NAMED: OnceLock<Vec<(Face, FontFamily)>> = OnceLock::new();
    match face {
        Face::Regular => FontFamily::Proportional,
        Face::Mono => FontFamily::Monospace,
        face => {
            let named = NAMED.get_or_init(|| {
                Face::all().map(|face| (face, FontFamily::Name(format!("{face:?}").into()))).collect()
            });
            named
                .iter()
                .find(|(known, _)| *known == face)
                .map_or_else(FontFamily::default, |(_, family)| family.clone())
        }
    }
}

/// A colour of the figure on the screen.
pub fn color(color: figure::Color) -> Color32 {
    Color32::from_rgba_unmultiplied(color.r, color.g, color.b, color.a)
}

/// The shapes of a drawing, kept while neither the drawing nor its place changes.
#[derive(Default)]
pub struct PaintedDrawing {
    key: Option<PaintKey>,
    shapes: Vec<Shape>,
    /// Pictures of large matrices; they go when these are dropped.
    pictures: Vec<TextureHandle>,
}

/// What the kept shapes depend on.
#[derive(Clone, PartialEq)]
struct PaintKey {
    drawing: Arc<Drawing>,
    transform: ScreenFromFigure,
    pixels_per_point: f32,
    /// Glyphs painted through the atlas are found by its size.
    atlas: [usize; 2],
}

impl PaintedDrawing {
    /// Paints the drawing, making its shapes anew only when something changed.
    pub fn paint(&mut self, painter: &Painter, drawing: &Arc<Drawing>, transform: ScreenFromFigure) {
        let ctx = painter.ctx();
        let key = PaintKey {
            drawing: Arc::clone(drawing),
            transform,
            pixels_per_point: ctx.pixels_per_point(),
            atlas: ctx.fonts(|fonts| fonts.font_image_size()),
        };
        let unchanged = self.key.as_ref().is_some_and(|old| {
            Arc::ptr_eq(&old.drawing, &key.drawing)
                && old.transform == key.transform
                && old.pixels_per_point == key.pixels_per_point
                && old.atlas == key.atlas
        });
        if !unchanged {
            self.pictures.clear();
            self.shapes = shapes(painter, drawing, transform, &mut self.pictures);
            self.key = Some(key);
        }
        painter.extend(self.shapes.iter().cloned());
    }
}

/// From this many runs on, plain ones are painted glyph by glyph in one mesh.
const MANY_RUNS: usize = 500;

fn shapes(
    painter: &Painter,
    drawing: &Drawing,
    transform: ScreenFromFigure,
    pictures: &mut Vec<TextureHandle>,
) -> Vec<Shape> {
    let mut shapes = Vec::with_capacity(drawing.items.len());
    let n_runs = drawing.items.iter().filter(|item| matches!(item, Item::Text(_))).count();
    let mut glyphs = (n_runs > MANY_RUNS).then(|| GlyphMesh::new(painter, transform));
    for item in &drawing.items {
        match item {
            Item::Cells(cells) if cells.fills.len() > MANY_CELLS => {
                shapes.extend(cells_picture(painter, cells, transform, pictures));
            }
            Item::Cells(cells) => shapes.push(cells_shape(cells, transform, painter.pixels_per_point())),
            Item::Rect(rect) => shapes.push(rect_shape(rect, transform)),
            Item::Polyline(line) => polyline_shapes(line, transform, &mut shapes),
            Item::Text(text) if matches!(text.face, Face::Math(_)) => {
                formula_shapes(painter, text, transform, &mut shapes);
            }
            Item::Text(text) => match &mut glyphs {
                Some(glyphs) if GlyphMesh::takes(text) => glyphs.add(text),
                _ => shapes.extend(text_shape(painter, text, transform)),
            },
            Item::Outline(outline) => shapes.push(outline_shape(outline, transform)),
        }
    }
    shapes.extend(glyphs.and_then(GlyphMesh::into_mesh).map(Shape::mesh));
    shapes
}

/// All cells as one picture with its edges on whole pixels. So many cells have no rules between them.
fn cells_picture(
    painter: &Painter,
    cells: &Cells,
    transform: ScreenFromFigure,
    pictures: &mut Vec<TextureHandle>,
) -> Option<Shape> {
    let pixels_per_point = painter.pixels_per_point();
    let snap = |at: Pos2| (at.to_vec2() * pixels_per_point).round() / pixels_per_point;
    let screen = transform.rect(cells.rect);
    let screen = egui::Rect::from_min_max(snap(screen.min).to_pos2(), snap(screen.max).to_pos2());
    let most = painter.ctx().input(|input| input.max_texture_side);
    let texels = |points: f32| ((points * pixels_per_point) as usize).clamp(1, most);
    let image = picture(cells, [texels(screen.width()), texels(screen.height())])?;
    let texture = painter.ctx().load_texture("cells", image, TextureOptions::NEAREST);
    let whole = egui::Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
    let shape = Shape::image(texture.id(), screen, whole, Color32::WHITE);
    pictures.push(texture);
    Some(shape)
}

/// All cells as one mesh, edges on whole pixels so that no seam shows and no edge blurs.
fn cells_shape(cells: &Cells, transform: ScreenFromFigure, pixels_per_point: f32) -> Shape {
    let snap = |value: f32| (value * pixels_per_point).round() / pixels_per_point;
    let screen = transform.rect(cells.rect);
    let (rows, cols) = (cells.rows.max(1), cells.cols.max(1));
    let x_edge = |col: usize| snap(screen.left() + screen.width() * col as f32 / cols as f32);
    let y_edge = |row: usize| snap(screen.top() + screen.height() * row as f32 / rows as f32);
    let mut mesh = Mesh::default();
    mesh.reserve_triangles(2 * cells.fills.len());
    mesh.reserve_vertices(4 * cells.fills.len());
    for (index, fill) in cells.fills.iter().enumerate() {
        let (row, col) = (index / cols, index % cols);
        let rect =
            egui::Rect::from_min_max(pos2(x_edge(col), y_edge(row)), pos2(x_edge(col + 1), y_edge(row + 1)));
        mesh.add_colored_rect(rect, color(*fill));
    }
    if cells.rule > 0.0 {
        let width = (cells.rule * transform.scale * pixels_per_point).round().max(1.0) / pixels_per_point;
        let rule = color(cells.rule_color);
        for col in 1..cols {
            let x = x_edge(col);
            let rect = egui::Rect::from_min_max(
                pos2(x - width / 2.0, screen.top()),
                pos2(x + width / 2.0, screen.bottom()),
            );
            mesh.add_colored_rect(rect, rule);
        }
        for row in 1..rows {
            let y = y_edge(row);
            let rect = egui::Rect::from_min_max(
                pos2(screen.left(), y - width / 2.0),
                pos2(screen.right(), y + width / 2.0),
            );
            mesh.add_colored_rect(rect, rule);
        }
    }
    Shape::mesh(mesh)
}

fn rect_shape(item: &RectItem, transform: ScreenFromFigure) -> Shape {
    let stroke = item.stroke.map_or(Stroke::NONE, |stroke| screen_stroke(stroke, transform.scale));
    let fill = item.fill.map_or(Color32::TRANSPARENT, color);
    let radius = egui::CornerRadius::same((item.radius * transform.scale).round() as u8);
    Shape::Rect(RectShape::new(transform.rect(item.rect), radius, fill, stroke, StrokeKind::Middle))
}

fn screen_stroke(stroke: figure::Stroke, scale: f32) -> Stroke {
    Stroke::new((stroke.width * scale).max(0.6), color(stroke.color))
}

fn polyline_shapes(line: &Polyline, transform: ScreenFromFigure, shapes: &mut Vec<Shape>) {
    let mut points: Vec<Pos2> = line.points.iter().map(|point| transform.point(*point)).collect();
    let stroke = screen_stroke(line.stroke, transform.scale);
    match line.dash {
        Some((dash, gap)) => {
            if line.closed {
                points.extend(points.first().copied());
            }
            shapes.extend(Shape::dashed_line(&points, stroke, dash * transform.scale, gap * transform.scale));
        }
        None if line.closed => shapes.push(Shape::closed_line(points, stroke)),
        None => shapes.push(Shape::line(points, stroke)),
    }
}

/// One run at its own anchor. The screen's glyphs may be hinted to other widths than the figure's; the run is centred on
/// its place, so that a deviation of part of a pixel cannot add up.
fn text_shape(painter: &Painter, text: &Text, transform: ScreenFromFigure) -> Option<Shape> {
    let size = text.size * transform.scale;
    if size < 2.0 {
        return None;
    }
    let font = FontId::new(size, family(text.face));
    let galley = painter.layout_no_wrap(text.content.clone(), font, color(text.color));
    let row = galley.rows.first()?;
    let baseline = row.pos.y + row.glyphs.first()?.pos.y;
    let origin = transform.point(text.origin);
    let slack = text.width * transform.scale - galley.rect.width();
    let position = pos2(origin.x + slack / 2.0, origin.y - baseline);
    Some(Shape::Text(TextShape::new(position, galley, color(text.color))))
}

/// A run of a formula: its spaces are no characters but places, so every glyph is painted at its own.
fn formula_shapes(painter: &Painter, text: &Text, transform: ScreenFromFigure, shapes: &mut Vec<Shape>) {
    for glyph in &text.glyphs {
        let Some(content) = text.content.get(glyph.start as usize..glyph.end as usize) else { continue };
        let single = Text {
            content: content.to_owned(),
            face: glyph.face,
            origin: figure::Point { x: text.origin.x + glyph.x, y: text.origin.y + glyph.y },
            width: glyph.advance,
            glyphs: Vec::new(),
            ..*text
        };
        shapes.extend(text_shape(painter, &single, transform));
    }
}

/// A filled outline. Its curves are flattened; root signs and brackets are simple enough for a fan of triangles per
/// contour to be wrong, so the contour is cut into ears.
fn outline_shape(outline: &Outline, transform: ScreenFromFigure) -> Shape {
    let fill = color(outline.fill);
    let mut shapes = Vec::new();
    for contour in contours(outline, transform) {
        let mut mesh = Mesh::default();
        for point in &contour {
            mesh.colored_vertex(*point, fill);
        }
        for [a, b, c] in ears(&contour) {
            mesh.add_triangle(a, b, c);
        }
        shapes.push(Shape::mesh(mesh));
        // A hairline around the mesh smooths its edge.
        shapes.push(Shape::Path(PathShape {
            points: contour,
            closed: true,
            fill: Color32::TRANSPARENT,
            stroke: PathStroke::new(0.5, fill),
        }));
    }
    Shape::Vec(shapes)
}

fn contours(outline: &Outline, transform: ScreenFromFigure) -> Vec<Vec<Pos2>> {
    const STEPS: usize = 8;
    let mut contours: Vec<Vec<Pos2>> = Vec::new();
    for command in &outline.path {
        match *command {
            PathCommand::Move(to) => contours.push(vec![transform.point(to)]),
            PathCommand::Close => {}
            PathCommand::Line(to) => {
                if let Some(contour) = contours.last_mut() {
                    contour.push(transform.point(to));
                }
            }
            PathCommand::Quad(control, to) => {
                let (control, to) = (transform.point(control), transform.point(to));
                flatten(&mut contours, STEPS, |from, t| {
                    let (a, b) = (from.lerp(control, t), control.lerp(to, t));
                    a.lerp(b, t)
                });
            }
            PathCommand::Cubic(first, second, to) => {
                let [first, second, to] = [first, second, to].map(|point| transform.point(point));
                flatten(&mut contours, STEPS, |from, t| {
                    let (a, b, c) = (from.lerp(first, t), first.lerp(second, t), second.lerp(to, t));
                    a.lerp(b, t).lerp(b.lerp(c, t), t)
                });
            }
        }
    }
    contours.retain(|contour| contour.len() > 2);
    contours
}

fn flatten(contours: &mut [Vec<Pos2>], steps: usize, point_at: impl Fn(Pos2, f32) -> Pos2) {
    if let Some(contour) = contours.last_mut()
        && let Some(from) = contour.last().copied()
    {
        contour.extend((1..=steps).map(|step| point_at(from, step as f32 / steps as f32)));
    }
}

/// Cuts a simple polygon into triangles (ear clipping), as indices of its points.
fn ears(polygon: &[Pos2]) -> Vec<[u32; 3]> {
    let cross = |a: Pos2, b: Pos2, c: Pos2| (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    let area: f32 = (0..polygon.len())
        .map(|index| {
            let (a, b) = (polygon[index], polygon[(index + 1) % polygon.len()]);
            a.x * b.y - b.x * a.y
        })
        .sum();
    let mut rest: Vec<usize> =
        if area >= 0.0 { (0..polygon.len()).collect() } else { (0..polygon.len()).rev().collect() };
    let mut triangles = Vec::with_capacity(polygon.len());
    while rest.len() > 2 {
        let n = rest.len();
        let ear = (0..n).find(|&index| {
            let [a, b, c] = [rest[(index + n - 1) % n], rest[index], rest[(index + 1) % n]];
            let [pa, pb, pc] = [polygon[a], polygon[b], polygon[c]];
            cross(pa, pb, pc) > 0.0
                && rest.iter().filter(|other| ![a, b, c].contains(other)).all(|&other| {
                    let point = polygon[other];
                    cross(pa, pb, point) < 0.0 || cross(pb, pc, point) < 0.0 || cross(pc, pa, point) < 0.0
                })
        });
        // A degenerate rest (all points on a line) has no ear; dropping a point always ends.
        let index = ear.unwrap_or(0);
        triangles.push([rest[(index + n - 1) % n] as u32, rest[index] as u32, rest[(index + 1) % n] as u32]);
        rest.remove(index);
    }
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bent_outline_is_cut_into_triangles_of_the_same_area() {
        // An L: 3 × 3 without its upper right 2 × 2.
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 2.0), (3.0, 2.0), (3.0, 3.0), (0.0, 3.0)];
        let polygon: Vec<Pos2> = corners.iter().map(|(x, y)| pos2(*x, *y)).collect();
        let area: f32 = ears(&polygon)
            .iter()
            .map(|triangle| {
                let [a, b, c] = triangle.map(|index| polygon[index as usize]);
                ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)).abs() / 2.0
            })
            .sum();
        assert_eq!(area, 5.0);
    }
}

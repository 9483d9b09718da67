//! SVG: plain attributes, no style sheet, no nested picture, every position explicit. PowerPoint, Word, Inkscape and browsers
//! show the same.

use std::fmt::Write as _;

use super::cells::{self, Rule};
use super::options::{ExportError, ExportOptions, Ground};
use super::png::write_png;
use super::svg_text::TextWriter;
use super::{metadata, paint, strokes};
use crate::figure::{Cells, Color, Drawing, Item, Outline, PathCommand, Point, Polyline, Rect, RectItem};

/// Writes a drawing as SVG. Coordinates are the drawing's points; `width` and `height` carry the scale.
pub(super) fn write(drawing: &Drawing, scale: f32, options: &ExportOptions) -> Result<Vec<u8>, ExportError> {
    let mut writer = Writer { out: String::with_capacity(1 << 16), text: TextWriter::new(options.text) };
    writer.head(drawing, scale, options);
    if let Ground::Paper(color) = options.ground {
        let paper = Rect { x: 0.0, y: 0.0, width: drawing.size.width, height: drawing.size.height };
        writer.rectangle(paper, 0.0, Some(color));
        writer.out.push_str("/>\n");
    }
    for items in strokes::grouped(&drawing.items) {
        writer.items(items)?;
    }
    writer.out.push_str("</svg>\n");
    Ok(writer.out.into_bytes())
}

struct Writer {
    out: String,
    text: TextWriter,
}

impl Writer {
    fn head(&mut self, drawing: &Drawing, scale: f32, options: &ExportOptions) {
        let (width, height) = (drawing.size.width, drawing.size.height);
        self.out.push_str(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" role=\"img\" stroke=\"none\"",
        );
        for (name, length) in [("width", width), ("height", height)] {
            let _ = write!(self.out, " {name}=\"");
            paint::push_number(&mut self.out, length * scale);
            self.out.push_str("pt\"");
        }
        self.out.push_str(" viewBox=\"0 0 ");
        paint::push_number(&mut self.out, width);
        self.out.push(' ');
        paint::push_number(&mut self.out, height);
        self.out.push_str("\">\n");
        self.element("title", &drawing.title);
        self.element("desc", &drawing.description);
        if let Some(scene) = &options.scene_source {
            metadata::push_svg(&mut self.out, scene);
        }
    }

    fn element(&mut self, name: &str, content: &str) {
        if !content.is_empty() {
            let _ = write!(self.out, "<{name}>");
            paint::push_escaped(&mut self.out, content);
            let _ = writeln!(self.out, "</{name}>");
        }
    }

    /// One item, or lines of one look.
    fn items(&mut self, items: &[Item]) -> Result<(), ExportError> {
        let Some(first) = items.first() else { return Ok(()) };
        match first {
            Item::Cells(cells) if cells::is_image(cells) => self.cells_as_image(cells)?,
            Item::Cells(cells) => self.cells(cells),
            Item::Rect(item) => self.rect(item),
            Item::Polyline(line) => self.polylines(line, items),
            Item::Text(run) => self.text.write(&mut self.out, run),
            Item::Outline(outline) => self.outline(outline),
        }
        Ok(())
    }

    fn cells(&mut self, cells: &Cells) {
        self.out.push_str("<g shape-rendering=\"crispEdges\">\n");
        for cell in cells::rectangles(cells) {
            self.rectangle(cell.rect, 0.0, Some(cell.fill));
            self.out.push_str("/>\n");
        }
        self.out.push_str("</g>\n");
        self.rules(cells);
    }

    fn rules(&mut self, cells: &Cells) {
        let mut rules = cells::rules(cells).peekable();
        if rules.peek().is_none() {
            return;
        }
        let Rect { x, y, .. } = cells.rect;
        self.out.push_str("<path d=\"");
        for rule in rules {
            let (at, end) = match rule {
                Rule::Vertical(at) => (Point { x: at, y }, ('V', cells.rect.bottom())),
                Rule::Horizontal(at) => (Point { x, y: at }, ('H', cells.rect.right())),
            };
            self.out.push('M');
            paint::push_point(&mut self.out, at);
            self.out.push(end.0);
            paint::push_number(&mut self.out, end.1);
        }
        self.out.push_str("\" fill=\"none\"");
        self.stroke(cells.rule, cells.rule_color);
        self.out.push_str("/>\n");
    }

    fn cells_as_image(&mut self, cells: &Cells) -> Result<(), ExportError> {
        let image = cells::image(cells);
        if image.rgba.is_empty() {
            return Ok(());
        }
        let png = write_png(image.width as u32, image.height as u32, &image.rgba)?;
        self.out.push_str("<image xmlns:xlink=\"http://www.w3.org/1999/xlink\" preserveAspectRatio=\"none\"");
        self.out.push_str(" image-rendering=\"optimizeSpeed\"");
        self.place(cells.rect);
        self.out.push_str(" xlink:href=\"data:image/png;base64,");
        paint::push_base64(&mut self.out, &png);
        self.out.push_str("\"/>\n");
        Ok(())
    }

    fn rect(&mut self, item: &RectItem) {
        let RectItem { rect, radius, fill, stroke } = item;
        self.rectangle(*rect, *radius, *fill);
        if let Some(stroke) = stroke {
            self.stroke(stroke.width, stroke.color);
        }
        self.out.push_str("/>\n");
    }

    /// A rectangle without its end.
    fn rectangle(&mut self, rect: Rect, radius: f32, fill: Option<Color>) {
        self.out.push_str("<rect");
        self.place(rect);
        if radius > 0.0 {
            self.number("rx", radius);
        }
        match fill {
            Some(color) => paint::push_color(&mut self.out, "fill", color),
            None => self.out.push_str(" fill=\"none\""),
        }
    }

    fn polylines(&mut self, look: &Polyline, items: &[Item]) {
        self.out.push_str("<path d=\"");
        for line in strokes::lines(items) {
            for (idx, &point) in line.points.iter().enumerate() {
                self.out.push(if idx == 0 { 'M' } else { 'L' });
                paint::push_point(&mut self.out, point);
            }
            if line.closed {
                self.out.push('Z');
            }
        }
        self.out.push_str("\" fill=\"none\"");
        self.stroke(look.stroke.width, look.stroke.color);
        if let Some((on, off)) = look.dash {
            self.out.push_str(" stroke-dasharray=\"");
            paint::push_number(&mut self.out, on);
            self.out.push(' ');
            paint::push_number(&mut self.out, off);
            self.out.push('"');
        }
        self.out.push_str("/>\n");
    }

    fn outline(&mut self, outline: &Outline) {
        self.out.push_str("<path d=\"");
        for command in &outline.path {
            push_command(&mut self.out, *command);
        }
        self.out.push('"');
        paint::push_color(&mut self.out, "fill", outline.fill);
        self.out.push_str("/>\n");
    }

    fn place(&mut self, rect: Rect) {
        self.number("x", rect.x);
        self.number("y", rect.y);
        self.number("width", rect.width);
        self.number("height", rect.height);
    }

    fn stroke(&mut self, width: f32, color: Color) {
        paint::push_color(&mut self.out, "stroke", color);
        self.number("stroke-width", width);
    }

    fn number(&mut self, name: &str, value: f32) {
        let _ = write!(self.out, " {name}=\"");
        paint::push_number(&mut self.out, value);
        self.out.push('"');
    }
}

/// One step of an outline with absolute coordinates.
fn push_command(out: &mut String, command: PathCommand) {
    let (letter, points): (char, &[Point]) = match &command {
        PathCommand::Move(point) => ('M', &[*point]),
        PathCommand::Line(point) => ('L', &[*point]),
        PathCommand::Quad(control, point) => ('Q', &[*control, *point]),
        PathCommand::Cubic(first, second, point) => ('C', &[*first, *second, *point]),
        PathCommand::Close => ('Z', &[]),
    };
    out.push(letter);
    for (idx, point) in points.iter().enumerate() {
        if idx > 0 {
            out.push(' ');
        }
        paint::push_point(out, *point);
    }
}

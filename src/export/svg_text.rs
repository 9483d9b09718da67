//! Text in SVG: as one path a run, or as `<text>` with common fallback fonts.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::options::TextMode;
use super::paint::{self, STEPS};
use crate::figure::{Face, PathCommand, Point, Text};

/// A glyph at one size: where its first contour starts, and everything after in relative steps.
struct Shape {
    start: (i64, i64),
    rest: String,
}

/// Writes runs of text, keeping the shapes of glyphs that recur.
pub(super) struct TextWriter {
    mode: TextMode,
    shapes: HashMap<(Face, u16, u32), Option<Shape>>,
}

impl TextWriter {
    pub fn new(mode: TextMode) -> Self {
        Self { mode, shapes: HashMap::new() }
    }

    /// Formulas are outlines in either mode: `<text>` in another font would tear them apart.
    pub fn write(&mut self, out: &mut String, run: &Text) {
        match self.mode {
            TextMode::Text if !matches!(run.face, Face::Math(_)) => write_text(out, run),
            _ => self.write_shapes(out, run),
        }
    }

    fn write_shapes(&mut self, out: &mut String, run: &Text) {
        let before = out.len();
        out.push_str("<path d=\"");
        let empty = out.len();
        for glyph in &run.glyphs {
            let key = (glyph.face, glyph.id, run.size.to_bits());
            let shape = self.shapes.entry(key).or_insert_with(|| shape(glyph.face, glyph.id, run.size));
            if let Some(Shape { start, rest }) = shape {
                let (x, y) = (run.origin.x + glyph.x, run.origin.y + glyph.y);
                out.push('M');
                paint::push_steps(out, paint::steps(x) + start.0);
                out.push(' ');
                paint::push_steps(out, paint::steps(y) + start.1);
                out.push_str(rest);
            }
        }
        if out.len() == empty {
            out.truncate(before);
            return;
        }
        out.push('"');
        paint::push_color(out, "fill", run.color);
        out.push_str("/>\n");
    }
}

/// The outline of a glyph in relative steps. Absolute places are rounded, not distances, so errors do not add up.
fn shape(face: Face, id: u16, size: f32) -> Option<Shape> {
    let mut commands = face.outline(id).iter();
    let place =
        |point: Point| ((point.x * size * STEPS).round() as i64, (point.y * size * STEPS).round() as i64);
    let Some(PathCommand::Move(first)) = commands.next() else { return None };
    let start = place(*first);
    let (mut pen, mut contour) = (start, start);
    let mut rest = String::new();
    for command in commands {
        let (letter, points): (char, &[Point]) = match command {
            PathCommand::Move(point) => ('m', &[*point]),
            PathCommand::Line(point) => ('l', &[*point]),
            PathCommand::Quad(control, point) => ('q', &[*control, *point]),
            PathCommand::Cubic(a, b, point) => ('c', &[*a, *b, *point]),
            PathCommand::Close => ('z', &[]),
        };
        rest.push(letter);
        let from = pen;
        for (idx, point) in points.iter().enumerate() {
            let to = place(*point);
            push_step(&mut rest, to.0 - from.0, idx > 0);
            push_step(&mut rest, to.1 - from.1, true);
            pen = to;
        }
        match command {
            PathCommand::Move(_) => contour = pen,
            PathCommand::Close => pen = contour,
            _ => {}
        }
    }
    Some(Shape { start, rest })
}

/// A relative coordinate; a minus sign separates as well as a space does.
fn push_step(out: &mut String, value: i64, separate: bool) {
    if separate && value >= 0 {
        out.push(' ');
    }
    paint::push_steps(out, value);
}

/// `<text>` centred on the middle of the run, so that another font's widths spread evenly to both sides.
fn write_text(out: &mut String, run: &Text) {
    if run.content.is_empty() {
        return;
    }
    out.push_str("<text x=\"");
    paint::push_number(out, run.origin.x + run.width / 2.0);
    out.push_str("\" y=\"");
    paint::push_number(out, run.origin.y);
    out.push_str("\" text-anchor=\"middle\" font-size=\"");
    paint::push_number(out, run.size);
    let _ = write!(out, "\" font-family=\"{}\"", families(run.face));
    if run.face.weight() != 400 {
        let _ = write!(out, " font-weight=\"{}\"", run.face.weight());
    }
    if run.face.is_italic() {
        out.push_str(" font-style=\"italic\"");
    }
    if runs_right_to_left(run) {
        out.push_str(" direction=\"rtl\"");
    }
    paint::push_color(out, "fill", run.color);
    out.push_str(" xml:space=\"preserve\">");
    paint::push_escaped(out, &run.content);
    out.push_str("</text>\n");
}

/// Fonts found on most machines, nearest in width first.
fn families(face: Face) -> &'static str {
    match face {
        Face::Mono => "'DejaVu Sans Mono', Menlo, Consolas, monospace",
        Face::Fallback => "'DejaVu Sans', Verdana, 'Segoe UI', sans-serif",
        Face::Emoji => "'Noto Emoji', 'Segoe UI Emoji', 'Apple Color Emoji', sans-serif",
        Face::Math(_) => "KaTeX_Main, 'Latin Modern Math', 'Cambria Math', serif",
        _ => "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif",
    }
}

/// Whether the first character read is the last one seen.
fn runs_right_to_left(run: &Text) -> bool {
    match (run.glyphs.first(), run.glyphs.last()) {
        (Some(first), Some(last)) => first.start > last.start,
        _ => false,
    }
}

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
    let Some(PathCommand::Move(first)) = commands.next() else { return None };
    let start = place(*first, size);
    let mut pen = Pen { at: start, contour: start, out: String::new(), size };
    commands.for_each(|command| pen.follow(command));
    Some(Shape { start, rest: pen.out })
}

/// A point of an outline in whole steps.
fn place(point: Point, size: f32) -> (i64, i64) {
    ((point.x * size * STEPS).round() as i64, (point.y * size * STEPS).round() as i64)
}

/// Writes an outline step by step, as shortly as every reader of SVG understands.
struct Pen {
    at: (i64, i64),
    contour: (i64, i64),
    out: String,
    size: f32,
}

impl Pen {
    fn follow(&mut self, command: &PathCommand) {
        match command {
            PathCommand::Move(point) => {
                self.curve('m', &[*point]);
                self.contour = self.at;
            }
            PathCommand::Line(point) => self.line(*point),
            PathCommand::Quad(control, point) => self.curve('q', &[*control, *point]),
            PathCommand::Cubic(first, second, point) => self.curve('c', &[*first, *second, *point]),
            PathCommand::Close => {
                self.out.push('z');
                self.at = self.contour;
            }
        }
    }

    fn line(&mut self, point: Point) {
        let to = place(point, self.size);
        match (to.0 - self.at.0, to.1 - self.at.1) {
            (0, 0) => return,
            (across, 0) => self.axis('h', across),
            (0, down) => self.axis('v', down),
            _ => return self.curve('l', &[point]),
        }
        self.at = to;
    }

    fn axis(&mut self, letter: char, distance: i64) {
        self.out.push(letter);
        push_step(&mut self.out, distance, false);
    }

    fn curve(&mut self, letter: char, points: &[Point]) {
        self.out.push(letter);
        let from = self.at;
        for (idx, point) in points.iter().enumerate() {
            self.at = place(*point, self.size);
            push_step(&mut self.out, self.at.0 - from.0, idx > 0);
            push_step(&mut self.out, self.at.1 - from.1, true);
        }
    }
}

/// A relative coordinate without the zero before the point; a minus sign separates as well as a space does.
fn push_step(out: &mut String, value: i64, separate: bool) {
    if separate && value >= 0 {
        out.push(' ');
    }
    if value != 0 && value.abs() < STEPS as i64 {
        let start = out.len() + usize::from(value < 0);
        paint::push_steps(out, value);
        out.remove(start);
    } else {
        paint::push_steps(out, value);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters with their numbers, as the grammar of SVG path data splits them.
    fn commands(path: &str) -> Vec<(char, Vec<f32>)> {
        let mut commands: Vec<(char, Vec<f32>)> = Vec::new();
        let mut number = String::new();
        for character in path.chars().chain([' ']) {
            let starts = !(character.is_ascii_digit() || character == '.');
            if starts && !number.is_empty() {
                commands.last_mut().unwrap().1.push(number.parse().unwrap());
                number.clear();
            }
            match character {
                ' ' => {}
                '-' | '.' | '0'..='9' => number.push(character),
                letter => commands.push((letter, Vec::new())),
            }
        }
        commands
    }

    /// The absolute points that relative path data run through.
    fn points(start: (f32, f32), path: &str) -> Vec<(f32, f32)> {
        let (mut pen, mut contour) = (start, start);
        let mut points = vec![start];
        for (letter, numbers) in commands(path) {
            let from = pen;
            match letter {
                'h' => pen.0 += numbers[0],
                'v' => pen.1 += numbers[0],
                'z' => pen = contour,
                _ => {
                    for pair in numbers.chunks_exact(2) {
                        pen = (from.0 + pair[0], from.1 + pair[1]);
                        points.push(pen);
                    }
                }
            }
            if letter == 'm' {
                contour = pen;
            }
            if matches!(letter, 'h' | 'v') {
                points.push(pen);
            }
        }
        points
    }

    #[test]
    fn a_shape_runs_through_the_points_of_its_glyph() {
        let size = 10.0;
        for (face, character) in
            [(Face::Regular, '8'), (Face::Bold, 'H'), (Face::Fallback, 'ע'), (Face::Math(4), 'Q')]
        {
            let id = face.glyph(character).unwrap();
            let shape = shape(face, id, size).unwrap();
            let start = (shape.start.0 as f32 / STEPS, shape.start.1 as f32 / STEPS);
            let drawn = points(start, &shape.rest);
            for command in face.outline(id) {
                let Some(end) = command.end() else { continue };
                let near = |&(x, y): &(f32, f32)| {
                    (x - end.x * size).abs() < 0.006 && (y - end.y * size).abs() < 0.006
                };
                assert!(drawn.iter().any(near), "{face:?} {character}: {end:?} is missing in {}", shape.rest);
            }
        }
    }
}

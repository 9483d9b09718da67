//! The trace of the pinned pair as a figure.

use super::board::{MARGIN, valid_pin};
use super::sketch::{Sketch, Style};
use super::trace::{LineKind, Terms, TraceText, Writing, trace_text};
use super::{Anchor, Drawing, Face, FigureInput, FigureOptions, Label, Pin, Point, measure};

/// From line to line, in points.
const LINE: f32 = 18.0;
/// Longer sums are shortened even where every term is asked for: nobody reads them on a slide.
const MOST_TERMS: usize = 64;
/// Longer lines go on below, in points.
const WIDEST: f32 = 620.0;

/// Every step from the operands to the output row. Without a pin, of the first pair.
pub fn trace_figure(input: &FigureInput<'_>, options: &FigureOptions) -> Drawing {
    let mut sketch = Sketch::new(options.theme.colors());
    let pin = valid_pin(input, options).unwrap_or(Pin { query: 0, key: 0 });
    let terms = if options.every_term { Terms::UpTo(MOST_TERMS) } else { Terms::Few };
    let writing = Writing { decimals: options.decimals, terms };
    let Some(trace) = trace_text(input, options.head, pin, writing) else {
        let words = "There is no pair of a query and a key to trace.";
        sketch.text(words, sketch.muted(11.0), Point::default(), Anchor::Start);
        return sketch.into_drawing(MARGIN, input.title.to_owned(), words.to_owned());
    };
    let mut y = 0.0;
    if options.title {
        let title = Label::plain(&trace.title, Face::Bold, 18.0, sketch.theme.ink);
        let scene = Label::plain(input.title, Face::Regular, 11.0, sketch.theme.muted);
        sketch.extend(title.place(Point { x: 0.0, y }, Anchor::Start));
        sketch.extend(scene.place(Point { x: 0.0, y: y + 18.0 }, Anchor::Start));
        y += 46.0;
    }
    draw_sections(&mut sketch, &trace, y);
    sketch.into_drawing(MARGIN, trace.title.clone(), words(&trace))
}

fn draw_sections(sketch: &mut Sketch, trace: &TraceText, mut y: f32) {
    for section in &trace.sections {
        let title = Label::markup(&section.title, Face::Bold, 10.0, sketch.theme.muted);
        sketch.extend(title.place(Point { x: 0.0, y }, Anchor::Start));
        for line in &section.lines {
            let style = style_of(line.kind, sketch);
            for (index, part) in wrapped(&line.text, style).into_iter().enumerate() {
                y += LINE;
                let x = if index == 0 { 14.0 } else { 28.0 };
                sketch.text(&part, style, Point { x, y }, Anchor::Start);
            }
        }
        y += LINE + 10.0;
    }
}

/// The line in parts that fit on a slide, broken between words.
pub fn wrapped(line: &str, style: Style) -> Vec<String> {
    let mut parts = vec![String::new()];
    for word in line.split(' ') {
        let last = parts.len() - 1;
        let longer = if parts[last].is_empty() { word.to_owned() } else { format!("{} {word}", parts[last]) };
        if parts[last].is_empty() || measure(&longer, style.face, style.size) <= WIDEST {
            parts[last] = longer;
        } else {
            parts.push(word.to_owned());
        }
    }
    parts
}

fn style_of(kind: LineKind, sketch: &Sketch) -> Style {
    match kind {
        LineKind::Plain => sketch.ink(12.0),
        LineKind::Muted => sketch.muted(11.0),
        LineKind::Result => Style { face: Face::Bold, size: 12.0, color: sketch.theme.weight },
    }
}

fn words(trace: &TraceText) -> String {
    let sections = trace.sections.iter().map(|section| {
        let lines: Vec<&str> = section.lines.iter().map(|line| line.text.as_str()).collect();
        format!("{}: {}.", section.title.replace('_', " "), lines.join("; "))
    });
    sections.collect::<Vec<_>>().join(" ")
}

//! TeX formulas as items: glyphs stay text, rules become rectangles, roots and tall brackets outlines.

use std::cell::RefCell;
use std::collections::HashMap;

use ratex_layout::{LayoutOptions, layout, to_display_list, validate_layout};
use ratex_types::display_item::{DisplayItem, DisplayList};
use ratex_types::path_command::PathCommand as TexCommand;

use super::{
    Anchor, Color, Face, Glyph, Item, Outline, PathCommand, Point, Polyline, Rect, RectItem, Stroke, Text,
    text,
};

/// A formula that could not be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormulaError {
    /// The TeX is wrong.
    #[error("the formula cannot be read{}: {message}", at.map(|at| format!(" at character {}", at + 1)).unwrap_or_default())]
    Syntax {
        /// What the parser says.
        message: String,
        /// Where, in bytes from the start.
        at: Option<usize>,
    },
    /// Far more than a line of mathematics.
    #[error("the formula is too large to be set: {0}; split it up")]
    TooLarge(String),
}

/// A formula laid out, its baseline starting at (0, 0).
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaBox {
    /// What it is made of, y down: most of it lies above 0.
    pub items: Vec<Item>,
    /// Advance in points.
    pub width: f32,
    /// Reach above the baseline, in points.
    pub ascent: f32,
    /// Reach below the baseline, in points.
    pub descent: f32,
}

impl FormulaBox {
    /// The items with the left end of the baseline at `at`.
    pub fn at(&self, at: Point) -> Vec<Item> {
        self.items.iter().map(|item| item.moved(at.x, at.y)).collect()
    }

    /// Height from the highest to the lowest ink that the layout reserves, in points.
    pub fn height(&self) -> f32 {
        self.ascent + self.descent
    }
}

/// Formulas recur from frame to frame; so many are kept.
const MAX_STORED: usize = 256;

thread_local! {
    static STORE: RefCell<HashMap<String, DisplayList>> = RefCell::default();
}

/// Sets TeX mathematics in display style at `size` points, in the KaTeX faces.
///
/// Colours named in the TeX are kept; everything else is drawn in `color`.
///
/// # Errors
/// [`FormulaError`] when the TeX cannot be read, or asks for more than a figure can hold.
pub fn formula(tex: &str, size: f32, color: Color) -> Result<FormulaBox, FormulaError> {
    STORE.with_borrow_mut(|store| {
        if let Some(list) = store.get(tex) {
            return Ok(from_list(list, size, color));
        }
        let list = lay_out(tex)?;
        if store.len() >= MAX_STORED {
            store.clear();
        }
        let set = from_list(&list, size, color);
        store.insert(tex.to_owned(), list);
        Ok(set)
    })
}

fn lay_out(tex: &str) -> Result<DisplayList, FormulaError> {
    let nodes = ratex_parser::parse(tex).map_err(|error| FormulaError::Syntax {
        message: error.message,
        at: error.loc.map(|place| place.start),
    })?;
    let root = layout(&nodes, &LayoutOptions::default());
    validate_layout(&root).map_err(FormulaError::TooLarge)?;
    Ok(to_display_list(&root))
}

fn from_list(list: &DisplayList, size: f32, color: Color) -> FormulaBox {
    let mut setter =
        Setter { size, color, baseline: list.height, items: Vec::with_capacity(list.items.len()) };
    for item in &list.items {
        setter.push(item);
    }
    FormulaBox {
        items: setter.items,
        width: list.width as f32 * size,
        ascent: list.height as f32 * size,
        descent: list.depth as f32 * size,
    }
}

/// Turns em measured from the top left into points measured from the baseline.
struct Setter {
    size: f32,
    color: Color,
    baseline: f64,
    items: Vec<Item>,
}

impl Setter {
    fn push(&mut self, item: &DisplayItem) {
        match item {
            DisplayItem::GlyphPath { x, y, scale, font, char_code, color } => {
                let character = char::from_u32(*char_code).unwrap_or('\u{FFFD}');
                self.glyph(
                    self.point(*x, *y),
                    *scale as f32 * self.size,
                    font,
                    character,
                    self.color_of(color),
                );
            }
            DisplayItem::Line { x, y, width, thickness, color, dashed } => {
                let (start, width) = (self.point(*x, *y), *width as f32 * self.size);
                let stroke = Stroke { width: *thickness as f32 * self.size, color: self.color_of(color) };
                self.line(start, width, stroke, *dashed);
            }
            DisplayItem::Rect { x, y, width, height, color } => {
                let Point { x, y } = self.point(*x, *y);
                let (width, height) = (*width as f32 * self.size, *height as f32 * self.size);
                self.rectangle(Rect { x, y, width, height }, self.color_of(color));
            }
            DisplayItem::Path { x, y, commands, fill, color } => {
                let color = self.color_of(color);
                let path = commands.iter().map(|command| self.command(*x, *y, command)).collect();
                self.path(path, *fill, color);
            }
        }
    }

    fn point(&self, x: f64, y: f64) -> Point {
        Point { x: x as f32 * self.size, y: (y - self.baseline) as f32 * self.size }
    }

    /// Glyphs of one face, size and line that follow each other are one run, so that they can be selected as one word.
    fn glyph(&mut self, at: Point, size: f32, font: &str, character: char, color: Color) {
        let Some((face, id)) = Face::math(font).and_then(|face| Some((face, face.glyph(character)?))) else {
            let run = text(&character.to_string(), Face::Regular, size, color, at, Anchor::Start);
            self.items.push(Item::Text(run));
            return;
        };
        let advance = face.advance(id) * size;
        let mut run = match self.items.pop() {
            Some(Item::Text(run)) if continues(&run, face, size, color, at) => run,
            last => {
                self.items.extend(last);
                Text { content: String::new(), face, size, origin: at, width: 0.0, color, glyphs: Vec::new() }
            }
        };
        let (x, start) = (at.x - run.origin.x, run.content.len() as u32);
        run.content.push(character);
        run.glyphs.push(Glyph { face, id, x, y: 0.0, advance, start, end: run.content.len() as u32 });
        run.width = x + advance;
        self.items.push(Item::Text(run));
    }

    /// A rule whose middle starts at `start`.
    fn line(&mut self, start: Point, width: f32, stroke: Stroke, dashed: bool) {
        if dashed {
            let points = vec![start, Point { x: start.x + width, y: start.y }];
            let dash = Some((stroke.width * 3.0, stroke.width * 3.0));
            self.items.push(Item::Polyline(Polyline { points, stroke, closed: false, dash }));
        } else {
            let (y, height) = (start.y - stroke.width / 2.0, stroke.width);
            self.rectangle(Rect { x: start.x, y, width, height }, stroke.color);
        }
    }

    fn rectangle(&mut self, rect: Rect, fill: Color) {
        self.items.push(Item::Rect(RectItem { rect, radius: 0.0, fill: Some(fill), stroke: None }));
    }

    fn command(&self, x: f64, y: f64, command: &TexCommand) -> PathCommand {
        let point = |px: f64, py: f64| self.point(x + px, y + py);
        match *command {
            TexCommand::MoveTo { x, y } => PathCommand::Move(point(x, y)),
            TexCommand::LineTo { x, y } => PathCommand::Line(point(x, y)),
            TexCommand::QuadTo { x1, y1, x, y } => PathCommand::Quad(point(x1, y1), point(x, y)),
            TexCommand::CubicTo { x1, y1, x2, y2, x, y } => {
                PathCommand::Cubic(point(x1, y1), point(x2, y2), point(x, y))
            }
            TexCommand::Close => PathCommand::Close,
        }
    }

    fn path(&mut self, path: Vec<PathCommand>, fill: bool, color: Color) {
        if fill {
            self.items.push(Item::Outline(Outline { path, fill: color }));
            return;
        }
        // Strokes are the frames and strikes of \boxed and \cancel: straight lines, as thick as a fraction bar.
        let stroke = Stroke { width: 0.04 * self.size, color };
        for contour in path.split(|command| matches!(command, PathCommand::Close)) {
            let points: Vec<Point> = contour.iter().filter_map(|command| command.end()).collect();
            if points.len() > 1 {
                self.items.push(Item::Polyline(Polyline { points, stroke, closed: false, dash: None }));
            }
        }
    }

    /// Black is TeX for "the colour of the text around".
    fn color_of(&self, color: &ratex_types::color::Color) -> Color {
        let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
        if *color == ratex_types::color::Color::BLACK {
            return self.color;
        }
        Color { r: byte(color.r), g: byte(color.g), b: byte(color.b), a: byte(color.a) }
    }
}

/// Whether a glyph at `at` carries on the run: same line and look, and no gap wider than a space of mathematics.
fn continues(run: &Text, face: Face, size: f32, color: Color, at: Point) -> bool {
    let gap = at.x - run.origin.x - run.width;
    let same_look = run.face == face && run.size == size && run.color == color;
    same_look && (at.y - run.origin.y).abs() < 0.001 * size && gap > -0.2 * size && gap < 0.35 * size
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Color = Color::rgb(10, 20, 30);
    const ATTENTION: &str =
        r"\mathrm{Attention}(Q,K,V)=\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}+M\right)V";

    fn texts(set: &FormulaBox) -> String {
        set.items
            .iter()
            .filter_map(|item| match item {
                Item::Text(run) => Some(run.content.as_str()),
                _ => None,
            })
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn attention_is_set_as_text_rules_and_outlines() {
        let set = formula(ATTENTION, 12.0, INK).unwrap();
        let words = texts(&set);
        for word in ["Attention", "softmax", "Q", "K", "V", "d"] {
            assert!(words.contains(word), "{word} is missing in {words}");
        }
        assert!(set.items.iter().any(|item| matches!(item, Item::Rect(_))), "no fraction bar");
        assert!(set.width > 150.0 && set.ascent > 12.0 && set.descent > 6.0, "{set:?}");
    }

    #[test]
    fn everything_lies_inside_the_box() {
        let set = formula(ATTENTION, 14.0, INK).unwrap();
        for item in &set.items {
            if let Item::Text(run) = item {
                assert!(run.origin.x >= -0.01 && run.origin.x + run.width <= set.width + 0.5, "{run:?}");
                assert!(run.origin.y > -set.ascent && run.origin.y < set.descent, "{run:?}");
                assert!(run.glyphs.iter().all(|glyph| glyph.id != 0));
            }
        }
    }

    #[test]
    fn a_formula_grows_with_its_size_and_moves_to_its_place() {
        let (small, large) = (formula("d_k", 10.0, INK).unwrap(), formula("d_k", 20.0, INK).unwrap());
        assert!((large.width - 2.0 * small.width).abs() < 1e-3);
        let moved = small.at(Point { x: 7.0, y: 9.0 });
        let (Item::Text(before), Item::Text(after)) = (&small.items[0], &moved[0]) else { panic!() };
        assert_eq!(after.origin, Point { x: before.origin.x + 7.0, y: before.origin.y + 9.0 });
    }

    #[test]
    fn black_becomes_the_ink_and_named_colours_stay() {
        let set = formula(r"Q\textcolor{#ff0000}{K}", 10.0, INK).unwrap();
        let colors: Vec<Color> = set
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Text(run) => Some(run.color),
                _ => None,
            })
            .collect();
        assert_eq!(colors, [INK, Color::rgb(255, 0, 0)]);
    }

    #[test]
    fn wrong_tex_is_told_in_a_sentence() {
        let error = formula(r"\frac{1}{", 10.0, INK).unwrap_err();
        assert!(error.to_string().starts_with("the formula cannot be read"), "{error}");
        for odd in ["", "}", "_", "^^", r"\left(", r"\unknowncommand", "深 😀", "\0"] {
            // Whatever is typed, the answer is a formula or an error.
            if let Ok(set) = formula(odd, 10.0, INK) {
                assert!(set.width.is_finite(), "{odd:?}");
            }
        }
    }
}

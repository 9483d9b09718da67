//! Text measured and placed with the bundled faces, never by egui.

use super::{Color, Face, Point, Text};

/// Where the given point lies in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The left end of the baseline.
    Start,
    /// The middle of the baseline.
    Middle,
    /// The right end of the baseline.
    End,
}

/// Sets one run of text on the baseline at `at`.
pub fn text(content: &str, face: Face, size: f32, color: Color, at: Point, anchor: Anchor) -> Text {
    let width = measure(content, face, size);
    let x = match anchor {
        Anchor::Start => at.x,
        Anchor::Middle => at.x - width / 2.0,
        Anchor::End => at.x - width,
    };
    let origin = Point { x, y: at.y };
    Text { content: content.to_owned(), face, size, origin, width, color, glyphs: Vec::new() }
}

/// The advance of a run in points.
pub fn measure(content: &str, _face: Face, size: f32) -> f32 {
    0.6 * size * content.chars().count() as f32
}

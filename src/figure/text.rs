//! Text measured and placed with the bundled faces, never by egui.

use super::font_data::LoadedFont;
use super::shaping::shape;
use super::{Color, Face, Glyph, Point, Text};

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

impl Anchor {
    /// The left end of something `width` points wide whose anchor lies at `x`.
    pub fn left(self, x: f32, width: f32) -> f32 {
        match self {
            Self::Start => x,
            Self::Middle => x - width / 2.0,
            Self::End => x - width,
        }
    }
}

/// Sets one run of text on the baseline at `at`.
///
/// Right-to-left scripts run right to left, marks sit on their letters, and a character that `face` lacks is taken from
/// another face. A control character is shown as a sign, one that no face has as a box with its code point. Tokens are shown
/// as written: `->` never becomes an arrow.
pub fn text(content: &str, face: Face, size: f32, color: Color, at: Point, anchor: Anchor) -> Text {
    let (glyphs, width) = match plain(content, face) {
        Some(font) => place_plain(content, font, face, size),
        None => {
            let shaped = shape(content, face);
            (shaped.glyphs.iter().map(|glyph| glyph.scaled(size)).collect(), shaped.width * size)
        }
    };
    let origin = Point { x: anchor.left(at.x, width), y: at.y };
    Text { content: content.to_owned(), face, size, origin, width, color, glyphs }
}

/// The advance of a run in points.
pub fn measure(content: &str, face: Face, size: f32) -> f32 {
    match plain(content, face) {
        Some(font) => {
            content.chars().filter_map(|c| font.plain_glyph(c)).map(|(_, advance)| advance * size).sum()
        }
        None => shape(content, face).width * size,
    }
}

impl Glyph {
    /// The same glyph in a run `factor` times as large.
    fn scaled(self, factor: f32) -> Self {
        Self { x: self.x * factor, y: self.y * factor, advance: self.advance * factor, ..self }
    }
}

/// The font, if the content is a plain number that needs no shaping: a large board holds tens of thousands of them.
fn plain(content: &str, face: Face) -> Option<&'static LoadedFont> {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '\u{2212}' | '-' | '+' | ' ');
    let font = face.loaded()?;
    content.chars().all(|c| is_number(c) && font.plain_glyph(c).is_some()).then_some(font)
}

fn place_plain(content: &str, font: &LoadedFont, face: Face, size: f32) -> (Vec<Glyph>, f32) {
    let mut glyphs = Vec::with_capacity(content.len());
    let mut pen = 0.0;
    let mut start = 0;
    for character in content.chars() {
        let Some((id, advance)) = font.plain_glyph(character) else { continue };
        let (advance, end) = (advance * size, start + character.len_utf8() as u32);
        glyphs.push(Glyph { face, id, x: pen, y: 0.0, advance, start, end });
        (pen, start) = (pen + advance, end);
    }
    (glyphs, pen)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Color = Color::rgb(0, 0, 0);

    fn set(content: &str) -> Text {
        text(content, Face::Regular, 10.0, INK, Point::default(), Anchor::Start)
    }

    #[test]
    fn the_width_measured_is_the_width_set() {
        for content in ["0.2483", "\u{2212}1.5", "softmax", "AVATAR To", "עברית", "深", "👩‍👩‍👧‍👦", ""]
        {
            let run = set(content);
            assert!((run.width - measure(content, Face::Regular, 10.0)).abs() < 1e-4, "{content}");
            let advances: f32 = run.glyphs.iter().map(|glyph| glyph.advance).sum();
            assert!((run.width - advances).abs() < 1e-3, "{content}: {} and {advances}", run.width);
        }
    }

    #[test]
    fn anchors_place_the_left_end() {
        let at = Point { x: 100.0, y: 50.0 };
        let place = |anchor| text("1.25", Face::Bold, 12.0, INK, at, anchor);
        let width = place(Anchor::Start).width;
        assert_eq!(place(Anchor::Start).origin, at);
        assert_eq!(place(Anchor::Middle).origin.x, 100.0 - width / 2.0);
        assert_eq!(place(Anchor::End).origin.x, 100.0 - width);
    }

    #[test]
    fn every_byte_of_a_label_belongs_to_a_glyph() {
        for content in ["Ġthe", "▁Hello", "##ing", "e\u{301}", "深紅", "αβ∈ℝ", "x\0y", "\u{1b}[0m", "a→b √d"]
        {
            let run = set(content);
            let mut covered = vec![false; content.len()];
            for glyph in &run.glyphs {
                assert!(content.is_char_boundary(glyph.start as usize), "{content:?}");
                assert!(content.is_char_boundary(glyph.end as usize), "{content:?}");
                covered[glyph.start as usize..glyph.end as usize].fill(true);
            }
            assert!(covered.into_iter().all(|byte| byte), "{content:?}: {:?}", run.glyphs);
        }
    }

    #[test]
    fn hebrew_runs_from_right_to_left() {
        let run = set("עברית");
        let starts: Vec<u32> = run.glyphs.iter().map(|glyph| glyph.start).collect();
        assert_eq!(starts, [8, 6, 4, 2, 0]);
        assert!(run.glyphs.iter().all(|glyph| glyph.face == Face::Fallback && glyph.id != 0));
    }

    #[test]
    fn a_number_inside_hebrew_keeps_its_own_direction() {
        let run = set("א 12 ב");
        let digits: Vec<&str> = run
            .glyphs
            .iter()
            .map(|glyph| &run.content[glyph.start as usize..glyph.end as usize])
            .filter(|piece| piece.chars().all(|c| c.is_ascii_digit()))
            .collect();
        assert_eq!(digits, ["1", "2"]);
        assert_eq!(&run.content[run.glyphs[0].start as usize..run.glyphs[0].end as usize], "ב");
    }

    #[test]
    fn arabic_letters_join() {
        let joined = set("سلام");
        let apart: Vec<u16> =
            ["س", "ل", "ا", "م"].iter().flat_map(|letter| set(letter).glyphs).map(|glyph| glyph.id).collect();
        assert!(joined.glyphs.iter().all(|glyph| glyph.id != 0));
        assert!(joined.glyphs.iter().any(|glyph| !apart.contains(&glyph.id)), "no contextual form was used");
    }

    #[test]
    fn a_combining_accent_sits_on_its_letter() {
        let run = set("e\u{301}");
        assert!((run.width - measure("e", Face::Regular, 10.0)).abs() < 0.01);
    }

    #[test]
    fn tokens_are_shown_as_they_are_written() {
        for content in ["->", "0x8", "!=", "fi", "<=", "::"] {
            let run = set(content);
            let expected: Vec<u16> = content.chars().map(|c| Face::Regular.glyph(c).unwrap()).collect();
            assert_eq!(run.glyphs.iter().map(|glyph| glyph.id).collect::<Vec<_>>(), expected, "{content}");
        }
    }

    #[test]
    fn a_character_that_no_face_has_is_a_box_with_its_code_point() {
        let run = set("深");
        assert_eq!((run.glyphs[0].face, run.glyphs[0].id), (Face::Missing(0), 0x6DF1));
        assert!(run.glyphs[0].face.outline(run.glyphs[0].id).len() > 20);
        let rare = set("\u{2070E}");
        assert_eq!((rare.glyphs[0].face, rare.glyphs[0].id), (Face::Missing(2), 0x070E));
    }

    #[test]
    fn control_characters_are_visible() {
        let replacement = set("\u{FFFD}").glyphs[0];
        for content in ["\0", "\u{1b}", "\u{7f}"] {
            let run = set(content);
            assert_eq!(
                (run.glyphs[0].face, run.glyphs[0].id),
                (replacement.face, replacement.id),
                "{content:?}"
            );
        }
        assert!(set("\n").width > 0.0);
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_set(content in proptest::prelude::any::<String>()) {
            let run = set(&content);
            proptest::prop_assert!((run.width - measure(&content, Face::Regular, 10.0)).abs() < 0.01);
            for glyph in &run.glyphs {
                proptest::prop_assert!(content.get(glyph.start as usize..glyph.end as usize).is_some());
                proptest::prop_assert!(glyph.x.is_finite() && glyph.advance >= 0.0);
            }
        }
    }
}

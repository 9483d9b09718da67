//! Short texts with sub- and superscripts: Kᵀ, d_k, W_Q.

use super::{Anchor, Color, Face, Item, Point, measure, text};

/// A line of text whose pieces may be of different faces, raised or lowered.
///
/// Token names are data, not markup: set them with [`Label::plain`] or [`Label::push`].
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    face: Face,
    size: f32,
    color: Color,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
struct Piece {
    content: String,
    face: Face,
    color: Color,
    level: Level,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Level {
    Line,
    Sub,
    Sup,
}

impl Level {
    /// Size of the piece in sizes of the label.
    fn scale(self) -> f32 {
        if self == Self::Line { 1.0 } else { 0.72 }
    }

    /// Baseline below that of the label, in sizes of the label.
    fn drop(self) -> f32 {
        match self {
            Self::Line => 0.0,
            Self::Sub => 0.20,
            Self::Sup => -0.36,
        }
    }
}

impl Label {
    /// An empty label; `size` in points is that of the text on the line.
    pub fn new(face: Face, size: f32, color: Color) -> Self {
        Self { face, size, color, pieces: Vec::new() }
    }

    /// A label of one piece, shown as it is.
    pub fn plain(content: &str, face: Face, size: f32, color: Color) -> Self {
        Self::new(face, size, color).push(content)
    }

    /// A label from markup: `_` lowers and `^` raises the next character or the next `{group}`; `*bold*` and `~italic~` switch
    /// the face; `\` shows the next character as it is. So `~Q~ ~K~^T`, `W_Q`, `d_{model}`, `a\_b`.
    ///
    /// Everything is markup of some label: what does not close runs to the end, nothing is refused.
    pub fn markup(markup: &str, face: Face, size: f32, color: Color) -> Self {
        let mut label = Self::new(face, size, color);
        let mut characters = markup.chars();
        let (mut pending, mut current) = (String::new(), face);
        while let Some(character) = characters.next() {
            match character {
                '\\' => pending.extend(characters.next()),
                '_' | '^' => {
                    label.add(std::mem::take(&mut pending), current, Level::Line);
                    let level = if character == '_' { Level::Sub } else { Level::Sup };
                    label.add(script(&mut characters), current, level);
                }
                '*' | '~' => {
                    label.add(std::mem::take(&mut pending), current, Level::Line);
                    let other = if character == '*' { Face::Bold } else { Face::Italic };
                    current = if current == other { face } else { other };
                }
                _ => pending.push(character),
            }
        }
        label.add(pending, current, Level::Line);
        label
    }

    /// Appends text on the line, shown as it is.
    #[must_use]
    pub fn push(mut self, content: &str) -> Self {
        self.add(content.to_owned(), self.face, Level::Line);
        self
    }

    /// Appends text on the line in another face.
    #[must_use]
    pub fn push_in(mut self, content: &str, face: Face) -> Self {
        self.add(content.to_owned(), face, Level::Line);
        self
    }

    /// Appends text on the line in another colour.
    #[must_use]
    pub fn push_colored(mut self, content: &str, color: Color) -> Self {
        let face = self.face;
        self.pieces.push(Piece { content: content.to_owned(), face, color, level: Level::Line });
        self
    }

    /// Appends a subscript.
    #[must_use]
    pub fn subscript(mut self, content: &str) -> Self {
        self.add(content.to_owned(), self.face, Level::Sub);
        self
    }

    /// Appends a superscript. Right after a subscript it stands above it.
    #[must_use]
    pub fn superscript(mut self, content: &str) -> Self {
        self.add(content.to_owned(), self.face, Level::Sup);
        self
    }

    /// The same label in another size.
    #[must_use]
    pub fn sized(mut self, size: f32) -> Self {
        self.size = size;
        self
    }

    /// Size of the text on the line, in points.
    pub fn size(&self) -> f32 {
        self.size
    }

    /// The characters in reading order, without scripts being told apart.
    pub fn content(&self) -> String {
        self.pieces.iter().map(|piece| piece.content.as_str()).collect()
    }

    /// Advance of the whole label, in points.
    pub fn width(&self) -> f32 {
        self.offsets().1
    }

    /// How far the label reaches above its baseline, in points.
    pub fn ascent(&self) -> f32 {
        self.reach(|piece| piece.face.metrics().cap_height * piece.level.scale() - piece.level.drop())
    }

    /// How far the label reaches below its baseline, in points.
    pub fn descent(&self) -> f32 {
        self.reach(|piece| piece.face.metrics().descent * piece.level.scale() + piece.level.drop())
    }

    /// The label on the baseline at `at`.
    pub fn place(&self, at: Point, anchor: Anchor) -> Vec<Item> {
        let (offsets, width) = self.offsets();
        let left = anchor.left(at.x, width);
        let place = |(piece, x): (&Piece, f32)| {
            let origin = Point { x: left + x, y: at.y + piece.level.drop() * self.size };
            let size = piece.level.scale() * self.size;
            Item::Text(text(&piece.content, piece.face, size, piece.color, origin, Anchor::Start))
        };
        self.pieces.iter().zip(offsets).map(place).collect()
    }

    fn add(&mut self, content: String, face: Face, level: Level) {
        if !content.is_empty() {
            self.pieces.push(Piece { content, face, color: self.color, level });
        }
    }

    /// The left end of each piece, and the width of all.
    fn offsets(&self) -> (Vec<f32>, f32) {
        let mut offsets = Vec::with_capacity(self.pieces.len());
        let (mut base, mut end) = (0.0, 0.0_f32);
        let mut previous = Level::Line;
        for piece in &self.pieces {
            let stacked = previous != Level::Line && piece.level != Level::Line && piece.level != previous;
            if !stacked {
                base = end;
            }
            // A hair of space keeps a script off the letter that it belongs to.
            let gap = if piece.level == Level::Line { 0.0 } else { 0.03 * self.size };
            offsets.push(base + gap);
            end = end.max(base + gap + measure(&piece.content, piece.face, piece.level.scale() * self.size));
            previous = if stacked { Level::Line } else { piece.level };
        }
        (offsets, end)
    }

    fn reach(&self, of_piece: impl Fn(&Piece) -> f32) -> f32 {
        self.pieces.iter().map(of_piece).fold(0.0, f32::max) * self.size
    }
}

/// What follows `_` or `^`: one character or a group in braces.
fn script(characters: &mut std::str::Chars<'_>) -> String {
    match characters.next() {
        Some('{') => characters.by_ref().take_while(|&c| c != '}').collect(),
        Some('\\') => characters.next().into_iter().collect(),
        other => other.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Color = Color::rgb(0, 0, 0);

    fn runs(label: &Label) -> Vec<(String, f32, f32)> {
        let items = label.place(Point { x: 0.0, y: 0.0 }, Anchor::Start);
        items
            .into_iter()
            .map(|item| match item {
                Item::Text(run) => (run.content, run.size, run.origin.y),
                other => panic!("a label holds only text, found {other:?}"),
            })
            .collect()
    }

    #[test]
    fn scripts_are_smaller_and_shifted() {
        let runs = runs(&Label::markup("K^T d_{model}", Face::Regular, 10.0, INK));
        assert_eq!(runs.iter().map(|run| run.0.as_str()).collect::<Vec<_>>(), ["K", "T", " d", "model"]);
        assert!(runs[1].1 < 8.0 && runs[1].2 < -3.0, "a superscript is small and high");
        assert!(runs[3].1 < 8.0 && runs[3].2 > 1.0, "a subscript is small and low");
    }

    #[test]
    fn a_plain_label_is_not_markup() {
        let label = Label::plain("a_b^c*d~e\\f", Face::Regular, 10.0, INK);
        assert_eq!(label.content(), "a_b^c*d~e\\f");
        assert_eq!(runs(&label).len(), 1);
        assert_eq!(Label::markup("a\\_b", Face::Regular, 10.0, INK).content(), "a_b");
    }

    #[test]
    fn markup_that_does_not_close_is_still_a_label() {
        for markup in ["W_", "W_{Q", "*bold", "\\", "^", "x_{", ""] {
            let label = Label::markup(markup, Face::Regular, 10.0, INK);
            assert!(label.width() >= 0.0);
        }
        assert_eq!(Label::markup("W_{Q", Face::Regular, 10.0, INK).content(), "WQ");
    }

    #[test]
    fn both_scripts_of_one_letter_stand_above_each_other() {
        let both = Label::new(Face::Regular, 10.0, INK).push("x").subscript("i").superscript("2");
        let sub_only = Label::new(Face::Regular, 10.0, INK).push("x").subscript("i");
        let sup_only = Label::new(Face::Regular, 10.0, INK).push("x").superscript("2");
        assert_eq!(both.width(), sub_only.width().max(sup_only.width()));
        assert!(both.ascent() > sub_only.ascent() && both.descent() > sup_only.descent());
    }

    #[test]
    fn the_label_ends_where_its_width_says() {
        let label = Label::markup("softmax(~Q~ ~K~^T / √d_k)", Face::Regular, 12.0, INK);
        let Some(Item::Text(last)) = label.place(Point { x: 200.0, y: 0.0 }, Anchor::End).pop() else {
            panic!()
        };
        assert!((last.origin.x + last.width - 200.0).abs() < 0.01);
    }
}

//! Numbers in columns, with a line of heads above.

use super::super::caption::SMALL;
use super::super::sketch::{HALF_DIGIT, Sketch};
use super::super::{Anchor, Face, Label, Point};

/// Size of the numbers, in points.
const SIZE: f32 = 11.0;
/// Between columns, in points.
const COLUMN_GAP: f32 = 22.0;

/// A table. Numbers end on a line.
pub struct Table {
    /// One per column, as markup.
    pub heads: Vec<String>,
    /// One text per column, as markup.
    pub rows: Vec<Vec<String>>,
    /// From row to row, in points.
    pub pitch: f32,
    /// The row that stands out.
    pub lit: Option<usize>,
    /// Whether the first column is set from its left, as names are.
    pub has_names: bool,
}

impl Table {
    /// A table with rows as close as text is.
    pub fn new(heads: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self {
            heads: heads.iter().map(|head| (*head).to_owned()).collect(),
            rows,
            pitch: 19.0,
            lit: None,
            has_names: true,
        }
    }

    /// From the middle of the first row to the middle of the last, and one row more.
    pub fn height(&self) -> f32 {
        self.rows.len() as f32 * self.pitch
    }

    fn head(&self, sketch: &Sketch, column: usize) -> Label {
        Label::markup(&self.heads[column], Face::Regular, SMALL, sketch.theme.muted)
    }

    fn cell(&self, sketch: &Sketch, row: usize, text: &str) -> Label {
        let face = if self.lit == Some(row) { Face::Bold } else { Face::Regular };
        Label::markup(text, face, SIZE, sketch.theme.ink)
    }

    fn column_width(&self, sketch: &Sketch, column: usize) -> f32 {
        let width =
            |(row, texts): (usize, &Vec<String>)| Some(self.cell(sketch, row, texts.get(column)?).width());
        let cells = self.rows.iter().enumerate().filter_map(width);
        cells.fold(self.head(sketch, column).width(), f32::max)
    }

    /// How wide the table is.
    pub fn width(&self, sketch: &Sketch) -> f32 {
        let widths: f32 = (0..self.heads.len()).map(|column| self.column_width(sketch, column)).sum();
        widths + COLUMN_GAP * self.heads.len().saturating_sub(1) as f32
    }

    /// Draws the heads on the baseline `at.y` and the first row around the height `first`.
    pub fn draw(&self, sketch: &mut Sketch, at: Point, first: f32) {
        let mut x = at.x;
        for column in 0..self.heads.len() {
            let room = self.column_width(sketch, column);
            let is_names = column == 0 && self.has_names;
            let (anchor, edge) = if is_names { (Anchor::Start, x) } else { (Anchor::End, x + room) };
            let head = self.head(sketch, column);
            sketch.extend(head.place(Point { x: edge, y: at.y }, anchor));
            for (row, texts) in self.rows.iter().enumerate() {
                let baseline = first + row as f32 * self.pitch + HALF_DIGIT * SIZE;
                if let Some(text) = texts.get(column) {
                    let cell = self.cell(sketch, row, text);
                    sketch.extend(cell.place(Point { x: edge, y: baseline }, anchor));
                }
            }
            x += room + COLUMN_GAP;
        }
    }
}

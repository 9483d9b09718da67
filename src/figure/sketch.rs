//! A drawing in the making: items in any coordinates, moved onto paper at the end.

use super::text::{measure, text};
use super::{
    Anchor, Cells, Color, Drawing, Face, Grid, Item, Outline, PathCommand, Point, Polyline, Reading, Rect,
    RectItem, Size, Stroke, Text, Theme,
};
use crate::engine::Matrix;

/// Face, size and colour of a run.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub face: Face,
    pub size: f32,
    pub color: Color,
}

/// How far letters reach above and below the baseline, as parts of the size.
pub const ASCENT: f32 = 0.76;
pub const DESCENT: f32 = 0.24;
/// From the baseline of digits up to their middle, as a part of the size.
pub const HALF_DIGIT: f32 = 0.364;

pub struct Sketch {
    pub theme: &'static Theme,
    items: Vec<Item>,
    grids: Vec<Grid>,
    readings: Vec<Reading>,
}

impl Sketch {
    pub fn new(theme: &'static Theme) -> Self {
        Self { theme, items: Vec::new(), grids: Vec::new(), readings: Vec::new() }
    }

    pub fn reserve(&mut self, n_items: usize) {
        self.items.reserve(n_items);
    }

    pub fn ink(&self, size: f32) -> Style {
        Style { face: Face::Regular, size, color: self.theme.ink }
    }

    pub fn muted(&self, size: f32) -> Style {
        Style { face: Face::Regular, size, color: self.theme.muted }
    }

    pub fn bold(&self, size: f32, color: Color) -> Style {
        Style { face: Face::Bold, size, color }
    }

    /// Sets a run on the baseline at `at` and returns its advance.
    pub fn text(&mut self, content: &str, style: Style, at: Point, anchor: Anchor) -> f32 {
        let run = text(content, style.face, style.size, style.color, at, anchor);
        let width = run.width;
        self.items.push(Item::Text(run));
        width
    }

    /// Sets a run with its digits' middle at the height `at.y`.
    pub fn text_in_middle(&mut self, content: &str, style: Style, at: Point, anchor: Anchor) {
        self.text(content, style, Point { x: at.x, y: at.y + HALF_DIGIT * style.size }, anchor);
    }

    pub fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.items.push(Item::Polyline(Polyline {
            points: vec![from, to],
            stroke,
            closed: false,
            dash: None,
        }));
    }

    pub fn polyline(&mut self, points: Vec<Point>, stroke: Stroke, closed: bool, dash: Option<(f32, f32)>) {
        self.items.push(Item::Polyline(Polyline { points, stroke, closed, dash }));
    }

    pub fn triangle(&mut self, corners: [Point; 3], fill: Color) {
        let [a, b, c] = corners;
        let path = vec![PathCommand::Move(a), PathCommand::Line(b), PathCommand::Line(c), PathCommand::Close];
        self.items.push(Item::Outline(Outline { path, fill }));
    }

    pub fn cells(&mut self, cells: Cells) {
        self.items.push(Item::Cells(cells));
    }

    pub fn grid(&mut self, grid: Grid) {
        self.grids.push(grid);
    }

    pub fn border(&mut self, rect: Rect) {
        self.outline(rect, Stroke { width: 0.75, color: self.theme.border });
    }

    /// A grid of numbers that are no matrix of the scene.
    pub fn reading(&mut self, grid: Grid, name: String, numbers: &Matrix) {
        self.readings.push(Reading { grid: self.grids.len(), name, numbers: numbers.clone() }); // shares its numbers
        self.grids.push(grid);
    }

    /// A rectangle without fill.
    pub fn outline(&mut self, rect: Rect, stroke: Stroke) {
        self.items.push(Item::Rect(RectItem { rect, radius: 0.0, fill: None, stroke: Some(stroke) }));
    }

    /// The outline of a pinned cell, row or column.
    pub fn pin(&mut self, rect: Rect) {
        let stroke = Stroke { width: 1.6, color: self.theme.accent };
        self.items.push(Item::Rect(RectItem { rect, radius: 2.0, fill: None, stroke: Some(stroke) }));
    }

    /// Adds what another part of the figure has laid out.
    pub fn extend(&mut self, items: impl IntoIterator<Item = Item>) {
        self.items.extend(items);
    }

    /// Moves everything so that `margin` points of paper surround it.
    pub fn into_drawing(self, margin: f32, title: String, description: String) -> Drawing {
        let Self { mut items, mut grids, readings, .. } = self;
        let bounds = items.iter().map(bounds).reduce(union).unwrap_or_default();
        // Whole points keep the rules of small figures on whole pixels at whole scales.
        let (dx, dy) = ((margin - bounds.x).ceil(), (margin - bounds.y).ceil());
        for item in &mut items {
            shift(item, dx, dy);
        }
        for grid in &mut grids {
            (grid.rect.x, grid.rect.y) = (grid.rect.x + dx, grid.rect.y + dy);
        }
        let size = Size {
            width: (bounds.right() + dx + margin).ceil(),
            height: (bounds.bottom() + dy + margin).ceil(),
        };
        Drawing { size, items, grids, readings, title, description }
    }
}

/// The advance of a run set in `style`.
pub fn width(content: &str, style: Style) -> f32 {
    measure(content, style.face, style.size)
}

/// The smallest upright rectangle around an item; of text, the line box of its letters.
pub fn bounds(item: &Item) -> Rect {
    match item {
        Item::Cells(cells) => cells.rect,
        Item::Rect(item) => grown(item.rect, item.stroke.map_or(0.0, |stroke| stroke.width / 2.0)),
        Item::Polyline(line) => grown(around(line.points.iter().copied()), line.stroke.width / 2.0),
        Item::Text(text) => text_box(text),
        Item::Outline(outline) => around(outline.path.iter().flat_map(|command| points_of(*command))),
    }
}

fn text_box(text: &Text) -> Rect {
    let (above, below) = (ASCENT * text.size, DESCENT * text.size);
    Rect { x: text.origin.x, y: text.origin.y - above, width: text.width, height: above + below }
}

fn points_of(command: PathCommand) -> impl Iterator<Item = Point> {
    let points = match command {
        PathCommand::Move(a) | PathCommand::Line(a) => [Some(a), None, None],
        PathCommand::Quad(a, b) => [Some(a), Some(b), None],
        PathCommand::Cubic(a, b, c) => [Some(a), Some(b), Some(c)],
        PathCommand::Close => [None; 3],
    };
    points.into_iter().flatten()
}

fn around(points: impl Iterator<Item = Point>) -> Rect {
    points
        .map(|point| Rect { x: point.x, y: point.y, width: 0.0, height: 0.0 })
        .reduce(union)
        .unwrap_or_default()
}

fn grown(rect: Rect, by: f32) -> Rect {
    Rect { x: rect.x - by, y: rect.y - by, width: rect.width + 2.0 * by, height: rect.height + 2.0 * by }
}

fn union(a: Rect, b: Rect) -> Rect {
    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
    Rect { x, y, width: a.right().max(b.right()) - x, height: a.bottom().max(b.bottom()) - y }
}

fn shift(item: &mut Item, dx: f32, dy: f32) {
    let move_point = |point: &mut Point| (point.x, point.y) = (point.x + dx, point.y + dy);
    match item {
        Item::Cells(cells) => (cells.rect.x, cells.rect.y) = (cells.rect.x + dx, cells.rect.y + dy),
        Item::Rect(item) => (item.rect.x, item.rect.y) = (item.rect.x + dx, item.rect.y + dy),
        Item::Polyline(line) => line.points.iter_mut().for_each(move_point),
        Item::Text(text) => move_point(&mut text.origin),
        Item::Outline(outline) => {
            for command in &mut outline.path {
                match command {
                    PathCommand::Move(a) | PathCommand::Line(a) => move_point(a),
                    PathCommand::Quad(a, b) => [a, b].into_iter().for_each(move_point),
                    PathCommand::Cubic(a, b, c) => [a, b, c].into_iter().for_each(move_point),
                    PathCommand::Close => {}
                }
            }
        }
    }
}

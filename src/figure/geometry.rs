//! Points, sizes and rectangles in typographic points (1/72 inch). x runs right, y runs **down**, the origin is the top left.

/// A position, in points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// From the left edge.
    pub x: f32,
    /// From the top edge.
    pub y: f32,
}

/// A width and a height, in points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// Across.
    pub width: f32,
    /// Down.
    pub height: f32,
}

/// An upright rectangle, in points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f32,
    /// Top edge (y down).
    pub y: f32,
    /// Across.
    pub width: f32,
    /// Down.
    pub height: f32,
}

impl Rect {
    /// Right edge.
    pub fn right(&self) -> f32 {
        self.x + self.width
    }

    /// Bottom edge (y down).
    pub fn bottom(&self) -> f32 {
        self.y + self.height
    }

    /// The middle.
    pub fn center(&self) -> Point {
        Point { x: self.x + self.width / 2.0, y: self.y + self.height / 2.0 }
    }

    /// Whether the point lies inside; the left and top edges belong to the rectangle, the right and bottom do not.
    pub fn contains(&self, point: Point) -> bool {
        (self.x..self.right()).contains(&point.x) && (self.y..self.bottom()).contains(&point.y)
    }
}

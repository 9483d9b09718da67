//! Items that no format can hold are left out: coordinates that are not finite, or further away than any paper.

use std::borrow::Cow;

use crate::figure::{Drawing, Item, Point, Rect};

/// Points from the origin; a hundred times the largest page of a PDF.
const FARTHEST: f32 = 1.44e6;

/// The drawing with what can be drawn.
pub(super) fn drawable(drawing: &Drawing) -> Cow<'_, Drawing> {
    if drawing.items.iter().all(is_drawable) {
        return Cow::Borrowed(drawing);
    }
    let items = drawing.items.iter().filter(|item| is_drawable(item)).cloned().collect();
    Cow::Owned(Drawing { items, ..drawing.clone() })
}

fn is_drawable(item: &Item) -> bool {
    match item {
        Item::Cells(cells) => area(cells.rect) && length(cells.rule),
        Item::Rect(item) => {
            area(item.rect) && length(item.radius) && item.stroke.is_none_or(|stroke| length(stroke.width))
        }
        Item::Polyline(line) => {
            let dash = line.dash.is_none_or(|(on, off)| length(on) && length(off) && on + off > 0.0);
            dash && length(line.stroke.width)
                && line.points.len() > 1
                && line.points.iter().copied().all(near)
        }
        Item::Text(run) => {
            let glyphs = run.glyphs.iter().all(|glyph| {
                let range = glyph.start as usize..glyph.end as usize;
                near(Point { x: glyph.x, y: glyph.y }) && run.content.get(range).is_some()
            });
            near(run.origin) && run.size > 0.0 && length(run.size) && length(run.width) && glyphs
        }
        Item::Outline(outline) => outline.path.iter().filter_map(|step| step.end()).all(near),
    }
}

fn area(rect: Rect) -> bool {
    near(Point { x: rect.x, y: rect.y }) && length(rect.width) && length(rect.height)
}

fn near(point: Point) -> bool {
    point.x.abs() <= FARTHEST && point.y.abs() <= FARTHEST
}

fn length(value: f32) -> bool {
    (0.0..=FARTHEST).contains(&value)
}

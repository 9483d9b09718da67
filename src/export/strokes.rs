//! Lines of one look that follow each other are drawn as one: the hatching of a mask is hundreds of them.

use crate::figure::{Item, Polyline};

/// The items in order, in slices: lines that look alike together, everything else alone.
pub(super) fn grouped(items: &[Item]) -> impl Iterator<Item = &[Item]> {
    items.chunk_by(|left, right| match (left, right) {
        // Where see-through lines cross, one path would be lighter than two.
        (Item::Polyline(left), Item::Polyline(right)) => {
            left.stroke == right.stroke && left.dash == right.dash && left.stroke.color.a == 255
        }
        _ => false,
    })
}

/// The lines of a slice.
pub(super) fn lines(items: &[Item]) -> impl Iterator<Item = &Polyline> {
    items.iter().filter_map(|item| match item {
        Item::Polyline(line) => Some(line),
        _ => None,
    })
}

//! What the three writers share about grids of cells.

use crate::figure::{Cells, Color, Rect};

/// Up to this many cells are written as rectangles of their own; more become one image.
const MAX_VECTOR_CELLS: usize = 128 * 128;

/// An image has about so many pixels along its longer side, so that a cell is several pixels wide.
const IMAGE_SIDE: usize = 2048;

/// Whether the grid is so large that it is written as an image.
pub(super) fn is_image(cells: &Cells) -> bool {
    cells.fills.len() > MAX_VECTOR_CELLS
}

/// One cell as a rectangle.
pub(super) struct CellRect {
    /// Where, in points.
    pub rect: Rect,
    /// Its fill.
    pub fill: Color,
}

/// The visible cells as rectangles, in painting order.
///
/// An opaque cell reaches a little under its right and lower neighbours, which are painted later: no renderer can leave a
/// hairline of background between them, however it smooths edges. Cells beside a see-through one keep to their own area.
pub(super) fn rectangles(cells: &Cells) -> impl Iterator<Item = CellRect> + '_ {
    let Cells { rect, rows, cols, fills, .. } = cells;
    let (rows, cols) = (*rows, *cols);
    let (width, height) = (rect.width / cols.max(1) as f32, rect.height / rows.max(1) as f32);
    let overlap = (width.min(height) / 2.0).min(0.4);
    let opaque = move |row: usize, col: usize| fills.get(row * cols + col).is_some_and(|fill| fill.a == 255);
    fills.iter().take(rows * cols).enumerate().filter(|(_, fill)| fill.a > 0).map(move |(idx, &fill)| {
        let (row, col) = (idx / cols, idx % cols);
        let (last_row, last_col) = (row + 1 == rows, col + 1 == cols);
        let right = !last_col && opaque(row, col + 1);
        let below = !last_row && opaque(row + 1, col);
        let corner = last_row || last_col || opaque(row + 1, col + 1);
        let spread = |wanted: bool| if wanted && fill.a == 255 && corner { overlap } else { 0.0 };
        let (x, y) = (rect.x + col as f32 * width, rect.y + row as f32 * height);
        CellRect { rect: Rect { x, y, width: width + spread(right), height: height + spread(below) }, fill }
    })
}

/// The rules between cells as lines, each (x or y) from one edge of the grid to the other: verticals, then horizontals.
pub(super) fn rules(cells: &Cells) -> impl Iterator<Item = Rule> + '_ {
    let Cells { rect, rows, cols, rule, .. } = cells;
    let visible = *rule > 0.0 && !is_image(cells);
    let (n_vertical, n_horizontal) = if visible { (*cols, *rows) } else { (0, 0) };
    let vertical =
        (1..n_vertical).map(move |idx| Rule::Vertical(rect.x + idx as f32 * rect.width / *cols as f32));
    let horizontal =
        (1..n_horizontal).map(move |idx| Rule::Horizontal(rect.y + idx as f32 * rect.height / *rows as f32));
    vertical.chain(horizontal)
}

/// One rule between cells.
pub(super) enum Rule {
    /// At this x.
    Vertical(f32),
    /// At this y.
    Horizontal(f32),
}

/// A grid as pixels.
pub(super) struct CellImage {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// Red, green, blue, alpha (straight) of each pixel, row by row.
    pub rgba: Vec<u8>,
}

/// The grid as an image in which every cell is a square of whole pixels.
pub(super) fn image(cells: &Cells) -> CellImage {
    let Cells { rows, cols, fills, .. } = cells;
    let factor = (IMAGE_SIDE / (*rows).max(*cols).max(1)).clamp(1, 8);
    let (width, height) = (cols * factor, rows * factor);
    let mut rgba = Vec::with_capacity(width * height * 4);
    for row in fills.chunks_exact((*cols).max(1)).take(*rows) {
        let start = rgba.len();
        for fill in row {
            let pixel = [fill.r, fill.g, fill.b, fill.a];
            rgba.extend(std::iter::repeat_n(pixel, factor).flatten());
        }
        let end = rgba.len();
        for _ in 1..factor {
            rgba.extend_from_within(start..end);
        }
    }
    CellImage { width, height, rgba }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(rows: usize, cols: usize, alpha: u8) -> Cells {
        let fills = (0..rows * cols).map(|idx| Color { r: idx as u8, g: 0, b: 0, a: alpha }).collect();
        let rect = Rect { x: 10.0, y: 20.0, width: 30.0 * cols as f32, height: 20.0 * rows as f32 };
        Cells { rect, rows, cols, fills, rule: 0.5, rule_color: Color::rgb(0, 0, 0) }
    }

    #[test]
    fn opaque_cells_overlap_only_what_is_painted_later() {
        let grid = grid(2, 3, 255);
        let rects: Vec<CellRect> = rectangles(&grid).collect();
        assert_eq!(rects.len(), 6);
        assert!(rects[0].rect.right() > rects[1].rect.x && rects[0].rect.bottom() > rects[3].rect.y);
        assert_eq!(rects[2].rect.right(), grid.rect.right());
        assert_eq!(rects[5].rect.bottom(), grid.rect.bottom());
    }

    #[test]
    fn see_through_cells_keep_to_their_own_area() {
        let grid = grid(2, 2, 128);
        let rects: Vec<CellRect> = rectangles(&grid).collect();
        assert_eq!(rects[0].rect.right(), rects[1].rect.x);
        assert_eq!(rectangles(&self::grid(2, 2, 0)).count(), 0);
    }

    #[test]
    fn an_image_has_whole_pixels_for_each_cell() {
        let grid = grid(300, 200, 255);
        assert!(is_image(&grid));
        let image = image(&grid);
        assert_eq!((image.width, image.height), (1200, 1800));
        assert_eq!(image.rgba.len(), 1200 * 1800 * 4);
        assert_eq!(image.rgba[(5 * 1200 + 5) * 4], 0, "row 5, column 5 still belongs to the first cell");
        assert_eq!(image.rgba[(6 * 1200 + 11) * 4], 201, "second row, second column is cell 201");
        assert_eq!(rules(&grid).count(), 0);
    }

    #[test]
    fn a_grid_without_cells_is_no_trouble() {
        for (rows, cols) in [(0, 0), (0, 4), (4, 0)] {
            let grid = grid(rows, cols, 255);
            assert_eq!(rectangles(&grid).count(), 0);
            assert!(image(&grid).rgba.is_empty());
        }
    }
}

//! Many cells as one picture: no more texels than pixels, whatever the size of the matrix.

use egui::{Color32, ColorImage};

use super::paint::color;
use crate::figure::Cells;

/// From this many cells on a matrix is painted as a picture; below, every cell is a rectangle of its own.
pub const MANY_CELLS: usize = 128 * 128;

/// The cells as a picture that is at most `most` texels wide and high. A texel that several cells share has their mean colour.
///
/// `None` where there are no cells.
pub fn picture(cells: &Cells, most: [usize; 2]) -> Option<ColorImage> {
    let (cols, rows) = (cells.cols, cells.rows);
    if cols == 0 || rows == 0 || cells.fills.len() != cols * rows {
        return None;
    }
    let size = [cols.min(most[0].max(1)), rows.min(most[1].max(1))];
    let share = |texel: usize, n_texels: usize, n: usize| texel * n / n_texels..(texel + 1) * n / n_texels;
    let pixels = (0..size[1])
        .flat_map(|y| (0..size[0]).map(move |x| (share(x, size[0], cols), share(y, size[1], rows))));
    let pixels = pixels.map(|(cols_here, rows_here)| {
        let fills =
            rows_here.flat_map(|row| &cells.fills[row * cols + cols_here.start..row * cols + cols_here.end]);
        mean(fills.map(|fill| color(*fill)))
    });
    Some(ColorImage::new(size, pixels.collect()))
}

/// The mean of colours, which egui keeps multiplied with their opacity.
fn mean(colors: impl Iterator<Item = Color32>) -> Color32 {
    let (sum, n) = colors.fold(([0_u64; 4], 0_u64), |(mut sum, n), color| {
        sum.iter_mut().zip(color.to_array()).for_each(|(sum, part)| *sum += u64::from(part));
        (sum, n + 1)
    });
    let [r, g, b, a] = sum.map(|part| u8::try_from((part + n / 2) / n.max(1)).unwrap_or(u8::MAX));
    Color32::from_rgba_premultiplied(r, g, b, a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Color, Rect};

    fn cells(rows: usize, cols: usize, fill: impl Fn(usize, usize) -> u8) -> Cells {
        let grey = |at: usize| {
            let grey = fill(at / cols, at % cols);
            Color { r: grey, g: grey, b: grey, a: 255 }
        };
        Cells {
            rect: Rect { x: 0.0, y: 0.0, width: 10.0, height: 10.0 },
            rows,
            cols,
            fills: (0..rows * cols).map(grey).collect(),
            rule: 0.0,
            rule_color: Color::BLACK,
        }
    }

    #[test]
    fn where_there_are_pixels_enough_every_cell_is_a_texel() {
        let image = picture(&cells(2, 3, |row, col| (10 * row + col) as u8), [100, 100]).unwrap();
        assert_eq!(image.size, [3, 2]);
        assert_eq!(image[(2, 1)], Color32::from_gray(12));
    }

    #[test]
    fn cells_that_share_a_texel_are_mixed_and_none_is_left_out() {
        let image = picture(&cells(4, 6, |row, _| if row < 2 { 0 } else { 200 }), [2, 2]).unwrap();
        assert_eq!(image.size, [2, 2]);
        assert_eq!([image[(0, 0)], image[(1, 1)]], [Color32::from_gray(0), Color32::from_gray(200)]);
        let one_of_nine = picture(&cells(3, 3, |row, col| if (row, col) == (1, 1) { 90 } else { 0 }), [1, 1]);
        assert_eq!(one_of_nine.unwrap()[(0, 0)], Color32::from_gray(10));
    }

    #[test]
    fn no_cells_make_no_picture() {
        assert!(picture(&cells(0, 3, |_, _| 0), [10, 10]).is_none());
    }
}

//! The box drawn for a character that no face has: its code point in small hexadecimal, two rows of digits.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::fonts::FaceMetrics;
use super::{Face, PathCommand, Point};

/// How far a box moves the pen, in em.
pub(super) const ADVANCE: f32 = 0.86;

/// A box reaches a little below the baseline and as high as a capital.
pub(super) const METRICS: FaceMetrics =
    FaceMetrics { ascent: 0.8, descent: 0.12, cap_height: 0.76, x_height: 0.5 };

/// The outline of the box for a code point, in em, y down. Made once per code point.
pub(super) fn outline(code_point: u32) -> &'static [PathCommand] {
    static BOXES: OnceLock<Mutex<HashMap<u32, &'static [PathCommand]>>> = OnceLock::new();
    let boxes = BOXES.get_or_init(Mutex::default);
    let mut boxes = boxes.lock().unwrap_or_else(PoisonError::into_inner);
    boxes.entry(code_point).or_insert_with(|| Vec::leak(draw(code_point)))
}

fn draw(code_point: u32) -> Vec<PathCommand> {
    let mut path = Vec::new();
    let (left, right, top, bottom, line) = (0.05, ADVANCE - 0.05, -METRICS.cap_height, 0.08, 0.035);
    frame(&mut path, left, top, right, bottom, false);
    frame(&mut path, left + line, top + line, right - line, bottom - line, true);
    let digits = format!("{code_point:04X}");
    let per_row = digits.len().div_ceil(2);
    let size = if per_row <= 2 { 0.42 } else { 0.32 };
    let baselines = [-0.40, -0.02];
    for (idx, digit) in digits.chars().enumerate() {
        let (row, col) = (idx / per_row, idx % per_row);
        let id = Face::Mono.glyph(digit).unwrap_or(0);
        let advance = Face::Mono.advance(id) * size;
        let n_in_row = if row == 0 { per_row } else { digits.len() - per_row };
        let x = ADVANCE / 2.0 + (col as f32 - n_in_row as f32 / 2.0) * advance;
        let place = |point: Point| Point { x: x + point.x * size, y: baselines[row] + point.y * size };
        path.extend(Face::Mono.outline(id).iter().map(|command| command.map(place)));
    }
    path
}

/// A rectangle; the inner one runs the other way round, so that the nonzero rule leaves a frame.
fn frame(path: &mut Vec<PathCommand>, left: f32, top: f32, right: f32, bottom: f32, reverse: bool) {
    let mut corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
    if reverse {
        corners.reverse();
    }
    for (idx, (x, y)) in corners.into_iter().enumerate() {
        let point = Point { x, y };
        path.push(if idx == 0 { PathCommand::Move(point) } else { PathCommand::Line(point) });
    }
    path.push(PathCommand::Close);
}

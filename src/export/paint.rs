//! How SVG spells numbers, colours and characters, and shapes that formats lack.

use std::fmt::Write as _;

use crate::figure::{Color, PathCommand, Point, Rect};

/// Steps per point in written coordinates: two decimals.
pub(super) const STEPS: f32 = 100.0;

/// A coordinate in whole steps; what is not finite becomes 0, as there is no place for it.
pub(super) fn steps(value: f32) -> i64 {
    (value * STEPS).round() as i64
}

/// A number with at most two decimals, without trailing zeros and never as −0.
pub(super) fn push_number(out: &mut String, value: f32) {
    push_steps(out, steps(value));
}

/// The same from whole steps. Digits are put together here because a figure holds hundreds of thousands of them.
pub(super) fn push_steps(out: &mut String, value: i64) {
    if value < 0 {
        out.push('-');
    }
    let magnitude = value.unsigned_abs();
    let (whole, hundredths) = (magnitude / 100, (magnitude % 100) as u8);
    if whole < 10 {
        out.push(char::from(b'0' + whole as u8));
    } else {
        let _ = write!(out, "{whole}");
    }
    if hundredths > 0 {
        out.push('.');
        out.push(char::from(b'0' + hundredths / 10));
        if hundredths % 10 > 0 {
            out.push(char::from(b'0' + hundredths % 10));
        }
    }
}

/// `x y`.
pub(super) fn push_point(out: &mut String, point: Point) {
    push_number(out, point.x);
    out.push(' ');
    push_number(out, point.y);
}

/// ` name="#rrggbb"`, and the opacity beside it where there is one: eight-digit colours are unknown to office programs.
pub(super) fn push_color(out: &mut String, name: &str, color: Color) {
    let Color { r, g, b, a } = color;
    let _ = write!(out, " {name}=\"#{r:02x}{g:02x}{b:02x}\"");
    if a < 255 {
        let _ = write!(out, " {name}-opacity=\"");
        push_number(out, f32::from(a) / 255.0);
        out.push('"');
    }
}

/// Text for XML 1.0, in an element or in double quotes. Characters that XML cannot hold become U+FFFD.
pub(super) fn push_escaped(out: &mut String, content: &str) {
    for character in content.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // A parser would turn a bare carriage return into a line feed.
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' => out.push(character),
            '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            _ => out.push(character),
        }
    }
}

/// Bytes in base 64.
pub(super) fn push_base64(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out.reserve(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |idx: usize| u32::from(chunk.get(idx).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for idx in 0..4 {
            let digit = (word >> (18 - 6 * idx)) as usize & 63;
            out.push(if idx <= chunk.len() { char::from(DIGITS[digit]) } else { '=' });
        }
    }
}

/// A rectangle with round corners as an outline; a radius beyond half a side is cut to it.
pub(super) fn rounded_rectangle(rect: Rect, radius: f32) -> Vec<PathCommand> {
    let radius = radius.min(rect.width / 2.0).min(rect.height / 2.0).max(0.0);
    // How far the controls of a quarter circle stand off its ends.
    let off = radius * (1.0 - 0.552_284_8);
    let (left, top, right, bottom) = (rect.x, rect.y, rect.right(), rect.bottom());
    let at = |x: f32, y: f32| Point { x, y };
    vec![
        PathCommand::Move(at(left + radius, top)),
        PathCommand::Line(at(right - radius, top)),
        PathCommand::Cubic(at(right - off, top), at(right, top + off), at(right, top + radius)),
        PathCommand::Line(at(right, bottom - radius)),
        PathCommand::Cubic(at(right, bottom - off), at(right - off, bottom), at(right - radius, bottom)),
        PathCommand::Line(at(left + radius, bottom)),
        PathCommand::Cubic(at(left + off, bottom), at(left, bottom - off), at(left, bottom - radius)),
        PathCommand::Line(at(left, top + radius)),
        PathCommand::Cubic(at(left, top + off), at(left + off, top), at(left + radius, top)),
        PathCommand::Close,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_minus_zero() {
        let spell = |value: f32| {
            let mut out = String::new();
            push_number(&mut out, value);
            out
        };
        let cases = [(0.0, "0"), (-0.0, "0"), (-0.001, "0"), (1.0, "1"), (1.5, "1.5"), (-12.345, "-12.35")];
        for (value, expected) in
            cases.into_iter().chain([(0.07, "0.07"), (1234.996, "1235"), (f32::NAN, "0")])
        {
            assert_eq!(spell(value), expected, "{value}");
        }
    }

    #[test]
    fn base64_agrees_with_the_examples_of_rfc_4648() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = String::new();
            push_base64(&mut out, bytes.as_bytes());
            assert_eq!(out, expected);
        }
    }
}

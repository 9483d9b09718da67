//! Softmax written out query by query, for scenes small enough to be read.

use super::board::Parts;
use super::board_rows::query_axis;
use super::caption::SMALL;
use super::numbers::format_number;
use super::shorten::shorten_to_width;
use super::sketch::{Sketch, width};
use super::{Anchor, Point};
use crate::engine::{SoftmaxAxis, SoftmaxForm};

const LARGEST_N_Q: usize = 6;
const LARGEST_N_K: usize = 6;
const LINE: f32 = 19.0;

/// One line per query: its maximum and the exponentials that its sum is made of. Draws nothing for larger scenes.
pub fn draw_softmax_rows(parts: &Parts<'_>, sketch: &mut Sketch, at: Point) {
    let softmax = parts.input.spec.softmax;
    let plain = softmax.over == SoftmaxAxis::Keys && softmax.form == SoftmaxForm::Stable;
    let small = (1..=LARGEST_N_Q).contains(&parts.n_q()) && (1..=LARGEST_N_K).contains(&parts.n_k());
    if !parts.options.softmax_rows || !plain || !small {
        return;
    }
    sketch.text("softmax, row by row", sketch.bold(SMALL + 1.0, sketch.theme.muted), at, Anchor::Start);
    let names = query_axis(parts);
    let indent = at.x + names.widest(sketch) + 14.0;
    for query in 0..parts.n_q() {
        let y = at.y + (query + 1) as f32 * LINE;
        let pinned = parts.pin.is_some_and(|pin| pin.query == query);
        let color = if pinned { sketch.theme.accent } else { sketch.theme.ink };
        let mut style = sketch.ink(10.5);
        style.color = color;
        let name_style = if pinned { sketch.bold(10.5, color) } else { style };
        let name = shorten_to_width(&parts.input.query_labels[query], name_style, super::axis::WIDEST_LABEL);
        sketch.text(&name, name_style, Point { x: at.x, y }, Anchor::Start);
        let maximum = format!("max {}", parts.row_sums(query)[0]);
        sketch.text(&maximum, style, Point { x: indent, y }, Anchor::Start);
        let after = indent + width("max −00.0000", style).max(width(&maximum, style)) + 12.0;
        sketch.text(&sum_in_words(parts, query), style, Point { x: after, y }, Anchor::Start);
    }
}

/// `Σexp = 0.4931 + 0.4931 + 1.0000 = 1.9861`
fn sum_in_words(parts: &Parts<'_>, query: usize) -> String {
    let decimals = parts.options.decimals;
    let attention = parts.attention;
    let maximum = attention.row_max[query];
    let visible = (0..parts.n_k()).filter(|key| attention.allows(query, *key));
    let terms: Vec<String> = visible
        .map(|key| format_number((attention.masked_scores.get(query, key) - maximum).exp(), decimals))
        .collect();
    let [_, sum] = parts.row_sums(query);
    if terms.is_empty() {
        return "no visible key".to_owned();
    }
    format!("Σexp = {} = {sum}", terms.join(" + "))
}

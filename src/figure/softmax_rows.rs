//! Softmax written out query by query, for scenes small enough to be read.

use super::axis::WIDEST_LABEL;
use super::board::Parts;
use super::board_rows::query_axis;
use super::caption::SMALL;
use super::numbers::format_number;
use super::shorten::shorten_to_width;
use super::sketch::{Sketch, Style, width};
use super::{Anchor, MatrixId, Point};
use crate::engine::{SoftmaxAxis, SoftmaxForm};

const LARGEST_N_Q: usize = 6;
const LARGEST_N_K: usize = 6;
/// From baseline to baseline, in points.
const LINE: f32 = 19.0;
/// Size of the lines, in points.
const SIZE: f32 = 10.5;

/// Whether the scene is small enough, and its softmax the usual one.
fn is_shown(parts: &Parts<'_>) -> bool {
    let softmax = parts.spec.softmax;
    let usual = softmax.over == SoftmaxAxis::Keys && softmax.form == SoftmaxForm::Stable;
    let small = (1..=LARGEST_N_Q).contains(&parts.n_q()) && (1..=LARGEST_N_K).contains(&parts.n_k());
    parts.options.softmax_rows && usual && small
}

/// Left edges of the maximum and of the sum, counted from the name of the query.
fn columns(parts: &Parts<'_>, sketch: &Sketch) -> [f32; 2] {
    let style = sketch.ink(SIZE);
    let widest =
        (0..parts.n_q()).map(|query| width(&maximum_in_words(parts, query), style)).fold(0.0, f32::max);
    let indent = query_axis(parts).widest(sketch) + 16.0;
    [indent, indent + widest + 18.0]
}

/// How wide the lines are; 0 where none are drawn.
pub fn softmax_rows_width(parts: &Parts<'_>, sketch: &Sketch) -> f32 {
    if !is_shown(parts) {
        return 0.0;
    }
    let sums = (0..parts.n_q()).map(|query| width(&sum_in_words(parts, query), sketch.ink(SIZE)));
    columns(parts, sketch)[1] + sums.fold(0.0, f32::max)
}

/// One line per query: its maximum and the exponentials that its sum is made of. Draws nothing for larger scenes.
pub fn draw_softmax_rows(parts: &Parts<'_>, sketch: &mut Sketch, at: Point) {
    if !is_shown(parts) {
        return;
    }
    sketch.text("softmax, row by row", sketch.bold(SMALL + 1.0, sketch.theme.muted), at, Anchor::Start);
    let [indent, after] = columns(parts, sketch);
    for query in 0..parts.n_q() {
        let y = at.y + (query + 1) as f32 * LINE + 1.0;
        let pinned = parts.pin.is_some_and(|pin| pin.query == query);
        let color = if pinned { sketch.theme.accent } else { sketch.theme.ink };
        let style = Style { color, ..sketch.ink(SIZE) };
        let name_style = if pinned { sketch.bold(SIZE, color) } else { style };
        let name = shorten_to_width(&parts.input.query_labels[query], name_style, WIDEST_LABEL);
        sketch.text(&name, name_style, at_height(at.x, y), Anchor::Start);
        sketch.text(&maximum_in_words(parts, query), style, at_height(at.x + indent, y), Anchor::Start);
        sketch.text(&sum_in_words(parts, query), style, at_height(at.x + after, y), Anchor::Start);
    }
}

fn at_height(x: f32, y: f32) -> Point {
    Point { x, y }
}

fn maximum_in_words(parts: &Parts<'_>, query: usize) -> String {
    format!("max {}", parts.row_sums(query, parts.options.decimals)[0])
}

/// `Σexp = 0.4931 + 0.4931 + 1.0000 = 1.9861`
fn sum_in_words(parts: &Parts<'_>, query: usize) -> String {
    let decimals = parts.options.decimals;
    let attention = parts.attention;
    let maximum = attention.row_max[query];
    let masked = parts.scores.iter().map(|(_, view)| view).find(|view| view.id == MatrixId::MaskedScores);
    // What a mask hides has a score of −∞; what a mistake lets through has another.
    let is_hidden = |key: usize| match masked {
        Some(view) => view.is_blocked(query, key),
        None => attention.masked_scores.get(query, key) == f64::NEG_INFINITY,
    };
    let exp = |score: f64| format_number((score - maximum).exp(), decimals);
    let visible = (0..parts.n_k()).filter(|key| !is_hidden(*key));
    let mut terms: Vec<String> = visible.map(|key| exp(attention.masked_scores.get(query, key))).collect();
    if let (Some(sink), false) = (parts.spec.sink_of(parts.head.query_head), terms.is_empty()) {
        terms.push(format!("{} (sink)", exp(sink)));
    }
    let [_, sum] = parts.row_sums(query, decimals);
    if terms.is_empty() {
        return "no visible key".to_owned();
    }
    format!("Σexp = {} = {sum}", terms.join(" + "))
}

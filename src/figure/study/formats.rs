//! Number formats: the weights in each of them, where exp overflows, and what every stage is off by.

use super::super::MatrixId;
use super::super::caption::Caption;
use super::super::matrix_view::{Hidden, MatrixView};
use super::super::numbers::{format_number, format_small};
use super::page::{Page, ROOM};
use super::row::{Outlined, Panel, fits_with_digits};
use super::table::Table;
use crate::engine::{HeadInput, InFormat, Precision, SoftmaxForm, StageError, StageErrors, precision_lens};

/// The head in every format, from inputs that are not rounded yet.
pub fn draw(page: &mut Page<'_>) {
    let lens = precision_lens(&unrounded(page), page.spec(), page.head.query_head);
    draw_weights(page, &lens);
    page.part("exp overflows");
    page.table(&limits(&lens));
    page.say(&overflow_words(&lens, page.spec().softmax.form));
    page.part("largest error of each stage against f64: absolute, relative to the stage’s largest entry, and entries lost to NaN or ∞");
    page.table(&errors(&lens));
    page.remark("inputs and stages are rounded when they are stored; products and sums are kept in f32, in f64 for f64");
    if page.spec().precision != Precision::F64 {
        page.remark(&format!("the scene itself is in {}", page.spec().precision.label()));
    }
    tell(page, &lens);
}

/// What scores would be made of if the scene asked for no format.
fn unrounded(page: &Page<'_>) -> HeadInput {
    let given = page.input.scene.and_then(|scene| scene.unrounded_input(page.head.query_head));
    given.unwrap_or_else(|| page.head.input.clone())
}

/// In one row, or in two where digits then fit.
fn draw_weights(page: &mut Page<'_>, lens: &[InFormat; 4]) {
    let panels: Vec<Panel<'_>> = lens.iter().map(|format| panel(page, format)).collect();
    let in_two = !fits_with_digits(&page.sketch, &panels, ROOM)
        && panels.chunks(2).all(|pair| fits_with_digits(&page.sketch, pair, ROOM));
    for (i, row) in panels.chunks(if in_two { 2 } else { 4 }).enumerate() {
        page.y += if i == 0 { 0.0 } else { 16.0 };
        page.row(row);
    }
}

fn panel<'l>(page: &Page<'l>, format: &'l InFormat) -> Panel<'l> {
    let attention = &format.attention;
    let head = page.head.query_head;
    let view = MatrixView::of_numbers(
        MatrixId::Weights,
        &attention.weights,
        head,
        Some(Hidden::by(attention)),
        page.options,
    )
    .transposed(page.turned());
    let theme = page.sketch.theme;
    let shape = (view.down(), view.across());
    let note = format!("{} significant bits", format.precision.significant_bits());
    let caption = Caption::named(&format!("weights in {}", format.precision.label()), theme.weight, shape)
        .with_operation(&note, theme);
    let is_first = format.precision == Precision::F64;
    // The labels of the side along which the matrices stand are needed once.
    let labels = match page.turned() {
        false => (is_first.then(|| page.query_axis()), Some(page.key_axis())),
        true => (Some(page.query_axis()), is_first.then(|| page.key_axis())),
    };
    Panel {
        labels,
        outlined: Outlined::Cell(page.pin),
        cells: MatrixId::Pairs,
        legend: is_first,
        ..Panel::new(view, caption)
    }
}

fn limits(lens: &[InFormat; 4]) -> Table {
    let row = |format: &InFormat| {
        vec![
            format.precision.label().to_owned(),
            largest(format.precision),
            format_number(format.exp_overflows_above, 2),
            format.n_scores_that_overflow.to_string(),
        ]
    };
    let heads = ["format", "largest number", "exp overflows above", "visible scores above it"];
    Table::new(&heads, lens.iter().map(row).collect())
}

/// `65504` in full, the others with an exponent.
fn largest(precision: Precision) -> String {
    let largest = precision.max();
    if largest < 1e6 { format_number(largest, 0) } else { format_small(largest) }
}

fn overflow_words(lens: &[InFormat; 4], form: SoftmaxForm) -> String {
    let narrow = lens.iter().filter(|format| format.n_scores_that_overflow > 0);
    let concerned: Vec<String> = narrow
        .map(|format| format!("{} in {}", format.n_scores_that_overflow, format.precision.label()))
        .collect();
    match (concerned.is_empty(), form) {
        (true, _) => "No visible score is large enough for its exponential to overflow.".to_owned(),
        (false, SoftmaxForm::Stable) => format!(
            "Visible scores whose exponential overflows: {}. The row maximum is subtracted first, so that no exponent is above 0.",
            concerned.join(", ")
        ),
        (false, SoftmaxForm::Naive) => format!(
            "Visible scores whose exponential overflows: {}. The softmax of this scene is naive: it subtracts nothing, and ∞/∞ is \
             NaN.",
            concerned.join(", ")
        ),
    }
}

fn stages(errors: &StageErrors) -> [(&'static str, StageError); 5] {
    [
        ("raw scores", errors.raw_scores),
        ("scaled scores", errors.scaled_scores),
        ("masked scores", errors.masked_scores),
        ("weights", errors.weights),
        ("output", errors.output),
    ]
}

fn errors(lens: &[InFormat; 4]) -> Table {
    let mut heads = vec!["stage".to_owned()];
    let mut rows: Vec<Vec<String>> =
        stages(&lens[0].errors).iter().map(|(name, _)| vec![(*name).to_owned()]).collect();
    for format in lens.iter().filter(|format| format.precision != Precision::F64) {
        heads.push(format!("*{}* error", format.precision.label()));
        heads.extend(["relative".to_owned(), "lost".to_owned()]);
        for (row, (_, error)) in rows.iter_mut().zip(stages(&format.errors)) {
            row.extend([format_small(error.largest), format_small(error.relative), error.n_lost.to_string()]);
        }
    }
    Table { heads, ..Table::new(&[], rows) }
}

fn tell(page: &mut Page<'_>, lens: &[InFormat; 4]) {
    for format in lens.iter().filter(|format| format.precision != Precision::F64) {
        let (name, error) = (format.precision.label(), format.errors.weights);
        page.tell(format!(
            "In {name} the weights are off by up to {} and {} of their entries are lost.",
            format_small(error.largest),
            error.n_lost
        ));
    }
}

//! Linear attention beside the softmax: its weights, its output in both orders of the products, and what each order costs.

use super::super::MatrixId;
use super::super::caption::{Caption, name_color};
use super::super::mask_words::mask_name;
use super::super::matrix_view::{Hidden, MatrixView};
use super::super::numbers::format_small;
use super::page::Page;
use super::row::{Outlined, Panel};
use super::table::Table;
use crate::engine::{Attention, Corner, FeatureMap, LinearAttention, MaskRule, Matrix, linear_attention};

/// Up to this many positions a side the identity map is shown too.
const BOTH_UP_TO: usize = 8;

/// Weights, difference, output and cost.
pub fn draw(page: &mut Page<'_>) {
    if let Some(sentence) = obstacle(page) {
        return page.say(&sentence);
    }
    let causal = is_causal(page);
    let elu = linear_attention(&page.head.input, FeatureMap::EluPlusOne, causal);
    draw_weights(page, &elu, MatrixId::Weights, "φ(q)·φ(k) over their sum, φ = elu + 1");
    page.part("the output in both orders of the products");
    draw_outputs(page, &elu);
    page.say(&outputs_words(&elu));
    if page.n_q().max(page.n_k()) <= BOTH_UP_TO {
        let identity = linear_attention(&page.head.input, FeatureMap::Identity, causal);
        page.part("with φ the identity: the products themselves, which may be negative and are not divided by their sum");
        draw_weights(page, &identity, MatrixId::Pairs, "q·k");
    }
    mask_words(page, causal);
}

/// Why there is no linear attention of this head.
fn obstacle(page: &Page<'_>) -> Option<String> {
    let input = &page.head.input;
    let (d_q, d_k) = (input.q.cols(), input.k.cols());
    if d_q != d_k {
        return Some(format!(
            "Linear attention multiplies queries and keys feature by feature; here queries are {d_q} wide and keys {d_k}."
        ));
    }
    let broken =
        [&input.q, &input.k, &input.v].iter().any(|matrix| matrix.data().iter().any(|x| !x.is_finite()));
    broken.then(|| {
        "An input is NaN or infinite; sums over every key, as linear attention makes them, would be lost."
            .to_owned()
    })
}

/// Whether the scene's mask says j ≤ i, the one that linear attention can follow key by key.
fn is_causal(page: &Page<'_>) -> bool {
    page.spec().mask.iter().any(|rule| is_followed(page, rule))
}

fn is_followed(page: &Page<'_>, rule: &MaskRule) -> bool {
    match rule {
        MaskRule::Causal(Corner::TopLeft) => page.spec().position_offset == 0,
        MaskRule::Causal(Corner::BottomRight) => page.n_q() == page.n_k(),
        _ => false,
    }
}

fn pairs<'l>(
    page: &Page<'l>,
    alike: MatrixId,
    values: &'l Matrix,
    hidden: Option<&'l Attention>,
    markup: &str,
) -> Panel<'l> {
    let view =
        MatrixView::of_numbers(alike, values, page.head.query_head, hidden.map(Hidden::by), page.options)
            .transposed(page.turned());
    let caption = Caption::named(markup, name_color(alike, page.sketch.theme), (view.down(), view.across()));
    let labels = (Some(page.query_axis()), Some(page.key_axis()));
    Panel {
        labels,
        outlined: Outlined::Cell(page.pin),
        cells: MatrixId::Pairs,
        legend: true,
        ..Panel::new(view, caption)
    }
}

/// linear − softmax = difference
fn draw_weights(page: &mut Page<'_>, linear: &LinearAttention, alike: MatrixId, made_by: &str) {
    let attention = &page.head.attention;
    let difference = linear.difference_from(&attention.weights);
    let theme = page.sketch.theme;
    let hidden = is_causal(page).then_some(attention);
    let first = pairs(page, alike, &linear.weights, hidden, "linear");
    let second = pairs(page, MatrixId::Weights, &attention.weights, Some(attention), "softmax");
    let third = pairs(page, MatrixId::Pairs, &difference, hidden, "difference");
    let panels = [
        Panel { caption: first.caption.with_operation(made_by, theme), ..first },
        Panel {
            sign: "−",
            labels: unlabelled(page, second.labels),
            caption: second.caption.with_operation("weights of the board", theme),
            ..second
        },
        Panel { sign: "=", labels: unlabelled(page, third.labels), ..third },
    ];
    page.row(&panels);
    let largest = linear.weights.largest_difference(&attention.weights);
    page.tell(format!(
        "Linear weights, {made_by}, differ from softmax weights by up to {}.",
        format_small(largest)
    ));
}

type Labels<'l> = (Option<super::super::axis::Axis<'l>>, Option<super::super::axis::Axis<'l>>);

/// The labels at the left are needed once.
fn unlabelled<'l>(page: &Page<'_>, (queries, keys): Labels<'l>) -> Labels<'l> {
    if page.turned() { (queries, None) } else { (None, keys) }
}

fn draw_outputs(page: &mut Page<'_>, linear: &LinearAttention) {
    let theme = page.sketch.theme;
    let panel = |alike, values, markup: &str, made_by: &str| {
        let view = MatrixView::of_numbers(alike, values, page.head.query_head, None, page.options);
        let caption = Caption::named(markup, theme.value, (values.rows(), values.cols()))
            .with_operation(made_by, theme);
        let row = page.pin.map(|pin| pin.query);
        Panel { outlined: Outlined::Row(row), legend: true, ..Panel::new(view, caption) }
    };
    let state = Panel {
        outlined: Outlined::Nothing,
        ..panel(MatrixId::V, &linear.state, "state", "φ(K)^T V, in place of a cache")
    };
    let panels = [
        Panel {
            labels: (Some(page.query_axis()), None),
            ..panel(MatrixId::Output, &linear.output_by_pairs, "pairs first", "(φ(Q) φ(K)^T) V")
        },
        panel(MatrixId::Output, &linear.output_by_state, "state first", "φ(Q) (φ(K)^T V)"),
        state,
        panel(MatrixId::Output, &page.head.attention.output, "softmax output", "output of the board"),
    ];
    page.row_with(&panels, Some(&costs(linear)));
}

fn costs(linear: &LinearAttention) -> Table {
    let row =
        |order: &str, formula: &str, macs: u128| vec![order.to_owned(), formula.to_owned(), macs.to_string()];
    let rows = vec![
        row("pairs first", "n_q · n_k · (d_k + d_v)", linear.macs_by_pairs()),
        row("state first", "(n_q + n_k) · d_k · d_v", linear.macs_by_state()),
    ];
    Table::new(&["order", "multiply-adds", "here"], rows)
}

fn outputs_words(linear: &LinearAttention) -> String {
    let difference = linear.output_by_pairs.largest_difference(&linear.output_by_state);
    let (pairs, state) = (linear.macs_by_pairs(), linear.macs_by_state());
    let same = match difference == 0.0 {
        true => "Both orders give the same output, digit for digit".to_owned(),
        false => format!("Both orders give the same output but for rounding ({})", format_small(difference)),
    };
    let cheaper = match pairs.cmp(&state) {
        std::cmp::Ordering::Greater => "the state first takes fewer multiply-adds here",
        std::cmp::Ordering::Less => "the pairs first take fewer multiply-adds at this length",
        std::cmp::Ordering::Equal => "they cost the same at this length",
    };
    format!("{same}; {cheaper}.")
}

/// What of the scene's mask is not followed.
fn mask_words(page: &mut Page<'_>, causal: bool) {
    let ignored: Vec<String> =
        page.spec().mask.iter().filter(|rule| !is_followed(page, rule)).map(mask_name).collect();
    if !ignored.is_empty() {
        let rest = if causal { "causal alone" } else { "no mask" };
        page.say(&format!(
            "Linear attention here follows {rest}; not applied to it: {}.",
            ignored.join(", ")
        ));
    } else if causal {
        page.say("Causal: a query reads the state as it is after its own key.");
    }
}

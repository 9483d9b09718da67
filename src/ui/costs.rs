//! The two calculators in their small form: the figures of the scene on screen.

use egui::{RichText, Ui};
use egui_plot::{GridInput, GridMark, Line, Plot, PlotPoints};

use crate::cost::{
    Bytes, CacheInputs, CacheReport, ComplexityInputs, ComplexityReport, CostError, GrowthRow, Quantity,
    Unit, cache_over_tokens, grouped, growth,
};
use crate::figure::{AxisScale, ticks};
use crate::scene::Scene;
use crate::session::{Calculate, Centre, Command, Session, Topic};

use super::kept::Kept;
use super::style::Colors;
use super::{Outbox, UiState, widgets};

/// What the small calculators keep between frames, keyed by the inputs that gave it.
#[derive(Default)]
pub struct CostsState {
    complexity: Kept<ComplexityInputs, Result<Complexity, CostError>>,
    cache: Kept<CacheInputs, Result<Cache, CostError>>,
}

struct Complexity {
    report: ComplexityReport,
    growth: Vec<GrowthRow>,
    curve: Vec<[f64; 2]>,
}

struct Cache {
    report: CacheReport,
    over_tokens: Vec<[f64; 2]>,
}

/// Lengths of the growth table: 256, 512, … 4096.
const GROWTH_START: u64 = 256;
const GROWTH_ROWS: u32 = 5;
/// Steps of the curve up to the longest of them.
const CURVE_STEPS: u64 = 48;
/// The plot of the cache runs to this many tokens, or to twice the tokens asked about.
const CACHE_PLOT_TOKENS: u64 = 4096;

/// Draws both calculators, about the scene on screen.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    ui.spacing_mut().item_spacing.y = 3.0;
    complexity(ui, session, &mut state.costs, out);
    ui.add_space(7.0);
    cache(ui, session, &mut state.costs, out);
}

fn complexity(ui: &mut Ui, session: &Session, state: &mut CostsState, out: &mut Outbox) {
    header(ui, session, "Complexity", Topic::Arithmetic, out);
    if session.gives_weights() {
        without_widths(ui, session.complexity());
        return;
    }
    let kept = state.complexity.get(session.complexity().clone(), |inputs| {
        // Growth is that of the same heads over a whole square; a scene's own mask does not grow with it.
        let square = ComplexityInputs { visible_pairs: None, ..inputs.clone() };
        let longest = GROWTH_START << (GROWTH_ROWS - 1);
        let at = |step: u64| growth(&square, longest * step / CURVE_STEPS, 1);
        let curve = (0..=CURVE_STEPS).map(at).collect::<Result<Vec<_>, _>>()?;
        Ok(Complexity {
            report: ComplexityReport::new(inputs)?,
            growth: growth(&square, GROWTH_START, GROWTH_ROWS)?,
            curve: curve.concat().iter().map(|row| [row.tokens as f64, row.macs.0 as f64]).collect(),
        })
    });
    match kept.as_ref() {
        Ok(kept) => complexity_figures(ui, kept),
        Err(error) => refusal(ui, session.scene(), error),
    }
}

/// Why there is no more to count where only the weights are given.
pub const WIDTHS_UNKNOWN: &str = "Multiply-adds and cache memory go with the widths of keys and values; this scene gives only the weights.";

/// What the numbers of queries, keys and heads tell on their own.
fn without_widths(ui: &mut Ui, inputs: &ComplexityInputs) {
    for (label, known) in known_without_widths(inputs) {
        quantity(ui, label, &known);
    }
    widgets::caption(ui, WIDTHS_UNKNOWN);
}

/// The quantities of a report in which no width is a factor.
pub fn known_without_widths(inputs: &ComplexityInputs) -> Vec<(&'static str, Quantity)> {
    // Any width will do: it is in none of these formulas.
    let any_width = ComplexityInputs { d_k: 1, d_v: 1, ..inputs.clone() };
    let report = ComplexityReport::new(&any_width);
    report.map_or_else(
        |_| Vec::new(),
        |report| vec![("Pairs a head", report.all_pairs), ("Score matrix", report.score_bytes)],
    )
}

fn complexity_figures(ui: &mut Ui, kept: &Complexity) {
    let report = &kept.report;
    quantity(ui, "Scores", &report.scores);
    quantity(ui, "Mix", &report.mix);
    if !report.projections.is_empty() {
        let sum: u128 = report.projections.iter().map(|projection| projection.value).sum();
        let parts: Vec<String> =
            report.projections.iter().map(|projection| grouped(projection.value)).collect();
        row(
            ui,
            "Projections",
            &format!("{} = {} MACs", parts.join(" + "), grouped(sum)),
            "",
            &formulas(&report.projections),
        );
    }
    if let Some(parameters) = &report.parameters {
        quantity(ui, "Parameters", parameters);
    }
    quantity(ui, "Score matrix", &report.score_bytes);
    growth_plot(ui, kept);
}

fn formulas(quantities: &[Quantity]) -> String {
    let lines: Vec<String> =
        quantities.iter().map(|quantity| format!("{}: {}", quantity.label, quantity.substituted())).collect();
    lines.join("\n")
}

fn growth_plot(ui: &mut Ui, kept: &Complexity) {
    let colors = Colors::in_use(ui);
    let rows = &kept.growth;
    let factors: Vec<String> =
        rows.iter().filter_map(|row| row.factor.map(|factor| format!("{factor:.1}×"))).collect();
    if let Some(factor) = factors.last() {
        row(
            ui,
            "Per doubling",
            &format!("{factor} the work"),
            "",
            "Scores and mix at twice the tokens over the same at once",
        );
    }
    // The figures of the cache below come before this plot.
    let reserve = 98.0;
    plot(ui, "scores and mix, MAC", &kept.curve, colors.weights, |value| short(value, ""), reserve);
}

fn cache(ui: &mut Ui, session: &Session, state: &mut CostsState, out: &mut Outbox) {
    header(ui, session, "Cache memory", Topic::Memory, out);
    if session.gives_weights() {
        widgets::caption(ui, "A cache holds keys and values; this scene gives only the weights.");
        return;
    }
    let inputs = session.cache();
    let kept = state.cache.get(inputs.clone(), |inputs| {
        let longest = CACHE_PLOT_TOKENS.max(inputs.tokens.saturating_mul(2));
        let over_tokens = cache_over_tokens(inputs, longest, 65)?;
        Ok(Cache {
            report: CacheReport::new(inputs)?,
            over_tokens: over_tokens
                .into_iter()
                .map(|(tokens, bytes)| [tokens as f64, bytes.0 as f64])
                .collect(),
        })
    });
    match kept.as_ref() {
        Ok(kept) => cache_figures(ui, inputs, kept),
        Err(error) => refusal(ui, session.scene(), error),
    }
}

fn cache_figures(ui: &mut Ui, inputs: &CacheInputs, kept: &Cache) {
    let report = &kept.report;
    quantity(ui, "Per token", &report.bytes_per_token);
    let tokens = format!("{} tokens", grouped(u128::from(inputs.tokens)));
    quantity(ui, &tokens, &report.bytes_per_sequence);
    if inputs.sequences > 1 {
        let sequences = format!("{} sequences", grouped(u128::from(inputs.sequences)));
        quantity(ui, &sequences, &report.bytes_all_sequences);
    }
    let names: Vec<&str> = report.sharing.iter().map(|sharing| sharing.name).collect();
    let sizes: Vec<String> =
        report.sharing.iter().map(|sharing| sharing.bytes_per_sequence.decimal()).collect();
    let detail: Vec<String> = report
        .sharing
        .iter()
        .map(|sharing| {
            let chosen = if sharing.is_chosen { " (these)" } else { "" };
            format!(
                "{}, {} KV heads: {} per sequence{chosen}",
                sharing.name,
                sharing.kv_heads,
                sharing.bytes_per_sequence.exact()
            )
        })
        .collect();
    row(ui, &names.join(" "), &sizes.join("  ·  "), "", &detail.join("\n"));
    let color = Colors::in_use(ui).output;
    plot(
        ui,
        "cache of one sequence, bytes",
        &kept.over_tokens,
        color,
        |value| Bytes(value.max(0.0) as u128).decimal(),
        0.0,
    );
}

/// The name of a calculator, and the way to its large form in the centre and back.
fn header(ui: &mut Ui, session: &Session, title: &str, topic: Topic, out: &mut Outbox) {
    let colors = Colors::in_use(ui);
    let is_open = session.centre() == Centre::Calculators && session.calculators().topic == topic;
    ui.horizontal(|ui| {
        widgets::section(ui, title);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let text = if is_open { "close" } else { "open" };
            let button =
                ui.add(egui::Button::new(RichText::new(text).small().color(colors.accent)).frame(false));
            let name = format!("{} {}", if is_open { "Close" } else { "Open" }, title.to_lowercase());
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
            let hint = if is_open { "Back to the board" } else { "Sizes, formulas, plots, other models" };
            if button.on_hover_text(hint).clicked() {
                match is_open {
                    true => out.push(Command::Show(Centre::Board)),
                    false => {
                        out.push(Command::Calculate(Calculate::Show(topic)));
                        out.push(Command::Show(Centre::Calculators));
                    }
                }
            }
            ui.label(RichText::new("this scene").small().color(colors.muted));
        });
    });
}

/// One result with its formula substituted; the symbols are in the hover text.
pub fn quantity(ui: &mut Ui, label: &str, quantity: &Quantity) {
    let value = match quantity.unit {
        Unit::Bytes => Bytes(quantity.value).exact(),
        unit => unit.exact(quantity.value),
    };
    let numbers = quantity.formula.numbers();
    let text = if numbers == grouped(quantity.value) { value } else { format!("{numbers} = {value}") };
    let both = match quantity.unit {
        Unit::Bytes if quantity.value >= 1000 => {
            let bytes = Bytes(quantity.value);
            format!("{} = {}", bytes.decimal(), bytes.binary_beside_decimal())
        }
        _ => String::new(),
    };
    let hover = format!("{} = {}", quantity.label, quantity.formula.symbols());
    row(ui, label, &text, &both, &hover);
}

/// A name, a value and a remark at the right edge; the value wraps when it must.
fn row(ui: &mut Ui, label: &str, value: &str, remark: &str, hover: &str) {
    let colors = Colors::in_use(ui);
    ui.horizontal_top(|ui| {
        let name = egui::Label::new(RichText::new(label).size(12.5).color(colors.muted));
        ui.allocate_ui_with_layout(
            egui::vec2(86.0, 17.0),
            egui::Layout::left_to_right(egui::Align::Min),
            |ui| {
                ui.set_min_width(86.0);
                ui.add(name).on_hover_text(hover);
            },
        );
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.add(
                egui::Label::new(RichText::new(value).size(12.5).color(colors.ink)).wrap().selectable(true),
            )
            .on_hover_text(hover);
            if !remark.is_empty() {
                ui.label(RichText::new(remark).small().color(colors.muted));
            }
        });
    });
}

/// A scene that lacks something to count is no mistake; sizes that no attention has are one.
fn refusal(ui: &mut Ui, scene: &Scene, error: &CostError) {
    match nothing_to_count(scene) {
        Some(words) => _ = widgets::caption(ui, words),
        None => _ = ui.label(RichText::new(error.to_string()).color(Colors::in_use(ui).bad)),
    }
}

/// What a scene has none of, so that no multiply-adds and no bytes can be counted.
fn nothing_to_count(scene: &Scene) -> Option<&'static str> {
    match (scene.n_q(), scene.n_k(), scene.d_k(), scene.d_v()) {
        (_, 0, _, _) => Some("This scene has no keys, and so no values: there is nothing to count."),
        (0, ..) => Some("This scene has no queries: there is nothing to count."),
        (_, _, 0, _) => Some("The keys of this scene have no columns: there is nothing to count."),
        (.., 0) => Some("The values of this scene have no columns: there is nothing to count."),
        _ => None,
    }
}

fn short(value: f64, unit: &str) -> String {
    let (scaled, prefix) = match value.abs() {
        v if v >= 1e12 => (value / 1e12, "T"),
        v if v >= 1e9 => (value / 1e9, "G"),
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    format!("{} {prefix}{unit}", (scaled * 10.0).round() / 10.0)
}

fn plot(
    ui: &mut Ui,
    name: &str,
    points: &[[f64; 2]],
    color: egui::Color32,
    format: impl Fn(f64) -> String + Clone,
    reserve: f32,
) {
    let room = ui.clip_rect().bottom() - ui.cursor().top();
    // Where there is no room the plot is left to the calculator in the centre.
    if room < 116.0 + reserve {
        return;
    }
    widgets::caption(ui, format!("{name}, over tokens"));
    let on_axis = format.clone();
    Plot::new(name)
        .height(96.0)
        .show_background(false)
        .allow_scroll(false)
        .allow_zoom(false)
        .allow_drag(false)
        .allow_boxed_zoom(false)
        .include_y(0.0)
        .show_grid(egui::Vec2b::new(false, true))
        .x_grid_spacer(|input| round_marks(&input, 4))
        .y_grid_spacer(|input| round_marks(&input, 2))
        .y_axis_formatter(move |mark, _| on_axis(mark.value))
        .x_axis_formatter(|mark, _| short(mark.value, ""))
        .label_formatter(move |position| {
            let (egui_plot::HoverPosition::NearDataPoint { position, .. }
            | egui_plot::HoverPosition::Elsewhere { position }) = position;
            Some(format!("{} tokens\n{}", position.x.round(), format(position.y)))
        })
        .show(ui, |plot| {
            plot.line(Line::new(name, PlotPoints::from(points.to_vec())).color(color).width(2.0));
        });
}

/// The round values that the exported charts use as well.
fn round_marks(input: &GridInput, n_wanted: usize) -> Vec<GridMark> {
    let (low, high) = input.bounds;
    let values = ticks(low, high, n_wanted, AxisScale::Linear);
    let step_size = values.get(1).map_or(high - low, |second| second - values[0]);
    values.into_iter().map(|value| GridMark { value, step_size }).collect()
}

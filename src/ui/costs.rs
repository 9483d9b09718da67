//! The two calculators in their small form: the scene's own figures until a size is typed by hand.

use std::sync::Arc;

use egui::{DragValue, RichText, Ui};
use egui_plot::{GridInput, GridMark, Line, Plot, PlotPoints};

use crate::cost::{
    Bytes, CacheInputs, CacheReport, ComplexityInputs, ComplexityReport, CostError, GrowthRow, Quantity,
    StorageType, Unit, cache_over_tokens, grouped, growth,
};
use crate::figure::{AxisScale, ticks};
use crate::session::{Command, Session};

use super::style::Colors;
use super::{Outbox, UiState, widgets};

/// What the calculators keep between frames, keyed by the inputs that gave it.
#[derive(Default)]
pub struct CostsState {
    complexity: Kept<ComplexityInputs, Complexity>,
    cache: Kept<CacheInputs, Cache>,
    show_complexity_inputs: bool,
    show_cache_inputs: bool,
}

/// A value and the key that it answers: computed when the key changes, never in between.
struct Kept<K, V>(Option<(K, Result<Arc<V>, CostError>)>);

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: Clone + PartialEq, V> Kept<K, V> {
    fn get(
        &mut self,
        key: &K,
        compute: impl FnOnce(&K) -> Result<V, CostError>,
    ) -> Result<Arc<V>, CostError> {
        if let Some((_, value)) = self.0.as_ref().filter(|(old, _)| old == key) {
            return value.clone();
        }
        let value = compute(key).map(Arc::new);
        self.0 = Some((key.clone(), value.clone()));
        value
    }
}

struct Complexity {
    report: ComplexityReport,
    growth: Vec<GrowthRow>,
}

struct Cache {
    report: CacheReport,
    over_tokens: Vec<[f64; 2]>,
}

/// Lengths of the growth table: 256, 512, … 4096.
const GROWTH_START: u64 = 256;
const GROWTH_ROWS: u32 = 5;
/// The plot of the cache runs to this many tokens, or to twice the tokens asked about.
const CACHE_PLOT_TOKENS: u64 = 4096;

/// Draws both calculators.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    ui.spacing_mut().item_spacing.y = 3.0;
    complexity(ui, session, &mut state.costs, out);
    ui.add_space(7.0);
    cache(ui, session, &mut state.costs, out);
}

fn complexity(ui: &mut Ui, session: &Session, state: &mut CostsState, out: &mut Outbox) {
    let (inputs, follows) = session.complexity();
    if header(ui, "Complexity", follows, &mut state.show_complexity_inputs) {
        out.push(Command::SetComplexity(None));
    }
    if state.show_complexity_inputs
        && let Some(changed) = complexity_inputs(ui, &inputs)
    {
        out.push(Command::SetComplexity(Some(changed)));
    }
    let kept = state.complexity.get(&inputs, |inputs| {
        // Growth is that of the same heads over a whole square; a scene's own mask does not grow with it.
        let square = ComplexityInputs { visible_pairs: None, ..inputs.clone() };
        Ok(Complexity {
            report: ComplexityReport::new(inputs)?,
            growth: growth(&square, GROWTH_START, GROWTH_ROWS)?,
        })
    });
    match kept {
        Ok(kept) => complexity_figures(ui, &kept, state.show_complexity_inputs),
        Err(error) => refusal(ui, &error),
    }
}

fn complexity_figures(ui: &mut Ui, kept: &Complexity, in_full: bool) {
    let report = &kept.report;
    quantity(ui, "Scores", &report.scores);
    quantity(ui, "Mix", &report.mix);
    if in_full {
        for projection in &report.projections {
            quantity(ui, projection.label, projection);
        }
        quantity(ui, "Total", &report.total);
    } else if !report.projections.is_empty() {
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
    growth_plot(ui, &kept.growth, in_full);
}

fn formulas(quantities: &[Quantity]) -> String {
    let lines: Vec<String> =
        quantities.iter().map(|quantity| format!("{}: {}", quantity.label, quantity.substituted())).collect();
    lines.join("\n")
}

fn growth_plot(ui: &mut Ui, rows: &[GrowthRow], in_full: bool) {
    let colors = Colors::in_use(ui);
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
    if in_full {
        egui::Grid::new("growth table").num_columns(4).spacing([14.0, 2.0]).show(ui, |ui| {
            for title in ["tokens", "MAC", "×", "score matrix"] {
                widgets::caption(ui, title);
            }
            ui.end_row();
            for row in rows {
                ui.label(row.tokens.to_string());
                ui.label(format!("{:.0} M", row.macs.0 as f64 / 1e6));
                ui.label(row.factor.map_or_else(|| "–".to_owned(), |factor| format!("{factor:.1}")));
                ui.label(row.score_matrix.decimal());
                ui.end_row();
            }
        });
    }
    let points: Vec<[f64; 2]> = std::iter::once([0.0, 0.0])
        .chain(rows.iter().map(|row| [row.tokens as f64, row.macs.0 as f64]))
        .collect();
    // The figures of the cache below come before this plot.
    let reserve = 98.0;
    plot(ui, "scores and mix, MAC", &points, colors.weights, |value| short(value, ""), in_full, reserve);
}

fn cache(ui: &mut Ui, session: &Session, state: &mut CostsState, out: &mut Outbox) {
    let (inputs, follows) = session.cache();
    if header(ui, "Cache memory", follows, &mut state.show_cache_inputs) {
        out.push(Command::SetCache(None));
    }
    if state.show_cache_inputs
        && let Some(changed) = cache_inputs(ui, &inputs)
    {
        out.push(Command::SetCache(Some(changed)));
    }
    let kept = state.cache.get(&inputs, |inputs| {
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
    match kept {
        Ok(kept) => cache_figures(ui, &inputs, &kept, state.show_cache_inputs),
        Err(error) => refusal(ui, &error),
    }
}

fn cache_figures(ui: &mut Ui, inputs: &CacheInputs, kept: &Cache, in_full: bool) {
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
        in_full,
        0.0,
    );
}

/// The name of a calculator, whether it follows the scene, and the switch that opens its sizes.
/// Returns whether the scene should be followed again.
fn header(ui: &mut Ui, title: &str, follows: bool, open: &mut bool) -> bool {
    let colors = Colors::in_use(ui);
    let mut follow = false;
    ui.horizontal(|ui| {
        widgets::section(ui, title);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let text = if *open { "close" } else { "open" };
            let button =
                ui.add(egui::Button::new(RichText::new(text).small().color(colors.accent)).frame(false));
            let name = format!("{} {}", if *open { "Close" } else { "Open" }, title.to_lowercase());
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
            if button.on_hover_text("The sizes, the table and the plot").clicked() {
                *open = !*open;
            }
            if follows {
                ui.label(RichText::new("this scene").small().color(colors.muted));
            } else {
                let button = ui.add(
                    egui::Button::new(RichText::new("own sizes ×").small().color(colors.accent)).frame(false),
                );
                follow = button.on_hover_text("Follow the scene again").clicked();
            }
        });
    });
    follow
}

/// One result with its formula substituted; the symbols are in the hover text.
fn quantity(ui: &mut Ui, label: &str, quantity: &Quantity) {
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

fn refusal(ui: &mut Ui, error: &CostError) {
    let color = Colors::in_use(ui).bad;
    ui.label(RichText::new(error.to_string()).color(color));
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
    in_full: bool,
    reserve: f32,
) {
    let room = ui.clip_rect().bottom() - ui.cursor().top();
    // Where there is no room the plot waits until the calculator is opened.
    if !in_full && room < 116.0 + reserve {
        return;
    }
    widgets::caption(ui, format!("{name}, over tokens"));
    let on_axis = format.clone();
    Plot::new(name)
        .height(if in_full { 150.0 } else { 96.0 })
        .show_background(false)
        .allow_scroll(false)
        .allow_zoom(in_full)
        .allow_drag(in_full)
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

fn number(ui: &mut Ui, name: &str, value: &mut u64, hint: &str) -> bool {
    widgets::setting(ui, name, |ui| ui.add(DragValue::new(value).speed(0.25)).on_hover_text(hint)).changed()
}

fn complexity_inputs(ui: &mut Ui, inputs: &ComplexityInputs) -> Option<ComplexityInputs> {
    let mut own = inputs.clone();
    let mut changed = number(ui, "queries n_q", &mut own.n_q, "Tokens that are new");
    changed |= number(ui, "keys n_k", &mut own.n_k, "Tokens that can be attended to");
    changed |= number(ui, "key width d_k", &mut own.d_k, "Of one head; need not be d_model / heads");
    changed |= number(ui, "value width d_v", &mut own.d_v, "Of one head");
    changed |= number(ui, "query heads", &mut own.heads, "A multiple of the KV heads");
    changed |= number(ui, "KV heads", &mut own.kv_heads, "Heads of K and V, not heads per group");
    let mut d_model = own.d_model.unwrap_or(0);
    if number(ui, "d_model", &mut d_model, "0: Q, K and V are given, nothing is projected") {
        own.d_model = (d_model > 0).then_some(d_model);
        own.has_output_projection = d_model > 0;
        changed = true;
    }
    changed |=
        number(ui, "bytes per score", &mut own.bytes_per_score, "2 for f16 and bf16, 4 for f32, 8 for f64");
    let mut causal = own.causal;
    let check =
        ui.checkbox(&mut causal, "causal").on_hover_text("Count only the pairs at or before the query");
    if check.changed() {
        own.causal = causal;
        changed = true;
    }
    if changed {
        // Sizes typed by hand have no scene's mask any more.
        own.visible_pairs = None;
    }
    changed.then_some(own)
}

fn cache_inputs(ui: &mut Ui, inputs: &CacheInputs) -> Option<CacheInputs> {
    let mut own = inputs.clone();
    let mut changed = number(ui, "layers", &mut own.layers, "Layers that attend");
    changed |= number(ui, "query heads", &mut own.heads, "They change nothing but what the KV heads may be");
    changed |= number(ui, "KV heads", &mut own.kv_heads, "Heads of K and V, not heads per group");
    let mut width = own.d_k;
    if number(ui, "head width d_head", &mut width, "Of keys and values; need not be d_model / heads") {
        own.d_k = width;
        own.d_v = width;
        changed = true;
    }
    let types: Vec<(StorageType, &str)> =
        StorageType::ALL.into_iter().map(|storage| (storage, storage.name())).collect();
    let hint = "How one value is stored; block types include their scales";
    if let Some(storage) = super::settings_panel::choice(ui, "stored as", &types, own.k_type, hint) {
        own.k_type = storage;
        own.v_type = storage;
        changed = true;
    }
    changed |= number(ui, "tokens", &mut own.tokens, "In each sequence");
    changed |= number(ui, "sequences", &mut own.sequences, "Held at the same time");
    changed.then_some(own)
}

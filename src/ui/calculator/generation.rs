//! What producing tokens one at a time takes, with a cache and without.

use crate::cost::{
    Breakdown, Configuration, CostError, Field, Formula, GenerationInputs, GenerationMode, LayerKind,
    Quantity, Unit,
};
use crate::figure::{AxisScale, ChartLine, ChartSpec};

use super::answer::{Answer, Fact, Question, Section};
use super::arithmetic::in_unit;
use super::curves::PerUnit;

const MODES: [GenerationMode; 3] =
    [GenerationMode::Cached, GenerationMode::ReprojectKeysAndValues, GenerationMode::RerunLayer];
/// A chart of more steps shows the first ones.
const MOST_STEPS: usize = 2048;
const FIGURES: [(&str, &str); 4] = [
    ("projection_macs", "projections"),
    ("score_macs", "scores"),
    ("mix_macs", "mix"),
    ("total_macs", "total"),
];

/// Layers that do the same, and their sizes.
struct Alike {
    layers: u64,
    kind: &'static str,
    inputs: GenerationInputs,
}

/// Totals of the column on screen in three ways, and the work of each step.
pub fn answer(question: &Question) -> Answer {
    let mut out = Answer::default();
    let configuration = question.configuration();
    if let Err(error) = configuration.check() {
        out.complain(&error, configuration);
        return out;
    }
    let alike = layers(question);
    if alike.is_empty() {
        out.sections.extend(not_counted(configuration));
        return out;
    }
    match totals(question, &alike) {
        Ok(sections) => {
            out.n_leading = 1;
            out.sections = sections;
        }
        Err(error) => out.complain(&error, configuration),
    }
    out.sections.extend(not_counted(configuration));
    match steps(question, &alike) {
        Ok(chart) => out.charts.push(chart),
        Err(error) => out.complain(&error, configuration),
    }
    out
}

/// Layers that are left out: those that do not keep keys and values of every head.
fn not_counted(configuration: &Configuration) -> Option<Section> {
    let left_out: Vec<String> = configuration
        .groups
        .iter()
        .filter(|group| !matches!(group.kind, LayerKind::Full(_) | LayerKind::Window { .. }))
        .map(|group| format!("{} {}", group.layers, group.kind.name()))
        .collect();
    let fact = Fact {
        label: "not counted".to_owned(),
        value: format!("{} layers", left_out.join(" + ")),
        source: "only full and windowed layers are counted here".to_owned(),
    };
    (!left_out.is_empty()).then(|| Section { facts: vec![fact], ..Section::default() })
}

fn layers(question: &Question) -> Vec<Alike> {
    let configuration = question.configuration();
    let has_output_projection = !question.is_about_the_scene() || question.scene_layer.has_output_projection;
    let Configuration { heads, d_model, .. } = *configuration;
    let settings = &question.settings;
    let of_group = |group: &crate::cost::LayerGroup| {
        let (shape, window) = match &group.kind {
            LayerKind::Full(shape) => (*shape, None),
            LayerKind::Window { window, shape } => (*shape, Some(*window)),
            _ => return None,
        };
        let inputs = GenerationInputs {
            prompt: settings.prompt,
            new_tokens: settings.new_tokens,
            d_model,
            heads,
            kv_heads: shape.kv_heads,
            d_k: shape.d_k,
            d_v: shape.d_v,
            window,
            has_output_projection,
        };
        Some(Alike { layers: group.layers, kind: group.kind.name(), inputs })
    };
    configuration.groups.iter().filter_map(of_group).collect()
}

/// First the three totals beside each other, then what each is made of.
fn totals(question: &Question, alike: &[Alike]) -> Result<Vec<Section>, CostError> {
    let mut facts: Vec<Fact> = Vec::new();
    let mut details = Vec::new();
    let mut cached = (0, 0);
    for mode in MODES {
        let all = added_up(alike, mode)?;
        let counted = (all.value("projection_macs"), all.value("total_macs"));
        if mode == GenerationMode::Cached {
            cached = counted;
        }
        let rows = in_unit(all.rows.iter(), &question.settings)?;
        let total = rows.last().map_or_else(String::new, |total| total.unit.exact(total.value));
        let source = if facts.is_empty() { String::new() } else { beside(counted, cached) };
        facts.push(Fact { label: title(mode).to_lowercase(), value: total, source });
        details.push(Section::titled(title(mode), rows));
    }
    details.insert(0, Section { facts, ..Section::default() });
    Ok(details)
}

/// How many times the work with a cache.
fn beside((projections, total): (u128, u128), cached: (u128, u128)) -> String {
    let times = |without: u128, with: u128| format!("{:.1}×", without as f64 / with as f64);
    match cached {
        (0, _) | (_, 0) => String::new(),
        (with, in_all) => {
            format!("{} the projections, {} in all", times(projections, with), times(total, in_all))
        }
    }
}

const fn title(mode: GenerationMode) -> &'static str {
    match mode {
        GenerationMode::Cached => "With a cache",
        GenerationMode::ReprojectKeysAndValues => "Projecting all keys and values again",
        GenerationMode::RerunLayer | GenerationMode::RerunLayerSquare => "Running the model again",
    }
}

/// A single layer keeps its formulas; several are a sum over groups.
fn added_up(alike: &[Alike], mode: GenerationMode) -> Result<Breakdown, CostError> {
    if let [Alike { layers: 1, inputs, .. }] = alike {
        let mut one = inputs.totals(mode)?;
        one.rows.retain(|row| row.unit == Unit::Macs);
        return Ok(one);
    }
    let each: Vec<Breakdown> =
        alike.iter().map(|group| group.inputs.totals(mode)).collect::<Result<_, _>>()?;
    let mut out = Breakdown::new();
    for (id, label) in FIGURES {
        let term = |(group, one): (&Alike, &Breakdown)| {
            Field::Layers.is(group.layers) * Formula::named("one layer", group.kind, one.value(id))
        };
        let all = Formula::sum(alike.iter().zip(&each).map(term).collect());
        out.rows.push(Quantity::new(id, label, Unit::Macs, all)?);
    }
    Ok(out)
}

fn steps(question: &Question, alike: &[Alike]) -> Result<ChartSpec, CostError> {
    let unit = PerUnit::arithmetic(question.settings.in_flops);
    let mut lines = Vec::new();
    for mode in MODES {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for group in alike {
            for (index, step) in group.inputs.steps(mode, MOST_STEPS)?.iter().enumerate() {
                let macs = (step.projections.0 as f64 + step.attention.0 as f64) * group.layers as f64;
                match points.get_mut(index) {
                    Some((_, sum)) => *sum += macs * unit.factor,
                    None => points.push((step.tokens as f64, macs * unit.factor)),
                }
            }
        }
        lines.push(ChartLine { label: title(mode).to_lowercase(), points, dashed: false });
    }
    Ok(ChartSpec {
        title: "Work of each step".to_owned(),
        x_label: "tokens after the step".to_owned(),
        y_label: unit.name.to_owned(),
        x_scale: AxisScale::Linear,
        y_scale: AxisScale::Linear,
        lines,
        marker: None,
    })
}

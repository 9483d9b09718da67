//! The calculators' curves as chart figures: the window and every export draw the same data with the same ticks.

use crate::cost::{
    Bytes, CostError, CostSeries, Prefix, Unit, doublings, grouped, roofline as roof, score_memory_series,
    scorer_series,
};
use crate::figure::{AxisScale, ChartLine, ChartSpec};

use super::answer::Question;
use super::{arithmetic, speed};

/// Points of a curve over evenly spread lengths.
const POINTS: usize = 513;
/// Curves over the tokens run at least this far, and to twice the tokens asked about.
const SHORTEST: u64 = 4096;
const FIRST_LENGTH: u64 = 64;

/// What the numbers on an axis count, and what a value is multiplied by to get there.
pub struct PerUnit {
    /// The unit.
    pub name: &'static str,
    /// Units for each of what is counted.
    pub factor: f64,
}

impl PerUnit {
    /// MACs, or FLOPs, two for each.
    pub const fn arithmetic(in_flops: bool) -> Self {
        match in_flops {
            true => Self { name: "FLOPs", factor: 2.0 },
            false => Self { name: "MACs", factor: 1.0 },
        }
    }

    /// The binary unit that leaves the largest of these bytes above 1.
    fn bytes(largest: u128) -> Self {
        let fits = |prefix: &&Prefix| prefix.factor() <= largest.max(1);
        let prefix = Prefix::BINARY.iter().rev().find(fits).copied().unwrap_or(Prefix::One);
        let name = match prefix {
            Prefix::Kibi => "KiB",
            Prefix::Mebi => "MiB",
            Prefix::Gibi => "GiB",
            Prefix::Tebi => "TiB",
            Prefix::Pebi => "PiB",
            Prefix::Exbi => "EiB",
            _ => "bytes",
        };
        Self { name, factor: 1.0 / prefix.factor() as f64 }
    }

    fn line(&self, series: CostSeries, dashed: bool) -> ChartLine {
        let point = |(tokens, value): (u64, u128)| (tokens as f64, value as f64 * self.factor);
        ChartLine { label: series.name, points: series.points.into_iter().map(point).collect(), dashed }
    }
}

/// The length that curves over the tokens run to.
fn longest(question: &Question) -> u64 {
    let lengths = question.columns.iter().map(|column| column.tokens.saturating_mul(2));
    lengths.max().unwrap_or(0).max(SHORTEST)
}

/// A column that has no cost has an empty curve, so that the others keep their colours.
fn or_empty(series: Result<CostSeries, CostError>, name: &str, unit: Unit) -> CostSeries {
    series.unwrap_or_else(|_| CostSeries { name: name.to_owned(), unit, points: Vec::new() })
}

fn marker(question: &Question) -> Option<(f64, String)> {
    let tokens = question.configuration().tokens;
    Some((tokens as f64, format!("{} tokens", grouped(u128::from(tokens)))))
}

/// Bytes of every column's cache over the tokens.
pub fn memory(question: &Question) -> Option<ChartSpec> {
    let longest = longest(question);
    let series: Vec<CostSeries> = question
        .columns
        .iter()
        .map(|column| or_empty(CostSeries::memory(column, longest, POINTS), &column.name, Unit::Bytes))
        .collect();
    let largest = series.iter().filter_map(|curve| curve.points.last()).map(|(_, bytes)| *bytes).max()?;
    let unit = PerUnit::bytes(largest);
    Some(ChartSpec {
        title: "Cache memory over tokens".to_owned(),
        x_label: "tokens".to_owned(),
        y_label: unit.name.to_owned(),
        x_scale: AxisScale::Linear,
        y_scale: AxisScale::Linear,
        lines: series.into_iter().map(|curve| unit.line(curve, false)).collect(),
        marker: marker(question),
    })
}

/// Multiply-adds of every column's pass over the tokens, on logarithmic axes.
pub fn arithmetic(question: &Question) -> Option<ChartSpec> {
    let lengths = doublings(FIRST_LENGTH, longest(question));
    let unit = PerUnit::arithmetic(question.settings.in_flops);
    let curve = |(column, configuration): (usize, &crate::cost::Configuration)| {
        let count = |tokens| Ok(arithmetic::report(question, column, tokens)?.summary.value("total_macs"));
        let series = CostSeries::of(&configuration.name, Unit::Macs, &lengths, count);
        unit.line(or_empty(series, &configuration.name, Unit::Macs), false)
    };
    let lines: Vec<ChartLine> = question.columns.iter().enumerate().map(curve).collect();
    Some(logarithmic("Arithmetic of a pass over tokens", unit.name, lines)).filter(has_points)
}

/// One head in four ways.
///
/// # Errors
/// A window or a hidden layer of 0.
pub fn scorers(question: &Question) -> Result<Option<ChartSpec>, CostError> {
    let Some(shape) = arithmetic::first_shape(question.configuration()) else { return Ok(None) };
    let settings = &question.settings;
    let lengths = doublings(FIRST_LENGTH, longest(question));
    let unit = PerUnit::arithmetic(settings.in_flops);
    let series = scorer_series(shape.d_k, settings.attention_width, settings.window, &lengths)?;
    let lines = series.into_iter().map(|curve| unit.line(curve, false)).collect();
    Ok(Some(logarithmic("One head, scored in four ways", unit.name, lines)))
}

/// Score matrices kept in full, and what a tiled kernel holds instead.
pub fn score_memory(question: &Question) -> Option<ChartSpec> {
    let configuration = question.configuration();
    let shape = arithmetic::first_shape(configuration)?;
    let lengths = doublings(FIRST_LENGTH, longest(question));
    let bytes = question.settings.bytes_per_score;
    let series = score_memory_series(configuration.heads, shape.d_v, bytes, &lengths).ok()?;
    let largest = series.first()?.points.last()?.1;
    let unit = PerUnit::bytes(largest);
    let lines = series.into_iter().map(|curve| unit.line(curve, false)).collect();
    Some(logarithmic("Memory beside the inputs, one layer", unit.name, lines))
}

fn logarithmic(title: &str, y_label: &str, lines: Vec<ChartLine>) -> ChartSpec {
    ChartSpec {
        title: title.to_owned(),
        x_label: "tokens".to_owned(),
        y_label: y_label.to_owned(),
        x_scale: AxisScale::Log2,
        y_scale: AxisScale::Log10,
        lines,
        marker: None,
    }
}

fn has_points(spec: &ChartSpec) -> bool {
    spec.lines.iter().any(|line| !line.points.is_empty())
}

/// The roof of the machine, and every column's decoding and prefill below it, each a line up to the roof.
pub fn roofline(question: &Question) -> Option<ChartSpec> {
    let hardware = &question.settings.hardware;
    let ridge = hardware.ridge().ok()?.to_f64();
    let mut works = Vec::new();
    for configuration in &question.columns {
        works.extend(intensities(configuration).unwrap_or_default());
    }
    let least = works.iter().map(|(_, intensity)| *intensity).fold(ridge, f64::min);
    let most = works.iter().map(|(_, intensity)| *intensity).fold(ridge, f64::max);
    let (least, most) = (least / 4.0, most * 4.0);
    let floor = hardware.attainable(least);
    let line =
        ChartLine { label: hardware.name.clone(), points: roof(hardware, (least, most), 129), dashed: false };
    let work = |(label, intensity): (String, f64)| ChartLine {
        label,
        points: vec![(intensity, floor), (intensity, hardware.attainable(intensity))],
        dashed: true,
    };
    Some(ChartSpec {
        title: "Roofline".to_owned(),
        x_label: "FLOPs for each byte".to_owned(),
        y_label: "FLOPs a second".to_owned(),
        x_scale: AxisScale::Log10,
        y_scale: AxisScale::Log10,
        lines: std::iter::once(line).chain(works.into_iter().map(work)).collect(),
        marker: None,
    })
}

fn intensities(configuration: &crate::cost::Configuration) -> Result<Vec<(String, f64)>, CostError> {
    let name = &configuration.name;
    let decode = speed::decode_ratios(configuration)?;
    let mut out: Vec<(String, f64)> =
        decode.into_iter().map(|(kind, ratio)| (format!("{name}, decode, {kind}"), ratio.to_f64())).collect();
    if let Some(ratio) = speed::prefill_ratio(configuration)? {
        out.push((format!("{name}, prefill"), ratio.to_f64()));
    }
    Ok(out)
}

/// Bytes in both kinds of unit where they differ: `1.05 GB, 0.98 GiB`.
pub fn both_units(bytes: u128) -> String {
    let bytes = Bytes(bytes);
    match bytes.0 {
        0..1000 => String::new(),
        _ => format!("{}, {}", bytes.decimal(), bytes.binary_beside_decimal()),
    }
}

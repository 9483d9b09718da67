//! What has to move, and how fast a machine can be at best.

use crate::cost::{
    Configuration, ConfigurationReport, CostError, DecodeStep, Field, Formula, LayerKind, Quantity, Ratio,
    Unit, grouped, latent_intensity, prefill_intensity, standard_traffic, tiled_traffic_keys_outside,
    tiled_traffic_queries_outside,
};
use crate::session::Settings;

use super::answer::{Answer, Fact, Question, Section};
use super::arithmetic::first_shape;
use super::curves;

/// Bounds of the column on screen, and the roof of the machine with every column under it.
pub fn answer(question: &Question) -> Answer {
    let mut out = Answer::default();
    let (configuration, settings) = (question.configuration(), &question.settings);
    if let Err(error) = configuration.plan() {
        out.complain(&error, configuration);
        return out;
    }
    out.take(decode_bound(configuration, settings), configuration);
    out.take(intensities(configuration, settings), configuration);
    out.n_leading = out.sections.len();
    if first_shape(configuration).is_some() {
        for part in [kept, keys_outside, queries_outside] {
            match part(configuration, settings) {
                Ok(row) => match out.sections.last_mut().filter(|section| section.title == TRAFFIC) {
                    Some(section) => section.rows.push(row),
                    None => out.sections.push(Section::titled(TRAFFIC, vec![row])),
                },
                Err(error) => out.complain(&error, configuration),
            }
        }
    }
    out.charts.extend(curves::roofline(question));
    out
}

const TRAFFIC: &str = "Values that one head moves in a prefill";

fn decode_bound(configuration: &Configuration, settings: &Settings) -> Result<Section, CostError> {
    let read = configuration.plan()?.bytes_read(configuration.tokens, 1)?.0;
    let step = DecodeStep {
        weight_bytes: settings.weight_bytes,
        cache_bytes: read,
        sequences: configuration.sequences,
        active_parameters: settings.active_parameters,
    };
    let peak = (settings.active_parameters > 0).then_some(settings.hardware.peak_flops);
    let bound = step.bound(settings.hardware.bandwidth, peak)?;
    let cache = Quantity::new(
        "cache_read",
        "cache read",
        Unit::Bytes,
        Field::Sequences.is(configuration.sequences) * Formula::named("read by a sequence", "KV", read),
    )?;
    let mut rows = vec![cache];
    if settings.weight_bytes > 0 {
        let weights = Field::WeightBytes.is(settings.weight_bytes);
        rows.push(Quantity::new("weights_read", "weights read", Unit::Bytes, weights)?);
    }
    let formula = match (peak, settings.weight_bytes) {
        (Some(_), _) => "B · KV / BW + max(2 · B · P_act / F, w / BW)",
        (None, 0) => "B · KV / BW: the cache alone, without weights and arithmetic",
        (None, _) => "(B · KV + w) / BW: without arithmetic",
    };
    Ok(Section {
        title: "One decode step".to_owned(),
        rows,
        facts: vec![
            Fact {
                label: "takes at least".to_owned(),
                value: seconds(bound.step_seconds.to_f64()),
                source: formula.to_owned(),
            },
            Fact {
                label: "at most".to_owned(),
                value: format!("{} tokens a second", significant(bound.tokens_per_second.to_f64())),
                source: "of all sequences together".to_owned(),
            },
        ],
        ..Section::default()
    })
}

fn intensities(configuration: &Configuration, settings: &Settings) -> Result<Section, CostError> {
    let ridge = settings.hardware.ridge()?;
    let mut facts = vec![Fact {
        label: "ridge".to_owned(),
        value: per_byte(ridge),
        source: format!("{}: left of it memory is the limit, right of it arithmetic", settings.hardware.name),
    }];
    for (kind, ratio) in decode_ratios(configuration)? {
        let source = "whatever the length and the number of sequences".to_owned();
        facts.push(Fact { label: format!("decode, {kind}"), value: per_byte(ratio), source });
    }
    if let Some(ratio) = prefill_ratio(configuration)? {
        let source = "one fused pass over all tokens".to_owned();
        facts.push(Fact { label: "prefill".to_owned(), value: per_byte(ratio), source });
    }
    Ok(Section { title: "FLOPs for each byte".to_owned(), facts, ..Section::default() })
}

/// FLOPs for each byte of cache that decoding reads, in each kind of layer; one for kinds that are alike.
pub fn decode_ratios(configuration: &Configuration) -> Result<Vec<(&'static str, Ratio)>, CostError> {
    let mut found: Vec<(&'static str, Ratio)> = Vec::new();
    for report in ConfigurationReport::new(configuration)?.groups {
        let kind = &report.group.kind;
        let ratio = match (kind, kind.shape(), report.row) {
            (LayerKind::Latent(shape), ..) => {
                latent_intensity(configuration.heads, *shape, configuration.types.keys)?
            }
            (_, Some(shape), Some(row)) => {
                // 2·H·(d_k + d_v) for each cached token over the bytes of its row; 2·(H/G)/b where both are stored alike.
                let widths = u128::from(shape.d_k) + u128::from(shape.d_v);
                let flops = Formula::number(2_u64) * Field::QueryHeads.is(configuration.heads);
                Ratio::new((flops * Formula::number(widths)).value()?, row.value, Field::KeyType)?
            }
            _ => continue,
        };
        if !found.iter().any(|(_, known)| *known == ratio) {
            found.push((kind.name(), ratio));
        }
    }
    Ok(found)
}

/// FLOPs for each byte of a fused prefill; `None` for no tokens.
pub fn prefill_ratio(configuration: &Configuration) -> Result<Option<Ratio>, CostError> {
    match configuration.tokens {
        0 => Ok(None),
        tokens => prefill_intensity(tokens, tokens, configuration.types.keys).map(Some),
    }
}

fn per_byte(ratio: Ratio) -> String {
    let value = significant(ratio.to_f64());
    match ratio.denominator() {
        1 => format!("{value} FLOPs per byte"),
        below => {
            format!("{}/{} ≈ {value} FLOPs per byte", grouped(ratio.numerator()), grouped(below))
        }
    }
}

/// In the largest of s, ms, µs and ns that leaves at least 1.
fn seconds(value: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    let (unit, name) = units.into_iter().find(|(unit, _)| value >= *unit).unwrap_or((1e-9, "ns"));
    format!("{} {name}", significant(value / unit))
}

/// Four digits, and no more than there are.
pub fn significant(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => grouped(value.round() as u128),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 => crate::figure::format_short(value, 3),
        _ => crate::figure::format_short(value, 6),
    }
}

fn widths(configuration: &Configuration) -> (u64, u64) {
    first_shape(configuration).map_or((1, 1), |shape| (shape.d_k, shape.d_v))
}

fn kept(configuration: &Configuration, _: &Settings) -> Result<Quantity, CostError> {
    let (d_k, d_v) = widths(configuration);
    moved(standard_traffic(configuration.tokens, d_k, d_v)?, "scores kept in full")
}

fn keys_outside(configuration: &Configuration, settings: &Settings) -> Result<Quantity, CostError> {
    let (d_k, _) = widths(configuration);
    moved(tiled_traffic_keys_outside(configuration.tokens, d_k, settings.fast_memory)?, "tiled, keys outside")
}

fn queries_outside(configuration: &Configuration, settings: &Settings) -> Result<Quantity, CostError> {
    let traffic = tiled_traffic_queries_outside(
        configuration.tokens,
        widths(configuration),
        settings.block_rows,
        true,
    )?;
    moved(traffic, "tiled, queries outside")
}

fn moved(traffic: crate::cost::Breakdown, label: &'static str) -> Result<Quantity, CostError> {
    let row = traffic.get("elements").cloned();
    let none = || Quantity::new("elements", label, Unit::Values, Formula::number(0_u64));
    row.map_or_else(none, |row| Ok(Quantity { label, ..row }))
}

//! Everything there is to say about a configuration, each figure with its formula.

use super::complexity::ComplexityInputs;
use super::latent::{LatentForm, latent_macs};
use super::pairs::chunked_pairs;
use super::{
    Breakdown, ComplexityReport, Configuration, CostError, Field, Formula, LayerGroup, LayerKind, Quantity,
    Unit,
};

/// A configuration's memory and arithmetic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationReport {
    /// Needed, allocated and read bytes; marginal, average and fixed cost of a token; multiply-adds of a prefill of all
    /// tokens of one sequence and of the decode step after it.
    pub summary: Breakdown,
    /// The same, group by group.
    pub groups: Vec<GroupReport>,
    /// Layers whose arithmetic is not counted: recurrent ones, whose state alone is described.
    pub layers_not_counted: u64,
}

/// One group of layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupReport {
    /// The group.
    pub group: LayerGroup,
    /// Bytes of one token in one layer, where tokens are kept.
    pub row: Option<Quantity>,
    /// Bytes needed for all layers and sequences.
    pub needed: Quantity,
    /// Multiply-adds of the prefill, term by term; none for recurrent layers.
    pub prefill: Option<Breakdown>,
    /// Multiply-adds of one decode step; none for recurrent and encoder layers.
    pub decode: Option<Breakdown>,
}

impl ConfigurationReport {
    /// Counts everything.
    ///
    /// # Errors
    /// What [`Configuration::check`] refuses, and counts beyond 128 bits.
    pub fn new(configuration: &Configuration) -> Result<Self, CostError> {
        configuration.check()?;
        let groups = configuration
            .groups
            .iter()
            .map(|group| GroupReport::new(configuration, group))
            .collect::<Result<Vec<_>, _>>()?;
        let layers_not_counted = groups
            .iter()
            .filter(|report| matches!(report.group.kind, LayerKind::Linear { .. }))
            .map(|report| report.group.layers)
            .sum();
        let summary = summary(configuration, &groups)?;
        Ok(Self { summary, groups, layers_not_counted })
    }
}

fn summary(configuration: &Configuration, groups: &[GroupReport]) -> Result<Breakdown, CostError> {
    let plan = configuration.plan()?;
    let Configuration { tokens, sequences, .. } = *configuration;
    let mut out = Breakdown::new();
    let bytes = |label, symbol, value: u128| Formula::named(label, symbol, value);
    let needed = groups.iter().map(|report| report.needed.as_factor(report.group.kind.name()));
    let needed = out.push("needed_bytes", "needed", Unit::Bytes, Formula::Sum(needed.collect()))?;
    let allocated =
        configuration.engine.allocated(&configuration.groups, configuration.types, tokens, sequences)?.0;
    let engine = bytes("what the engine's rule gives", "allocated", allocated);
    out.push("allocated_bytes", "allocated by the engine", Unit::Bytes, engine)?;
    let read = bytes("rows that attending layers read", "read", plan.bytes_read(tokens, sequences)?.0);
    out.push("read_bytes", "read in a decode step", Unit::Bytes, read)?;
    let marginal = bytes("groups that still grow", "marginal", plan.marginal(tokens)?.0);
    out.push("marginal_bytes", "the next token adds", Unit::Bytes, marginal)?;
    if tokens > 0 && sequences > 0 {
        let each = Field::Sequences.is(sequences) * Field::Tokens.is(tokens);
        let average = bytes("needed", "needed", needed).div_floor(each);
        out.push("average_bytes", "average for a token", Unit::Bytes, average)?;
    }
    let fixed = bytes("groups that no longer grow", "fixed", plan.saturated(tokens)?.0);
    out.push("fixed_bytes", "no longer growing, per sequence", Unit::Bytes, fixed)?;
    let totals = |pick: fn(&GroupReport) -> Option<&Breakdown>| {
        let total = |report: &GroupReport| {
            pick(report)?.get("total_macs").map(|total| total.as_factor(report.group.kind.name()))
        };
        Formula::Sum(groups.iter().filter_map(total).collect())
    };
    out.push(
        "prefill_macs",
        "prefill of one sequence",
        Unit::Macs,
        totals(|report| report.prefill.as_ref()),
    )?;
    out.push("decode_macs", "one decode step", Unit::Macs, totals(|report| report.decode.as_ref()))?;
    Ok(out)
}

impl GroupReport {
    fn new(configuration: &Configuration, group: &LayerGroup) -> Result<Self, CostError> {
        let tokens = configuration.tokens;
        let row = group
            .kind
            .row_formula(configuration.types)?
            .map(|row| Quantity::new("row_bytes", "per token and layer", Unit::Bytes, row))
            .transpose()?;
        Ok(Self {
            needed: needed(configuration, group, row.as_ref())?,
            row,
            prefill: group_macs(configuration, group, 0, tokens)?,
            decode: match group.kind {
                LayerKind::Encoder(_) => None,
                _ => group_macs(configuration, group, tokens, 1)?,
            },
            group: group.clone(),
        })
    }
}

fn needed(
    configuration: &Configuration,
    group: &LayerGroup,
    row: Option<&Quantity>,
) -> Result<Quantity, CostError> {
    let layers = Field::Layers.is(group.layers);
    let tokens = Field::Tokens.is(configuration.tokens);
    let row = row.map_or(Formula::number(0_u64), |row| row.as_factor("row"));
    let one = match &group.kind {
        LayerKind::Full(_) | LayerKind::Latent(_) => layers * row * tokens,
        LayerKind::Window { window, .. } => layers * row * tokens.min(Field::Window.is(*window)),
        LayerKind::Chunked { chunk, .. } => layers * row * tokens.min(Field::Chunk.is(*chunk)),
        LayerKind::Static { source_tokens, .. } => layers * row * Field::SourceTokens.is(*source_tokens),
        LayerKind::Linear { state_bytes } => layers * Field::StateBytes.is(*state_bytes),
        LayerKind::Shared { .. } | LayerKind::Encoder(_) => Formula::number(0_u64),
    };
    let all = match (&group.kind, configuration.sequences) {
        (LayerKind::Shared { .. } | LayerKind::Encoder(_), _) | (_, 1) => one,
        (_, sequences) => one * Field::Sequences.is(sequences),
    };
    Quantity::new("needed_bytes", "needed", Unit::Bytes, all)
}

/// Multiply-adds of `new` tokens after `past` ones in all layers of a group.
fn group_macs(
    configuration: &Configuration,
    group: &LayerGroup,
    past: u64,
    new: u64,
) -> Result<Option<Breakdown>, CostError> {
    let (kind, is_shared) = match &group.kind {
        LayerKind::Shared { reads: Some(kind) } => (kind.as_ref(), true),
        kind => (kind, false),
    };
    if let LayerKind::Latent(shape) = kind {
        let form = LatentForm::Absorbed;
        let one = latent_macs(*shape, configuration.heads, configuration.d_model, (past, new), form)?;
        return times_layers(&one, group.layers).map(Some);
    }
    let Some(inputs) = layer_inputs(configuration, kind, past, new)? else { return Ok(None) };
    let inputs = ComplexityInputs {
        layers: group.layers,
        cached_keys: if is_shared { inputs.n_k } else { inputs.cached_keys },
        ..inputs
    };
    let report = ComplexityReport::new(&inputs)?;
    let mut rows = report.projections;
    rows.extend([report.scores, report.mix, report.total, report.flops]);
    Ok(Some(Breakdown { rows }))
}

fn layer_inputs(
    configuration: &Configuration,
    kind: &LayerKind,
    past: u64,
    new: u64,
) -> Result<Option<ComplexityInputs>, CostError> {
    let Some(shape) = kind.shape() else { return Ok(None) };
    let n_k = past.checked_add(new).ok_or(CostError::Overflow { field: Field::Tokens, bits: 64 })?;
    let inputs = ComplexityInputs {
        n_q: new,
        n_k,
        d_k: shape.d_k,
        d_v: shape.d_v,
        heads: configuration.heads,
        kv_heads: shape.kv_heads,
        d_model: Some(configuration.d_model),
        causal: true,
        cached_keys: past,
        has_output_projection: true,
        ..ComplexityInputs::default()
    };
    Ok(Some(match kind {
        LayerKind::Window { window, .. } => ComplexityInputs { window: Some(*window), ..inputs },
        LayerKind::Chunked { chunk, .. } => {
            let pairs = chunked_pairs(n_k, *chunk)? - chunked_pairs(past, *chunk)?;
            let pairs =
                u64::try_from(pairs).ok().ok_or(CostError::Overflow { field: Field::Tokens, bits: 64 })?;
            ComplexityInputs { visible_pairs: Some(pairs), ..inputs }
        }
        // The source's keys and values are made once, in the prefill.
        LayerKind::Static { source_tokens, .. } => {
            let cached_keys = if past > 0 { *source_tokens } else { 0 };
            ComplexityInputs { n_k: *source_tokens, causal: false, cached_keys, ..inputs }
        }
        LayerKind::Encoder(_) => ComplexityInputs { causal: false, ..inputs },
        _ => inputs,
    }))
}

fn times_layers(one: &Breakdown, layers: u64) -> Result<Breakdown, CostError> {
    let mut out = Breakdown::new();
    for row in one.rows.iter().filter(|row| row.unit == Unit::Macs && row.id != "total_macs") {
        out.push(row.id, row.label, row.unit, row.formula.clone() * Field::Layers.is(layers))?;
    }
    let total = out.rows.iter().map(|row| row.as_factor(row.label)).collect();
    out.push("total_macs", "total", Unit::Macs, Formula::Sum(total))?;
    let flops = Formula::number(2_u64) * Formula::named("total", "MACs", out.value("total_macs"));
    out.push("flops", "FLOPs", Unit::Flops, flops)?;
    Ok(out)
}

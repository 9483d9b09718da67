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
            .fold(0_u64, |sum, report| sum.saturating_add(report.group.layers));
        let summary = summary(configuration, &groups)?;
        Ok(Self { summary, groups, layers_not_counted })
    }
}

fn summary(configuration: &Configuration, groups: &[GroupReport]) -> Result<Breakdown, CostError> {
    let Configuration { tokens, sequences, engine, types, .. } = configuration;
    let mut out = Breakdown::new();
    let keeping: Vec<_> = groups.iter().filter(|report| report.needed.value > 0).collect();
    let needed = match keeping.as_slice() {
        [only] => only.needed.formula.clone(),
        all => {
            Formula::sum(all.iter().map(|report| report.needed.as_factor(report.group.kind.name())).collect())
        }
    };
    let needed = out.push("needed_bytes", "needed", Unit::Bytes, needed)?;
    let allocated = engine.allocated_formula(&configuration.groups, *types, *tokens, *sequences)?;
    out.push("allocated_bytes", "allocated by the engine", Unit::Bytes, allocated)?;
    let read = terms(configuration, |kind| match kind {
        LayerKind::Shared { reads: Some(kind) } => Some(kind.as_ref()),
        kind => Some(kind),
    })?;
    let read = match sequences {
        1 => read,
        sequences => read * Field::Sequences.is(*sequences),
    };
    out.push("read_bytes", "read in a decode step", Unit::Bytes, read)?;
    out.push("marginal_bytes", "the next token adds", Unit::Bytes, marginal(configuration, groups))?;
    if *tokens > 0 && *sequences > 0 {
        let tokens = Field::Tokens.is(*tokens);
        let each = if *sequences == 1 { tokens } else { Field::Sequences.is(*sequences) * tokens };
        let average = Formula::named("needed", "needed", needed).div_floor(each);
        out.push("average_bytes", "average for a token", Unit::Bytes, average)?;
    }
    let full = |kind: &LayerKind| kind.limit().is_some_and(|limit| *tokens >= limit);
    let fixed = terms(configuration, |kind| Some(kind).filter(|kind| full(kind)))?;
    out.push("fixed_bytes", "no longer growing, per sequence", Unit::Bytes, fixed)?;
    let prefill = macs_of(groups, |report| report.prefill.as_ref());
    out.push("prefill_macs", "prefill of one sequence", Unit::Macs, prefill)?;
    let decode = macs_of(groups, |report| report.decode.as_ref());
    out.push("decode_macs", "one decode step", Unit::Macs, decode)?;
    Ok(out)
}

/// Bytes of one sequence in the groups that `pick` gives a kind for, one term each.
fn terms(
    configuration: &Configuration,
    pick: impl Fn(&LayerKind) -> Option<&LayerKind>,
) -> Result<Formula, CostError> {
    let mut terms = Vec::new();
    for group in &configuration.groups {
        let Some(kind) = pick(&group.kind) else { continue };
        let row = kind.row_formula(configuration.types)?.map(|row| row.value()).transpose()?;
        terms.extend(held(group.layers, kind, row, configuration.tokens));
    }
    Ok(Formula::sum(terms))
}

fn marginal(configuration: &Configuration, groups: &[GroupReport]) -> Formula {
    let growing = |kind: &LayerKind| kind.limit().is_none_or(|limit| configuration.tokens < limit);
    let terms = groups.iter().filter(|report| growing(&report.group.kind));
    let term = |report: &GroupReport| {
        report.row.as_ref().map(|row| Field::Layers.is(report.group.layers) * row.as_factor("row"))
    };
    Formula::sum(terms.filter_map(term).collect())
}

fn macs_of(groups: &[GroupReport], pick: impl Fn(&GroupReport) -> Option<&Breakdown>) -> Formula {
    let total = |report: &GroupReport| {
        pick(report)?.get("total_macs").map(|total| total.as_factor(report.group.kind.name()))
    };
    Formula::sum(groups.iter().filter_map(total).collect())
}

/// Bytes that one sequence of `tokens` keeps in layers of this kind; `None` where it keeps none.
fn held(layers: u64, kind: &LayerKind, row: Option<u128>, tokens: u64) -> Option<Formula> {
    let layers = Field::Layers.is(layers);
    if let LayerKind::Linear { state_bytes } = kind {
        return Some(layers * Field::StateBytes.is(*state_bytes));
    }
    row.map(|row| layers * Formula::named("row", "row", row) * kind.kept_tokens(tokens))
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
    let one = held(group.layers, &group.kind, row.map(|row| row.value), configuration.tokens);
    let all = match (one, configuration.sequences) {
        (None, _) => Formula::number(0_u64),
        (Some(one), 1) => one,
        (Some(one), sequences) => one * Field::Sequences.is(sequences),
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

pub(super) fn layer_inputs(
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

pub(super) fn times_layers(one: &Breakdown, layers: u64) -> Result<Breakdown, CostError> {
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

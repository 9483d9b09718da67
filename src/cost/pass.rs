//! One pass of new tokens through a whole model: a prefill, a chunk of one, or a decode step.

use serde::{Deserialize, Serialize};

use super::latent::{LatentForm, latent_macs_of_pairs};
use super::pairs::causal_formula;
use super::report::{layer_inputs, times_layers};
use super::{
    Breakdown, ComplexityInputs, ComplexityReport, Configuration, CostError, Field, Formula, LatentShape,
    LayerGroup, LayerKind, Quantity, SoftmaxCount, Unit,
};

/// Which query–key pairs are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PairCount {
    /// Those that the causal mask and the windows leave visible.
    #[default]
    Visible,
    /// The whole rectangle n_q · n_k: what a kernel computes that masks afterwards.
    All,
}

/// What runs through the model, for one sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Tokens whose keys and values are cached already. 0 for a prefill.
    pub past: u64,
    /// Tokens that run through the layers. 1 for a decode step.
    pub new: u64,
    /// Which pairs are counted.
    pub pairs: PairCount,
    /// What one softmax entry counts as.
    pub softmax: SoftmaxCount,
    /// Bytes of one stored score.
    pub bytes_per_score: u64,
}

/// What a pass takes, in all and group by group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassReport {
    /// Projections, scores, mix and total in multiply-adds; FLOPs with the softmax; softmax entries and operations; bytes of
    /// the score matrices kept in full.
    pub summary: Breakdown,
    /// The groups that compute anything, where there is more than one.
    pub groups: Vec<GroupPass>,
    /// Layers whose arithmetic is not counted: recurrent ones, and sharing ones of an unknown kind.
    pub layers_not_counted: u64,
}

/// One group of layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPass {
    /// Its place among the configuration's groups, from 0.
    pub group_idx: usize,
    /// `window`, `full` and the like.
    pub kind: &'static str,
    /// Layers of the group.
    pub layers: u64,
    /// The same figures as in the summary.
    pub rows: Breakdown,
}

/// The figures of a summary over several groups, in order.
const SUMMARY: [(&str, &str, Unit); 9] = [
    ("q_projection", "Q projection", Unit::Macs),
    ("k_projection", "K projection", Unit::Macs),
    ("v_projection", "V projection", Unit::Macs),
    ("latent_projections", "latent projections", Unit::Macs),
    ("o_projection", "output projection", Unit::Macs),
    ("scores", "scores", Unit::Macs),
    ("mix", "mix", Unit::Macs),
    ("softmax_entries", "softmax entries", Unit::Entries),
    ("score_bytes", "score matrices in full", Unit::Bytes),
];

impl PassReport {
    /// Counts a pass through a model.
    ///
    /// # Errors
    /// What [`Configuration::check`] refuses, and counts beyond 128 bits.
    pub fn new(configuration: &Configuration, pass: &Pass) -> Result<Self, CostError> {
        configuration.check()?;
        let mut groups = Vec::new();
        let mut layers_not_counted = 0_u64;
        for (group_idx, group) in configuration.groups.iter().enumerate() {
            match rows_of(configuration, group, pass)? {
                Some(rows) => {
                    let kind = group.kind.name();
                    groups.push(GroupPass { group_idx, kind, layers: group.layers, rows });
                }
                None if matches!(group.kind, LayerKind::Encoder(_)) => {}
                None => layers_not_counted = layers_not_counted.saturating_add(group.layers),
            }
        }
        let mut summary = match groups.as_slice() {
            [only] => only.rows.clone(),
            several => added_up(several)?,
        };
        finish(&mut summary, pass.softmax)?;
        if groups.len() == 1 {
            groups.clear();
        }
        Ok(Self { summary, groups, layers_not_counted })
    }

    /// Counts a single kind of layer from its own sizes, such as those of a scene.
    ///
    /// # Errors
    /// As [`ComplexityReport::new`].
    pub fn of_layer(inputs: &ComplexityInputs) -> Result<Self, CostError> {
        let mut summary = layer_rows(inputs)?;
        finish(&mut summary, inputs.softmax)?;
        Ok(Self { summary, groups: Vec::new(), layers_not_counted: 0 })
    }
}

fn rows_of(
    configuration: &Configuration,
    group: &LayerGroup,
    pass: &Pass,
) -> Result<Option<Breakdown>, CostError> {
    let (kind, is_shared) = match &group.kind {
        LayerKind::Shared { reads: Some(kind) } => (kind.as_ref(), true),
        kind => (kind, false),
    };
    match kind {
        // An encoder runs once, over everything.
        LayerKind::Encoder(_) if pass.past > 0 => Ok(None),
        LayerKind::Latent(shape) => latent_rows(configuration, group.layers, *shape, pass).map(Some),
        kind => {
            let Some(inputs) = layer_inputs(configuration, kind, pass.past, pass.new)? else {
                return Ok(None);
            };
            let cached_keys = if is_shared { inputs.n_k } else { inputs.cached_keys };
            let inputs = ComplexityInputs {
                layers: group.layers,
                cached_keys,
                softmax: pass.softmax,
                bytes_per_score: pass.bytes_per_score,
                ..inputs
            };
            layer_rows(&inputs.counting(pass.pairs)).map(Some)
        }
    }
}

fn layer_rows(inputs: &ComplexityInputs) -> Result<Breakdown, CostError> {
    let report = ComplexityReport::new(inputs)?;
    let mut rows = report.projections;
    rows.extend([report.scores, report.mix, report.softmax_entries, report.score_bytes]);
    Ok(Breakdown { rows })
}

fn latent_rows(
    configuration: &Configuration,
    layers: u64,
    shape: LatentShape,
    pass: &Pass,
) -> Result<Breakdown, CostError> {
    let n_k =
        pass.past.checked_add(pass.new).ok_or(CostError::Overflow { field: Field::CachedKeys, bits: 64 })?;
    let all = || Field::Queries.is(pass.new) * Field::Keys.is(n_k);
    let pairs = match pass.pairs {
        PairCount::Visible => causal_formula(pass.new, n_k, None),
        PairCount::All => all(),
    };
    let counted = (pass.new, pairs.clone());
    let form = LatentForm::Absorbed;
    let one = latent_macs_of_pairs(shape, configuration.heads, configuration.d_model, counted, form)?;
    let mut out = times_layers(&one, layers)?;
    out.rows.retain(|row| row.unit == Unit::Macs && row.id != "total_macs");
    let heads = || Field::QueryHeads.is(configuration.heads) * Field::Layers.is(layers);
    out.push("softmax_entries", "softmax entries", Unit::Entries, pairs * heads())?;
    let kept = all() * Field::BytesPerScore.is(pass.bytes_per_score) * heads();
    out.push("score_bytes", "score matrices in full", Unit::Bytes, kept)?;
    Ok(out)
}

/// The figures of several groups, each the sum of theirs. The projections of latent layers are one figure.
fn added_up(groups: &[GroupPass]) -> Result<Breakdown, CostError> {
    let mut out = Breakdown::new();
    for (id, label, unit) in SUMMARY {
        let terms: Vec<Formula> = groups
            .iter()
            .flat_map(|group| {
                let same = move |row: &&Quantity| row.id == id || latent_part(row.id) == Some(id);
                group.rows.rows.iter().filter(same).map(|row| row.as_factor(group.kind))
            })
            .collect();
        if !terms.is_empty() {
            out.push(id, label, unit, Formula::sum(terms))?;
        }
    }
    Ok(out)
}

/// Where a row of a latent layer belongs in a summary over groups.
fn latent_part(id: &str) -> Option<&'static str> {
    match id {
        "q_proj" => Some("q_projection"),
        "kv_down" | "up" => Some("latent_projections"),
        "o_proj" => Some("o_projection"),
        _ => None,
    }
}

/// Adds total, softmax operations and FLOPs.
fn finish(out: &mut Breakdown, softmax: SoftmaxCount) -> Result<(), CostError> {
    let macs = out.rows.iter().filter(|row| row.unit == Unit::Macs);
    let total = Formula::sum(macs.map(|row| row.as_factor(row.label)).collect());
    let after = out.rows.iter().take_while(|row| row.unit == Unit::Macs).count();
    out.rows.insert(after, Quantity::new("total_macs", "total", Unit::Macs, total)?);
    let total = Formula::named("total", "total", out.value("total_macs"));
    let mut flops = Formula::number(2_u64) * total;
    if softmax != SoftmaxCount::NotCounted {
        let entries = Formula::named("softmax entries", "entries", out.value("softmax_entries"));
        let each = Formula::number(softmax.per_entry());
        let operations =
            out.push("softmax_operations", "softmax operations", Unit::Operations, each * entries)?;
        flops = flops + Formula::named("softmax operations", "softmax", operations);
    }
    out.push("flops", "FLOPs in all", Unit::Flops, flops)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{ConfigurationReport, preset, presets};

    fn pass(past: u64, new: u64, pairs: PairCount) -> Pass {
        Pass { past, new, pairs, softmax: SoftmaxCount::NotCounted, bytes_per_score: 2 }
    }

    #[test]
    fn a_prefill_and_a_decode_step_are_those_of_the_full_report() {
        for preset in presets() {
            let configuration = preset.configuration().unwrap();
            let report = ConfigurationReport::new(&configuration).unwrap();
            let tokens = configuration.tokens;
            let total = |past, new| {
                let counted = PassReport::new(&configuration, &pass(past, new, PairCount::Visible));
                counted.unwrap().summary.value("total_macs")
            };
            assert_eq!(total(0, tokens), report.summary.value("prefill_macs"), "{}", preset.id);
            assert_eq!(total(tokens, 1), report.summary.value("decode_macs"), "{}", preset.id);
        }
    }

    #[test]
    fn a_prefill_in_two_chunks_costs_what_it_costs_at_once() {
        let configuration = preset("gemma-3-27b").unwrap().configuration().unwrap();
        let total = |past, new| {
            let counted = PassReport::new(&configuration, &pass(past, new, PairCount::Visible));
            counted.unwrap().summary.value("total_macs")
        };
        assert_eq!(total(0, 3000) + total(3000, 5000), total(0, 8000));
    }

    #[test]
    fn the_full_square_is_counted_in_full_in_every_kind_of_layer() {
        for (id, per_pair) in [("gemma-3-27b", 62 * 32 * 2 * 128), ("deepseek-v3", 61 * 139_264)] {
            let configuration = preset(id).unwrap().configuration().unwrap();
            let report = PassReport::new(&configuration, &pass(0, 100, PairCount::All)).unwrap();
            let (scores, mix) = (report.summary.value("scores"), report.summary.value("mix"));
            assert_eq!(scores + mix, 100 * 100 * per_pair, "{id}");
        }
    }

    #[test]
    fn softmax_operations_are_no_multiply_adds_but_join_the_flops() {
        let inputs =
            ComplexityInputs { n_q: 10, n_k: 10, softmax: SoftmaxCount::FivePerEntry, ..Default::default() };
        let report = PassReport::of_layer(&inputs).unwrap();
        let macs = report.summary.value("total_macs");
        assert_eq!(macs, 10 * 10 * 128);
        assert_eq!(report.summary.value("flops"), 2 * macs + 5 * 100);
    }
}

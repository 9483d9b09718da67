//! What a cache takes: needed, allocated, read; by group, device and prefix; and how long it may grow.

use crate::cost::{
    Bytes, CacheInputs, CacheReport, Configuration, ConfigurationReport, CostError, Engine, Formula,
    LargestContext, Quantity, Unit, shared_prefix,
};
use crate::session::Settings;

use super::answer::{Answer, Fact, Question, Section};
use super::curves;
use super::questions::amount;

/// Figures of the column on screen, and the memory of every column over the tokens.
pub fn answer(question: &Question) -> Answer {
    let mut out = Answer::default();
    let (configuration, settings) = (question.configuration(), &question.settings);
    match ConfigurationReport::new(configuration) {
        Ok(report) => {
            out.sections.push(totals(&report));
            out.take(largest(configuration, settings.budget), configuration);
            out.n_leading = out.sections.len();
            out.sections.extend(groups(&report));
            if let Some(sharing) = sharing(configuration) {
                out.take(sharing, configuration);
            }
            if settings.devices != 1 {
                out.take(on_a_device(configuration, settings), configuration);
            }
            if let Engine::Paged { block_size, .. } = configuration.engine {
                out.take(prefix(configuration, settings, block_size), configuration);
            }
        }
        Err(error) => out.complain(&error, configuration),
    }
    out.charts.extend(curves::memory(question));
    out
}

fn totals(report: &ConfigurationReport) -> Section {
    let mut rows: Vec<Quantity> = match report.groups.as_slice() {
        [only] => only.row.iter().cloned().collect(),
        _ => Vec::new(),
    };
    rows.extend(report.summary.rows.iter().filter(|row| row.unit == Unit::Bytes).cloned());
    // Nothing that has stopped growing, and an engine that sets aside what is needed, are not worth a line.
    rows.retain(|row| row.id != "fixed_bytes" || row.value > 0);
    Section::of(rows)
}

fn largest(configuration: &Configuration, budget: Bytes) -> Result<Section, CostError> {
    let found = configuration.plan()?.largest_context(budget, configuration.sequences)?;
    let value = match found {
        LargestContext::Tokens(tokens) => Unit::Tokens.exact(u128::from(tokens)),
        LargestContext::Unbounded => "any length".to_owned(),
    };
    let made_for = configuration.max_context.map(|most| Unit::Tokens.exact(u128::from(most)));
    let remark = made_for.map_or_else(String::new, |most| format!("the model was made for {most}"));
    let fact = Fact { label: format!("longest in {}", amount(budget)), value, source: remark };
    Ok(Section { facts: vec![fact], ..Section::default() })
}

fn groups(report: &ConfigurationReport) -> Vec<Section> {
    if report.groups.len() < 2 {
        return Vec::new();
    }
    let section = |(group_idx, group): (usize, &crate::cost::GroupReport)| Section {
        title: group.title(),
        group: Some(group_idx),
        rows: group.row.iter().chain([&group.needed]).cloned().collect(),
        facts: Vec::new(),
    };
    report.groups.iter().enumerate().map(section).collect()
}

/// The same query heads with as many KV heads, fewer, and one.
fn sharing(configuration: &Configuration) -> Option<Result<Section, CostError>> {
    let inputs = configuration.uniform_cache()?;
    let row = |name: &'static str, kv_heads: u64| {
        let report = CacheReport::new(&CacheInputs { kv_heads, ..inputs.clone() })?;
        let bytes =
            if inputs.sequences == 1 { report.bytes_per_sequence } else { report.bytes_all_sequences };
        Ok(Quantity { label: name, ..bytes })
    };
    let sharing = match CacheReport::new(&inputs) {
        Ok(report) => report.sharing,
        Err(error) => return Some(Err(error)),
    };
    let rows: Result<Vec<Quantity>, CostError> =
        sharing.iter().map(|sharing| row(sharing.name, sharing.kv_heads)).collect();
    Some(rows.map(|rows| Section::titled("The same query heads, KV heads shared otherwise", rows)))
}

fn on_a_device(configuration: &Configuration, settings: &Settings) -> Result<Section, CostError> {
    let share = ConfigurationReport::new(&configuration.share_of(settings.devices)?)?;
    let kept = ["needed_bytes", "allocated_bytes"];
    let rows = share.summary.rows.iter().filter(|row| kept.contains(&row.id)).cloned().collect();
    Ok(Section::titled(format!("On one of {} devices", settings.devices), rows))
}

fn prefix(configuration: &Configuration, settings: &Settings, block_size: u64) -> Result<Section, CostError> {
    let Configuration { sequences, tokens, .. } = *configuration;
    let mut shared = shared_prefix(sequences, settings.shared_tokens, tokens, block_size)?;
    let row = configuration.plan()?.marginal(0)?.0;
    let (all, without) = (shared.value("blocks_total"), shared.value("blocks_without_sharing"));
    let saved = Formula::named("blocks saved", "saved", without.saturating_sub(all))
        * crate::cost::Field::BlockSize.is(block_size)
        * Formula::named("bytes of a token in all layers", "row", row);
    if settings.shared_tokens > 0 {
        shared.rows.push(Quantity::new("saved_bytes", "saved by sharing", Unit::Bytes, saved)?);
    }
    Ok(Section::titled("A prefix that all sequences begin with", shared.rows))
}

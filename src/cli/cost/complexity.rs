//! `qkv cost complexity`: the arithmetic of attention, its parameters and its score memory.

use std::io::Write;

use serde_json::{Value, json};

use super::model::ModelArgs;
use super::{CostCommandError, Format, title, write_json};
use crate::cost::{
    Breakdown, ComplexityInputs, ComplexityReport, ConfigurationReport, GroupReport, GrowthRow, SoftmaxCount,
    Unit, growth,
};

#[derive(clap::Args, Debug)]
pub(super) struct ComplexityArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Queries and keys.
    #[arg(long)]
    tokens: Option<u64>,
    /// Queries, where they differ from the keys.
    #[arg(long)]
    queries: Option<u64>,
    /// Keys, where they differ from the queries.
    #[arg(long)]
    keys: Option<u64>,
    /// Keys that come from a cache and are not projected again.
    #[arg(long, default_value_t = 0)]
    cached: u64,
    /// Count only keys that are not later than the query.
    #[arg(long)]
    causal: bool,
    /// Keys a query sees at most, itself included; implies --causal.
    #[arg(long)]
    window: Option<u64>,
    /// Bytes of one stored score.
    #[arg(long, default_value_t = 4)]
    bytes_per_score: u64,
    /// Operations that one softmax entry counts as: 0, 1, 3 or 5, as sources differ.
    #[arg(long, default_value_t = 0)]
    softmax: u64,
    /// Leave W_O out.
    #[arg(long)]
    no_output_projection: bool,
    /// Also show so many lengths, each twice the one before.
    #[arg(long, default_value_t = 0)]
    doublings: u32,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl ComplexityArgs {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<(), CostCommandError> {
        if self.model.preset.is_some() || self.model.config.is_some() {
            return self.run_model(out);
        }
        let inputs = self.inputs()?;
        let report = ComplexityReport::new(&inputs)?;
        let breakdown = Breakdown { rows: report.quantities().into_iter().cloned().collect() };
        let rows = growth(&inputs, inputs.n_k.max(1), self.doublings)?;
        match self.format {
            Format::Text => Ok(write!(out, "{}{}", breakdown.text(), GrowthRow::table(&rows))?),
            Format::Csv => Ok(write!(out, "{}", breakdown.csv())?),
            Format::Latex => Ok(write!(out, "{}", breakdown.latex())?),
            Format::Json => {
                let growth: Vec<Value> = rows.iter().map(GrowthRow::to_json).collect();
                write_json(out, &json!({ "quantities": breakdown.to_json(), "growth": growth }))
            }
        }
    }

    /// A whole model: its prefill and one decode step, group by group.
    fn run_model(&self, out: &mut dyn Write) -> Result<(), CostCommandError> {
        let mut configuration = self.model.configuration()?;
        configuration.tokens = self.tokens.unwrap_or(configuration.tokens);
        let report = ConfigurationReport::new(&configuration)?;
        let arithmetic = report.summary.rows.iter().filter(|row| row.unit == Unit::Macs).cloned();
        let summary = Breakdown { rows: arithmetic.collect() };
        match self.format {
            Format::Csv => return Ok(write!(out, "{}", summary.csv())?),
            Format::Latex => return Ok(write!(out, "{}", summary.latex())?),
            Format::Json => {
                let object = json!({
                    "name": configuration.name,
                    "tokens": configuration.tokens,
                    "quantities": summary.to_json(),
                    "groups": report.groups.iter().map(GroupReport::to_json).collect::<Vec<_>>(),
                    "layers_not_counted": report.layers_not_counted,
                });
                return write_json(out, &object);
            }
            Format::Text => {}
        }
        writeln!(out, "{}", title(&configuration))?;
        write!(out, "{}", summary.text())?;
        write!(out, "{}", GroupReport::arithmetic_text(&report.groups))?;
        if report.layers_not_counted > 0 {
            writeln!(out, "\nnot counted: {} recurrent layers", report.layers_not_counted)?;
        }
        Ok(())
    }

    fn inputs(&self) -> Result<ComplexityInputs, CostCommandError> {
        let softmax = SoftmaxCount::ALL.into_iter().find(|count| count.per_entry() == self.softmax);
        let softmax = softmax.ok_or(CostCommandError::Softmax { found: self.softmax })?;
        let n_q = self.queries.or(self.tokens).or(self.keys).unwrap_or(0);
        let d_k = self.model.head_width.unwrap_or(64);
        let heads = self.model.heads.or(self.model.kv_heads).unwrap_or(1);
        Ok(ComplexityInputs {
            n_q,
            n_k: self.keys.or(self.tokens).unwrap_or(n_q),
            d_k,
            d_v: self.model.value_width.unwrap_or(d_k),
            heads,
            kv_heads: self.model.kv_heads.unwrap_or(heads),
            d_model: self.model.d_model,
            causal: self.causal || self.window.is_some(),
            window: self.window,
            cached_keys: self.cached,
            bytes_per_score: self.bytes_per_score,
            has_output_projection: !self.no_output_projection,
            layers: self.model.layers.unwrap_or(1),
            softmax,
            ..ComplexityInputs::default()
        })
    }
}

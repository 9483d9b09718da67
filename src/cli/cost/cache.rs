//! `qkv cost cache`: the memory of a key/value cache.

use std::io::Write;

use clap::ValueEnum;
use serde_json::json;

use super::model::ModelArgs;
use super::{CostCommandError, Format, title, write_json};
use crate::cost::{
    Breakdown, Bytes, CacheReport, Configuration, ConfigurationReport, Engine, GroupReport, HeadSharing,
    LargestContext, RowTypes, StorageType, Unit,
};

#[derive(clap::Args, Debug)]
pub(super) struct CacheArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Tokens in each sequence.
    #[arg(long)]
    tokens: Option<u64>,
    /// Sequences at the same time.
    #[arg(long)]
    sequences: Option<u64>,
    /// How keys and values are stored: f32, f16, bf16, fp8, int8, q8_0, q4_0 and so on.
    #[arg(long = "type", value_name = "TYPE")]
    storage: Option<StorageType>,
    /// How keys are stored, where that differs.
    #[arg(long, value_name = "TYPE")]
    key_type: Option<StorageType>,
    /// How values are stored, where that differs.
    #[arg(long, value_name = "TYPE")]
    value_type: Option<StorageType>,
    /// Whose rule for setting memory aside.
    #[arg(long, value_enum, default_value_t = EngineName::Exact)]
    engine: EngineName,
    /// Show what one of so many devices holds.
    #[arg(long, default_value_t = 1)]
    devices: u64,
    /// Also give the longest context that fits, such as 24GiB.
    #[arg(long, value_name = "BYTES")]
    budget: Option<Bytes>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Exactly what is needed.
    Exact,
    /// Blocks of 16 tokens, windows apart (vLLM).
    Paged,
    /// Blocks of 16 tokens, windows charged as full layers.
    PagedUnified,
    /// All cells up front, padded to 256 (llama.cpp).
    UpFront,
}

impl CacheArgs {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<(), CostCommandError> {
        let configuration = self.configuration()?;
        let report = ConfigurationReport::new(&configuration)?;
        let mut breakdown = Breakdown::new();
        let uniform = configuration.uniform_cache().map(|inputs| CacheReport::new(&inputs)).transpose()?;
        if let Some(uniform) = &uniform {
            breakdown.rows.extend(uniform.quantities().into_iter().cloned());
        }
        let memory = report.summary.rows.iter().filter(|row| row.unit == Unit::Bytes);
        breakdown.rows.extend(memory.cloned());
        let longest = match self.budget {
            Some(budget) => Some(configuration.plan()?.largest_context(budget, configuration.sequences)?),
            None => None,
        };
        let sharing = uniform.map(|uniform| uniform.sharing).unwrap_or_default();
        match self.format {
            Format::Text => {
                writeln!(out, "{}", title(&configuration))?;
                write!(out, "{}", breakdown.text())?;
                write!(out, "{}{}", HeadSharing::table(&sharing), GroupReport::memory_text(&report.groups))?;
                write_longest(out, longest, self.budget)
            }
            Format::Csv => Ok(write!(out, "{}", breakdown.csv())?),
            Format::Latex => Ok(write!(out, "{}", breakdown.latex())?),
            Format::Json => {
                let object = json!({
                    "name": configuration.name,
                    "tokens": configuration.tokens,
                    "sequences": configuration.sequences,
                    "quantities": breakdown.to_json(),
                    "sharing": sharing.iter().map(HeadSharing::to_json).collect::<Vec<_>>(),
                    "groups": report.groups.iter().map(GroupReport::to_json).collect::<Vec<_>>(),
                    "largest_context": longest.map(LargestContext::to_json),
                });
                write_json(out, &object)
            }
        }
    }

    fn configuration(&self) -> Result<Configuration, CostCommandError> {
        let mut configuration = self.model.configuration()?;
        let Configuration { types, tokens, sequences, engine, .. } = &mut configuration;
        if let Some(storage) = self.storage {
            *types = RowTypes::both(storage);
        }
        types.keys = self.key_type.unwrap_or(types.keys);
        types.values = self.value_type.unwrap_or(types.values);
        *tokens = self.tokens.unwrap_or(*tokens);
        *sequences = self.sequences.unwrap_or(*sequences);
        *engine = self.engine.rule(*engine, self.model.config.is_some());
        match self.devices {
            1 => Ok(configuration),
            devices => Ok(configuration.share_of(devices)?),
        }
    }
}

impl EngineName {
    /// The rule of this name. A configuration from a file keeps its own where none is asked for.
    fn rule(self, own: Engine, is_from_file: bool) -> Engine {
        let paged = |windows_apart| Engine::Paged { block_size: 16, batched_tokens: 8192, windows_apart };
        match self {
            Self::Exact if is_from_file => own,
            Self::Exact => Engine::Exact,
            Self::Paged => paged(true),
            Self::PagedUnified => paged(false),
            Self::UpFront => Engine::UpFront { micro_batch: 512, unified: false, full_windows: false },
        }
    }
}

fn write_longest(
    out: &mut dyn Write,
    longest: Option<LargestContext>,
    budget: Option<Bytes>,
) -> Result<(), CostCommandError> {
    let budget = budget.map(Bytes::exact).unwrap_or_default();
    match longest {
        None => Ok(()),
        Some(LargestContext::Unbounded) => Ok(writeln!(out, "\nlargest context within {budget}: any")?),
        Some(LargestContext::Tokens(tokens)) => {
            let tokens = Unit::Tokens.exact(u128::from(tokens));
            Ok(writeln!(out, "\nlargest context within {budget}: {tokens}")?)
        }
    }
}

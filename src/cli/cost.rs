//! `qkv cost`: the calculators as text and JSON.

use std::io::Write;
use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::cost::{
    Breakdown, Bytes, CacheInputs, CacheReport, ComplexityInputs, ComplexityReport, Configuration,
    ConfigurationReport, CostError, Engine, GroupReport, GrowthRow, HeadSharing, LargestContext, LayerGroup,
    LayerKind, RowTypes, SoftmaxCount, StorageType, Unit, grouped, growth, preset, search_presets,
};

/// What attention costs: exact counts with the formulas behind them.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    calculator: Calculator,
}

#[derive(Subcommand, Debug)]
enum Calculator {
    /// The memory of a key/value cache.
    Cache(CacheArgs),
    /// The arithmetic of attention, its parameters and its score memory.
    Complexity(ComplexityArgs),
    /// Published models by id.
    Presets(PresetArgs),
}

#[derive(clap::Args, Debug)]
struct CacheArgs {
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

#[derive(clap::Args, Debug)]
struct ComplexityArgs {
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

#[derive(clap::Args, Debug)]
struct PresetArgs {
    /// Words to look for.
    words: Vec<String>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Sizes of a model: a preset, a file, or numbers.
#[derive(clap::Args, Debug)]
struct ModelArgs {
    /// A published model, such as llama-3.1-8b; `qkv cost presets` lists them.
    #[arg(long, value_name = "ID", conflicts_with_all = ["config", "layers", "heads", "kv_heads", "head_width", "value_width", "d_model"])]
    preset: Option<String>,
    /// A configuration saved as RON.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["layers", "heads", "kv_heads", "head_width", "value_width", "d_model"])]
    config: Option<PathBuf>,
    /// Layers.
    #[arg(long)]
    layers: Option<u64>,
    /// Query heads.
    #[arg(long)]
    heads: Option<u64>,
    /// KV heads; as many as query heads where left out.
    #[arg(long)]
    kv_heads: Option<u64>,
    /// Key width of one head. It is not derived from the model width.
    #[arg(long)]
    head_width: Option<u64>,
    /// Value width of one head; the key width where left out.
    #[arg(long)]
    value_width: Option<u64>,
    /// Width of the model; without it nothing is projected.
    #[arg(long)]
    d_model: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line for each figure.
    Text,
    /// One object, integers with every digit.
    Json,
    /// One row for each figure.
    Csv,
    /// One line of mathematics for each figure.
    Latex,
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

/// What can go wrong on the command line.
#[derive(Debug, thiserror::Error)]
pub enum CostCommandError {
    /// The sizes have no cost.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// The configuration file does not read.
    #[error("{path}:{line}:{column}: {message}")]
    File {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// The configuration file cannot be opened.
    #[error("the configuration cannot be read: {source}: {path}")]
    Open {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A softmax entry counted in a way that no source does.
    #[error("a softmax entry counts as 0, 1, 3 or 5 operations, not {found}")]
    Softmax {
        /// What was asked for.
        found: u64,
    },
    /// The output cannot be written.
    #[error("the result cannot be written: {0}")]
    Write(#[from] std::io::Error),
}

impl Args {
    /// Computes and writes to `out`.
    ///
    /// # Errors
    /// [`CostCommandError`] as one sentence.
    pub fn run(&self, out: &mut dyn Write) -> Result<(), CostCommandError> {
        match &self.calculator {
            Calculator::Cache(args) => args.run(out),
            Calculator::Complexity(args) => args.run(out),
            Calculator::Presets(args) => args.run(out),
        }
    }
}

impl CacheArgs {
    fn run(&self, out: &mut dyn Write) -> Result<(), CostCommandError> {
        let configuration = self.configuration()?;
        let report = ConfigurationReport::new(&configuration)?;
        let mut breakdown = Breakdown::new();
        let uniform = uniform_cache(&configuration).map(|inputs| CacheReport::new(&inputs)).transpose()?;
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

impl ModelArgs {
    fn configuration(&self) -> Result<Configuration, CostCommandError> {
        if let Some(id) = &self.preset {
            return Ok(preset(id)?.configuration()?);
        }
        if let Some(path) = &self.config {
            return read_configuration(path);
        }
        let (heads, d_k) = (self.heads.or(self.kv_heads).unwrap_or(1), self.head_width.unwrap_or(64));
        let sizes = CacheInputs {
            layers: self.layers.unwrap_or(1),
            heads,
            kv_heads: self.kv_heads.unwrap_or(heads),
            d_k,
            d_v: self.value_width.unwrap_or(d_k),
            tokens: 1,
            ..CacheInputs::default()
        };
        Ok(Configuration::uniform("these sizes", &sizes, self.d_model))
    }
}

fn read_configuration(path: &std::path::Path) -> Result<Configuration, CostCommandError> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| CostCommandError::Open { path: shown.clone(), source })?;
    Configuration::from_ron(&text).map_err(|error| match error {
        CostError::Configuration { message, line, column } => {
            CostCommandError::File { path: shown, line, column, message }
        }
        other => CostCommandError::Cost(other),
    })
}

impl ComplexityArgs {
    fn run(&self, out: &mut dyn Write) -> Result<(), CostCommandError> {
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

impl PresetArgs {
    fn run(&self, out: &mut dyn Write) -> Result<(), CostCommandError> {
        let found = search_presets(&self.words.join(" "));
        if self.format == Format::Json {
            let list: Vec<Value> = found
                .iter()
                .map(|preset| json!({ "id": preset.id, "name": preset.name, "kind": preset.attention_kind, "source": preset.source, "notes": preset.notes }))
                .collect();
            return write_json(out, &Value::Array(list));
        }
        for preset in found {
            writeln!(out, "{:<18} {:<26} {}", preset.id, preset.name, preset.attention_kind)?;
        }
        Ok(())
    }
}

/// The one-formula cache of a model with a single group of full layers.
fn uniform_cache(configuration: &Configuration) -> Option<CacheInputs> {
    let [LayerGroup { layers, kind: LayerKind::Full(shape) }] = configuration.groups.as_slice() else {
        return None;
    };
    Some(CacheInputs {
        layers: *layers,
        heads: configuration.heads,
        kv_heads: shape.kv_heads,
        d_k: shape.d_k,
        d_v: shape.d_v,
        k_type: configuration.types.keys,
        v_type: configuration.types.values,
        tokens: configuration.tokens,
        sequences: configuration.sequences,
    })
}

fn title(configuration: &Configuration) -> String {
    let Configuration { name, tokens, sequences, .. } = configuration;
    let tokens = Unit::Tokens.exact(u128::from(*tokens));
    match sequences {
        1 => format!("{name}: one sequence of {tokens}"),
        sequences => format!("{name}: {} sequences of {tokens} each", grouped(u128::from(*sequences))),
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

fn write_json(out: &mut dyn Write, value: &Value) -> Result<(), CostCommandError> {
    Ok(writeln!(out, "{value:#}")?)
}

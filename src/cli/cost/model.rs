//! The model that a calculator is asked about: a preset, a file, or numbers.

use std::path::{Path, PathBuf};

use super::CostCommandError;
use crate::cost::{CacheInputs, Configuration, CostError, preset};

/// Sizes of a model: a preset, a file, or numbers.
#[derive(clap::Args, Debug)]
pub(super) struct ModelArgs {
    /// A published model, such as llama-3.1-8b; `qkv cost presets` lists them.
    #[arg(long, value_name = "ID", conflicts_with_all = ["config", "layers", "heads", "kv_heads", "head_width", "value_width", "d_model"])]
    pub(super) preset: Option<String>,
    /// A configuration saved as RON.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["layers", "heads", "kv_heads", "head_width", "value_width", "d_model"])]
    pub(super) config: Option<PathBuf>,
    /// Layers.
    #[arg(long)]
    pub(super) layers: Option<u64>,
    /// Query heads.
    #[arg(long)]
    pub(super) heads: Option<u64>,
    /// KV heads; as many as query heads where left out.
    #[arg(long)]
    pub(super) kv_heads: Option<u64>,
    /// Key width of one head. It is not derived from the model width.
    #[arg(long)]
    pub(super) head_width: Option<u64>,
    /// Value width of one head; the key width where left out.
    #[arg(long)]
    pub(super) value_width: Option<u64>,
    /// Width of the model; without it nothing is projected.
    #[arg(long)]
    pub(super) d_model: Option<u64>,
}

impl ModelArgs {
    pub(super) fn configuration(&self) -> Result<Configuration, CostCommandError> {
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

fn read_configuration(path: &Path) -> Result<Configuration, CostCommandError> {
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

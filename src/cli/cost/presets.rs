//! `qkv cost presets`: published models by id.

use std::io::Write;

use serde_json::{Value, json};

use super::{CostCommandError, Format, write_json};
use crate::cost::search_presets;

#[derive(clap::Args, Debug)]
pub(super) struct PresetArgs {
    /// Words to look for.
    words: Vec<String>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl PresetArgs {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<(), CostCommandError> {
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

//! A model, a length and an engine as one thing that can be saved, compared and reported on.

use serde::{Deserialize, Serialize};

use super::error::{check_heads, positive};
use super::{
    CacheInputs, CachePlan, CostError, Engine, Field, KvShape, LayerGroup, LayerKind, RowTypes, StorageType,
};

/// A model's layers, the length it runs at, and how its cache is stored and set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// A name to tell it from others.
    pub name: String,
    /// Query heads of every layer.
    pub heads: u64,
    /// Width of the model.
    pub d_model: u64,
    /// Layers that cache alike.
    pub groups: Vec<LayerGroup>,
    /// How rows are stored.
    pub types: RowTypes,
    /// Tokens in each sequence.
    pub tokens: u64,
    /// Sequences at the same time.
    pub sequences: u64,
    /// The longest context the model was made for.
    pub max_context: Option<u64>,
    /// Whose rule for setting memory aside.
    pub engine: Engine,
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            name: String::from("My model"),
            heads: 32,
            d_model: 4096,
            groups: vec![LayerGroup::new(32, LayerKind::Full(KvShape::square(8, 128)))],
            types: RowTypes::both(StorageType::f16),
            tokens: 8000,
            sequences: 1,
            max_context: None,
            engine: Engine::Exact,
        }
    }
}

impl Configuration {
    /// Refuses heads that do not divide and groups that describe no layer.
    pub fn check(&self) -> Result<(), CostError> {
        positive(Field::ModelWidth, self.d_model)?;
        positive(Field::QueryHeads, self.heads)?;
        for group in &self.groups {
            group.check()?;
            let kind = match &group.kind {
                LayerKind::Shared { reads: Some(kind) } => kind,
                kind => kind,
            };
            if let Some(shape) = kind.shape() {
                check_heads(self.heads, shape.kv_heads)?;
            }
        }
        Ok(())
    }

    /// A model whose layers are all alike, such as the one on the board. Without a model width it is taken to be as wide as
    /// its heads together.
    pub fn uniform(name: &str, sizes: &CacheInputs, d_model: Option<u64>) -> Self {
        let CacheInputs { layers, heads, kv_heads, d_k, d_v, k_type, v_type, tokens, sequences } = *sizes;
        let kind = LayerKind::Full(KvShape { kv_heads, d_k, d_v });
        Self {
            name: name.to_owned(),
            heads,
            d_model: d_model.unwrap_or(heads.saturating_mul(d_k)),
            groups: vec![LayerGroup::new(layers, kind)],
            types: RowTypes { keys: k_type, values: v_type, windowed: None },
            tokens,
            sequences,
            ..Self::default()
        }
    }

    /// The one-formula cache of a model with a single group of full layers; `None` where there is no single formula.
    pub fn uniform_cache(&self) -> Option<CacheInputs> {
        let [LayerGroup { layers, kind: LayerKind::Full(shape) }] = self.groups.as_slice() else {
            return None;
        };
        Some(CacheInputs {
            layers: *layers,
            heads: self.heads,
            kv_heads: shape.kv_heads,
            d_k: shape.d_k,
            d_v: shape.d_v,
            k_type: self.types.keys,
            v_type: self.types.values,
            tokens: self.tokens,
            sequences: self.sequences,
        })
    }

    /// What one of `devices` holds when heads are spread over them: its query heads and its KV heads (one each, copied,
    /// where there are fewer KV heads than devices). Latent rows have no heads and stay whole on every device; a recurrent
    /// state is split evenly.
    ///
    /// # Errors
    /// [`CostError::DevicesMustDivideHeads`] or [`CostError::DevicesMustDivideKvHeads`] where they do not spread evenly.
    pub fn share_of(&self, devices: u64) -> Result<Self, CostError> {
        self.check()?;
        positive(Field::Devices, devices)?;
        if !self.heads.is_multiple_of(devices) {
            return Err(CostError::DevicesMustDivideHeads { heads: self.heads, devices });
        }
        let share = |group: &LayerGroup| {
            let mut kind = group.kind.clone();
            kind.spread(devices)?;
            Ok(LayerGroup::new(group.layers, kind))
        };
        let groups = self.groups.iter().map(share).collect::<Result<_, CostError>>()?;
        Ok(Self { heads: self.heads / devices, groups, ..self.clone() })
    }

    /// The cache of its layers at any length.
    pub fn plan(&self) -> Result<CachePlan, CostError> {
        self.check()?;
        CachePlan::new(&self.groups, self.types)
    }

    /// As text to save, with every field written out.
    pub fn to_ron(&self) -> Result<String, CostError> {
        let pretty = ron::ser::PrettyConfig::new().struct_names(true).depth_limit(4);
        options().to_string_pretty(self, pretty).map_err(|error| CostError::Configuration {
            message: error.to_string(),
            line: 0,
            column: 0,
        })
    }

    /// From text. Fields left out take their defaults; an unknown field is refused with its place.
    pub fn from_ron(text: &str) -> Result<Self, CostError> {
        let configuration: Self = options().from_str(text).map_err(|error| CostError::Configuration {
            message: error.code.to_string(),
            line: error.span.start.line,
            column: error.span.start.col,
        })?;
        configuration.check()?;
        Ok(configuration)
    }
}

fn options() -> ron::Options {
    use ron::extensions::Extensions;
    ron::Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::presets;

    #[test]
    fn every_preset_survives_being_saved_and_read_again() {
        for preset in presets() {
            let configuration = preset.configuration().unwrap();
            let text = configuration.to_ron().unwrap();
            assert_eq!(Configuration::from_ron(&text).unwrap(), configuration, "{text}");
        }
    }

    #[test]
    fn a_configuration_is_short_to_write_by_hand() {
        let text = r#"Configuration(
            name: "gpt-oss 20B, by hand", heads: 64, d_model: 2880, tokens: 8192, sequences: 32,
            groups: [
                (layers: 12, kind: Window(window: 128, shape: (kv_heads: 8, d_k: 64, d_v: 64))),
                (layers: 12, kind: Full(kv_heads: 8, d_k: 64, d_v: 64)),
            ],
        )"#;
        let plan = Configuration::from_ron(text).unwrap().plan().unwrap();
        assert_eq!(plan.bytes(8192, 32).unwrap().0, 6_543_114_240);
    }

    #[test]
    fn a_misspelt_field_is_refused_with_its_place() {
        let error = Configuration::from_ron("Configuration(\n  heds: 3,\n)").unwrap_err();
        assert!(matches!(&error, CostError::Configuration { line: 2, .. }), "{error}");
        assert!(error.to_string().contains("heds"), "{error}");
    }

    #[test]
    fn devices_share_kv_heads_and_copy_latent_rows() {
        let bytes = |configuration: Configuration| configuration.plan().unwrap().bytes(4096, 1).unwrap().0;
        let share = |id: &str, devices| {
            let whole = crate::cost::preset(id).unwrap().configuration().unwrap();
            let part = whole.share_of(devices).unwrap();
            (bytes(whole), bytes(part))
        };
        let (whole, part) = share("llama-3.1-70b", 4);
        assert_eq!(part * 4, whole);
        // Sixteen devices for eight KV heads: each holds one, twice in all.
        let (whole, part) = share("llama-3.1-70b", 16);
        assert_eq!(part * 8, whole);
        let (whole, part) = share("deepseek-v3", 8);
        assert_eq!(part, whole);
        let error = Configuration::default().share_of(5).unwrap_err();
        assert!(
            error.to_string().contains("32 query heads") && error.to_string().contains("5 devices"),
            "{error}"
        );
    }

    #[test]
    fn heads_that_do_not_divide_are_refused_when_a_file_is_read() {
        let error = Configuration::from_ron("Configuration(heads: 7)").unwrap_err();
        assert_eq!(error.code(), "KvHeadsExceedQHeads");
    }
}

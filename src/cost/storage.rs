//! How a number is stored: values in a block, and bytes of a block with its scales.

use serde::{Deserialize, Serialize};

use super::{CostError, Field, Formula, nearest};

/// A storage type. Block sizes and bytes are those of ggml (`ggml-common.h`); vLLM and FlashMLA for the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant is the name the field uses")]
#[expect(non_camel_case_types, reason = "the names the field uses")]
pub enum StorageType {
    f64,
    f32,
    #[default]
    f16,
    bf16,
    fp8,
    int8,
    q8_0,
    q5_1,
    q5_0,
    q4_1,
    q4_0,
    iq4_nl,
    mxfp4,
    nvfp4,
    /// DeepSeek's latent row: 512 values of one byte, four f32 scales and 64 values of two bytes.
    fp8_ds_mla,
}

impl StorageType {
    /// Every type, widest first.
    pub const ALL: [Self; 15] = [
        Self::f64,
        Self::f32,
        Self::f16,
        Self::bf16,
        Self::fp8,
        Self::int8,
        Self::q8_0,
        Self::q5_1,
        Self::q5_0,
        Self::q4_1,
        Self::q4_0,
        Self::iq4_nl,
        Self::mxfp4,
        Self::nvfp4,
        Self::fp8_ds_mla,
    ];

    /// The name the field uses: `q8_0`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::f64 => "f64",
            Self::f32 => "f32",
            Self::f16 => "f16",
            Self::bf16 => "bf16",
            Self::fp8 => "fp8",
            Self::int8 => "int8",
            Self::q8_0 => "q8_0",
            Self::q5_1 => "q5_1",
            Self::q5_0 => "q5_0",
            Self::q4_1 => "q4_1",
            Self::q4_0 => "q4_0",
            Self::iq4_nl => "iq4_nl",
            Self::mxfp4 => "mxfp4",
            Self::nvfp4 => "nvfp4",
            Self::fp8_ds_mla => "fp8_ds_mla",
        }
    }

    /// The type of this name, in any case; `fp16`, `fp32`, `float32` and the like are understood.
    pub fn named(name: &str) -> Result<Self, CostError> {
        let lower = name.trim().to_ascii_lowercase();
        let usual = match lower.as_str() {
            "fp64" | "float64" | "double" => "f64",
            "fp32" | "float32" | "float" => "f32",
            "fp16" | "float16" | "half" => "f16",
            "bfloat16" => "bf16",
            "fp8_e4m3" | "fp8_e5m2" | "f8" => "fp8",
            "i8" => "int8",
            other => other,
        };
        Self::ALL.into_iter().find(|storage| storage.name() == usual).ok_or_else(|| {
            CostError::UnknownStorageType {
                name: name.to_owned(),
                nearest: nearest(usual, Self::ALL.iter().map(|storage| storage.name())).unwrap_or("f16"),
            }
        })
    }

    /// (values, bytes) of one block.
    pub const fn block(self) -> (u64, u64) {
        match self {
            Self::f64 => (1, 8),
            Self::f32 => (1, 4),
            Self::f16 | Self::bf16 => (1, 2),
            Self::fp8 | Self::int8 => (1, 1),
            Self::q8_0 => (32, 34),
            Self::q5_1 => (32, 24),
            Self::q5_0 => (32, 22),
            Self::q4_1 => (32, 20),
            Self::q4_0 | Self::iq4_nl => (32, 18),
            Self::mxfp4 => (32, 17),
            Self::nvfp4 => (64, 36),
            Self::fp8_ds_mla => (576, 656),
        }
    }

    /// Bits that one value takes, scales included: 8.5 for q8_0.
    pub const fn bits_per_value(self) -> f64 {
        let (values, bytes) = self.block();
        bytes as f64 * 8.0 / values as f64
    }

    /// The bytes of a row of so many values.
    ///
    /// # Errors
    /// [`CostError::NotBlockAligned`] where the row does not fill whole blocks; a real cache would be padded or refused.
    pub fn row_bytes(self, values: u128, field: Field) -> Result<u128, CostError> {
        let (block, bytes) = self.block();
        self.check_row(values, field)?;
        (values / u128::from(block))
            .checked_mul(u128::from(bytes))
            .ok_or(CostError::Overflow { field, bits: 128 })
    }

    /// Bytes of a row, written as a formula: `d · b`, or `d / 32 · 34` where blocks carry scales.
    pub(super) fn row_formula(self, values: Formula, field: Field) -> Formula {
        let (block, bytes) = self.block();
        match block {
            1 => values * field.is(bytes),
            _ => values / Formula::number(block) * field.is(bytes),
        }
    }

    /// Refuses a row that does not fill whole blocks.
    pub(super) fn check_row(self, values: u128, field: Field) -> Result<(), CostError> {
        let (block, _) = self.block();
        match values.is_multiple_of(u128::from(block)) {
            true => Ok(()),
            false => Err(CostError::NotBlockAligned { field, storage: self.name(), values, block }),
        }
    }
}

impl std::fmt::Display for StorageType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for StorageType {
    type Err = CostError;

    fn from_str(name: &str) -> Result<Self, CostError> {
        Self::named(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_scales_are_part_of_the_bits_of_a_value() {
        let bits: Vec<f64> =
            [StorageType::q8_0, StorageType::q5_1, StorageType::q5_0, StorageType::q4_1, StorageType::q4_0]
                .map(StorageType::bits_per_value)
                .to_vec();
        assert_eq!(bits, [8.5, 6.0, 5.5, 5.0, 4.5]);
        assert_eq!(StorageType::mxfp4.bits_per_value(), 4.25);
    }

    #[test]
    fn a_row_that_leaves_a_block_half_empty_is_refused_with_the_block_named() {
        let error = StorageType::q4_0.row_bytes(100, Field::KeyType).unwrap_err();
        assert_eq!(error.code(), "NotBlockAligned");
        assert_eq!(error.field(), Some(Field::KeyType));
        assert!(error.to_string().contains("100 values") && error.to_string().contains("multiple of 32"));
    }

    #[test]
    fn an_unknown_type_is_refused_with_the_nearest_name() {
        let error = StorageType::named("q4_3").unwrap_err();
        assert!(error.to_string().contains("q4_1") || error.to_string().contains("q4_0"), "{error}");
        assert_eq!(StorageType::named("FP16"), Ok(StorageType::f16));
        assert_eq!(StorageType::named("q8_0").map(StorageType::name), Ok("q8_0"));
    }
}

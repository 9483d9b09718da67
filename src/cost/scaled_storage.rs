//! Caches whose scales are kept beside the values, and states that take the place of a cache.

use super::error::positive;
use super::{Breakdown, CostError, Field, Formula, Ratio, Unit};

/// Values of a few bits with one scale (and zero point) for each group, the newest ones left unquantised
/// (KIVI, 2024; Hugging Face's quantised cache).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupScaled {
    /// Quantised values.
    pub values: u64,
    /// Bits of one.
    pub bits: u64,
    /// Values that share a scale.
    pub group_size: u64,
    /// Bytes of a scale.
    pub scale_bytes: u64,
    /// Bytes of a zero point; 0 where there is none.
    pub zero_bytes: u64,
    /// Values left as they are.
    pub residual_values: u64,
    /// Bytes of one of those.
    pub residual_bytes: u64,
}

impl GroupScaled {
    /// Bytes in all.
    ///
    /// # Errors
    /// [`CostError::NotBlockAligned`] where values do not fill whole groups or whole bytes.
    pub fn bytes(&self) -> Result<Breakdown, CostError> {
        positive(Field::Bits, self.bits)?;
        positive(Field::GroupSize, self.group_size)?;
        let misaligned = |block| CostError::NotBlockAligned {
            field: Field::GroupSize,
            storage: "group-scaled storage",
            values: u128::from(self.values),
            block,
        };
        if !self.values.is_multiple_of(self.group_size) {
            return Err(misaligned(self.group_size));
        }
        if !(u128::from(self.values) * u128::from(self.bits)).is_multiple_of(8) {
            return Err(misaligned(8));
        }
        let values = || Formula::named("quantised values", "e", u128::from(self.values));
        let scale = Formula::named("bytes of a scale", "scale", u128::from(self.scale_bytes))
            + Formula::named("bytes of a zero point", "zero", u128::from(self.zero_bytes));
        let residual = Formula::named("unquantised values", "e_res", u128::from(self.residual_values))
            * Formula::named("bytes of one", "b_res", u128::from(self.residual_bytes));
        let mut out = Breakdown::new();
        let packed = values() * Field::Bits.is(self.bits) / Formula::number(8_u64);
        let scales = values() / Field::GroupSize.is(self.group_size) * scale;
        out.push("bytes", "bytes", Unit::Bytes, packed + scales + residual)?;
        Ok(out)
    }

    /// Bits that one value takes on average, scales and unquantised values included.
    pub fn bits_per_value(&self) -> Result<Ratio, CostError> {
        let bits = Formula::number(8_u64) * Formula::number(self.bytes()?.value("bytes"));
        let values = u128::from(self.values) + u128::from(self.residual_values);
        Ratio::new(bits.value()?, values, Field::Tokens)
    }
}

/// One-byte values with an f32 scale for each token, head and tensor (vLLM's `*_per_token_head`).
pub fn scaled_per_token_and_head(
    layers: u64,
    kv_heads: u64,
    head_width: u64,
    tokens: u64,
) -> Result<Breakdown, CostError> {
    positive(Field::Layers, layers)?;
    positive(Field::KvHeads, kv_heads)?;
    positive(Field::HeadWidth, head_width)?;
    let two_heads = || Formula::number(2_u64) * Field::KvHeads.is(kv_heads);
    let row = two_heads() * Field::HeadWidth.is(head_width) + two_heads() * Formula::number(4_u64);
    let mut out = Breakdown::new();
    let total = Field::Layers.is(layers) * Field::Tokens.is(tokens) * row;
    out.push("total_bytes", "bytes", Unit::Bytes, total)?;
    Ok(out)
}

/// The sizes of a gated delta-net layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaNet {
    /// Width of the short convolution.
    pub conv_kernel: u64,
    /// Key heads.
    pub key_heads: u64,
    /// Width of a key head.
    pub d_k: u64,
    /// Value heads.
    pub value_heads: u64,
    /// Width of a value head.
    pub d_v: u64,
}

impl DeltaNet {
    /// Bytes of one layer's state, kept in f32 as llama.cpp does:
    /// [(k_conv − 1)(2·h_k·d_k + h_v·d_v) + h_v·d_k·d_v] · 4.
    pub fn state_bytes(&self) -> Result<Breakdown, CostError> {
        positive(Field::ConvKernel, self.conv_kernel)?;
        let (d_k, d_v) = (|| Field::KeyWidth.is(self.d_k), || Field::ValueWidth.is(self.d_v));
        let value_heads = || Field::LinearValueHeads.is(self.value_heads);
        let channels =
            Formula::number(2_u64) * Field::LinearKeyHeads.is(self.key_heads) * d_k() + value_heads() * d_v();
        let history = (Field::ConvKernel.is(self.conv_kernel) - Formula::number(1_u64)) * channels;
        let state = value_heads() * d_k() * d_v();
        let mut out = Breakdown::new();
        let bytes = (history + state) * Formula::number(4_u64);
        out.push("state_bytes_per_layer", "state per layer", Unit::Bytes, bytes)?;
        Ok(out)
    }
}

//! Figures as JSON: integers with every digit, and a string of digits where 64 bits do not hold them.

use serde_json::{Value, json};

use super::{Breakdown, Factor, GroupReport, GrowthRow, HeadSharing, LargestContext, Quantity};

fn exact(value: u128) -> Value {
    u64::try_from(value).map_or_else(|_| Value::String(value.to_string()), Value::from)
}

impl Factor {
    /// `{"name", "symbol", "value"}`.
    pub fn to_json(&self) -> Value {
        json!({ "name": self.label, "symbol": self.symbol, "value": exact(self.value) })
    }
}

impl Quantity {
    /// `{"id", "label", "value", "unit", "formula", "substituted", "factors"}`.
    pub fn to_json(&self) -> Value {
        let factors = self.formula.factors();
        json!({
            "id": self.id,
            "label": self.label,
            "value": exact(self.value),
            "unit": self.unit.suffix(),
            "formula": self.formula.symbols(),
            "substituted": self.substituted(),
            "factors": factors.into_iter().map(Factor::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Breakdown {
    /// A list of its rows.
    pub fn to_json(&self) -> Value {
        Value::Array(self.rows.iter().map(Quantity::to_json).collect())
    }
}

impl HeadSharing {
    /// One way of sharing KV heads.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "kv_heads": self.kv_heads,
            "heads_per_kv_head": self.heads_per_kv_head,
            "bytes_per_token": exact(self.bytes_per_token.0),
            "bytes_per_sequence": exact(self.bytes_per_sequence.0),
            "bytes_all_sequences": exact(self.bytes_all_sequences.0),
        })
    }
}

impl GroupReport {
    /// One group of layers; `null` for arithmetic that is not counted.
    pub fn to_json(&self) -> Value {
        json!({
            "kind": self.group.kind.name(),
            "layers": self.group.layers,
            "row": self.row.as_ref().map(Quantity::to_json),
            "needed": self.needed.to_json(),
            "prefill": self.prefill.as_ref().map(Breakdown::to_json),
            "decode": self.decode.as_ref().map(Breakdown::to_json),
        })
    }
}

impl GrowthRow {
    /// One length of a growth table.
    pub fn to_json(&self) -> Value {
        json!({
            "tokens": self.tokens,
            "macs": exact(self.macs.0),
            "total_macs": exact(self.total.0),
            "score_bytes": exact(self.score_matrix.0),
            "factor": self.factor,
        })
    }
}

impl LargestContext {
    /// `{"tokens", "unbounded"}`.
    pub fn to_json(self) -> Value {
        match self {
            Self::Tokens(tokens) => json!({ "tokens": tokens, "unbounded": false }),
            Self::Unbounded => json!({ "tokens": null, "unbounded": true }),
        }
    }
}

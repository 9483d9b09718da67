//! What is wrong with an input, and which one.

use super::Field;

/// An input that has no cost. Each names the field it is about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CostError {
    /// A count or width of zero where at least one is needed.
    #[error("the field “{field}” holds 0; it needs at least 1")]
    MustBePositive {
        /// The field that is zero.
        field: Field,
    },
    /// More KV heads than query heads.
    #[error(
        "{kv_heads} KV heads are more than {heads} query heads; each KV head serves at least one query head"
    )]
    KvHeadsExceedQueryHeads {
        /// Query heads.
        heads: u64,
        /// KV heads.
        kv_heads: u64,
    },
    /// Query heads that cannot be shared out evenly.
    #[error(
        "{heads} query heads cannot be shared out over {kv_heads} KV heads; the number of query heads must be a multiple of the number of KV heads"
    )]
    KvHeadsMustDivideQueryHeads {
        /// Query heads.
        heads: u64,
        /// KV heads.
        kv_heads: u64,
    },
    /// A row that does not fill whole blocks of its storage type.
    #[error(
        "a row of {values} values does not fill whole blocks of {block} as {storage} needs; choose a width that is a multiple of {block}, or another storage type"
    )]
    NotBlockAligned {
        /// The field whose type has the blocks.
        field: Field,
        /// The storage type's name.
        storage: &'static str,
        /// Values in the row.
        values: u128,
        /// Values in a block.
        block: u64,
    },
    /// A storage type that is not in the table.
    #[error("no storage type is called {name:?}; did you mean {nearest}?")]
    UnknownStorageType {
        /// What was asked for.
        name: String,
        /// The nearest known name.
        nearest: &'static str,
    },
    /// A preset or hardware row that is not in the table.
    #[error("no {kind} is called {name:?}; did you mean {nearest}?")]
    UnknownName {
        /// What kind of thing was looked for.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest known name.
        nearest: String,
    },
    /// A result that does not fit into 128 bits.
    #[error("the result needs more than {bits} bits; make {field} smaller")]
    Overflow {
        /// The input with the largest value in the formula that overflowed.
        field: Field,
        /// The width of the integer that is too small.
        bits: u32,
    },
    /// More cached or shared tokens than there are.
    #[error(
        "the field “{part_field}” holds {part} and “{whole_field}” allows {whole}; make the first at most as large"
    )]
    PartExceedsWhole {
        /// The smaller field.
        part_field: Field,
        /// Its value.
        part: u64,
        /// The larger field.
        whole_field: Field,
        /// Its value.
        whole: u64,
    },
    /// Fast memory too small for a tile of the head's width.
    #[error(
        "{fast_memory} values of fast memory hold no tile of a head of width {head_width}; it has to hold at least {head_width}"
    )]
    FastMemoryTooSmall {
        /// Values that fit.
        fast_memory: u64,
        /// The head width.
        head_width: u64,
    },
    /// KV heads that cannot be spread over the devices.
    #[error(
        "{kv_heads} KV heads cannot be shared out over {devices} devices; the number of devices must divide the number of KV heads, or exceed it"
    )]
    DevicesMustDivideKvHeads {
        /// KV heads.
        kv_heads: u64,
        /// Devices.
        devices: u64,
    },
    /// Query heads that cannot be spread over the devices.
    #[error(
        "{heads} query heads cannot be shared out over {devices} devices; the number of devices must divide the number of query heads"
    )]
    DevicesMustDivideHeads {
        /// Query heads.
        heads: u64,
        /// Devices.
        devices: u64,
    },
    /// A budget below what the model holds at zero tokens.
    #[error(
        "the cache holds {fixed} bytes before the first token, more than the budget of {budget} bytes; raise the budget or lower the number of sequences"
    )]
    FixedCostExceedsBudget {
        /// Bytes held at zero tokens.
        fixed: u128,
        /// The budget.
        budget: u128,
    },
    /// An amount of memory that does not read.
    #[error("{text:?} is no amount of memory; write digits and a unit, such as 24 GiB or 16 GB")]
    NotAnAmount {
        /// What was written.
        text: String,
    },
    /// A configuration file that does not read.
    #[error("{message} (line {line}, column {column})")]
    Configuration {
        /// What the reader said.
        message: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// More configurations side by side than there is room for.
    #[error(
        "{found} configurations are more than the {limit} that can stand side by side; take one away first"
    )]
    TooMany {
        /// How many were given.
        found: usize,
        /// How many fit.
        limit: usize,
    },
}

impl CostError {
    /// A short stable name for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::MustBePositive { field: Field::QueryHeads | Field::KvHeads } => "HeadsMustBePositive",
            Self::MustBePositive { field: Field::Layers } => "LayersMustBePositive",
            Self::MustBePositive { field: Field::Window } => "WindowMustBePositive",
            Self::MustBePositive { .. } => "MustBePositive",
            Self::KvHeadsExceedQueryHeads { .. } => "KvHeadsExceedQHeads",
            Self::KvHeadsMustDivideQueryHeads { .. } => "KvHeadsMustDivideQHeads",
            Self::NotBlockAligned { .. } => "NotBlockAligned",
            Self::UnknownStorageType { .. } => "UnknownDtype",
            Self::UnknownName { .. } => "UnknownName",
            Self::Overflow { .. } => "Overflow",
            Self::PartExceedsWhole { .. } => "PartExceedsWhole",
            Self::FastMemoryTooSmall { .. } => "SramTooSmall",
            Self::DevicesMustDivideKvHeads { .. } => "TpMustDivideKvHeads",
            Self::DevicesMustDivideHeads { .. } => "TpMustDivideHeads",
            Self::FixedCostExceedsBudget { .. } => "FixedCostExceedsBudget",
            Self::NotAnAmount { .. } => "NotAnAmount",
            Self::Configuration { .. } => "Configuration",
            Self::TooMany { .. } => "TooMany",
        }
    }

    /// The input to point at, where there is a single one.
    pub const fn field(&self) -> Option<Field> {
        match self {
            Self::MustBePositive { field }
            | Self::Overflow { field, .. }
            | Self::NotBlockAligned { field, .. } => Some(*field),
            Self::KvHeadsExceedQueryHeads { .. } | Self::KvHeadsMustDivideQueryHeads { .. } => {
                Some(Field::KvHeads)
            }
            Self::UnknownStorageType { .. } => Some(Field::StorageType),
            Self::PartExceedsWhole { part_field, .. } => Some(*part_field),
            Self::FastMemoryTooSmall { .. } => Some(Field::FastMemory),
            Self::DevicesMustDivideKvHeads { .. } | Self::DevicesMustDivideHeads { .. } => {
                Some(Field::Devices)
            }
            Self::FixedCostExceedsBudget { .. } | Self::NotAnAmount { .. } => Some(Field::Budget),
            Self::UnknownName { .. } | Self::Configuration { .. } | Self::TooMany { .. } => None,
        }
    }
}

/// Refuses zero.
pub(super) const fn positive(field: Field, value: u64) -> Result<(), CostError> {
    if value == 0 { Err(CostError::MustBePositive { field }) } else { Ok(()) }
}

/// Query heads and KV heads have to be positive, and the second has to divide the first.
pub(super) fn check_heads(heads: u64, kv_heads: u64) -> Result<(), CostError> {
    positive(Field::QueryHeads, heads)?;
    positive(Field::KvHeads, kv_heads)?;
    if kv_heads > heads {
        return Err(CostError::KvHeadsExceedQueryHeads { heads, kv_heads });
    }
    if !heads.is_multiple_of(kv_heads) {
        return Err(CostError::KvHeadsMustDivideQueryHeads { heads, kv_heads });
    }
    Ok(())
}

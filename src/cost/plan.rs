//! What a model's cache holds at any length: a few straight lines with a bend, evaluated without formulas so that a
//! plot of thousands of points costs nothing.

use super::{Bytes, CostError, Field, Formula, LayerGroup, LayerKind, RowTypes};

const OVERFLOW: CostError = CostError::Overflow { field: Field::Tokens, bits: 128 };

/// A model's cache, ready to be asked about any number of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachePlan {
    stored: Vec<Line>,
    read: Vec<Line>,
}

/// `fixed + slope · min(tokens, limit)` bytes for one sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    fixed: u128,
    slope: u128,
    limit: Option<u64>,
}

/// How long a sequence may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargestContext {
    /// At most so many tokens.
    Tokens(u64),
    /// The cache stops growing below the budget.
    Unbounded,
}

impl CachePlan {
    /// Prepares the groups of a model.
    ///
    /// # Errors
    /// [`CostError`] for groups without layers, heads, widths or windows, rows that do not fill whole blocks, and counts
    /// beyond 128 bits.
    pub fn new(groups: &[LayerGroup], types: RowTypes) -> Result<Self, CostError> {
        let stored = groups.iter().map(|group| Line::stored(group.layers, &group.kind, types));
        let read = groups.iter().map(|group| match &group.kind {
            LayerKind::Shared { reads: Some(kind) } => Line::stored(group.layers, kind, types),
            kind => Line::stored(group.layers, kind, types),
        });
        groups.iter().try_for_each(LayerGroup::check)?;
        Ok(Self { stored: stored.collect::<Result<_, _>>()?, read: read.collect::<Result<_, _>>()? })
    }

    /// Bytes of all groups for `sequences` sequences of `tokens` tokens.
    pub fn bytes(&self, tokens: u64, sequences: u64) -> Result<Bytes, CostError> {
        total(&self.stored, tokens, sequences)
    }

    /// Bytes of each group, in order.
    pub fn group_bytes(&self, tokens: u64, sequences: u64) -> Result<Vec<Bytes>, CostError> {
        self.stored.iter().map(|line| total(&[*line], tokens, sequences)).collect()
    }

    /// Bytes that one decode step reads. More than is stored where layers share rows: each attending layer reads them.
    pub fn bytes_read(&self, tokens: u64, sequences: u64) -> Result<Bytes, CostError> {
        total(&self.read, tokens, sequences)
    }

    /// Bytes that the next token of one sequence adds when it already has `tokens`.
    pub fn marginal(&self, tokens: u64) -> Result<Bytes, CostError> {
        let growing = self.stored.iter().filter(|line| line.limit.is_none_or(|limit| tokens < limit));
        let sum = growing.map(|line| line.slope).try_fold(0_u128, u128::checked_add);
        sum.map(Bytes).ok_or(OVERFLOW)
    }

    /// Bytes of one sequence before its first token: states and cross-attention.
    pub fn fixed(&self) -> Result<Bytes, CostError> {
        total(&self.stored, 0, 1)
    }

    /// Bytes of one sequence that have stopped growing at `tokens`: states, cross-attention, full windows.
    pub fn saturated(&self, tokens: u64) -> Result<Bytes, CostError> {
        let full: Vec<Line> = self
            .stored
            .iter()
            .filter(|line| line.limit.is_some_and(|limit| tokens >= limit))
            .copied()
            .collect();
        total(&full, tokens, 1)
    }

    /// The most tokens that each of `sequences` sequences may have within a budget. A search, because windowed layers
    /// make the cost bend.
    ///
    /// # Errors
    /// [`CostError::FixedCostExceedsBudget`] where the budget does not even hold the states.
    pub fn largest_context(&self, budget: Bytes, sequences: u64) -> Result<LargestContext, CostError> {
        // Beyond 128 bits is certainly beyond the budget.
        let fits = |tokens: u64| self.bytes(tokens, sequences).is_ok_and(|bytes| bytes <= budget);
        if !fits(0) {
            let fixed = self.bytes(0, sequences)?.0;
            return Err(CostError::FixedCostExceedsBudget { fixed, budget: budget.0 });
        }
        if fits(u64::MAX) {
            return Ok(LargestContext::Unbounded);
        }
        let (mut below, mut above) = (0_u64, u64::MAX);
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if fits(middle) { below = middle } else { above = middle }
        }
        Ok(LargestContext::Tokens(below))
    }

    /// The lengths at which a group stops growing, in rising order: where a plot bends.
    pub fn bends(&self) -> Vec<u64> {
        let mut bends: Vec<u64> =
            self.stored.iter().filter_map(|line| line.limit).filter(|limit| *limit > 0).collect();
        bends.sort_unstable();
        bends.dedup();
        bends
    }
}

impl Line {
    fn stored(layers: u64, kind: &LayerKind, types: RowTypes) -> Result<Self, CostError> {
        kind.check()?;
        let row = kind.row_formula(types)?.map_or(Ok(0), |row| row.value())?;
        let layers = Field::Layers.is(layers);
        let slope = (layers.clone() * Formula::named("row", "row", row)).value()?;
        Ok(match kind {
            LayerKind::Static { source_tokens, .. } => {
                let fixed =
                    (Formula::named("row", "row", slope) * Field::SourceTokens.is(*source_tokens)).value()?;
                Self { fixed, slope: 0, limit: Some(0) }
            }
            LayerKind::Linear { state_bytes } => Self {
                fixed: (layers * Field::StateBytes.is(*state_bytes)).value()?,
                slope: 0,
                limit: Some(0),
            },
            _ => Self { fixed: 0, slope, limit: kind.limit() },
        })
    }

    fn bytes(self, tokens: u64) -> Option<u128> {
        let held = self.limit.map_or(tokens, |limit| tokens.min(limit));
        self.slope.checked_mul(u128::from(held))?.checked_add(self.fixed)
    }
}

fn total(lines: &[Line], tokens: u64, sequences: u64) -> Result<Bytes, CostError> {
    let one = lines.iter().try_fold(0_u128, |sum, line| sum.checked_add(line.bytes(tokens)?));
    one.and_then(|bytes| bytes.checked_mul(u128::from(sequences))).map(Bytes).ok_or(OVERFLOW)
}

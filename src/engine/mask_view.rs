//! The layers of a mask, asked about one pair at a time.

use super::{Convention, Corner, MaskRule};

/// The mask of one query head: every layer together, for `n_q` queries and `n_k` keys.
///
/// Query i stands at position i + `position_offset`, key j at position j. A pair is visible when every layer allows it.
/// A pair outside the shape that a layer was given for is blocked by that layer (what a layer does not mention, it does
/// not allow); [`MaskRule::check_shape`] refuses such layers beforehand.
#[derive(Clone, Debug)]
pub struct MaskView<'a> {
    rules: &'a [MaskRule],
    n_q: usize,
    n_k: usize,
    position_offset: i64,
    query_head: usize,
    /// Keys before this one are opened through every `Causal` layer.
    n_prefix: usize,
    /// Positions that every `Global` layer together opens, sorted.
    global: Vec<usize>,
}

impl<'a> MaskView<'a> {
    /// The layers `rules` as query head `query_head` sees them.
    pub fn new(
        rules: &'a [MaskRule],
        n_q: usize,
        n_k: usize,
        position_offset: i64,
        query_head: usize,
    ) -> Self {
        let mut n_prefix = 0;
        let mut global = Vec::new();
        for rule in rules {
            match rule {
                MaskRule::Prefix(n) => n_prefix = n_prefix.max(*n),
                MaskRule::Global(positions) => global.extend_from_slice(positions),
                _ => {}
            }
        }
        global.sort_unstable();
        Self { rules, n_q, n_k, position_offset, query_head, n_prefix, global }
    }

    /// The position at which query `query` stands.
    pub fn query_position(&self, query: usize) -> i64 {
        to_i64(query).saturating_add(self.position_offset)
    }

    /// Whether query `query` may see key `key`.
    pub fn allows(&self, query: usize, key: usize) -> bool {
        self.blocked_by(query, key).is_none()
    }

    /// The index of the first layer that hides `key` from `query`.
    pub fn blocked_by(&self, query: usize, key: usize) -> Option<usize> {
        self.rules.iter().position(|rule| self.blocks(rule, query, key))
    }

    /// What the additive layers add to the scaled score of this pair: 0 without such layers, −∞ where one of them blocks.
    ///
    /// Layers that only say yes or no add nothing.
    pub fn bias(&self, query: usize, key: usize) -> f64 {
        let biases = (0..self.rules.len()).filter_map(|layer| self.layer_bias(layer, query, key));
        biases.fold(0.0, |sum, bias| {
            if is_minus_infinity(sum) || is_minus_infinity(bias) { f64::NEG_INFINITY } else { sum + bias }
        })
    }

    /// What layer `layer` adds to this pair; `None` for a layer that only says yes or no.
    pub fn layer_bias(&self, layer: usize, query: usize, key: usize) -> Option<f64> {
        let matrix = match self.rules.get(layer)? {
            MaskRule::Additive(matrix) => matrix,
            MaskRule::AdditivePerHead(heads) => match heads.get(self.query_head) {
                Some(matrix) => matrix,
                None => return Some(f64::NEG_INFINITY),
            },
            _ => return None,
        };
        let inside = query < matrix.rows() && key < matrix.cols();
        Some(if inside { matrix.get(query, key) } else { f64::NEG_INFINITY })
    }

    /// Whether any layer adds numbers to the scores.
    pub(super) fn has_bias(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule, MaskRule::Additive(_) | MaskRule::AdditivePerHead(_)))
    }

    fn blocks(&self, rule: &MaskRule, query: usize, key: usize) -> bool {
        match rule {
            MaskRule::Causal(corner) => {
                key >= self.n_prefix && to_i64(key) > self.last_visible(*corner, query)
            }
            MaskRule::ValidKeys(n_valid) => key >= *n_valid,
            MaskRule::PaddedKeys(padding) => padding.get(key).copied().unwrap_or(true),
            MaskRule::Window { left, right } => {
                !self.is_global(query, key) && self.outside_window(*left, *right, query, key)
            }
            MaskRule::Documents(documents) => {
                let own = usize::try_from(self.query_position(query)).ok().and_then(|at| documents.get(at));
                own.is_none() || own != documents.get(key)
            }
            // These two open what others block; they block nothing themselves.
            MaskRule::Prefix(_) | MaskRule::Global(_) => false,
            MaskRule::Strided(stride) => {
                !self.is_global(query, key) && !on_stride(*stride, self.query_position(query), key)
            }
            MaskRule::Matrix { convention, rows } => !allowed(*convention, rows, query, key),
            MaskRule::MatrixPerHead { convention, heads } => {
                !heads.get(self.query_head).is_some_and(|rows| allowed(*convention, rows, query, key))
            }
            MaskRule::Additive(matrix) => adds_minus_infinity(matrix, query, key),
            MaskRule::AdditivePerHead(heads) => {
                heads.get(self.query_head).is_none_or(|matrix| adds_minus_infinity(matrix, query, key))
            }
        }
    }

    /// The last key that a causal layer lets `query` see.
    pub(super) fn last_visible(&self, corner: Corner, query: usize) -> i64 {
        match corner {
            Corner::TopLeft => self.query_position(query),
            Corner::BottomRight => {
                to_i64(query).saturating_add(to_i64(self.n_k)).saturating_sub(to_i64(self.n_q))
            }
        }
    }

    fn outside_window(&self, left: Option<usize>, right: Option<usize>, query: usize, key: usize) -> bool {
        let ahead = to_i64(key).saturating_sub(self.query_position(query)); // negative: the key is before the query
        let too_early = left.is_some_and(|left| ahead < -to_i64(left));
        let too_late = right.is_some_and(|right| ahead > to_i64(right));
        too_early || too_late
    }

    fn is_global(&self, query: usize, key: usize) -> bool {
        let query_is_global = usize::try_from(self.query_position(query))
            .is_ok_and(|position| self.global.binary_search(&position).is_ok());
        query_is_global || self.global.binary_search(&key).is_ok()
    }
}

/// Counts are far below 2⁶³; a larger one behaves as the largest position.
fn to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Whether the distance is a multiple of the stride. The only multiple of 0 is 0.
fn on_stride(stride: usize, query_position: i64, key: usize) -> bool {
    let distance = query_position.saturating_sub(to_i64(key));
    if stride == 0 { distance == 0 } else { distance % to_i64(stride) == 0 }
}

fn allowed(convention: Convention, rows: &[Vec<bool>], query: usize, key: usize) -> bool {
    let entry = rows.get(query).and_then(|row| row.get(key)).copied();
    match convention {
        Convention::TrueAllows => entry == Some(true),
        Convention::TrueBlocks => entry == Some(false),
    }
}

fn adds_minus_infinity(matrix: &super::Matrix, query: usize, key: usize) -> bool {
    let inside = query < matrix.rows() && key < matrix.cols();
    !inside || is_minus_infinity(matrix.get(query, key))
}

fn is_minus_infinity(value: f64) -> bool {
    value == f64::NEG_INFINITY
}

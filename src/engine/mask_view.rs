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
            MaskRule::Alibi(slopes) => {
                let slope = slopes.get(self.query_head);
                return Some(slope.map_or(f64::NEG_INFINITY, |slope| self.linear_bias(*slope, query, key)));
            }
            _ => return None,
        };
        let inside = query < matrix.rows() && key < matrix.cols();
        Some(if inside { matrix.get(query, key) } else { f64::NEG_INFINITY })
    }

    /// How many layers there are.
    pub(super) fn n_layers(&self) -> usize {
        self.rules.len()
    }

    /// The layers themselves.
    pub(super) fn rules(&self) -> &[MaskRule] {
        self.rules
    }

    /// How many keys there are.
    pub(super) fn n_k(&self) -> usize {
        self.n_k
    }

    /// How many keys every `Causal` layer lets through from the left.
    pub(super) fn n_prefix(&self) -> usize {
        self.n_prefix
    }

    /// Whether no position is opened through windows and strides.
    pub(super) fn has_no_global(&self) -> bool {
        self.global.is_empty()
    }

    /// Whether any layer adds numbers to the scores.
    pub(super) fn has_bias(&self) -> bool {
        let adds = |rule: &MaskRule| {
            matches!(rule, MaskRule::Additive(_) | MaskRule::AdditivePerHead(_) | MaskRule::Alibi(_))
        };
        self.rules.iter().any(adds)
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
            MaskRule::Alibi(slopes) => self.query_head >= slopes.len(),
        }
    }

    /// slope · (key position − query position): nothing for the query's own position, the more the further back.
    fn linear_bias(&self, slope: f64, query: usize, key: usize) -> f64 {
        slope * (key as f64 - self.query_position(query) as f64) + 0.0
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
pub(super) fn to_i64(count: usize) -> i64 {
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

#[cfg(test)]
mod tests {
    use super::super::Matrix;
    use super::*;

    /// Which pairs are visible, a row of `#` and `.` per query.
    fn picture(rules: &[MaskRule], n_q: usize, n_k: usize, position_offset: i64) -> Vec<String> {
        let view = MaskView::new(rules, n_q, n_k, position_offset, 0);
        let mark = |query, key| if view.allows(query, key) { '#' } else { '.' };
        (0..n_q).map(|query| (0..n_k).map(|key| mark(query, key)).collect()).collect()
    }

    #[test]
    fn the_offset_moves_the_top_left_corner_and_not_the_bottom_right_one() {
        let top_left = [MaskRule::Causal(Corner::TopLeft)];
        assert_eq!(picture(&top_left, 2, 4, 0), ["#...", "##.."]);
        assert_eq!(picture(&top_left, 2, 4, 2), ["###.", "####"]);
        assert_eq!(picture(&top_left, 2, 4, -1), ["....", "#..."]);
        let bottom_right = [MaskRule::Causal(Corner::BottomRight)];
        assert_eq!(picture(&bottom_right, 2, 4, 0), ["###.", "####"]);
        assert_eq!(picture(&bottom_right, 2, 4, -5), ["###.", "####"]);
    }

    #[test]
    fn a_window_counts_keys_besides_the_token_itself_from_where_the_query_stands() {
        let window = [MaskRule::Window { left: Some(1), right: Some(0) }];
        assert_eq!(picture(&window, 3, 5, 0), ["#....", "##...", ".##.."]);
        assert_eq!(picture(&window, 2, 5, 3), ["..##.", "...##"]);
        let left_open = [MaskRule::Window { left: None, right: Some(1) }];
        assert_eq!(picture(&left_open, 2, 4, 0), ["##..", "###."]);
    }

    #[test]
    fn a_prefix_opens_causal_and_nothing_else() {
        let causal = MaskRule::Causal(Corner::TopLeft);
        assert_eq!(picture(&[MaskRule::Prefix(2), causal.clone()], 3, 4, 0), ["##..", "##..", "###."]);
        let padded = MaskRule::PaddedKeys(vec![true, false, false, false]);
        assert_eq!(picture(&[MaskRule::Prefix(2), causal, padded], 2, 4, 0), [".#..", ".#.."]);
    }

    #[test]
    fn global_positions_open_windows_and_strides_and_nothing_else() {
        let global = MaskRule::Global(vec![1]);
        let window = MaskRule::Window { left: Some(0), right: Some(0) };
        assert_eq!(picture(&[global.clone(), window.clone()], 4, 4, 0), ["##..", "####", ".##.", ".#.#"]);
        let strided = MaskRule::Strided(2);
        assert_eq!(picture(&[strided, global.clone()], 4, 4, 0), ["###.", "####", "###.", ".#.#"]);
        let causal = MaskRule::Causal(Corner::TopLeft);
        assert_eq!(picture(&[global, window, causal], 4, 4, 0), ["#...", "##..", ".##.", ".#.#"]);
    }

    #[test]
    fn a_query_beyond_the_document_list_belongs_to_no_document() {
        let documents = [MaskRule::Documents(vec![0, 1, 1])];
        assert_eq!(picture(&documents, 3, 3, 0), ["#..", ".##", ".##"]);
        assert_eq!(picture(&documents, 3, 3, 1), [".##", ".##", "..."]);
        assert_eq!(picture(&documents, 2, 3, -1), ["...", "#.."]);
    }

    #[test]
    fn biases_add_up_and_minus_infinity_blocks_by_its_own_layer() {
        let bias =
            |value| MaskRule::Additive(Matrix::from_fn(1, 2, |_, key| if key == 0 { 0.5 } else { value }));
        let rules = [MaskRule::ValidKeys(2), bias(1.5), bias(f64::NEG_INFINITY)];
        let view = MaskView::new(&rules, 1, 2, 0, 0);
        assert_eq!((view.bias(0, 0), view.blocked_by(0, 0)), (1.0, None));
        assert_eq!((view.bias(0, 1), view.blocked_by(0, 1)), (f64::NEG_INFINITY, Some(2)));
        assert_eq!(view.layer_bias(0, 0, 0), None);
        assert_eq!(MaskView::new(&[], 1, 2, 0, 0).bias(0, 1).to_bits(), 0);
    }

    #[test]
    fn linear_biases_are_those_of_the_whole_matrix_and_block_nothing() {
        let slopes = vec![0.5, 0.062_5];
        let rules = [MaskRule::Alibi(slopes.clone())];
        for (head, slope) in slopes.into_iter().enumerate() {
            let view = MaskView::new(&rules, 2, 5, 3, head);
            let whole = super::super::alibi_bias(slope, 2, 5, 3);
            for (query, key) in (0..2).flat_map(|query| (0..5).map(move |key| (query, key))) {
                assert_eq!(view.bias(query, key), whole.get(query, key));
                assert!(view.allows(query, key));
            }
        }
        let beyond = MaskView::new(&rules, 2, 5, 0, 2);
        assert_eq!((beyond.blocked_by(0, 0), beyond.bias(0, 0)), (Some(0), f64::NEG_INFINITY));
    }

    #[test]
    fn masks_may_differ_from_head_to_head() {
        let heads = vec![vec![vec![true, false]], vec![vec![false, true]]];
        let rules = [MaskRule::MatrixPerHead { convention: Convention::TrueBlocks, heads }];
        let visible =
            |head| (0..2).map(|key| MaskView::new(&rules, 1, 2, 0, head).allows(0, key)).collect::<Vec<_>>();
        assert_eq!([0, 1, 2].map(visible), [[false, true], [true, false], [false, false]]);
    }

    #[test]
    fn absurd_sizes_do_not_overflow() {
        let rules = [
            MaskRule::Causal(Corner::BottomRight),
            MaskRule::Window { left: Some(usize::MAX), right: Some(usize::MAX) },
            MaskRule::Strided(usize::MAX),
            MaskRule::Strided(0),
        ];
        for offset in [i64::MIN, i64::MAX] {
            let view = MaskView::new(&rules, usize::MAX, 1, offset, 0);
            assert!(!view.allows(0, 0));
        }
    }
}

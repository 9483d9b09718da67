//! Generating one token at a time: a cache of keys and values, and one new query against all of them.

use std::sync::Arc;

use super::{Attention, AttentionSpec, HeadInput, HeadShapeError, MaskRule, Matrix, ShapeError, attend};

/// The keys and values of every token so far, for one KV head.
///
/// Under a causal mask the key and value of a token do not change when later tokens come, so they are made once and kept; the
/// query is used once and thrown away. With grouped heads, several query heads read one cache.
#[derive(Clone, Debug, PartialEq)]
pub struct KvCache {
    k: Arc<Matrix>,
    v: Arc<Matrix>,
}

impl KvCache {
    /// An empty cache for keys of width `d_k` and values of width `d_v`.
    pub fn new(d_k: usize, d_v: usize) -> Self {
        Self { k: Arc::new(Matrix::zeros(0, d_k)), v: Arc::new(Matrix::zeros(0, d_v)) }
    }

    /// How many tokens are cached.
    pub fn n_tokens(&self) -> usize {
        self.k.rows()
    }

    /// The cached keys. Shape (n_tokens, d_k).
    pub fn k(&self) -> &Matrix {
        &self.k
    }

    /// The cached values. Shape (n_tokens, d_v).
    pub fn v(&self) -> &Matrix {
        &self.v
    }

    /// Adds the key and the value of a new token.
    ///
    /// # Errors
    /// [`ShapeError::Ragged`] when one of them is not as wide as the cache; the cache is then as it was.
    pub fn append(&mut self, k: &[f64], v: &[f64]) -> Result<(), ShapeError> {
        check_width(&self.k, k)?;
        check_width(&self.v, v)?;
        Arc::make_mut(&mut self.k).push_row(k)?;
        Arc::make_mut(&mut self.v).push_row(v)
    }

    /// The newest token's query against everything cached, with every stage; each has one row.
    ///
    /// `spec` is that of the whole sequence: its query 0 stands at `spec.position_offset`, and this query `n_tokens − 1` places
    /// further. Masks and biases given as matrices have a row for every query of the sequence, and the newest token's is used.
    ///
    /// # Errors
    /// [`HeadShapeError`] when the query does not fit the keys or the scorer.
    pub fn attend(
        &self,
        q: &[f64],
        spec: &AttentionSpec,
        query_head: usize,
    ) -> Result<Attention, HeadShapeError> {
        let q = Matrix::from_fn(1, q.len(), |_, feature| q[feature]); // (1, d_q)
        let input = HeadInput { q: Arc::new(q), k: self.k.clone(), v: self.v.clone() };
        input.check(&spec.scoring)?;
        Ok(attend(&input, &step_spec(spec, self.n_tokens().saturating_sub(1)), query_head))
    }
}

/// Every step of decoding a whole sequence with a cache, one row of Q, K and V at a time.
///
/// Under a causal mask, step t is row t of the full pass, digit for digit, over the first t + 1 keys. It is not where a query may
/// look ahead (no causal layer, or a `Prefix` beyond the token itself): what is not there yet cannot be seen.
///
/// # Panics
/// When the shapes of `input` do not fit together; [`HeadInput::check`] says so beforehand.
pub fn decode(input: &HeadInput, spec: &AttentionSpec, query_head: usize) -> Vec<Attention> {
    decode_after(0, input, spec, query_head)
}

/// [`decode`] where the keys and values of the first `n_before` tokens are in the cache already, and query 0 is that of the token
/// after them: step t is one query against n_before + t + 1 keys.
///
/// # Panics
/// When the shapes of `input` do not fit together; [`HeadInput::check`] says so beforehand.
pub fn decode_after(
    n_before: usize,
    input: &HeadInput,
    spec: &AttentionSpec,
    query_head: usize,
) -> Vec<Attention> {
    let HeadInput { q, k, v } = input;
    let n_steps = q.rows().min(k.rows().saturating_sub(n_before));
    let step = |step_idx: usize| {
        let cached = n_before + step_idx + 1;
        let first = |matrix: &Matrix| Arc::new(matrix.row_range(0, cached));
        let q = Arc::new(q.row_range(step_idx, step_idx + 1));
        let input = HeadInput { q, k: first(k), v: first(v) };
        attend(&input, &step_spec(spec, step_idx), query_head)
    };
    (0..n_steps).map(step).collect()
}

/// How far a step of decoding is from the row of the full pass that belongs to the same query: the largest |difference| of a
/// weight (of a key that was not there yet, its whole weight) or of an output. 0 under a causal mask.
///
/// # Panics
/// When `full` has no such query, fewer keys than the step, or another value width.
pub fn difference_from_full_pass(step: &Attention, full: &Attention, query: usize) -> f64 {
    let (n_k, row) = (full.weights.cols(), full.weights.row_range(query, query + 1)); // (1, n_k)
    let n_cached = step.weights.cols();
    let padded =
        Matrix::from_fn(1, n_k, |_, key| if key < n_cached { step.weights.get(0, key) } else { 0.0 });
    let of_weights = padded.largest_difference(&row);
    let of_output = step.output.largest_difference(&full.output.row_range(query, query + 1));
    if of_output > of_weights || of_output.is_nan() { of_output } else { of_weights }
}

/// `spec` as `query`, alone with the newest key, sees it.
fn step_spec(spec: &AttentionSpec, query: usize) -> AttentionSpec {
    let position = i64::try_from(query).unwrap_or(i64::MAX);
    AttentionSpec {
        mask: spec.mask.iter().map(|rule| step_rule(rule, query)).collect(),
        position_offset: spec.position_offset.saturating_add(position),
        ..spec.clone()
    }
}

/// A layer with only the row of `query`; layers that speak of positions hold as they are.
fn step_rule(rule: &MaskRule, query: usize) -> MaskRule {
    let row_of = |rows: &Vec<Vec<bool>>| rows.get(query).cloned().into_iter().collect();
    let matrix_row_of = |matrix: &Matrix| {
        let end = (query + 1).min(matrix.rows());
        matrix.row_range(query.min(end), end)
    };
    match rule {
        MaskRule::Matrix { convention, rows } => {
            MaskRule::Matrix { convention: *convention, rows: row_of(rows) }
        }
        MaskRule::MatrixPerHead { convention, heads } => {
            MaskRule::MatrixPerHead { convention: *convention, heads: heads.iter().map(row_of).collect() }
        }
        MaskRule::Additive(matrix) => MaskRule::Additive(matrix_row_of(matrix)),
        MaskRule::AdditivePerHead(heads) => {
            MaskRule::AdditivePerHead(heads.iter().map(matrix_row_of).collect())
        }
        MaskRule::Causal(_)
        | MaskRule::ValidKeys(_)
        | MaskRule::PaddedKeys(_)
        | MaskRule::Window { .. }
        | MaskRule::Documents(_)
        | MaskRule::Prefix(_)
        | MaskRule::Global(_)
        | MaskRule::Strided(_)
        | MaskRule::Alibi(_) => rule.clone(),
    }
}

fn check_width(matrix: &Matrix, row: &[f64]) -> Result<(), ShapeError> {
    if matrix.cols() == row.len() {
        return Ok(());
    }
    Err(ShapeError::Ragged { row: matrix.rows(), expected: matrix.cols(), found: row.len() })
}

#[cfg(test)]
mod tests {
    use super::super::Corner;
    use super::*;

    #[test]
    fn a_token_that_does_not_fit_is_refused_and_nothing_is_lost() {
        let mut cache = KvCache::new(2, 3);
        cache.append(&[1.0, 2.0], &[1.0, 2.0, 3.0]).unwrap();
        let before = cache.clone();
        let error = cache.append(&[1.0, 2.0], &[1.0]).unwrap_err();
        assert_eq!(error, ShapeError::Ragged { row: 1, expected: 3, found: 1 });
        assert_eq!(cache, before);
        let error = cache.attend(&[1.0], &AttentionSpec::default(), 0).unwrap_err();
        assert_eq!(error, HeadShapeError::Widths { d_q: 1, d_k: 2 });
    }

    #[test]
    fn an_empty_cache_gives_a_query_nothing_to_see() {
        let found = KvCache::new(2, 3).attend(&[1.0, 2.0], &AttentionSpec::default(), 0).unwrap();
        assert_eq!(found.output.row(0), [0.0; 3]);
    }

    #[test]
    fn a_cloned_cache_goes_its_own_way() {
        let mut first = KvCache::new(1, 1);
        first.append(&[1.0], &[1.0]).unwrap();
        let second = first.clone();
        first.append(&[2.0], &[2.0]).unwrap();
        assert_eq!((first.n_tokens(), second.n_tokens()), (2, 1));
        assert_eq!((first.k().row(1), first.v().row(1)), (&[2.0][..], &[2.0][..]));
    }

    #[test]
    fn steps_after_a_prompt_are_the_rows_of_its_bottom_right_pass() {
        let wave = |rows, step: f64| {
            Arc::new(Matrix::from_fn(rows, 2, |row, col| (step * (2 * row + col) as f64).sin()))
        };
        let input = HeadInput { q: wave(3, 0.7), k: wave(5, 1.3), v: wave(5, 0.2) };
        let corner = |corner| vec![MaskRule::Causal(corner)];
        for (mask, position_offset) in [(corner(Corner::BottomRight), 0), (corner(Corner::TopLeft), 2)] {
            let spec = AttentionSpec { mask, position_offset, ..Default::default() };
            let full = attend(&input, &spec, 0);
            let steps = decode_after(2, &input, &spec, 0);
            assert_eq!(steps.iter().map(|step| step.weights.cols()).collect::<Vec<_>>(), [3, 4, 5]);
            for (t, step) in steps.iter().enumerate() {
                assert_eq!(difference_from_full_pass(step, &full, t), 0.0);
            }
        }
        assert!(decode_after(5, &input, &AttentionSpec::default(), 0).is_empty());
    }

    #[test]
    fn a_step_is_its_row_of_the_full_pass_unless_the_query_may_look_ahead() {
        let wave =
            |step: f64| Arc::new(Matrix::from_fn(5, 2, |row, col| (step * (2 * row + col) as f64).sin()));
        let input = HeadInput { q: wave(0.7), k: wave(1.3), v: wave(0.2) };
        let differences = |mask: Vec<MaskRule>| -> Vec<f64> {
            let spec = AttentionSpec { mask, ..Default::default() };
            let full = attend(&input, &spec, 0);
            let steps = decode(&input, &spec, 0);
            steps.iter().enumerate().map(|(t, step)| difference_from_full_pass(step, &full, t)).collect()
        };
        assert_eq!(differences(vec![MaskRule::Causal(Corner::TopLeft)]), [0.0; 5]);
        let open = differences(Vec::new());
        assert!(open[..4].iter().all(|difference| *difference > 0.1), "{open:?}");
        assert_eq!(open[4], 0.0);
    }
}

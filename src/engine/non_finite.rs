//! Where a NaN or an infinity in the output came from.

use super::{
    Attention, AttentionSpec, BlockedBy, HeadInput, MaskView, SoftmaxAxis, blocked_in_force, spec_in_force,
};

/// What made an output row NaN or infinite. All indices count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An entry of Q is not finite.
    Query {
        /// The query: the row of Q. It is another one than the spoilt row only where softmax runs over the queries.
        query: usize,
        /// The column of Q.
        feature: usize,
    },
    /// An entry of a visible key is not finite.
    Key {
        /// The row of K.
        key: usize,
        /// The column of K.
        feature: usize,
    },
    /// A mask layer adds NaN or +∞ to a visible pair.
    Bias {
        /// The index of the layer.
        layer: usize,
        /// The key of the pair.
        key: usize,
    },
    /// Q and K are finite, but the score of a visible pair is not: its products overflow, or the scorer is not finite.
    Score {
        /// The key of the pair.
        key: usize,
    },
    /// Every score is finite, but the naive softmax overflowed, or every exponential vanished.
    Softmax,
    /// An entry of a value that is read is not finite.
    Value {
        /// The row of V.
        key: usize,
        /// The column of V.
        feature: usize,
    },
    /// The weights and values are finite; their sum overflows.
    Output {
        /// The column of the output.
        feature: usize,
    },
}

/// Why the weights or the output of query `query` are not finite: the first cause in the order of computation.
///
/// `None` when they are finite, and for a query that sees nothing, whose NaN is the policy's. Where a mistake is made, what is visible
/// is what it lets through.
///
/// # Panics
/// When `query` is not a row of Q.
pub fn cause_of_non_finite(
    input: &HeadInput,
    spec: &AttentionSpec,
    attention: &Attention,
    query_head: usize,
    query: usize,
) -> Option<Cause> {
    let (weights, output) = (attention.weights.row(query), attention.output.row(query));
    let (n_q, n_k, d_k) = (input.q.rows(), input.k.rows(), input.k.cols());
    let blocked = match spec.fault {
        Some(_) => blocked_in_force(spec, n_q, n_k, d_k, query_head),
        None => attention.blocked_by.clone(),
    };
    let spec = spec_in_force(spec, n_q, n_k, d_k, query_head);
    let visible = Visible { blocked: &blocked, n_k };
    let sees_nothing = (0..n_k).all(|key| !visible.allows(query, key));
    let is_finite = weights.iter().chain(output).all(|value| value.is_finite());
    if is_finite || sees_nothing {
        return None;
    }
    let queries = match spec.softmax.over {
        SoftmaxAxis::Keys => query..query + 1,
        SoftmaxAxis::Queries => 0..input.q.rows(),
    };
    let view = MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, query_head);
    let in_scores =
        queries.into_iter().find_map(|query| cause_in_scores(input, attention, (&view, &visible), query));
    let in_softmax = || weights.iter().any(|weight| !weight.is_finite()).then_some(Cause::Softmax);
    let in_values = || cause_in_values(input, attention, &visible, query);
    let in_sum = || Some(Cause::Output { feature: first_not_finite(output)? });
    in_scores.or_else(in_softmax).or_else(in_values).or_else(in_sum)
}

/// Who sees whom.
struct Visible<'a> {
    blocked: &'a BlockedBy,
    n_k: usize,
}

impl Visible<'_> {
    fn allows(&self, query: usize, key: usize) -> bool {
        self.blocked.get(query * self.n_k + key).is_none()
    }
}

/// The first visible pair of the query whose masked score is NaN or +∞ (−∞ is a score like any other: its weight is 0) or
/// that comes from operands that are not finite.
fn cause_in_scores(
    input: &HeadInput,
    attention: &Attention,
    (view, visible): (&MaskView<'_>, &Visible<'_>),
    query: usize,
) -> Option<Cause> {
    let scores = attention.masked_scores.row(query).iter().enumerate();
    let mut spoilt = scores.filter(|&(key, score)| !score.is_finite() && visible.allows(query, key));
    let (key, _) = spoilt.next()?;
    let in_query = || Some(Cause::Query { query, feature: first_not_finite(input.q.row(query))? });
    let in_key = || Some(Cause::Key { key, feature: first_not_finite(input.k.row(key))? });
    let adds = |layer| view.layer_bias(layer, query, key).is_some_and(|bias| !bias.is_finite());
    let in_bias = || Some(Cause::Bias { layer: (0..view.n_layers()).find(|&layer| adds(layer))?, key });
    in_query().or_else(in_key).or_else(in_bias).or(Some(Cause::Score { key }))
}

fn cause_in_values(
    input: &HeadInput,
    attention: &Attention,
    visible: &Visible<'_>,
    query: usize,
) -> Option<Cause> {
    let is_read = |key: &usize| visible.allows(query, *key) || attention.weights.get(query, *key) != 0.0;
    let cause = |key| Some(Cause::Value { key, feature: first_not_finite(input.v.row(key))? });
    (0..input.v.rows()).filter(is_read).find_map(cause)
}

fn first_not_finite(row: &[f64]) -> Option<usize> {
    row.iter().position(|value| !value.is_finite())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Corner, EmptyRow, MaskRule, Matrix, Scoring, SoftmaxForm, attend};
    use super::*;

    fn input() -> HeadInput {
        let matrix = |step: f64| Arc::new(Matrix::from_fn(3, 2, |row, col| step * (row + 2 * col) as f64));
        HeadInput { q: matrix(0.5), k: matrix(0.25), v: matrix(1.0) }
    }

    fn causes(input: &HeadInput, spec: &AttentionSpec) -> Vec<Option<Cause>> {
        let attention = attend(input, spec, 0);
        (0..input.q.rows()).map(|query| cause_of_non_finite(input, spec, &attention, 0, query)).collect()
    }

    #[test]
    fn a_finite_head_has_no_cause() {
        assert_eq!(causes(&input(), &AttentionSpec::default()), [None; 3]);
    }

    #[test]
    fn nan_in_a_query_is_pointed_at() {
        let mut input = input();
        Arc::make_mut(&mut input.q).set(1, 0, f64::NAN);
        let found = causes(&input, &AttentionSpec::default());
        assert_eq!(found, [None, Some(Cause::Query { query: 1, feature: 0 }), None]);
    }

    #[test]
    fn nan_in_a_key_or_a_value_is_pointed_at_where_it_is_visible() {
        let spec = AttentionSpec { mask: vec![MaskRule::Causal(Corner::TopLeft)], ..Default::default() };
        let mut spoilt = input();
        Arc::make_mut(&mut spoilt.k).set(1, 1, f64::NAN);
        let cause = Some(Cause::Key { key: 1, feature: 1 });
        assert_eq!(causes(&spoilt, &spec), [None, cause, cause]);
        let mut spoilt = input();
        Arc::make_mut(&mut spoilt.v).set(2, 0, f64::INFINITY);
        assert_eq!(causes(&spoilt, &spec), [None, None, Some(Cause::Value { key: 2, feature: 0 })]);
    }

    #[test]
    fn overflow_is_told_from_bad_input() {
        let mut large = input();
        large.q = Arc::new(Matrix::from_fn(3, 2, |_, _| 1e300));
        large.k = Arc::new(Matrix::from_fn(3, 2, |_, _| 1e300));
        assert_eq!(causes(&large, &AttentionSpec::default()), [Some(Cause::Score { key: 0 }); 3]);
        let mut naive = AttentionSpec { scoring: Scoring::Scale(1e4), ..Default::default() };
        naive.softmax.form = SoftmaxForm::Naive;
        assert_eq!(causes(&input(), &naive), [Some(Cause::Softmax); 3]);
    }

    #[test]
    fn a_bias_that_is_not_a_number_is_pointed_at() {
        let bias = Matrix::from_fn(3, 3, |query, key| if (query, key) == (2, 1) { f64::NAN } else { 0.0 });
        let mask = vec![MaskRule::ValidKeys(3), MaskRule::Additive(bias)];
        let spec = AttentionSpec { mask, ..Default::default() };
        assert_eq!(causes(&input(), &spec), [None, None, Some(Cause::Bias { layer: 1, key: 1 })]);
    }

    #[test]
    fn a_query_that_sees_nothing_is_not_blamed_on_the_input() {
        let mut spec = AttentionSpec { mask: vec![MaskRule::ValidKeys(0)], ..Default::default() };
        spec.softmax.empty_rows = EmptyRow::NotANumber;
        assert_eq!(causes(&input(), &spec), [None; 3]);
    }
}

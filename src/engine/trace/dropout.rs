//! From the weights of a row to its output when some of them are dropped.

use super::super::{AttentionSpec, Dropout, HeadInput, spec_in_force};
use super::output::weighted_sum;
use super::{Carry, OutputTrace, Tracer};

/// What dropout does to one pair and to the output row of its query.
#[derive(Clone, Debug, PartialEq)]
pub struct DropoutTrace {
    /// The share of weights that become 0.
    pub rate: f64,
    /// Whether the weight of the pair is kept.
    pub is_kept: bool,
    /// The weight of the pair before: that of [`Trace::softmax`](super::Trace::softmax).
    pub before: f64,
    /// weight / (1 − rate) where it is kept, else 0.
    pub after: f64,
    /// The output row as a weighted sum of the values that are left.
    pub output: OutputTrace,
}

/// Dropout of query `query` and key `key` in query head `query_head`; `None` when there is no such pair.
///
/// With [`Carry::Exact`] and [`Carry::Stored`] the numbers are those of [`Dropout::apply`].
///
/// # Panics
/// When the shapes of `input` do not fit together; [`HeadInput::check`] says so beforehand.
pub fn trace_dropout(
    dropout: Dropout,
    input: &HeadInput,
    spec: &AttentionSpec,
    query_head: usize,
    (query, key): (usize, usize),
    carry: Carry,
) -> Option<DropoutTrace> {
    let (n_q, n_k) = (input.q.rows(), input.k.rows());
    if query >= n_q || key >= n_k {
        return None;
    }
    let in_force = spec_in_force(spec, n_q, n_k, input.k.cols(), query_head);
    let tracer = Tracer::new(input, (spec, &in_force), query_head, carry);
    let kept = dropout.kept(query_head, n_q * n_k);
    let is_kept = |key: usize| kept[query * n_k + key];
    let scaled = |weight: f64| carry.store(carry.carry(weight / (1.0 - dropout.rate())));
    let terms = tracer.row_terms(query);
    let before = terms[key].weight;
    let read = terms
        .iter()
        .enumerate()
        .filter(|(key, term)| is_kept(*key) && (term.weight != 0.0 || tracer.is_visible(query, *key, term)))
        .map(|(key, term)| (key, scaled(term.weight)))
        .collect();
    Some(DropoutTrace {
        rate: dropout.rate(),
        is_kept: is_kept(key),
        before,
        after: if is_kept(key) { scaled(before) } else { 0.0 },
        output: weighted_sum(read, &input.v, carry),
    })
}

//! The arithmetic behind one number, operand by operand.
//!
//! Values only: how they are written out is the business of whoever shows them.

mod carry;
mod dropout;
mod output;
mod products;
mod score;
mod softmax;

pub use carry::Carry;
pub use dropout::{DropoutTrace, trace_dropout};
pub use output::OutputTrace;
pub use products::{SumOfProducts, Term, trace_product};
pub use score::{HiddenUnit, MaskTrace, ScoreTrace, SoftCapTrace};
pub use softmax::{ExpTerm, SoftmaxTrace};

use super::{AttentionSpec, Fault, HeadInput, MaskView, scale_of, spec_in_force};

/// Everything that leads from q and k of one pair to the output of its query.
///
/// With [`Carry::Exact`] every number is bit for bit the one that [`attend`](super::attend()) arrives at in `F64`, and with
/// [`Carry::Stored`] the one that [`attend_in`](super::attend_in()) stores; the precision of the spec is not asked. A mistake that the
/// spec names is made, in the format of [`spec_in_force`].
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The query, from 0.
    pub query: usize,
    /// The key, from 0.
    pub key: usize,
    /// How far each step is carried.
    pub carry: Carry,
    /// The raw score of the pair, before it is stored: the scaled score is made of the unrounded product.
    pub score: ScoreTrace,
    /// The factor between raw and scaled score; 1 where the scoring has none.
    pub scale: f64,
    /// raw · scale, before any soft cap. Where there is none, as it is stored.
    pub scaled: f64,
    /// The soft cap, where there is one.
    pub soft_cap: Option<SoftCapTrace>,
    /// What the mask says about the pair.
    pub mask: MaskTrace,
    /// From the masked scores of the whole row (or column) to the weight of the pair.
    pub softmax: SoftmaxTrace,
    /// The weighted sum that is the output row of the query.
    pub output: OutputTrace,
}

/// The trace of query `query` and key `key` in query head `query_head`; `None` when there is no such pair.
///
/// # Panics
/// When the shapes of `input` do not fit together; [`HeadInput::check`] says so beforehand.
pub fn trace(
    input: &HeadInput,
    spec: &AttentionSpec,
    query_head: usize,
    (query, key): (usize, usize),
    carry: Carry,
) -> Option<Trace> {
    if query >= input.q.rows() || key >= input.k.rows() {
        return None;
    }
    let in_force = spec_in_force(spec, input.q.rows(), input.k.rows(), input.k.cols(), query_head);
    let tracer = Tracer::new(input, (spec, &in_force), query_head, carry);
    let pair = tracer.pair(query, key);
    Some(Trace {
        query,
        key,
        carry,
        scale: tracer.scale,
        softmax: tracer.softmax(query, key),
        output: tracer.output(query),
        score: pair.score,
        scaled: pair.scaled,
        soft_cap: pair.soft_cap,
        mask: pair.mask,
    })
}

/// What every step of a trace needs.
struct Tracer<'a> {
    input: &'a HeadInput,
    /// The settings in force.
    spec: &'a AttentionSpec,
    view: MaskView<'a>,
    /// The mask that was meant; another than `view` where a mistake is about the mask.
    meant: MaskView<'a>,
    /// A mistake that is no matter of settings.
    fault: Option<Fault>,
    scale: f64,
    sink: Option<f64>,
    carry: Carry,
}

impl<'a> Tracer<'a> {
    fn new(
        input: &'a HeadInput,
        (meant, spec): (&'a AttentionSpec, &'a AttentionSpec),
        query_head: usize,
        carry: Carry,
    ) -> Self {
        let (n_q, n_k) = (input.q.rows(), input.k.rows());
        let view =
            |spec: &'a AttentionSpec| MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, query_head);
        let (meant, view) = (view(meant), view(spec));
        let scale = scale_of(&spec.scoring, input.k.cols());
        let scale = if matches!(carry, Carry::Stored(_)) { carry.carry(scale) } else { scale };
        let fault = spec.fault.map(|in_force| in_force.fault);
        Self { input, spec, view, meant, fault, scale, sink: spec.sink_of(query_head), carry }
    }
}

//! From the masked scores of a row to the weight of one pair.

use std::ops::RangeInclusive;

use super::super::softmax::{empty_weight_beside, subtracted, visible_max, with_sink};
use super::super::{EmptyRow, Fault, Precision, SoftmaxAxis, SoftmaxForm};
use super::{Carry, Tracer};

/// On paper one writes exp(s) itself while the largest score lies in here, as both readings do; outside, exp(s − max).
/// A larger score gives unwieldy numbers, a smaller one loses its digits to rounding.
const WRITTEN_AS_EXP_S: RangeInclusive<f64> = 0.0..=10.0;

/// The softmax that the weight of a pair comes from: along the keys of its query or, where the softmax runs over the
/// queries, along the queries of its key.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftmaxTrace {
    /// Along which axis `terms` runs.
    pub over: SoftmaxAxis,
    /// One per key (or per query, where the softmax runs over the queries).
    pub terms: Vec<ExpTerm>,
    /// The largest visible score; −∞ when nothing is visible.
    pub max: f64,
    /// What is subtracted before exponentiating: the maximum, or 0 where exp(s) is taken as it stands.
    pub subtracted: f64,
    /// The learned sink of the head, where it has one.
    pub sink: Option<f64>,
    /// exp(sink − subtracted), which is part of `sum`; 0 without a sink.
    pub sink_exp: f64,
    /// Σ of the exponentials; 0 when nothing is visible. By mistake, rounded to `F16` after each of them.
    pub sum: f64,
    /// The policy that gave the weights, when nothing is visible.
    pub empty: Option<EmptyRow>,
    /// The weight of the pair: its exponential divided by `sum`.
    pub weight: f64,
}

/// One score on its way to a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpTerm {
    /// The masked score; −∞ where blocked.
    pub masked: f64,
    /// The index of the mask layer that blocks it.
    pub blocked_by: Option<usize>,
    /// exp(masked − subtracted); exactly 0 where blocked.
    pub exp: f64,
    /// exp / sum, or what the policy for empty rows gives. By mistake, set to 0 only now.
    pub weight: f64,
}

impl Tracer<'_> {
    pub(super) fn softmax(&self, query: usize, key: usize) -> SoftmaxTrace {
        let (along, focus): (Vec<_>, usize) = match self.spec.softmax.over {
            SoftmaxAxis::Keys => ((0..self.input.k.rows()).map(|key| (query, key)).collect(), key),
            SoftmaxAxis::Queries => ((0..self.input.q.rows()).map(|query| (query, key)).collect(), query),
        };
        let mut terms: Vec<_> = along.iter().map(|&(query, key)| self.unweighted(query, key)).collect();
        if terms.iter().all(|term| term.blocked_by.is_some()) {
            return self.empty_softmax(terms);
        }
        let (scores, blocked): (Vec<_>, Vec<_>) =
            terms.iter().map(|term| (term.masked, term.blocked_by.is_some())).unzip();
        let stored_sink = self.sink.map(|sink| self.carry.store(self.carry.carry(sink)));
        let max = with_sink(visible_max(&scores, &blocked), stored_sink);
        let subtracted = self.subtracted(max);
        let mut sum = 0.0;
        for term in terms.iter_mut().filter(|term| term.blocked_by.is_none()) {
            term.exp = self.exp(term.masked - subtracted);
            sum = self.add(sum, term.exp);
        }
        let sink_exp = stored_sink.map_or(0.0, |sink| self.exp(sink - subtracted));
        sum = self.add(sum, sink_exp);
        for (term, &(query, key)) in
            terms.iter_mut().zip(&along).filter(|(term, _)| term.blocked_by.is_none())
        {
            let is_cleared = self.fault == Some(Fault::MaskAfterSoftmax) && !self.meant.allows(query, key);
            let weight = self.carry.store(self.carry.carry(term.exp / sum));
            term.weight = if is_cleared { 0.0 } else { weight };
        }
        let weight = terms[focus].weight;
        let (over, sink) = (self.spec.softmax.over, self.sink);
        SoftmaxTrace { over, terms, max, subtracted, sink, sink_exp, sum, empty: None, weight }
    }

    fn unweighted(&self, query: usize, key: usize) -> ExpTerm {
        let mask = self.pair(query, key).mask;
        ExpTerm { masked: mask.masked, blocked_by: mask.blocked_by, exp: 0.0, weight: 0.0 }
    }

    fn empty_softmax(&self, mut terms: Vec<ExpTerm>) -> SoftmaxTrace {
        let policy = self.spec.softmax.empty_rows;
        let weight = self.carry.store(empty_weight_beside(self.sink, policy, terms.len()));
        for term in &mut terms {
            term.weight = weight;
        }
        let over = self.spec.softmax.over;
        let max = f64::NEG_INFINITY;
        let (sink, empty) = (self.sink, Some(policy));
        SoftmaxTrace { over, terms, max, subtracted: 0.0, sink, sink_exp: 0.0, sum: 0.0, empty, weight }
    }

    /// The running sum with one more exponential.
    fn add(&self, sum: f64, exp: f64) -> f64 {
        let sum = self.carry.carry(sum + exp);
        let stalls =
            self.fault == Some(Fault::SumInHalfPrecision) && self.spec.softmax.over == SoftmaxAxis::Keys;
        if stalls { Precision::F16.round(sum) } else { sum }
    }

    /// The exponential of a difference. On paper the difference is not written down; the naive form stores its exponentials.
    fn exp(&self, difference: f64) -> f64 {
        match self.carry {
            Carry::Stored(_) => {
                let exp = self.carry.carry(self.carry.carry(difference).exp());
                if self.spec.softmax.form == SoftmaxForm::Naive { self.carry.store(exp) } else { exp }
            }
            Carry::Exact | Carry::Decimals(_) => self.carry.carry(difference.exp()),
        }
    }

    fn subtracted(&self, max: f64) -> f64 {
        let form = self.spec.softmax.form;
        match self.carry {
            Carry::Decimals(_) if WRITTEN_AS_EXP_S.contains(&max) => 0.0,
            _ => subtracted(form, max),
        }
    }
}

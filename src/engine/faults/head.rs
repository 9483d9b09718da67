//! One head with one mistake in it.

use super::super::attend::{blocked_pairs, softmax};
use super::super::narrow::mix_in;
use super::super::scoring::soft_cap;
use super::super::softmax::{exp_in, subtracted};
use super::super::{
    Attention, AttentionSpec, BlockedBy, HeadInput, MaskView, Matrix, Precision, SoftmaxAxis, attend,
};
use super::masks::finite_biases;
use super::{Fault, spec_in_force};

/// Every stage of one head as the mistake of `spec` makes it, and `blocked_by` as it should have been.
pub(in crate::engine) fn attend_with_fault(
    input: &HeadInput,
    spec: &AttentionSpec,
    query_head: usize,
) -> Attention {
    let (n_q, n_k) = (input.q.rows(), input.k.rows());
    let in_force = spec_in_force(spec, n_q, n_k, input.k.cols(), query_head);
    let meant = AttentionSpec { fault: None, ..spec.clone() };
    let faulty = Faulty { input, spec: &meant, query_head };
    let mut found = match in_force.fault.map(|in_force| in_force.fault) {
        Some(Fault::MaskAfterSoftmax) => faulty.mask_after_softmax(),
        Some(Fault::MaskMultiplied) => faulty.mask_multiplied(),
        Some(Fault::SoftCapAfterMask) => faulty.cap_after_mask(),
        Some(Fault::SumInHalfPrecision) => faulty.sum_in_half_precision(),
        _ => attend(input, &in_force, query_head),
    };
    found.blocked_by = faulty.blocked_by();
    found
}

/// A head as it was meant.
struct Faulty<'a> {
    input: &'a HeadInput,
    spec: &'a AttentionSpec,
    query_head: usize,
}

impl Faulty<'_> {
    fn view(&self) -> MaskView<'_> {
        let (n_q, n_k) = (self.input.q.rows(), self.input.k.rows());
        MaskView::new(&self.spec.mask, n_q, n_k, self.spec.position_offset, self.query_head)
    }

    fn blocked_by(&self) -> BlockedBy {
        blocked_pairs(&self.view(), self.input.q.rows(), self.input.k.rows())
    }

    fn blocked(&self) -> Vec<bool> {
        self.blocked_by().iter().map(|layer| layer.is_some()).collect()
    }

    fn mix(&self, weights: &Matrix, blocked: &[bool]) -> Matrix {
        let v = self.input.v.map(|value| self.spec.precision.round(value));
        mix_in(weights, blocked, &v, self.spec, self.query_head)
    }

    fn mask_after_softmax(&self) -> Attention {
        let (n_q, n_k) = (self.input.q.rows(), self.input.k.rows());
        let mask = finite_biases(self.spec, n_q, n_k, self.query_head);
        let mut found = attend(self.input, &AttentionSpec { mask, ..self.spec.clone() }, self.query_head);
        let view = self.view();
        let seen = |query, key| if view.allows(query, key) { found.weights.get(query, key) } else { 0.0 };
        found.weights = Matrix::from_fn(n_q, n_k, seen);
        found.output = self.mix(&found.weights, &self.blocked());
        found
    }

    fn mask_multiplied(&self) -> Attention {
        self.with_scores(self.spec, |masked| masked.unwrap_or(0.0))
    }

    fn cap_after_mask(&self) -> Attention {
        let cap = self.spec.softcap.unwrap_or(f64::INFINITY);
        let uncapped = AttentionSpec { softcap: None, ..self.spec.clone() };
        self.with_scores(&uncapped, |masked| soft_cap(masked.unwrap_or(f64::NEG_INFINITY), cap))
    }

    /// The masked scores changed pair by pair, nothing being blocked any more: `change` gets the masked score, or `None` for a pair
    /// that should be blocked.
    fn with_scores(&self, spec: &AttentionSpec, change: impl Fn(Option<f64>) -> f64) -> Attention {
        let view = self.view();
        let (n_q, n_k) = (self.input.q.rows(), self.input.k.rows());
        let unmasked = AttentionSpec { mask: Vec::new(), ..spec.clone() };
        let before = attend(self.input, &unmasked, self.query_head);
        let precision = spec.precision;
        let stored = |value: f64| precision.round(precision.round_sum(value)) + 0.0;
        let bias = |query, key| precision.round(view.bias(query, key));
        let masked = Matrix::from_fn(n_q, n_k, |query, key| {
            let with_bias = || stored(before.scaled_scores.get(query, key) + bias(query, key));
            stored(change(view.allows(query, key).then(with_bias)))
        }); // (n_q, n_k)
        let nothing = vec![false; n_q * n_k];
        let sink = spec.sink_of(self.query_head);
        let (weights, rows, columns) = softmax(precision, &masked, &nothing, spec.softmax, sink);
        let output = self.mix(&weights, &nothing);
        let scores = [before.raw_scores, before.scaled_scores, masked];
        Attention::of_stages(before.scale, scores, (weights, rows, columns), output, before.blocked_by)
    }

    /// Each exponential is added to a running sum that is rounded to `F16` every time.
    fn sum_in_half_precision(&self) -> Attention {
        let mut found = attend(self.input, self.spec, self.query_head);
        if self.spec.softmax.over == SoftmaxAxis::Queries {
            return found;
        }
        let (blocked, n_k) = (self.blocked(), found.weights.cols());
        let precision = self.spec.precision;
        for query in 0..found.weights.rows() {
            let blocked = &blocked[query * n_k..(query + 1) * n_k];
            if blocked.iter().all(|&blocked| blocked) {
                continue; // as the policy for empty rows has it
            }
            let form = self.spec.softmax.form;
            let subtracted = subtracted(form, found.row_max[query]); // the sink included
            let exp = |score: f64| exp_in(precision, form, score - subtracted);
            let scores = found.masked_scores.row(query).iter().zip(blocked);
            let exps: Vec<f64> =
                scores.map(|(&score, &blocked)| if blocked { 0.0 } else { exp(score) }).collect();
            let sink = self.spec.sink_of(self.query_head).map(|sink| exp(precision.round(sink)));
            let sum = exps.iter().chain(&sink).fold(0.0, |sum, exp| Precision::F16.round(sum + exp));
            found.row_sum[query] = sum;
            let weights = found.weights.row_mut(query).iter_mut().zip(exps).zip(blocked);
            for ((weight, exp), _) in weights.filter(|(_, blocked)| !**blocked) {
                *weight = precision.round(precision.round_sum(exp / sum));
            }
        }
        found.output = self.mix(&found.weights, &blocked);
        found
    }
}

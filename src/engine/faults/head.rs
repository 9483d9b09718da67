//! One head with one mistake in it.

use super::super::attend::{blocked_pairs, mix, softmax};
use super::super::scoring::{scale_of, soft_cap};
use super::super::{
    Attention, AttentionSpec, BlockedBy, HeadInput, MaskRule, MaskView, Matrix, Precision, Scoring,
    SoftmaxAxis, SoftmaxForm, attend, attend_in,
};
use super::masks::{inverted, nothing_blocked, other_corner, padded_rows};
use super::{Fault, FaultSite};

/// What a fault has to know beyond its own head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultSizes {
    /// The model width that [`Fault::ModelWidthScale`] takes the root of.
    pub d_model: usize,
}

/// Every stage of one head as the mistake makes it, and `blocked_by` as it should have been.
///
/// A fault between the heads changes nothing within one: the result is that of [`attend()`]. So do faults of a mask or cap that the head
/// does not have.
///
/// # Panics
/// When the shapes do not fit together; [`HeadInput::check`] says so beforehand.
pub fn attend_with_fault(
    fault: Fault,
    input: &HeadInput,
    spec: &AttentionSpec,
    query_head: usize,
    sizes: FaultSizes,
) -> Attention {
    if fault.site() != FaultSite::Head {
        return attend(input, spec, query_head);
    }
    let (n_q, n_k) = (input.q.rows(), input.k.rows());
    let faulty = Faulty { input, spec, query_head };
    let with = |spec: &AttentionSpec| attend(input, spec, query_head);
    let mut found = match fault {
        Fault::SoftmaxOverQueries => {
            let mut spec = spec.clone();
            spec.softmax.over = SoftmaxAxis::Queries;
            with(&spec)
        }
        Fault::NaiveExp => {
            let mut spec = spec.clone();
            spec.softmax.form = SoftmaxForm::Naive;
            with(&spec)
        }
        Fault::NoScale => with(&faulty.rescaled(1.0)),
        Fault::ModelWidthScale => with(&faulty.rescaled(1.0 / (sizes.d_model.max(1) as f64).sqrt())),
        Fault::InvertedBoolean if spec.mask.is_empty() => with(spec),
        Fault::InvertedBoolean => with(&inverted(spec, n_q, n_k, query_head)),
        Fault::WrongCorner => with(&other_corner(spec)),
        Fault::PaddingOnQueryRows => with(&padded_rows(spec, n_q, n_k)),
        Fault::MaskAfterSoftmax => faulty.mask_after_softmax(),
        Fault::MaskMultiplied => {
            faulty.with_scores(
                Precision::F64,
                |score, bias, is_blocked| if is_blocked { 0.0 } else { score + bias },
            )
        }
        Fault::MinusTenThousand => faulty.with_penalty(Precision::F64, -1e4),
        Fault::MinusOneBillion => faulty.with_penalty(Precision::F32, -1e9),
        Fault::SoftCapAfterMask => faulty.cap_after_mask(),
        Fault::BiasScaledWithScores => faulty.bias_scaled(),
        Fault::SumInHalfPrecision => faulty.sum_in_half_precision(),
        Fault::TiledKvHeads | Fault::SplitWithoutTranspose | Fault::MergeWithoutTranspose => with(spec),
    };
    found.blocked_by = faulty.blocked_by();
    found
}

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

    /// Another scale, where the scoring has one.
    fn rescaled(&self, scale: f64) -> AttentionSpec {
        let scoring = match &self.spec.scoring {
            Scoring::ScaledDot => Scoring::Scale(scale),
            other => other.clone(),
        };
        AttentionSpec { scoring, ..self.spec.clone() }
    }

    fn without_blocks(&self) -> AttentionSpec {
        nothing_blocked(self.spec, self.input.q.rows(), self.input.k.rows(), self.query_head)
    }

    fn mask_after_softmax(&self) -> Attention {
        let view = self.view();
        let mut found = attend(self.input, &self.without_blocks(), self.query_head);
        let seen = |query, key, weight| if view.allows(query, key) { weight } else { 0.0 };
        let (n_q, n_k) = (found.weights.rows(), found.weights.cols());
        found.weights =
            Matrix::from_fn(n_q, n_k, |query, key| seen(query, key, found.weights.get(query, key)));
        let blocked: Vec<bool> = self.blocked_by().iter().map(|layer| layer.is_some()).collect();
        found.output = mix(&found.weights, &blocked, &self.input.v, self.spec, self.query_head);
        found
    }

    /// The capped scores changed into masked ones pair by pair, nothing being blocked any more: `change` gets the score, the bias
    /// (−∞ where a layer adds it) and whether the pair should be blocked.
    fn with_scores(&self, precision: Precision, change: impl Fn(f64, f64, bool) -> f64) -> Attention {
        let view = self.view();
        let before = attend_in(
            precision,
            self.input,
            &AttentionSpec { mask: Vec::new(), ..self.spec.clone() },
            self.query_head,
        );
        let (n_q, n_k) = (self.input.q.rows(), self.input.k.rows());
        let masked = Matrix::from_fn(n_q, n_k, |query, key| {
            let (score, bias) = (before.scaled_scores.get(query, key), view.bias(query, key));
            let is_blocked = !view.allows(query, key);
            precision.round(change(score, if is_blocked { 0.0 } else { bias }, is_blocked)) + 0.0
        });
        self.after_masking(precision, before, masked)
    }

    /// What follows from masked scores in which nothing is blocked.
    fn after_masking(&self, precision: Precision, before: Attention, masked: Matrix) -> Attention {
        let (n_q, n_k) = (masked.rows(), masked.cols());
        let nothing = vec![false; n_q * n_k];
        let sink = self.spec.sink_of(self.query_head);
        let (weights, rows, _) = softmax(precision, &masked, &nothing, self.spec.softmax, sink);
        let v = self.input.v.map(|value| precision.round(value));
        let output =
            mix(&weights, &nothing, &v, self.spec, self.query_head).map(|value| precision.round(value));
        let (row_max, row_sum) = rows.iter().map(|row| (row.max, row.sum)).unzip();
        Attention { masked_scores: masked, weights, output, row_max, row_sum, ..before }
    }

    /// A large negative number is added to blocked scores, in the format in which the scores are kept.
    fn with_penalty(&self, precision: Precision, penalty: f64) -> Attention {
        self.with_scores(precision, |score, bias, is_blocked| {
            score + bias + if is_blocked { penalty } else { 0.0 }
        })
    }

    fn cap_after_mask(&self) -> Attention {
        let Some(cap) = self.spec.softcap else { return attend(self.input, self.spec, self.query_head) };
        let spec = AttentionSpec { softcap: None, ..self.spec.clone() };
        let uncapped = Faulty { input: self.input, spec: &spec, query_head: self.query_head };
        uncapped.with_scores(Precision::F64, |score, bias, is_blocked| {
            soft_cap(if is_blocked { f64::NEG_INFINITY } else { score + bias }, cap)
        })
    }

    fn bias_scaled(&self) -> Attention {
        let scale = scale_of(&self.spec.scoring, self.input.k.cols());
        let scaled_bias = |bias: f64| if bias == f64::NEG_INFINITY { bias } else { bias * scale };
        let view = self.view();
        let (n_q, n_k) = (self.input.q.rows(), self.input.k.rows());
        let bias = Matrix::from_fn(n_q, n_k, |query, key| {
            if view.allows(query, key) { scaled_bias(view.bias(query, key)) } else { f64::NEG_INFINITY }
        });
        let mask = vec![MaskRule::Additive(bias)];
        attend(self.input, &AttentionSpec { mask, ..self.spec.clone() }, self.query_head)
    }

    /// Each exponential is added to a running sum that is rounded to `F16` every time.
    fn sum_in_half_precision(&self) -> Attention {
        let mut found = attend(self.input, self.spec, self.query_head);
        let blocked: Vec<bool> = self.blocked_by().iter().map(|layer| layer.is_some()).collect();
        let n_k = found.weights.cols();
        for query in 0..found.weights.rows() {
            let blocked = &blocked[query * n_k..(query + 1) * n_k];
            let scores = found.masked_scores.row(query);
            let max = found.row_max[query]; // the sink included
            let exp = |(score, &blocked): (&f64, &bool)| if blocked { 0.0 } else { (score - max).exp() };
            let exps: Vec<f64> = scores.iter().zip(blocked).map(exp).collect();
            let sink = self.spec.sink_of(self.query_head).map_or(0.0, |sink| (sink - max).exp());
            let sum = exps.iter().chain([&sink]).fold(0.0, |sum, exp| Precision::F16.round(sum + exp));
            if blocked.iter().all(|&blocked| blocked) {
                continue; // as the policy for empty rows has it
            }
            found.row_sum[query] = sum;
            for (weight, exp) in found.weights.row_mut(query).iter_mut().zip(exps) {
                *weight = exp / sum;
            }
        }
        found.output = mix(&found.weights, &blocked, &self.input.v, self.spec, self.query_head);
        found
    }
}

//! Dropout of attention weights (Srivastava et al., 2014), with its seed, to be shown before and after.

use rand_mt::Mt;

use super::attend::blocked_pairs;
use super::narrow::mix_in;
use super::{Attention, AttentionSpec, BlockedBy, Fault, MaskView, Matrix};

/// How many weights are dropped, and which: what `np.random.seed(seed)` makes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    /// The share of weights that become 0, from 0 up to but not including 1.
    rate: f64,
    /// The seed of the random numbers.
    seed: u32,
}

/// A rate that leaves nothing or means nothing.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a dropout rate of {rate} is outside of 0 ≤ rate < 1; what is kept is divided by 1 − rate")]
pub struct DropoutError {
    /// The rate.
    pub rate: f64,
}

/// A head after dropout; before it, the head is the [`Attention`] that it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    /// What it was made with.
    pub dropout: Dropout,
    /// Whether each weight was kept, row by row.
    pub kept: Vec<bool>,
    /// The kept weights divided by 1 − rate, so that each keeps its expected value; the others are 0. Rows no longer sum to 1.
    /// Shape (n_q, n_k).
    pub weights: Matrix,
    /// These weights · V. Shape (n_q, d_v).
    pub output: Matrix,
}

impl Dropout {
    /// # Errors
    /// [`DropoutError`] when `rate` is not at least 0 and below 1.
    pub fn new(rate: f64, seed: u32) -> Result<Self, DropoutError> {
        if (0.0..1.0).contains(&rate) { Ok(Self { rate, seed }) } else { Err(DropoutError { rate }) }
    }

    /// The rate.
    pub fn rate(self) -> f64 {
        self.rate
    }

    /// The seed.
    pub fn seed(self) -> u32 {
        self.seed
    }

    /// Which weights of query head `query_head` are kept, row by row: `np.random.seed(seed)`, then
    /// `np.random.rand(heads, n_q, n_k)[query_head] >= rate`.
    pub fn kept(self, query_head: usize, n_pairs: usize) -> Vec<bool> {
        let mut generator = Mt::new(self.seed);
        for _ in 0..query_head.saturating_mul(n_pairs) {
            uniform(&mut generator);
        }
        (0..n_pairs).map(|_| uniform(&mut generator) >= self.rate).collect()
    }

    /// The head after dropout, stored in the precision of `spec`, the settings [in force](super::spec_in_force). A value whose weight is dropped is not read, and neither is
    /// that of a blocked pair of weight 0.
    ///
    /// # Panics
    /// When `v` does not have one row per key of `attention`.
    pub fn apply(
        self,
        attention: &Attention,
        v: &Matrix,
        spec: &AttentionSpec,
        query_head: usize,
    ) -> Dropped {
        let (n_q, n_k) = (attention.weights.rows(), attention.weights.cols());
        let kept = self.kept(query_head, n_q * n_k);
        let stored = |weight: f64| spec.precision.round(spec.precision.round_sum(weight));
        let weights = Matrix::from_fn(n_q, n_k, |query, key| {
            let is_kept = kept[query * n_k + key];
            if is_kept { stored(attention.weights.get(query, key) / (1.0 - self.rate)) } else { 0.0 }
        }); // (n_q, n_k)
        let blocked = really_blocked(attention, spec, query_head);
        let is_blocked = blocked.iter().map(|layer| layer.is_some());
        let left_out: Vec<bool> =
            kept.iter().zip(is_blocked).map(|(kept, is_blocked)| !kept || is_blocked).collect();
        let v = v.map(|value| spec.precision.round(value));
        let output = mix_in(&weights, &left_out, &v, spec, query_head); // (n_q, d_v)
        Dropped { dropout: self, kept, weights, output }
    }
}

/// The pairs that the head does not read, whatever its mistake makes of the mask that was meant.
fn really_blocked(attention: &Attention, spec: &AttentionSpec, query_head: usize) -> BlockedBy {
    let (n_q, n_k) = (attention.weights.rows(), attention.weights.cols());
    match spec.fault.map(|in_force| in_force.fault) {
        Some(Fault::MaskAfterSoftmax) => attention.blocked_by.clone(),
        Some(Fault::MaskMultiplied | Fault::SoftCapAfterMask) => BlockedBy::nothing(n_q * n_k),
        _ => {
            let view = MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, query_head);
            blocked_pairs(&view, n_q, n_k)
        }
    }
}

/// Uniform in [0, 1) with 53 random bits, as NumPy's legacy generator draws it.
fn uniform(generator: &mut Mt) -> f64 {
    let high = f64::from(generator.next_u32() >> 5);
    let low = f64::from(generator.next_u32() >> 6);
    (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{HeadInput, attend};
    use super::*;

    #[test]
    fn the_kept_weights_are_those_that_numpy_keeps() {
        // np.random.seed(7); (np.random.rand(2, 2, 3) >= 0.4).astype(int)
        let dropout = Dropout::new(0.4, 7).unwrap();
        let kept = |head| dropout.kept(head, 6).into_iter().map(u8::from).collect::<Vec<_>>();
        assert_eq!(kept(0), [0, 1, 1, 1, 1, 1]);
        assert_eq!(kept(1), [1, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn kept_weights_grow_so_that_the_mean_stays() {
        let n = 60;
        let ones = Arc::new(Matrix::from_fn(n, 1, |_, _| 1.0));
        let attention = attend(
            &HeadInput { q: ones.clone(), k: ones.clone(), v: ones.clone() },
            &AttentionSpec::default(),
            0,
        );
        let spec = AttentionSpec::default();
        let after = Dropout::new(0.25, 1).unwrap().apply(&attention, &ones, &spec, 0);
        let mean = after.output.data().iter().sum::<f64>() / n as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!(
            after.weights.data().iter().all(|&weight| weight == 0.0 || (weight - 1.0 / 45.0).abs() < 1e-15)
        );
        let nothing_dropped = Dropout::new(0.0, 1).unwrap().apply(&attention, &ones, &spec, 0);
        assert_eq!((nothing_dropped.weights, nothing_dropped.output), (attention.weights, attention.output));
    }

    #[test]
    fn a_rate_that_leaves_nothing_is_refused() {
        for rate in [1.0, -0.1, f64::NAN] {
            assert!(Dropout::new(rate, 0).is_err());
        }
        let sentence = Dropout::new(1.0, 0).unwrap_err().to_string();
        assert_eq!(
            sentence,
            "a dropout rate of 1 is outside of 0 ≤ rate < 1; what is kept is divided by 1 − rate"
        );
    }
}

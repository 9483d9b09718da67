//! From q and k of one pair to its masked score.

use super::super::{Fault, Matrix, Scoring, soft_cap};
use super::{Carry, SumOfProducts, Tracer};

/// How the raw score of one pair comes about.
#[derive(Clone, Debug, PartialEq)]
pub enum ScoreTrace {
    /// q·k.
    Dot(SumOfProducts),
    /// v·tanh(W_q q + W_k k).
    Additive {
        /// One per hidden unit, in order.
        units: Vec<HiddenUnit>,
        /// The raw score.
        total: f64,
    },
    /// (q·W)·k.
    General {
        /// q·W, one entry per feature of the key.
        transformed: Vec<SumOfProducts>,
        /// The product of that with k.
        product: SumOfProducts,
    },
}

/// One hidden unit of the additive scorer.
#[derive(Clone, Debug, PartialEq)]
pub struct HiddenUnit {
    /// The unit's entry of W_q q.
    pub from_query: SumOfProducts,
    /// The unit's entry of W_k k.
    pub from_key: SumOfProducts,
    /// The sum of the two.
    pub pre_activation: f64,
    /// Its hyperbolic tangent.
    pub tanh: f64,
    /// The unit's entry of v.
    pub v: f64,
    /// v · tanh.
    pub product: f64,
    /// The sum of the products up to this unit.
    pub running: f64,
}

/// The scaled score before and after c·tanh(s/c); by mistake, the masked score (−∞ where it should be blocked).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftCapTrace {
    /// c.
    pub cap: f64,
    /// The scaled score.
    pub before: f64,
    /// The capped score.
    pub after: f64,
}

/// What the mask says about one pair.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskTrace {
    /// The index of the first layer that blocks the pair.
    pub blocked_by: Option<usize>,
    /// Every layer that adds a number: its index and what it adds to this pair.
    pub biases: Vec<(usize, f64)>,
    /// The sum of those numbers; −∞ where one of them blocks.
    pub bias: f64,
    /// The masked score: scaled + bias, or −∞ where blocked.
    pub masked: f64,
    /// The first layer that blocks the pair in the mask as it was meant; that of `blocked_by` unless a mistake is made.
    pub meant: Option<usize>,
}

impl MaskTrace {
    /// The layer that should block the pair, where a mistake lets it through.
    pub fn let_through(&self) -> Option<usize> {
        self.meant.filter(|_| self.blocked_by.is_none())
    }

    /// Whether a mistake blocks the pair, which every layer lets through.
    pub fn is_held_back(&self) -> bool {
        self.blocked_by.is_some() && self.meant.is_none()
    }
}

impl ScoreTrace {
    /// The raw score.
    pub fn total(&self) -> f64 {
        match self {
            Self::Dot(product) | Self::General { product, .. } => product.total,
            Self::Additive { total, .. } => *total,
        }
    }
}

/// One pair, up to its masked score.
pub(super) struct Pair {
    pub score: ScoreTrace,
    pub scaled: f64,
    pub soft_cap: Option<SoftCapTrace>,
    pub mask: MaskTrace,
}

impl Tracer<'_> {
    pub(super) fn pair(&self, query: usize, key: usize) -> Pair {
        let score = self.score(query, key);
        let scaled = self.carry.carry(score.total() * self.scale);
        if self.fault == Some(Fault::SoftCapAfterMask) {
            let scaled = self.carry.store(scaled);
            let mut mask = self.mask(query, key, scaled);
            let soft_cap = self.soft_cap(mask.masked);
            mask.masked = soft_cap.map_or(mask.masked, |capped| capped.after);
            return Pair { score, scaled, soft_cap, mask };
        }
        let soft_cap = self.soft_cap(scaled);
        let scaled = if soft_cap.is_some() { scaled } else { self.carry.store(scaled) };
        let mask = self.mask(query, key, soft_cap.map_or(scaled, |capped| capped.after));
        Pair { score, scaled, soft_cap, mask }
    }

    fn soft_cap(&self, before: f64) -> Option<SoftCapTrace> {
        let cap = self.spec.softcap?;
        Some(SoftCapTrace { cap, before, after: self.carry.store(self.carry.carry(soft_cap(before, cap))) })
    }

    fn score(&self, query: usize, key: usize) -> ScoreTrace {
        let (q, k) = (self.input.q.row(query), self.input.k.row(key));
        match &self.spec.scoring {
            Scoring::ScaledDot | Scoring::Dot | Scoring::Scale(_) => {
                ScoreTrace::Dot(SumOfProducts::dot(q, k, self.carry))
            }
            Scoring::General { w } => {
                let entry = |col| {
                    let column = (0..w.rows()).map(|row| w.get(row, col));
                    SumOfProducts::new(q.iter().copied().zip(column), None, self.carry)
                };
                let transformed: Vec<_> = (0..w.cols()).map(entry).collect();
                let factors = transformed.iter().map(|entry| entry.total).zip(k.iter().copied());
                let product = SumOfProducts::new(factors, None, self.carry);
                ScoreTrace::General { transformed, product }
            }
            Scoring::Additive { w_q, w_k, v } => additive_score(q, k, w_q, w_k, v, self.carry),
        }
    }

    fn mask(&self, query: usize, key: usize, scaled: f64) -> MaskTrace {
        let carry = self.carry;
        let meant = self.meant.blocked_by(query, key);
        if let (Some(layer), Some(fault)) = (meant, self.fault.filter(|fault| fault.blocks_nothing())) {
            return self.let_through(fault, layer, self.view.bias(query, key), scaled);
        }
        let blocked_by = self.view.blocked_by(query, key);
        let layers = 0..self.spec.mask.len();
        let biases =
            layers.filter_map(|layer| Some((layer, carry.store(self.view.layer_bias(layer, query, key)?))));
        let bias = carry.store(self.view.bias(query, key));
        let masked =
            if blocked_by.is_some() { f64::NEG_INFINITY } else { carry.store(carry.carry(scaled + bias)) };
        MaskTrace { blocked_by, biases: biases.collect(), bias, masked, meant }
    }

    /// What a mistake that blocks nothing makes of a pair that layer `layer` should block.
    fn let_through(&self, fault: Fault, layer: usize, bias: f64, scaled: f64) -> MaskTrace {
        let masked = match fault {
            Fault::MaskMultiplied => 0.0,
            Fault::MaskAfterSoftmax if bias == f64::NEG_INFINITY => scaled,
            Fault::MaskAfterSoftmax => self.carry.store(self.carry.carry(scaled + self.carry.store(bias))),
            _ => f64::NEG_INFINITY, // and then the cap
        };
        let bias = if fault == Fault::MaskAfterSoftmax && bias.is_finite() { bias } else { 0.0 };
        MaskTrace { blocked_by: None, biases: Vec::new(), bias, masked, meant: Some(layer) }
    }
}

fn additive_score(q: &[f64], k: &[f64], w_q: &Matrix, w_k: &Matrix, v: &[f64], carry: Carry) -> ScoreTrace {
    let mut total = 0.0;
    let unit = |(unit_idx, &v): (usize, &f64)| {
        let from_query = SumOfProducts::dot(q, w_q.row(unit_idx), carry);
        let from_key = SumOfProducts::dot(k, w_k.row(unit_idx), carry);
        let v = carry.store(v);
        let pre_activation = carry.carry(carry.store(from_query.total) + carry.store(from_key.total));
        let tanh = carry.carry(pre_activation.tanh());
        let product = carry.carry(v * tanh);
        total = carry.carry(total + product);
        HiddenUnit { from_query, from_key, pre_activation, tanh, v, product, running: total }
    };
    let units = v.iter().enumerate().map(unit).collect();
    ScoreTrace::Additive { units, total }
}

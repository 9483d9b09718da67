//! From the weights of a row to its output.

use super::super::{Fault, Matrix, SoftmaxAxis};
use super::{Carry, ExpTerm, SumOfProducts, Tracer};

/// The output row of one query as weighted sums of values.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputTrace {
    /// The keys whose values are read, in order. A blocked key of weight 0 is not among them.
    pub keys: Vec<usize>,
    /// One per feature of the values: Σ weight · value over `keys`.
    pub features: Vec<SumOfProducts>,
}

impl OutputTrace {
    /// The output row.
    pub fn row(&self) -> Vec<f64> {
        self.features.iter().map(|feature| feature.total).collect()
    }
}

impl Tracer<'_> {
    pub(super) fn output(&self, query: usize) -> OutputTrace {
        let terms = self.row_terms(query).into_iter().enumerate();
        let read = terms
            .filter(|(key, term)| term.weight != 0.0 || self.is_visible(query, *key, term))
            .map(|(key, term)| (key, term.weight))
            .collect();
        weighted_sum(read, &self.input.v, self.carry)
    }

    /// Whether a value is read though its weight is 0.
    pub(super) fn is_visible(&self, query: usize, key: usize, term: &ExpTerm) -> bool {
        match self.fault {
            Some(Fault::MaskAfterSoftmax) => self.meant.allows(query, key),
            _ => term.blocked_by.is_none(),
        }
    }

    /// One term per key of the query's row, whichever way the softmax runs.
    pub(super) fn row_terms(&self, query: usize) -> Vec<ExpTerm> {
        match self.spec.softmax.over {
            SoftmaxAxis::Keys => self.softmax(query, 0).terms,
            SoftmaxAxis::Queries => {
                (0..self.input.k.rows()).map(|key| self.softmax(query, key).terms[query]).collect()
            }
        }
    }
}

/// Σ weight · value over the keys that are read, feature by feature.
pub(super) fn weighted_sum(read: Vec<(usize, f64)>, v: &Matrix, carry: Carry) -> OutputTrace {
    let feature = |feature_idx| {
        let factors = read.iter().map(|&(key, weight)| (weight, v.get(key, feature_idx)));
        let sum = SumOfProducts::new(factors, None, carry);
        SumOfProducts { total: carry.store(sum.total), ..sum }
    };
    let features = (0..v.cols()).map(feature).collect();
    OutputTrace { keys: read.iter().map(|&(key, _)| key).collect(), features }
}

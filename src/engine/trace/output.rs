//! From the weights of a row to its output.

use super::super::SoftmaxAxis;
use super::{ExpTerm, SumOfProducts, Tracer};

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
        let v = &self.input.v;
        let read: Vec<(usize, f64)> = self
            .row_terms(query)
            .into_iter()
            .enumerate()
            .filter(|(_, term)| term.blocked_by.is_none() || term.weight != 0.0)
            .map(|(key, term)| (key, term.weight))
            .collect();
        let feature = |feature_idx| {
            let factors = read.iter().map(|&(key, weight)| (weight, v.get(key, feature_idx)));
            let sum = SumOfProducts::new(factors, None, self.carry);
            SumOfProducts { total: self.carry.store(sum.total), ..sum }
        };
        let features = (0..v.cols()).map(feature).collect();
        OutputTrace { keys: read.iter().map(|&(key, _)| key).collect(), features }
    }

    /// One term per key of the query's row, whichever way the softmax runs.
    fn row_terms(&self, query: usize) -> Vec<ExpTerm> {
        match self.spec.softmax.over {
            SoftmaxAxis::Keys => self.softmax(query, 0).terms,
            SoftmaxAxis::Queries => {
                (0..self.input.k.rows()).map(|key| self.softmax(query, key).terms[query]).collect()
            }
        }
    }
}

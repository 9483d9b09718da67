//! A sum of products, term by term: what every matrix product is made of.

use super::super::Matrix;
use super::Carry;

/// One product and the sum so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The left factor.
    pub left: f64,
    /// The right factor.
    pub right: f64,
    /// left · right.
    pub product: f64,
    /// The sum of the products up to this one.
    pub running: f64,
}

/// Σ left · right, plus a bias where there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct SumOfProducts {
    /// The terms in the order in which they are added.
    pub terms: Vec<Term>,
    /// What is added at the end.
    pub bias: Option<f64>,
    /// The result.
    pub total: f64,
}

impl SumOfProducts {
    /// Adds the products of `factors` from left to right, then the bias. No factors give 0.
    pub(super) fn new(
        factors: impl IntoIterator<Item = (f64, f64)>,
        bias: Option<f64>,
        carry: Carry,
    ) -> Self {
        let mut running = 0.0;
        let add = |(left, right)| {
            let (left, right) = (carry.store(left), carry.store(right));
            let product = carry.carry(left * right);
            running = carry.carry(running + product);
            Term { left, right, product, running }
        };
        let terms = factors.into_iter().map(add).collect();
        let bias = bias.map(|bias| carry.carry(bias));
        let total = bias.map_or(running, |bias| carry.carry(running + bias));
        Self { terms, bias, total }
    }

    /// left · right of two vectors of equal length.
    pub(super) fn dot(left: &[f64], right: &[f64], carry: Carry) -> Self {
        Self::new(left.iter().copied().zip(right.iter().copied()), None, carry)
    }
}

/// The entry (row, col) of x·W + b: how one number of Q, K or V comes from the hidden states, or one number of the layer's
/// output from the concatenated heads. `None` when there is no such entry or the shapes do not fit.
pub fn trace_product(
    x: &Matrix,
    w: &Matrix,
    b: Option<&[f64]>,
    (row, col): (usize, usize),
    carry: Carry,
) -> Option<SumOfProducts> {
    if row >= x.rows() || col >= w.cols() || x.cols() != w.rows() {
        return None;
    }
    let column = (0..w.rows()).map(|inner| w.get(inner, col));
    let factors = x.row(row).iter().copied().zip(column);
    let bias = b.and_then(|b| b.get(col)).copied();
    Some(SumOfProducts::new(factors, bias, carry))
}

#[cfg(test)]
mod tests {
    use super::super::super::project;
    use super::*;

    #[test]
    fn a_traced_projection_is_the_projection() {
        let x = Matrix::from_fn(3, 4, |row, col| (row as f64 - 1.3) * (col as f64 + 0.7));
        let w = Matrix::from_fn(4, 2, |row, col| 0.1 * row as f64 - 0.37 * col as f64);
        let b = [0.5, -0.25];
        let y = project(&x, &w, Some(&b));
        for row in 0..3 {
            for (col, bias) in b.into_iter().enumerate() {
                let traced = trace_product(&x, &w, Some(&b), (row, col), Carry::Exact).unwrap();
                assert_eq!(traced.total, y.get(row, col));
                assert_eq!(traced.terms.len(), 4);
                assert_eq!(traced.bias, Some(bias));
                assert_eq!(traced.terms[3].running + bias, traced.total);
            }
        }
    }

    #[test]
    fn an_entry_that_does_not_exist_has_no_trace() {
        let x = Matrix::zeros(2, 3);
        assert_eq!(trace_product(&x, &Matrix::zeros(3, 2), None, (2, 0), Carry::Exact), None);
        assert_eq!(trace_product(&x, &Matrix::zeros(3, 2), None, (0, 2), Carry::Exact), None);
        assert_eq!(trace_product(&x, &Matrix::zeros(4, 2), None, (0, 0), Carry::Exact), None);
    }
}

//! The checks where only the weights are known, as they were computed elsewhere.

use super::super::Precision;
use super::{Check, CheckOutcome, CheckedHead, Examined, Place, row_sum_tolerance};

/// Every check in the order of [`Check::ALL`]: rows are summed; all others need Q, K, V or a mask and do not apply.
///
/// `kept_in` is the narrowest format that the weights went through: half-precision sums stray further from 1.
pub fn checks_of_given_weights(heads: &[CheckedHead<'_>], kept_in: Precision) -> Vec<(Check, CheckOutcome)> {
    let outcome = |check| match check {
        Check::RowsSumToOne => rows_sum_to_one(heads, kept_in),
        _ => CheckOutcome::NotApplicable { why: "only the weights are given".to_owned() },
    };
    Check::ALL.map(|check| (check, outcome(check))).into()
}

fn rows_sum_to_one(heads: &[CheckedHead<'_>], kept_in: Precision) -> CheckOutcome {
    let mut n_rows = 0;
    for CheckedHead { query_head, attention, .. } in heads {
        let tolerance = row_sum_tolerance(kept_in, attention.weights.cols());
        for (query, row) in attention.weights.iter_rows().enumerate() {
            n_rows += 1;
            let sum = row.iter().fold(0.0, |sum, weight| sum + weight); // not `sum()`, which begins with −0
            if (sum - 1.0).abs() <= tolerance {
                continue;
            }
            let detail = match sum.is_finite() {
                true => format!("the weights of this query sum to {sum} where 1 is expected"),
                false => "the weights of this query have no finite sum: a NaN or an infinity is among them"
                    .to_owned(),
            };
            return CheckOutcome::Fail { place: Place { query_head: *query_head, query, key: None }, detail };
        }
    }
    match n_rows {
        0 => CheckOutcome::NotApplicable { why: "there are no rows".to_owned() },
        _ => {
            CheckOutcome::Pass { examined: Examined { count: n_rows, of: n_rows, what: "rows" }, note: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::super::{Attention, HeadInput, Matrix};
    use super::*;

    fn outcomes(rows: &[[f64; 2]], kept_in: Precision) -> Vec<(Check, CheckOutcome)> {
        let nothing = Arc::new(Matrix::zeros(rows.len(), 0));
        let input = HeadInput { q: nothing.clone(), k: Arc::new(Matrix::zeros(2, 0)), v: nothing };
        let attention = Attention::of_given_weights(Matrix::from_rows(rows).unwrap());
        let head = CheckedHead { query_head: 4, input: &input, attention: &attention };
        checks_of_given_weights(&[head], kept_in)
    }

    #[test]
    fn only_the_sums_of_rows_can_be_checked() {
        let outcomes = outcomes(&[[0.25, 0.75], [1.0, 0.0]], Precision::F32);
        let passed: Vec<Check> = outcomes
            .iter()
            .filter(|(_, outcome)| matches!(outcome, CheckOutcome::Pass { .. }))
            .map(|(check, _)| *check)
            .collect();
        assert_eq!(passed, [Check::RowsSumToOne]);
        assert!(
            outcomes[1..].iter().all(|(_, outcome)| matches!(outcome, CheckOutcome::NotApplicable { .. }))
        );
    }

    #[test]
    fn a_row_that_does_not_sum_to_one_is_named_with_its_sum() {
        let outcomes = outcomes(&[[0.5, 0.5], [0.5, 0.25]], Precision::F32);
        let CheckOutcome::Fail { place, detail } = &outcomes[0].1 else { panic!("{outcomes:?}") };
        assert_eq!((place.query_head, place.query), (4, 1));
        assert_eq!(detail, "the weights of this query sum to 0.75 where 1 is expected");
    }

    #[test]
    fn what_half_precision_loses_is_no_fault_but_the_same_in_single_precision_is() {
        let rows = [[0.333_251_953_125, 0.666_503_906_25]]; // 1/3 and 2/3 in f16: 0.99976 together
        assert!(matches!(outcomes(&rows, Precision::F16)[0].1, CheckOutcome::Pass { .. }));
        assert!(matches!(outcomes(&rows, Precision::F32)[0].1, CheckOutcome::Fail { .. }));
    }
}

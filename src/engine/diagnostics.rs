//! What one row of weights is like: how spread out, how saturated.

/// −Σ p·ln p in nats, with 0·ln 0 = 0: 0 for a row that looks at one key, ln n for a uniform row of n keys. Never −0.
///
/// A row that holds NaN has the entropy NaN.
pub fn entropy_nats(weights: &[f64]) -> f64 {
    let sum: f64 = weights.iter().filter(|&&p| p != 0.0).map(|p| p * p.ln()).sum();
    0.0 - sum
}

/// [`entropy_nats`] in bits: 1 for two equally weighted keys.
pub fn entropy_bits(weights: &[f64]) -> f64 {
    entropy_nats(weights) / std::f64::consts::LN_2
}

/// exp(entropy): how many equally weighted keys would be as spread out. 1 for a one-hot row; also 1 for a row of zeros, whose
/// entropy is 0.
pub fn effective_keys(weights: &[f64]) -> f64 {
    entropy_nats(weights).exp()
}

/// The key with the largest weight and that weight; the first of equals. `None` for a row without keys, of zeros only, or
/// with NaN.
pub fn top_weight(weights: &[f64]) -> Option<(usize, f64)> {
    if weights.iter().any(|weight| weight.is_nan()) {
        return None;
    }
    let first_largest = |best: (usize, f64), (key, &weight): (usize, &f64)| {
        if weight > best.1 { (key, weight) } else { best }
    };
    Some(weights.iter().enumerate().fold((0, 0.0), first_largest)).filter(|&(_, weight)| weight > 0.0)
}

/// The place of a key in its row, from 1 for the largest weight; equal weights share the better place. `None` where the row has
/// no such key or holds NaN, which no order has a place for.
pub fn rank(weights: &[f64], key: usize) -> Option<usize> {
    let own = *weights.get(key)?;
    if weights.iter().any(|weight| weight.is_nan()) {
        return None;
    }
    Some(1 + weights.iter().filter(|&&weight| weight > own).count())
}

/// p·(1 − p): how strongly a weight answers to its own score, ∂w_j/∂s_j. At most ¼; near 0 in a saturated row.
pub fn slope(weight: f64) -> f64 {
    weight * (1.0 - weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_one_hot_row_has_entropy_zero_without_a_sign() {
        assert_eq!(entropy_nats(&[1.0, 0.0]), 0.0);
        assert!(entropy_nats(&[1.0, 0.0]).is_sign_positive());
        assert!(entropy_bits(&[0.0, 0.0]).is_sign_positive());
    }

    #[test]
    fn a_uniform_row_is_as_spread_out_as_it_has_keys() {
        assert_eq!(entropy_bits(&[0.25; 4]), 2.0);
        assert!((effective_keys(&[0.125; 8]) - 8.0).abs() < 1e-14);
        assert!(entropy_nats(&[f64::NAN, 0.5]).is_nan());
    }

    #[test]
    fn the_top_weight_is_the_first_of_equals() {
        assert_eq!(top_weight(&[0.2, 0.4, 0.4]), Some((1, 0.4)));
        assert_eq!(top_weight(&[]), None);
        assert_eq!(top_weight(&[0.0, 0.0]), None);
        assert_eq!(top_weight(&[f64::NAN, 0.0]), None);
    }

    #[test]
    fn equal_weights_share_the_better_place() {
        let weights = [0.2, 0.4, 0.0, 0.4];
        assert_eq!([0, 1, 2, 3].map(|key| rank(&weights, key)), [Some(3), Some(1), Some(4), Some(1)]);
        assert_eq!(rank(&weights, 4), None);
        assert_eq!(rank(&[0.5, f64::NAN], 0), None);
    }

    #[test]
    fn a_weight_answers_most_to_its_score_at_one_half() {
        assert_eq!(slope(0.5), 0.25);
        assert_eq!(slope(1.0), 0.0);
    }
}

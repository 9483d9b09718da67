//! Sines and cosines added to the hidden states (Vaswani et al., 2017).

use super::super::Matrix;

/// What is added to the hidden states: column 2f is sin(p / 10000^(2f/d_model)) and column 2f + 1 the cosine, for row i at
/// position p = `first_position` + i. Shape (n, d_model). With an odd width the last cosine is left out.
pub fn sinusoidal(n: usize, d_model: usize, first_position: i64) -> Matrix {
    Matrix::from_fn(n, d_model, |row, col| {
        let pair = (col / 2) as f64;
        let position = first_position as f64 + row as f64;
        let angle = position / 10_000_f64.powf(2.0 * pair / d_model as f64);
        if col % 2 == 0 { angle.sin() + 0.0 } else { angle.cos() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_zero_is_zeros_and_ones() {
        assert_eq!(sinusoidal(1, 5, 0).row(0), [0.0, 1.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_first_pair_turns_one_radian_a_step_and_the_second_a_hundredth() {
        let found = sinusoidal(2, 4, 2);
        let expected = [3_f64.sin(), 3_f64.cos(), 0.03_f64.sin(), 0.03_f64.cos()];
        assert_eq!(found.row(1), expected);
    }
}

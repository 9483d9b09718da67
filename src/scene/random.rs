//! NumPy's legacy random numbers, bit for bit, so that a scene can name an exercise's matrices by their seed.

use rand_mt::Mt;

/// The stream of `np.random.seed(seed); np.random.randn(..)`: standard normal draws.
///
/// MT19937 seeded with one number, 53-bit uniforms, Marsaglia's polar method. Each pair of uniforms gives two draws; the
/// **second** value of the pair comes out first, as in NumPy's `legacy_gauss`.
pub(super) struct LegacyNormal {
    generator: Mt,
    cached: Option<f64>,
}

impl LegacyNormal {
    pub fn new(seed: u32) -> Self {
        Self { generator: Mt::new(seed), cached: None }
    }

    /// Uniform in [0, 1) with 53 random bits.
    fn uniform(&mut self) -> f64 {
        let high = f64::from(self.generator.next_u32() >> 5);
        let low = f64::from(self.generator.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    fn draw(&mut self) -> f64 {
        if let Some(cached) = self.cached.take() {
            return cached;
        }
        loop {
            let x1 = 2.0 * self.uniform() - 1.0;
            let x2 = 2.0 * self.uniform() - 1.0;
            let r2 = x1 * x1 + x2 * x2;
            if r2 < 1.0 && r2 != 0.0 {
                let factor = (-2.0 * r2.ln() / r2).sqrt();
                self.cached = Some(factor * x1);
                return factor * x2;
            }
        }
    }
}

impl Iterator for LegacyNormal {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        Some(self.draw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `np.random.seed(s); np.random.randn(4)`, printed with `repr`.
    #[test]
    fn the_stream_is_numpys_to_the_last_bit() {
        let first = |seed| LegacyNormal::new(seed).take(4).collect::<Vec<_>>();
        assert_eq!(first(0), [1.764052345967664, 0.4001572083672233, 0.9787379841057392, 2.240893199201458]);
        assert_eq!(
            first(42),
            [0.4967141530112327, -0.13826430117118466, 0.6476885381006925, 1.5230298564080254]
        );
        assert_eq!(
            first(u32::MAX),
            [0.6484086742306527, 0.6693235306338161, -1.0805437227474493, 0.2845010447986309]
        );
        let late: Vec<_> = LegacyNormal::new(7).skip(1_000_001).take(2).collect();
        assert_eq!(late, [1.349592574750772, 0.02612894541310465]);
    }
}

//! The reading's generation with a KV cache, from NumPy's legacy random numbers on.

use qkv::engine::{
    AttentionSpec, Corner, HeadInput, KvCache, MaskRule, Matrix, attend, decode, kv_head_of, project,
};
use rand_mt::Mt;

use crate::json::{assert_all_close, assert_close, head_of, load, matrix};

/// `np.random.randn` after `np.random.seed(seed)`: Marsaglia's polar method on the Mersenne Twister.
struct LegacyRandn {
    twister: Mt,
    kept: Option<f64>,
}

impl LegacyRandn {
    fn new(seed: u32) -> Self {
        Self { twister: Mt::new(seed), kept: None }
    }

    fn uniform(&mut self) -> f64 {
        let (a, b) = (self.twister.next_u32() >> 5, self.twister.next_u32() >> 6);
        (f64::from(a) * 67_108_864.0 + f64::from(b)) / 9_007_199_254_740_992.0
    }

    fn draw(&mut self) -> f64 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.kept = Some(factor * x);
                return factor * y;
            }
        }
    }

    fn matrix(&mut self, rows: usize, cols: usize) -> Matrix {
        Matrix::from_fn(rows, cols, |_, _| self.draw())
    }
}

fn causal() -> AttentionSpec {
    AttentionSpec { mask: vec![MaskRule::Causal(Corner::TopLeft)], ..Default::default() }
}

#[test]
fn cached_and_full_attention_both_give_the_outputs_of_the_reading() {
    let reading = &load("readings.json")["kv_cache"];
    let (d, n_tokens) = (32, 16);
    let mut random = LegacyRandn::new(0);
    let [w_q, w_k, w_v] = [(); 3].map(|()| random.matrix(d, d).map(|value| value / (d as f64).sqrt()));
    let x = random.matrix(n_tokens, d);
    let [q, k, v] = [w_q, w_k, w_v].map(|w| project(&x, &w, None));

    let expected = matrix(&reading["outputs"]);
    let input = head_of(q.clone(), k.clone(), v.clone());
    assert_close("full pass", &attend(&input, &causal(), 0).output, &expected, 1e-13);
    let mut cache = KvCache::new(d, d);
    for step in 0..n_tokens {
        cache.append(k.row(step), v.row(step)).unwrap();
        let found = cache.attend(q.row(step), &AttentionSpec::default(), 0).unwrap();
        assert_all_close("step", found.output.row(0), expected.row(step), 1e-13);
        assert_eq!(found.weights.cols(), step + 1, "no mask is needed: the cache holds only the past");
    }
    let floats = cache.k().data().len() + cache.v().data().len();
    assert_eq!(Some(floats as u64), reading["cache_floats_per_layer"].as_u64());
}

#[test]
fn two_query_heads_read_one_cache_through_a_window() {
    let mut random = LegacyRandn::new(7);
    let queries = [random.matrix(6, 4), random.matrix(6, 4)];
    let (k, v) = (random.matrix(6, 4), random.matrix(6, 3));
    let mut spec = causal();
    spec.mask.push(MaskRule::Window { left: Some(2), right: None });
    let mut cache = KvCache::new(4, 3);
    for step in 0..6 {
        cache.append(k.row(step), v.row(step)).unwrap();
        for (query_head, q) in queries.iter().enumerate() {
            assert_eq!(kv_head_of(query_head, 2, 1), Ok(0));
            let input: HeadInput = head_of(q.clone(), k.clone(), v.clone());
            let found = cache.attend(q.row(step), &spec, query_head).unwrap();
            assert_eq!(found.output.row(0), attend(&input, &spec, query_head).output.row(step));
            assert_eq!(decode(&input, &spec, query_head)[step].output, found.output);
            let visible = (0..=step).filter(|&key| found.allows(0, key)).count();
            assert_eq!(visible, (step + 1).min(3));
        }
    }
}

#[test]
fn the_random_numbers_are_those_of_numpy() {
    // np.random.seed(0); np.random.randn(3)
    let mut random = LegacyRandn::new(0);
    let drawn = [random.draw(), random.draw(), random.draw()];
    assert_all_close(
        "randn",
        &drawn,
        &[1.764_052_345_967_664, 0.400_157_208_367_223_3, 0.978_737_984_105_739_2],
        1e-15,
    );
}

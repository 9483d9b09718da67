//! Whether the stages of a head would fit in memory, before anything is allocated.

use super::{AttentionSpec, HeadInput};

/// What keeping every stage takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageMemory {
    /// Query heads.
    pub heads: usize,
    /// Queries.
    pub n_q: usize,
    /// Keys.
    pub n_k: usize,
    /// Columns of V.
    pub d_v: usize,
    /// Whether any mask layer is there: the masked scores are then numbers of their own, and each pair notes who blocks it.
    pub has_mask: bool,
}

/// The stages do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the stages of {heads} heads with {n_q} queries and {n_k} keys take {} where {} are allowed; {}",
    in_words(*.wanted),
    in_words(Some(*.allowed)),
    hint(*.output_fits)
)]
pub struct TooLarge {
    /// Query heads.
    pub heads: usize,
    /// Queries.
    pub n_q: usize,
    /// Keys.
    pub n_k: usize,
    /// Bytes wanted; `None` beyond 2¹²⁸.
    pub wanted: Option<u128>,
    /// Bytes allowed.
    pub allowed: u128,
    /// Whether the output alone would fit, as the tiled and the output-only form make it.
    pub output_fits: bool,
}

const BYTES_PER_NUMBER: u128 = 8;
const BYTES_PER_BLOCKED_PAIR: u128 = 4;

impl StageMemory {
    /// Of one head.
    pub fn of_head(input: &HeadInput, spec: &AttentionSpec) -> Self {
        let HeadInput { q, k, v } = input;
        Self { heads: 1, n_q: q.rows(), n_k: k.rows(), d_v: v.cols(), has_mask: !spec.mask.is_empty() }
    }

    /// Bytes that every stage of every head takes: raw, scaled and masked scores, weights and output. `None` beyond 2¹²⁸.
    pub fn bytes(&self) -> Option<u128> {
        let pairs = product(&[self.heads, self.n_q, self.n_k])?;
        let per_pair =
            if self.has_mask { 4 * BYTES_PER_NUMBER + BYTES_PER_BLOCKED_PAIR } else { 3 * BYTES_PER_NUMBER };
        pairs.checked_mul(per_pair)?.checked_add(self.output_bytes()?)
    }

    /// Bytes of the output alone.
    pub fn output_bytes(&self) -> Option<u128> {
        product(&[self.heads, self.n_q, self.d_v])?.checked_mul(BYTES_PER_NUMBER)
    }

    /// Whether everything fits into `allowed` bytes.
    ///
    /// # Errors
    /// [`TooLarge`] with the sizes and the bytes.
    pub fn check(&self, allowed: u128) -> Result<(), TooLarge> {
        let &Self { heads, n_q, n_k, .. } = self;
        let wanted = self.bytes();
        if wanted.is_some_and(|wanted| wanted <= allowed) {
            return Ok(());
        }
        let output_fits = self.output_bytes().is_some_and(|bytes| bytes <= allowed);
        Err(TooLarge { heads, n_q, n_k, wanted, allowed, output_fits })
    }
}

fn product(counts: &[usize]) -> Option<u128> {
    counts.iter().try_fold(1_u128, |product, &count| product.checked_mul(count as u128))
}

fn in_words(bytes: Option<u128>) -> String {
    let Some(bytes) = bytes else { return "more bytes than can be counted".to_owned() };
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let unit = units.iter().scan(1_u128, |size, unit| {
        let this = (*size, *unit);
        *size *= 1000;
        Some(this)
    });
    let (size, unit) = unit.take_while(|&(size, _)| size <= bytes.max(1)).last().unwrap_or((1, "B"));
    if size == 1 { format!("{bytes} B") } else { format!("{:.1} {unit}", bytes as f64 / size as f64) }
}

fn hint(output_fits: bool) -> &'static str {
    if output_fits {
        "the output alone fits: take the tiled pass, or fewer tokens"
    } else {
        "not even the output fits: take fewer tokens or heads"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u128 = 1_000_000_000;

    #[test]
    fn a_billion_tokens_are_refused_with_sizes_and_bytes() {
        let memory =
            StageMemory { heads: 1, n_q: 1_000_000_000, n_k: 1_000_000_000, d_v: 64, has_mask: false };
        assert_eq!(
            memory.check(8 * GB).unwrap_err().to_string(),
            "the stages of 1 heads with 1000000000 queries and 1000000000 keys take 24000.0 PB where 8.0 GB are allowed; \
             not even the output fits: take fewer tokens or heads"
        );
        let absurd =
            StageMemory { heads: usize::MAX, n_q: usize::MAX, n_k: usize::MAX, d_v: 1, has_mask: true };
        assert_eq!(absurd.bytes(), None);
        assert!(absurd.check(u128::MAX).unwrap_err().to_string().contains("more bytes than can be counted"));
    }

    #[test]
    fn the_tiled_pass_is_offered_where_only_the_stages_are_too_large() {
        let memory = StageMemory { heads: 12, n_q: 65_536, n_k: 65_536, d_v: 64, has_mask: true };
        assert_eq!(memory.output_bytes(), Some(12 * 65_536 * 64 * 8));
        let error = memory.check(4 * GB).unwrap_err();
        assert!(error.output_fits);
        assert!(error.to_string().ends_with("the output alone fits: take the tiled pass, or fewer tokens"));
        assert_eq!(StageMemory { n_q: 1024, n_k: 1024, ..memory }.check(4 * GB), Ok(()));
    }

    #[test]
    fn the_bytes_are_those_that_are_allocated() {
        let memory = StageMemory { heads: 1, n_q: 3, n_k: 5, d_v: 2, has_mask: true };
        assert_eq!(memory.bytes(), Some(4 * 15 * 8 + 15 * 4 + 6 * 8));
        assert_eq!(StageMemory { n_k: 0, ..memory }.bytes(), Some(48));
    }
}

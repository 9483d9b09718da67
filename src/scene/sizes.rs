//! The sizes of a scene, and those that are known while something else in it is wrong.

/// Every size of a scene.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub n_q: usize,
    pub n_k: usize,
    pub d_q: usize,
    pub d_k: usize,
    pub d_v: usize,
    pub heads: usize,
    pub kv_heads: usize,
    /// Numbers made by projections, and by W_O.
    pub projected: u128,
}

/// Sizes that are certain although the input may be wrong: what else is said of them can be judged in the same go. A size about
/// which the input contradicts itself is not among them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownSizes {
    pub n_q: Option<usize>,
    pub n_k: Option<usize>,
    pub d_q: Option<usize>,
    pub d_k: Option<usize>,
    pub heads: Option<usize>,
}

impl From<&Sizes> for KnownSizes {
    fn from(sizes: &Sizes) -> Self {
        let Sizes { n_q, n_k, d_q, d_k, heads, .. } = *sizes;
        Self { n_q: Some(n_q), n_k: Some(n_k), d_q: Some(d_q), d_k: Some(d_k), heads: Some(heads) }
    }
}

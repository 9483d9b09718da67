//! One block of queries against every key that it can reach, tile after tile of keys, in scratch space that stays in cache.
//!
//! The mathematics is that of [`attend_tiled`](super::super::attend_tiled), which is the form to read first. Scores of a tile lie
//! transposed, a row for every key: K is then read as it lies, softmax works on many queries side by side, and both products have
//! the long operand where a row of vectors is wanted.

use pulp::Arch;

use super::super::scoring::{scale_of, soft_cap};
use super::super::softmax::empty_weight;
use super::super::{AttentionSpec, EmptyRow, MaskView, Reach};
use super::aligned::Aligned;
use super::lanes::{LANES, TakeIn};
use super::product::{Left, PAD, Product};
use super::real::Real;
use super::view::HeadView;

/// Queries in a block, and keys in a tile: scores, keys and values of a tile stay in the second-level cache.
pub(super) const BLOCK_QUERIES: usize = 256;
const TILE_KEYS: usize = 512;
/// From one row of transposed numbers to the next: room for whole strips, and an odd number of cache lines in `f32`, so that
/// neighbours down a column do not push each other out of the cache.
const STRIDE: usize = BLOCK_QUERIES + 16;

/// One query head.
pub(super) struct Pass<'a, R> {
    pub head: HeadView<'a, R>,
    spec: &'a AttentionSpec,
    view: MaskView<'a>,
    scale: R,
    sink: Option<f64>,
    /// Whether 0 · v is 0 for every value, so that blocked values may take part with the weight 0.
    values_are_finite: bool,
    arch: Arch,
}

impl<'a, R: Real> Pass<'a, R> {
    pub(super) fn new(head: &HeadView<'a, R>, spec: &'a AttentionSpec, query_head: usize) -> Self {
        let (n_q, n_k) = (head.q.rows(), head.k.rows());
        Self {
            head: *head,
            spec,
            view: MaskView::new(&spec.mask, n_q, n_k, spec.position_offset, query_head),
            scale: R::from_f64(scale_of(&spec.scoring, head.k.cols())),
            sink: spec.sink_of(query_head),
            values_are_finite: head.v.is_finite(),
            arch: Arch::new(),
        }
    }

    /// The sum with the sink's term in it, in units of exp(max). Where the sink is so much larger that its term overflows, nothing is
    /// left for the keys, and the sum is ∞.
    fn sum_beside_sink(&self, max: R, sum: R) -> R {
        let term = self.sink.map_or(0.0, |sink| (sink - max.to_f64()).exp());
        R::from_f64(sum.to_f64() + term)
    }

    /// d_v, padded to whole vectors.
    fn padded_width(&self) -> usize {
        self.head.v.cols().next_multiple_of(PAD)
    }
}

/// What one thread works in.
#[derive(Default)]
pub(super) struct Scratch<R> {
    /// Qᵀ of the block. Shape (d_k, STRIDE).
    queries: Aligned<R>,
    /// Scores of a tile, then their exponentials. Shape (n_keys, STRIDE).
    scores: Aligned<R>,
    /// V of the tile, its rows padded. Shape (n_keys, padded d_v).
    values: Aligned<R>,
    /// Σ exp(s − max) · v so far. Shape (n_lanes, padded d_v).
    gathered: Aligned<R>,
    max: Vec<R>,
    sum: Vec<R>,
    reach: Vec<Reach>,
    has_seen: Vec<bool>,
}

/// One block of queries against every key that they can reach.
pub(super) struct Block<'p, 'a, R> {
    pub pass: &'p Pass<'a, R>,
    pub first_query: usize,
    pub n_rows: usize,
    /// Shape (n_rows, d_v).
    pub output: &'p mut [R],
}

impl<R: Real> Block<'_, '_, R> {
    pub(super) fn run(self, scratch: &mut Scratch<R>) {
        self.begin(scratch);
        let reached = || scratch.reach.iter().filter(|reach| !reach.keys.is_empty());
        let start = reached().map(|reach| reach.keys.start).min().unwrap_or(0);
        let end = reached().map(|reach| reach.keys.end).max().unwrap_or(0);
        for first_key in (start..end).step_by(TILE_KEYS) {
            self.take_in_tile(first_key, TILE_KEYS.min(end - first_key), scratch);
        }
        self.finish(scratch);
    }

    /// Queries, padded to whole groups of lanes. What is computed for the padding is not looked at.
    fn n_lanes(&self) -> usize {
        self.n_rows.next_multiple_of(LANES)
    }

    fn begin(&self, scratch: &mut Scratch<R>) {
        let Self { pass, first_query, n_rows, .. } = *self;
        let fill = |numbers: &mut Vec<R>, value| {
            numbers.clear();
            numbers.resize(self.n_lanes(), value);
        };
        fill(&mut scratch.max, R::NEG_INFINITY);
        fill(&mut scratch.sum, R::ZERO);
        scratch.has_seen.clear();
        scratch.has_seen.resize(n_rows, false);
        scratch.reach.clear();
        scratch.reach.extend((0..n_rows).map(|row| pass.view.reach(first_query + row)));
        scratch.gathered.of_len(self.n_lanes() * pass.padded_width()).fill(R::ZERO);
        let d_k = pass.head.q.cols();
        let transposed = scratch.queries.of_len(d_k * STRIDE);
        transpose(pass.head.q.row_range(first_query, first_query + n_rows), d_k, transposed);
    }

    fn take_in_tile(&self, first_key: usize, n_keys: usize, scratch: &mut Scratch<R>) {
        let Self { pass, n_rows, .. } = *self;
        let HeadView { k, v, .. } = pass.head;
        let d_k = k.cols();
        let product = Product {
            left: Left::ByRows(k.row_range(first_key, first_key + n_keys)),
            n_rows: n_keys,
            n_steps: d_k,
            right: scratch.queries.of_len(d_k * STRIDE),
            right_stride: STRIDE,
            n_cols: self.n_lanes(),
            factor: pass.scale,
            adds: false,
            target: scratch.scores.of_len(n_keys * STRIDE),
            target_stride: STRIDE,
        };
        product.run(pass.arch); // (n_keys, n_rows)
        self.cap_and_mask(first_key, n_keys, scratch);
        let width = pass.padded_width();
        pass.arch.dispatch(TakeIn {
            scores: scratch.scores.of_len(n_keys * STRIDE),
            stride: STRIDE,
            max: &mut scratch.max,
            sum: &mut scratch.sum,
            gathered: scratch.gathered.of_len(self.n_lanes() * width),
            gathered_width: width,
        });
        if !pass.values_are_finite {
            self.mix_with_care(first_key, n_keys, scratch);
            return;
        }
        let values = scratch.values.of_len(n_keys * width);
        for (to, key) in values.chunks_exact_mut(width.max(1)).zip(first_key..first_key + n_keys) {
            to[..v.cols()].copy_from_slice(v.row(key));
        }
        let product = Product {
            left: Left::BySteps(scratch.scores.of_len(n_keys * STRIDE), STRIDE),
            n_rows,
            n_steps: n_keys,
            right: values,
            right_stride: width,
            n_cols: width,
            factor: R::ONE,
            adds: true,
            target: scratch.gathered.of_len(self.n_lanes() * width),
            target_stride: width,
        };
        product.run(pass.arch); // (n_rows, d_v)
    }

    /// Soft cap, bias and −∞ for what is blocked.
    fn cap_and_mask(&self, first_key: usize, n_keys: usize, scratch: &mut Scratch<R>) {
        let Self { pass, first_query, n_rows, .. } = *self;
        let scores = scratch.scores.of_len(n_keys * STRIDE);
        if let Some(cap) = pass.spec.softcap {
            for row in scores.chunks_exact_mut(STRIDE) {
                row[..n_rows]
                    .iter_mut()
                    .for_each(|score| *score = R::from_f64(soft_cap(score.to_f64(), cap)));
            }
        }
        for (row, (reach, has_seen)) in scratch.reach.iter().zip(&mut scratch.has_seen).enumerate() {
            let within = |key: usize| key.saturating_sub(first_key).min(n_keys);
            let (start, end) = (within(reach.keys.start), within(reach.keys.end));
            let end = end.max(start);
            for at in (0..start).chain(end..n_keys) {
                scores[at * STRIDE + row] = R::NEG_INFINITY;
            }
            if reach.is_whole {
                *has_seen |= start < end;
                continue;
            }
            for at in start..end {
                let (query, key) = (first_query + row, first_key + at);
                let score = &mut scores[at * STRIDE + row];
                if pass.view.allows(query, key) {
                    *has_seen = true;
                    *score = R::from_f64(score.to_f64() + pass.view.bias(query, key));
                } else {
                    *score = R::NEG_INFINITY;
                }
            }
        }
    }

    /// exp · V where some value is NaN or infinite: a blocked one is not read.
    fn mix_with_care(&self, first_key: usize, n_keys: usize, scratch: &mut Scratch<R>) {
        let v = self.pass.head.v;
        let width = self.pass.padded_width();
        let exps = scratch.scores.of_len(n_keys * STRIDE);
        let gathered = scratch.gathered.of_len(self.n_lanes() * width);
        for (row, sums) in gathered.chunks_exact_mut(width.max(1)).take(self.n_rows).enumerate() {
            for at in 0..n_keys {
                if self.pass.view.allows(self.first_query + row, first_key + at) {
                    let exp = exps[at * STRIDE + row];
                    sums.iter_mut().zip(v.row(first_key + at)).for_each(|(sum, &value)| *sum += exp * value);
                }
            }
        }
    }

    /// Divides by the sums; 0/0 where every visible score is −∞, as in the plain form.
    fn finish(self, scratch: &mut Scratch<R>) {
        let v = self.pass.head.v;
        let width = self.pass.padded_width();
        let gathered = scratch.gathered.of_len(self.n_lanes() * width).chunks_exact(width.max(1));
        let rows = self.output.chunks_exact_mut(v.cols().max(1)).zip(gathered);
        for (row, (output, gathered)) in rows.enumerate() {
            if scratch.has_seen[row] {
                let sum = self.pass.sum_beside_sink(scratch.max[row], scratch.sum[row]);
                let inverse = R::ONE / sum;
                output.iter_mut().zip(gathered).for_each(|(to, &value)| *to = value * inverse + R::ZERO);
            } else if self.pass.sink.is_none() {
                self.pass.fill_empty(output); // else the sink takes all the weight
            }
        }
    }
}

/// Rows of `width` numbers into columns, [`STRIDE`] apart. Four rows at a time, so that four numbers are stored at once.
fn transpose<R: Real>(rows: &[R], width: usize, columns: &mut [R]) {
    for (group, rows) in rows.chunks((4 * width).max(1)).enumerate() {
        for (feature, column) in columns.chunks_exact_mut(STRIDE).enumerate() {
            let to = &mut column[4 * group..4 * group + 4];
            if let [a, b, c, d] = to
                && rows.len() == 4 * width
            {
                (*a, *b, *c, *d) = (
                    rows[feature],
                    rows[width + feature],
                    rows[2 * width + feature],
                    rows[3 * width + feature],
                );
            } else {
                to.iter_mut().zip(rows.chunks_exact(width)).for_each(|(to, row)| *to = row[feature]);
            }
        }
    }
}

impl<R: Real> Pass<'_, R> {
    /// The output of a query that sees nothing, over zeros.
    fn fill_empty(&self, output: &mut [R]) {
        let v = self.head.v;
        let policy = self.spec.softmax.empty_rows;
        let weight = R::from_f64(empty_weight(policy, v.rows()));
        match policy {
            EmptyRow::Zero => {}
            EmptyRow::NotANumber => output.fill(weight),
            EmptyRow::Uniform => {
                for key in 0..v.rows() {
                    output.iter_mut().zip(v.row(key)).for_each(|(sum, &value)| *sum += weight * value);
                }
            }
        }
    }
}

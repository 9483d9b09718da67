//! Any head: random shapes, numbers, scorings, masks, offsets and softmaxes.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use qkv::engine::{
    AttentionSpec, Convention, Corner, EmptyRow, HeadInput, MaskRule, Matrix, Precision, Scoring,
    SoftmaxAxis, SoftmaxForm, SoftmaxSpec,
};

#[derive(Clone, Debug)]
pub struct AnyHead {
    pub input: HeadInput,
    pub spec: AttentionSpec,
}

#[derive(Clone, Copy)]
struct Sizes {
    n_q: usize,
    n_k: usize,
    d_q: usize,
    d_k: usize,
}

pub fn any_head() -> impl Strategy<Value = AnyHead> {
    let sizes = (0_usize..6, 0_usize..7, 1_usize..5, 1_usize..5, 0_usize..4, any::<bool>());
    sizes.prop_flat_map(|(n_q, n_k, d_q, d_k, d_v, joined_by_a_scorer)| {
        let d_q = if joined_by_a_scorer { d_q } else { d_k };
        let sizes = Sizes { n_q, n_k, d_q, d_k };
        let input = (matrix(n_q, d_q), matrix(n_k, d_k), matrix(n_k, d_v));
        (input, scoring(sizes, joined_by_a_scorer), settings(sizes)).prop_map(
            |((q, k, v), scoring, settings)| {
                let input = HeadInput { q: Arc::new(q), k: Arc::new(k), v: Arc::new(v) };
                let spec = AttentionSpec { scoring, ..settings };
                input.check(&spec.scoring).unwrap();
                for rule in &spec.mask {
                    rule.check_shape(input.q.rows(), input.k.rows(), 1).unwrap();
                }
                AnyHead { input, spec }
            },
        )
    })
}

fn settings(sizes: Sizes) -> impl Strategy<Value = AttentionSpec> {
    let softcap = prop::option::of(0.5..10.0);
    let softmax = (
        prop_oneof![3 => Just(SoftmaxAxis::Keys), 1 => Just(SoftmaxAxis::Queries)],
        prop_oneof![Just(SoftmaxForm::Stable), Just(SoftmaxForm::Naive)],
        prop_oneof![Just(EmptyRow::Zero), Just(EmptyRow::NotANumber), Just(EmptyRow::Uniform)],
    );
    let sink = prop::option::weighted(0.25, -3.0..3.0);
    (softcap, vec(layer(sizes), 0..4), -3_i64..4, softmax, sink).prop_map(
        |(softcap, mask, position_offset, (over, form, empty_rows), sink)| AttentionSpec {
            scoring: Scoring::ScaledDot,
            softcap,
            mask,
            position_offset,
            softmax: SoftmaxSpec { over, form, empty_rows },
            precision: Precision::F64,
            sinks: Arc::new(sink.into_iter().collect()),
            fault: None,
        },
    )
}

fn scoring(sizes: Sizes, joined_by_a_scorer: bool) -> BoxedStrategy<Scoring> {
    let Sizes { d_q, d_k, .. } = sizes;
    if !joined_by_a_scorer {
        let scale = (-2.0..2.0).prop_map(Scoring::Scale);
        return prop_oneof![Just(Scoring::ScaledDot), Just(Scoring::Dot), scale].boxed();
    }
    let general = matrix(d_q, d_k).prop_map(|w| Scoring::General { w: Arc::new(w) });
    let additive = (1_usize..5).prop_flat_map(move |d_att| {
        (matrix(d_att, d_q), matrix(d_att, d_k), vec(-2.0..2.0, d_att)).prop_map(|(w_q, w_k, v)| {
            Scoring::Additive { w_q: Arc::new(w_q), w_k: Arc::new(w_k), v: Arc::new(v) }
        })
    });
    prop_oneof![general, additive].boxed()
}

fn layer(Sizes { n_q, n_k, .. }: Sizes) -> impl Strategy<Value = MaskRule> {
    let n_positions = n_q.max(n_k);
    let corner = prop_oneof![Just(Corner::TopLeft), Just(Corner::BottomRight)];
    let convention = || prop_oneof![Just(Convention::TrueAllows), Just(Convention::TrueBlocks)];
    let rows = move || vec(vec(any::<bool>(), n_k), n_q);
    let side = || prop::option::of(0_usize..4);
    prop_oneof![
        corner.prop_map(MaskRule::Causal),
        (0..=n_k).prop_map(MaskRule::ValidKeys),
        vec(any::<bool>(), n_k).prop_map(MaskRule::PaddedKeys),
        (side(), side()).prop_map(|(left, right)| MaskRule::Window { left, right }),
        vec(0_i64..2, n_positions).prop_map(MaskRule::Documents),
        (0..=n_k).prop_map(MaskRule::Prefix),
        vec(0..n_positions.max(1), 0..2.min(n_positions + 1)).prop_map(MaskRule::Global),
        (1_usize..4).prop_map(MaskRule::Strided),
        (convention(), rows()).prop_map(|(convention, rows)| MaskRule::Matrix { convention, rows }),
        bias(n_q, n_k).prop_map(MaskRule::Additive),
        (convention(), rows())
            .prop_map(|(convention, rows)| MaskRule::MatrixPerHead { convention, heads: vec![rows] }),
        bias(n_q, n_k).prop_map(|matrix| MaskRule::AdditivePerHead(vec![matrix])),
        (-1.0..1.0).prop_map(|slope| MaskRule::Alibi(vec![slope])),
    ]
}

fn bias(n_q: usize, n_k: usize) -> impl Strategy<Value = Matrix> {
    let entry = prop_oneof![4 => -3.0..3.0, 1 => Just(f64::NEG_INFINITY), 1 => Just(-0.0)];
    vec(entry, n_q * n_k).prop_map(move |data| Matrix::new(n_q, n_k, data).unwrap())
}

fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Matrix> {
    let entry = prop_oneof![6 => -3.0..3.0, 1 => Just(0.0), 1 => Just(-0.0)];
    vec(entry, rows * cols).prop_map(move |data| Matrix::new(rows, cols, data).unwrap())
}

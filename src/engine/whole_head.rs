//! One head with everything that a scene may ask of it: positions, number format, a named mistake, dropout.

use std::sync::Arc;

use super::{
    Attention, AttentionSpec, Dropout, Dropped, Fault, FaultSizes, HeadInput, MaskRule, Matrix, OddWidth,
    Precision, RopeLayout, alibi_bias, alibi_slopes, attend_in, attend_with_fault, rope,
};

/// How the order of the tokens gets into a head.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Position {
    /// Not at all.
    #[default]
    None,
    /// Queries and keys are turned ([`rope()`]).
    Rope {
        /// The base of the frequencies; 10 000 in the paper.
        base: f64,
        /// Which features are turned together.
        layout: RopeLayout,
    },
    /// A bias that grows with the distance ([`alibi_bias`]), as one more mask layer after the others.
    Alibi,
    /// Sines and cosines added to the hidden states ([`sinusoidal`](super::sinusoidal())) before they are projected: nothing is left to
    /// do within a head.
    Sinusoidal,
}

/// Everything that decides the result of a head.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadSpec {
    /// Scores, masks, softmax, sinks.
    pub attention: AttentionSpec,
    /// Positions.
    pub position: Position,
    /// The number format. A named mistake is computed in the format that it is about, whatever stands here.
    pub precision: Precision,
    /// A mistake to make. Those between the heads change nothing here.
    pub fault: Option<Fault>,
    /// Dropout of the weights.
    pub dropout: Option<Dropout>,
}

/// The model that a head belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelSizes {
    /// Query heads.
    pub heads: usize,
    /// The width of the hidden states.
    pub d_model: usize,
}

/// A head with the stages before and after attention.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadStages {
    /// Q, K and V as the scores read them: turned, where positions turn them.
    pub placed: HeadInput,
    /// The position bias, where there is one. Shape (n_q, n_k).
    pub position_bias: Option<Matrix>,
    /// The mask layers in force, the position bias last; indices in `attention.blocked_by` count in these.
    pub spec: AttentionSpec,
    /// Every stage, before dropout.
    pub attention: Attention,
    /// After dropout, where there is any.
    pub dropped: Option<Dropped>,
}

/// One head from its Q, K and V to its output.
///
/// # Errors
/// [`OddWidth`] when features cannot be turned in pairs.
///
/// # Panics
/// When the shapes do not fit together; [`HeadInput::check`] says so beforehand.
pub fn attend_head(
    input: &HeadInput,
    spec: &HeadSpec,
    query_head: usize,
    sizes: ModelSizes,
) -> Result<HeadStages, OddWidth> {
    let placed = place(input, spec)?;
    let position_bias = position_bias(input, spec, query_head, sizes.heads);
    let mut attention_spec = spec.attention.clone();
    attention_spec.mask.extend(position_bias.clone().map(MaskRule::Additive));
    let attention = match spec.fault {
        Some(fault) => {
            let sizes = FaultSizes { d_model: sizes.d_model };
            attend_with_fault(fault, &placed, &attention_spec, query_head, sizes)
        }
        None => attend_in(spec.precision, &placed, &attention_spec, query_head),
    };
    let dropped = spec.dropout.map(|dropout| dropout.apply(&attention, &placed.v, query_head));
    Ok(HeadStages { placed, position_bias, spec: attention_spec, attention, dropped })
}

fn place(input: &HeadInput, spec: &HeadSpec) -> Result<HeadInput, OddWidth> {
    let Position::Rope { base, layout } = spec.position else { return Ok(input.clone()) };
    let q = rope(&input.q, base, layout, spec.attention.position_offset)?;
    let k = rope(&input.k, base, layout, 0)?;
    Ok(HeadInput { q: Arc::new(q), k: Arc::new(k), v: input.v.clone() })
}

fn position_bias(input: &HeadInput, spec: &HeadSpec, query_head: usize, heads: usize) -> Option<Matrix> {
    let is_alibi = spec.position == Position::Alibi;
    let slope = *alibi_slopes(heads).get(query_head).filter(|_| is_alibi)?;
    Some(alibi_bias(slope, input.q.rows(), input.k.rows(), spec.attention.position_offset))
}

#[cfg(test)]
mod tests {
    use super::super::{Corner, attend};
    use super::*;

    const SIZES: ModelSizes = ModelSizes { heads: 8, d_model: 32 };

    fn input() -> HeadInput {
        let wave =
            |step: f64| Arc::new(Matrix::from_fn(5, 4, |row, col| (step * (4 * row + col) as f64).sin()));
        HeadInput { q: wave(0.7), k: wave(1.3), v: wave(0.2) }
    }

    #[test]
    fn a_head_of_which_nothing_is_asked_is_plain_attention() {
        let found = attend_head(&input(), &HeadSpec::default(), 0, SIZES).unwrap();
        assert_eq!(found.attention, attend(&input(), &AttentionSpec::default(), 0));
        assert_eq!((found.placed, found.position_bias, found.dropped), (input(), None, None));
    }

    #[test]
    fn turned_scores_depend_on_distance_and_not_on_where_the_text_begins() {
        let position = Position::Rope { base: 1e4, layout: RopeLayout::HalfSplit };
        let spec = HeadSpec { position, ..Default::default() };
        let found = attend_head(&input(), &spec, 0, SIZES).unwrap();
        assert_eq!(found.placed.q.row(0), input().q.row(0));
        assert_ne!(found.attention.raw_scores, attend(&input(), &AttentionSpec::default(), 0).raw_scores);
        let odd = HeadInput { q: Arc::new(Matrix::zeros(1, 3)), k: Arc::new(Matrix::zeros(1, 3)), ..input() };
        assert_eq!(attend_head(&odd, &spec, 0, SIZES), Err(OddWidth { width: 3 }));
    }

    #[test]
    fn the_distance_is_taken_off_the_scores_of_each_head_by_its_own_slope() {
        let attention = AttentionSpec { mask: vec![MaskRule::Causal(Corner::TopLeft)], ..Default::default() };
        let spec = HeadSpec { attention, position: Position::Alibi, ..Default::default() };
        let found = attend_head(&input(), &spec, 1, SIZES).unwrap();
        let off = found.attention.masked_scores.get(4, 1) - found.attention.scaled_scores.get(4, 1);
        assert!((off + 0.25 * 3.0).abs() < 1e-15); // the second of eight slopes, three positions back
        assert_eq!(found.spec.mask.len(), 2);
        assert_eq!(found.attention.blocked_by(0, 1), Some(0));
    }

    #[test]
    fn format_mistake_and_dropout_are_obeyed() {
        let half = HeadSpec { precision: Precision::F16, ..Default::default() };
        let found = attend_head(&input(), &half, 0, SIZES).unwrap().attention;
        assert!(found.weights.data().iter().all(|&weight| Precision::F16.round(weight) == weight));
        let faulty = HeadSpec { fault: Some(Fault::ModelWidthScale), ..Default::default() };
        let scale = attend_head(&input(), &faulty, 0, SIZES).unwrap().attention.scale;
        assert_eq!(scale, 1.0 / 32_f64.sqrt());
        let dropout = Some(Dropout::new(0.5, 3).unwrap());
        let found = attend_head(&input(), &HeadSpec { dropout, ..Default::default() }, 0, SIZES).unwrap();
        let dropped = found.dropped.unwrap();
        let n_kept = dropped.kept.iter().filter(|&&kept| kept).count();
        assert!((1..25).contains(&n_kept));
        assert_ne!(dropped.output, found.attention.output);
    }
}

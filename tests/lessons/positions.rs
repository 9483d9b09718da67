//! What the notes of the scenes on positions, sparse patterns and number formats say.

use qkv::engine::{Attention, Corner, MaskRule, Precision};
use qkv::scene::{Evaluation, Position, ScoringSpec};

use crate::lesson::{Lesson, Telling, heads_of, set_row};

pub const TELLINGS: &[(&str, Telling)] = &[
    ("35_rotary_positions", rotary),
    ("36_linear_biases", linear_biases),
    ("37_window_stride_global", sparse),
    ("38_half_precision_overflow", overflow),
    ("39_lost_differences", lost_differences),
];

fn first(evaluation: &Evaluation) -> &Attention {
    &evaluation.heads[0].attention
}

fn rotary(lesson: &Lesson) {
    let head = &lesson.evaluation.heads[0];
    let (before, after) = (&head.unrotated.as_ref().unwrap().q, &head.input.q);
    lesson.says("[0, 1]", before.row(1));
    lesson.holds("rose is the same word twice", before.row(1) == before.row(4));
    lesson.says("[-0.8415, 0.5403]", after.row(1));
    lesson.says("[0.7568, -0.6536]", after.row(4));
    let raw = &head.attention.raw_scores;
    lesson.says_one("-0.8415", raw.get(1, 0));
    lesson.says_one("-0.8415", raw.get(4, 3));
    lesson.says_one("1", raw.get(1, 1));
    lesson.says_one("1", raw.get(4, 4));
    lesson.says_one("2", raw.get(2, 2));
    let weights = &head.attention.weights;
    lesson.says("[0.0722, 0.2656, 0.3480, 0.2491, 0.0650]", weights.row(1));
    lesson.says("[0.3299, 0.0959, 0.0757, 0.1066, 0.3919]", weights.row(4));

    let none = lesson.edited(|spec| spec.position = Position::None);
    let without = &first(&none).weights;
    lesson.says("[0.1237, 0.2509, 0.2509, 0.1237, 0.2509]", without.row(1));
    for (one, other) in [(0, 3), (1, 4)] {
        lesson.holds("without positions equal words have equal rows", without.row(one) == without.row(other));
    }
    let moved = lesson.edited(|spec| spec.position_offset = 1);
    for (rose, a) in [(1, 0), (4, 3)] {
        lesson.says_one("-0.9093", first(&moved).raw_scores.get(rose, a));
    }
}

fn linear_biases(lesson: &Lesson) {
    let slopes: Vec<f64> =
        lesson.evaluation.heads.iter().map(|head| head.alibi.as_ref().unwrap().slope).collect();
    lesson.says("[0.25, 0.0625, 0.0156, 0.0039]", &slopes);
    for pair in slopes.windows(2) {
        lesson.holds("each slope is the same fraction of the one before", pair[1] / pair[0] == 0.25);
    }
    lesson.says("[-1.25, -1, -0.75, -0.5, -0.25, 0]", lesson.head(1).masked_scores.row(5));
    lesson.says("[0.0816, 0.1047, 0.1345, 0.1727, 0.2217, 0.2847]", lesson.head(1).weights.row(5));
    lesson.says_one("4.2025", lesson.head(1).output.get(5, 0));
    lesson.says_one("3.5114", lesson.head(4).output.get(5, 0));
    let none = lesson.edited(|spec| spec.position = Position::None);
    for head in &none.heads {
        lesson.says_one("3.5", head.attention.output.get(5, 0));
    }
    let open = lesson.edited(|spec| spec.mask.clear());
    lesson.says_one("0.2847", first(&open).weights.get(0, 5));
    let row = first(&open).weights.row(0);
    lesson.holds("the last word has the most", row.iter().all(|weight| *weight <= row[5]));
}

fn visible(evaluation: &Evaluation) -> f64 {
    first(evaluation).blocked_by.iter().filter(|layer| layer.is_none()).count() as f64
}

fn sparse(lesson: &Lesson) {
    let spec = lesson.scene.spec();
    let (side, stride) = (lesson.given_one("4") as usize, lesson.given_one("2") as usize);
    lesson.holds("window", spec.mask[0] == MaskRule::Window { left: Some(side), right: Some(side) });
    lesson.holds("stride", spec.mask[1] == MaskRule::Strided(stride));
    let attention = lesson.head(1);
    let seen: Vec<usize> = (0..10).filter(|key| attention.allows(3, *key)).map(|key| key + 1).collect();
    lesson.holds("what man sees", seen == [1, 2, 4, 6, 8]);
    lesson.says_one("5", seen.len() as f64);
    lesson.says_one("0.2", attention.weights.get(3, 3));
    lesson.says_one("4.2", attention.output.get(3, 0));
    lesson.says_one("5.5", attention.output.get(0, 0));
    let is_full = (0..10).all(|other| attention.allows(0, other) && attention.allows(other, 0));
    lesson.holds("the global row and column are full", is_full);
    lesson.says_one("100", attention.weights.data().len() as f64);
    lesson.says_one("52", visible(&lesson.evaluation));

    let without_global = lesson.edited(|spec| drop(spec.mask.remove(2)));
    lesson.says_one("5", first(&without_global).output.get(3, 0));
    lesson.says_one("3", first(&without_global).output.get(0, 0));
    let crosses =
        |query: usize| (0..10).any(|key| key % 2 != query % 2 && first(&without_global).allows(query, key));
    lesson.holds("odd and even places do not meet", !(0..10).any(crosses));
    let dense = lesson.edited(|spec| drop(spec.mask.remove(1)));
    lesson.says_one("80", visible(&dense));
    let causal = lesson.edited(|spec| spec.mask.push(MaskRule::Causal(Corner::TopLeft)));
    lesson.says_one("31", visible(&causal));
}

fn overflow(lesson: &Lesson) {
    let now = lesson.head(1);
    lesson.says_one("65504", Precision::F16.max());
    lesson.holds("the raw score is stored as ∞", now.raw_scores.get(0, 0) == f64::INFINITY);
    lesson.holds("the row is NaN", now.weights.data().iter().all(|weight| weight.is_nan()));
    lesson.holds("inputs are finite", {
        let input = &lesson.evaluation.heads[0].input;
        [&input.q, &input.k, &input.v].into_iter().flat_map(|matrix| matrix.data()).all(|x| x.is_finite())
    });
    lesson.holds("the warning names the score", {
        lesson.evaluation.warnings.iter().any(|warning| warning.contains("masked_scores[1][1] is ∞"))
    });
    lesson.says_one("11.09", Precision::F16.exp_overflows_above());
    lesson.says_one("88.72", Precision::F32.exp_overflows_above());
    lesson.says_one("88.72", Precision::Bf16.exp_overflows_above());
    let wide = lesson.edited(|spec| spec.precision = Precision::Bf16);
    lesson.says_one("65536", first(&wide).raw_scores.get(0, 0));
    lesson.says("[1, 0]", first(&wide).weights.row(0));
    let scale = lesson.given_one("0.5");
    let scaled = lesson.edited(|spec| spec.scoring = ScoringSpec::Scale(scale));
    lesson.says_one("32768", first(&scaled).scaled_scores.get(0, 0));
    lesson.says("[1, 0]", first(&scaled).weights.row(0));
    lesson.holds("the raw score is still ∞", first(&scaled).raw_scores.get(0, 0) == f64::INFINITY);
}

fn lost_differences(lesson: &Lesson) {
    let in_precision = |precision| lesson.edited(|spec| spec.precision = precision);
    let exact = in_precision(Precision::F64);
    lesson.says("[0.2689, 0.7311]", first(&exact).weights.row(0));
    lesson.says("[0.5, 0.5]", lesson.head(1).weights.row(0));
    lesson.says_one("257", first(&exact).raw_scores.get(0, 1));
    lesson.says_one("256", lesson.head(1).raw_scores.get(0, 1));
    lesson.says_one("8", f64::from(Precision::Bf16.significant_bits()));
    lesson.says_one("11", f64::from(Precision::F16.significant_bits()));
    lesson.says_one("258", Precision::Bf16.round(257_f64.next_up()));
    lesson.says("[0.2690, 0.7310]", first(&in_precision(Precision::F16)).weights.row(0));
    let small = lesson.given_one("64");
    let smaller = lesson.edited(|spec| {
        let keys = &mut heads_of(spec).1[0];
        set_row(keys, 1, &[small, 0.0]);
        set_row(keys, 2, &[small, 1.0]);
    });
    lesson.says("[0.2695, 0.7305]", first(&smaller).weights.row(0));
}

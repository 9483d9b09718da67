//! What the notes of the scenes on masks and on generation say.

use qkv::engine::{Convention, Corner, EmptyRow, MaskRule, Matrix};
use qkv::scene::{Evaluation, SceneSpec, Tokens};

use crate::lesson::{Lesson, Telling, heads_of, rows, set_row};

pub const TELLINGS: &[(&str, Telling)] = &[
    ("12_three_positions_causal", causal),
    ("13_causal_and_padding", causal_and_padding),
    ("14_causal_top_left", top_left),
    ("15_causal_bottom_right", bottom_right),
    ("16_causal_more_queries", more_queries),
    ("17_empty_row_zero", empty_zero),
    ("18_empty_row_nan", empty_nan),
    ("19_empty_row_uniform", empty_uniform),
    ("20_boolean_mask_true_allows", true_allows),
    ("21_boolean_mask_true_blocks", true_blocks),
    ("22_additive_mask", additive),
    ("23_sliding_window", window),
    ("24_packed_documents", documents),
    ("30_decode_step", decode_step),
];

fn weights(evaluation: &Evaluation, row: usize) -> &[f64] {
    evaluation.heads[0].attention.weights.row(row - 1)
}

fn output(evaluation: &Evaluation, row: usize) -> &[f64] {
    evaluation.output.row(row - 1)
}

/// Whether two rows agree in every bit.
fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()))
}

fn remove_layer(layer: usize) -> impl FnOnce(&mut SceneSpec) {
    move |spec| drop(spec.mask.remove(layer))
}

fn causal(lesson: &Lesson) {
    let now = &lesson.evaluation;
    let full = Lesson::open("three_positions");
    lesson.says("[1, 0, 0]", weights(now, 1));
    lesson.says("[2, 0]", output(now, 1));
    lesson.says("[0.3302, 0.6698, 0]", weights(now, 2));
    lesson.says("[0.6605, 2.6790]", output(now, 2));
    lesson.says("[0.2483, 0.2483, 0.5035]", weights(now, 3));
    lesson.says("[1, 1.4965]", output(now, 3));
    lesson.holds("row sat is unchanged", same(output(now, 3), output(&full.evaluation, 3)));
    let key = lesson.given("[9, 9]");
    let edited = lesson.edited(|spec| set_row(&mut heads_of(spec).1[0], 3, &key));
    for row in [1, 2] {
        lesson
            .holds("the earlier rows do not move in any digit", same(output(&edited, row), output(now, row)));
    }
    lesson.holds("row sat moves", !same(output(&edited, 3), output(now, 3)));
    let value = lesson.given("[100, 100]");
    let edited = lesson.edited(|spec| set_row(&mut heads_of(spec).2[0], 3, &value));
    lesson.says("[50.8455, 51.3420]", output(&edited, 3));
    for row in [1, 2] {
        lesson.holds("only the output of sat moves", same(output(&edited, row), output(now, row)));
    }
    lesson.says("[0.4011, 0.1978, 0.4011]", weights(&lesson.edited(remove_layer(0)), 1));
}

fn causal_and_padding(lesson: &Lesson) {
    let now = &lesson.evaluation;
    lesson.says("[1, 0, 0]", weights(now, 1));
    lesson.says("[0.3302, 0.6698, 0]", weights(now, 2));
    lesson.says("[0.5, 0.5, 0]", weights(now, 3));
    lesson.says("[1, 2]", output(now, 3));
    let filler = lesson.edited(|spec| {
        let (_, k, v) = heads_of(spec);
        set_row(&mut k[0], 3, &[-7.0, 1e6]);
        set_row(&mut v[0], 3, &[f64::NAN, f64::INFINITY]);
    });
    lesson.holds("padding does not matter", same(filler.output.data(), now.output.data()));
    lesson.says("[0.6698, 0.3302, 0]", weights(&lesson.edited(remove_layer(0)), 1));
    let unpadded = lesson.edited(remove_layer(1));
    for row in [1, 2] {
        lesson.holds("the first two rows stay", same(output(&unpadded, row), output(now, row)));
    }
}

fn top_left(lesson: &Lesson) {
    let now = &lesson.evaluation;
    lesson.says("[1, 0, 0, 0]", weights(now, 1));
    lesson.says("[0.5, 0.5, 0, 0]", weights(now, 2));
    lesson.says("[4, 0]", output(now, 1));
    lesson.says("[2, 2]", output(now, 2));
    let other = lesson.edited(|spec| spec.mask = vec![MaskRule::Causal(Corner::BottomRight)]);
    lesson.says("[0.3333, 0.3333, 0.3333, 0]", weights(&other, 1));
    let offset = lesson.given_one("2") as i64;
    let placed = lesson.edited(|spec| spec.position_offset = offset);
    lesson.holds(
        "the offset does the same",
        placed.heads[0].attention.weights == other.heads[0].attention.weights,
    );
}

fn bottom_right(lesson: &Lesson) {
    let now = &lesson.evaluation;
    lesson.says("[0.3333, 0.3333, 0.3333, 0]", weights(now, 1));
    lesson.says("[0.25, 0.25, 0.25, 0.25]", weights(now, 2));
    lesson.says("[4, 1.3333]", output(now, 1));
    lesson.says("[3, 3]", output(now, 2));
    let other = Lesson::open("causal_top_left").evaluation;
    lesson.says("[4, 0]", output(&other, 1));
    lesson.says("[2, 2]", output(&other, 2));
    let square = |corner| {
        lesson.edited(|spec| {
            let (_, k, v) = heads_of(spec);
            k[0] = rows(&[[1.0, 1.0]; 2]);
            v[0] = rows(&[[8.0, 0.0], [0.0, 8.0]]);
            spec.tokens = Tokens::Shared(vec!["sat".into(), "down".into()]);
            spec.mask = vec![MaskRule::Causal(corner)];
        })
    };
    let both = (square(Corner::TopLeft), square(Corner::BottomRight));
    lesson.holds("both corners agree on a square", both.0.heads[0].attention == both.1.heads[0].attention);
    let offset = lesson.given_one("5") as i64;
    let placed = lesson.edited(|spec| spec.position_offset = offset);
    lesson.holds("the offset moves nothing", placed.heads[0].attention == now.heads[0].attention);
}

fn more_queries(lesson: &Lesson) {
    let now = &lesson.evaluation;
    for row in [1, 2] {
        lesson.holds(
            "the first two rows are empty",
            weights(now, row) == [0.0, 0.0] && output(now, row) == [0.0, 0.0],
        );
    }
    lesson.says("[1, 0]", weights(now, 3));
    lesson.says("[0.5, 0.5]", weights(now, 4));
    lesson.says("[4, 0]", output(now, 3));
    lesson.says("[2, 2]", output(now, 4));
    let other = lesson.edited(|spec| spec.mask = vec![MaskRule::Causal(Corner::TopLeft)]);
    lesson.says("[1, 0]", weights(&other, 1));
    for row in [2, 3, 4] {
        lesson.says("[0.5, 0.5]", weights(&other, row));
    }
    let uniform = lesson.edited(|spec| spec.softmax.empty_rows = EmptyRow::Uniform);
    for row in [1, 2] {
        lesson.says("[2, 2]", output(&uniform, row));
    }
    let nan = lesson.edited(|spec| spec.softmax.empty_rows = EmptyRow::NotANumber);
    lesson.holds("the empty rows are NaN", output(&nan, 1)[0].is_nan() && output(&nan, 2)[0].is_nan());
    for policy in [&uniform, &nan] {
        for row in [3, 4] {
            lesson.holds("only the two empty rows move", same(output(policy, row), output(now, row)));
        }
    }
}

fn empty_zero(lesson: &Lesson) {
    let now = &lesson.evaluation;
    lesson.says("[0, 0, 0]", weights(now, 1));
    lesson.says("[0, 0]", output(now, 1));
    lesson.says("[0, 1, 0]", weights(now, 2));
    lesson.says("[0, 0.3302, 0.6698]", weights(now, 3));
    lesson.says("[0, 4]", output(now, 2));
    lesson.says("[0.6698, 1.9907]", output(now, 3));
    for other in ["empty_row_nan", "empty_row_uniform"] {
        let other = Lesson::open(other);
        for row in [2, 3] {
            lesson.holds(
                "the rows of real tokens stay",
                same(output(&other.evaluation, row), output(now, row)),
            );
        }
    }
}

fn empty_nan(lesson: &Lesson) {
    let now = &lesson.evaluation;
    lesson.holds("every weight is NaN", weights(now, 1).iter().all(|weight| weight.is_nan()));
    lesson.holds("every output is NaN", output(now, 1).iter().all(|output| output.is_nan()));
    lesson.says("[0, 1, 0]", weights(now, 2));
    lesson.says("[0, 0.3302, 0.6698]", weights(now, 3));
    let poisoned = lesson.edited(|spec| set_row(&mut heads_of(spec).2[0], 1, &[f64::NAN; 2]));
    for row in [2, 3] {
        lesson.holds("no other row changes", same(output(&poisoned, row), output(now, row)));
    }
    lesson.says("[1, 0, 0]", weights(&lesson.edited(remove_layer(1)), 1));
}

fn empty_uniform(lesson: &Lesson) {
    let now = &lesson.evaluation;
    for weight in weights(now, 1) {
        lesson.says_one("0.3333", *weight);
    }
    lesson.says("[1, 1.6667]", output(now, 1));
    lesson.says("[0, 1, 0]", weights(now, 2));
    lesson.says("[0, 0.3302, 0.6698]", weights(now, 3));
    let value = lesson.given("[1, 10]");
    let edited = lesson.edited(|spec| set_row(&mut heads_of(spec).2[0], 3, &value));
    lesson.says("[1, 4.6667]", output(&edited, 1));
}

fn true_allows(lesson: &Lesson) {
    let now = &lesson.evaluation;
    lesson.says("[0.5, 0, 0.5]", weights(now, 1));
    lesson.says("[1.5, 0.5]", output(now, 1));
    lesson.says("[0.3302, 0.6698, 0]", weights(now, 2));
    lesson.says("[0, 1, 0]", weights(now, 3));
}

fn true_blocks(lesson: &Lesson) {
    let now = &lesson.evaluation;
    let matrix = |lesson: &Lesson| match lesson.scene.spec().mask.as_slice() {
        [MaskRule::Matrix { rows, .. }] => rows.clone(),
        other => panic!("{other:?}"),
    };
    let allows = Lesson::open("boolean_mask_true_allows");
    lesson.holds("the matrix is the same", matrix(lesson) == matrix(&allows));
    lesson.says("[0, 1, 0]", weights(now, 1));
    lesson.says("[0, 4]", output(now, 1));
    lesson.says("[1.5, 0.5]", output(&allows.evaluation, 1));
    lesson.says("[0, 0, 1]", weights(now, 2));
    lesson.says("[0.3302, 0, 0.6698]", weights(now, 3));
    let all_false = |convention| MaskRule::Matrix { convention, rows: vec![vec![false; 3]; 3] };
    let open = lesson.edited(|spec| spec.mask = vec![all_false(Convention::TrueBlocks)]);
    lesson.says("[0.4011, 0.1978, 0.4011]", weights(&open, 1));
    let closed = lesson.edited(|spec| spec.mask = vec![all_false(Convention::TrueAllows)]);
    lesson.holds("the other reading hides everything", closed.heads[0].attention.weights.data() == [0.0; 9]);
}

fn additive(lesson: &Lesson) {
    let now = &lesson.evaluation;
    let [MaskRule::Additive(mask)] = lesson.scene.spec().mask.as_slice() else {
        panic!("one additive layer")
    };
    lesson.says_one("0.6931", mask.get(1, 1));
    lesson.says_one("1.0986", mask.get(2, 2));
    lesson.holds("the biases are ln 2 and ln 3", mask.get(1, 1) == 2f64.ln() && mask.get(2, 2) == 3f64.ln());
    for score in now.heads[0].attention.scaled_scores.data() {
        lesson.says_one("0.7071", *score);
    }
    lesson.holds("row the sees only itself", weights(now, 1) == [1.0, 0.0, 0.0]);
    lesson.says("[0.3333, 0.6667, 0]", weights(now, 2));
    lesson.says("[0.2, 0.2, 0.6]", weights(now, 3));
    lesson.says("[1, 1.4]", output(now, 3));
    let first = lesson.given("[1, 0, 0]");
    let triangle = Matrix::from_rows(&[first.as_slice(), &[1.0, 1.0, 0.0], &[1.0; 3]]).unwrap();
    let mistake = lesson.edited(|spec| spec.mask = vec![MaskRule::Additive(triangle)]);
    lesson.says("[0.5761, 0.2119, 0.2119]", weights(&mistake, 1));
    lesson.holds(
        "a mask of 0 and 1 raises a warning",
        mistake.warnings.iter().any(|text| text.contains("only 0 and 1")),
    );
    let constant = lesson.given_one("5");
    let level =
        Matrix::from_fn(
            3,
            3,
            |row, col| if row == 2 { mask.get(2, col) + constant } else { mask.get(row, col) },
        );
    let level = lesson.edited(|spec| spec.mask = vec![MaskRule::Additive(level)]);
    let apart = weights(&level, 3).iter().zip(weights(now, 3)).map(|(a, b)| (a - b).abs());
    lesson.holds("a constant on a row moves nothing", apart.fold(0.0, f64::max) < 1e-14);
}

fn window(lesson: &Lesson) {
    let now = &lesson.evaluation;
    let set = |left: Option<usize>, right: Option<usize>| MaskRule::Window { left, right };
    lesson.says("[0, 0, 0, 0.3333, 0.3333, 0.3333]", weights(now, 6));
    lesson.says_one("5", output(now, 6)[0]);
    lesson.says_one("1", output(now, 1)[0]);
    lesson.says_one("1.5", output(now, 2)[0]);
    lesson.says_one("2", output(now, 3)[0]);
    let visible = |row| (0..6).filter(|key| now.heads[0].attention.allows(row, *key)).count();
    lesson.holds("no row sees more than 3 keys", (0..6).all(|row| visible(row) <= 3) && visible(5) == 3);
    let left = lesson.given_one("1") as usize;
    let narrower = lesson.edited(|spec| spec.mask[1] = set(Some(left), None));
    lesson.says_one("5.5", output(&narrower, 6)[0]);
    let left = lesson.given_one("0") as usize;
    let alone = lesson.edited(|spec| spec.mask[1] = set(Some(left), None));
    lesson.holds("each token sees itself", alone.output.data() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let right = lesson.given_one("2") as usize;
    let both = lesson.edited(|spec| spec.mask = vec![set(Some(2), Some(right))]);
    lesson.says_one("2", output(&both, 1)[0]);
    lesson.holds(
        "the first row sees places 1 to 3",
        weights(&both, 1).iter().map(|w| *w > 0.0).eq([true, true, true, false, false, false]),
    );
}

fn documents(lesson: &Lesson) {
    let now = &lesson.evaluation;
    lesson.says("[0, 0, 0, 1, 0]", weights(now, 4));
    lesson.says_one("10", output(now, 4)[0]);
    lesson.says_one("15", output(now, 5)[0]);
    lesson.says_one("1", output(now, 1)[0]);
    lesson.says_one("1.5", output(now, 2)[0]);
    lesson.says_one("2", output(now, 3)[0]);
    let mixed = lesson.edited(remove_layer(1));
    lesson.says_one("4", output(&mixed, 4)[0]);
    lesson.says_one("7.2", output(&mixed, 5)[0]);
    let squares = lesson.edited(remove_layer(0));
    lesson.says_one("15", output(&squares, 4)[0]);
}

fn decode_step(lesson: &Lesson) {
    let now = &lesson.evaluation;
    let full = Lesson::open("three_positions_causal");
    lesson.says_one("1", lesson.scene.n_q() as f64);
    lesson.says_one("3", lesson.scene.n_k() as f64);
    lesson.says_one("3", full.scene.n_q() as f64);
    lesson.says_one("2", lesson.scene.spec().position_offset as f64);
    lesson.says("[0.2483, 0.2483, 0.5035]", weights(now, 1));
    lesson.says("[1, 1.4965]", output(now, 1));
    lesson.holds("it is the last row of the full pass", same(weights(now, 1), weights(&full.evaluation, 3)));
    lesson.holds("it is the last row of the full pass", same(output(now, 1), output(&full.evaluation, 3)));
    let scene = &lesson.scene;
    lesson.says_one("12", (scene.kv_heads() * scene.n_k() * (scene.d_k() + scene.d_v())) as f64);
    let offset = lesson.given_one("0") as i64;
    let slipped = lesson.edited(|spec| spec.position_offset = offset);
    lesson.says("[1, 0, 0]", weights(&slipped, 1));
    lesson.says("[2, 0]", output(&slipped, 1));
    let unmasked = lesson.edited(remove_layer(0));
    lesson.holds("without the mask nothing moves", same(output(&unmasked, 1), output(now, 1)));
}

//! What the notes of the worked examples and of the scenes on scoring say.

use qkv::engine::{Carry, Scoring, SoftmaxForm, trace};
use qkv::scene::{MatrixSource, ScoringSpec};

use crate::lesson::{Lesson, Telling, heads_of, rows, set_row};

pub const TELLINGS: &[(&str, Telling)] = &[
    ("01_two_positions", two_positions),
    ("02_two_positions_second_key", second_key),
    ("03_two_positions_even", even),
    ("04_three_positions", three_positions),
    ("05_animals_and_places", animals_and_places),
    ("06_query_times_four", query_times_four),
    ("07_duplicate_key", duplicate_key),
    ("08_without_scaling", without_scaling),
    ("09_large_scores", large_scores),
    ("10_dot_scorer", dot_scorer),
    ("11_additive_scorer", additive_scorer),
];

/// The weights of the single query after the query has been changed to what the notes say.
fn weights_of_query(lesson: &Lesson, query: &[f64]) -> Vec<f64> {
    let edited = lesson.edited(|spec| heads_of(spec).0[0] = rows(&[query]));
    edited.heads[0].attention.weights.row(0).to_vec()
}

/// The output of one query with every step rounded to four decimal places.
fn on_paper(lesson: &Lesson, query: usize) -> Vec<f64> {
    let spec = lesson.scene.attention_spec();
    let trace = trace(&lesson.evaluation.heads[0].input, spec, 0, (query, 0), Carry::Decimals(4));
    trace.unwrap().output.row()
}

fn two_positions(lesson: &Lesson) {
    let head = lesson.head(1);
    lesson.says("[1, 0]", head.raw_scores.row(0));
    lesson.says("[0.7071, 0]", head.scaled_scores.row(0));
    let exponentials: Vec<f64> = head.scaled_scores.row(0).iter().map(|score| score.exp()).collect();
    lesson.says_one("2.0281", exponentials[0]);
    lesson.says_one("1", exponentials[1]);
    lesson.says_one("3.0281", exponentials.iter().sum());
    lesson.says("[0.6698, 0.3302]", head.weights.row(0));
    lesson.says("[1.3395, 1.3210]", head.output.row(0));
    lesson.says("[1.3396, 1.3208]", &on_paper(lesson, 0));

    let longer = lesson.given("[2, 0]");
    lesson.says("[0.8044, 0.1956]", &weights_of_query(lesson, &longer));
    let turned = lesson.given("[-1, 0]");
    lesson.says("[0.3302, 0.6698]", &weights_of_query(lesson, &turned));
    let edited = lesson.edited(|spec| heads_of(spec).0[0] = rows(&[&turned]));
    lesson.says_one("0", edited.heads[0].attention.raw_scores.get(0, 1));
    let value = lesson.given("[0, 40]");
    let edited = lesson.edited(|spec| set_row(&mut heads_of(spec).2[0], 2, &value));
    lesson.says_one("13.2095", edited.output.get(0, 1));
    lesson.holds("no weight moves", edited.heads[0].attention.weights == head.weights);
}

fn second_key(lesson: &Lesson) {
    let head = lesson.head(1);
    lesson.says("[0, 1]", lesson.evaluation.heads[0].input.q.row(0));
    lesson.says("[0, 1]", head.raw_scores.row(0));
    lesson.says("[0.3302, 0.6698]", head.weights.row(0));
    lesson.says("[0.6605, 2.6790]", head.output.row(0));
    let longer = lesson.given("[0, 3]");
    lesson.says_one("0.8930", weights_of_query(lesson, &longer)[1]);
    let value = lesson.given("[0, 4]");
    let edited = lesson.edited(|spec| heads_of(spec).2[0] = rows(&[&value, &value]));
    lesson.says("[0, 4]", edited.output.row(0));
}

fn even(lesson: &Lesson) {
    let head = lesson.head(1);
    lesson.says("[1, 1]", lesson.evaluation.heads[0].input.q.row(0));
    lesson.says_one("0.7071", head.scaled_scores.get(0, 0));
    lesson.says_one("0.7071", head.scaled_scores.get(0, 1));
    lesson.says("[0.5, 0.5]", head.weights.row(0));
    lesson.says("[1, 2]", head.output.row(0));
    let longer = lesson.given("[2, 2]");
    lesson.says("[0.5, 0.5]", &weights_of_query(lesson, &longer));
    let leaning = lesson.given("[1, 0.5]");
    lesson.says("[0.5875, 0.4125]", &weights_of_query(lesson, &leaning));
}

fn three_positions(lesson: &Lesson) {
    let head = lesson.head(1);
    lesson.says("[0.4011, 0.1978, 0.4011]", head.weights.row(0));
    lesson.says("[1.2033, 1.1922]", head.output.row(0));
    lesson.says("[0.1978, 0.4011, 0.4011]", head.weights.row(1));
    lesson.says("[0.7967, 2.0056]", head.output.row(1));
    lesson.says("[0.2483, 0.2483, 0.5035]", head.weights.row(2));
    lesson.says("[1, 1.4965]", head.output.row(2));
    lesson.says("[1.0001, 1.4967]", &on_paper(lesson, 2));
    lesson.says_one("1.3057", (0..3).map(|row| head.weights.get(row, 2)).sum());
    let sum = |row: usize| head.scaled_scores.row(row).iter().map(|score| score.exp()).sum();
    lesson.says_one("5.0562", sum(0));
    lesson.says_one("5.0562", sum(1));
    lesson.says_one("8.1695", sum(2));
    lesson.holds("the raw scores are symmetric", head.raw_scores == head.raw_scores.transpose());

    let swapped = lesson.edited(|spec| {
        let (_, k, v) = heads_of(spec);
        k[0] = rows(&[[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]);
        v[0] = rows(&[[0.0, 4.0], [2.0, 0.0], [1.0, 1.0]]);
    });
    let apart = swapped.output.data().iter().zip(head.output.data()).map(|(a, b)| (a - b).abs());
    lesson.holds("no output moves when keys and values are swapped", apart.fold(0.0, f64::max) < 1e-15);
    let key = lesson.given("[3, 3]");
    let edited = lesson.edited(|spec| set_row(&mut heads_of(spec).1[0], 3, &key));
    lesson.says("[0.1784, 0.0879, 0.7337]", edited.heads[0].attention.weights.row(0));
}

fn animals_and_places(lesson: &Lesson) {
    let head = lesson.head(1);
    lesson.says("[0.4902, 0.0663, 0.4435]", head.weights.row(0));
    lesson.says("[0.7119, 0.2881]", head.output.row(0));
    lesson.says("[0.1053, 0.7783, 0.1164]", head.weights.row(1));
    lesson.says("[0.1635, 0.8365]", head.output.row(1));
    lesson.says_one("2", head.raw_scores.get(2, 0));
    lesson.holds("all scores of the third row are 2", head.raw_scores.row(2) == [2.0; 3]);
    lesson.holds("its weights are exactly a third", head.weights.row(2) == [1.0 / 3.0; 3]);
    lesson.says("[0.5, 0.5]", head.output.row(2));
    let key = lesson.given("[1, 0, 1, 0]");
    lesson.says("[1, 0, 1, 0]", lesson.evaluation.heads[0].input.k.row(0));
    let edited = lesson.edited(|spec| set_row(&mut heads_of(spec).1[0], 3, &key));
    lesson.says("[0.4683, 0.0634, 0.4683]", edited.heads[0].attention.weights.row(0));
}

fn query_times_four(lesson: &Lesson) {
    let before = Lesson::open("animals_and_places");
    let q = |lesson: &Lesson| lesson.evaluation.heads[0].input.q.row(0).to_vec();
    lesson.holds(
        "this is the query times 4",
        q(lesson) == q(&before).iter().map(|x| 4.0 * x).collect::<Vec<_>>(),
    );
    let gap = |lesson: &Lesson, a: usize, b: usize| {
        lesson.head(1).scaled_scores.get(0, a) - lesson.head(1).scaled_scores.get(0, b)
    };
    lesson.says_one("0.1", gap(&before, 0, 2));
    lesson.says_one("0.4", gap(lesson, 0, 2));
    lesson.says_one("8", gap(lesson, 0, 1));
    let weights = lesson.head(1).weights.row(0);
    lesson.says_one("0.0002", weights[1]);
    lesson.says_one("0.5986", weights[0]);
    lesson.says_one("0.4012", weights[2]);
    lesson.says("[0.7992, 0.2008]", lesson.head(1).output.row(0));
    let louder = lesson.given("[32, 0, 32, 0]");
    lesson.says_one("0.8320", weights_of_query(lesson, &louder)[0]);
    let quiet = lesson.given("[0.5, 0, 0.5, 0]");
    lesson.says("[0.3873, 0.2349, 0.3778]", &weights_of_query(lesson, &quiet));
}

fn duplicate_key(lesson: &Lesson) {
    let before = Lesson::open("animals_and_places");
    let head = lesson.head(1);
    lesson.says_one("0.3289", head.weights.get(0, 0));
    lesson.says_one("0.3289", head.weights.get(0, 3));
    lesson.says_one("0.4902", before.head(1).weights.get(0, 0));
    lesson.says_one("0.6579", head.weights.get(0, 0) + head.weights.get(0, 3));
    lesson.says("[0.8067, 0.1933]", head.output.row(0));
    lesson.says("[0.7119, 0.2881]", before.head(1).output.row(0));
    let hidden = lesson.edited(|spec| spec.mask = vec![qkv::engine::MaskRule::ValidKeys(3)]);
    lesson.says("[0.4902, 0.0663, 0.4435, 0]", hidden.heads[0].attention.weights.row(0));
    let value = lesson.given("[0, 1]");
    let edited = lesson.edited(|spec| set_row(&mut heads_of(spec).2[0], 4, &value));
    lesson.says("[0.4777, 0.5223]", edited.output.row(0));
    lesson.holds("the weights stay", edited.heads[0].attention.weights == head.weights);
}

fn without_scaling(lesson: &Lesson) {
    let head = lesson.head(1);
    lesson.says("[1, 0]", head.raw_scores.row(0));
    lesson.says("[1, 0]", head.scaled_scores.row(0));
    lesson.says_one("2.7183", head.weights.get(0, 0) / head.weights.get(0, 1));
    lesson.says("[0.7311, 0.2689]", head.weights.row(0));
    let scaled = lesson.edited(|spec| spec.scoring = ScoringSpec::ScaledDot);
    lesson.says("[0.6698, 0.3302]", scaled.heads[0].attention.weights.row(0));
    lesson.holds("the raw scores do not move", scaled.heads[0].attention.raw_scores == head.raw_scores);
    lesson.says("[1.4621, 1.0758]", head.output.row(0));
    let weights = |scale: f64| {
        let edited = lesson.edited(|spec| spec.scoring = ScoringSpec::Scale(scale));
        edited.heads[0].attention.weights.row(0).to_vec()
    };
    let on_k2 = weights(lesson.given_one("10"))[1];
    lesson.claims("0.0001", "the weight on k2 drops below 0.0001", on_k2 < 1e-4);
    lesson.says("[0.5250, 0.4750]", &weights(lesson.given_one("0.1")));
}

fn large_scores(lesson: &Lesson) {
    let head = lesson.head(1);
    lesson.says("[1000, 999]", head.raw_scores.row(0));
    lesson.says_one("0", head.scaled_scores.get(0, 0) - head.row_max[0]);
    lesson.says_one("-1", head.scaled_scores.get(0, 1) - head.row_max[0]);
    lesson.says("[0.7311, 0.2689]", head.weights.row(0));
    let naive = lesson.edited(|spec| spec.softmax.form = SoftmaxForm::Naive);
    let weights = naive.heads[0].attention.weights.row(0).to_vec();
    lesson.holds("the naive row is NaN", weights.iter().all(|weight| weight.is_nan()));
    lesson.holds("exp overflows near 709", 709f64.exp().is_finite() && 710f64.exp().is_infinite());
    lesson.holds("32-bit exp overflows near 88", 88f32.exp().is_finite() && 89f32.exp().is_infinite());
    let query = lesson.given("[0.5]");
    let edited = lesson.edited(|spec| heads_of(spec).0[0] = rows(&[&query]));
    let scores = edited.heads[0].attention.scaled_scores.row(0).to_vec();
    lesson.says_one("0.5", scores[0] - scores[1]);
    lesson.says("[0.6225, 0.3775]", &weights_of_query(lesson, &query));
}

fn dot_scorer(lesson: &Lesson) {
    let head = lesson.head(1);
    lesson.says_one("2", head.scaled_scores.get(0, 0));
    lesson.says_one("0", head.scaled_scores.get(0, 1));
    lesson.says_one("1.9", head.scaled_scores.get(0, 2));
    lesson.says("[0.4902, 0.0663, 0.4435]", head.weights.row(0));
    lesson.says("[0.7119, 0.2881]", head.output.row(0));
    let place = lesson.given("[0, 2, 0, 2]");
    lesson.says_one("0.7783", weights_of_query(lesson, &place)[1]);
}

fn additive_scorer(lesson: &Lesson) {
    let head = lesson.head(1);
    let Scoring::Additive { w_q, w_k, v } = &lesson.scene.attention_spec().scoring else {
        panic!("the scorer is additive")
    };
    lesson.says_one("72", (w_q.data().len() + w_k.data().len() + v.len()) as f64);
    lesson.says("[0.8151, -0.2195, 0.7713]", head.raw_scores.row(0));
    lesson.holds("there is no division by √d_k", head.scaled_scores == head.raw_scores);
    lesson.says("[0.4324, 0.1537, 0.4139]", head.weights.row(0));
    lesson.says("[0.6394, 0.3606]", head.output.row(0));

    let place = lesson.given("[0, 2, 0, 2]");
    lesson.says_one("0.2761", weights_of_query(lesson, &place)[1]);
    let draws = |change: fn(&mut u32, &mut f64, &str)| {
        let edited = lesson.edited(|spec| {
            let ScoringSpec::Additive { w_q, w_k, v } = &mut spec.scoring else {
                panic!("the scorer is additive")
            };
            for (name, source) in [("w_q", w_q), ("w_k", w_k), ("v", v)] {
                let MatrixSource::Randn { seed, factor, .. } = source else { panic!("{name} is drawn") };
                change(seed, factor, name);
            }
        });
        edited.heads[0].attention.weights.row(0).to_vec()
    };
    let louder = draws(|_, factor, name| {
        if name == "v" {
            *factor = 2.0;
        }
    });
    lesson.says_one("0.0086", louder[1]);
    lesson.says("[0.3747, 0.2497, 0.3756]", &draws(|seed, _, _| *seed = 1));
}

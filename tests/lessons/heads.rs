//! What the notes of the scenes on heads and projections say.

use qkv::scene::{Evaluation, Input, MatrixSource, Projected, SceneSpec, Tokens};

use crate::lesson::{Lesson, Telling, heads_of, rows, set_row};

pub const TELLINGS: &[(&str, Telling)] = &[
    ("25_projections", projections),
    ("26_two_heads", two_heads),
    ("27_grouped_heads", grouped),
    ("28_multi_query", multi_query),
    ("29_cross_attention", cross),
];

const THE: usize = 0;
const CAT: usize = 1;
const SAT: usize = 2;

fn projected(spec: &mut SceneSpec) -> &mut Projected {
    let Input::Projected(projected) = &mut spec.input else { panic!("the input is projected") };
    projected
}

fn head(evaluation: &Evaluation, number: usize) -> &qkv::engine::Attention {
    &evaluation.heads[number - 1].attention
}

fn projections(lesson: &Lesson) {
    let head = lesson.head(1);
    lesson.says_one("2", head.raw_scores.get(SAT, CAT));
    lesson.says_one("1", head.scaled_scores.get(SAT, CAT));
    lesson.says_one("0.5761", head.weights.get(SAT, CAT));
    lesson.says_one("0.7870", head.weights.get(CAT, SAT));
    lesson.says("[2, 0, 0, 0]", lesson.evaluation.heads[0].input.v.row(CAT));
    lesson.says("[1.1522, 0.4239, 0.2119, 0.2119]", head.output.row(SAT));
    let silent = lesson.edited(|spec| set_row(&mut projected(spec).w_q, 3, &[0.0; 4]));
    for weight in silent.heads[0].attention.weights.row(SAT) {
        lesson.says_one("0.3333", *weight);
    }
    let curious = lesson.edited(|spec| set_row(&mut projected(spec).w_q, 8, &[0.0, 0.0, 4.0, 0.0]));
    lesson.says_one("0.6652", curious.heads[0].attention.weights.get(SAT, THE));
}

fn two_heads(lesson: &Lesson) {
    lesson.says_one("0.5761", lesson.head(1).weights.get(SAT, CAT));
    let before = Lesson::open("projections");
    lesson.holds("head 1 is the head of the scene before", lesson.head(1) == before.head(1));
    for row in [THE, CAT, SAT] {
        lesson.says_one("0.7870", lesson.head(2).weights.get(row, THE));
    }
    let concat = "[1.1522, 0.4239, 0.2119, 0.2119, 0.1065, 0.1065, 0, 1.5740]";
    lesson.says(concat, lesson.evaluation.concat.row(SAT));
    let output = "[1.2587, 0.5304, 0.2119, 1.7859, 0.1065, 0.1065, 0, 1.5740]";
    lesson.says(output, lesson.evaluation.output.row(SAT));
    let projection = lesson.scene.projection().unwrap();
    let w_o = projection.w_o.as_ref().unwrap();
    let matrices = [&projection.w_q, &projection.w_k, &projection.w_v, w_o];
    lesson.says_one("256", matrices.iter().map(|matrix| matrix.data().len()).sum::<usize>() as f64);
    let cut = lesson.edited(|spec| {
        let w_o = projected(spec).w_o.as_mut().unwrap();
        (5..=8).for_each(|row| set_row(w_o, row, &[0.0; 8]));
    });
    lesson.says("[1.1522, 0.4239, 0.2119, 0.2119, 0, 0, 0, 0]", cut.output.row(SAT));
    for number in [1, 2] {
        lesson.holds("no weight has changed", head(&cut, number) == lesson.head(number));
    }
}

fn grouped(lesson: &Lesson) {
    let read: Vec<usize> = lesson.evaluation.heads.iter().map(|head| head.kv_head).collect();
    lesson.holds("consecutive heads share", read == [0, 0, 1, 1]);
    lesson.says("[1.2033, 1.1922]", lesson.head(1).output.row(THE));
    lesson.says("[7.9666, 7.9666]", lesson.head(3).output.row(THE));
    lesson.says("[0.7967, 2.0056]", lesson.head(2).output.row(THE));
    let scene = &lesson.scene;
    lesson.says_one("8", (scene.kv_heads() * (scene.d_k() + scene.d_v())) as f64);
    lesson.says_one("16", (scene.heads() * (scene.d_k() + scene.d_v())) as f64);
    let copied = lesson.edited(|spec| {
        let (q, _, _) = heads_of(spec);
        q[0] = q[1].clone();
    });
    lesson.says("[0.7967, 2.0056]", head(&copied, 1).output.row(THE));
    let dealt = lesson.edited(|spec| {
        // KV head 2 for query head 2, as dealing in turn would have it.
        let (_, k, v) = heads_of(spec);
        k.swap(0, 1);
        v.swap(0, 1);
    });
    lesson.says("[12.0334, 10]", head(&dealt, 2).output.row(THE));
}

fn multi_query(lesson: &Lesson) {
    lesson.says("[1.2033, 1.1922]", lesson.head(1).output.row(THE));
    lesson.says("[0.7967, 2.0056]", lesson.head(2).output.row(THE));
    lesson.holds("heads 1 and 3 agree", lesson.head(1) == lesson.head(3));
    let before = Lesson::open("grouped_heads");
    lesson.says("[7.9666, 7.9666]", before.head(3).output.row(THE));
    let scene = &lesson.scene;
    lesson.says_one("4", (scene.kv_heads() * (scene.d_k() + scene.d_v())) as f64);
    let value = lesson.given("[0, 8]");
    let edited = lesson.edited(|spec| set_row(&mut heads_of(spec).2[0], 2, &value));
    lesson.says("[1.2033, 1.9833]", head(&edited, 1).output.row(THE));
    for number in 1..=4 {
        lesson.holds("all four heads move", head(&edited, number).output != lesson.head(number).output);
    }
}

fn cross(lesson: &Lesson) {
    let weights = &lesson.head(1).weights;
    lesson.says_one("3", weights.rows() as f64);
    lesson.says_one("4", weights.cols() as f64);
    let counterparts = [0, 2, 1]; // le → the, chat → cat, noir → black
    for (query, counterpart) in counterparts.into_iter().enumerate() {
        for key in 0..4 {
            let quote = if key == counterpart { "0.7112" } else { "0.0963" };
            lesson.says_one(quote, weights.get(query, key));
        }
    }
    lesson.says("[5.7861, 0.5775]", lesson.evaluation.output.row(1));
    let shorter = lesson.edited(|spec| {
        let mut words = vec![[0.0; 4]; 3];
        (0..3).for_each(|word| words[word][word] = 1.0);
        projected(spec).context = Some(rows(&words));
        let Tokens::Sides { keys, .. } = &mut spec.tokens else { panic!("two lists of tokens") };
        keys.pop();
    });
    lesson.says_one("0.7870", head(&shorter, 1).weights.get(0, 0));
    lesson.says_one("0.1065", head(&shorter, 1).weights.get(0, 1));
    lesson.holds("there are still three output rows", shorter.output.rows() == 3);
    let quieter = lesson.edited(|spec| {
        let MatrixSource::Rows(w_q) = &projected(spec).w_q else { panic!("W_Q is written out") };
        let half: Vec<Vec<f64>> = w_q.iter_rows().map(|row| row.iter().map(|x| x / 2.0).collect()).collect();
        projected(spec).w_q = rows(&half);
    });
    lesson.says_one("0.4754", head(&quieter, 1).weights.get(0, 0));
}

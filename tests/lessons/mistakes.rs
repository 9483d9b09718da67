//! What the notes of the scenes with a sink, with dropout and with a mistake say.

use qkv::engine::{Check, CheckOutcome, Fault, Precision};
use qkv::scene::{Evaluation, checks};

use crate::lesson::{Lesson, Telling, heads_of, set_row};

pub const TELLINGS: &[(&str, Telling)] = &[
    ("41_learned_sink", learned_sink),
    ("42_dropout", dropout),
    ("43_mask_after_softmax", mask_after_softmax),
    ("44_minus_ten_thousand", minus_ten_thousand),
    ("45_tiled_kv_heads", tiled_kv_heads),
];

fn passes(lesson: &Lesson, check: Check) -> bool {
    let outcomes = checks(&lesson.scene, &lesson.evaluation);
    outcomes.iter().any(|(found, outcome)| *found == check && matches!(outcome, CheckOutcome::Pass { .. }))
}

fn fails(lesson: &Lesson, check: Check) -> bool {
    let outcomes = checks(&lesson.scene, &lesson.evaluation);
    outcomes.iter().any(|(found, outcome)| *found == check && matches!(outcome, CheckOutcome::Fail { .. }))
}

fn sink_takes(evaluation: &Evaluation, lesson: &Lesson, query: usize) -> f64 {
    let attention = &evaluation.heads[0].attention;
    attention.weight_of_sink(lesson.scene.attention_spec(), 0, query).unwrap()
}

fn learned_sink(lesson: &Lesson) {
    let attention = lesson.head(1);
    lesson.claims("0.5", "that is the sink", lesson.scene.spec().sinks == [0.5]);
    lesson.says_one("0.5516", attention.weights.get(0, 0));
    lesson.says_one("0.4484", sink_takes(&lesson.evaluation, lesson, 0));
    lesson.says_one("1.4142", attention.masked_scores.get(2, 2));
    lesson.says_one("0.1679", sink_takes(&lesson.evaluation, lesson, 2));
    lesson.holds("the row sums pass", passes(lesson, Check::RowsSumToOne));
    let high = lesson.edited(|spec| spec.sinks = vec![lesson.given_one("3")]);
    lesson.says_one("0.0917", high.heads[0].attention.weights.get(0, 0));
    lesson.says("[0.1834, 0]", high.heads[0].attention.output.row(0));
    let low = lesson.edited(|spec| spec.sinks = vec![lesson.given_one("-10")]);
    lesson.says_one("1.0000", low.heads[0].attention.weights.get(0, 0));
    lesson.says("[2.0000, 0]", low.heads[0].attention.output.row(0));
    let open = lesson.edited(|spec| spec.mask.clear());
    lesson.holds(
        "a row that sees more gives less to the sink",
        sink_takes(&open, lesson, 0) < sink_takes(&lesson.evaluation, lesson, 0),
    );
}

fn dropout(lesson: &Lesson) {
    let head = &lesson.evaluation.heads[0];
    let dropped = head.dropped.as_ref().unwrap();
    lesson.says_one("0.25", dropped.dropout.rate());
    lesson.says_one("0.75", 1.0 - dropped.dropout.rate());
    lesson.holds("the seed is 2", dropped.dropout.seed() == 2);
    for row in [0, 2] {
        lesson.says("[0.2863, 0.1412, 0.2863, 0.2863]", head.attention.weights.row(row));
        lesson.says("[2.8628, 1.1372]", head.attention.output.row(row));
    }
    lesson.says("[0.3817, 0, 0.3817, 0.3817]", dropped.weights.row(0));
    lesson.says("[0.3817, 0.1882, 0.3817, 0.3817]", dropped.weights.row(2));
    lesson.says_one("1.1451", dropped.weights.row(0).iter().sum());
    lesson.says("[3.8171, 0.7634]", dropped.output.row(0));
    lesson.says("[3.8171, 1.5163]", dropped.output.row(2));
    lesson.says("[1.0756, 2.1363]", dropped.output.row(3));
    lesson.says("[2.3978, 1.6022]", head.attention.output.row(3));
    let nothing = lesson.given_one("0");
    let kept = lesson.edited(|spec| spec.dropout.as_mut().unwrap().rate = nothing);
    let head = &kept.heads[0];
    lesson.holds("both are equal", head.dropped.as_ref().unwrap().weights == head.attention.weights);
}

fn mask_after_softmax(lesson: &Lesson) {
    let attention = lesson.head(1);
    lesson.says_one("0.4011", attention.weights.get(0, 0));
    lesson.says_one("2.4931", attention.row_sum[0]);
    lesson.says_one("0.5989", attention.weights.row(1).iter().sum());
    let meant = lesson.edited(|spec| spec.fault = None);
    lesson.holds("sat is right", attention.weights.row(2) == meant.heads[0].attention.weights.row(2));
    lesson.holds("both faults are found", {
        fails(lesson, Check::RowsSumToOne) && fails(lesson, Check::NoLeakFromLaterTokens)
    });
    lesson.says("[1, 0, 0]", meant.heads[0].attention.weights.row(0));
    let nines = lesson.given("[9, 9]");
    let far = lesson.edited(|spec| set_row(&mut heads_of(spec).1[0], 3, &nines));
    lesson.says_one("0.0035", far.heads[0].attention.weights.get(0, 0));
    let multiplied = lesson.edited(|spec| spec.fault = Some(Fault::MaskMultiplied));
    for key in [1, 2] {
        lesson.says_one("0.2483", multiplied.heads[0].attention.weights.get(0, key));
    }
}

fn minus_ten_thousand(lesson: &Lesson) {
    let attention = lesson.head(1);
    lesson.says("[0.6698, 0.3302, 0]", attention.weights.row(0));
    lesson.says("[0.0967, 0.0967, 0.8066]", attention.weights.row(2));
    lesson.says("[7.4529, 7.6463]", attention.output.row(2));
    let billion = lesson.edited(|spec| spec.fault = Some(Fault::MinusOneBillion));
    lesson.says("[0.3333, 0.3333, 0.3333]", billion.heads[0].attention.weights.row(2));
    let step = lesson.given_one("64");
    let next = Precision::F32.round(-1e9 + step);
    let halfway = Precision::F32.round(-1e9 + 0.49 * step);
    lesson.holds("numbers of that size lie so far apart", next == -1e9 + step && halfway == -1e9);
    let meant = lesson.edited(|spec| spec.fault = None);
    lesson.says("[0, 0]", meant.heads[0].attention.output.row(2));
}

fn tiled_kv_heads(lesson: &Lesson) {
    let read: Vec<usize> = lesson.evaluation.heads.iter().map(|head| head.kv_head + 1).collect();
    lesson.holds("they are dealt out in turn", read == [1, 2, 1, 2]);
    lesson.says("[12.0334, 10]", lesson.head(2).output.row(0));
    let meant = lesson.edited(|spec| spec.fault = None);
    lesson.says("[0.7967, 2.0056]", meant.heads[1].attention.output.row(0));
    for (number, is_right) in [(1, true), (2, false), (3, false), (4, true)] {
        let same = meant.heads[number - 1].attention.output == lesson.head(number).output;
        lesson.holds("the heads between are wrong", same == is_right);
    }
    let outcomes = checks(&lesson.scene, &lesson.evaluation);
    let failed = outcomes.iter().any(|(_, outcome)| matches!(outcome, CheckOutcome::Fail { .. }));
    lesson.holds("every check passes", !failed);
}

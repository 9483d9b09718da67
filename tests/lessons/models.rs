//! The scenes with a real model: what their notes say, and every weight and output against the model's own.

use qkv::engine::{Attention, Corner, MaskRule, Matrix, effective_keys};
use qkv::scene::{Evaluation, ScoringSpec};
use safetensors::SafeTensors;

use crate::lesson::{Lesson, Telling};

pub const TELLINGS: &[(&str, Telling)] = &[
    ("31_bank_loan_layer_0", loan_first),
    ("32_bank_loan_layer_5", loan_last),
    ("33_boat_bank_layer_0", boat_first),
    ("34_boat_bank_layer_5", boat_last),
    ("40_maps_from_elsewhere", elsewhere),
];

/// The row of weights of one query: a word is given by its label, the second *the* by its place.
struct Row<'a> {
    labels: &'a [String],
    weights: Vec<f64>,
}

impl Row<'_> {
    fn on(&self, label: &str) -> f64 {
        self.weights[self.labels.iter().position(|known| known == label).unwrap()]
    }

    fn largest(&self) -> &str {
        let best = (0..self.weights.len()).max_by(|a, b| self.weights[*a].total_cmp(&self.weights[*b]));
        &self.labels[best.unwrap()]
    }
}

fn row<'a>(lesson: &'a Lesson, attention: &Attention, query: &str) -> Row<'a> {
    let labels = lesson.scene.key_labels();
    let query = labels.iter().position(|label| label == query).unwrap();
    Row { labels, weights: attention.weights.row(query).to_vec() }
}

/// The row of *bank* in head `number`, counted from 1.
fn bank(lesson: &Lesson, number: usize) -> Row<'_> {
    row(lesson, lesson.head(number), "bank")
}

fn bank_of<'a>(lesson: &'a Lesson, evaluation: &Evaluation, number: usize) -> Row<'a> {
    row(lesson, &evaluation.heads[number - 1].attention, "bank")
}

/// The mean over all heads of what *bank* gives to `label`.
fn mean_on(lesson: &Lesson, label: &str) -> f64 {
    let heads = lesson.evaluation.heads.len();
    (1..=heads).map(|number| bank(lesson, number).on(label)).sum::<f64>() / heads as f64
}

/// Each token looks at the token before it (the first at itself).
fn looks_back(attention: &Attention) -> bool {
    let weights = &attention.weights;
    (0..weights.rows()).all(|query| weights.get(query, query.saturating_sub(1)) > 0.99)
}

fn loan_first(lesson: &Lesson) {
    let scene = &lesson.scene;
    lesson.holds(
        "there are 12 heads of width 32 and 8 tokens",
        (scene.heads(), scene.d_k(), scene.n_k()) == (12, 32, 8),
    );
    lesson.holds("head 3 looks one token back", looks_back(lesson.head(3)));
    lesson.says_one("1.000", bank(lesson, 3).on("the"));
    lesson.says_one("0.502", bank(lesson, 1).on("loan"));
    lesson.says_one("0.142", bank(lesson, 1).on("[CLS]"));
    let causal = lesson.edited(|spec| spec.mask = vec![MaskRule::Causal(Corner::TopLeft)]);
    lesson.says_one("0.599", bank_of(lesson, &causal, 1).on("[CLS]"));
    lesson.holds("loan is lost altogether", bank_of(lesson, &causal, 1).on("loan") == 0.0);
}

fn loan_last(lesson: &Lesson) {
    lesson.says_one("0.565", bank(lesson, 8).on("loan"));
    lesson.says_one("0.157", bank(lesson, 8).on("bank"));
    lesson.holds("loan has the largest weight", bank(lesson, 8).largest() == "loan");
    let most = (1..=12).max_by(|a, b| bank(lesson, *a).on("loan").total_cmp(&bank(lesson, *b).on("loan")));
    lesson.holds("no head looks more at loan than head 8", most == Some(8));
    let boat = Lesson::open("boat_bank_layer_5");
    let mut other = bank(&boat, 8);
    lesson.holds("there, [CLS] comes first", other.largest() == "[CLS]");
    other.weights[0] = 0.0;
    lesson.holds("and bank next", other.largest() == "bank");
    lesson.says_one("0.435", bank(lesson, 12).on("bank"));
    lesson.says_one("0.228", bank(lesson, 12).on("loan"));
    lesson.says_one("0.365", bank(lesson, 5).on("approved"));
    lesson.holds("head 5 prefers approved", bank(lesson, 5).largest() == "approved");
    let resting = (1..=12).filter(|number| bank(lesson, *number).largest() == "[CLS]").count();
    lesson.holds("[CLS] takes the largest share in most heads", resting > 6);
    lesson.says_one("0.401", mean_on(lesson, "[CLS]"));
    let ends = vec![true, false, false, false, false, false, false, true];
    let hidden = lesson.edited(|spec| spec.mask = vec![MaskRule::PaddedKeys(ends)]);
    lesson.says_one("0.713", bank_of(lesson, &hidden, 8).on("loan"));
    let plain = lesson.edited(|spec| spec.scoring = ScoringSpec::Dot);
    lesson.says_one("0.996", bank_of(lesson, &plain, 8).on("loan"));
}

fn boat_first(lesson: &Lesson) {
    lesson.holds("head 3 looks one token back", looks_back(lesson.head(3)));
    let head = lesson.head(3);
    lesson.says_one("1.000", head.weights.get(5, 4));
    lesson.says_one("1.000", head.weights.get(2, 1));
    lesson.says_one("0.108", bank(lesson, 1).on("boat"));
    lesson.says_one("0.262", bank(lesson, 1).on("[CLS]"));
    lesson.holds("most goes to [CLS]", bank(lesson, 1).largest() == "[CLS]");
    let loan = Lesson::open("bank_loan_layer_0");
    lesson.holds("head 1 gave loan half there", (bank(&loan, 1).on("loan") - 0.5).abs() < 0.01);
    let (left, right) = (lesson.given_one("1") as usize, lesson.given_one("0") as usize);
    let near =
        lesson.edited(|spec| spec.mask = vec![MaskRule::Window { left: Some(left), right: Some(right) }]);
    let moved = bank_of(lesson, &near, 3)
        .weights
        .iter()
        .zip(&bank(lesson, 3).weights)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    lesson.holds("head 3 does not change to three decimals", moved < 5e-4);
    let row = near.heads[0].attention.weights.row(5);
    lesson.says_one("0.420", row[4]);
    lesson.says_one("0.580", row[5]);
    lesson.holds("nothing else is left", row[4] + row[5] > 1.0 - 1e-12);
}

fn boat_last(lesson: &Lesson) {
    lesson.says_one("0.437", bank(lesson, 7).on("boat"));
    lesson.says_one("0.429", bank(lesson, 6).on("boat"));
    for number in [6, 7] {
        lesson.holds("boat has the largest weight", bank(lesson, number).largest() == "boat");
    }
    let most = (1..=12).max_by(|a, b| bank(lesson, *a).on("boat").total_cmp(&bank(lesson, *b).on("boat")));
    lesson.holds("no head looks more at boat than head 7", most == Some(7));
    let loan = Lesson::open("bank_loan_layer_5");
    lesson.holds("there, [CLS] comes first", bank(&loan, 7).largest() == "[CLS]");
    lesson.says_one("0.452", bank(&loan, 7).on("[CLS]"));
    lesson.says_one("0.072", bank(&loan, 7).on("loan"));
    lesson.says_one("0.147", mean_on(lesson, "boat"));
    lesson.says_one("0.098", mean_on(&Lesson::open("boat_bank_layer_0"), "boat"));
    lesson.says_one("0.587", mean_on(lesson, "[CLS]"));
    lesson.holds(
        "the outputs of bank differ",
        lesson.evaluation.output.row(5) != loan.evaluation.output.row(2),
    );
    let boat = vec![false, false, true, false, false, false, false, false];
    let hidden = lesson.edited(|spec| spec.mask = vec![MaskRule::PaddedKeys(boat)]);
    lesson.says_one("0.548", bank_of(lesson, &hidden, 7).on("[CLS]"));
    let plain = lesson.edited(|spec| spec.scoring = ScoringSpec::Dot);
    lesson.says_one("0.878", bank_of(lesson, &plain, 7).on("boat"));
    lesson.says_one("0.122", bank_of(lesson, &plain, 7).on("[CLS]"));
}

/// The mean over all rows but the first of what a token gives to the one before it.
fn previous_token(weights: &Matrix) -> f64 {
    (1..weights.rows()).map(|query| weights.get(query, query - 1)).sum::<f64>() / (weights.rows() - 1) as f64
}

fn elsewhere(lesson: &Lesson) {
    let scene = &lesson.scene;
    lesson.holds("there are 12 heads and 8 tokens", (scene.heads(), scene.n_k()) == (12, 8));
    lesson.holds("nothing but the weights is there", scene.gives_weights());

    let staircase = &lesson.head(3).weights;
    let steps = (1..8).map(|query| staircase.get(query, query - 1));
    lesson.says_one("0.997", steps.fold(1.0, f64::min));

    let resting = &lesson.head(7).weights;
    lesson.says_one("0.453", (0..8).map(|query| resting.get(query, 0)).sum::<f64>() / 8.0);
    let rests = |query: usize| (1..8).all(|key| resting.get(query, key) < resting.get(query, 0));
    let full_stop = scene.query_labels().iter().position(|label| label == ".").unwrap();
    lesson.holds(
        "only the full stop looks elsewhere",
        (0..8).all(|query| rests(query) != (query == full_stop)),
    );

    let spread = lesson.head(4).weights.row(7);
    lesson.says_one("7.429", effective_keys(spread));
    lesson.says_one("0.207", spread.iter().copied().fold(0.0, f64::max));

    let others = (1..=12).filter(|number| *number != 3);
    let most = others.map(|number| previous_token(&lesson.head(number).weights)).fold(0.0, f64::max);
    lesson.claims("0.250", "no other head looks a quarter of its weight back", most < 0.25);
    lesson.holds("rows sum to 1", lesson.evaluation.warnings.is_empty());
}

const LOAN: &[u8] = include_bytes!("../data/expected/bank_loan_expected.safetensors");
const RIVER: &[u8] = include_bytes!("../data/expected/bank_river_expected.safetensors");

/// The largest distance of each head's matrix from the tensor of shape (heads, rows, cols).
fn distance(expected: &SafeTensors<'_>, name: &str, heads: &[&Matrix]) -> f64 {
    let tensor = expected.tensor(name).unwrap();
    assert_eq!(tensor.shape(), [heads.len(), heads[0].rows(), heads[0].cols()], "{name}");
    let numbers = tensor.data().chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
    let computed = heads.iter().flat_map(|matrix| matrix.data());
    numbers.zip(computed).map(|(expected, found)| (f64::from(expected) - found).abs()).fold(0.0, f64::max)
}

#[test]
fn all_heads_of_both_sentences_agree_with_the_model_that_they_were_taken_from() {
    let mut compared = 0;
    for (sentence, bytes) in [("bank_loan", LOAN), ("boat_bank", RIVER)] {
        let expected = SafeTensors::deserialize(bytes).unwrap();
        for layer in [0, 5] {
            let lesson = Lesson::open(&format!("{sentence}_layer_{layer}"));
            let heads: Vec<&Attention> = lesson.evaluation.heads.iter().map(|head| &head.attention).collect();
            let weights: Vec<&Matrix> = heads.iter().map(|head| &head.weights).collect();
            let outputs: Vec<&Matrix> = heads.iter().map(|head| &head.output).collect();
            for (name, matrices) in [("weights", weights), ("output", outputs)] {
                let far = distance(&expected, &format!("layers.{layer}.{name}"), &matrices);
                assert!(far < 1e-5, "{sentence}, layer {layer}: {name} differ by {far}");
                compared += matrices.len();
            }
        }
    }
    assert_eq!(compared, 2 * 2 * 2 * 12);
}

/// The scene that reads the weights and the one that computes them from the same model's Q and K show the same.
#[test]
fn weights_computed_elsewhere_are_those_that_the_engine_computes() {
    let (given, computed) = (Lesson::open("maps_from_elsewhere"), Lesson::open("bank_loan_layer_0"));
    let weights = |lesson: &Lesson| {
        lesson
            .evaluation
            .heads
            .iter()
            .flat_map(|head| head.attention.weights.data().to_vec())
            .collect::<Vec<_>>()
    };
    let (given_weights, computed_weights) = (weights(&given), weights(&computed));
    assert_eq!(given_weights.len(), 12 * 8 * 8);
    assert_eq!(given_weights.len(), computed_weights.len());
    let far = given_weights.iter().zip(&computed_weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(far > 0.0 && far < 1e-6, "{far}");
    assert_eq!(given.scene.key_labels(), computed.scene.key_labels());
}

#[test]
fn the_labels_of_both_sentences_come_from_the_tensor_file() {
    let tokens = |name| Lesson::open(name).scene.key_labels().join(" ");
    assert_eq!(tokens("bank_loan_layer_0"), "[CLS] the bank approved the loan . [SEP]");
    assert_eq!(tokens("boat_bank_layer_5"), "[CLS] the boat reached the bank . [SEP]");
}

//! What figures show of sinks, of dropout and of mistakes made on purpose.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use qkv::engine::Fault;
use qkv::figure::{
    Drawing, Figure, FigureInput, FigureOptions, Item, MatrixId, Pin, Terms, TraceText, Writing, compose,
    trace_text,
};
use qkv::scene::{Orientation, Scene, evaluate, read};

fn scene(settings: &str) -> Scene {
    let text = format!(
        "Scene(title: \"Three\", tokens: [\"the\", \"cat\", \"sat\"], input: Heads(q: [[[1, 0], [0, 1], [1, 1]]], \
         k: [[[1, 0], [0, 1], [1, 1]]], v: [[[2, 0], [0, 4], [1, 1]]]), {settings})"
    );
    read(&text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap()
}

fn draw(settings: &str, figure: &Figure, orientation: Orientation) -> Drawing {
    let scene = scene(settings);
    let options = FigureOptions { orientation, ..FigureOptions::default() };
    compose(figure, &scene, &evaluate(&scene), &options)
}

fn words(drawing: &Drawing) -> Vec<String> {
    let text = |item: &Item| match item {
        Item::Text(text) => Some(text.content.clone()),
        _ => None,
    };
    drawing.items.iter().filter_map(text).collect()
}

fn traced(settings: &str, (query, key): (usize, usize)) -> TraceText {
    let scene = scene(settings);
    let evaluation = evaluate(&scene);
    let input = FigureInput::new(&scene, &evaluation);
    trace_text(&input, 0, Pin { query, key }, Writing { decimals: 4, terms: Terms::Few }).unwrap()
}

fn lines(trace: &TraceText) -> String {
    let lines = trace.sections.iter().flat_map(|section| {
        let title = std::iter::once(section.title.clone());
        title.chain(section.lines.iter().map(|line| line.text.clone()))
    });
    lines.collect::<Vec<_>>().join("\n")
}

const BOTH: [Orientation; 2] = [Orientation::QueriesAsRows, Orientation::QueriesAsColumns];

#[test]
fn what_the_sink_takes_stands_beside_the_weights_and_in_the_sums() {
    for orientation in BOTH {
        let drawing = draw("mask: [Causal(TopLeft)], sinks: [0.5]", &Figure::Board, orientation);
        let words = words(&drawing);
        for expected in ["sink", "0.4484", "0.5516"] {
            assert!(words.iter().any(|word| word == expected), "{expected} is missing: {words:?}");
        }
        let sum = "Σexp = 1.0000 + 0.8129 (sink) = 1.8129";
        assert!(words.iter().any(|word| word == sum), "{words:?}");
        assert!(drawing.description.contains("A sink with the logit 0.5"), "{}", drawing.description);
    }
    let trace = lines(&traced("mask: [Causal(TopLeft)], sinks: [0.5]", (0, 0)));
    assert!(trace.contains("Σexp = 1.0000 + 0.8129 = 1.8129"), "{trace}");
    assert!(trace.contains("the last term is the sink, exp(0.5000 − 0.7071): it takes 0.4484"), "{trace}");
}

#[test]
fn weights_after_dropout_stand_beside_those_before_and_keep_their_colours() {
    let settings = "dropout: (rate: 0.25, seed: 2)";
    for orientation in BOTH {
        let drawing = draw(settings, &Figure::Board, orientation);
        let grid = |id| drawing.grids.iter().find(|grid| grid.matrix == id).unwrap();
        let (before, after) = (grid(MatrixId::Weights), grid(MatrixId::DroppedWeights));
        assert!(after.rect.x > before.rect.right());
        assert_eq!(after.rect.y, before.rect.y);
        assert!(words(&drawing).iter().any(|word| word == "1.3333"), "the range grows by 1/(1 − rate)");
        assert!(words(&drawing).iter().any(|word| word == "dropped"));
        assert!(drawing.description.contains("Dropout takes away"), "{}", drawing.description);
    }
    let scene = scene(settings);
    let evaluation = evaluate(&scene);
    let dropped = evaluation.heads[0].dropped.as_ref().unwrap();
    let kept = dropped.kept.iter().position(|kept| *kept).unwrap();
    let lost = dropped.kept.iter().position(|kept| !*kept).unwrap();
    assert!(lines(&traced(settings, (kept / 3, kept % 3))).contains("kept: "));
    assert!(lines(&traced(settings, (lost / 3, lost % 3))).contains("becomes 0"));
}

#[test]
fn every_mistake_is_named_above_the_board_and_in_its_words() {
    for fault in Fault::ALL {
        let settings = format!("mask: [Causal(TopLeft), ValidKeys(2)], softcap: 5, fault: {fault:?}");
        for orientation in BOTH {
            let drawing = draw(&settings, &Figure::Board, orientation);
            let name = format!("Mistake made on purpose: {}", fault.label());
            assert!(words(&drawing).contains(&name), "{fault:?}");
            assert!(drawing.description.contains("A mistake is made on purpose"), "{fault:?}");
        }
        for pair in [(0, 2), (1, 1), (2, 2)] {
            assert!(!traced(&settings, pair).sections.is_empty(), "{fault:?}");
        }
    }
}

#[test]
fn what_a_mistake_lets_through_is_shown_as_the_number_it_is_and_explained() {
    let framed = |settings: &str| {
        words(&draw(settings, &Figure::Board, Orientation::QueriesAsRows))
            .iter()
            .any(|word| word == "should be blocked")
    };
    assert!(framed("mask: [Causal(TopLeft)], fault: MaskMultiplied"));
    assert!(!framed("mask: [Causal(TopLeft)], fault: NoScale"));
    assert!(!framed("mask: [Causal(TopLeft)]"));
    let trace = |fault: &str| lines(&traced(&format!("mask: [Causal(TopLeft)], {fault}"), (0, 2)));
    for (fault, expected) in [
        ("fault: MaskMultiplied", "the score is multiplied by 0 and takes part as 0, not as −∞"),
        ("fault: MaskAfterSoftmax", "set to 0 after the softmax"),
        ("fault: SoftCapAfterMask, softcap: 5", "the soft cap comes last: 5 · tanh(−∞ / 5) = −5.0000"),
        ("fault: MinusTenThousand", "layer 1 adds −10000.0000"),
        ("fault: InvertedBoolean", "layer 1 (causal, top left) should block it"),
    ] {
        let trace = trace(fault);
        assert!(trace.contains(expected), "{fault}: {expected} is missing in\n{trace}");
    }
    assert!(trace("").contains("blocked by layer 1: causal, top left"));
}

#[test]
fn settings_that_a_mistake_changes_are_spelt_out_as_they_are_computed() {
    assert!(lines(&traced("fault: NoScale", (2, 2))).contains("not scaled: 2.0000"));
    let by_model_width = lines(&traced("fault: ModelWidthScale", (2, 2)));
    assert!(by_model_width.contains("2 · 0.7071 = 1.4142"), "{by_model_width}"); // one head: the model is as wide as it
    assert!(lines(&traced("fault: SoftmaxOverQueries", (2, 2))).contains("Softmax over queries"));
    assert!(lines(&traced("fault: SumInHalfPrecision", (2, 2))).contains("rounded to f16 after each term"));
}

#[test]
fn a_head_split_without_a_transpose_is_traced_to_the_row_that_it_really_came_from() {
    let text = "Scene(input: Projected(x: [[1, 2], [3, -1]], heads: 2, w_q: [[1, 2, 3, 4], [5, 6, 7, 8]], \
                w_k: Randn(rows: 2, cols: 4, seed: 2), w_v: Randn(rows: 2, cols: 4, seed: 3)), fault: SplitWithoutTranspose)";
    let scene = read(text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
    let evaluation = evaluate(&scene);
    let input = FigureInput::new(&scene, &evaluation);
    let trace = trace_text(&input, 0, Pin { query: 1, key: 0 }, Writing { decimals: 4, terms: Terms::Every })
        .unwrap();
    // Query 2 of head 1 is made of the third and fourth entry of the first token.
    let q = evaluation.heads[0].input.q.row(1);
    assert_eq!(q, [3.0 + 2.0 * 7.0, 4.0 + 2.0 * 8.0]);
    let text = lines(&trace);
    assert!(text.contains("q[1] = 1·3 + 2·7 = 17"), "{text}");
    assert!(text.contains("q[2] = 1·4 + 2·8 = 20"), "{text}");
}

#[test]
fn a_row_that_a_mistake_empties_has_no_sum_of_exponentials() {
    for settings in [
        "mask: [Causal(TopLeft)], fault: InvertedBoolean",
        "mask: [PaddedKeys([false, true, false])], fault: PaddingOnQueryRows",
    ] {
        let words = words(&draw(settings, &Figure::Board, Orientation::QueriesAsRows));
        assert!(words.iter().any(|word| word == "no visible key"), "{settings}: {words:?}");
        assert!(!words.iter().any(|word| word.contains("NaN")), "{settings}: {words:?}");
        assert!(words.iter().any(|word| word == "should be visible"), "{settings}: {words:?}");
    }
}

#[test]
fn layers_keep_their_numbers_when_a_mistake_makes_numbers_of_them() {
    let mask = "mask: [Causal(TopLeft), ValidKeys(2), Additive([[0.5, 0, 0], [0, 0, 0], [0, 0, 0]])], position: Alibi";
    let trace = |fault: &str, pair| lines(&traced(&format!("{mask}, fault: {fault}"), pair));
    let penalised = trace("MinusTenThousand", (2, 2));
    assert!(penalised.contains("layer 2 adds −10000.0000"), "{penalised}");
    assert!(penalised.contains("layer 2 (first 2 keys valid) should block it"), "{penalised}");
    let visible = trace("MinusTenThousand", (1, 0));
    assert!(visible.contains("ALiBi adds 0.003906 · (1 − 2) = −0.0039"), "{visible}");
    assert!(!visible.contains("layer 1 adds"), "{visible}");
    let scaled = trace("BiasScaledWithScores", (0, 0));
    assert!(scaled.contains("layer 3 adds 0.3536"), "{scaled}");
    let blocked = trace("BiasScaledWithScores", (0, 2));
    assert!(blocked.contains("blocked by layer 1: causal, top left"), "{blocked}");
    let held_back = trace("InvertedBoolean", (1, 0));
    assert!(held_back.contains("by mistake blocked: every layer lets it through"), "{held_back}");
}

#[test]
fn formulas_and_captions_say_what_a_mistake_leaves_of_the_mask() {
    let captions = |settings: &str| words(&draw(settings, &Figure::Board, Orientation::QueriesAsRows));
    let has = |settings: &str, expected: &str| {
        let captions = captions(settings);
        assert!(
            captions.iter().any(|word| word == expected),
            "{settings}: {expected} is not in {captions:?}"
        );
    };
    let both = "mask: [Causal(TopLeft), Additive([[0.5, 0, 0], [0, 0, 0], [0, 0, 0]])]";
    has("mask: [Causal(TopLeft)], fault: MaskAfterSoftmax", "not masked yet");
    has(&format!("{both}, fault: MaskAfterSoftmax"), "+ biases, not masked yet");
    has(&format!("{both}, fault: MaskMultiplied"), "+ biases, times 0 or 1");
    has("fault: SumInHalfPrecision", "softmax, its sum kept in f16");
    has("mask: [ValidKeys(0)]", "softmax over the keys");
    let over_queries = captions("softmax: (over: Queries)");
    assert!(!over_queries.iter().any(|word| word == "Σexp"), "sums of rows divide nothing: {over_queries:?}");
}

#[test]
fn a_trace_names_its_mistake_before_anything_is_computed() {
    let trace = traced("fault: NoScale", (0, 0));
    assert_eq!(trace.sections[0].title, "Mistake made on purpose");
    assert_eq!(trace.sections[0].lines[0].text, "no scale");
}

#[test]
fn the_general_scorer_shows_where_its_left_operands_come_from() {
    let trace = lines(&traced("scoring: General(w: [[0.5, 2], [1, -1]])", (2, 2)));
    assert!(trace.contains("(q W)[1] = 1·0.5 + 1·1 = 1.5"), "{trace}");
    assert!(trace.contains("(q W)[2] = 1·2 + 1·(−1) = 1"), "{trace}");
    assert!(trace.contains("s = 1.5·1 + 1·1 = 2.5"), "{trace}");
}

#[test]
fn a_narrow_format_shows_what_is_computed_and_what_is_stored() {
    let trace = lines(&traced("precision: Bf16", (2, 2)));
    assert!(trace.contains("2 / √2 = 1.4142, stored in bf16: 1.4141"), "{trace}");
}

#[test]
fn a_soft_cap_that_comes_last_is_shown_for_visible_pairs_too() {
    let trace = lines(&traced("mask: [Causal(TopLeft)], softcap: 2, fault: SoftCapAfterMask", (2, 2)));
    assert!(trace.contains("the soft cap comes last: 2 · tanh(1.4142 / 2) = 1.2177"), "{trace}");
}

#[test]
fn an_empty_row_beside_a_sink_names_the_sink_and_no_policy() {
    let trace = lines(&traced("mask: [ValidKeys(0)], sinks: [0.5], softmax: (empty_rows: Uniform)", (0, 0)));
    assert!(trace.contains("nothing is visible: the sink takes everything"), "{trace}");
    assert!(!trace.contains("policy"), "{trace}");
}

#[test]
fn what_is_let_through_is_not_called_visible() {
    let trace = lines(&traced("mask: [Causal(TopLeft)], fault: InvertedBoolean", (0, 2)));
    assert!(!trace.contains("\nvisible"), "{trace}");
    let overflows = lines(&traced("mask: [Causal(TopLeft)], fault: MinusOneBillion, precision: F16", (0, 2)));
    assert!(overflows.contains("becomes −∞"), "{overflows}");
}

#[test]
fn weights_and_outputs_of_a_narrow_format_say_what_is_stored() {
    let trace = lines(&traced("precision: Bf16", (0, 0)));
    assert!(trace.contains("= 0.4011, stored in bf16: 0.4004"), "{trace}");
    assert!(trace.contains(", as stored in bf16"), "{trace}");
}

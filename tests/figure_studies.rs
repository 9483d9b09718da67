//! Closer looks: the numbers on paper are those of the engine, and what cannot be looked at says why.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::sync::Arc;

use qkv::engine::{AttentionSpec, Matrix, Precision, attend, attend_in, softmax_jacobian};
use qkv::figure::{
    Drawing, Figure, FigureInput, FigureOptions, Item, MatrixId, Pin, Study, compose, compose_input,
    format_number,
};
use qkv::scene::{Evaluation, Scene, evaluate, read};

const CAUSAL: &str = "Scene(title: \"Causal\", tokens: [\"the\", \"cat\", \"sat\"], input: Heads(
    q: [[[1, 0], [0, 1], [1, 1]]], k: [[[1, 0], [0, 1], [1, 1]]], v: [[[2, 0], [0, 4], [1, 1]]]),
    scoring: ScaledDot, mask: [Causal(TopLeft)])";

fn scene(text: &str) -> (Scene, Evaluation) {
    let scene = read(text, &mut |path| Err(std::io::Error::other(path.to_owned()))).unwrap();
    let evaluation = evaluate(&scene);
    (scene, evaluation)
}

fn draw(text: &str, study: Study, pin: Option<Pin>) -> Drawing {
    let (scene, evaluation) = scene(text);
    let options = FigureOptions { pin, ..FigureOptions::of_view(&scene.spec().view) };
    compose(&Figure::Study(study), &scene, &evaluation, &options)
}

/// Every run of text with its height on the paper.
fn runs(drawing: &Drawing) -> Vec<(&str, f32)> {
    let text = |item: &'_ Item| matches!(item, Item::Text(_));
    let runs = drawing.items.iter().filter(|item| text(item));
    runs.filter_map(|item| match item {
        Item::Text(run) => Some((run.content.as_str(), run.origin.y)),
        _ => None,
    })
    .collect()
}

fn all(drawing: &Drawing) -> String {
    runs(drawing).into_iter().map(|(text, _)| text).collect::<Vec<_>>().join("\n")
}

fn says(drawing: &Drawing, words: &str) -> bool {
    all(drawing).replace('\n', " ").contains(words)
}

/// The texts that stand on one line with `name`.
fn line<'d>(drawing: &'d Drawing, name: &str) -> Vec<&'d str> {
    let runs = runs(drawing);
    let height = runs.iter().find(|(text, _)| *text == name).unwrap_or_else(|| panic!("no {name}")).1;
    runs.into_iter().filter(|(_, y)| (y - height).abs() < 2.0).map(|(text, _)| text).collect()
}

/// Whether the numbers of a matrix stand in the figure in reading order.
fn holds(drawing: &Drawing, matrix: &Matrix) -> bool {
    let expected: Vec<String> = matrix.data().iter().map(|number| format_number(*number, 4)).collect();
    let found: Vec<&str> = runs(drawing).into_iter().map(|(text, _)| text).collect();
    found.windows(expected.len()).any(|window| window == expected)
}

#[test]
fn each_format_has_its_threshold_and_counts_the_scores_beyond_it() {
    let text = "Scene(title: \"Large\", input: Heads(q: [[[1]]], k: [[[12], [90], [1]]], v: [[[1], [2], [3]]]), scoring: Dot)";
    let drawing = draw(text, Study::Formats, None);
    assert_eq!(line(&drawing, "1.8e308"), ["f64", "1.8e308", "709.78", "0"]);
    let f32 = runs(&drawing).into_iter().filter(|(text, _)| *text == "88.72").count();
    assert_eq!(f32, 2, "f32 and bf16 have the same range");
    assert_eq!(line(&drawing, "65504"), ["f16", "65504", "11.09", "2"]);
    assert!(says(&drawing, "1 in f32, 1 in bf16, 2 in f16. The row maximum is subtracted first"));
    let naive =
        draw(&text.replace("scoring: Dot", "scoring: Dot, softmax: (form: Naive)"), Study::Formats, None);
    assert!(says(&naive, "it subtracts nothing, and ∞/∞ is NaN"));
}

#[test]
fn formats_start_from_inputs_that_the_scene_has_not_rounded_yet() {
    let text =
        "Scene(title: \"Narrow\", input: Heads(q: [[[0.1, 0.7], [2.3, 0.9]]], k: [[[0.3, 1.1], [0.7, 0.2]]],
        v: [[[1.3], [0.6]]]), position: Rope(base: 100), precision: Bf16)";
    let (given, evaluation) = scene(text);
    let drawing = draw(text, Study::Formats, None);
    let input = given.unrounded_input(0).unwrap();
    for precision in Precision::ALL {
        let weights = attend_in(precision, &input, given.attention_spec(), 0).weights;
        assert!(holds(&drawing, &weights), "{precision:?}");
    }
    assert_ne!(*input.q, *evaluation.heads[0].input.q, "the evaluation reads rounded inputs");
    let exact = scene(&text.replace(", precision: Bf16", "")).1;
    assert_eq!(input, exact.heads[0].input);
    assert!(says(&drawing, "the scene itself is in bf16"));
}

#[test]
fn the_last_tile_ends_with_the_row_of_the_board() {
    let (_, evaluation) = scene(CAUSAL);
    let attention = &evaluation.heads[0].attention;
    for query in 0..3 {
        let drawing = draw(CAUSAL, Study::Tiles, Some(Pin { query, key: 0 }));
        let end = line(&drawing, "the whole row");
        let expected = [attention.row_max[query], attention.row_sum[query]]
            .into_iter()
            .chain(attention.output.row(query).iter().copied());
        let expected: Vec<String> = expected.map(|number| format_number(number, 4)).collect();
        assert_eq!(end[1..], expected, "query {query}");
        assert!(says(&drawing, "the tiles end with the same, digit for digit"));
    }
    let drawing = draw(CAUSAL, Study::Tiles, Some(Pin { query: 2, key: 1 }));
    // The maximum rises from 0.7071 to 1.4142, so that what was gathered counts exp(−0.7071) = 0.4931 as much.
    assert_eq!(line(&drawing, "key 3")[2..], ["0.7071", "1.4142", "0.4931", "1.9861", "1.0000", "1.4965"]);
    assert!(drawing.description.contains("query 3 “sat”"));
}

#[test]
fn a_sink_takes_its_share_after_the_last_tile() {
    let (given, mut evaluation) = scene(CAUSAL);
    let spec = AttentionSpec { sinks: Arc::new(vec![1.0]), ..given.attention_spec().clone() };
    evaluation.heads[0].attention = attend(&evaluation.heads[0].input, &spec, 0);
    let input = FigureInput { spec: &spec, ..FigureInput::new(&given, &evaluation) };
    let options = FigureOptions { pin: Some(Pin { query: 2, key: 0 }), ..FigureOptions::default() };
    let drawing = compose_input(&Figure::Study(Study::Tiles), &input, &options);
    let attention = &evaluation.heads[0].attention;
    let sum = format_number(attention.row_sum[2], 4);
    assert_eq!(sum, "2.6470", "1.9861 and exp(1 − 1.4142) for the sink");
    assert_eq!(line(&drawing, "with the sink")[1..3], ["1.4142", &sum]);
    assert!(says(&drawing, "the tiles end"), "{}", all(&drawing));
    let gradients = compose_input(&Figure::Study(Study::Gradients), &input, &options);
    assert!(!says(&gradients, "sum to 0"), "a sink takes weight too");
}

#[test]
fn a_softmax_that_has_no_tiled_form_says_so() {
    for (softmax, words) in
        [("over: Queries", "softmax runs over the queries"), ("form: Naive", "the softmax is naive")]
    {
        let text = CAUSAL.replace("scoring: ScaledDot", &format!("softmax: ({softmax})"));
        let drawing = draw(&text, Study::Tiles, None);
        assert!(says(&drawing, words), "{}", all(&drawing));
    }
}

#[test]
fn a_tile_without_visible_keys_has_no_output_yet() {
    let text = CAUSAL.replace("Causal(TopLeft)", "PaddedKeys([true, false, false])");
    let drawing = draw(&text, Study::Tiles, Some(Pin { query: 1, key: 1 }));
    assert!(line(&drawing, "key 1").contains(&"nothing seen yet"));
}

#[test]
fn decoding_with_a_cache_equals_the_causal_pass_and_only_that() {
    let causal = draw(CAUSAL, Study::Decoding, Some(Pin { query: 1, key: 0 }));
    assert_eq!(runs(&causal).into_iter().filter(|(text, _)| *text == "equal").count(), 3);
    assert!(says(&causal, "2 of 3 rows are there"));
    assert!(says(&causal, "All 3 steps equal their rows of the full pass"));
    let open = draw(&CAUSAL.replace("Causal(TopLeft)", ""), Study::Decoding, None);
    assert!(says(&open, "1 of 3 steps equal"));
    assert!(says(&open, "what is not there yet cannot be seen"));
    let step = "Scene(title: \"Step\", tokens: (queries: [\"sat\"], keys: [\"the\", \"cat\", \"sat\"]), input: Heads(
        q: [[[1, 1]]], k: [[[1, 0], [0, 1], [1, 1]]], v: [[[2, 0], [0, 4], [1, 1]]]), mask: [Causal(TopLeft)], position_offset: 2)";
    let step = draw(step, Study::Decoding, None);
    assert!(says(&step, "3 of 3 rows are there") && says(&step, "The step equals its row"), "{}", all(&step));
}

#[test]
fn the_jacobian_on_paper_is_that_of_the_weights() {
    let (_, evaluation) = scene(CAUSAL);
    let weights = evaluation.heads[0].attention.weights.row(2);
    let drawing = draw(CAUSAL, Study::Gradients, Some(Pin { query: 2, key: 1 }));
    let jacobian = softmax_jacobian(weights);
    assert!(holds(&drawing, &jacobian));
    // p_i·(δ_ij − p_j), worked out apart from the engine.
    let by_hand = Matrix::from_fn(3, 3, |i, j| weights[i] * (f64::from(u8::from(i == j)) - weights[j]));
    assert!(holds(&drawing, &by_hand));
    let slopes = Matrix::from_fn(1, 3, |_, key| weights[key] - weights[key] * weights[key]);
    assert!(holds(&drawing, &slopes));
}

#[test]
fn the_gradients_on_paper_are_those_of_a_nudged_input() {
    const STEP: f64 = 1e-6;
    let loss = |q: f64| {
        let text = CAUSAL.replace("[1, 1]]], k:", &format!("[1, {q}]]], k:"));
        scene(&text).1.heads[0].attention.output.data().iter().sum::<f64>()
    };
    let slope = (loss(1.0 + STEP) - loss(1.0 - STEP)) / (2.0 * STEP);
    let drawing = draw(CAUSAL, Study::Gradients, None);
    let expected = format_number(slope, 4);
    assert!(runs(&drawing).into_iter().any(|(text, _)| text == expected), "{expected} in {}", all(&drawing));
}

#[test]
fn a_scorer_of_its_own_has_gradients_of_its_own() {
    let additive = CAUSAL.replace(
        "scoring: ScaledDot",
        "scoring: Additive(w_q: [[1, 0], [0, 1], [1, 1]], w_k: [[1, 0], [0, 1], [0, 1]], v: [1, 2, 3])",
    );
    let drawing = draw(&additive, Study::Gradients, None);
    assert!(says(&drawing, "the scorer’s own parameters"), "{}", all(&drawing));
    let plain = draw(CAUSAL, Study::Gradients, None);
    assert!(!says(&plain, "parameters"));
}

#[test]
fn rows_without_a_slope_say_why() {
    let hidden = draw(&CAUSAL.replace("Causal(TopLeft)", "ValidKeys(0)"), Study::Gradients, None);
    assert!(says(&hidden, "No score of this softmax is visible"));
    let broken = draw(&CAUSAL.replace("[1, 1]]], k:", "[NaN, 1]]], k:"), Study::Gradients, None);
    assert!(says(&broken, "The weights of query 3 “sat” are NaN"));
    let even = draw(
        &CAUSAL.replace("[[2, 0], [0, 4], [1, 1]]])", "[[2, 0], [0, 2], [1, 1]]])"),
        Study::Gradients,
        None,
    );
    assert!(says(&even, "L answers to no score here: the features of every value"), "{}", all(&even));
}

#[test]
fn linear_attention_stands_beside_the_softmax_with_its_cost() {
    let drawing = draw(CAUSAL, Study::Linear, None);
    // φ(k) = elu + 1 of the keys is [2, 1], [1, 2], [2, 2], and so is φ(q).
    assert!(holds(&drawing, &Matrix::from_rows(&[[0.3, 0.3, 0.4]]).unwrap()));
    assert_eq!(line(&drawing, "36").first(), Some(&"pairs first"), "3 · 3 · (2 + 2)");
    assert!(says(&drawing, "the state first takes fewer multiply-adds here"));
    let windowed =
        draw(&CAUSAL.replace("Causal(TopLeft)", "Causal(TopLeft), Window(left: 1)"), Study::Linear, None);
    assert!(
        says(&windowed, "Linear attention here follows causal alone; not applied to it: window"),
        "{}",
        all(&windowed)
    );
}

#[test]
fn what_linear_attention_cannot_take_is_said() {
    let general =
        "Scene(title: \"General\", input: Heads(q: [[[1, 2, 3]]], k: [[[1, 0], [0, 1]]], v: [[[1], [2]]]),
        scoring: General(w: [[1, 0], [0, 1], [1, 1]]))";
    assert!(says(&draw(general, Study::Linear, None), "here queries are 3 wide and keys 2"));
    let broken = draw(&CAUSAL.replace("[2, 0]", "[inf, 0]"), Study::Linear, None);
    assert!(says(&broken, "An input is NaN or infinite"));
}

#[test]
fn a_head_that_would_hold_up_the_window_is_not_drawn() {
    let text = "Scene(title: \"Long\", input: Heads(q: [Randn(rows: 400, cols: 4, seed: 1)],
        k: [Randn(rows: 400, cols: 4, seed: 2)], v: [Randn(rows: 400, cols: 4, seed: 3)]))";
    for study in Study::ALL {
        let drawing = draw(text, study, None);
        assert!(says(&drawing, "1.3 million multiply-adds"), "{study:?}");
        assert!(drawing.grids.is_empty());
    }
}

#[test]
fn mistakes_of_a_head_are_not_looked_at_and_dropout_comes_after_everything() {
    for study in Study::ALL {
        let wrong = draw(&CAUSAL.replace("mask:", "fault: NoScale, mask:"), study, None);
        assert!(says(&wrong, "A mistake is made on purpose in this scene (no scale)"), "{study:?}");
        let dropped = draw(&CAUSAL.replace("mask:", "dropout: (rate: 0.5, seed: 1), mask:"), study, None);
        assert!(says(&dropped, "every stage here is before dropout"), "{study:?}");
    }
}

#[test]
fn weights_from_elsewhere_have_slopes_but_no_way_back() {
    let header = format!("{:<117}\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 2), }");
    let mut maps = b"\x93NUMPY\x01\x00".to_vec();
    maps.extend((header.len() as u16).to_le_bytes());
    maps.extend(header.into_bytes());
    maps.extend([0.75_f64, 0.25].into_iter().flat_map(f64::to_le_bytes));
    let text = "Scene(title: \"Maps\", input: Weights(file: \"maps.npy\"))";
    let given = read(text, &mut |_| Ok(maps.clone())).unwrap();
    for study in Study::ALL {
        let drawing = compose(&Figure::Study(study), &given, &evaluate(&given), &FigureOptions::default());
        assert_eq!(says(&drawing, "nothing can be computed anew"), study.needs_inputs(), "{study:?}");
        if study == Study::Gradients {
            assert!(holds(&drawing, &Matrix::from_rows(&[[0.1875, -0.1875], [-0.1875, 0.1875]]).unwrap()));
            assert!(says(&drawing, "to which the way back leads, are not known"));
        }
    }
}

#[test]
fn pairs_can_be_pointed_at_and_are_no_matrix_of_the_scene() {
    for study in [Study::Formats, Study::Linear] {
        let drawing = draw(CAUSAL, study, None);
        let grid = drawing.grid(MatrixId::Pairs).unwrap();
        let cell = drawing.cell_at(grid.cell_rect(2, 1).center()).unwrap().1;
        assert_eq!((cell.matrix, cell.row, cell.col), (MatrixId::Pairs, 2, 1));
    }
    let gradients = draw(CAUSAL, Study::Gradients, None);
    let jacobian = gradients.readings.iter().find(|reading| reading.name == "softmax Jacobian").unwrap();
    let grid = gradients.grids[jacobian.grid];
    assert_eq!((grid.rows, grid.cols), (jacobian.numbers.rows(), jacobian.numbers.cols()));
    let cell = gradients.cell_at(grid.cell_rect(2, 0).center()).unwrap().1;
    assert!(!cell.matrix.is_of_scene() && !cell.matrix.is_score_like());
    assert!(MatrixId::Pairs.is_score_like());
}

//! Figures of many scenes: nothing leaves the paper, nothing overlaps, digits fit their cells, and known figures stay as they are.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::sync::Arc;

use qkv::engine::{AttentionSpec, HeadInput, Matrix, attend};
use qkv::figure::{
    AxisScale, ChartLine, ChartSpec, Color, Drawing, Face, Figure, FigureInput, FigureOptions, FigureTheme,
    Item, MatrixId, Pin, Point, Rect, Study, Terms, Text, Writing, compose, compose_input, trace_text,
};
use qkv::scene::{HeadEvaluation, Orientation, Position, Scene, Stage, evaluate, read};

fn scene(text: &str) -> Scene {
    read(text, &mut |path| Err(std::io::Error::other(path.to_owned()))).unwrap()
}

fn draw(text: &str, figure: &Figure, change: impl FnOnce(&mut FigureOptions)) -> Drawing {
    let scene = scene(text);
    let mut options = FigureOptions::of_view(&scene.spec().view);
    change(&mut options);
    compose(figure, &scene, &evaluate(&scene), &options)
}

/// A scene of random numbers. `labels` makes a label of a number.
fn random(
    n_q: usize,
    n_k: usize,
    d_k: usize,
    d_v: usize,
    mask: &str,
    labels: impl Fn(usize) -> String,
) -> String {
    let names = |n| (0..n).map(|i| format!("{:?}", labels(i))).collect::<Vec<_>>().join(", ");
    format!(
        "Scene(title: \"Random numbers\", tokens: (queries: [{}], keys: [{}]), input: Heads(
            q: [Randn(rows: {n_q}, cols: {d_k}, seed: 1)], k: [Randn(rows: {n_k}, cols: {d_k}, seed: 2)],
            v: [Randn(rows: {n_k}, cols: {d_v}, seed: 3, factor: 5.0)]), scoring: ScaledDot, mask: [{mask}])",
        names(n_q),
        names(n_k)
    )
}

fn causal_three() -> &'static str {
    "Scene(title: \"Three positions, causal\", tokens: [\"the\", \"cat\", \"sat\"], input: Heads(
        q: [[[1, 0], [0, 1], [1, 1]]], k: [[[1, 0], [0, 1], [1, 1]]], v: [[[2, 0], [0, 4], [1, 1]]]),
        scoring: ScaledDot, mask: [Causal(TopLeft)])"
}

fn heads_of(n: usize, kv: usize) -> String {
    format!(
        "Scene(title: \"Heads\", tokens: [\"the\", \"cat\", \"sat\", \"down\"], input: Projected(
            x: Randn(rows: 4, cols: 8, seed: 0), heads: {n}, kv_heads: {kv},
            w_q: Randn(rows: 8, cols: {q}, seed: 1), w_k: Randn(rows: 8, cols: {k}, seed: 2),
            w_v: Randn(rows: 8, cols: {k}, seed: 3), w_o: Randn(rows: {q}, cols: 8, seed: 4, factor: 0.5)),
            scoring: ScaledDot, mask: [Causal(TopLeft)])",
        q = 2 * n,
        k = 2 * kv
    )
}

/// Attention maps of `heads` heads as an `.npy` file: row q of head h gives key k the share (h + q + k) mod n_k + 1.
fn maps_of(n_q: usize, n_k: usize, heads: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({heads}, {n_q}, {n_k}), }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.into_bytes());
    let total = (n_k * (n_k + 1) / 2) as f64;
    let share = |i: usize| ((i / (n_k * n_q) + i / n_k % n_q + i % n_k) % n_k + 1) as f64 / total;
    bytes.extend((0..heads * n_q * n_k).flat_map(|i| share(i).to_le_bytes()));
    bytes
}

/// A figure of a scene that gives only these weights.
fn given(maps: &[u8], figure: &Figure, change: impl FnOnce(&mut FigureOptions)) -> Drawing {
    let text = "Scene(title: \"Maps\", input: Weights(file: \"maps.npy\"))";
    let scene = read(text, &mut |_| Ok(maps.to_vec())).unwrap();
    let mut options = FigureOptions::of_view(&scene.spec().view);
    change(&mut options);
    compose(figure, &scene, &evaluate(&scene), &options)
}

fn odd_numbers() -> &'static str {
    "Scene(title: \"Numbers that are none\", tokens: (queries: [\"a\", \"b\", \"\", \"d\"], keys: [\"k\", \" \", \"m\", \"n\"]),
        input: Heads(q: [[[1, 0], [NaN, 1], [1, 1], [inf, 1]]], k: [[[1, 0], [0, 1], [1, 1], [-1000000000.0, 0.25]]],
        v: [[[2, 0], [0, 4], [1, 1], [-3.5, inf]]]), scoring: ScaledDot,
        mask: [Matrix(convention: TrueAllows, rows: [[false, false, false, false], [true, true, true, true],
        [true, false, true, false], [true, true, true, true]])])"
}

fn texts(drawing: &Drawing) -> impl Iterator<Item = &Text> {
    drawing.items.iter().filter_map(|item| match item {
        Item::Text(text) => Some(text),
        _ => None,
    })
}

/// The box that the letters of a run fill, without the room for accents.
fn letters(text: &Text) -> Rect {
    Rect {
        x: text.origin.x + 0.3,
        y: text.origin.y - 0.70 * text.size,
        width: (text.width - 0.6).max(0.0),
        height: 0.88 * text.size,
    }
}

fn overlap(a: Rect, b: Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

fn assert_inside(drawing: &Drawing, what: &str) {
    let inside =
        |x: f32, y: f32| (0.0..=drawing.size.width).contains(&x) && (0.0..=drawing.size.height).contains(&y);
    let rect_inside = |rect: Rect| inside(rect.x, rect.y) && inside(rect.right(), rect.bottom());
    for item in &drawing.items {
        let good = match item {
            Item::Cells(cells) => rect_inside(cells.rect) && cells.fills.len() == cells.rows * cells.cols,
            Item::Rect(item) => rect_inside(item.rect),
            Item::Polyline(line) => line.points.iter().all(|point| inside(point.x, point.y)),
            Item::Text(text) => rect_inside(letters(text)),
            Item::Outline(_) => true,
        };
        assert!(good, "{what}: outside the paper of {:?}: {item:?}", drawing.size);
    }
}

fn assert_no_overlap(drawing: &Drawing, what: &str) {
    // Formulas set signs closer than their boxes.
    let mut boxes: Vec<(Rect, &str)> = texts(drawing)
        .filter(|text| !matches!(text.face, Face::Math(_)) && !text.content.trim().is_empty())
        .map(|text| (letters(text), text.content.as_str()))
        .collect();
    boxes.sort_by(|a, b| a.0.x.total_cmp(&b.0.x));
    for (i, (a, a_text)) in boxes.iter().enumerate() {
        for (b, b_text) in boxes[i + 1..].iter().take_while(|(b, _)| b.x < a.right()) {
            assert!(!overlap(*a, *b), "{what}: {a_text:?} at {a:?} overlaps {b_text:?} at {b:?}");
        }
    }
}

fn assert_digits_fit(drawing: &Drawing, what: &str) {
    for grid in drawing.grids.iter().filter(|grid| grid.rows > 0 && grid.cols > 0) {
        for text in texts(drawing) {
            let middle = Point { x: text.origin.x + text.width / 2.0, y: text.origin.y - 0.3 * text.size };
            let Some(cell) = grid.cell_at(middle) else { continue };
            let cell = grid.cell_rect(cell.row, cell.col);
            let fits = text.origin.x >= cell.x && text.origin.x + text.width <= cell.right() + 0.01;
            assert!(fits, "{what}: {:?} of {:?} is wider than its cell", text.content, grid.matrix);
            assert!(
                letters(text).y >= cell.y && letters(text).bottom() <= cell.bottom() + 0.5,
                "{what}: height"
            );
        }
    }
}

fn assert_well_laid_out(drawing: &Drawing, what: &str) {
    assert_inside(drawing, what);
    assert_no_overlap(drawing, what);
    assert_digits_fit(drawing, what);
    assert!(!drawing.description.is_empty(), "{what}: no description");
}

const SHORT: fn(usize) -> String = |i| format!("t{}", i + 1);
const LONG: fn(usize) -> String = |i| format!("a rather long label {i} 👩‍👩‍👧‍👦");
const ODD: fn(usize) -> String = |i| ["", " ", "שלום", "深", "W", "i", "e\u{301}"][i % 7].to_owned();

#[test]
fn boards_of_many_shapes_are_well_laid_out() {
    let shapes = [
        (1, 1, 1, 1),
        (1, 2, 2, 2),
        (2, 1, 1, 1),
        (3, 3, 2, 2),
        (5, 2, 3, 4),
        (2, 7, 12, 1),
        (8, 8, 2, 2),
        (12, 12, 13, 16),
        (1, 40, 4, 4),
        (40, 1, 4, 4),
        (17, 20, 2, 64),
        (65, 3, 2, 2),
        (3, 200, 3, 2),
        (90, 90, 8, 8),
    ];
    for (n_q, n_k, d_k, d_v) in shapes {
        for (labels, name) in [(SHORT, "short"), (LONG, "long"), (ODD, "odd")] {
            for orientation in [Orientation::QueriesAsRows, Orientation::QueriesAsColumns] {
                let text = random(n_q, n_k, d_k, d_v, "Causal(TopLeft)", labels);
                let drawing = draw(&text, &Figure::Board, |options| {
                    options.orientation = orientation;
                    options.pin = Some(Pin { query: n_q / 2, key: n_k / 2 });
                });
                assert_well_laid_out(
                    &drawing,
                    &format!("{n_q} × {n_k}, {d_k}, {d_v}, {name}, {orientation:?}"),
                );
            }
        }
    }
}

#[test]
fn boards_of_any_choice_of_stages_are_well_laid_out() {
    for bits in 0..32_u32 {
        let stages: Vec<Stage> =
            Stage::ALL.into_iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, s)| s).collect();
        for orientation in [Orientation::QueriesAsRows, Orientation::QueriesAsColumns] {
            let text = random(3, 4, 2, 3, "Causal(TopLeft)", LONG);
            let drawing = draw(&text, &Figure::Board, |options| {
                options.stages = stages.clone();
                options.orientation = orientation;
                options.pin = Some(Pin { query: 1, key: 1 });
            });
            assert_well_laid_out(&drawing, &format!("{stages:?} {orientation:?}"));
        }
    }
}

#[test]
fn every_other_figure_is_well_laid_out() {
    let matrices = [
        MatrixId::X,
        MatrixId::Context,
        MatrixId::WQ,
        MatrixId::WO,
        MatrixId::Q,
        MatrixId::K,
        MatrixId::V,
        MatrixId::Concat,
        MatrixId::FinalOutput,
    ];
    let mut figures = vec![Figure::Heads, Figure::Projection, Figure::Trace];
    figures.extend(Stage::ALL.map(Figure::Stage));
    figures.extend(matrices.map(Figure::Matrix));
    figures.extend(Study::ALL.map(Figure::Study));
    let odd = odd_numbers().to_owned();
    let scenes = [
        heads_of(2, 1),
        heads_of(8, 8),
        odd,
        random(20, 20, 20, 20, "ValidKeys(7)", LONG),
        causal_three().to_owned(),
    ];
    for scene in &scenes {
        for figure in &figures {
            for orientation in [Orientation::QueriesAsRows, Orientation::QueriesAsColumns] {
                let drawing = draw(scene, figure, |options| {
                    options.orientation = orientation;
                    options.pin = Some(Pin { query: 2, key: 1 });
                });
                assert_well_laid_out(&drawing, &format!("{figure:?} {orientation:?}"));
            }
        }
    }
}

#[test]
fn boards_with_a_sink_dropout_or_a_mistake_are_well_laid_out() {
    let settings = [
        "sinks: [0.5],",
        "dropout: (rate: 0.4, seed: 1),",
        "sinks: [-2], dropout: (rate: 0.4, seed: 1), fault: MaskMultiplied,",
        "fault: MinusTenThousand,",
        "fault: SoftCapAfterMask, softcap: 3,",
    ];
    for settings in settings {
        for n in [1, 3, 9, 30, 80] {
            let text = random(n, n, 4, 3, "Causal(TopLeft)", |i| format!("token {i}"));
            let text = text.replacen("Scene(", &format!("Scene({settings} "), 1);
            for orientation in [Orientation::QueriesAsRows, Orientation::QueriesAsColumns] {
                for stages in
                    [Stage::ALL.to_vec(), vec![Stage::Weights], vec![Stage::MaskedScores, Stage::Output]]
                {
                    let what = format!("{settings} {n} {orientation:?} {stages:?}");
                    let drawing = draw(&text, &Figure::Board, |options| {
                        options.orientation = orientation;
                        options.stages = stages;
                    });
                    assert_well_laid_out(&drawing, &what);
                }
            }
        }
    }
}

#[test]
fn figures_of_given_weights_are_well_laid_out_and_claim_no_computation() {
    let figures = [Figure::Board, Figure::Heads, Figure::Trace, Figure::Projection, Figure::Positions]
        .into_iter()
        .chain(Stage::ALL.map(Figure::Stage))
        .chain([MatrixId::Q, MatrixId::V, MatrixId::Concat].map(Figure::Matrix));
    for figure in figures {
        for (n_q, n_k, heads) in [(1, 1, 1), (3, 4, 2), (8, 8, 12), (70, 90, 2)] {
            for orientation in [Orientation::QueriesAsRows, Orientation::QueriesAsColumns] {
                for digits in [true, false] {
                    let drawing = given(&maps_of(n_q, n_k, heads), &figure, |options| {
                        options.orientation = orientation;
                        options.digits = digits;
                        options.pin = Some(Pin { query: n_q / 2, key: n_k - 1 });
                    });
                    let what = format!("{figure:?} of {heads} heads, {n_q} × {n_k}, {orientation:?}");
                    assert_well_laid_out(&drawing, &what);
                    let is_claimed =
                        |text: &Text| text.content.contains("softmax") || matches!(text.face, Face::Math(_));
                    assert!(!texts(&drawing).any(is_claimed), "{what}");
                    assert!(drawing.grids.iter().all(|grid| grid.matrix == MatrixId::Weights), "{what}");
                }
            }
        }
    }
}

#[test]
fn the_board_of_given_weights_is_the_weights_of_the_head_on_screen() {
    let board = given(&maps_of(3, 4, 2), &Figure::Board, |options| options.head = 1);
    let [grid] = board.grids.as_slice() else { panic!("{:?}", board.grids) };
    assert_eq!((grid.matrix, grid.head, grid.rows, grid.cols), (MatrixId::Weights, 1, 3, 4));
    let contents: Vec<&str> = texts(&board).map(|text| text.content.as_str()).collect();
    assert!(contents.iter().any(|text| text.contains("computed elsewhere")), "{contents:?}");
    assert!(contents.iter().any(|text| text.contains("head 2 of 2")), "{contents:?}");
    let (first, last) = ("0.2000", "0.1000"); // shares 2 and 1 of 10
    assert!(contents.contains(&first) && contents.contains(&last), "{contents:?}");
    assert!(board.description.starts_with("Weights of 3 queries over 4 keys, computed elsewhere."));
}

#[test]
fn a_given_weight_is_told_by_its_place_in_the_row() {
    let trace = |query, key| {
        let maps = maps_of(3, 4, 1);
        let scene = read("Scene(input: Weights(file: \"m.npy\"))", &mut |_| Ok(maps.clone())).unwrap();
        let evaluation = evaluate(&scene);
        let writing = Writing { decimals: 4, terms: Terms::Few };
        let trace = trace_text(&FigureInput::new(&scene, &evaluation), 0, Pin { query, key }, writing)?;
        Some(
            trace
                .sections
                .into_iter()
                .flat_map(|section| section.lines)
                .map(|line| line.text)
                .collect::<Vec<_>>(),
        )
    };
    // The row holds 0.1, 0.2, 0.3 and 0.4; −Σ p ln p = 1.27985 nats, whose exponential is 3.5961.
    assert_eq!(
        trace(0, 1).unwrap(),
        [
            "0.2000",
            "in the file, as f64: 0.2",
            "This weight was computed elsewhere; no arithmetic is behind it here.",
            "rank 3 of 4 keys",
            "largest: 4 0.4000",
            "sum 1.000000",
            "entropy 1.2799 nats = 1.8464 bits",
            "as spread out as 3.5961 equal keys",
        ]
    );
    assert!(trace(0, 3).unwrap().contains(&"rank 1 of 4 keys".to_owned()));
    assert_eq!(trace(3, 0), None);
}

#[test]
fn all_stages_of_a_board_share_their_rows() {
    let drawing = draw(&random(5, 3, 2, 4, "", SHORT), &Figure::Board, |_| {});
    let stages: Vec<_> = drawing
        .grids
        .iter()
        .filter(|grid| !matches!(grid.matrix, MatrixId::K | MatrixId::V))
        .map(|grid| (grid.rect.y, grid.rect.height))
        .collect();
    assert_eq!(stages.len(), 6);
    assert!(stages.iter().all(|stage| *stage == stages[0]), "{stages:?}");
    let (k, raw) = (drawing.grid(MatrixId::K).unwrap(), drawing.grid(MatrixId::RawScores).unwrap());
    assert_eq!((k.rect.x, k.rect.width), (raw.rect.x, raw.rect.width));
    let (v, output) = (drawing.grid(MatrixId::V).unwrap(), drawing.grid(MatrixId::Output).unwrap());
    assert_eq!((v.rect.x, v.rect.width), (output.rect.x, output.rect.width));
}

#[test]
fn an_eight_token_board_fits_a_small_window_and_a_five_stage_one_a_large_window() {
    let text = random(8, 8, 2, 2, "Causal(TopLeft)", SHORT);
    let three = draw(&text, &Figure::Board, |options| {
        options.stages = vec![Stage::RawScores, Stage::Weights, Stage::Output];
    });
    assert!(three.size.width <= 930.0, "{}", three.size.width);
    let five = draw(&text, &Figure::Board, |_| {});
    assert!(five.size.width <= 1470.0, "{}", five.size.width);
    assert!(texts(&five).all(|text| text.size >= 6.0));
}

#[test]
fn cells_are_found_again_under_the_pointer() {
    for orientation in [Orientation::QueriesAsRows, Orientation::QueriesAsColumns] {
        let text = random(4, 5, 2, 3, "", |_| "the".to_owned());
        let drawing = draw(&text, &Figure::Board, |options| options.orientation = orientation);
        for grid in &drawing.grids {
            for row in 0..grid.rows {
                for col in 0..grid.cols {
                    let (_, cell) = drawing.cell_at(grid.cell_rect(row, col).center()).unwrap();
                    assert_eq!((cell.matrix, cell.row, cell.col), (grid.matrix, row, col));
                }
            }
        }
    }
}

#[test]
fn blocked_cells_and_small_weights_look_different() {
    // One key far below the others, and one blocked.
    let text = "Scene(title: \"t\", input: Heads(q: [[[1]]], k: [[[0], [-40], [0]]], v: [[[1], [1], [1]]]),
        scoring: Dot, mask: [ValidKeys(2)])";
    let drawing = draw(text, &Figure::Stage(Stage::Weights), |_| {});
    let contents: Vec<&str> = texts(&drawing).map(|text| text.content.as_str()).collect();
    assert!(contents.contains(&"0.0000") && contents.contains(&"0"), "{contents:?}");
    let cells = drawing.items.iter().find_map(|item| match item {
        Item::Cells(cells) if cells.cols == 3 => Some(cells),
        _ => None,
    });
    let fills = &cells.unwrap().fills;
    assert_ne!(fills[1], fills[2]);
    assert!(contents.contains(&"blocked"));
    let open = draw(&text.replace("ValidKeys(2)", ""), &Figure::Stage(Stage::Weights), |_| {});
    assert!(texts(&open).all(|text| text.content != "blocked"), "no key to what is not there");
}

#[test]
fn not_a_number_and_infinities_have_their_glyphs_and_leave_the_range_alone() {
    let drawing = draw(odd_numbers(), &Figure::Stage(Stage::MaskedScores), |_| {});
    let contents: Vec<&str> = texts(&drawing).map(|text| text.content.as_str()).collect();
    for glyph in ["NaN", "∞", "−∞", "−1.4142", "1.4142", "∅", "␣"] {
        assert!(contents.contains(&glyph), "{glyph} in {contents:?}");
    }
}

#[test]
fn a_long_sequence_stays_one_item_per_matrix_and_thins_out_its_labels() {
    let drawing = draw(&random(300, 300, 2, 2, "Causal(TopLeft)", SHORT), &Figure::Board, |_| {});
    let largest = drawing.items.iter().filter_map(|item| match item {
        Item::Cells(cells) => Some(cells.fills.len()),
        _ => None,
    });
    assert_eq!(largest.max(), Some(90_000));
    assert!(texts(&drawing).count() < 400, "{}", texts(&drawing).count());
}

#[test]
fn the_same_request_gives_the_same_drawing() {
    let once = draw(causal_three(), &Figure::Board, |_| {});
    let again = draw(causal_three(), &Figure::Board, |_| {});
    assert_eq!(once, again);
}

#[test]
fn closer_looks_of_many_shapes_are_well_laid_out() {
    let shapes = [
        (1, 1, 1, 1),
        (1, 9, 2, 3),
        (9, 1, 3, 2),
        (4, 6, 2, 12),
        (8, 8, 4, 4),
        (16, 16, 2, 13),
        (17, 17, 2, 2),
        (30, 40, 8, 8),
    ];
    let extras =
        ["", "softmax: (over: Queries),", "softmax: (form: Naive),", "precision: F16,", "softcap: 2.0,"];
    for (i, (n_q, n_k, d_k, d_v)) in shapes.into_iter().enumerate() {
        let mask = ["", "Causal(TopLeft)", "ValidKeys(0)", "Causal(BottomRight), Window(left: 2)"][i % 4];
        let text = random(n_q, n_k, d_k, d_v, mask, [SHORT, LONG, ODD][i % 3]);
        for extra in extras {
            let text = text.replace("scoring: ScaledDot,", &format!("scoring: ScaledDot, {extra}"));
            for study in Study::ALL {
                for theme in [FigureTheme::Light, FigureTheme::Dark] {
                    let drawing = draw(&text, &Figure::Study(study), |options| {
                        options.theme = theme;
                        options.pin = (i % 2 == 0).then_some(Pin { query: n_q / 2, key: n_k / 2 });
                    });
                    assert_well_laid_out(
                        &drawing,
                        &format!("{study:?} {n_q}×{n_k} {d_k} {d_v} {mask} {extra}"),
                    );
                    assert!(
                        drawing.size.width < 1500.0,
                        "{study:?} {n_q}×{n_k}: {} pt wide",
                        drawing.size.width
                    );
                }
            }
        }
    }
}

#[test]
fn a_scene_without_keys_or_without_queries_can_be_drawn() {
    let every = [
        Figure::Board,
        Figure::Trace,
        Figure::Heads,
        Figure::Projection,
        Figure::Stage(Stage::Weights),
        Figure::Matrix(MatrixId::K),
        Figure::Study(Study::Formats),
        Figure::Study(Study::Tiles),
        Figure::Study(Study::Decoding),
        Figure::Study(Study::Gradients),
        Figure::Study(Study::Linear),
    ];
    for (n_q, n_k) in [(2, 0), (0, 2), (0, 0)] {
        let matrix = |rows, cols| Arc::new(Matrix::zeros(rows, cols));
        let input = HeadInput { q: matrix(n_q, 2), k: matrix(n_k, 2), v: matrix(n_k, 3) };
        let spec = AttentionSpec::default();
        let attention = attend(&input, &spec, 0);
        let output = attention.output.clone();
        let heads = [HeadEvaluation {
            query_head: 0,
            kv_head: 0,
            input,
            unrotated: None,
            alibi: None,
            attention,
            dropped: None,
        }];
        let names = |n: usize| vec!["the".to_owned(); n];
        let (queries, keys) = (names(n_q), names(n_k));
        let input = FigureInput {
            title: "Nothing there",
            query_labels: &queries,
            key_labels: &keys,
            heads: &heads,
            concat: &output,
            output: &output,
            spec: &spec,
            projection: None,
            position: Position::None,
            scene: None,
            gives_weights: false,
        };
        for figure in &every {
            let drawing = compose_input(figure, &input, &FigureOptions::default());
            assert_well_laid_out(&drawing, &format!("{n_q} × {n_k}, {figure:?}"));
        }
    }
}

#[test]
fn a_pin_or_a_head_outside_the_scene_is_ignored() {
    let inside = draw(causal_three(), &Figure::Board, |_| {});
    let outside = draw(causal_three(), &Figure::Board, |options| {
        options.pin = Some(Pin { query: 3, key: 0 });
        options.head = 7;
    });
    assert_eq!(inside, outside);
}

#[test]
fn descriptions_say_what_a_figure_shows() {
    let drawing =
        draw(causal_three(), &Figure::Board, |options| options.pin = Some(Pin { query: 2, key: 1 }));
    assert_eq!(drawing.title, "Three positions, causal");
    assert_eq!(
        drawing.description,
        "Attention with 3 queries, 3 keys, key width 2 and value width 2. A mask blocks 3 of 9 pairs. \
         Largest weights: the to the 1.0000, cat to cat 0.6698, sat to sat 0.5035. \
         Pinned: from sat to cat, weight 0.2483."
    );
}

fn with_positions(line: &str) -> String {
    causal_three().replace("scoring: ScaledDot,", &format!("scoring: ScaledDot, {line}"))
}

fn all_words(drawing: &Drawing) -> String {
    texts(drawing).map(|text| text.content.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn figures_of_positions_are_well_laid_out_and_name_what_they_show() {
    let rope = with_positions("position: Rope(base: 100, layout: Interleaved),");
    let board = draw(&rope, &Figure::Board, |_| {});
    assert_well_laid_out(&board, "rotated board");
    assert!(all_words(&board).contains("rotated"));
    assert!(board.description.contains("Queries and keys are rotated by their positions."));
    let both = draw(&rope, &Figure::Positions, |options| options.pin = Some(Pin { query: 2, key: 0 }));
    assert_well_laid_out(&both, "rotation");
    let shown: Vec<MatrixId> = both.grids.iter().map(|grid| grid.matrix).collect();
    assert_eq!(shown, [MatrixId::UnrotatedQ, MatrixId::Q, MatrixId::UnrotatedK, MatrixId::K]);

    let alibi = with_positions("position: Alibi,");
    let board = draw(&alibi, &Figure::Board, |_| {});
    assert_well_laid_out(&board, "board with a bias");
    assert!(all_words(&board).contains("+ M + 0.003906 (j − i)"), "{}", all_words(&board));
    let bias = draw(&alibi, &Figure::Positions, |_| {});
    assert_well_laid_out(&bias, "bias");
    assert_eq!(bias.grids[0].matrix, MatrixId::AlibiBias);

    let projected =
        heads_of(2, 1).replace("scoring: ScaledDot,", "position: Sinusoidal, position_offset: 1,");
    let sums = draw(&projected, &Figure::Positions, |_| {});
    assert_well_laid_out(&sums, "sums");
    assert_eq!(sums.grids.len(), 6, "queries and keys stand at other places here, so both sums are shown");
    let shared = draw(&projected.replace("position_offset: 1,", ""), &Figure::Positions, |_| {});
    assert_eq!(shared.grids.len(), 3);
    let turned = heads_of(2, 1).replace("scoring: ScaledDot,", "position: Rope,");
    let projection = draw(&turned, &Figure::Projection, |_| {});
    assert_eq!(projection.grids[2].matrix, MatrixId::UnrotatedQ, "projections come before rotation");
    assert_well_laid_out(&draw(causal_three(), &Figure::Positions, |_| {}), "no positions");
}

fn trace_lines(text: &str, pin: Pin) -> Vec<String> {
    let scene = scene(text);
    let evaluation = evaluate(&scene);
    let trace = trace_text(
        &FigureInput::new(&scene, &evaluation),
        0,
        pin,
        Writing { decimals: 4, terms: Terms::Few },
    )
    .unwrap();
    trace.sections.into_iter().flat_map(|section| section.lines).map(|line| line.text).collect()
}

#[test]
fn the_trace_spells_out_rotation_bias_and_what_a_format_stores() {
    let pin = Pin { query: 2, key: 0 };
    let rope = trace_lines(&with_positions("position: Rope(base: 100),"), pin);
    let turned = "q′[1], q′[2] = (1·cos 2 − 1·sin 2, 1·sin 2 + 1·cos 2) = (−1.3254, 0.4932)";
    assert!(rope.iter().any(|line| line == turned), "{rope:#?}");
    let raw = "s = (−1.3254)·1 + 0.4932·0 = −1.3254";
    assert!(rope.iter().any(|line| line == raw), "{rope:#?}");

    let alibi = trace_lines(&with_positions("position: Alibi,"), pin);
    let added = "ALiBi adds 0.003906 · (1 − 3) = −0.0078";
    assert!(alibi.iter().any(|line| line == added), "{alibi:#?}");

    let narrow = trace_lines(&with_positions("precision: Bf16,"), pin);
    assert!(
        narrow.iter().any(|line| line == "1 / √2 = 0.7071, stored in bf16: 0.7070"),
        "0.7071 is stored as 0.7070: {narrow:#?}"
    );
    assert!(narrow.iter().any(|line| line == "the same inputs in f64: [1.0000, 1.4965]"), "{narrow:#?}");
}

#[test]
fn the_trace_shows_the_operands_that_a_reader_would_write() {
    let drawing =
        draw(causal_three(), &Figure::Trace, |options| options.pin = Some(Pin { query: 2, key: 1 }));
    let contents: Vec<&str> = texts(&drawing).map(|text| text.content.as_str()).collect();
    for line in [
        "sat → cat",
        "s = 1·0 + 1·1 = 1",
        "1 / √2 = 0.7071",
        "visible: causal allows 2 ≤ 3",
        "exp(0.7071 − 1.4142) = 0.4931",
        "row max 1.4142",
        "Σexp = 0.4931 + 0.4931 + 1.0000 = 1.9861",
        "0.4931 / 1.9861 = 0.2483",
        "0.2483·[2, 0] + 0.2483·[0, 4] + 0.5035·[1, 1]",
        "= [1.0000, 1.4965]",
        "rounded to 4 places at each step: [1.0001, 1.4967]",
    ] {
        assert!(contents.contains(&line), "{line} in {contents:#?}");
    }
    let blocked =
        draw(causal_three(), &Figure::Trace, |options| options.pin = Some(Pin { query: 0, key: 2 }));
    assert!(texts(&blocked).any(|text| text.content == "blocked by layer 1: causal, top left"));
    assert!(texts(&blocked).any(|text| text.content == "3 > 1: the key comes after the query"));
}

#[test]
fn weights_may_be_coloured_by_the_largest_of_their_row() {
    let text = "Scene(title: \"t\", input: Heads(q: [[[0]]], k: [[[0], [0]]], v: [[[1], [1]]]), scoring: Dot, mask: [])";
    let fill = |per_row| {
        let drawing = draw(text, &Figure::Stage(Stage::Weights), |options| options.weights_per_row = per_row);
        drawing.items.iter().find_map(|item| match item {
            Item::Cells(cells) => Some(cells.fills[0]),
            _ => None,
        })
    };
    let (half, full) = (fill(false).unwrap(), fill(true).unwrap());
    assert!(full.luminance() < half.luminance(), "0.5 is the largest weight of its row");
}

#[test]
fn the_names_of_lines_that_end_together_are_moved_apart() {
    let line = |label: &str, end: f64| ChartLine {
        label: label.to_owned(),
        points: vec![(256.0, 1.0), (4096.0, end), (f64::NAN, 1.0)],
        dashed: false,
    };
    for x_scale in [AxisScale::Linear, AxisScale::Log2] {
        for y_scale in [AxisScale::Linear, AxisScale::Log10] {
            let spec = ChartSpec {
                title: "Growth".to_owned(),
                x_label: "tokens".to_owned(),
                y_label: "MB".to_owned(),
                x_scale,
                y_scale,
                lines: vec![line("cache", 100.0), line("scores", 101.0), line("weights", 99.0)],
                marker: Some((1024.0, "this scene".to_owned())),
            };
            let drawing = draw(causal_three(), &Figure::Chart(Box::new(spec)), |_| {});
            assert_well_laid_out(&drawing, &format!("{x_scale:?} {y_scale:?}"));
            assert!(
                ["cache", "scores", "weights", "this scene"]
                    .iter()
                    .all(|name| texts(&drawing).any(|text| text.content == *name))
            );
        }
    }
    let empty = draw(causal_three(), &Figure::Chart(Box::default()), |_| {});
    assert!(texts(&empty).any(|text| text.content == "no data"));
}

#[test]
fn known_figures_stay_as_they_are() {
    let pin = |options: &mut FigureOptions| options.pin = Some(Pin { query: 2, key: 1 });
    check_golden("causal_board", &draw(causal_three(), &Figure::Board, pin));
    check_golden(
        "causal_board_columns_dark",
        &draw(causal_three(), &Figure::Board, |options| {
            options.orientation = Orientation::QueriesAsColumns;
            options.theme = FigureTheme::Dark;
        }),
    );
    check_golden("odd_weights", &draw(odd_numbers(), &Figure::Stage(Stage::Weights), pin));
    check_golden("two_heads", &draw(&heads_of(2, 1), &Figure::Heads, pin));
    for study in Study::ALL {
        let drawing = draw(causal_three(), &Figure::Study(study), pin);
        check_golden(&format!("causal_{}", study.name()), &drawing);
    }
    check_golden("given_weights", &given(&maps_of(3, 3, 2), &Figure::Board, pin));
}

/// Compares with `tests/golden/NAME.txt`; with `QKV_BLESS` set, writes it instead.
fn check_golden(name: &str, drawing: &Drawing) {
    let path = format!("{}/tests/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let found = dump(drawing);
    if std::env::var_os("QKV_BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    let place = found.lines().zip(expected.lines()).position(|(a, b)| a != b);
    if let Some(line) = place {
        let at = |text: &str| text.lines().nth(line).map(str::to_owned);
        panic!("{name} line {}: found {:?}, expected {:?}", line + 1, at(&found), at(&expected));
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{name}");
}

/// A drawing as text: one item a line, rounded to tenths of a point.
fn dump(drawing: &Drawing) -> String {
    let hex = |color: Color| format!("#{:02x}{:02x}{:02x}", color.r, color.g, color.b);
    let rect = |r: Rect| format!("{:.1} {:.1} {:.1} {:.1}", r.x, r.y, r.width, r.height);
    let mut text = format!("paper {} {}\n", drawing.size.width, drawing.size.height);
    for item in &drawing.items {
        text += &match item {
            Item::Cells(cells) if cells.rows == 1 && cells.cols > 16 => format!("bar {}\n", rect(cells.rect)),
            Item::Cells(cells) => {
                let fills: Vec<String> = cells.fills.iter().map(|fill| hex(*fill)).collect();
                format!("cells {} {}×{} {}\n", rect(cells.rect), cells.rows, cells.cols, fills.join(" "))
            }
            Item::Rect(item) => format!(
                "rect {} {}\n",
                rect(item.rect),
                item.stroke.map_or_else(String::new, |s| hex(s.color))
            ),
            Item::Polyline(line) => {
                let points: Vec<String> =
                    line.points.iter().map(|p| format!("{:.1},{:.1}", p.x, p.y)).collect();
                format!("line {} {}\n", points.join(" "), hex(line.stroke.color))
            }
            Item::Text(run) => format!(
                "text {:.1},{:.1} {:.1} {:?} {} {}\n",
                run.origin.x,
                run.origin.y,
                run.size,
                run.face,
                hex(run.color),
                run.content
            ),
            Item::Outline(outline) => format!("outline of {} steps\n", outline.path.len()),
        };
    }
    for grid in &drawing.grids {
        text +=
            &format!("grid {:?} head {} {} {}\n", grid.matrix, grid.head, rect(grid.rect), grid.transposed);
    }
    text
}

#[test]
fn a_trace_in_full_leaves_out_no_term() {
    let text = "Scene(title: \"Long\", input: Heads(q: [Randn(rows: 1, cols: 9, seed: 1)], k: [Randn(rows: 9, cols: 9, seed: 2)],
        v: [Randn(rows: 9, cols: 9, seed: 3)]))";
    let scene = scene(text);
    let evaluation = evaluate(&scene);
    let lines = |in_full| {
        let writing = Writing { decimals: 2, terms: if in_full { Terms::Every } else { Terms::Few } };
        let input = FigureInput::new(&scene, &evaluation);
        let trace = trace_text(&input, 0, Pin { query: 0, key: 0 }, writing).unwrap();
        let lines: Vec<String> =
            trace.sections.iter().flat_map(|section| &section.lines).map(|line| line.text.clone()).collect();
        lines.join("\n")
    };
    assert!(lines(false).contains('…'));
    let whole = lines(true);
    assert!(!whole.contains('…'), "{whole}");
    assert_eq!(
        whole.matches('·').count(),
        9 + 9,
        "nine products of the score and nine of the output: {whole}"
    );
}

#[test]
fn a_trace_figure_writes_every_term_out_on_request_up_to_64() {
    let of_width = |d: usize, every_term| {
        let m = |seed: u32| format!("[Randn(rows: 2, cols: {d}, seed: {seed})]");
        let text = format!("Scene(title: \"Long\", input: Heads(q: {}, k: {}, v: {}))", m(1), m(2), m(3));
        draw(&text, &Figure::Trace, |options| options.every_term = every_term)
    };
    let products = |drawing: &Drawing| {
        drawing.description.split("Scaled score").next().unwrap().matches('·').count() - 1
    };
    assert_eq!(products(&of_width(64, false)), 4, "the first three and the last");
    let whole = of_width(64, true);
    assert_eq!(products(&whole), 64);
    assert!(!whole.description.contains('…'), "{}", whole.description);
    assert_well_laid_out(&whole, "every term of 64");
    assert!(whole.size.width < 720.0, "long sums go on below: {}", whole.size.width);
    assert_eq!(products(&of_width(65, true)), 4, "nobody reads more than 64 terms on a slide");
}

#[test]
fn a_trace_names_the_number_that_made_its_row_not_finite() {
    let scene_of = |q: &str, v: &str| {
        format!(
            "Scene(input: Heads(q: [[[1, 0], [{q}, 0]]], k: [[[1, 0], [0, 1]]], v: [[[2, 0], [{v}, 4]]]))"
        )
    };
    let because = |text: &str, query| {
        let lines = trace_lines(text, Pin { query, key: 0 });
        lines.into_iter().filter(|line| line.contains("not finite")).collect::<Vec<_>>()
    };
    let spoilt = scene_of("NaN", "0");
    assert_eq!(because(&spoilt, 1), ["not finite, because Q[2][1] is NaN"]);
    assert_eq!(because(&spoilt, 0), [""; 0], "the other row is as good as ever");
    assert_eq!(because(&scene_of("1", "inf"), 0), ["not finite, because V[2][1] is ∞"]);
    let blocked = "Scene(input: Heads(q: [[[NaN]]], k: [[[1]]], v: [[[1]]]), mask: [ValidKeys(0)], softmax: (empty_rows: NotANumber))";
    assert_eq!(because(blocked, 0), [""; 0], "the policy speaks for a row that sees nothing");
}

#[test]
fn a_trace_goes_on_through_w_o_to_the_output_of_the_layer() {
    let bundled = qkv::scene::bundled::find("two_heads").unwrap();
    let scene = scene(bundled.text);
    let evaluation = evaluate(&scene);
    let writing = Writing { decimals: 4, terms: Terms::Every };
    let pin = Pin { query: 2, key: 0 };
    let trace = trace_text(&FigureInput::new(&scene, &evaluation), 0, pin, writing).unwrap();
    let last = trace.sections.last().unwrap();
    assert!(last.title.contains("W_O"), "{}", last.title);
    for (line, value) in last.lines.iter().zip(evaluation.output.row(2)) {
        let end = line.text.rsplit(" = ").next().unwrap().replace('−', "-");
        assert!((end.parse::<f64>().unwrap() - value).abs() < 6e-5, "{} is not {value}", line.text);
    }
    assert_eq!(last.lines.len(), evaluation.output.cols());
}

#[test]
fn a_trace_of_wide_vectors_still_fits_on_a_slide() {
    let scene = scene(
        "Scene(title: \"Wide\", input: Heads(q: [Randn(rows: 6, cols: 48, seed: 1)], k: [Randn(rows: 6, cols: 48, seed: 2)],
            v: [Randn(rows: 6, cols: 48, seed: 3)]))",
    );
    let drawing = compose(&Figure::Trace, &scene, &evaluate(&scene), &FigureOptions::default());
    assert!(drawing.size.width < 720.0, "{} pt wide", drawing.size.width);
}

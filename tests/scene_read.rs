//! Reading scenes: what is accepted, and what is said about what is not.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

use std::io;

use proptest::prelude::*;
use qkv::engine::{Convention, Corner, MaskRule};
use qkv::scene::{
    Complaint, Input, MatrixSource, OutputScene, Scene, ScoringSpec, Severity, Stage, Tokens, read,
    read_spec, render_complaint,
};

fn no_files(path: &str) -> io::Result<Vec<u8>> {
    Err(io::Error::new(io::ErrorKind::NotFound, format!("no {path} here")))
}

fn good(text: &str) -> Scene {
    read(text, &mut no_files).unwrap_or_else(|complaints| panic!("{}", rendered(text, &complaints)))
}

fn bad(text: &str) -> Vec<Complaint> {
    read(text, &mut no_files).expect_err("this scene should be refused")
}

fn rendered(text: &str, complaints: &[Complaint]) -> String {
    complaints.iter().map(|complaint| render_complaint("scene.ron", text, complaint) + "\n").collect()
}

/// `line:column field: message`, and the hint.
fn summaries(text: &str) -> Vec<String> {
    let summary = |complaint: &Complaint| {
        let place = complaint.place.expect("a complaint about a text has a place");
        let hint = complaint.hint.as_deref().map_or(String::new(), |hint| format!(" | {hint}"));
        format!("{}:{} {}: {}{hint}", place.line, place.column, complaint.field, complaint.message)
    };
    bad(text).iter().map(summary).collect()
}

/// A scene of one query and two keys with one more line in it.
fn with(line: &str) -> String {
    format!(
        "Scene(\n    input: Heads(q: [[[1, 0]]], k: [[[1, 0], [0, 1]]], v: [[[2, 0], [0, 4]]]),\n    {line}\n)"
    )
}

#[test]
fn the_example_of_the_format_reads() {
    let scene = good(
        r#"#![enable(implicit_some)]
        // Everything here is a comment. /* This too. */
        Scene(
            title: "One query, two keys",
            topic: "Worked examples",       // group in the scene list
            notes: r"C:\no escapes",
            tokens: (queries: ["q"], keys: ["k1", "k\u{e9}\""]),
            input: Heads(q: [[[1, 0]]], k: [[[1, 0], [0, 1]]], v: [[[2, 0], [0, 4_000e-3]]]),
            /* block /* nested */ */
            scoring: Scale(0.5),
            softcap: Some(30),
            mask: [Causal(BottomRight), Window(left: 2, right: None), Additive([[-inf, 0.5]])],
            position_offset: -1,
            position: None,
            precision: F64,
            softmax: (over: Keys, form: Stable, empty_rows: Uniform),
            view: (decimals: 2, stages: [RawScores, Weights],),
        )"#,
    );
    let spec = scene.spec();
    assert_eq!(spec.notes, r"C:\no escapes");
    assert_eq!(scene.key_labels(), ["k1", "ké\""]);
    assert_eq!(spec.scoring, ScoringSpec::Scale(0.5));
    assert_eq!(spec.softcap, Some(30.0));
    assert_eq!(spec.mask[0], MaskRule::Causal(Corner::BottomRight));
    assert_eq!(spec.mask[1], MaskRule::Window { left: Some(2), right: None });
    assert_eq!(spec.position_offset, -1);
    assert_eq!(spec.view.stages, [Stage::RawScores, Stage::Weights]);
    assert_eq!(scene.head_inputs()[0].v.row(1), [0.0, 4.0]);
}

#[test]
fn every_mask_layer_reads() {
    let spec = read_spec(&with(
        "mask: [ValidKeys(2), PaddedKeys([true, false]), Documents([0, -1]), Prefix(2), Global([0]), Strided(4),
         Matrix(convention: TrueBlocks, rows: [[true, false]]), MatrixPerHead(convention: TrueAllows, heads: [[[true, true]]]),
         AdditivePerHead([[[0, -inf]]]), Window()],",
    ))
    .unwrap();
    assert_eq!(spec.mask.len(), 10);
    assert_eq!(
        spec.mask[6],
        MaskRule::Matrix { convention: Convention::TrueBlocks, rows: vec![vec![true, false]] }
    );
    assert_eq!(spec.mask[9], MaskRule::Window { left: None, right: None });
}

#[test]
fn what_ron_parsers_blame_in_the_wrong_place_is_blamed_at_the_culprit() {
    assert_eq!(
        summaries("Scen(\n  input: Heads(q: [[[1]]], k: [[[1]]], v: [[[1]]]),\n)"),
        ["1:1 : expected `Scene(..)`, found `Scen(..)`"]
    );
    assert_eq!(
        summaries("Scene(\n  input: Heads(q: [[[1]]], k: [[[1]]]),\n)"),
        ["2:10 input.v: Heads has no `v`"]
    );
    assert_eq!(
        summaries(
            "Scene(\n  scal: 0.5,\n  scoring: ScaledDt,\n  input: Heads(q: [[[1]]], k: [[[1.0.0]]], v: [[[1]]]),\n)"
        ),
        [
            "2:3 scal: `scal` is not a field of Scene | Scene has the fields title, topic, notes, tokens, input, scoring, softcap, mask, position, position_offset, softmax, sinks, dropout, precision, fault, view",
            "3:12 scoring: `ScaledDt` is not a scoring | did you mean `ScaledDot`?",
            "4:34 input.k[0][0][0]: `1.0.0` is not a number",
        ]
    );
    assert_eq!(
        summaries(
            "Scene(\n  input: Heads(\n    q: [[[1, 2, 3]]],\n    k: [[[1, 2, 3], [4, 5], [6, 7, 8]]],\n    v: [[[1], [2], [3]]],\n  ),\n)"
        ),
        ["4:21 input.k[0][1]: row 2 of K of head 1 has 2 numbers, row 1 has 3"]
    );
    assert_eq!(good(&with("softcap: 0.5,")).spec().softcap, Some(0.5));
}

#[test]
fn all_complaints_come_at_once_in_the_order_of_the_file() {
    let found = summaries(
        "Scene(\n  titel: \"x\",\n  input: Heads(q: [[[1, x]]], k: [Randm(rows: 2, cols: 2, seed: 0)], v: [[[true]]]),\n  mask: [Windw(left: 1), Causal, ValidKeys(-1)],\n  view: (decimals: 2.5),\n)",
    );
    assert_eq!(
        found,
        [
            "2:3 titel: `titel` is not a field of Scene | did you mean `title`?",
            "3:25 input.q[0][0][1]: `input.q[0][0][1]` is a number; found `x`",
            "3:35 input.k[0]: `Randm` is not a kind of matrix | did you mean `Randn`?",
            "3:76 input.v[0][0][0]: `input.v[0][0][0]` is a number; found true",
            "4:10 mask[0]: `Windw` is not a mask layer | did you mean `Window`?",
            "4:26 mask[1]: `Causal` needs its value: write Causal(TopLeft) or Causal(BottomRight)",
            "4:44 mask[2]: `mask[2]` is a whole number, 0 or more; found the number -1 | how many keys are real",
            "5:20 view.decimals: `view.decimals` is a whole number, 0 or more; found the number 2.5 | decimal places shown in cells, 0 to 17",
        ]
    );
}

#[test]
fn what_does_not_fit_is_named_beside_what_is_misspelt() {
    let found = summaries(&with(
        "titel: \"x\", tokens: (keys: [\"a\"]), mask: [Causl(TopLeft)], view: (decimals: 99),",
    ));
    let fields: Vec<&str> = found.iter().map(|found| found.split([' ', ':']).nth(2).unwrap()).collect();
    assert_eq!(fields, ["titel", "tokens.keys", "mask[0]", "view.decimals"], "{found:#?}");
}

#[test]
fn a_negative_window_is_refused_with_the_meaning_of_its_count() {
    let found = summaries(&with("mask: [Window(left: -1, right: 1.5)],"));
    assert_eq!(found.len(), 2);
    for (found, side) in found.iter().zip(["left", "right"]) {
        assert!(found.contains(&format!("`mask[0].{side}` is a whole number, 0 or more")), "{found}");
        assert!(found.contains("counts besides the token itself; 0 means only the token itself"), "{found}");
    }
}

#[test]
fn brackets_that_do_not_close_are_traced_to_where_they_open() {
    assert_eq!(
        summaries("Scene(\n  mask: [Causal(TopLeft),\n)"),
        ["3:1 : expected `]` to close the `[` of line 2, found `)`"]
    );
    assert_eq!(
        summaries("Scene(\n  mask: [],\n"),
        ["1:6 : this `(` is never closed; expected `)` before the end of the file"]
    );
    assert_eq!(summaries("  /* a"), ["1:3 : this comment is never closed; expected `*/`"]);
    assert_eq!(summaries("Scene(title: \"a)"), ["1:14 : this text is never closed; expected `\"`"]);
    assert_eq!(summaries(""), ["1:1 : the file is empty; expected `Scene(..)`"]);
    assert_eq!(summaries("42"), ["1:1 : a scene begins with `Scene(`; found the number 42"]);
    let deep = format!("Scene(title: {}", "[".repeat(100_000));
    assert_eq!(summaries(&deep), ["1:114 : more than 100 brackets inside each other"]);
}

#[test]
fn a_missing_comma_and_a_stray_sign_are_named_and_reading_goes_on() {
    assert_eq!(
        summaries(&with("tokens: (queries: [\"a\"] keys: [\"b\", ;, \"c\"]), mask: [,],")),
        [
            "3:29 : expected a comma or `)` here",
            "3:41 : expected a value, found `;`",
            "3:58 : a comma without a value before it",
        ]
    );
}

#[test]
fn a_matrix_where_a_list_of_matrices_is_meant_gets_its_own_words() {
    let found = summaries("Scene(input: Heads(q: [[1, 0]], k: [[[1, 0]]], v: [[[1]]]))");
    assert_eq!(
        found,
        [
            "1:23 input.q: `input.q` is a list of matrices, one per head; found a single matrix | put one more pair of brackets around it: q: [[[1, 0]]]"
        ]
    );
}

#[test]
fn sizes_that_do_not_fit_name_both_numbers() {
    let heads = |q: &str, k: &str, v: &str| format!("Scene(input: Heads(q: {q}, k: {k}, v: {v}))");
    let one = "[[[1, 0]]]";
    let two = heads(
        "[[[1, 0]], [[1, 0]]]",
        "[[[1, 0], [1, 0]], [[1, 0], [1, 0]]]",
        "[[[1], [1]], [[1], [1], [1]]]",
    );
    assert_eq!(
        summaries(&two),
        ["1:102 input.v[1]: head 2 has 2 keys but 3 values; every key needs exactly one value"],
        "one slip, one complaint"
    );
    let cases = [
        (
            heads(
                "[[[1, 0]], [[1, 0]]]",
                "[[[1, 0]], [[1, 0], [1, 0], [1, 0], [1, 0]]]",
                "[[[1]], [[1], [1], [1], [1], [1]]]",
            ),
            "head 2 has 4 keys but 5 values; every key needs exactly one value",
        ),
        (heads(one, "[[[1, 0, 0]]]", "[[[1]]]"), "queries are 2 wide but keys are 3 wide"),
        (
            heads("[[[1]], [[1]], [[1]]]", "[[[1]], [[1]]]", "[[[1]], [[1]]]"),
            "3 query heads cannot share 2 KV heads evenly",
        ),
        (heads("[]", one, "[[[1]]]"), "Q has no heads"),
        (heads(one, one, "[[[1]], [[1]]]"), "K has 1 heads but V has 2"),
        (heads("[[[1, 0]], [[1, 0], [0, 1]]]", one, "[[[1]]]"), "head 2 has 2 queries, head 1 has 1"),
        (with("mask: [ValidKeys(3)],"), "3 keys are called valid but there are 2 keys"),
        (with("mask: [Additive([[0, 1, 0]])],"), "row 1 of the mask has 3 entries but there are 2 keys"),
        (with("scoring: General(w: [[1, 2, 3]]),"), "W of the scorer is 1 × 3; expected 2 × 2"),
        (
            with("scoring: Additive(w_q: Randn(rows: 8, cols: 2, seed: 0), w_k: Identity(n: 2), v: [1, 2]),"),
            "W_k of the scorer is 2 × 2; expected 8 × 2",
        ),
        (with("softcap: -1,"), "the soft cap is -1; expected a finite number above 0"),
        (with("scoring: Scale(inf),"), "the scale is inf"),
        (with("view: (decimals: 18),"), "18 decimals are asked for; expected 0 to 17"),
        (with("position_offset: 9223372036854775807,"), "the offset is 9223372036854775807"),
        (with("view: (stages: []),"), "no stages are to be shown"),
    ];
    for (text, expected) in cases {
        let found = summaries(&text);
        assert!(found.iter().any(|found| found.contains(expected)), "{expected:?} not in {found:#?}");
    }
}

#[test]
fn projections_that_do_not_fit_name_the_matrix_and_both_numbers() {
    let found = summaries(
        "Scene(input: Projected(
            x: [[1, 0, 0]], context: [[1, 0], [0, 1]], heads: 2, kv_heads: 1,
            w_q: Identity(n: 2),
            w_k: Identity(n: 3),
            w_v: Randn(rows: 2, cols: 3, seed: 1),
            b_q: [1],
            b_o: [1],
        ))",
    );
    assert_eq!(
        found,
        [
            "3:18 input.w_q: W_Q has 2 rows but X is 3 wide; x·W needs one row per feature",
            "4:18 input.w_k: W_K has 3 rows but the context is 2 wide; x·W needs one row per feature",
            "6:18 input.b_q: b_q has 1 numbers but W_Q has 2 columns; every column needs one",
            "7:18 input.b_o: b_o is given but there is no w_o to add it to",
        ]
    );
}

#[test]
fn labels_fit_exactly_or_are_refused() {
    let four = |tokens: &str| {
        format!(
            "Scene(tokens: {tokens}, input: Heads(q: [Identity(n: 4)], k: [Identity(n: 4)], v: [Identity(n: 4)]))"
        )
    };
    assert_eq!(
        summaries(&four("[\"a\", \"b\", \"c\"]")),
        [
            "1:15 tokens: K has 4 rows, 3 labels | every row needs exactly one label; leave `tokens` out to number them"
        ]
    );
    let repeated = good(&four("[\"the\", \"the\", \"\", \" \"]"));
    assert_eq!(repeated.key_labels(), ["the", "the", "", " "]);
    assert_eq!(good(&four("(keys: [\"a\", \"b\", \"c\", \"d\"])")).query_labels(), ["1", "2", "3", "4"]);
    assert_eq!(
        summaries(&with("tokens: [\"a\", \"b\"],")),
        [
            "3:13 tokens: one list of tokens cannot name both sides: Q has 1 row, K has 2 | write (queries: [..], keys: [..])"
        ]
    );
    let cross = good(
        "Scene(tokens: (queries: [\"A\", \"B\"], keys: [\"v\", \"w\", \"x\", \"y\", \"z\"]),
         input: Heads(q: [Randn(rows: 2, cols: 3, seed: 1)], k: [Randn(rows: 5, cols: 3, seed: 2)], v: [Randn(rows: 5, cols: 1, seed: 3)]))",
    );
    assert_eq!((cross.n_q(), cross.n_k()), (2, 5));
    assert_eq!(cross.query_labels(), ["A", "B"]);
    assert_eq!(cross.key_labels(), ["v", "w", "x", "y", "z"]);
}

#[test]
fn sizes_beyond_memory_are_refused_before_anything_is_reserved() {
    let cases = [
        (
            "Heads(q: [Randn(rows: 1000000000, cols: 1000000000, seed: 0)], k: [[[1]]], v: [[[1]]])",
            "Q of head 1 of 1,000,000,000 × 1,000,000,000 numbers wants 8,000,000,000,000,000,000 bytes",
        ),
        (
            "Heads(q: [Randn(rows: 18446744073709551615, cols: 18446744073709551615, seed: 0)], k: [[[1]]], v: [[[1]]])",
            "wants 2.7e39 bytes",
        ),
        (
            "Heads(q: [Randn(rows: 100000, cols: 1, seed: 0)], k: [Randn(rows: 100000, cols: 1, seed: 0)], v: [Randn(rows: 100000, cols: 1, seed: 0)])",
            "the stages of 1 head with 100,000 queries and 100,000 keys want 240,002,400,000 bytes (223.5 GiB); at most 2,147,483,648 bytes (2.0 GiB) are allowed | take fewer tokens or heads; the output without its stages is made by `qkv compute SCENE --output-only`",
        ),
        (
            "Heads(q: [Randn(rows: 1, cols: 1, seed: 0, skip: 99999999999)], k: [[[1]]], v: [[[1]]])",
            "the scene wants 100,000,000,000 random numbers",
        ),
        (
            "Heads(q: [Randn(rows: 1000000000000000, cols: 0, seed: 0)], k: [[[1]]], v: [[[1]]])",
            "Q of head 1 of 1,000,000,000,000,000 × 0 numbers is too long; at most 16,777,216 rows or columns are allowed",
        ),
        ("Heads(q: [Identity(n: 99999)], k: [[[1]]], v: [[[1]]])", "99,999 × 99,999 numbers"),
        (
            "Heads(q: [Identity(n: 4096), Identity(n: 4096), Identity(n: 4096)], k: [Identity(n: 4096)], v: [Identity(n: 4096)])",
            "with V of head 1 the matrices of the scene want 671,088,640 bytes; at most 536,870,912 are allowed",
        ),
    ];
    for (input, expected) in cases {
        let found = summaries(&format!("Scene(input: {input})"));
        assert!(found.iter().any(|found| found.contains(expected)), "{expected:?} not in {found:#?}");
    }
}

#[test]
fn the_output_without_stages_is_offered_only_where_it_can_be_made() {
    let input = "Heads(q: [Randn(rows: 20000, cols: 1, seed: 0)], k: [Randn(rows: 20000, cols: 1, seed: 0)], v: [Randn(rows: 20000, cols: 1, seed: 0)])";
    for (more, is_offered) in [
        ("mask: [Causal(TopLeft)]", true),
        ("scoring: General(w: [[1]])", false),
        ("softmax: (over: Queries)", false),
        ("softmax: (form: Naive)", false),
        ("precision: F16", false),
        ("dropout: (rate: 0.5, seed: 1)", false),
    ] {
        let text = format!("Scene(input: {input}, {more})");
        let refusal = summaries(&text);
        assert_eq!(refusal.iter().any(|found| found.contains("--output-only")), is_offered, "{refusal:?}");
        assert_eq!(OutputScene::read(&text, &mut no_files).is_ok(), is_offered, "{more}");
    }
}

#[test]
fn nan_in_an_input_is_a_warning_that_names_its_place() {
    let text = "Scene(\n  input: Heads(q: [[[1, 0]]], k: [[[1, 0], [NaN, inf]]], v: [[[1], [2]]]),\n)";
    let scene = good(text);
    let [warning] = scene.warnings() else { panic!("{:?}", scene.warnings()) };
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!(warning.message, "K has NaN in row 2, column 1, and 1 more numbers there are not finite");
    let place = warning.place.unwrap();
    assert_eq!((place.line, place.column), (2, 45));
}

#[test]
fn an_unreadable_tensor_file_is_complained_about_where_it_is_named() {
    let found =
        summaries("Scene(\n  input: Tensors(file: \"x.safetensors\", q: \"q\", k: \"k\", v: \"v\"),\n)");
    assert_eq!(
        found,
        ["2:24 input.file: \"x.safetensors\" cannot be used: it cannot be read: no x.safetensors here"]
    );
}

#[test]
fn a_list_of_numbers_is_the_vector_of_the_additive_scorer() {
    let spec = read_spec(&with("scoring: Additive(w_q: [[1, 0]], w_k: [[0, 1]], v: [0x10]),")).unwrap();
    let ScoringSpec::Additive { v: MatrixSource::Rows(v), .. } = spec.scoring else { panic!("{spec:?}") };
    assert_eq!((v.rows(), v.data()), (1, &[16.0][..]));
}

#[test]
fn a_scene_without_names_and_with_shared_tokens_reads() {
    let spec =
        read_spec("(tokens: [\"a\"], input: Tensors(file: \"f\", q: \"a\", k: \"b\", v: \"c\"))").unwrap();
    assert_eq!(spec.tokens, Tokens::Shared(vec!["a".to_owned()]));
    assert!(matches!(spec.input, Input::Tensors { ref v, .. } if v == "c"));
}

/// Pieces that a scene is made of, right and wrong.
const PIECES: [&str; 36] = [
    "Scene(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "input: ",
    "Heads(",
    "q: ",
    "k: ",
    "v: ",
    "1",
    "-1",
    "1.0.0",
    "NaN",
    "Randn(rows: 2, cols: 2, seed: 0)",
    "\"",
    "\\",
    "r#\"",
    "'",
    "//",
    "/*",
    "\n",
    "é",
    "\u{feff}",
    "Some(",
    "None",
    "mask: ",
    "Causal(TopLeft)",
    "tokens: ",
    "#![enable(",
    "0x",
    "1e+",
    "Projected(",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_text_makes_the_reader_panic(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40)) {
        let text = pieces.concat();
        if let Err(complaints) = read(&text, &mut no_files) {
            prop_assert!(!complaints.is_empty());
            rendered(&text, &complaints);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(text in "\\PC{0,200}") {
        let _ = read(&text, &mut no_files);
    }
}

/// The fields that are complained about, in the order of the file.
fn fields_of(text: &str) -> Vec<String> {
    bad(text).into_iter().map(|complaint| complaint.field).collect()
}

#[test]
fn what_is_wrong_beside_a_wrong_input_is_named_in_the_same_go() {
    let settings = "tokens: (queries: [\"a\", \"b\"]), softcap: -1, mask: [ValidKeys(9), Causl(TopLeft), Strided(0)],
        position: Rope(base: 0), sinks: [1, 2, x], dropout: (rate: 2), view: (palette: Violt, decimals: 99, head: 7)";
    let unread = format!("Scene(input: Headz(q: [[[1, 0]]]), {settings})");
    let of_settings =
        ["softcap", "mask[1]", "position.base", "sinks[2]", "dropout.rate", "view.palette", "view.decimals"];
    assert_eq!(fields_of(&unread), [&["input"][..], &of_settings].concat(), "nothing is said of sizes");

    let misfit = format!(
        "Scene(input: Heads(q: [[[1, 0]]], k: [[[1, 0], [0, 1]], [[1, 0], [0, 1]]], v: [[[2], [4]], [[2], [4]]]), {settings})"
    );
    let found = fields_of(&misfit);
    for field in
        of_settings.iter().chain(&["input.k", "tokens.queries", "mask[0]", "mask[2]", "sinks", "view.head"])
    {
        assert!(found.iter().any(|found| found == field), "{field} not in {found:?}");
    }
}

#[test]
fn matrices_that_fit_are_judged_beside_one_that_is_missing() {
    let text = "Scene(
        tokens: (queries: [\"a\"], keys: [\"b\"]),
        input: Projected(
            x: Identity(n: 4), heads: 2, kv_heads: 0, w_q: Randn(rows: 3, cols: 5, seed: 0),
            w_k: File(path: \"gone.npy\"), w_v: Randn(rows: 4, cols: 4, seed: 0), b_v: [1], w_o: File(path: \"gone.npy\"), b_q: [1],
        ),
        view: (head: 3),
    )";
    assert_eq!(
        fields_of(text),
        [
            "tokens.queries",
            "tokens.keys",
            "input.kv_heads",
            "input.w_q",
            "input.w_q",
            "input.w_k.path",
            "input.b_v",
            "input.w_o.path",
            "input.b_q",
            "view.head",
        ]
    );
    let sides = "Scene(input: Heads(q: [[[1, 0, 0]]], k: [File(path: \"gone.npy\")], v: []), position: Rope, sinks: [1, 2])";
    assert_eq!(fields_of(sides), ["input.k[0].path", "input.v", "position", "sinks"]);
}

#[test]
fn sizes_that_contradict_each_other_are_not_held_against_the_rest() {
    let text = "Scene(input: Heads(q: [[[1, 0]]], k: [[[1, 0], [0, 1]]], v: [[[2]]]), mask: [ValidKeys(9)], tokens: (keys: [\"a\"]))";
    assert_eq!(fields_of(text), ["input.v[0]"], "one slip, one complaint");
}

#[test]
fn an_unread_scoring_leaves_the_rest_to_be_judged() {
    assert_eq!(
        fields_of(&with("scoring: ScaledDt, mask: [ValidKeys(9)], sinks: [1, 2],")),
        ["scoring", "mask[0]", "sinks"]
    );
}

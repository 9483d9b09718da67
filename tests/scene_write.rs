//! Writing scenes: files that people can read, and changes that leave the rest of a file alone.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::sync::Arc;

use proptest::prelude::*;
use qkv::engine::{
    Convention, Corner, EmptyRow, Fault, MaskRule, Matrix, Precision, RopeLayout, SoftmaxAxis, SoftmaxForm,
    SoftmaxSpec,
};
use qkv::scene::{
    DropoutSpec, Input, MatrixSource, Orientation, Palette, Position, Projected, SceneSpec, ScoringSpec,
    Stage, Tokens, View, read_spec, rewrite, write,
};

fn spec(text: &str) -> SceneSpec {
    read_spec(text).unwrap_or_else(|complaints| panic!("{complaints:#?}\n{text}"))
}

const ORIGINAL: &str = r#"// A file that somebody wrote with care.
Scene(
    title: "One query, two keys",   // shown on top
    /* which is which */
    tokens: (queries: ["q"], keys: ["k1", "k2"]),
    input: Heads(
        q: [[[1.0, 0]]],            // one query
        k: [[
            [1.0, 0.0],             // the first key
            [0.0, 1.0],
        ]],
        v: [[[2, 0], [0, 4]]],
    ),
    scoring: ScaledDot,
    mask: [Causal(TopLeft), /* and */ ValidKeys(2)],
)
// The end.
"#;

#[test]
fn an_unchanged_scene_leaves_its_file_byte_for_byte() {
    let rewritten = rewrite(ORIGINAL, &spec(ORIGINAL));
    assert_eq!(rewritten.text, ORIGINAL);
    assert!(!rewritten.lost_comments);
}

#[test]
fn a_changed_number_changes_that_number_only() {
    let mut changed = spec(ORIGINAL);
    let Input::Heads { k, .. } = &mut changed.input else { panic!() };
    let MatrixSource::Rows(rows) = &mut k[0] else { panic!() };
    Arc::make_mut(rows).set(1, 0, 0.25);
    let rewritten = rewrite(ORIGINAL, &changed);
    assert_eq!(rewritten.text, ORIGINAL.replace("[0.0, 1.0],", "[0.25, 1.0],"));
}

#[test]
fn fields_and_items_are_added_and_removed_without_losing_a_comment() {
    let mut changed = spec(ORIGINAL);
    changed.topic = "Worked examples".to_owned();
    changed.softcap = Some(30.0);
    changed.mask.remove(1);
    changed.mask.push(MaskRule::Window { left: Some(2), right: Some(0) });
    changed.scoring = ScoringSpec::Dot;
    changed.tokens = Tokens::Numbers;
    let Input::Heads { k, v, .. } = &mut changed.input else { panic!() };
    k[0] = MatrixSource::Rows(Arc::new(Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).unwrap()));
    v[0] = MatrixSource::Rows(Arc::new(Matrix::from_rows(&[[2.0, 0.0], [0.0, 4.0], [5.0, 5.0]]).unwrap()));
    let rewritten = rewrite(ORIGINAL, &changed);
    assert!(!rewritten.lost_comments);
    assert_eq!(
        rewritten.text,
        r#"// A file that somebody wrote with care.
Scene(
    title: "One query, two keys",   // shown on top
    topic: "Worked examples",
    /* which is which */
    input: Heads(
        q: [[[1.0, 0]]],            // one query
        k: [[
            [1.0, 0.0],             // the first key
            [0.0, 1.0],
            [1, 1],
        ]],
        v: [[[2, 0], [0, 4], [5, 5]]],
    ),
    scoring: Dot,
    softcap: 30,
    mask: [Causal(TopLeft), /* and */ Window(left: 2, right: 0)],
)
// The end.
"#
    );
}

#[test]
fn a_comment_inside_a_replaced_value_moves_before_it() {
    let original = "Scene(\n    input: Heads(\n        q: [ // one head\n            [[1, 0]],\n        ],\n        k: [[[1, 0]]],\n        v: [[[1]]],\n    ),\n)";
    let mut changed = spec(original);
    changed.input = Input::Tensors {
        file: "m.safetensors".to_owned(),
        q: "q".to_owned(),
        k: "k".to_owned(),
        v: "v".to_owned(),
    };
    let rewritten = rewrite(original, &changed);
    assert_eq!(
        rewritten.text,
        "Scene(\n    input: // one head\n    Tensors(file: \"m.safetensors\", q: \"q\", k: \"k\", v: \"v\"),\n)"
    );
    assert_eq!(spec(&rewritten.text), changed);
}

#[test]
fn a_file_that_is_no_scene_is_replaced_and_its_comments_are_reported_lost() {
    let wanted = spec(ORIGINAL);
    let rewritten = rewrite("Scene( // nothing\n", &wanted);
    assert!(rewritten.lost_comments);
    assert_eq!(rewritten.text, write(&wanted));
    assert!(!rewrite("", &wanted).lost_comments);
}

#[test]
fn a_fresh_file_is_laid_out_as_a_person_would() {
    let mut wanted = spec(ORIGINAL);
    wanted.notes = "Look at the **weights**.\n\nThe \"first\" key wins.".to_owned();
    let Input::Heads { v, .. } = &mut wanted.input else { panic!() };
    let long = Matrix::from_fn(2, 12, |row, col| row as f64 + col as f64 / 8.0);
    v[0] = MatrixSource::Rows(Arc::new(long));
    assert_eq!(
        write(&wanted),
        r##"Scene(
    title: "One query, two keys",
    notes: r#"Look at the **weights**.

The "first" key wins."#,
    tokens: (queries: ["q"], keys: ["k1", "k2"]),
    input: Heads(
        q: [[[1, 0]]],
        k: [[[1, 0], [0, 1]]],
        v: [
            [
                [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1, 1.125, 1.25, 1.375],
                [1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875, 2, 2.125, 2.25, 2.375],
            ],
        ],
    ),
    mask: [Causal(TopLeft), ValidKeys(2)],
)
"##
    );
}

/// What the `ron` crate itself makes of our files.
mod probe {
    #![allow(dead_code, reason = "read, not used")]
    use serde::Deserialize;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    pub struct Scene {
        #[serde(default)]
        pub title: String,
        #[serde(default)]
        pub topic: String,
        #[serde(default)]
        pub notes: String,
        pub tokens: Option<ron::Value>,
        pub input: Input,
        pub scoring: Option<Scoring>,
        pub softcap: Option<f64>,
        #[serde(default)]
        pub mask: Vec<Layer>,
        #[serde(default)]
        pub position_offset: i64,
    }

    #[derive(Deserialize, Debug)]
    pub enum Input {
        Heads { q: Vec<Vec<Vec<f64>>>, k: Vec<Vec<Vec<f64>>>, v: Vec<Vec<Vec<f64>>> },
    }

    #[derive(Deserialize, Debug)]
    pub enum Scoring {
        ScaledDot,
        Dot,
    }

    #[derive(Deserialize, Debug)]
    pub enum Layer {
        Causal(Corner),
        ValidKeys(usize),
        Window { left: Option<usize>, right: Option<usize> },
        Additive(Vec<Vec<f64>>),
    }

    #[derive(Deserialize, Debug)]
    pub enum Corner {
        TopLeft,
        BottomRight,
    }
}

#[test]
fn our_files_are_ron_to_the_ron_crate_too() {
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let mut wanted = spec(ORIGINAL);
    wanted.notes = "A \"quoted\"\nline with \\ and é".to_owned();
    wanted.title = "tab\tbell\u{7}".to_owned();
    wanted.softcap = Some(2.5e-9);
    wanted.mask.push(MaskRule::Additive(Matrix::from_rows(&[[f64::NEG_INFINITY, -0.0]]).unwrap()));
    wanted.mask.push(MaskRule::Window { left: None, right: Some(0) });
    for text in [write(&wanted), rewrite(ORIGINAL, &wanted).text] {
        let read: probe::Scene = options.from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read.title, wanted.title);
        assert_eq!(read.notes, wanted.notes);
        assert_eq!(read.softcap, wanted.softcap);
        assert_eq!(read.mask.len(), 4);
        assert!(matches!(&read.mask[2], probe::Layer::Additive(rows) if rows[0][0] == f64::NEG_INFINITY));
        let probe::Input::Heads { k, .. } = read.input;
        assert_eq!(k, [[[1.0, 0.0], [0.0, 1.0]]]);
    }
}

fn number() -> BoxedStrategy<f64> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(1.0),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::NAN),
        Just(5e-324),
        Just(1.7976931348623157e308),
        -9.0..9.0_f64,
        any::<f64>(),
    ]
    .boxed()
}

fn matrix() -> BoxedStrategy<Matrix> {
    (1..4_usize, 0..4_usize)
        .prop_flat_map(|(rows, cols)| {
            prop::collection::vec(number(), rows * cols)
                .prop_map(move |data| Matrix::new(rows, cols, data).unwrap())
        })
        .boxed()
}

fn source() -> BoxedStrategy<MatrixSource> {
    prop_oneof![
        4 => matrix().prop_map(|matrix| MatrixSource::Rows(Arc::new(matrix))),
        1 => (0..9_usize, 0..9_usize, any::<u32>(), 0..3_usize, number()).prop_map(
            |(rows, cols, seed, skip, factor)| MatrixSource::Randn { rows, cols, seed, skip, factor }),
        1 => (0..9_usize).prop_map(|n| MatrixSource::Identity { n }),
        1 => text().prop_map(|path| MatrixSource::File { path }),
    ]
    .boxed()
}

fn text() -> BoxedStrategy<String> {
    prop_oneof!["[a-z ]{0,12}", "\\PC{0,8}", "[\"\\\\#\n\r\t\u{0}\u{7}'/*]{0,8}", "(word ){20,30}"].boxed()
}

fn texts() -> BoxedStrategy<Vec<String>> {
    prop::collection::vec(text(), 0..5).boxed()
}

fn sources() -> BoxedStrategy<Vec<MatrixSource>> {
    prop::collection::vec(source(), 0..3).boxed()
}

fn input() -> BoxedStrategy<Input> {
    let bias = || prop::option::of(prop::collection::vec(number(), 0..4));
    let projected = (
        (source(), prop::option::of(source()), 0..5_usize, 0..5_usize),
        (source(), source(), source(), prop::option::of(source())),
        (bias(), bias(), bias(), bias()),
    )
        .prop_map(|((x, context, heads, kv_heads), (w_q, w_k, w_v, w_o), (b_q, b_k, b_v, b_o))| {
            Input::Projected(Box::new(Projected {
                x,
                context,
                heads,
                kv_heads,
                w_q,
                w_k,
                w_v,
                b_q,
                b_k,
                b_v,
                w_o,
                b_o,
            }))
        });
    prop_oneof![
        (sources(), sources(), sources()).prop_map(|(q, k, v)| Input::Heads { q, k, v }),
        projected,
        (text(), text(), text(), text()).prop_map(|(file, q, k, v)| Input::Tensors { file, q, k, v }),
        (text(), prop::option::of(text())).prop_map(|(file, name)| Input::Weights { file, name }),
    ]
    .boxed()
}

fn scoring() -> BoxedStrategy<ScoringSpec> {
    prop_oneof![
        Just(ScoringSpec::ScaledDot),
        Just(ScoringSpec::Dot),
        number().prop_map(ScoringSpec::Scale),
        source().prop_map(|w| ScoringSpec::General { w }),
        (source(), source(), source()).prop_map(|(w_q, w_k, v)| ScoringSpec::Additive { w_q, w_k, v }),
    ]
    .boxed()
}

fn layer() -> BoxedStrategy<MaskRule> {
    let flags = || prop::collection::vec(prop::collection::vec(any::<bool>(), 0..3), 0..3);
    let convention = prop_oneof![Just(Convention::TrueAllows), Just(Convention::TrueBlocks)];
    prop_oneof![
        prop_oneof![Just(Corner::TopLeft), Just(Corner::BottomRight)].prop_map(MaskRule::Causal),
        any::<usize>().prop_map(MaskRule::ValidKeys),
        prop::collection::vec(any::<bool>(), 0..4).prop_map(MaskRule::PaddedKeys),
        (prop::option::of(0..9_usize), prop::option::of(0..9_usize))
            .prop_map(|(left, right)| MaskRule::Window { left, right }),
        prop::collection::vec(any::<i64>(), 0..4).prop_map(MaskRule::Documents),
        (0..9_usize).prop_map(MaskRule::Prefix),
        prop::collection::vec(0..9_usize, 0..4).prop_map(MaskRule::Global),
        (0..9_usize).prop_map(MaskRule::Strided),
        (convention.clone(), flags()).prop_map(|(convention, rows)| MaskRule::Matrix { convention, rows }),
        matrix().prop_map(MaskRule::Additive),
        prop::collection::vec(number(), 0..3).prop_map(MaskRule::Alibi),
        (convention, prop::collection::vec(flags(), 0..3))
            .prop_map(|(convention, heads)| MaskRule::MatrixPerHead { convention, heads }),
        prop::collection::vec(matrix(), 0..3).prop_map(MaskRule::AdditivePerHead),
    ]
    .boxed()
}

fn view() -> BoxedStrategy<View> {
    let stages = prop::sample::subsequence(Stage::ALL.to_vec(), 0..=5);
    (0..20_usize, prop::sample::select(&Palette::ALL[..]), any::<bool>(), stages, 0..4_usize)
        .prop_map(|(decimals, palette, columns, stages, head)| {
            let orientation =
                if columns { Orientation::QueriesAsColumns } else { Orientation::QueriesAsRows };
            View { decimals, palette, orientation, stages, head }
        })
        .boxed()
}

fn softmax() -> BoxedStrategy<SoftmaxSpec> {
    const ROWS: [EmptyRow; 3] = [EmptyRow::Zero, EmptyRow::NotANumber, EmptyRow::Uniform];
    (any::<bool>(), any::<bool>(), prop::sample::select(&ROWS[..]))
        .prop_map(|(over, form, empty_rows)| SoftmaxSpec {
            over: if over { SoftmaxAxis::Keys } else { SoftmaxAxis::Queries },
            form: if form { SoftmaxForm::Stable } else { SoftmaxForm::Naive },
            empty_rows,
        })
        .boxed()
}

fn position() -> BoxedStrategy<Position> {
    const LAYOUTS: [RopeLayout; 2] = [RopeLayout::HalfSplit, RopeLayout::Interleaved];
    prop_oneof![
        Just(Position::None),
        Just(Position::Alibi),
        Just(Position::Sinusoidal),
        (number(), prop::sample::select(&LAYOUTS[..]))
            .prop_map(|(base, layout)| Position::Rope { base, layout }),
    ]
    .boxed()
}

fn any_spec() -> BoxedStrategy<SceneSpec> {
    let tokens = prop_oneof![
        Just(Tokens::Numbers),
        texts().prop_map(Tokens::Shared),
        (texts(), texts()).prop_map(|(queries, keys)| Tokens::Sides { queries, keys }),
    ];
    (
        (text(), text(), text(), tokens, input(), scoring()),
        (prop::option::of(number()), prop::collection::vec(layer(), 0..4), -5..5_i64, softmax(), view()),
        (position(), prop::sample::select(&Precision::ALL[..])),
        (
            prop::collection::vec(number(), 0..3),
            prop::option::of((number(), any::<u32>()).prop_map(|(rate, seed)| DropoutSpec { rate, seed })),
            prop::option::of(prop::sample::select(&Fault::ALL[..])),
        ),
    )
        .prop_map(
            |(
                (title, topic, notes, tokens, input, scoring),
                (softcap, mask, position_offset, softmax, view),
                (position, precision),
                (sinks, dropout, fault),
            )| {
                SceneSpec {
                    title,
                    topic,
                    notes,
                    tokens,
                    input,
                    scoring,
                    softcap,
                    mask,
                    position,
                    position_offset,
                    softmax,
                    sinks,
                    dropout,
                    precision,
                    fault,
                    view,
                }
            },
        )
        .boxed()
}

/// Specs compared so that NaN equals NaN and −0 differs from 0.
fn exactly(spec: &SceneSpec) -> String {
    format!("{spec:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn what_is_written_reads_back_as_the_same_spec(wanted in any_spec()) {
        let text = write(&wanted);
        prop_assert_eq!(exactly(&spec(&text)), exactly(&wanted), "{}", text);
    }

    #[test]
    fn a_rewritten_file_reads_back_as_the_new_spec(old in any_spec(), new in any_spec()) {
        let rewritten = rewrite(&write(&old), &new);
        prop_assert_eq!(exactly(&spec(&rewritten.text)), exactly(&new), "{}", rewritten.text);
        prop_assert!(!rewritten.lost_comments);
    }

    #[test]
    fn comments_survive_any_change(old in any_spec(), new in any_spec(), block in any::<bool>()) {
        let comment = |n: usize| if block { format!(" /* note {n} */ ") } else { format!(" // note {n}\n") };
        // A comment behind every comma that ends a line, and one at either end of the file.
        let mut notes = 0;
        let mut commented = comment(0);
        for line in write(&old).lines() {
            let plain = !line.contains('"') && line.ends_with(',');
            commented.push_str(line);
            if plain {
                notes += 1;
                commented.push_str(&comment(notes));
            }
            commented.push('\n');
        }
        prop_assume!(read_spec(&commented).is_ok_and(|read| exactly(&read) == exactly(&old)));
        let rewritten = rewrite(&commented, &new);
        prop_assert_eq!(exactly(&spec(&rewritten.text)), exactly(&new), "{}", rewritten.text);
        prop_assert!(!rewritten.lost_comments, "{}\n became \n{}", commented, rewritten.text);
        for note in 0..=notes {
            prop_assert!(rewritten.text.contains(comment(note).trim()), "note {} in {}", note, rewritten.text);
        }
    }
}

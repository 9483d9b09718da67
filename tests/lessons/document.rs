//! The examples in the documentation are scenes that can be read.

use std::panic::catch_unwind;

use qkv::scene::{Input, Scene, evaluate};

use crate::lesson::{read, read_with};

const SCENE_FORMAT: &str = include_str!("../../docs/scene-format.md");
const README: &str = include_str!("../../README.md");

/// The input of snippets that give none: four tokens, as the document says.
const FOUR_TOKENS: &str = "input: Heads(
    q: [[[1, 0], [0, 1], [1, 1], [2, 0]]],
    k: [[[1, 0], [0, 1], [1, 1], [0, 2]]],
    v: [[[2, 0], [0, 4], [1, 1], [3, 3]]],
),";

/// The contents of every ```ron block.
fn blocks(document: &str) -> Vec<&str> {
    let fenced = document.split("```ron\n").skip(1);
    fenced.map(|rest| rest.split("```").next().unwrap()).collect()
}

/// A snippet of fields becomes a scene; a whole scene stays what it is.
fn whole(snippet: &str) -> String {
    if snippet.lines().any(|line| line.starts_with("Scene(")) {
        return snippet.to_owned();
    }
    let input = if snippet.contains("input:") { "" } else { FOUR_TOKENS };
    format!("Scene(\n{input}\n{snippet})")
}

fn scenes(document: &str) -> Vec<(&str, Scene)> {
    let scene = |block| read_with("snippet", &whole(block), |path| (path == "w.npy").then(identity_as_npy));
    blocks(document).into_iter().map(|block| (block, scene(block))).collect()
}

/// `np.save` of `np.eye(3)`.
fn identity_as_npy() -> Vec<u8> {
    let header = format!("{:<117}\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.into_bytes());
    bytes.extend((0..9).flat_map(|at| f64::from(u8::from(at % 4 == 0)).to_le_bytes()));
    bytes
}

#[test]
fn every_example_of_the_scene_format_is_read_and_computed() {
    let scenes = scenes(SCENE_FORMAT);
    assert!(scenes.len() >= 25, "{} examples", scenes.len());
    for (snippet, scene) in scenes {
        let evaluation = evaluate(&scene);
        assert_eq!(evaluation.heads.len(), scene.heads(), "{snippet}");
        assert!(evaluation.output.data().iter().all(|number| number.is_finite()), "{snippet}");
        let n_warnings = usize::from(scene.spec().fault.is_some()); // a mistake always warns
        assert_eq!(evaluation.warnings.len(), n_warnings, "{snippet}: {:?}", evaluation.warnings);
    }
}

#[test]
fn the_example_of_the_readme_is_the_bundled_scene_it_looks_like() {
    let [(_, scene)] = scenes(README).try_into().unwrap_or_else(|_| panic!("one example"));
    let bundled = crate::Lesson::open("three_positions_causal");
    assert_eq!(scene.spec().input, bundled.scene.spec().input);
    assert_eq!(scene.spec().mask, bundled.scene.spec().mask);
}

#[test]
fn what_the_document_calls_a_default_is_what_leaving_it_out_means() {
    let bare = read("bare", &whole(""));
    for spelt_out in [
        "title: \"\", topic: \"\", notes: \"\",",
        "scoring: ScaledDot,",
        "softcap: None,",
        "mask: [],",
        "position_offset: 0,",
        "softmax: (over: Keys, form: Stable, empty_rows: Zero),",
        "view: (decimals: 4, palette: Violet, orientation: QueriesAsRows,
            stages: [RawScores, ScaledScores, MaskedScores, Weights, Output]),",
    ] {
        assert!(blocks_name_field(spelt_out), "{spelt_out}");
        assert_eq!(read("spelt out", &whole(spelt_out)).spec(), bare.spec(), "{spelt_out}");
    }
    assert_eq!(bare.query_labels(), ["1", "2", "3", "4"]);
}

#[test]
fn what_the_document_calls_a_default_of_projections_is_what_leaving_it_out_means() {
    let scene = |extra: &str| {
        read(
            "projected",
            &format!(
                "Scene(input: Projected(x: Identity(n: 4), w_q: Identity(n: 4), w_k: Identity(n: 4), w_v: Identity(n: 4), {extra}))"
            ),
        )
    };
    assert_eq!(scene("").spec(), scene("heads: 1, kv_heads: 1").spec());
    assert_eq!(scene("heads: 2").spec(), scene("heads: 2, kv_heads: 2").spec());
    let bare = scene("");
    let Input::Projected(projected) = &bare.spec().input else { panic!("the input is projected") };
    assert!(projected.context.is_none() && projected.w_o.is_none() && projected.b_q.is_none());
    let randn = |extra: &str| {
        read(
            "drawn",
            &format!(
                "Scene(input: Heads(q: [Randn(rows: 2, cols: 2, seed: 3{extra})], k: [Identity(n: 2)], v: [Identity(n: 2)]))"
            ),
        )
    };
    assert_eq!(randn("").spec(), randn(", skip: 0, factor: 1").spec());
}

#[test]
fn an_example_with_a_misspelt_field_is_refused() {
    let snippet = "softcapp: 30,";
    assert!(catch_unwind(|| read("misspelt", &whole(snippet))).is_err());
}

/// Whether the document has a section or an example for the field.
fn blocks_name_field(spelt_out: &str) -> bool {
    let field = spelt_out.split(':').next().unwrap();
    SCENE_FORMAT.contains(&format!("`{field}`"))
}

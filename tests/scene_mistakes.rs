//! Sinks, dropout and mistakes made on purpose, from the scene file to the evaluation.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use qkv::engine::{Check, CheckOutcome, Fault, Precision, attend, faulty_concat, faulty_split, project};
use qkv::scene::{Evaluation, Scene, checks, evaluate, read};

fn scene(text: &str) -> Scene {
    let read = read(text, &mut |_| Err(std::io::ErrorKind::NotFound.into()));
    read.unwrap_or_else(|complaints| panic!("{complaints:#?}\n{text}"))
}

fn complaints(text: &str) -> Vec<String> {
    let read = read(text, &mut |_| Err(std::io::ErrorKind::NotFound.into()));
    let complaint = |complaint: qkv::scene::Complaint| {
        let place =
            complaint.place.map_or_else(String::new, |place| format!("{}:{} ", place.line, place.column));
        format!("{place}{}: {}", complaint.field, complaint.message)
    };
    read.unwrap_err().into_iter().map(complaint).collect()
}

const THREE: &str = "input: Heads(q: [[[1, 0], [0, 1], [1, 1]]], k: [[[1, 0], [0, 1], [1, 1]]], v: [[[2, 0], [0, 4], [1, 1]]])";

fn three(settings: &str) -> Scene {
    scene(&format!("Scene(\n{THREE},\n{settings}\n)"))
}

/// Two heads cut out of projections of two tokens, merged and multiplied by W_O.
fn projected(settings: &str) -> Scene {
    scene(&format!(
        "Scene(input: Projected(x: [[1, 2], [3, -1], [0, 1]], heads: 4, kv_heads: 2, \
         w_q: Randn(rows: 2, cols: 8, seed: 1), w_k: Randn(rows: 2, cols: 4, seed: 2), \
         w_v: Randn(rows: 2, cols: 4, seed: 3), w_o: Identity(n: 8)), {settings})"
    ))
}

fn row_sums(evaluation: &Evaluation) -> Vec<f64> {
    evaluation.heads[0].attention.weights.iter_rows().map(|row| row.iter().sum()).collect()
}

#[test]
fn a_sink_of_each_head_takes_its_share_and_the_check_says_why() {
    let with = three("sinks: [0.5], mask: [Causal(TopLeft)],");
    let evaluation = evaluate(&with);
    let expected = 0.5_f64.sqrt().exp() / (0.5_f64.sqrt().exp() + 0.5_f64.exp());
    assert!((row_sums(&evaluation)[0] - expected).abs() < 1e-15);
    let outcomes = checks(&with, &evaluation);
    let CheckOutcome::Pass { note: Some(note), .. } = &outcomes[0].1 else { panic!("{outcomes:?}") };
    assert!(note.contains("sink"), "{note}");
    assert!(evaluation.warnings.is_empty());
}

#[test]
fn sinks_that_do_not_fit_are_refused_with_their_place() {
    assert_eq!(
        complaints(&format!("Scene(\n{THREE},\nsinks: [1, 2],\n)")),
        ["3:8 sinks: the list of sinks has the length 2; expected 1: one number for each query head"]
    );
    assert_eq!(
        complaints(&format!("Scene(\n{THREE},\nsinks: [inf],\n)")),
        ["3:9 sinks[0]: the sink of head 1 is inf; expected a finite number"]
    );
    let idle = three("sinks: [1], softmax: (over: Queries),");
    assert!(evaluate(&idle).warnings[0].starts_with("the sinks take no part"));
}

#[test]
fn dropout_is_applied_after_the_softmax_and_what_follows_is_made_of_what_is_left() {
    // np.random.seed(2); (np.random.rand(1, 3, 3)[0] >= 0.5).astype(int)
    let kept = [false, false, true, false, false, false, false, true, false];
    let evaluation = evaluate(&three("dropout: (rate: 0.5, seed: 2),"));
    let head = &evaluation.heads[0];
    let dropped = head.dropped.as_ref().unwrap();
    assert_eq!(dropped.kept, kept);
    for (at, kept) in kept.into_iter().enumerate() {
        let before = head.attention.weights.data()[at];
        assert_eq!(dropped.weights.data()[at], if kept { before / 0.5 } else { 0.0 });
    }
    assert_eq!(evaluation.output.data(), dropped.output.data());
    assert_ne!(evaluation.output.data(), head.attention.output.data());
    let plain = evaluate(&three(""));
    assert_eq!(plain.heads[0].attention, head.attention);
}

#[test]
fn a_dropout_that_means_nothing_is_refused_with_its_place() {
    let refused = |dropout: &str| complaints(&format!("Scene(\n{THREE},\ndropout: {dropout},\n)"));
    assert_eq!(
        refused("(rate: 1, seed: 0)"),
        [
            "3:17 dropout.rate: a dropout rate of 1 is outside of 0 ≤ rate < 1; what is kept is divided by 1 − rate"
        ]
    );
    assert_eq!(refused("(seed: 3)"), ["3:10 dropout.rate: dropout has no `rate`"]);
    assert_eq!(refused("(rate: 0.1, sed: 3)").len(), 1);
    assert_eq!(refused("(rate: 0.1, seed: -3)").len(), 1);
}

#[test]
fn every_mistake_has_a_name_and_says_what_it_changes() {
    for fault in Fault::ALL {
        let text = format!("fault: {fault:?}, mask: [Causal(TopLeft), ValidKeys(2)], softcap: 5,");
        let scene = three(&text);
        assert_eq!(scene.spec().fault, Some(fault));
        let evaluation = evaluate(&scene);
        let effect = evaluation.fault.unwrap();
        assert_eq!(effect.fault, fault);
        let warning = &evaluation.warnings[0];
        assert!(warning.contains(fault.label()), "{warning}");
        let changes = effect.weights > 0.0 || effect.output > 0.0;
        assert_eq!(warning.contains("differ"), changes, "{warning}");
    }
    let misspelt = complaints(&format!("Scene(\n{THREE},\nfault: NoScal,\n)"));
    assert_eq!(misspelt, ["3:8 fault: `NoScal` is not a named mistake"]);
}

#[test]
fn a_mistake_that_cannot_show_says_why() {
    let says = |scene: Scene| evaluate(&scene).warnings[0].clone();
    assert!(says(three("fault: MaskAfterSoftmax,")).ends_with("there is no mask"));
    assert!(says(three("fault: SoftCapAfterMask, mask: [ValidKeys(2)],")).ends_with("there is no soft cap"));
    assert!(says(three("fault: SplitWithoutTranspose,")).contains("nothing is projected"));
    assert!(says(three("fault: MergeWithoutTranspose,")).ends_with("there is only one head"));
    assert!(
        says(three("fault: WrongCorner, mask: [Causal(TopLeft)],")).contains("both corners are the same")
    );
}

#[test]
fn kv_heads_are_tiled_by_mistake() {
    let scene = projected("fault: TiledKvHeads");
    let read: Vec<usize> = evaluate(&scene).heads.iter().map(|head| head.kv_head).collect();
    assert_eq!(read, [0, 1, 0, 1]);
    let meant = scene.as_meant().unwrap();
    let read: Vec<usize> = evaluate(&meant).heads.iter().map(|head| head.kv_head).collect();
    assert_eq!(read, [0, 0, 1, 1]);
}

#[test]
fn heads_are_split_and_merged_without_the_transpose_by_mistake() {
    let split = evaluate(&projected("fault: SplitWithoutTranspose"));
    let scene = projected("");
    let projection = scene.projection().unwrap();
    let expected = faulty_split(&project(&projection.x, &projection.w_q, None), 4).unwrap();
    for (head, q) in split.heads.iter().zip(expected) {
        assert_eq!(*head.input.q, q);
    }
    let (merged, meant) = (evaluate(&projected("fault: MergeWithoutTranspose")), evaluate(&scene));
    let outputs: Vec<_> = meant.heads.iter().map(|head| head.output()).collect();
    assert_eq!(*merged.concat, faulty_concat(&outputs));
    assert_ne!(merged.concat, meant.concat);
}

#[test]
fn one_billion_is_taken_off_in_single_precision_and_the_row_sums_are_judged_so() {
    let scene = three("fault: MinusOneBillion, mask: [Causal(TopLeft)],");
    let evaluation = evaluate(&scene);
    let weights = &evaluation.heads[0].attention.weights;
    assert!(weights.data().iter().all(|&weight| Precision::F32.round(weight) == weight));
    let outcomes = checks(&scene, &evaluation);
    let sums = outcomes.iter().find(|(check, _)| *check == Check::RowsSumToOne).unwrap();
    assert!(matches!(sums.1, CheckOutcome::Pass { .. }), "{sums:?}");
}

#[test]
fn the_evaluation_of_a_mistake_is_what_the_engine_makes_of_it() {
    let scene = three("fault: MaskMultiplied, mask: [Causal(TopLeft)],");
    let evaluation = evaluate(&scene);
    let head = &evaluation.heads[0];
    assert_eq!(head.attention, attend(&head.input, scene.attention_spec(), 0));
    assert_eq!(head.attention.masked_scores.get(0, 2), 0.0);
    assert_eq!(head.attention.blocked_by(0, 2), Some(0));
}

#[test]
fn a_query_that_sees_nothing_is_told_what_it_really_gets() {
    let warnings = |settings: &str| evaluate(&three(settings)).warnings;
    let about_rows = |settings: &str| {
        warnings(settings)
            .into_iter()
            .filter(|warning| warning.contains("may see no key"))
            .collect::<Vec<_>>()
    };
    // By mistake the row is not empty at all.
    assert!(about_rows("mask: [ValidKeys(0)], fault: MinusTenThousand,").is_empty());
    assert!(about_rows("mask: [ValidKeys(0)], fault: MaskMultiplied,").is_empty());
    // By mistake a row is empty that should not be.
    let padded = about_rows("mask: [PaddedKeys([false, true, false])], fault: PaddingOnQueryRows,");
    assert!(padded[0].starts_with("query 2 may see no key"), "{padded:?}");
    let beside_a_sink = about_rows("mask: [ValidKeys(0)], softmax: (empty_rows: Uniform), sinks: [0.5],");
    assert!(
        beside_a_sink[0].ends_with("weights 0 and output 0: the sink takes everything"),
        "{beside_a_sink:?}"
    );
    let no_keys =
        scene("Scene(input: Heads(q: [[[1]]], k: [[]], v: [[]]), softmax: (empty_rows: NotANumber))");
    let warning = &evaluate(&no_keys).warnings[0];
    assert!(warning.contains("NaN"), "{warning}");
}

#[test]
fn the_cause_of_a_nan_is_found_through_what_a_mistake_lets_in() {
    for fault in ["MaskAfterSoftmax", "MinusTenThousand", "PaddingOnQueryRows", "InvertedBoolean"] {
        let text = format!(
            "Scene(input: Heads(q: [[[1, 0], [0, 1], [1, 1]]], k: [[[1, 0], [0, 1], [NaN, 1]]], \
             v: [[[2, 0], [0, 4], [1, 1]]]), mask: [ValidKeys(2)], fault: {fault})"
        );
        let warnings = evaluate(&scene(&text)).warnings;
        assert!(
            warnings.iter().any(|warning| warning.contains("because K[3][1] is NaN")),
            "{fault}: {warnings:?}"
        );
    }
}

#[test]
fn a_mask_of_zeros_and_ones_is_suspected_in_any_head() {
    let text = "Scene(input: Heads(q: [[[1]], [[1]]], k: [[[1], [2]], [[1], [2]]], v: [[[1], [2]], [[1], [2]]]), \
                mask: [AdditivePerHead([[[0, 0]], [[0, 1]]])])";
    assert!(evaluate(&scene(text)).warnings[0].contains("holds only 0 and 1"));
}

#[test]
fn what_is_off_by_less_than_the_shown_digits_is_said_so() {
    let tiny = evaluate(&three("fault: MinusOneBillion,")).warnings[0].clone();
    assert!(!tiny.contains("0.0000"), "{tiny}");
    let rounding = evaluate(&three("fault: NaiveExp,")).warnings[0].clone();
    assert!(rounding.ends_with("no exponential overflows here"), "{rounding}");
}

#[test]
fn dropout_reads_nothing_that_a_mistake_hides() {
    let text = "Scene(input: Heads(q: [[[1, 0], [0, 1], [1, 1]]], k: [[[1, 0], [0, 1], [1, 1]]], \
                v: [[[inf, 1], [2, 1], [3, 4]]]), mask: [Causal(TopLeft)], fault: InvertedBoolean, \
                dropout: (rate: 0.3, seed: 1))";
    let evaluation = evaluate(&scene(text));
    assert!(evaluation.output.row(0).iter().all(|value| value.is_finite()), "{:?}", evaluation.output);
}

#[test]
fn sinks_over_the_queries_take_nothing_and_no_warning_says_so() {
    let warnings = evaluate(&three("mask: [ValidKeys(0)], sinks: [1], fault: SoftmaxOverQueries,")).warnings;
    assert!(!warnings.iter().any(|warning| warning.contains("the sink takes everything")), "{warnings:?}");
}

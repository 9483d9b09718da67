//! The standing checks hold on every bundled scene, and apply where the scene is about them.

use qkv::engine::{Check, CheckOutcome, CheckedHead, standing_checks};
use qkv::scene::bundled;

use crate::lesson::Lesson;

fn outcomes(lesson: &Lesson) -> Vec<(Check, CheckOutcome)> {
    let heads: Vec<CheckedHead<'_>> = lesson
        .evaluation
        .heads
        .iter()
        .map(|head| CheckedHead {
            query_head: head.query_head,
            input: &head.input,
            attention: &head.attention,
        })
        .collect();
    standing_checks(&heads, lesson.scene.attention_spec())
}

/// The scene that shows how a number format spoils its only row.
const SPOILT: &str = "38_half_precision_overflow";

/// The scenes that make no mistake on purpose.
fn sound() -> impl Iterator<Item = &'static bundled::Bundled> {
    bundled::all().iter().filter(|scene| !scene.text.contains("\n    fault:"))
}

/// The sound scenes for which `check` passes; the others have to say why it does not apply.
fn passing(check: Check) -> Vec<&'static str> {
    let passes = |name: &&str| {
        let lesson = Lesson::open(name);
        let (_, outcome) = outcomes(&lesson).into_iter().find(|(found, _)| *found == check).unwrap();
        match outcome {
            CheckOutcome::Pass { .. } => true,
            CheckOutcome::NotApplicable { why } => {
                assert!(!why.is_empty(), "{name}");
                false
            }
            CheckOutcome::Fail { detail, .. } if *name == SPOILT => {
                assert!(detail.contains("NaN"), "{detail}");
                false
            }
            CheckOutcome::Fail { detail, .. } => panic!("{name}: {} fails: {detail}", check.label()),
        }
    };
    sound().map(|scene| scene.name).filter(passes).collect()
}

#[test]
fn rows_sum_to_one_and_key_order_does_not_matter_in_every_sound_scene_but_the_one_that_overflows() {
    let but_the_spoilt = sound().map(|scene| scene.name).filter(|name| *name != SPOILT);
    assert_eq!(passing(Check::RowsSumToOne), but_the_spoilt.collect::<Vec<_>>());
    assert_eq!(passing(Check::KeyOrderDoesNotMatter).len(), sound().count());
}

#[test]
fn scenes_with_a_causal_mask_leak_nothing() {
    let passing = passing(Check::NoLeakFromLaterTokens);
    for scene in
        ["12_three_positions_causal", "13_causal_and_padding", "23_sliding_window", "24_packed_documents"]
    {
        assert!(passing.contains(&scene), "{scene}");
    }
}

#[test]
fn scenes_with_padding_do_not_depend_on_it() {
    let passing = passing(Check::PaddingMovesNothing);
    for scene in ["13_causal_and_padding", "17_empty_row_zero", "18_empty_row_nan"] {
        assert!(passing.contains(&scene), "{scene}");
    }
}

#[test]
fn blocked_weights_are_zero_in_every_scene_with_a_mask() {
    let passing = passing(Check::BlockedWeightsAreZero);
    for scene in sound().filter(|scene| scene.text.contains("\n    mask:")) {
        // Every key of the decode step is visible: the cache holds only the past. Uniform rows are excused by their policy.
        if scene.name != "30_decode_step" {
            assert!(passing.contains(&scene.name), "{}", scene.name);
        }
    }
}

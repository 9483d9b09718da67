//! The bundled scenes say what is true: every number in their notes, and every number of the readings behind them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod checks;
mod document;
mod heads;
mod lesson;
mod masks;
mod mistakes;
mod models;
mod positions;
mod readings;
mod worked;

use std::collections::BTreeSet;
use std::path::Path;

use lesson::{Lesson, Telling};
use qkv::scene::bundled;

/// What the notes of each scene are held against.
fn tellings() -> Vec<(&'static str, Telling)> {
    [
        worked::TELLINGS,
        masks::TELLINGS,
        heads::TELLINGS,
        models::TELLINGS,
        positions::TELLINGS,
        mistakes::TELLINGS,
    ]
    .concat()
}

#[test]
fn every_number_in_the_notes_is_what_the_engine_computes() {
    let mut faults = Vec::new();
    for scene in bundled::all() {
        let lesson = Lesson::open(scene.name);
        match tellings().iter().find(|(name, _)| *name == scene.name) {
            Some((_, telling)) => telling(&lesson),
            None => faults.push(format!("{}: nobody checks its notes", scene.name)),
        }
        faults.extend(lesson.faults());
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_telling_belongs_to_a_scene() {
    for (name, _) in tellings() {
        assert!(bundled::all().iter().any(|scene| scene.name == name), "{name}");
    }
}

#[test]
fn the_scenes_folder_and_the_compiled_list_are_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let mut on_disk = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ron") {
            on_disk.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    let compiled: Vec<&str> = bundled::all().iter().map(|scene| scene.name).collect();
    assert!(compiled.is_sorted(), "the list is in the order of the file names");
    assert_eq!(on_disk, compiled.into_iter().map(str::to_owned).collect());
}

#[test]
fn every_scene_has_its_own_title_and_a_topic_and_says_what_to_look_at_and_what_to_try() {
    let mut titles = BTreeSet::new();
    for scene in bundled::all() {
        let lesson = Lesson::open(scene.name);
        let spec = lesson.scene.spec();
        assert!(titles.insert(spec.title.clone()), "{}: the title is taken", scene.name);
        assert!(!spec.topic.is_empty(), "{} has no topic", scene.name);
        for heading in ["### What to look at\n", "### What to try\n"] {
            assert_eq!(spec.notes.matches(heading).count(), 1, "{}: {heading}", scene.name);
        }
    }
}

#[test]
fn titles_fit_into_a_narrow_list() {
    for scene in bundled::all() {
        let title = Lesson::open(scene.name).scene.spec().title.clone();
        assert!(title.chars().count() <= 32, "{title}");
    }
}

#[test]
fn scenes_of_one_topic_stand_together() {
    let mut topics: Vec<String> =
        bundled::all().iter().map(|scene| Lesson::open(scene.name).scene.spec().topic.clone()).collect();
    topics.dedup();
    let distinct: BTreeSet<&String> = topics.iter().collect();
    assert_eq!(distinct.len(), topics.len(), "{topics:?}");
}

#[test]
fn notes_are_laid_out_as_markdown_reads_them() {
    for scene in bundled::all() {
        let lesson = Lesson::open(scene.name);
        for line in lesson.scene.spec().notes.lines() {
            assert!(!line.starts_with("    "), "{}: Markdown takes this for code: {line}", scene.name);
            assert_eq!(line.trim_end(), line, "{}: blanks at the end of a line", scene.name);
        }
    }
}

#[test]
fn only_the_scenes_about_empty_rows_overflow_and_mistakes_raise_a_warning() {
    let warned: Vec<&str> = bundled::all()
        .iter()
        .map(|scene| scene.name)
        .filter(|name| !Lesson::open(name).evaluation.warnings.is_empty())
        .collect();
    assert_eq!(
        warned,
        [
            "16_causal_more_queries",
            "17_empty_row_zero",
            "18_empty_row_nan",
            "19_empty_row_uniform",
            "38_half_precision_overflow",
            "43_mask_after_softmax",
            "44_minus_ten_thousand",
            "45_tiled_kv_heads",
        ]
    );
}

#[test]
fn a_note_that_is_wrong_in_the_last_digit_is_caught() {
    let lesson = Lesson::open("01_two_positions");
    lesson.says("[0.6698, 0.3302]", &[0.669_86, 0.330_14]);
    lesson.says("[9, 9]", &[9.0, 9.0]);
    let faults = lesson.faults();
    assert!(faults.iter().any(|fault| fault.contains("[0.6698, 0.3302]")), "a wrong digit: {faults:?}");
    assert!(
        faults.iter().any(|fault| fault.contains("[9, 9]")),
        "a number that the notes do not hold: {faults:?}"
    );
    assert!(faults.iter().any(|fault| fault.contains("3.0281")), "a number that nobody checks: {faults:?}");
}

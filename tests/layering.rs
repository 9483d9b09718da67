//! The one rule of the house: a room uses only rooms with a smaller number. And every file says what it is for.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms in order. `disk` and `cli` stand beside them: `disk` may be used by `app` and `cli` only.
const ROOMS: [&str; 9] = ["engine", "cost", "lab", "scene", "figure", "export", "session", "ui", "app"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The top-level modules named by `crate::…` in a source text, comments and doc links aside.
fn used_modules(text: &str) -> Vec<String> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split("crate::").skip(1).map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|rest| {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            (!name.is_empty()).then_some(name)
        })
        .collect()
}

fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn a_room_uses_only_rooms_with_a_smaller_number() {
    let mut n_checked = 0;
    let mut breaches = Vec::new();
    for (number, room) in ROOMS.iter().enumerate() {
        let folder = source_root().join(room);
        if !folder.exists() {
            continue;
        }
        for path in sources(&folder) {
            n_checked += 1;
            for used in used_modules(&fs::read_to_string(&path).unwrap()) {
                let allowed = match ROOMS.iter().position(|other| *other == used) {
                    Some(other) => other <= number,
                    None => used == "disk" && *room == "app",
                };
                if !allowed {
                    breaches.push(format!("{} uses crate::{used}", path.display()));
                }
            }
        }
    }
    assert!(n_checked > 40, "only {n_checked} files were found");
    assert!(breaches.is_empty(), "{breaches:#?}");
}

#[test]
fn a_breach_would_be_seen() {
    assert_eq!(used_modules("use crate::scene::{Scene, evaluate};\n"), ["scene"]);
    assert_eq!(used_modules("let x = crate::export::table(crate::figure::Point);"), ["export", "figure"]);
    assert!(used_modules("//! see [`crate::app`]").is_empty());
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent: Vec<PathBuf> = sources(&source_root())
        .into_iter()
        .filter(|path| !fs::read_to_string(path).unwrap().starts_with("//!"))
        .collect();
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn only_the_rooms_of_the_window_name_the_window_toolkit() {
    let windowed = ["ui", "app"];
    let offenders: Vec<PathBuf> = sources(&source_root())
        .into_iter()
        .filter(|path| {
            let relative = path.strip_prefix(source_root()).unwrap();
            !windowed.iter().any(|room| relative.starts_with(room))
        })
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            text.lines().any(|line| {
                let code = line.trim_start();
                !code.starts_with("//")
                    && ["egui::", "eframe::", "rfd::", "egui_plot::"].iter().any(|name| code.contains(name))
            })
        })
        .collect();
    assert!(offenders.is_empty(), "{offenders:#?}");
}

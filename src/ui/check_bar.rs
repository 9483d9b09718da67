//! The standing checks along the bottom, and the sizes of the scene.

use egui::{RichText, Ui};

use crate::engine::{Check, CheckOutcome, Examined, Place};
use crate::session::Session;

use super::style::Colors;
use super::{UiState, computing};

/// Draws the bar.
pub fn show(ui: &mut Ui, session: &Session, state: &UiState) {
    // While the board is that of a scene before, so are its checks and warnings.
    let is_covered = computing::covers(session, state);
    let are_late = is_covered || computing::checks_are_late(state);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        for (check, outcome) in session.checks() {
            if are_late {
                awaited(ui, *check);
            } else {
                one(ui, session, *check, outcome);
            }
            ui.add_space(13.0);
        }
        if !is_covered {
            warnings(ui, session);
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let color = Colors::in_use(ui).muted;
            ui.add(egui::Label::new(RichText::new(sizes(session)).small().color(color)).truncate());
        });
    });
}

/// A check that is being run.
fn awaited(ui: &mut Ui, check: Check) {
    let muted = Colors::in_use(ui).muted;
    for (text, size) in [("…", 13.5), (check.label(), 12.5)] {
        ui.label(RichText::new(text).size(size).color(muted)).on_hover_text("Being checked");
    }
}

fn one(ui: &mut Ui, session: &Session, check: Check, outcome: &CheckOutcome) {
    let colors = Colors::in_use(ui);
    let (mark, color, ink) = match outcome {
        CheckOutcome::Pass { .. } => ("✓", colors.good, colors.ink),
        CheckOutcome::Fail { .. } => ("✗", colors.bad, colors.bad),
        CheckOutcome::NotApplicable { .. } => ("–", colors.muted, colors.muted),
    };
    let explanation = explanation(session, outcome);
    ui.label(RichText::new(mark).color(color)).on_hover_text(&explanation);
    ui.label(RichText::new(check.label()).size(12.5).color(ink)).on_hover_text(&explanation);
}

/// What the check found, in a sentence.
fn explanation(session: &Session, outcome: &CheckOutcome) -> String {
    match outcome {
        CheckOutcome::Pass { examined: Examined { count, of, what }, note } => {
            let examined = if count == of {
                format!("All {of} {what} examined.")
            } else {
                format!("{count} of {of} {what} examined.")
            };
            note.as_ref().map_or_else(|| examined.clone(), |note| format!("{examined} {note}."))
        }
        CheckOutcome::Fail { place, detail } => format!("{}: {detail}", place_in_words(session, *place)),
        CheckOutcome::NotApplicable { why } => format!("Not applicable: {why}."),
    }
}

fn place_in_words(session: &Session, place: Place) -> String {
    let scene = session.scene();
    let label = |labels: &[String], index: usize| {
        labels.get(index).map_or_else(String::new, |label| format!(" “{label}”"))
    };
    let query = format!(
        "head {}, query {}{}",
        place.query_head + 1,
        place.query + 1,
        label(scene.query_labels(), place.query)
    );
    match place.key {
        Some(key) => format!("{query}, key {}{}", key + 1, label(scene.key_labels(), key)),
        None => query,
    }
}

fn warnings(ui: &mut Ui, session: &Session) {
    let warnings = session.warnings();
    if warnings.is_empty() {
        return;
    }
    let color = Colors::in_use(ui).warn;
    let text = if warnings.len() == 1 {
        "⚠ 1 warning".to_owned()
    } else {
        format!("⚠ {} warnings", warnings.len())
    };
    ui.menu_button(RichText::new(text).size(12.5).color(color), |ui| {
        ui.set_max_width(460.0);
        for warning in warnings {
            ui.label(warning);
        }
    })
    .response
    .on_hover_text("What to know about this scene");
}

fn sizes(session: &Session) -> String {
    let scene = session.document().scene();
    let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut parts = vec![plural(scene.n_q(), "query", "queries"), plural(scene.n_k(), "key", "keys")];
    if !scene.gives_weights() {
        parts.extend([format!("d_k {}", scene.d_k()), format!("d_v {}", scene.d_v())]);
    }
    parts.push(plural(scene.heads(), "head", "heads"));
    if scene.kv_heads() != scene.heads() {
        parts.push(plural(scene.kv_heads(), "KV head", "KV heads"));
    }
    parts.join(" · ")
}

//! A scene that did not load: every complaint with its line and a caret, the last good board dimmed behind.

use egui::{Frame, Margin, RichText, ScrollArea, Stroke, Ui};

use crate::scene::{Complaint, Severity, render_complaint};
use crate::session::{Command, Problem, Session};

use super::style::{Colors, bold};
use super::{Outbox, UiState, board};

/// Draws the dimmed board and the banner over it.
pub fn show(ui: &mut Ui, session: &Session, problem: &Problem, state: &mut UiState, out: &mut Outbox) {
    let colors = Colors::in_use(ui);
    let whole = ui.max_rect();
    let area = whole.shrink2(egui::vec2(28.0, 24.0));
    let banner = ui.scope_builder(egui::UiBuilder::new().max_rect(area), |ui| {
        Frame::new()
            .fill(colors.panel)
            .stroke(Stroke::new(1.0, colors.bad))
            .corner_radius(8)
            .inner_margin(Margin::same(16))
            .show(ui, |ui| {
                ui.set_width(ui.available_width());
                heading(ui, problem);
                ui.add_space(8.0);
                ScrollArea::vertical().max_height(whole.height() - 190.0).show(ui, |ui| {
                    for complaint in &problem.complaints {
                        one(ui, problem, complaint);
                    }
                });
                ui.add_space(6.0);
                buttons(ui, problem, out);
            });
    });
    let below = area.with_min_y((banner.response.rect.bottom() + 20.0).min(area.bottom()));
    // Where the messages leave no room the board waits behind them.
    if below.height() > 140.0 {
        board::show_dimmed(ui, session, state, below);
    }
}

fn heading(ui: &mut Ui, problem: &Problem) {
    let colors = Colors::in_use(ui);
    let n = problem.complaints.iter().filter(|complaint| complaint.severity == Severity::Error).count();
    let name = problem.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let title = match n {
        1 => format!("{name} did not load: one mistake"),
        n => format!("{name} did not load: {n} mistakes"),
    };
    ui.label(RichText::new(title).family(bold()).size(16.0).color(colors.bad));
    let text = format!("{}  ·  the last good scene stays behind this message", problem.path.display());
    ui.label(RichText::new(text).small().color(colors.muted));
}

fn one(ui: &mut Ui, problem: &Problem, complaint: &Complaint) {
    let colors = Colors::in_use(ui);
    ui.label(RichText::new(&complaint.message).color(colors.ink).strong());
    if let Some(hint) = &complaint.hint {
        ui.label(RichText::new(hint).color(colors.muted));
    }
    // The first line of the rendering repeats the sentence; what follows is the source line and the caret.
    let name = problem.path.display().to_string();
    let rendered = render_complaint(&name, &problem.text, complaint);
    let source: Vec<&str> = rendered.lines().filter(|line| line.contains('|')).collect();
    if !source.is_empty() {
        Frame::new().fill(colors.field).corner_radius(4).inner_margin(Margin::symmetric(8, 5)).show(
            ui,
            |ui| {
                // A long line scrolls by itself; wrapping it would take the caret from its place.
                let id = (
                    complaint.field.as_str(),
                    complaint.place.as_ref().map(|place| (place.line, place.column)),
                );
                ScrollArea::horizontal().id_salt(id).show(ui, |ui| {
                    let text = RichText::new(source.join("\n")).monospace().color(colors.ink);
                    ui.add(egui::Label::new(text).selectable(true).extend());
                });
            },
        );
    }
    ui.add_space(8.0);
}

fn buttons(ui: &mut Ui, problem: &Problem, out: &mut Outbox) {
    ui.horizontal(|ui| {
        if ui
            .button("Read again")
            .on_hover_text("The file is also read again by itself when it changes")
            .clicked()
        {
            out.push(Command::OpenFile(problem.path.clone()));
        }
        if ui.button("Copy the messages").clicked() {
            let name = problem.path.display().to_string();
            let texts: Vec<String> = problem
                .complaints
                .iter()
                .map(|complaint| render_complaint(&name, &problem.text, complaint))
                .collect();
            out.push(Command::CopyText(texts.join("\n")));
        }
        if ui.button("Back to the last good scene").clicked() {
            out.push(Command::DismissProblem);
        }
    });
}

//! The right panel: the arithmetic behind the pinned cell, and the two calculators.

use std::sync::Arc;

use egui::{Panel, RichText, ScrollArea, Ui};

use crate::figure::{LineKind, Pin, TraceSection, TraceText};
use crate::session::{Command, Session};

use super::figures::fresh_trace;
use super::style::{Colors, bold};
use super::{Outbox, UiState, costs, widgets};

/// Draws the panel. The calculators keep their place at the bottom; the trace scrolls above them.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    // A tall window gives the calculators room for their plots.
    let height = (ui.available_height() * 0.46).clamp(330.0, 520.0);
    Panel::bottom("calculators")
        .frame(egui::Frame::new().inner_margin(egui::Margin { top: 8, ..egui::Margin::ZERO }))
        .resizable(true)
        .default_size(height)
        .size_range(60.0..=900.0)
        .show(ui, |ui| {
            ScrollArea::vertical().id_salt("calculators").auto_shrink(false).show(ui, |ui| {
                costs::show(ui, session, state, out);
            });
        });
    egui::CentralPanel::no_frame().show(ui, |ui| trace(ui, session, state, out));
}

fn trace(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    let Some(text) = state.figures.trace(session, state.trace_in_full) else {
        nothing_pinned(ui);
        return;
    };
    heading(ui, session, &text, &mut state.trace_in_full, out);
    ScrollArea::vertical().id_salt("trace").auto_shrink(false).show(ui, |ui| {
        sections(ui, &text, session.has_projections());
    });
}

fn nothing_pinned(ui: &mut Ui) {
    widgets::section(ui, "Nothing pinned");
    let color = Colors::in_use(ui).muted;
    ui.label(
        RichText::new("Click a cell of the scores or weights to see the arithmetic behind it.").color(color),
    );
}

fn heading(ui: &mut Ui, session: &Session, text: &TraceText, in_full: &mut bool, out: &mut Outbox) {
    let colors = Colors::in_use(ui);
    // Filled from the right, so that a long title is shortened instead of running under the buttons.
    let line = egui::vec2(ui.available_width(), ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(line, egui::Layout::right_to_left(egui::Align::Center), |ui| {
        let button = egui::Button::new(RichText::new("pinned ×").small().color(colors.muted)).frame(false);
        if ui.add(button).on_hover_text("Unpin").clicked() {
            out.push(Command::Unpin);
        }
        let button = egui::Button::new(RichText::new("copy").small().color(colors.accent)).frame(false);
        if ui.add(button).on_hover_text("Copy this arithmetic as text").clicked() {
            // What is copied holds every term, whatever is shown.
            let pin = session.pin().map(|pin| Pin { query: pin.query, key: pin.key });
            let whole = pin.and_then(|pin| fresh_trace(session, pin, true));
            out.push(Command::CopyText(as_plain_text(whole.as_ref().unwrap_or(text))));
        }
        if !session.gives_weights() {
            shorten_or_not(ui, in_full);
        }
        ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
            let title = RichText::new(&text.title).family(bold()).size(15.0).color(colors.ink);
            ui.add(egui::Label::new(title).truncate()).on_hover_text(&text.title);
        });
    });
}

fn shorten_or_not(ui: &mut Ui, in_full: &mut bool) {
    let word = if *in_full { "shorten" } else { "every term" };
    let accent = Colors::in_use(ui).accent;
    let button = egui::Button::new(RichText::new(word).small().color(accent)).frame(false);
    let hint = "Long sums and vectors to the last term, or their middle left out";
    if ui.add(button).on_hover_text(hint).clicked() {
        *in_full = !*in_full;
    }
}

/// The whole trace as lines of text.
fn as_plain_text(text: &TraceText) -> String {
    let sections = text.sections.iter().map(|section| {
        let lines = section.lines.iter().map(|line| format!("  {}\n", line.text)).collect::<String>();
        format!("{}\n{lines}", section.title)
    });
    format!("{}\n{}", text.title, sections.collect::<String>())
}

fn sections(ui: &mut Ui, text: &Arc<TraceText>, is_projected: bool) {
    ui.spacing_mut().item_spacing.y = 1.5;
    let (first, rest): (Vec<&TraceSection>, Vec<&TraceSection>) =
        text.sections.iter().partition(|section| section.is_preparation);
    if !first.is_empty() {
        let title = if is_projected {
            "q, k and v from the hidden states"
        } else {
            "q and k turned by their positions"
        };
        egui::CollapsingHeader::new(RichText::new(title).small())
            .id_salt("preparation")
            .show_unindented(ui, |ui| first.into_iter().for_each(|section| one(ui, section)));
    }
    rest.into_iter().for_each(|section| one(ui, section));
    ui.add_space(8.0);
}

fn one(ui: &mut Ui, section: &TraceSection) {
    let colors = Colors::in_use(ui);
    ui.add_space(4.0);
    ui.label(RichText::new(&section.title).small().color(colors.muted));
    for line in &section.lines {
        let color = match line.kind {
            LineKind::Plain => colors.ink,
            LineKind::Result => colors.weights,
            LineKind::Muted => colors.muted,
        };
        ui.horizontal(|ui| {
            ui.add_space(8.0);
            ui.add(
                egui::Label::new(RichText::new(&line.text).color(color).size(13.0)).wrap().selectable(true),
            );
        });
    }
}

//! The softmax: along which axis, in which form, beside which sink, what queries get that see nothing, and what dropout takes away.

use egui::{DragValue, Ui};

use crate::engine::{EmptyRow, SoftmaxAxis, SoftmaxForm};
use crate::scene::{DropoutSpec, Scene};
use crate::session::{Edit, Session};

use super::settings_panel::{choice, drag_gesture};
use super::{Outbox, UiState, widgets};

/// What is not the usual softmax, in short.
pub fn unusual(scene: &Scene) -> Vec<String> {
    let spec = scene.spec();
    let policy = match spec.softmax.empty_rows {
        EmptyRow::Zero => None,
        EmptyRow::NotANumber => Some("empty rows NaN"),
        EmptyRow::Uniform => Some("empty rows uniform"),
    };
    let over = (spec.softmax.over == SoftmaxAxis::Queries).then_some("over queries");
    let form = (spec.softmax.form == SoftmaxForm::Naive).then_some("naive");
    let sink = (!spec.sinks.is_empty()).then_some("sink");
    let dropout = spec.dropout.map(|_| "dropout");
    [policy, over, form, sink, dropout].into_iter().flatten().map(str::to_owned).collect()
}

/// Draws everything about the softmax.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    let scene = session.document().scene();
    empty_rows(ui, scene, out);
    softmax(ui, scene, out);
    sink(ui, scene, session.head(), state, out);
    dropout(ui, scene, state, out);
}

fn empty_rows(ui: &mut Ui, scene: &Scene, out: &mut Outbox) {
    let options = [(EmptyRow::Zero, "zero"), (EmptyRow::NotANumber, "NaN"), (EmptyRow::Uniform, "uniform")];
    let hint = "What a query gets that may see no key: weights 0, the 0/0 of the formula, or 1/n_k each, \
                as a large negative number in place of −∞ gives";
    let current = scene.spec().softmax.empty_rows;
    if let Some(policy) = choice(ui, "Empty rows", &options, current, hint) {
        out.edit(Edit::SetEmptyRows(policy));
    }
}

fn softmax(ui: &mut Ui, scene: &Scene, out: &mut Outbox) {
    let softmax = scene.spec().softmax;
    let axes = [(SoftmaxAxis::Keys, "keys"), (SoftmaxAxis::Queries, "queries (a mistake)")];
    let hint = "Weights of one query sum to 1 over the keys. Over the queries is the classic mistake";
    if let Some(axis) = choice(ui, "Softmax over", &axes, softmax.over, hint) {
        out.edit(Edit::SetSoftmaxAxis(axis));
    }
    let forms = [(SoftmaxForm::Stable, "stable"), (SoftmaxForm::Naive, "naive")];
    let hint = "Stable subtracts the row maximum first; naive does not, and overflows for large scores";
    if let Some(form) = choice(ui, "Softmax form", &forms, softmax.form, hint) {
        out.edit(Edit::SetSoftmaxForm(form));
    }
}

/// The learned sink of the head on screen; switching it on gives every head one.
fn sink(ui: &mut Ui, scene: &Scene, head: usize, state: &mut UiState, out: &mut Outbox) {
    let sinks = &scene.spec().sinks;
    let mut has_sinks = !sinks.is_empty();
    let current = sinks.get(head).copied();
    widgets::setting(ui, "Sink", |ui| {
        let hint = "A learned logit of each head: one more term in the sum of exponentials that belongs to no key, so that \
                    the weights of a row may sum to less than 1. The field holds that of the head on screen";
        let check = ui.checkbox(&mut has_sinks, "").on_hover_text(hint);
        check.widget_info(|| egui::WidgetInfo::selected(egui::Role::CheckBox, true, has_sinks, "Sink"));
        if check.changed() {
            let sinks = if has_sinks { vec![0.0; scene.heads()] } else { Vec::new() };
            out.edit(Edit::SetSinks(sinks));
        }
        let Some(mut value) = current else { return check };
        let field =
            widgets::named(ui.add(DragValue::new(&mut value).speed(0.02).max_decimals(4)), "Sink value");
        if field.changed() {
            let mut sinks = sinks.clone();
            sinks[head] = value;
            out.edit_in(Edit::SetSinks(sinks), drag_gesture(state, &field));
        }
        field.on_hover_text(hint)
    });
}

fn dropout(ui: &mut Ui, scene: &Scene, state: &mut UiState, out: &mut Outbox) {
    let current = scene.spec().dropout;
    let mut drops = current.is_some();
    widgets::setting(ui, "Dropout", |ui| {
        let hint = "What training does to weights: this share of them becomes 0, and the others are divided by 1 − rate. \
                    The seed chooses which, as np.random.seed does";
        let check = ui.checkbox(&mut drops, "").on_hover_text(hint);
        check.widget_info(|| egui::WidgetInfo::selected(egui::Role::CheckBox, true, drops, "Dropout"));
        if check.changed() {
            out.edit(Edit::SetDropout(drops.then_some(DropoutSpec { rate: 0.25, seed: 0 })));
        }
        let Some(DropoutSpec { mut rate, seed }) = current else { return check };
        let field = ui.add(DragValue::new(&mut rate).speed(0.005).range(0.0..=0.99).max_decimals(4));
        let field = widgets::named(field, "Dropout rate").on_hover_text(hint);
        if field.changed() {
            let dropout = Some(DropoutSpec { rate, seed });
            out.edit_in(Edit::SetDropout(dropout), drag_gesture(state, &field));
        }
        field
    });
    let Some(DropoutSpec { rate, mut seed }) = current else { return };
    let field = widgets::setting(ui, "Seed", |ui| {
        let field = ui.add(DragValue::new(&mut seed).speed(0.05));
        widgets::named(field, "Dropout seed").on_hover_text("Which weights are dropped")
    });
    if field.changed() {
        let dropout = Some(DropoutSpec { rate, seed });
        out.edit_in(Edit::SetDropout(dropout), drag_gesture(state, &field));
    }
}

//! The picker of published models, with search and source.

use egui::{
    Button, Key, Label, Popup, PopupCloseBehavior, Response, RichText, ScrollArea, TextEdit, Ui, vec2,
};

use crate::cost::{Preset, grouped, search_presets};
use crate::session::{Calculate, Command};

use super::super::Outbox;
use super::super::style::{Colors, bold};
use super::super::widgets;
use super::CalculatorState;
use super::answer::Question;

const LIST_WIDTH: f32 = 230.0;
const DETAIL_WIDTH: f32 = 270.0;
const HEIGHT: f32 = 330.0;

/// The picker below its button.
pub fn popup(button: &Response, question: &Question, state: &mut CalculatorState, out: &mut Outbox) {
    let was_open = state.picker_is_open;
    let shown = Popup::menu(button)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| picker(ui, question, state, !was_open, out));
    state.picker_is_open = shown.is_some();
}

fn picker(ui: &mut Ui, question: &Question, state: &mut CalculatorState, is_new: bool, out: &mut Outbox) {
    ui.set_width(LIST_WIDTH + DETAIL_WIDTH + 24.0);
    let hint = "Find a model: llama, mla, window …";
    let field = ui.add(TextEdit::singleline(&mut state.search).hint_text(hint).desired_width(f32::INFINITY));
    field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Find a model"));
    if is_new {
        field.request_focus();
    }
    let found = search_presets(&state.search);
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    let mut chosen = found.first().copied().filter(|_| entered);
    ui.add_space(4.0);
    ui.horizontal_top(|ui| {
        let down = egui::Layout::top_down(egui::Align::Min);
        ui.allocate_ui_with_layout(vec2(LIST_WIDTH, HEIGHT), down, |ui| {
            ui.set_min_size(vec2(LIST_WIDTH, HEIGHT));
            list(ui, &found, state, &mut chosen);
        });
        ui.add_space(8.0);
        ui.allocate_ui_with_layout(vec2(DETAIL_WIDTH, HEIGHT), down, |ui| {
            ui.set_min_size(vec2(DETAIL_WIDTH, HEIGHT));
            let id = state.looked_at.as_deref();
            let looked_at =
                found.iter().find(|preset| Some(preset.id.as_str()) == id).or_else(|| found.first());
            if let Some(preset) = looked_at {
                details(ui, preset);
            }
        });
    });
    ui.separator();
    ui.horizontal(|ui| {
        if ui.button("Own sizes").on_hover_text("A copy of the sizes on screen").clicked() {
            out.push(Command::Calculate(Calculate::Add(Box::new(question.own_sizes()))));
            ui.close();
        }
        if ui.button("Open a file…").on_hover_text("A configuration that was saved").clicked() {
            out.push(Command::Calculate(Calculate::Open));
            ui.close();
        }
    });
    if let Some(preset) = chosen {
        match preset.configuration() {
            Ok(configuration) => out.push(Command::Calculate(Calculate::Add(Box::new(configuration)))),
            Err(error) => out.push(Command::Say(error.to_string())),
        }
        state.search.clear();
        ui.close();
    }
}

fn list<'a>(ui: &mut Ui, found: &[&'a Preset], state: &mut CalculatorState, chosen: &mut Option<&'a Preset>) {
    let colors = Colors::in_use(ui);
    if found.is_empty() {
        widgets::caption(ui, "No model of this name is known here.");
    }
    ScrollArea::vertical().id_salt("models").auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        for preset in found {
            let button = Button::new(RichText::new(&preset.name).color(colors.ink))
                .fill(egui::Color32::TRANSPARENT)
                .right_text(RichText::new(&preset.attention_kind).small().color(colors.muted))
                .truncate()
                .min_size(vec2(ui.available_width(), 22.0));
            let response = ui.add(button);
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &preset.name));
            if response.hovered() || response.has_focus() {
                state.looked_at = Some(preset.id.clone());
            }
            if response.clicked() {
                *chosen = Some(preset);
            }
        }
    });
}

fn details(ui: &mut Ui, preset: &Preset) {
    let colors = Colors::in_use(ui);
    ui.label(RichText::new(&preset.name).family(bold()).size(14.0).color(colors.ink));
    let plain = |value: u64| grouped(u128::from(value));
    let mut lines = vec![
        format!("{} layers · {} query heads · {} KV heads", preset.layers, preset.q_heads, preset.kv_heads),
        format!("head width {} · model width {}", preset.head_dim, plain(preset.d_model)),
    ];
    lines.extend(
        preset.window.map(|window| format!("window {}, layers {}", plain(window), preset.layer_pattern)),
    );
    lines.extend(preset.max_context.map(|most| format!("made for {} tokens", plain(most))));
    for line in lines {
        ui.label(RichText::new(line).small().color(colors.ink));
    }
    ScrollArea::vertical().id_salt("source").auto_shrink(false).show(ui, |ui| {
        let paragraph = |ui: &mut Ui, title: &str, text: &str| {
            if !text.is_empty() {
                ui.add_space(4.0);
                widgets::caption(ui, title);
                ui.add(Label::new(RichText::new(text).small().color(colors.ink)).wrap());
            }
        };
        paragraph(ui, "Source", &preset.source.join("\n"));
        paragraph(ui, "To know", &preset.notes);
        paragraph(ui, "How it was checked", &preset.verification);
    });
}

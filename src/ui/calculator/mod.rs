//! The calculators in the centre of the window: inputs, figures with their formulas, curves, and models side by side.
//!
//! Nothing is computed while drawing unless the question changed; formulas come from the counting itself.

mod answer;
mod arithmetic;
mod chart_view;
mod columns;
mod copy;
mod curves;
mod fields;
mod generation;
mod memory;
mod model;
mod presets;
mod questions;
mod results;
mod side_by_side;
mod speed;
mod table_view;

use egui::{CentralPanel, Frame, Key, Margin, Modifiers, Panel, RichText, ScrollArea, Ui, vec2};

use crate::figure::ChartSpec;
use crate::session::{Calculate, Centre, Command, Session, Topic};

use self::answer::{Answer, Question};
use self::fields::{Fields, Place};
use self::results::Pointing;
use super::kept::Kept;
use super::style::Colors;
use super::{Outbox, UiState, costs, stage_switch, widgets};

/// What the calculators remember between frames.
#[derive(Default)]
pub struct CalculatorState {
    kept: Kept<Question, Answer>,
    /// The field that the pointer was on in a formula, in the frame before.
    lit: Option<Place>,
    /// The field that a click in a formula leads to in this frame.
    asked: Option<Place>,
    /// A memory budget that does not read yet.
    budget_draft: Option<String>,
    /// What the models are filtered by.
    search: String,
    /// The model under the pointer in the picker.
    looked_at: Option<String>,
    picker_is_open: bool,
}

const TOPICS: [(Topic, &str); 5] = [
    (Topic::Memory, "memory"),
    (Topic::Arithmetic, "arithmetic"),
    (Topic::Generation, "generation"),
    (Topic::Speed, "speed"),
    (Topic::SideBySide, "side by side"),
];
/// From this width on, curves stand beside the figures instead of below them.
const WIDE: f32 = 860.0;

/// Draws the centre.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    let inner = ui.max_rect().shrink2(vec2(20.0, 10.0));
    ui.scope_builder(egui::UiBuilder::new().max_rect(inner), |ui| {
        stage_switch::show(ui, session, state, out);
        let question = Question::of(session);
        let calculator = &mut state.calculator;
        let answer = calculator.kept.get(question.clone(), answer);
        ui.add_space(4.0);
        columns::show(ui, session, &question, calculator, out);
        ui.add_space(2.0);
        topics(ui, &question, &answer, out);
        ui.add_space(6.0);
        match &answer.table {
            None if question.is_without_widths() => without_widths(ui, session),
            Some(table) => compared(ui, session, &question, &answer, table, out),
            None => asked_and_answered(ui, session, &question, &answer, calculator, out),
        }
    });
    let is_free = state.dialog.is_none() && !ui.ctx().egui_wants_keyboard_input();
    if is_free && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
        out.push(Command::Show(Centre::Board));
    }
}

/// The first chart on screen, for export. A topic without one has an empty chart.
pub fn first_chart(session: &Session) -> ChartSpec {
    answer(&Question::of(session)).charts.into_iter().next().unwrap_or_default()
}

/// Whether there is nothing to draw, as the widths that a curve would need are not known.
pub fn is_without_chart(session: &Session) -> bool {
    let calculators = session.calculators();
    session.gives_weights() && calculators.selected == 0 && calculators.topic != Topic::SideBySide
}

fn answer(question: &Question) -> Answer {
    match question.topic {
        Topic::Memory => memory::answer(question),
        Topic::Arithmetic => arithmetic::answer(question),
        Topic::Generation => generation::answer(question),
        Topic::Speed => speed::answer(question),
        Topic::SideBySide => side_by_side::answer(question),
    }
}

/// What is shown, in which unit, and the ways out.
fn topics(ui: &mut Ui, question: &Question, answer: &Answer, out: &mut Outbox) {
    ui.horizontal(|ui| {
        if let Some(topic) = widgets::segments(ui, &TOPICS, question.topic) {
            out.push(Command::Calculate(Calculate::Show(topic)));
        }
        if question.is_without_widths() && question.topic != Topic::SideBySide {
            return; // there is nothing to save or copy
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ways_out(ui, question, answer, out);
            if matches!(question.topic, Topic::Arithmetic | Topic::Generation | Topic::SideBySide)
                && let Some(in_flops) =
                    widgets::segments(ui, &[(false, "MACs"), (true, "FLOPs")], question.settings.in_flops)
            {
                let settings = crate::session::Settings { in_flops, ..question.settings.clone() };
                out.push(Command::Calculate(Calculate::Settle(Box::new(settings))));
            }
        });
    });
}

fn ways_out(ui: &mut Ui, question: &Question, answer: &Answer, out: &mut Outbox) {
    let accent = Colors::in_use(ui).accent;
    let configuration = question.configuration();
    let text = RichText::new("save").small().color(accent);
    if !question.is_without_widths()
        && widgets::quiet_button(ui, text, "Save these sizes as a file").clicked()
    {
        out.push(Command::Calculate(Calculate::Save(Box::new(configuration.clone()))));
    }
    widgets::quiet_menu(ui, "copy", "Copy the figures", |ui| {
        for (notation, name) in copy::Notation::ALL {
            if ui.button(name).clicked() {
                out.push(Command::CopyText(copy::written(answer, &configuration.name, notation)));
            }
        }
    });
}

/// What stands in the place of figures where the scene gives only weights.
fn without_widths(ui: &mut Ui, session: &Session) {
    for (label, known) in costs::known_without_widths(session.complexity()) {
        costs::quantity(ui, label, &known);
    }
    ui.add_space(6.0);
    ui.label(costs::WIDTHS_UNKNOWN);
    widgets::caption(ui, "Add a model above to ask about its sizes.");
}

fn asked_and_answered(
    ui: &mut Ui,
    session: &Session,
    question: &Question,
    answer: &Answer,
    state: &mut CalculatorState,
    out: &mut Outbox,
) {
    let mut shown = vec![false; answer.complaints.len()];
    let side = Frame::new().inner_margin(Margin { right: 10, ..Margin::ZERO });
    Panel::left("calculator inputs").frame(side).default_size(236.0).size_range(200.0..=340.0).show(
        ui,
        |ui| {
            ScrollArea::vertical().id_salt("calculator inputs").auto_shrink(false).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 3.0;
                inputs(ui, question, answer, state, &mut shown, out);
                ui.add_space(12.0);
            });
        },
    );
    let mut pointing = Pointing::default();
    let complaints: Vec<_> = answer.complaints.iter().zip(shown).collect();
    let room = Frame::new().inner_margin(Margin { left: 14, ..Margin::ZERO });
    CentralPanel::default().frame(room).show(ui, |ui| {
        if ui.available_width() > WIDE {
            let half = Frame::new().inner_margin(Margin { left: 14, ..Margin::ZERO });
            let width = ui.available_width() * 0.48;
            Panel::right("calculator curves").frame(half).default_size(width).show(ui, |ui| {
                ScrollArea::vertical().id_salt("curves").auto_shrink(false).show(ui, |ui| {
                    curves(ui, session, &answer.charts, 250.0, out);
                });
            });
        }
        let is_wide = ui.available_width() < ui.max_rect().width();
        CentralPanel::no_frame().show(ui, |ui| {
            ScrollArea::vertical().id_salt("figures").auto_shrink(false).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 3.0;
                results::complaints(ui, !answer.sections.is_empty(), &complaints);
                let (leading, rest) = answer.sections.split_at(answer.n_leading.min(answer.sections.len()));
                ui.scope(|ui| results::show(ui, leading, &mut pointing));
                let (first, others) = answer.charts.split_at(answer.charts.len().min(1));
                if !is_wide {
                    ui.add_space(6.0);
                    curves(ui, session, first, 180.0, out);
                }
                ui.scope(|ui| results::show(ui, rest, &mut pointing));
                if !is_wide {
                    ui.add_space(6.0);
                    curves(ui, session, others, 180.0, out);
                }
            });
        });
    });
    if state.lit != pointing.lit || pointing.asked.is_some() {
        ui.ctx().request_repaint();
    }
    state.lit = pointing.lit;
    state.asked = pointing.asked;
}

fn inputs(
    ui: &mut Ui,
    question: &Question,
    answer: &Answer,
    state: &mut CalculatorState,
    shown: &mut Vec<bool>,
    out: &mut Outbox,
) {
    let mut model = question.configuration().clone();
    let mut settings = question.settings.clone();
    let mut fields =
        Fields { lit: state.lit, asked: state.asked.take(), complaints: &answer.complaints, shown };
    let (loaded, asked) =
        questions::show(ui, &mut fields, question.topic, &mut model, &mut settings, &mut state.budget_draft);
    ui.add_space(8.0);
    widgets::section(ui, "Model");
    let changed = model::show(ui, &mut fields, &mut model, question.is_about_the_scene());
    if loaded || changed {
        out.push(Command::Calculate(Calculate::Change(Box::new(model))));
    }
    if asked {
        out.push(Command::Calculate(Calculate::Settle(Box::new(settings))));
    }
}

fn curves(ui: &mut Ui, session: &Session, charts: &[ChartSpec], height: f32, out: &mut Outbox) {
    for spec in charts {
        chart_view::show(ui, session, spec, height, out);
        ui.add_space(10.0);
    }
}

fn compared(
    ui: &mut Ui,
    session: &Session,
    question: &Question,
    answer: &Answer,
    table: &answer::Table,
    out: &mut Outbox,
) {
    ScrollArea::both().id_salt("side by side").auto_shrink(false).show(ui, |ui| {
        let complaints: Vec<_> = answer.complaints.iter().map(|complaint| (complaint, false)).collect();
        results::complaints(ui, true, &complaints);
        if let Some(column) = table_view::show(ui, table, question.selected) {
            out.push(Command::Calculate(Calculate::Select(column)));
            out.push(Command::Calculate(Calculate::Show(Topic::Memory)));
        }
        ui.add_space(12.0);
        ui.columns(2, |columns| {
            for (column, spec) in columns.iter_mut().zip(&answer.charts) {
                chart_view::show(column, session, spec, 190.0, out);
            }
        });
    });
}

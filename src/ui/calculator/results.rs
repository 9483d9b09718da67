//! Figures with their formulas; every factor leads to its input.

use egui::{CursorIcon, Label, RichText, Sense, Ui, vec2};

use crate::cost::{Factor, Piece, Quantity, Unit, grouped};

use super::super::style::{Colors, bold};
use super::super::widgets;
use super::answer::{Complaint, Fact, Section};
use super::curves::both_units;
use super::fields::Place;

/// Which fields the formulas point at in this frame.
#[derive(Default)]
pub struct Pointing {
    /// The factor under the pointer.
    pub lit: Option<Place>,
    /// The factor that was clicked.
    pub asked: Option<Place>,
}

const LABEL_WIDTH: f32 = 150.0;

/// Draws what is wrong with no field on screen, and why there are no figures.
pub fn complaints(ui: &mut Ui, has_figures: bool, complaints: &[(&Complaint, bool)]) {
    let bad = Colors::in_use(ui).bad;
    for (complaint, _) in complaints.iter().filter(|(_, shown)| !shown) {
        ui.add(Label::new(RichText::new(&complaint.text).color(bad)).wrap());
    }
    if !has_figures && !complaints.is_empty() {
        widgets::caption(ui, "The figures come back when the input marked in red is mended.");
    }
}

/// Draws sections of figures.
pub fn show(ui: &mut Ui, sections: &[Section], pointing: &mut Pointing) {
    ui.spacing_mut().interact_size.y = 15.0;
    for (index, section) in sections.iter().enumerate() {
        if !section.title.is_empty() {
            ui.add_space(if index == 0 { 0.0 } else { 8.0 });
            widgets::section(ui, &section.title);
            ui.add_space(2.0);
        }
        for row in &section.rows {
            quantity(ui, row, section.group, pointing);
        }
        for line in &section.facts {
            fact(ui, line);
        }
    }
}

fn quantity(ui: &mut Ui, quantity: &Quantity, group: Option<usize>, pointing: &mut Pointing) {
    let both = if quantity.unit == Unit::Bytes { both_units(quantity.value) } else { String::new() };
    line(ui, quantity.label, &quantity.unit.exact(quantity.value), &both, |ui| {
        let Quantity { formula, value, .. } = quantity;
        if formula.numbers() == grouped(*value) {
            return;
        }
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 1.0);
            let colors = Colors::in_use(ui);
            if formula.symbols() != formula.numbers() {
                pieces(ui, &formula.symbol_pieces(), colors.muted, group, pointing);
                ui.label(RichText::new("  =  ").size(12.0).color(colors.muted));
            }
            pieces(ui, &formula.number_pieces(), colors.ink, group, pointing);
        });
    });
}

fn fact(ui: &mut Ui, fact: &Fact) {
    line(ui, &fact.label, &fact.value, "", |ui| {
        if !fact.source.is_empty() {
            let text = RichText::new(&fact.source).size(12.0).color(Colors::in_use(ui).muted);
            ui.add(Label::new(text).wrap());
        }
    });
}

/// A name; a value with a remark beside it, and where it comes from below.
fn line(ui: &mut Ui, label: &str, value: &str, remark: &str, below: impl FnOnce(&mut Ui)) {
    let colors = Colors::in_use(ui);
    ui.horizontal_top(|ui| {
        let layout = egui::Layout::left_to_right(egui::Align::Min);
        ui.allocate_ui_with_layout(vec2(LABEL_WIDTH, 17.0), layout, |ui| {
            ui.set_width(LABEL_WIDTH);
            ui.add(Label::new(RichText::new(label).size(13.0).color(colors.muted)).wrap());
        });
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            ui.horizontal_wrapped(|ui| {
                let text = RichText::new(value).size(13.5).family(bold()).color(colors.ink);
                ui.add(Label::new(text).selectable(true));
                if !remark.is_empty() {
                    ui.label(RichText::new(remark).size(12.0).color(colors.muted));
                }
            });
            below(ui);
        });
    });
    ui.add_space(3.0);
}

fn pieces(
    ui: &mut Ui,
    pieces: &[Piece<'_>],
    color: egui::Color32,
    group: Option<usize>,
    pointing: &mut Pointing,
) {
    for piece in pieces {
        let text = RichText::new(&piece.text).size(12.0).color(color);
        match piece.factor {
            Some(factor) => self::factor(ui, text, factor, group, pointing),
            None => {
                ui.label(text);
            }
        }
    }
}

fn factor(ui: &mut Ui, text: RichText, factor: &Factor, group: Option<usize>, pointing: &mut Pointing) {
    let Some(field) = factor.input else {
        let hint = format!("{} = {}", factor.label, grouped(factor.value));
        ui.label(text).on_hover_text(hint);
        return;
    };
    let accent = Colors::in_use(ui).accent;
    let response = ui.add(Label::new(text.color(accent)).sense(Sense::click()));
    if response.contains_pointer() {
        pointing.lit = Some(Place { field, group });
    }
    let hint = format!("{} {} = {}", factor.label, factor.symbol, grouped(factor.value));
    let response = response.on_hover_cursor(CursorIcon::PointingHand).on_hover_text(hint);
    if response.clicked() {
        pointing.asked = Some(Place { field, group });
    }
}

//! The row above the board: which figure, which head, which stages.

use egui::{RichText, Ui};

use crate::figure::Study;
use crate::scene::{Position, Scene, Stage};
use crate::session::{Centre, Command, Edit, Session};

use super::style::Colors;
use super::{Action, Outbox, UiState, widgets};

/// The stages shown by the short form of the board: the scores that the weights are made of, where a bias is added to them.
pub fn three(scene: &Scene) -> [Stage; 3] {
    let scores = match scene.spec().position {
        Position::Alibi => Stage::MaskedScores,
        Position::None | Position::Rope { .. } | Position::Sinusoidal => Stage::ScaledScores,
    };
    [scores, Stage::Weights, Stage::Output]
}

/// What stands beside the head picker and the choice of stages take together, in points.
const ROOM_FOR_SHARING: f32 = 400.0;

/// Draws the row, or two where the centre is too narrow for one.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    // As wide as everything was in the frame before.
    let in_two = state.board.switch_width > ui.available_width();
    let gap = ui.spacing().item_spacing.x;
    let [mut first, mut second] = [0.0; 2];
    ui.horizontal(|ui| {
        first = ui.scope(|ui| centre_switch(ui, session, out)).response.rect.width();
        if !in_two {
            second = beside(ui, session, state, out);
        }
    });
    if in_two {
        ui.horizontal(|ui| second = beside(ui, session, state, out));
    }
    let width = first + gap + second;
    if (width > ui.available_width()) != in_two {
        ui.ctx().request_repaint();
    }
    state.board.switch_width = width;
}

/// Draws what stands beside the choice of figures and returns how wide it is, without the room left in the middle.
fn beside(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) -> f32 {
    let left = ui.scope(|ui| {
        closer_looks(ui, session, out);
        if matches!(session.centre(), Centre::Board | Centre::Study(_)) {
            head_picker(ui, session, out);
        }
    });
    let right = ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        if session.focus().is_some() {
            if ui.button("Back to the board").on_hover_text("Esc").clicked() {
                out.push(Command::Focus(None));
            }
        } else if session.gives_weights() && session.centre() == Centre::Board {
            let text = RichText::new("weights only").small().color(Colors::in_use(ui).muted);
            ui.label(text).on_hover_text("They were computed elsewhere; no other stage is known");
        } else if session.centre() == Centre::Board {
            stages(ui, session, state, out);
        }
        if session.centre() != Centre::Calculators
            && state.board.zoom.is_some()
            && ui.button("Fit").on_hover_text("Fit the figure into the centre").clicked()
        {
            state.board.zoom = None;
        }
        ui.min_rect().width()
    });
    left.response.rect.width() + ui.spacing().item_spacing.x + right.inner
}

fn stages(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    let shown = &session.document().scene().spec().view.stages;
    let current = if *shown == Stage::ALL && !state.board.is_shortened { 5 } else { 3 };
    let chosen = widgets::segments(ui, &[(3, "scores weights output"), (5, "all five")], current);
    match chosen {
        Some(5) => {
            state.board.insist_on_five = true;
            out.edit(Edit::SetStages(Stage::ALL.to_vec()));
        }
        Some(_) => out.edit(Edit::SetStages(three(session.scene()).to_vec())),
        None => {}
    }
}

fn centre_switch(ui: &mut Ui, session: &Session, out: &mut Outbox) {
    let mut options = vec![(Centre::Board, "board")];
    if session.has_projections() {
        options.push((Centre::Projections, "projections"));
    }
    if session.scene().heads() > 1 {
        options.push((Centre::Heads, "all heads"));
    }
    if session.has_positions() {
        options.push((Centre::Positions, "positions"));
    }
    options.push((Centre::Calculators, "calculators"));
    if let Some(centre) = widgets::segments(ui, &options, session.centre()) {
        out.push(Command::Show(centre));
    }
}

/// The closer looks behind one word, which names the one in the centre.
fn closer_looks(ui: &mut Ui, session: &Session, out: &mut Outbox) {
    let current = match session.centre() {
        Centre::Study(study) => Some(study),
        _ => None,
    };
    let colors = Colors::in_use(ui);
    let (text, ink) = match current {
        Some(study) => (study.label(), colors.accent),
        None => ("closer looks", colors.muted),
    };
    let button = egui::Button::new(RichText::new(format!("{text} ▾")).color(ink).size(12.5)).frame(false);
    let (response, _) = egui::containers::menu::MenuButton::from_button(button).ui(ui, |ui| {
        for study in Study::ALL {
            let entry = egui::Button::selectable(current == Some(study), study.label());
            if ui.add_enabled(Action::ShowStudy(study).is_enabled(session), entry).clicked() {
                out.push(Command::Show(Centre::Study(study)));
            }
        }
    });
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "Closer looks"));
    response.on_hover_text("Number formats, tiles, decoding, gradients, linear attention");
}

/// Query heads with the KV head that each reads.
fn head_picker(ui: &mut Ui, session: &Session, out: &mut Outbox) {
    let scene = session.scene();
    if scene.heads() < 2 {
        return;
    }
    let grouped = scene.kv_heads() != scene.heads();
    let per_kv_head = scene.heads() / scene.kv_heads().max(1);
    let name = |head: usize| {
        if grouped {
            format!("head {} · KV {}", head + 1, head / per_kv_head.max(1) + 1)
        } else {
            format!("head {}", head + 1)
        }
    };
    let combo = egui::ComboBox::from_id_salt("head picker")
        .selected_text(name(session.head()))
        .width(96.0)
        .show_ui(ui, |ui| {
            for head in 0..scene.heads() {
                if ui.selectable_label(head == session.head(), name(head)).clicked() {
                    out.push(Command::SelectHead(head));
                }
            }
        });
    combo.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Query head"));
    if grouped {
        let text = format!("{} query heads share {} KV heads", scene.heads(), scene.kv_heads());
        // Beside the stages at the right; where there is no room for it, it is in the hover text alone.
        if ui.available_width() > ROOM_FOR_SHARING {
            ui.label(RichText::new(&text).small().color(Colors::in_use(ui).muted));
        }
        combo.response.on_hover_text(text);
    }
}

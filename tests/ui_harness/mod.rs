//! The window without a shell, for tests that drive it by the names of its parts.

use egui::Vec2;
use egui_kittest::Harness;
use qkv::session::{Effect, Session};
use qkv::ui::{Outbox, UiState, Wish};

/// Commands are applied, actions are taken; effects and the other wishes are kept.
pub struct Desk {
    pub session: Session,
    pub ui: UiState,
    #[allow(dead_code, reason = "not every test looks at them")]
    pub effects: Vec<Effect>,
    #[allow(dead_code, reason = "not every test looks at them")]
    pub wishes: Vec<Wish>,
}

/// The smallest window that must show everything at once.
pub const SMALL: Vec2 = Vec2::new(1280.0, 800.0);

/// The window of a session, drawn until nothing moves.
pub fn window_of(session: Session, size: Vec2) -> Harness<'static, Desk> {
    let desk = Desk { session, ui: UiState::default(), effects: Vec::new(), wishes: Vec::new() };
    let mut installed = false;
    let mut harness = Harness::builder().with_size(size).with_step_dt(0.02).build_ui_state(
        move |ui, desk: &mut Desk| {
            if !std::mem::replace(&mut installed, true) {
                qkv::app::install_fonts(ui.ctx());
                qkv::ui::style::install(ui.ctx());
                ui.ctx().set_theme(egui::ThemePreference::Light);
                // Fonts are there from the next pass on.
                ui.ctx().request_repaint();
                return;
            }
            let mut out = Outbox::default();
            if let Some(action) = qkv::ui::pressed(ui.ctx()) {
                out.wish(Wish::Act(action));
            }
            qkv::ui::show(ui, &desk.session, &mut desk.ui, &mut out);
            for wish in std::mem::take(&mut out.wishes) {
                let Wish::Act(action) = wish else {
                    desk.wishes.push(wish);
                    continue;
                };
                match action.command(&desk.session) {
                    Some(command) => out.push(command),
                    None => qkv::ui::act(action, ui.ctx(), &desk.session, &mut desk.ui, &mut out),
                }
            }
            for command in out.commands {
                desk.effects.extend(desk.session.apply(command));
            }
        },
        desk,
    );
    harness.run_ok();
    harness
}

/// Every text that was drawn in the last frame.
pub fn texts<State>(harness: &Harness<'_, State>) -> Vec<String> {
    fn collect(shape: &egui::Shape, texts: &mut Vec<String>) {
        match shape {
            egui::Shape::Text(text) => texts.push(text.galley.text().to_owned()),
            egui::Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    for clipped in &harness.output().shapes {
        collect(&clipped.shape, &mut texts);
    }
    texts
}

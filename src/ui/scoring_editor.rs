//! How scores are made: the scorer, its scale and its cap.

use egui::{DragValue, RichText, Ui};

use crate::scene::{MatrixSource, Scene, ScoringSpec};
use crate::session::Edit;

use super::settings_panel::{choice, drag_gesture};
use super::style::Colors;
use super::{Outbox, UiState, widgets};

/// The scorers without their numbers.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    ScaledDot,
    Dot,
    Scale,
    Additive,
    General,
}

impl Kind {
    fn of(scoring: &ScoringSpec) -> Self {
        match scoring {
            ScoringSpec::ScaledDot => Self::ScaledDot,
            ScoringSpec::Dot => Self::Dot,
            ScoringSpec::Scale(_) => Self::Scale,
            ScoringSpec::Additive { .. } => Self::Additive,
            ScoringSpec::General { .. } => Self::General,
        }
    }

    /// The scorer with sensible numbers for this scene.
    fn with_numbers(self, scene: &Scene) -> ScoringSpec {
        match self {
            Self::ScaledDot => ScoringSpec::ScaledDot,
            Self::Dot => ScoringSpec::Dot,
            Self::Scale => ScoringSpec::Scale(default_scale(scene)),
            // The identity scores as the plain dot product does, so that every change of W shows.
            Self::General => ScoringSpec::General { w: MatrixSource::Identity { n: scene.d_k() } },
            Self::Additive => {
                // The hidden size and the draws of the classic example: 8 units, seed 0, factor 0.5, drawn one after another.
                let (d_att, d_k) = (8, scene.d_k());
                let randn = |rows: usize, cols: usize, skip: usize| MatrixSource::Randn {
                    rows,
                    cols,
                    seed: 0,
                    skip,
                    factor: 0.5,
                };
                ScoringSpec::Additive {
                    w_q: randn(d_att, d_k, 0),
                    w_k: randn(d_att, d_k, d_att * d_k),
                    v: randn(1, d_att, 2 * d_att * d_k),
                }
            }
        }
    }
}

fn default_scale(scene: &Scene) -> f64 {
    1.0 / (scene.d_k().max(1) as f64).sqrt()
}

/// Draws scorer, scale and cap.
pub fn show(ui: &mut Ui, scene: &Scene, state: &mut UiState, out: &mut Outbox) {
    let options = [
        (Kind::ScaledDot, "scaled dot"),
        (Kind::Dot, "dot"),
        (Kind::Scale, "own scale"),
        (Kind::Additive, "additive"),
        (Kind::General, "general"),
    ];
    let hint = "Scaled dot: q·k / √d_k. Dot: q·k. Own scale: q·k times a number. Additive: v·tanh(W_q q + W_k k). General: q·W·k";
    let scoring = &scene.spec().scoring;
    if let Some(kind) = choice(ui, "Scoring", &options, Kind::of(scoring), hint) {
        out.edit(Edit::SetScoring(kind.with_numbers(scene)));
    }
    scale(ui, scene, state, out);
    softcap(ui, scene, state, out);
}

fn scale(ui: &mut Ui, scene: &Scene, state: &mut UiState, out: &mut Outbox) {
    match &scene.spec().scoring {
        ScoringSpec::Scale(current) => {
            let mut value = *current;
            let response = widgets::setting(ui, "Scale", |ui| {
                ui.add(DragValue::new(&mut value).speed(0.005).max_decimals(6))
                    .on_hover_text("Every raw score is multiplied by this; the mask and biases are not")
            });
            if response.changed() {
                out.edit_in(Edit::SetScoring(ScoringSpec::Scale(value)), drag_gesture(state, &response));
            }
        }
        scoring => {
            let text = match scoring {
                ScoringSpec::ScaledDot => format!("1/√{} = {:.4}", scene.d_k(), default_scale(scene)),
                _ => "1".to_owned(),
            };
            widgets::setting(ui, "Scale", |ui| ui.label(RichText::new(text).color(Colors::in_use(ui).ink)));
        }
    }
}

fn softcap(ui: &mut Ui, scene: &Scene, state: &mut UiState, out: &mut Outbox) {
    let current = scene.spec().softcap;
    let mut capped = current.is_some();
    let mut value = current.unwrap_or(30.0);
    let mut changed = None;
    widgets::setting(ui, "Soft cap", |ui| {
        let check = ui
            .checkbox(&mut capped, "")
            .on_hover_text("c·tanh(s/c), applied to the scaled scores before the mask");
        check.widget_info(|| egui::WidgetInfo::selected(egui::Role::CheckBox, true, capped, "Soft cap"));
        if check.changed() {
            out.edit(Edit::SetSoftcap(capped.then_some(value)));
        }
        if current.is_some() {
            let field = ui.add(DragValue::new(&mut value).speed(0.1).range(0.01..=1e6).max_decimals(4));
            let field = widgets::named(field, "Soft cap value");
            if field.changed() {
                changed = Some(field);
            }
        }
        check
    });
    if let Some(field) = changed {
        out.edit_in(Edit::SetSoftcap(Some(value)), drag_gesture(state, &field));
    }
}

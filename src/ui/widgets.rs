//! Small pieces that several panels use, so that they look alike.

use egui::{Response, RichText, Ui, WidgetText};

use super::style::{Colors, SECTION_SIZE, bold};

/// The title of a section inside a panel.
pub fn section(ui: &mut Ui, text: &str) -> Response {
    let color = Colors::in_use(ui).ink;
    ui.label(RichText::new(text).family(bold()).size(SECTION_SIZE).color(color))
}

/// A caption in the muted colour.
pub fn caption(ui: &mut Ui, text: impl Into<String>) -> Response {
    let color = Colors::in_use(ui).muted;
    ui.label(RichText::new(text).small().color(color))
}

/// A name at the left and something at the right, as settings are.
pub fn setting(ui: &mut Ui, name: &str, add: impl FnOnce(&mut Ui) -> Response) -> Response {
    ui.horizontal(|ui| {
        let color = Colors::in_use(ui).muted;
        let label = ui.label(RichText::new(name).color(color));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| add(ui).labelled_by(label.id))
            .inner
    })
    .inner
}

/// Settings that are seldom needed, behind their title. What is unusual among them is named beside it, so that nothing is hidden.
pub fn folded(ui: &mut Ui, title: &str, unusual: &[String], settings: impl FnOnce(&mut Ui)) {
    let colors = Colors::in_use(ui);
    let text = match unusual {
        [] => RichText::new(title).color(colors.muted),
        unusual => RichText::new(format!("{title}: {}", unusual.join(", "))).color(colors.accent),
    };
    let id = ui.make_persistent_id(title);
    let mut fold =
        egui::collapsing_header::CollapsingState::load_with_default_open(ui.ctx(), id, !unusual.is_empty());
    ui.horizontal(|ui| {
        fold.show_toggle_button(ui, egui::collapsing_header::paint_default_icon);
        // A long list is shortened instead of running out of the panel.
        let header = ui.add(egui::Button::new(text.clone()).frame(false).truncate());
        if header.on_hover_text(text.text()).clicked() {
            fold.toggle(ui);
        }
    });
    fold.show_body_unindented(ui, settings);
}

/// A dialog over the dimmed window.
pub fn modal(ui: &Ui, id: &str) -> egui::Modal {
    let frame = egui::Frame::popup(ui.style()).inner_margin(egui::Margin::same(18)).corner_radius(10);
    egui::Modal::new(egui::Id::unique(id)).frame(frame)
}

/// Gives a number field a name of its own where no label stands beside it.
pub fn named(response: Response, name: &str) -> Response {
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::SpinButton, true, name));
    response
}

/// A button without a ground, for things at the edge of attention.
pub fn quiet_button(ui: &mut Ui, text: impl Into<WidgetText>, name: &str) -> Response {
    let text: WidgetText = text.into();
    let response = ui.add(egui::Button::new(text).frame(false));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, ui.is_enabled(), name));
    response.on_hover_text(name)
}

/// A menu behind a word without a ground, for things at the edge of attention.
pub fn quiet_menu(ui: &mut Ui, text: &str, name: &str, entries: impl FnOnce(&mut Ui)) {
    let button = egui::Button::new(RichText::new(text).small().color(Colors::in_use(ui).accent)).frame(false);
    let (response, _) = egui::containers::menu::MenuButton::from_button(button).ui(ui, entries);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name));
    response.on_hover_text(name);
}

/// A choice among a few, as one row of segments with one of them lit.
pub fn segments<T: Copy + PartialEq>(ui: &mut Ui, options: &[(T, &str)], current: T) -> Option<T> {
    let colors = Colors::in_use(ui);
    let mut chosen = None;
    egui::Frame::new().fill(colors.field).corner_radius(11).inner_margin(egui::Margin::symmetric(3, 2)).show(
        ui,
        |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            ui.horizontal(|ui| {
                // A row that is filled from the right takes its segments from the last to the first.
                let mut ordered: Vec<&(T, &str)> = options.iter().collect();
                if ui.layout().prefer_right_to_left() {
                    ordered.reverse();
                }
                for (value, text) in ordered {
                    let lit = *value == current;
                    let ink = if lit { colors.accent } else { colors.muted };
                    let button = egui::Button::new(RichText::new(*text).color(ink).size(12.5))
                        .fill(if lit { colors.panel } else { egui::Color32::TRANSPARENT })
                        .corner_radius(9)
                        .selected(false);
                    if ui.add(button).clicked() {
                        chosen = Some(*value);
                    }
                }
            });
        },
    );
    chosen
}

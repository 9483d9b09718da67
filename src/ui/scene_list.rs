//! The bundled scenes by topic, with a filter.

use egui::{RichText, ScrollArea, TextEdit, Ui};

use crate::session::{Command, Origin, Session};

use super::style::Colors;
use super::{Outbox, UiState, widgets};

/// Draws the list.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    let field = ui.add(
        TextEdit::singleline(&mut state.search)
            .hint_text("Find a scene")
            .desired_width(f32::INFINITY)
            .margin(egui::Margin::symmetric(8, 4)),
    );
    field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Find a scene"));
    if std::mem::take(&mut state.focus_search) {
        field.request_focus();
    }
    ui.add_space(4.0);
    ScrollArea::vertical().id_salt("scene list").auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        let wanted = state.search.trim().to_lowercase();
        let mut topic = "";
        let mut found = 0;
        for lesson in crate::scene::catalogue() {
            let matches = |text: &str| text.to_lowercase().contains(&wanted);
            if !wanted.is_empty() && !matches(&lesson.title) && !matches(&lesson.topic) {
                continue;
            }
            found += 1;
            if lesson.topic != topic {
                topic = &lesson.topic;
                ui.add_space(7.0);
                widgets::caption(ui, topic);
                ui.add_space(1.0);
            }
            entry(ui, session, lesson, out);
        }
        if found == 0 {
            ui.label(
                RichText::new("No scene has this in its title or topic").color(Colors::in_use(ui).muted),
            );
        }
        ui.add_space(6.0);
    });
}

fn entry(ui: &mut Ui, session: &Session, lesson: &crate::scene::Lesson, out: &mut Outbox) {
    let colors = Colors::in_use(ui);
    let open = *session.document().origin() == Origin::Bundled(lesson.name);
    let ink = if open { colors.accent } else { colors.ink };
    let width = ui.available_width();
    let text = RichText::new(&lesson.title).color(ink);
    let button = egui::Button::new(text)
        .fill(if open { colors.accent_soft } else { egui::Color32::TRANSPARENT })
        .stroke(egui::Stroke::NONE)
        .truncate();
    let justified = egui::Layout::top_down_justified(egui::Align::Min);
    let size = egui::vec2(width, 22.0);
    let response = ui.allocate_ui_with_layout(size, justified, |ui| ui.add(button)).inner;
    if response.on_hover_text(lesson.title.as_str()).clicked() {
        out.push(Command::OpenBundled(lesson.name));
    }
}

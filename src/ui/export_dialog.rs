//! Export: format, size, resolution, ground, text, and a preview that is the very picture written.

use std::sync::Arc;

use egui::{ComboBox, DragValue, RichText, TextureHandle, TextureOptions, Ui, vec2};

use crate::export::{ExportOptions, Format, Ground, TableFormat, TextMode};
use crate::figure::{Drawing, FigureTheme, MatrixId};
use crate::scene::Stage;
use crate::session::{Command, FigureExport, Session};

use super::figures::{BoardForm, FigureChoice};
use super::settings_panel::choice;
use super::style::Colors;
use super::{Outbox, UiState, widgets};

/// What the user has chosen so far.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportState {
    /// Which figure.
    pub choice: FigureChoice,
    /// As what.
    pub format: Format,
    /// Width on the slide in centimetres.
    pub width_cm: f32,
    /// Resolution of a PNG.
    pub dpi: f32,
    /// No ground at all.
    pub transparent: bool,
    /// Dark or light colours.
    pub theme: FigureTheme,
    /// Text as text, where the format has a choice.
    pub live_text: bool,
    /// Stages and digits of the board; nothing is as on screen.
    pub form: Option<BoardForm>,
    /// Whether a trace is written to the last term; nothing is as in the inspector.
    pub every_term: Option<bool>,
    /// Whether the width was set by hand; otherwise it follows the figure's own size.
    pub own_width: bool,
}

impl ExportState {
    /// Sensible choices for the figure in the centre.
    pub fn new(choice: FigureChoice) -> Self {
        Self {
            choice,
            format: Format::Svg,
            width_cm: 16.0,
            dpi: 300.0,
            transparent: true,
            theme: FigureTheme::Light,
            every_term: None,
            live_text: false,
            form: None,
            own_width: false,
        }
    }

    fn options(&self, session: &Session) -> ExportOptions {
        ExportOptions {
            width_cm: self.own_width.then_some(self.width_cm),
            dpi: self.dpi,
            ground: if self.transparent {
                Ground::Transparent
            } else {
                Ground::Paper(self.theme.colors().paper)
            },
            text: if self.live_text { TextMode::Text } else { TextMode::Shapes },
            scene_source: Some(session.document().text_to_save().to_string()),
        }
    }
}

/// The picture of the preview and what it was made from.
#[derive(Default)]
pub struct Preview {
    key: Option<(Arc<Drawing>, Ground)>,
    texture: Option<TextureHandle>,
}

/// Draws the dialog; `None` closes it.
pub fn show(
    ui: &Ui,
    session: &Session,
    state: &mut UiState,
    mut export: ExportState,
    out: &mut Outbox,
) -> Option<ExportState> {
    let mut open = true;
    let drawing = {
        let form = export.form.clone().or_else(|| state.figures.form_on_screen().cloned());
        let every_term = export.every_term.unwrap_or(state.trace_in_full);
        state.figures.for_export(session, export.choice, export.theme, form.as_ref(), every_term)
    };
    if !export.own_width {
        export.width_cm = cm_from_pt(drawing.size.width);
    }
    let response = widgets::modal(ui, "export").show(ui.ctx(), |ui| {
        ui.set_width(860.0_f32.min(ui.ctx().content_rect().width() - 80.0));
        ui.label(RichText::new("Export a figure").family(super::style::bold()).size(16.0));
        ui.add_space(6.0);
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                ui.set_width(270.0);
                let on_screen = state.figures.form_on_screen().cloned();
                controls(ui, session, (on_screen, state.trace_in_full), &mut export, &drawing);
                ui.add_space(10.0);
                buttons(ui, session, &export, &drawing, out, &mut open);
            });
            ui.add_space(12.0);
            preview(ui, state, &export, &drawing);
        });
    });
    (open && !response.should_close()).then_some(export)
}

/// 1 cm = 72 / 2.54 points.
fn cm_from_pt(pt: f32) -> f32 {
    pt * 2.54 / 72.0
}

fn controls(
    ui: &mut Ui,
    session: &Session,
    (on_screen, trace_in_full): (Option<BoardForm>, bool),
    export: &mut ExportState,
    drawing: &Drawing,
) {
    widgets::setting(ui, "Figure", |ui| {
        let combo = ComboBox::from_id_salt("figure")
            .selected_text(export.choice.label())
            .width(150.0)
            .show_ui(ui, |ui| {
                for choice in FigureChoice::offered(session) {
                    if ui.selectable_label(choice == export.choice, choice.label()).clicked() {
                        export.choice = choice;
                    }
                }
            });
        combo.response
    });
    if export.choice == FigureChoice::Board {
        board_form(ui, session, on_screen, export);
    }
    if export.choice == FigureChoice::Trace {
        terms(ui, trace_in_full, export);
    }
    let formats = [(Format::Svg, "SVG"), (Format::Pdf, "PDF"), (Format::Png, "PNG")];
    let hint = "SVG and PDF stay sharp at every size; PNG is a picture";
    if let Some(format) = choice(ui, "Format", &formats, export.format, hint) {
        export.format = format;
        export.live_text = format == Format::Pdf;
    }
    let aspect = drawing.size.height / drawing.size.width.max(1.0);
    let field = widgets::setting(ui, "Width", |ui| {
        ui.add(
            DragValue::new(&mut export.width_cm).range(1.0..=200.0).speed(0.1).max_decimals(2).suffix(" cm"),
        )
    });
    export.own_width |= field.changed();
    widgets::setting(ui, "Height", |ui| ui.label(format!("{:.2} cm", export.width_cm * aspect)));
    match export.format {
        Format::Png => resolution(ui, aspect, export),
        Format::Svg | Format::Pdf => text_form(ui, export),
    }
    ground_and_colours(ui, export);
}

/// How many dots an inch, and what that comes to.
fn resolution(ui: &mut Ui, aspect: f32, export: &mut ExportState) {
    widgets::setting(ui, "Resolution", |ui| {
        ui.add(DragValue::new(&mut export.dpi).range(36.0..=1200.0).speed(1.0).max_decimals(0).suffix(" dpi"))
    });
    let pixels = |cm: f32| (cm / 2.54 * export.dpi).round();
    let size = format!("{} × {} px", pixels(export.width_cm), pixels(export.width_cm * aspect));
    widgets::setting(ui, "Pixels", |ui| ui.label(size));
}

fn text_form(ui: &mut Ui, export: &mut ExportState) {
    let options = [(false, "as shapes"), (true, "as text")];
    let hint = "Shapes look the same on every machine; text can be edited and searched";
    if let Some(live) = choice(ui, "Text", &options, export.live_text, hint) {
        export.live_text = live;
    }
}

fn ground_and_colours(ui: &mut Ui, export: &mut ExportState) {
    let grounds = [(true, "transparent"), (false, "paper")];
    if let Some(transparent) =
        choice(ui, "Ground", &grounds, export.transparent, "What lies behind the figure")
    {
        export.transparent = transparent;
    }
    let themes = [(FigureTheme::Light, "light"), (FigureTheme::Dark, "dark"), (FigureTheme::Print, "print")];
    if let Some(theme) =
        choice(ui, "Colours", &themes, export.theme, "Dark is for dark slides; print is plain black on white")
    {
        export.theme = theme;
    }
}

fn buttons(
    ui: &mut Ui,
    session: &Session,
    export: &ExportState,
    drawing: &Arc<Drawing>,
    out: &mut Outbox,
    open: &mut bool,
) {
    let figure = || {
        Arc::new(FigureExport {
            drawing: Arc::clone(drawing),
            format: export.format,
            options: export.options(session),
            suggested_name: format!("{}.{}", export.choice.file_stem(session), export.format.extension()),
        })
    };
    ui.horizontal(|ui| {
        let save = egui::Button::new(RichText::new("Save…").family(super::style::bold()));
        if ui.add(save).clicked() {
            out.push(Command::ExportFigure(figure()));
            *open = false;
        }
        if ui.button("Copy").on_hover_text("Put a picture of it on the clipboard").clicked() {
            out.push(Command::CopyFigure(figure()));
            *open = false;
        }
        if ui.button("Cancel").clicked() {
            *open = false;
        }
    });
}

/// The figure as the PNG writer draws it, at the resolution of this screen.
fn preview(ui: &mut Ui, state: &mut UiState, export: &ExportState, drawing: &Arc<Drawing>) {
    let colors = Colors::in_use(ui);
    let room = vec2(ui.available_width().max(120.0), 400.0);
    let scale = (room.x / drawing.size.width.max(1.0)).min(room.y / drawing.size.height.max(1.0));
    let size = vec2(drawing.size.width, drawing.size.height) * scale;
    let paper = export.theme.colors().paper;
    // A transparent figure is shown on the ground it is made for.
    let ground = Ground::Paper(paper);
    let preview = &mut state.figures.preview;
    let fresh = preview
        .key
        .as_ref()
        .is_some_and(|(old, old_ground)| Arc::ptr_eq(old, drawing) && *old_ground == ground);
    if !fresh {
        let pixels = crate::export::rasterize(drawing, scale * ui.ctx().pixels_per_point(), ground);
        preview.texture = pixels.ok().map(|picture| {
            let image =
                egui::ColorImage::from_rgba_unmultiplied([picture.width, picture.height], &picture.rgba);
            ui.ctx().load_texture("export preview", image, TextureOptions::LINEAR)
        });
        preview.key = Some((Arc::clone(drawing), ground));
    }
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Preview of the export"));
    if let Some(texture) = &preview.texture {
        let uv = egui::Rect::from_min_max(egui::Pos2::ZERO, egui::pos2(1.0, 1.0));
        ui.painter().image(texture.id(), rect, uv, egui::Color32::WHITE);
    }
    ui.painter().rect_stroke(rect, 0, egui::Stroke::new(1.0, colors.rule), egui::StrokeKind::Outside);
}

/// Every matrix of the head on screen, as text on the clipboard or in a file.
pub fn matrix_menus(ui: &mut Ui, session: &Session, out: &mut Outbox) {
    ui.separator();
    for (title, to_file) in [("Copy a matrix", false), ("Save a matrix", true)] {
        ui.menu_button(title, |ui| {
            for matrix in MATRICES.into_iter().filter(|matrix| session.matrix(*matrix).is_some()) {
                ui.menu_button(matrix.label(), |ui| {
                    for format in TableFormat::ALL {
                        if ui.button(format.name()).clicked() {
                            out.push(match to_file {
                                true => Command::ExportMatrix { matrix, format },
                                false => Command::CopyMatrix { matrix, format },
                            });
                        }
                    }
                });
            }
        });
    }
}

const MATRICES: [MatrixId; 11] = [
    MatrixId::Q,
    MatrixId::K,
    MatrixId::V,
    MatrixId::RawScores,
    MatrixId::ScaledScores,
    MatrixId::MaskedScores,
    MatrixId::Weights,
    MatrixId::DroppedWeights,
    MatrixId::Output,
    MatrixId::OutputBeforeDropout,
    MatrixId::FinalOutput,
];

/// Whether sums are written out.
fn terms(ui: &mut Ui, as_in_inspector: bool, export: &mut ExportState) {
    let options = [(false, "shortened"), (true, "every term")];
    let current = export.every_term.unwrap_or(as_in_inspector);
    if let Some(every) =
        choice(ui, "Sums", &options, current, "Long sums, with their middle left out or whole")
    {
        export.every_term = Some(every);
    }
}

/// Which stages of the board are written, and whether with digits. What is on screen depends on the window's size; a slide
/// need not.
fn board_form(ui: &mut Ui, session: &Session, on_screen: Option<BoardForm>, export: &mut ExportState) {
    let own = || BoardForm { stages: session.scene().spec().view.stages.clone(), digits: true };
    let form = export.form.clone().or(on_screen).unwrap_or_else(own);
    let stages = [(true, "all five"), (false, "three")];
    let hint = "All five stages, or scores, weights and output";
    if !session.gives_weights()
        && let Some(all) = choice(ui, "Stages", &stages, form.stages == Stage::ALL, hint)
    {
        let stages =
            if all { Stage::ALL.to_vec() } else { super::stage_switch::three(session.scene()).to_vec() };
        export.form = Some(BoardForm { stages, ..form });
    }
    let digits = [(true, "digits"), (false, "colours only")];
    if let Some(digits) =
        choice(ui, "Cells", &digits, form.digits, "Up to 64 positions a side can hold digits")
    {
        export.form = Some(BoardForm { digits, ..form });
    }
}

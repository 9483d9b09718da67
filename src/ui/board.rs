//! The centre: the figure, what the pointer and the keyboard do with its cells, and the notes below it.

use std::sync::Arc;

use egui::{ScrollArea, Sense, Ui, Vec2, vec2};

use crate::figure::{CellRef, Drawing, FigureOptions};
use crate::scene::{Orientation, Stage};
use crate::session::{Centre, Command, Session};

use super::board_keys::{keyboard, moved};
use super::cell_editor::{CellEditor, Ended};
use super::figures::BoardForm;
use super::paint::{PaintedDrawing, ScreenFromFigure};
use super::style::Colors;
use super::{Outbox, UiState, highlight, notes, stage_switch};

/// What the board remembers between frames.
#[derive(Default)]
pub struct BoardState {
    /// Screen points per figure point; `None` fits the figure into the centre.
    pub zoom: Option<f32>,
    /// The cell that the keyboard acts on.
    pub selected: Option<CellRef>,
    /// The number that is being typed.
    pub editor: Option<CellEditor>,
    /// Show all five stages even where they do not fit.
    pub insist_on_five: bool,
    /// Fewer stages are shown than the scene asks for, because they would be too small.
    pub is_shortened: bool,
    /// How wide the row above the figure would be in one line, in points.
    pub switch_width: f32,
    /// The form of the board, and what it was chosen by.
    form: Option<(FormKey, BoardForm)>,
    painted: PaintedDrawing,
}

const MARGIN: f32 = 20.0;
/// A figure is never blown up beyond this by fitting; a lone cell should not fill a wall.
const LARGEST_FIT: f32 = 1.6;

/// Draws the centre.
pub fn show(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    contents(ui, session, state, out);
    keyboard(ui, session, state, out);
}

/// Draws the centre as it stands, dimmed and without any interaction.
pub fn show_at_rest(ui: &mut Ui, session: &Session, state: &mut UiState) {
    ui.scope(|ui| {
        ui.disable();
        contents(ui, session, state, &mut Outbox::default());
    });
}

fn contents(ui: &mut Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    let inner = ui.max_rect().shrink2(vec2(MARGIN, 10.0));
    ui.scope_builder(egui::UiBuilder::new().max_rect(inner), |ui| {
        stage_switch::show(ui, session, state, out);
        ui.add_space(4.0);
        let with_notes = state.layout.notes && !state.layout.presenting && session.focus().is_none();
        let room = ui.available_size();
        let drawing = fitting_drawing(ui, session, state, room);
        ScrollArea::both().id_salt("board").auto_shrink(false).show(ui, |ui| {
            let fit = fit_scale(&drawing, room, with_notes, session.focus().is_some());
            figure(ui, session, state, out, &drawing, fit, room);
            if with_notes {
                ui.add_space(10.0);
                notes::show(ui, session, state, out);
            }
        });
    });
}

/// Draws the last good figure into `area`, dimmed and without any interaction.
pub fn show_dimmed(ui: &Ui, session: &Session, state: &mut UiState, area: egui::Rect) {
    let drawing = fitting_drawing(ui, session, state, area.size());
    let scale = fit_scale(&drawing, area.size(), false, false);
    let painter = ui.painter_at(area);
    state.board.painted.paint(&painter, &drawing, ScreenFromFigure { origin: area.min, scale });
    let veil = Colors::in_use(ui).paper.gamma_multiply(0.6);
    painter.rect_filled(area, 0, veil);
}

/// From this scale on the digits of a board are easy to read.
const COMFORTABLE: f32 = 0.72;
/// Below this scale they cannot be read at all, and the board shows colours only.
const READABLE: f32 = 0.55;

/// From so many keys on a board holds no digits, and each of its score matrices has one fixed extent.
const LARGE: usize = 256;

/// What the form of a board is chosen by. An edited number does not choose it anew, so that the board does not jump.
#[derive(Clone, Debug, PartialEq)]
struct FormKey {
    sizes: [usize; 4],
    decimals: usize,
    orientation: Orientation,
    stages: Vec<Stage>,
    short: [Stage; 3],
    insist_on_five: bool,
    room: f32,
}

/// The figure in the centre, the board in the form that fits.
fn fitting_drawing(ui: &Ui, session: &Session, state: &mut UiState, room: Vec2) -> Arc<Drawing> {
    let theme = ui.ctx().theme();
    let (scene, view) = (session.scene(), &session.document().scene().spec().view);
    let key = FormKey {
        sizes: [scene.n_q(), scene.n_k(), scene.d_k(), scene.d_v()],
        decimals: view.decimals,
        orientation: view.orientation,
        stages: view.stages.clone(),
        short: stage_switch::three(scene),
        insist_on_five: state.board.insist_on_five,
        room: room.x.round(),
    };
    let chosen = state.board.form.as_ref().filter(|(old, _)| *old == key).map(|(_, form)| form.clone());
    let is_board = session.centre() == Centre::Board && session.focus().is_none();
    let form = match chosen {
        Some(form) => form,
        None if !is_board => BoardForm { stages: view.stages.clone(), digits: true },
        None => {
            let form = fitting_form(session, state, theme, room.x);
            state.board.form = Some((key, form.clone()));
            form
        }
    };
    state.board.is_shortened = is_board && form.stages != view.stages;
    state.figures.centre(session, theme, &form)
}

/// A board whose five stages would be too small shows scores, weights and output, until the user insists on five; one whose
/// digits could not be read even then shows colours only.
fn fitting_form(session: &Session, state: &mut UiState, theme: egui::Theme, room: f32) -> BoardForm {
    let own = session.document().scene().spec().view.stages.clone();
    let may_shorten = own == Stage::ALL && !state.board.insist_on_five;
    let short = if may_shorten { stage_switch::three(session.scene()).to_vec() } else { own.clone() };
    let mut scale = |form: &BoardForm| room / state.figures.centre(session, theme, form).size.width.max(1.0);
    let full = BoardForm { stages: own.clone(), digits: true };
    // A large board takes long to draw; one that is sure to be too wide is not tried out.
    let n_wide = own.iter().filter(|stage| **stage != Stage::Output).count();
    let is_colored = session.scene().n_k() > LARGE;
    let too_wide = is_colored && room < COMFORTABLE * n_wide as f32 * FigureOptions::default().color_side;
    if !too_wide && scale(&full) >= COMFORTABLE {
        return full;
    }
    let shorter = BoardForm { stages: short, digits: true };
    if scale(&shorter) >= READABLE { shorter } else { BoardForm { digits: false, ..shorter } }
}

/// The scale at which the whole figure is seen; with notes below, a tall figure leaves them a few lines.
fn fit_scale(drawing: &Drawing, room: Vec2, with_notes: bool, alone: bool) -> f32 {
    let (width, height) = (drawing.size.width.max(1.0), drawing.size.height.max(1.0));
    let height_room = if with_notes { (room.y - 96.0).max(room.y * 0.6) } else { room.y - 6.0 };
    let largest = if alone { 3.0 } else { LARGEST_FIT };
    ((room.x - 2.0) / width).min(height_room / height).min(largest).max(0.05)
}

fn figure(
    ui: &mut Ui,
    session: &Session,
    state: &mut UiState,
    out: &mut Outbox,
    drawing: &Arc<Drawing>,
    fit: f32,
    room: Vec2,
) {
    let scale = state.board.zoom.unwrap_or(fit);
    let size = vec2(drawing.size.width, drawing.size.height) * scale;
    let (rect, response) = ui.allocate_exact_size(vec2(size.x.max(room.x - 2.0), size.y), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &drawing.title));
    // A matrix on its own stands in the middle; a board keeps its place at the left.
    let shift = if session.focus().is_some() { ((rect.width() - size.x) / 2.0).max(0.0) } else { 0.0 };
    let transform = ScreenFromFigure { origin: rect.min + vec2(shift, 0.0), scale };
    state.board.painted.paint(&ui.painter_at(rect.expand(2.0)), drawing, transform);
    zoom(ui, state, &response, scale);
    let mut hovered = None;
    for (index, grid) in drawing.grids.iter().enumerate() {
        let area = transform.rect(grid.rect);
        // One matrix may stand in a figure more than once; its place among the grids tells the copies apart.
        let id = ui.scope_id().with(("grid", index));
        let response = ui.interact(area, id, Sense::click());
        let reading = drawing.reading(index);
        let what = reading.map_or(grid.matrix.label(), |reading| reading.name.as_str());
        let name = format!("{what}, head {}, {} × {}", grid.head + 1, grid.rows, grid.cols);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &name));
        let Some(pointer) = response.hover_pos().or(response.interact_pointer_pos()) else { continue };
        let Some(cell) = grid.cell_at(transform.figure_point(pointer)) else { continue };
        hovered = Some((grid.head, cell));
        if response.double_clicked() && cell.matrix.is_of_scene() {
            out.push(double_click(session, cell));
        } else if response.clicked() {
            click(session, state, out, grid.head, cell);
        }
        response.on_hover_ui_at_pointer(|ui| match reading {
            Some(reading) => highlight::reading(ui, session, reading, cell),
            None => highlight::tooltip(ui, session, grid.head, cell),
        });
    }
    let painter = ui.painter_at(rect.expand(3.0));
    if let Some((head, cell)) = hovered {
        highlight::paint_hover(&painter, Colors::in_use(ui), drawing, transform, head, cell);
    }
    if let Some(cell) = state.board.selected {
        highlight::paint_selection(&painter, Colors::in_use(ui), drawing, transform, session.head(), cell);
    }
    editor(ui, session, state, out, drawing, transform);
}

fn zoom(ui: &Ui, state: &mut UiState, response: &egui::Response, scale: f32) {
    if response.contains_pointer() {
        let delta = ui.input(egui::InputState::zoom_delta);
        if delta != 1.0 {
            state.board.zoom = Some((scale * delta).clamp(0.1, 8.0));
        }
    }
}

/// Enlarges a matrix and back. Weights that are the whole board cannot grow; whoever means to edit them learns why not.
fn double_click(session: &Session, cell: CellRef) -> Command {
    match session.focus() {
        Some(_) => Command::Focus(None),
        None if session.gives_weights() && session.centre() == Centre::Board => {
            Command::Say(session.why_not_editable(cell.matrix).unwrap_or_default())
        }
        None => Command::Focus(Some(cell.matrix)),
    }
}

fn click(session: &Session, state: &mut UiState, out: &mut Outbox, head: usize, cell: CellRef) {
    if head != session.head() {
        out.push(Command::SelectHead(head));
    }
    // What is no matrix of the scene has nothing for the keyboard to act on.
    state.board.selected = Some(cell).filter(|cell| cell.matrix.is_of_scene());
    if cell.matrix.is_score_like() {
        out.push(Command::Pin { query: cell.row, key: cell.col });
    }
}

fn editor(
    ui: &mut Ui,
    session: &Session,
    state: &mut UiState,
    out: &mut Outbox,
    drawing: &Drawing,
    transform: ScreenFromFigure,
) {
    let (Some(editor), Some(cell)) = (&mut state.board.editor, state.board.selected) else { return };
    let Some(grid) = drawing.grid(cell.matrix) else {
        state.board.editor = None;
        return;
    };
    let rect = transform.rect(grid.cell_rect(cell.row, cell.col));
    if let Some(ended) = editor.show(ui, rect, out) {
        state.board.editor = None;
        let (down, right) = match ended {
            Ended::Here => (0, 0),
            Ended::Down => (1, 0),
            Ended::Right => (0, 1),
            Ended::Left => (0, -1),
        };
        if let Some(moved) = moved(session, cell, down, right) {
            state.board.selected = Some(moved);
        }
    }
}

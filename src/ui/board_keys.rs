//! What the keyboard does with the selected cell of the board: arrows, the clipboard, typing.

use egui::{Key, Modifiers, Ui};

use crate::figure::{CellRef, MatrixId};
use crate::session::{Command, Edit, Session};

use super::cell_editor::{CellEditor, parse_block};
use super::{Outbox, UiState};

/// The cell `down` rows and `right` columns away, if the matrix has it.
pub fn moved(session: &Session, cell: CellRef, down: isize, right: isize) -> Option<CellRef> {
    let matrix = session.matrix(cell.matrix)?;
    let row = cell.row.checked_add_signed(down).filter(|row| *row < matrix.rows())?;
    let col = cell.col.checked_add_signed(right).filter(|col| *col < matrix.cols())?;
    Some(CellRef { row, col, ..cell })
}

/// Keys act on the selected cell unless a text field or a dialog has them.
pub fn keyboard(ui: &Ui, session: &Session, state: &mut UiState, out: &mut Outbox) {
    if state.board.editor.is_some()
        || state.dialog.is_some()
        || session.question().is_some()
        || ui.ctx().egui_wants_keyboard_input()
    {
        return;
    }
    let escape = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    if escape {
        escape_one_layer(session, state, out);
        return;
    }
    let Some(cell) = state.board.selected else { return };
    if let Some(next) = arrow(ui, session, cell) {
        state.board.selected = Some(next);
        if next.matrix.is_score_like() {
            out.push(Command::Pin { query: next.row, key: next.col });
        }
        return;
    }
    clipboard(ui, session, cell, out);
    typing(ui, session, state, out, cell);
}

/// Esc closes one layer: the enlarged matrix, presenting, the selection, the pin.
fn escape_one_layer(session: &Session, state: &mut UiState, out: &mut Outbox) {
    if session.focus().is_some() {
        out.push(Command::Focus(None));
    } else if state.layout.presenting {
        state.layout.presenting = false;
    } else if state.board.selected.is_some() {
        state.board.selected = None;
    } else {
        out.push(Command::Unpin);
    }
}

fn arrow(ui: &Ui, session: &Session, cell: CellRef) -> Option<CellRef> {
    // K is drawn transposed on the board: right is the next key.
    let transposed = cell.matrix == MatrixId::K && session.focus().is_none();
    let steps =
        [(Key::ArrowDown, 1, 0), (Key::ArrowUp, -1, 0), (Key::ArrowRight, 0, 1), (Key::ArrowLeft, 0, -1)];
    let (_, down, right) =
        steps.into_iter().find(|(key, ..)| ui.input_mut(|input| input.consume_key(Modifiers::NONE, *key)))?;
    let (down, right) = if transposed { (right, down) } else { (down, right) };
    moved(session, cell, down, right)
}

/// Copies the whole matrix as tab-separated numbers; pastes a block from a spreadsheet with its corner at the cell.
fn clipboard(ui: &Ui, session: &Session, cell: CellRef, out: &mut Outbox) {
    let events = ui.input(|input| input.events.clone());
    for event in events {
        match event {
            egui::Event::Copy => {
                out.push(Command::CopyMatrix {
                    matrix: cell.matrix,
                    format: crate::export::TableFormat::Tsv,
                });
            }
            egui::Event::Paste(text) => match (session.slot(cell.matrix), parse_block(&text)) {
                (Some(slot), Ok(values)) => {
                    out.edit(Edit::SetBlock { slot, row: cell.row, col: cell.col, values });
                }
                (Some(_), Err(reason)) => out.push(Command::Say(reason)),
                (None, _) => refuse(session, cell, out),
            },
            _ => {}
        }
    }
}

fn typing(ui: &Ui, session: &Session, state: &mut UiState, out: &mut Outbox, cell: CellRef) {
    let typed = ui.input(|input| {
        input.events.iter().find_map(|event| match event {
            egui::Event::Text(text) if text.chars().all(|c| c.is_ascii_digit() || "+-.−√".contains(c)) => {
                Some(text.clone())
            }
            _ => None,
        })
    });
    let (open, clear, nudge) = ui.input_mut(|input| {
        let open =
            input.consume_key(Modifiers::NONE, Key::F2) || input.consume_key(Modifiers::NONE, Key::Enter);
        let clear = input.consume_key(Modifiers::NONE, Key::Delete)
            || input.consume_key(Modifiers::NONE, Key::Backspace);
        let up = input.consume_key(Modifiers::ALT, Key::ArrowUp);
        let down = input.consume_key(Modifiers::ALT, Key::ArrowDown);
        (open, clear, f64::from(u8::from(up)) - f64::from(u8::from(down)))
    });
    if typed.is_none() && !open && !clear && nudge == 0.0 {
        return;
    }
    let Some(slot) = session.slot(cell.matrix) else {
        refuse(session, cell, out);
        return;
    };
    let value = session.stated(cell).unwrap_or(0.0);
    if clear || nudge != 0.0 {
        // Steps of a tenth, kept free of the dust that repeated addition leaves.
        let value = if clear { 0.0 } else { ((value + 0.1 * nudge) * 1e9).round() / 1e9 };
        out.edit(Edit::SetCell { slot, row: cell.row, col: cell.col, value });
        return;
    }
    let select_all = typed.is_none();
    let draft = typed.unwrap_or_else(|| value.to_string());
    state.board.editor = Some(CellEditor {
        slot,
        row: cell.row,
        col: cell.col,
        draft,
        complaint: None,
        is_new: true,
        select_all,
    });
    ui.ctx().request_repaint();
}

/// Says why the number cannot be typed over.
fn refuse(session: &Session, cell: CellRef, out: &mut Outbox) {
    if let Some(reason) = session.why_not_editable(cell.matrix) {
        out.push(Command::Say(reason));
    }
}

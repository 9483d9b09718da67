//! Room 8: egui panels. They read a `&Session` and push commands; they paint a `Drawing`.
//!
//! This room does not know how anything is computed or stored.

mod act;
mod action;
mod banner;
mod board;
mod board_keys;
mod calculator;
mod cell_editor;
mod cells_image;
mod charts;
mod check_bar;
mod computing;
mod costs;
mod dialogs;
mod export_dialog;
mod figures;
mod glyph_mesh;
mod highlight;
mod inspector;
mod kept;
mod mask_editor;
mod mask_grids;
mod menu_bar;
mod notes;
mod outbox;
pub mod paint;
mod scene_list;
mod scoring_editor;
mod settings_panel;
mod shortcuts;
mod softmax_editor;
mod stage_switch;
pub mod style;
mod toasts;
mod tokens_dialog;
mod widgets;
mod window;

pub use act::act;
pub use action::Action;
pub use computing::ComputingState;
pub use dialogs::{Dialog, PathField, PathPurpose};
pub use outbox::{Outbox, Wish};
pub use shortcuts::pressed;
pub use toasts::{ToastKind, Toasts};
pub use window::{Layout, UiState, show};

//! Room 9: the hall. `eframe::App`, file dialogs, threads, watching, settings, clipboard.
//!
//! This room does not know any maths.

mod dialogs;
mod effects;
mod files;
mod fonts;
mod picture;
mod settings;
mod shell;
mod start;
mod watch;
mod window_place;
mod worker;

pub use fonts::install as install_fonts;
pub use settings::Theme;
pub use shell::App;
pub use start::{StartOptions, run};

//! Opens the window.

use std::path::PathBuf;

use super::settings::{Theme, set_aside_if_broken};
use super::shell::App;

/// The name under which the system knows the program; settings are stored under it.
const APP_ID: &str = "qkv";

/// How the window opens.
#[derive(Clone, Debug, Default)]
pub struct StartOptions {
    /// A scene file or the name of a bundled scene; nothing opens what was open last.
    pub open: Option<String>,
    /// Light, dark or as the system says; nothing is as it was last.
    pub theme: Option<Theme>,
    /// Width and height in points.
    pub size: Option<(f32, f32)>,
    /// Write a picture of the window here, then close.
    pub picture: Option<PathBuf>,
    /// Neither read nor write settings.
    pub fresh: bool,
    /// Something to say in the window.
    pub notice: Option<String>,
    /// When the program started, to tell how long the first frame took.
    pub started: Option<std::time::Instant>,
}

/// Opens the window and returns when it is closed.
///
/// # Errors
/// A sentence when no window can be had.
pub fn run(mut options: StartOptions) -> Result<(), String> {
    if !options.fresh
        && let Some(file) = eframe::storage_dir(APP_ID).map(|folder| folder.join("app.ron"))
        && let Some(aside) = set_aside_if_broken(&file)
    {
        options.notice =
            Some(format!("The settings could not be read; they were moved to {}", aside.display()));
    }
    let (width, height) = options.size.unwrap_or((1280.0, 800.0));
    let viewport = egui::ViewportBuilder::default()
        .with_app_id(APP_ID)
        .with_title("Qkv")
        .with_inner_size([width, height])
        .with_min_inner_size([720.0, 480.0])
        .with_drag_and_drop(true);
    // A fresh window keeps its settings in a place that is thrown away.
    let scratch =
        options.fresh.then(|| std::env::temp_dir().join(format!("qkv-fresh-{}.ron", std::process::id())));
    let native = eframe::NativeOptions {
        viewport,
        renderer: eframe::Renderer::Glow,
        persist_window: !options.fresh,
        persistence_path: scratch.clone(),
        ..eframe::NativeOptions::default()
    };
    let made = eframe::run_native(
        APP_ID,
        native,
        Box::new(move |creation| Ok(Box::new(App::new(&creation.egui_ctx, creation.storage, options)))),
    );
    if let Some(scratch) = scratch {
        // It may never have been written.
        let _ = std::fs::remove_file(scratch);
    }
    made.map_err(|error| format!("no window can be opened: {error}"))
}

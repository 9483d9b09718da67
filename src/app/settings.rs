//! What survives between runs: theme, zoom, layout, recent files, the open scene. Window place and size are kept by eframe.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::ui::Layout;

/// The key under which the settings are stored; the number grows when an old form can no longer be read.
const KEY: &str = "qkv settings 1";
/// How many recent files are remembered.
const MOST_RECENT: usize = 10;

/// What survives between runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Which panels are shown.
    pub layout: Layout,
    /// Light, dark or as the system says.
    pub theme: Theme,
    /// Zoom of the whole window; `None` is 1.
    pub zoom: Option<f32>,
    /// Recently opened files, newest first.
    pub recent: Vec<PathBuf>,
    /// What was open.
    pub last: Last,
    /// The folder of the last scene opened or saved.
    pub scene_folder: Option<PathBuf>,
    /// The folder of the last export.
    pub export_folder: Option<PathBuf>,
}

/// The theme preference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Theme {
    /// Light, made for a projector.
    #[default]
    Light,
    /// Dark.
    Dark,
    /// As the system says.
    System,
}

/// What was open when the program closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Last {
    /// Nothing that can be opened again.
    #[default]
    Nothing,
    /// A bundled scene.
    Bundled(String),
    /// A file.
    File(PathBuf),
}

impl Settings {
    /// The stored settings, or the defaults where there are none or they cannot be read.
    pub fn load(storage: Option<&dyn eframe::Storage>) -> Self {
        storage.and_then(|storage| eframe::get_value(storage, KEY)).unwrap_or_default()
    }

    /// Stores the settings.
    pub fn store(&self, storage: &mut dyn eframe::Storage) {
        eframe::set_value(storage, KEY, self);
    }

    /// Puts a file at the head of the recent ones.
    pub fn remember(&mut self, path: &Path) {
        self.recent.retain(|other| other != path);
        self.recent.insert(0, path.to_owned());
        self.recent.truncate(MOST_RECENT);
        self.scene_folder = path.parent().map(Path::to_owned);
    }
}

impl From<Theme> for egui::ThemePreference {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::Light => Self::Light,
            Theme::Dark => Self::Dark,
            Theme::System => Self::System,
        }
    }
}

impl From<egui::ThemePreference> for Theme {
    fn from(preference: egui::ThemePreference) -> Self {
        match preference {
            egui::ThemePreference::Light => Self::Light,
            egui::ThemePreference::Dark => Self::Dark,
            egui::ThemePreference::System => Self::System,
        }
    }
}

/// Moves a settings file aside that cannot be read, so that the program starts all the same.
/// Returns where it went.
pub fn set_aside_if_broken(file: &Path) -> Option<PathBuf> {
    let bytes = std::fs::read(file).ok()?;
    let readable = std::str::from_utf8(&bytes)
        .is_ok_and(|text| ron::from_str::<std::collections::HashMap<String, String>>(text).is_ok());
    if readable {
        return None;
    }
    let aside = file.with_extension("broken.ron");
    std::fs::rename(file, &aside).ok()?;
    Some(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_settings_file_of_random_bytes_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("app.ron");
        std::fs::write(&file, [0xff, 0x00, 0x9c, 0x28, 0x7b]).unwrap();
        let aside = set_aside_if_broken(&file).unwrap();
        assert!(aside.exists() && !file.exists());
        assert_eq!(set_aside_if_broken(&file), None, "no file at all is no broken file");
    }

    #[test]
    fn recent_files_are_few_newest_first_and_each_once() {
        let mut settings = Settings::default();
        for index in 0..12 {
            settings.remember(Path::new(&format!("/scenes/{index}.ron")));
        }
        settings.remember(Path::new("/scenes/5.ron"));
        assert_eq!(settings.recent.len(), MOST_RECENT);
        assert_eq!(settings.recent[0], Path::new("/scenes/5.ron"));
        assert_eq!(settings.recent.iter().filter(|path| path.ends_with("5.ron")).count(), 1);
    }
}

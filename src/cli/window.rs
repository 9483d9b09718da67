//! Opening the window.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::app::{StartOptions, Theme, run as open};

use super::Failure;

/// Arguments of the window.
#[derive(clap::Args)]
pub struct Args {
    /// A scene file, a figure made from one, or the name of a bundled scene.
    scene: Option<String>,
    /// Light, dark, or as the system says.
    #[arg(long, value_enum)]
    theme: Option<ThemeArg>,
    /// Size of the window, like 1280x800.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size)]
    size: Option<(f32, f32)>,
    /// Neither read nor write settings: a window as at the first start.
    #[arg(long)]
    fresh: bool,
    /// Write a picture of the window as PNG, then close it.
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ThemeArg {
    Light,
    Dark,
    System,
}

/// Opens the window.
pub fn run(args: Args) -> Result<(), Failure> {
    let theme = args.theme.map(|theme| match theme {
        ThemeArg::Light => Theme::Light,
        ThemeArg::Dark => Theme::Dark,
        ThemeArg::System => Theme::System,
    });
    let options = StartOptions {
        open: args.scene,
        theme,
        size: args.size,
        fresh: args.fresh || args.picture.is_some(),
        picture: args.picture,
        notice: None,
        started: Some(std::time::Instant::now()),
    };
    open(options).map_err(Failure)
}

fn size(text: &str) -> Result<(f32, f32), String> {
    let parts =
        text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    parts
        .filter(|(width, height): &(f32, f32)| *width >= 100.0 && *height >= 100.0)
        .ok_or_else(|| format!("a size is width and height in points, like 1280x800; found {text}"))
}

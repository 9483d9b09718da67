//! `qkv check`: every complaint of every scene with its place.

use std::io::Write;

use crate::scene::{Severity, evaluate, render_complaint};

use super::{Failure, load};

/// Arguments of `qkv check`.
#[derive(clap::Args)]
pub struct Args {
    /// Scene files or names of bundled scenes.
    #[arg(required = true, value_name = "SCENE")]
    scenes: Vec<String>,
}

/// Prints errors and warnings; fails if there is any error.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let mut n_errors = 0;
    for name in &args.scenes {
        let read = load::read(name);
        match read.result {
            Ok(scene) => {
                for warning in scene.warnings() {
                    writeln!(out, "{}", render_complaint(name, &read.text, warning).trim_end())?;
                }
                let known: Vec<&str> =
                    scene.warnings().iter().map(|warning| warning.message.as_str()).collect();
                for warning in
                    evaluate(&scene).warnings.iter().filter(|warning| !known.contains(&warning.as_str()))
                {
                    writeln!(out, "{name}: warning: {warning}")?;
                }
                writeln!(out, "{name}: ok")?;
            }
            Err(complaints) => {
                n_errors +=
                    complaints.iter().filter(|complaint| complaint.severity == Severity::Error).count();
                for complaint in &complaints {
                    writeln!(out, "{}", render_complaint(name, &read.text, complaint).trim_end())?;
                }
            }
        }
    }
    match n_errors {
        0 => Ok(()),
        1 => Err(Failure::Input("1 error".to_owned())),
        n => Err(Failure::Input(format!("{n} errors"))),
    }
}

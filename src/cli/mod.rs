//! The command line: figures, numbers and checks where there is no window, and the way into the window.
//!
//! Results go to standard output, errors to standard error as one sentence with file:line:column. Exit status 1 means
//! that something is wrong with the input or the output, 2 that the command line itself is.

mod bench;
mod check;
mod compute;
mod compute_json;
mod cost;
mod load;
mod matrix_text;
mod render;
mod scenes;
mod waiting;
#[cfg(feature = "gui")]
mod window;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A command that did not succeed: one sentence for standard error, perhaps several lines of it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Something is wrong with the input or the output; exit status 1.
    #[error("{0}")]
    Input(String),
    /// The command line itself is wrong; exit status 2.
    #[error("{0}")]
    Usage(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Input(format!("the output could not be written: {error}"))
    }
}

/// Scenes of attention: open them, compute them, draw them.
#[derive(Parser)]
#[command(name = "qkv", version, about, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Cmd>,
    #[cfg(feature = "gui")]
    #[command(flatten)]
    window: window::Args,
}

#[derive(Subcommand)]
enum Cmd {
    /// Write a figure of a scene as SVG, PNG or PDF.
    Render(render::Args),
    /// Print every stage of every head.
    Compute(compute::Args),
    /// Validate scenes; exit 1 if any has an error.
    Check(check::Args),
    /// List the bundled scenes.
    Scenes(scenes::Args),
    /// The calculators: what a model's attention and cache cost.
    Cost(cost::Args),
    /// Measure how fast this machine computes attention.
    Bench(bench::Args),
}

/// Runs the program with the arguments it was started with.
pub fn main() -> ExitCode {
    run(Cli::parse(), &mut io::stdout().lock(), &mut io::stderr().lock())
}

fn run(cli: Cli, out: &mut dyn Write, err: &mut dyn Write) -> ExitCode {
    let result = match cli.command {
        Some(Cmd::Render(args)) => render::run(&args, out),
        Some(Cmd::Compute(args)) => compute::run(&args, out, err),
        Some(Cmd::Check(args)) => check::run(&args, out),
        Some(Cmd::Scenes(args)) => scenes::run(&args, out),
        Some(Cmd::Cost(args)) => args.run(out).map_err(|error| Failure::Input(error.to_string())),
        Some(Cmd::Bench(args)) => args.run(out).map_err(Failure::from),
        #[cfg(feature = "gui")]
        None => window::run(cli.window),
        #[cfg(not(feature = "gui"))]
        None => Err(Failure::Input("this build has no window; see `qkv --help` for the commands".to_owned())),
    };
    match result.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // A reader that closed the pipe has heard enough; there is nobody left to tell.
            let _ = writeln!(err, "{}", failure.to_string().trim_end());
            ExitCode::from(if matches!(failure, Failure::Usage(_)) { 2 } else { 1 })
        }
    }
}

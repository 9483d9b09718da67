//! `qkv cost`: the calculators as text and JSON.

mod cache;
mod complexity;
mod model;
mod presets;

use std::io::Write;

use clap::{Subcommand, ValueEnum};
use serde_json::Value;

use self::cache::CacheArgs;
use self::complexity::ComplexityArgs;
use self::presets::PresetArgs;
use crate::cost::{Configuration, CostError, Unit, grouped};

/// What attention costs: exact counts with the formulas behind them.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    calculator: Calculator,
}

#[derive(Subcommand, Debug)]
enum Calculator {
    /// The memory of a key/value cache.
    Cache(CacheArgs),
    /// The arithmetic of attention, its parameters and its score memory.
    Complexity(ComplexityArgs),
    /// Published models by id.
    Presets(PresetArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line for each figure.
    Text,
    /// One object, integers with every digit.
    Json,
    /// One row for each figure.
    Csv,
    /// One line of mathematics for each figure.
    Latex,
}

/// What can go wrong on the command line.
#[derive(Debug, thiserror::Error)]
pub enum CostCommandError {
    /// The sizes have no cost.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// The configuration file does not read.
    #[error("{path}:{line}:{column}: {message}")]
    File {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// The configuration file cannot be opened.
    #[error("the configuration cannot be read: {source}: {path}")]
    Open {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A softmax entry counted in a way that no source does.
    #[error("a softmax entry counts as 0, 1, 3 or 5 operations, not {found}")]
    Softmax {
        /// What was asked for.
        found: u64,
    },
    /// The output cannot be written.
    #[error("the result cannot be written: {0}")]
    Write(#[from] std::io::Error),
}

impl Args {
    /// Computes and writes to `out`.
    ///
    /// # Errors
    /// [`CostCommandError`] as one sentence.
    pub fn run(&self, out: &mut dyn Write) -> Result<(), CostCommandError> {
        match &self.calculator {
            Calculator::Cache(args) => args.run(out),
            Calculator::Complexity(args) => args.run(out),
            Calculator::Presets(args) => args.run(out),
        }
    }
}

fn title(configuration: &Configuration) -> String {
    let Configuration { name, tokens, sequences, .. } = configuration;
    let tokens = Unit::Tokens.exact(u128::from(*tokens));
    match sequences {
        1 => format!("{name}: one sequence of {tokens}"),
        sequences => format!("{name}: {} sequences of {tokens} each", grouped(u128::from(*sequences))),
    }
}

fn write_json(out: &mut dyn Write, value: &Value) -> Result<(), CostCommandError> {
    Ok(writeln!(out, "{value:#}")?)
}

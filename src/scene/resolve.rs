//! From what a file says to numbers: every matrix source becomes a matrix, within limits.

use std::sync::Arc;

use super::complaint::Complaint;
use super::model::MatrixSource;
use super::random::LegacyNormal;
use super::tensors::{TensorFiles, grouped};
use crate::engine::Matrix;

/// Numbers in one matrix, and random numbers in one scene: 16 Mi, 128 MiB of them.
const MAX_NUMBERS: usize = 1 << 24;

/// Numbers in all the matrices together that a scene does not write out itself: 64 Mi, 512 MiB of them.
const MAX_MADE: u128 = 1 << 26;

/// Makes matrices of sources and remembers what was wrong.
pub(super) struct Resolver<'f> {
    pub files: &'f TensorFiles,
    pub complaints: Vec<Complaint>,
    /// Random numbers drawn so far.
    drawn: usize,
    /// Numbers made or read from files so far.
    made: u128,
}

impl<'f> Resolver<'f> {
    pub fn new(files: &'f TensorFiles) -> Self {
        Self { files, complaints: Vec::new(), drawn: 0, made: 0 }
    }

    pub fn complain(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.complaints.push(Complaint::error(field, message));
    }

    pub fn complain_with(&mut self, field: &str, message: &str, hint: &str) {
        self.complaints.push(Complaint::error(field, message).with_hint(hint));
    }

    /// The matrix that a source stands for; `None` after a complaint. Sizes are judged before anything is reserved.
    pub fn matrix(&mut self, source: &MatrixSource, field: &str, what: &str) -> Option<Arc<Matrix>> {
        let matrix = match source {
            MatrixSource::Rows(matrix) => Arc::clone(matrix),
            MatrixSource::Identity { n } => {
                self.fits(*n, *n, field, what)?;
                self.together(n * n, field, what)?;
                Arc::new(Matrix::identity(*n))
            }
            MatrixSource::Randn { rows, cols, seed, skip, factor } => {
                self.fits(*rows, *cols, field, what)?;
                self.affordable(rows * cols, *skip, field, what)?;
                self.together(rows * cols, field, what)?;
                let mut draws = LegacyNormal::new(*seed).skip(*skip);
                let draw = |_, _| draws.next().unwrap_or_default() * factor;
                Arc::new(Matrix::from_fn(*rows, *cols, draw))
            }
            MatrixSource::File { path } => match self.files.matrix(path) {
                Ok(matrix) => {
                    self.together(matrix.data().len(), field, what)?;
                    Arc::new(matrix)
                }
                Err(error) => {
                    self.complain(format!("{field}.path"), format!("\"{path}\" cannot be used: {error}"));
                    return None;
                }
            },
        };
        self.fits(matrix.rows(), matrix.cols(), field, what)?;
        Some(matrix)
    }

    fn fits(&mut self, rows: usize, cols: usize, field: &str, what: &str) -> Option<()> {
        let n = rows.checked_mul(cols);
        if rows <= MAX_NUMBERS && cols <= MAX_NUMBERS && n.is_some_and(|n| n <= MAX_NUMBERS) {
            return Some(());
        }
        let bytes = match (rows as u128 * cols as u128).checked_mul(8) {
            Some(bytes) => grouped_wide(bytes),
            None => format!("{:.1e}", 8.0 * rows as f64 * cols as f64),
        };
        let (rows, cols, most) = (grouped(rows as u64), grouped(cols as u64), grouped(MAX_NUMBERS as u64));
        let message = format!(
            "{what} of {rows} × {cols} numbers wants {bytes} bytes; at most {most} numbers are allowed"
        );
        self.complain(field, message);
        None
    }

    /// Whether `n` more numbers can be held beside those before.
    fn together(&mut self, n: usize, field: &str, what: &str) -> Option<()> {
        self.made = self.made.saturating_add(n as u128);
        if self.made <= MAX_MADE {
            return Some(());
        }
        let (bytes, most) = (grouped_wide(8 * self.made), grouped_wide(8 * MAX_MADE));
        let message =
            format!("with {what} the matrices of the scene want {bytes} bytes; at most {most} are allowed");
        self.complain(field, message);
        None
    }

    fn affordable(&mut self, n: usize, skip: usize, field: &str, what: &str) -> Option<()> {
        self.drawn = self.drawn.saturating_add(n).saturating_add(skip);
        if self.drawn <= MAX_NUMBERS {
            return Some(());
        }
        let (drawn, most) = (grouped(self.drawn as u64), grouped(MAX_NUMBERS as u64));
        let message = format!(
            "with {what} the scene wants {drawn} random numbers, the skipped ones included; at most {most} are allowed"
        );
        self.complain(field, message);
        None
    }
}

/// [`grouped`], beyond 64 bits.
pub(super) fn grouped_wide(n: u128) -> String {
    match u64::try_from(n) {
        Ok(n) => grouped(n),
        Err(_beyond) => format!("{:.1e}", n as f64),
    }
}

//! Matrices and their labels by name.

use std::sync::Arc;

use super::{AxisOf, FigureInput, MatrixId};
use crate::engine::Matrix;
use crate::scene::{Evaluation, Scene};

/// A matrix of a query head; `None` where the scene has no such matrix.
pub fn matrix_of(
    scene: &Scene,
    evaluation: &Evaluation,
    matrix: MatrixId,
    head: usize,
) -> Option<Arc<Matrix>> {
    let input = FigureInput::new(scene, evaluation);
    input.matrix(matrix, head).map(|matrix| Arc::new(matrix.clone()))
}

/// Labels of the rows and columns of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// One per row.
    pub rows: Vec<String>,
    /// One per column.
    pub cols: Vec<String>,
}

/// Tokens where an axis of the matrix is one of queries or keys, numbers from 1 otherwise.
pub fn labels_of(scene: &Scene, matrix: MatrixId, numbers: &Matrix) -> Labels {
    let labels = |axis, n: usize| match axis {
        AxisOf::Queries => scene.query_labels().to_vec(),
        AxisOf::Keys => scene.key_labels().to_vec(),
        AxisOf::Features => (1..=n).map(|index| index.to_string()).collect(),
    };
    let (rows, cols) = matrix.axes();
    Labels { rows: labels(rows, numbers.rows()), cols: labels(cols, numbers.cols()) }
}

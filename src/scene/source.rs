//! The numbers behind a matrix source, for those who edit them.

use std::sync::Arc;

use super::model::MatrixSource;
use super::resolve::Resolver;
use super::tensors::TensorFiles;
use crate::engine::Matrix;

impl MatrixSource {
    /// The matrix that this source stands for.
    ///
    /// # Errors
    /// A sentence when it names a file that cannot be used or a size that is too large.
    pub fn matrix(&self, files: &TensorFiles) -> Result<Arc<Matrix>, String> {
        let mut resolver = Resolver::new(files);
        let matrix = resolver.matrix(self, "matrix", "the matrix");
        matrix.ok_or_else(|| {
            resolver
                .complaints
                .first()
                .map_or_else(|| "the matrix cannot be made".to_owned(), ToString::to_string)
        })
    }
}

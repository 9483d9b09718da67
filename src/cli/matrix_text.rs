//! One labelled matrix as CSV or as aligned columns, row after row, so that a large one takes no memory of its own.

use std::io::{self, Write};

use crate::engine::Matrix;
use crate::export::{MatrixTable, write_csv as export_csv};
use crate::figure::format_number;

/// A matrix and the labels of its rows and columns.
pub struct Labelled<'a> {
    /// The numbers.
    pub matrix: &'a Matrix,
    /// One label a row.
    pub rows: &'a [String],
    /// One label a column.
    pub cols: &'a [String],
}

/// Comma-separated, every number with all its digits.
pub fn write_csv(table: &Labelled<'_>, out: &mut dyn Write) -> io::Result<()> {
    let &Labelled { matrix, rows, cols } = table;
    export_csv(&MatrixTable { matrix, row_labels: rows, col_labels: cols, decimals: None }, true, out)
}

/// Aligned columns with `decimals` digits after the point.
pub fn write_text(table: &Labelled<'_>, decimals: usize, out: &mut dyn Write) -> io::Result<()> {
    let &Labelled { matrix, rows, cols } = table;
    let width = |text: &str| text.chars().count();
    let cell = |number: &f64| format_number(*number, decimals);
    let label_width = rows.iter().map(|label| width(label)).max().unwrap_or(0);
    let widest_number = matrix.data().iter().map(|number| width(&cell(number))).max().unwrap_or(0);
    let widest = cols.iter().map(|label| width(label)).max().unwrap_or(0).max(widest_number);
    write!(out, "  {:label_width$}", "")?;
    for col in cols {
        write!(out, "  {col:>widest$}")?;
    }
    writeln!(out)?;
    for (label, row) in rows.iter().zip(matrix.iter_rows()) {
        write!(out, "  {label:label_width$}")?;
        for number in row {
            write!(out, "  {:>widest$}", cell(number))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

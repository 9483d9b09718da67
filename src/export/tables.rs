//! A matrix with its labels as CSV, tab-separated text, Markdown and NPY.

use std::io::{self, Write};

use crate::engine::Matrix;

/// A matrix to be written, with the labels of its rows and columns.
///
/// A row or column without a label is named by its number, counted from 0 as in code.
#[derive(Clone, Copy, Debug)]
pub struct MatrixTable<'a> {
    /// The numbers.
    pub matrix: &'a Matrix,
    /// Labels of the rows, from the top.
    pub row_labels: &'a [String],
    /// Labels of the columns, from the left.
    pub col_labels: &'a [String],
    /// Decimals of every number; `None` writes all the digits that are needed to read the same number back.
    pub decimals: Option<usize>,
}

impl MatrixTable<'_> {
    pub(super) fn row_label(&self, row: usize) -> String {
        self.row_labels.get(row).cloned().unwrap_or_else(|| row.to_string())
    }

    pub(super) fn col_labels(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.matrix.cols())
            .map(|col| self.col_labels.get(col).cloned().unwrap_or_else(|| col.to_string()))
    }

    /// Rows of numbers, spelled by `spell` where they are not finite.
    pub(super) fn numbers<'b>(
        &'b self,
        special: &'b Special,
    ) -> impl Iterator<Item = impl Iterator<Item = String> + 'b> + 'b {
        self.matrix
            .iter_rows()
            .map(move |row| row.iter().map(move |&value| number(value, self.decimals, special)))
    }
}

/// How a format spells what is not a finite number.
pub(super) struct Special {
    pub nan: &'static str,
    pub infinity: &'static str,
    pub minus_infinity: &'static str,
}

/// As NumPy and the command line spell them.
const PLAIN: Special = Special { nan: "nan", infinity: "inf", minus_infinity: "-inf" };
const SIGNS: Special = Special { nan: "NaN", infinity: "∞", minus_infinity: "−∞" };

/// A number with a point, never −0.
pub(super) fn number(value: f64, decimals: Option<usize>, special: &Special) -> String {
    if value.is_nan() {
        return special.nan.to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { special.infinity } else { special.minus_infinity }.to_owned();
    }
    let spelled = match decimals {
        Some(decimals) => format!("{value:.decimals$}"),
        // Shortest that reads back as the same number; an exponent where the zeros would be many.
        None => format!("{value:?}").trim_end_matches(".0").to_owned(),
    };
    let is_zero = spelled.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    if is_zero { spelled.trim_start_matches('-').to_owned() } else { spelled }
}

/// Comma-separated values as RFC 4180 quotes them, lines ending with CR LF: a first line of column labels, then one line a row.
///
/// With `spreadsheet_safe` a label that starts with `=`, `+`, `-` or `@` gets a leading `'`, or a spreadsheet would run it as a
/// formula. Numbers never get one.
pub fn csv(table: &MatrixTable<'_>, spreadsheet_safe: bool) -> String {
    in_memory(|out| write_csv(table, spreadsheet_safe, out))
}

/// [`csv()`], row after row into `out`.
///
/// # Errors
/// Whatever `out` says.
pub fn write_csv(table: &MatrixTable<'_>, spreadsheet_safe: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut builder = csv::WriterBuilder::new();
    builder.terminator(csv::Terminator::CRLF);
    separated(table, &builder, spreadsheet_safe, out)
}

/// The same separated by tabs, lines ending with LF: what spreadsheets take from the clipboard.
pub fn tab_separated(table: &MatrixTable<'_>, spreadsheet_safe: bool) -> String {
    let mut builder = csv::WriterBuilder::new();
    builder.delimiter(b'\t');
    in_memory(|out| separated(table, &builder, spreadsheet_safe, out))
}

fn in_memory(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail, and all records have one length.
    let _ = write(&mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}

fn separated(
    table: &MatrixTable<'_>,
    builder: &csv::WriterBuilder,
    spreadsheet_safe: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let label = |label: String| match label.as_bytes().first() {
        Some(b'=' | b'+' | b'-' | b'@') if spreadsheet_safe => format!("'{label}"),
        _ => label,
    };
    let mut writer = builder.from_writer(out);
    let head = std::iter::once(String::new()).chain(table.col_labels().map(label));
    writer.write_record(head)?;
    for (row_idx, numbers) in table.numbers(&PLAIN).enumerate() {
        writer.write_record(std::iter::once(label(table.row_label(row_idx))).chain(numbers))?;
    }
    writer.flush()
}

/// A table as GitHub and most note programs read it, numbers to the right.
pub fn markdown(table: &MatrixTable<'_>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let labels = table.col_labels().map(|label| escape_markdown(&label));
    let mut out = line(std::iter::once(String::new()).chain(labels).collect());
    out.push_str("| :--- |");
    out.push_str(&" ---: |".repeat(table.matrix.cols()));
    out.push('\n');
    for (row_idx, numbers) in table.numbers(&SIGNS).enumerate() {
        let label = escape_markdown(&table.row_label(row_idx));
        out.push_str(&line(std::iter::once(label).chain(numbers).collect()));
    }
    out
}

/// Text that Markdown shows as it is; a table cell is one line.
fn escape_markdown(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    for character in label.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '$' => {
                out.push('\\');
                out.push(character);
            }
            '\n' | '\r' | '\t' => out.push(' '),
            _ => out.push(character),
        }
    }
    out
}

/// The matrix as a NumPy file, version 1.0: `<f8`, C order, shape (rows, cols).
pub fn npy(matrix: &Matrix) -> Vec<u8> {
    let shape = format!("({}, {})", matrix.rows(), matrix.cols());
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length take 10 bytes; data start at a multiple of 64 after a line feed.
    let padding = (64 - (10 + header.len() + 1) % 64) % 64;
    header.extend(std::iter::repeat_n(' ', padding).chain(['\n']));
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(matrix.data().iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minus_zero_is_never_written() {
        let cases =
            [(-0.0, "0.0000"), (-1e-5, "0.0000"), (5e-5, "0.0001"), (-5e-5, "-0.0001"), (0.99995, "1.0000")];
        for (value, expected) in cases.into_iter().chain([(1e-12, "0.0000"), (0.5, "0.5000")]) {
            assert_eq!(number(value, Some(4), &PLAIN), expected);
        }
        assert_eq!(number(-0.0, None, &PLAIN), "0");
        assert_eq!(number(-0.4, Some(0), &PLAIN), "0");
    }

    #[test]
    fn all_digits_read_back_as_the_same_number() {
        for value in [0.1, 1.0 / 3.0, 1e-300, 1.797e308, -2.5e-8, 65504.0] {
            assert_eq!(number(value, None, &PLAIN).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }

    #[test]
    fn missing_labels_become_numbers() {
        let matrix = Matrix::from_rows(&[[1.0, f64::NEG_INFINITY], [f64::NAN, -0.0]]).unwrap();
        let labels = ["the".to_owned()];
        let table = MatrixTable { matrix: &matrix, row_labels: &labels, col_labels: &[], decimals: None };
        assert_eq!(csv(&table, false), ",0,1\r\nthe,1,-inf\r\n1,nan,0\r\n");
    }

    #[test]
    fn a_numpy_file_starts_its_data_at_a_multiple_of_64() {
        let matrix = Matrix::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap();
        let bytes = npy(&matrix);
        let header = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
        assert_eq!((10 + header) % 64, 0);
        let text = std::str::from_utf8(&bytes[10..10 + header]).unwrap();
        assert!(text.contains("'shape': (2, 3)") && text.ends_with('\n'), "{text}");
        assert_eq!(bytes[10 + header..].len(), 48);
        assert_eq!(bytes[10 + header + 8..][..8], 2.0_f64.to_le_bytes());
    }
}

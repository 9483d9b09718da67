//! A matrix as LaTeX and Typst: bare, or as a table with its labels.

use super::tables::{MatrixTable, Special};

const LATEX: Special = Special { nan: "\\mathrm{NaN}", infinity: "\\infty", minus_infinity: "-\\infty" };
const TYPST: Special = Special { nan: "\"NaN\"", infinity: "infinity", minus_infinity: "-infinity" };

/// A `bmatrix` for mathematics; needs the package amsmath.
pub fn latex_matrix(table: &MatrixTable<'_>) -> String {
    let rows: Vec<String> =
        table.numbers(&LATEX).map(|row| format!("  {}", row.collect::<Vec<_>>().join(" & "))).collect();
    // amsmath stops at ten columns unless told otherwise.
    let note = match table.matrix.cols() {
        cols if cols > 10 => {
            format!("% {cols} columns: put \\setcounter{{MaxMatrixCols}}{{{cols}}} before\n")
        }
        _ => String::new(),
    };
    format!("{note}\\begin{{bmatrix}}\n{}\n\\end{{bmatrix}}\n", rows.join(" \\\\\n"))
}

/// A `tabular` with labels at the top and at the left.
///
/// A comment says so when a label holds letters that only XeLaTeX and LuaLaTeX can print.
pub fn latex_table(table: &MatrixTable<'_>) -> String {
    let columns: Vec<String> = table.col_labels().collect();
    let labels = columns.iter().chain(table.row_labels);
    let beyond_latin = labels.flat_map(|label| label.chars()).any(|c| c > '\u{17F}');
    let mut out = String::new();
    if beyond_latin {
        out.push_str("% needs XeLaTeX or LuaLaTeX and a font that has the letters of the labels\n");
    }
    out.push_str(&format!("\\begin{{tabular}}{{l{}}}\n", "r".repeat(columns.len())));
    for label in &columns {
        out.push_str(" & ");
        out.push_str(&escape_latex(label));
    }
    out.push_str(" \\\\\n\\hline\n");
    for (row_idx, row) in table.numbers(&LATEX).enumerate() {
        out.push_str(&escape_latex(&table.row_label(row_idx)));
        for number in row {
            out.push_str(&format!(" & ${number}$"));
        }
        out.push_str(" \\\\\n");
    }
    out.push_str("\\end{tabular}\n");
    out
}

/// Text that LaTeX prints as it is written, in the old font encoding too. Controls become spaces.
pub(super) fn escape_latex(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    for character in label.chars() {
        match character {
            '#' | '%' | '_' | '&' | '{' | '}' | '$' => {
                out.push('\\');
                out.push(character);
            }
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '\\' => out.push_str("\\textbackslash{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '`' => out.push_str("\\textasciigrave{}"),
            // Two of these would join to a dash or a quotation mark; a bracket may open an option.
            '-' | '\'' | '[' | ']' | ',' if out.ends_with(character) || matches!(character, '[' | ']') => {
                out.push_str("{}");
                out.push(character);
            }
            '\0'..='\u{1F}' | '\u{7F}' => out.push(' '),
            _ => out.push(character),
        }
    }
    out
}

/// `mat(…)` for Typst mathematics.
pub fn typst_matrix(table: &MatrixTable<'_>) -> String {
    let rows: Vec<String> =
        table.numbers(&TYPST).map(|row| format!("  {}", row.collect::<Vec<_>>().join(", "))).collect();
    format!("$ mat(delim: \"[\",\n{};\n) $\n", rows.join(";\n"))
}

/// A Typst table with labels at the top and at the left.
pub fn typst_table(table: &MatrixTable<'_>) -> String {
    let columns: Vec<String> = table.col_labels().map(|label| typst_string(&label)).collect();
    let n_columns = columns.len();
    let mut out = format!("#table(\n  columns: {},\n", n_columns + 1);
    out.push_str(&format!("  align: (left,) + (right,) * {n_columns},\n  stroke: none,\n"));
    out.push_str(&format!("  table.header([], {}),\n  table.hline(),\n", columns.join(", ")));
    for (row_idx, row) in table.numbers(&TYPST).enumerate() {
        out.push_str(&format!("  {}", typst_string(&table.row_label(row_idx))));
        for number in row {
            out.push_str(&format!(", ${number}$"));
        }
        out.push_str(",\n");
    }
    out.push_str(")\n");
    out
}

/// A string literal: nothing in it is markup.
fn typst_string(label: &str) -> String {
    let mut out = String::from("\"");
    for character in label.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1F}' | '\u{7F}' => out.push('\u{FFFD}'),
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Matrix;

    fn two_by_two(labels: &[String]) -> (Matrix, Vec<String>) {
        (Matrix::from_rows(&[[1.0, f64::NEG_INFINITY], [0.25, f64::NAN]]).unwrap(), labels.to_vec())
    }

    #[test]
    fn a_bare_matrix_is_a_bmatrix() {
        let (matrix, labels) = two_by_two(&[]);
        let table =
            MatrixTable { matrix: &matrix, row_labels: &labels, col_labels: &labels, decimals: Some(2) };
        let expected = "\\begin{bmatrix}\n  1.00 & -\\infty \\\\\n  0.25 & \\mathrm{NaN}\n\\end{bmatrix}\n";
        assert_eq!(latex_matrix(&table), expected);
        assert_eq!(typst_matrix(&table), "$ mat(delim: \"[\",\n  1.00, -infinity;\n  0.25, \"NaN\";\n) $\n");
    }

    #[test]
    fn letters_beyond_latin_are_announced() {
        let (matrix, labels) = two_by_two(&["深".to_owned(), "Ġthe".to_owned()]);
        let table = MatrixTable { matrix: &matrix, row_labels: &labels, col_labels: &labels, decimals: None };
        assert!(latex_table(&table).starts_with("% needs XeLaTeX or LuaLaTeX"));
        let (matrix, labels) = two_by_two(&["é".to_owned(), "Ġthe".to_owned()]);
        let table = MatrixTable { matrix: &matrix, row_labels: &labels, col_labels: &labels, decimals: None };
        assert!(latex_table(&table).starts_with("\\begin{tabular}{lrr}\n & é & Ġthe \\\\\n\\hline\n"));
    }

    #[test]
    fn typst_labels_are_never_markup() {
        assert_eq!(typst_string("a\"b\\c#d$"), "\"a\\\"b\\\\c#d$\"");
    }

    #[test]
    fn hyphens_do_not_join_to_a_dash() {
        assert_eq!(escape_latex("a--b"), "a-{}-b");
    }
}

//! The notations that a matrix can be copied and saved in, as one choice.

use super::tables::{MatrixTable, csv, markdown, tab_separated};
use super::tex::{latex_matrix, latex_table, typst_matrix, typst_table};
use crate::engine::Matrix;

/// A notation for a matrix as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableFormat {
    /// Comma-separated, with labels and all digits.
    Csv,
    /// Tab-separated, with labels and all digits: what spreadsheets take from the clipboard.
    Tsv,
    /// A Markdown table with labels.
    Markdown,
    /// A LaTeX `bmatrix`, bare.
    Latex,
    /// A LaTeX `tabular` with labels.
    LatexTable,
    /// A Typst `mat(…)`, bare.
    Typst,
    /// A Typst table with labels.
    TypstTable,
}

impl TableFormat {
    /// Every notation, in the order in which they are offered.
    pub const ALL: [Self; 7] =
        [Self::Csv, Self::Tsv, Self::Markdown, Self::Latex, Self::LatexTable, Self::Typst, Self::TypstTable];

    /// The usual ending of a file name, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Markdown => "md",
            Self::Latex | Self::LatexTable => "tex",
            Self::Typst | Self::TypstTable => "typ",
        }
    }

    /// What it is called in menus.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Tsv => "Tab-separated",
            Self::Markdown => "Markdown",
            Self::Latex => "LaTeX bmatrix",
            Self::LatexTable => "LaTeX table",
            Self::Typst => "Typst mat",
            Self::TypstTable => "Typst table",
        }
    }
}

/// A matrix in one of the notations. Numbers are rounded to `decimals` where people read them, and written with all digits where
/// programs do (CSV and tab-separated). There, labels that a spreadsheet would run as formulas get a leading `'`.
pub fn table(
    matrix: &Matrix,
    row_labels: &[String],
    col_labels: &[String],
    format: TableFormat,
    decimals: usize,
) -> String {
    let exact = MatrixTable { matrix, row_labels, col_labels, decimals: None };
    let rounded = MatrixTable { decimals: Some(decimals), ..exact };
    match format {
        TableFormat::Csv => csv(&exact, true),
        TableFormat::Tsv => tab_separated(&exact, true),
        TableFormat::Markdown => markdown(&rounded),
        TableFormat::Latex => latex_matrix(&rounded),
        TableFormat::LatexTable => latex_table(&rounded),
        TableFormat::Typst => typst_matrix(&rounded),
        TableFormat::TypstTable => typst_table(&rounded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_all_digits_and_people_rounded_ones() {
        let matrix = Matrix::from_rows(&[[1.0 / 3.0, -1e-9]]).unwrap();
        let (rows, cols) = (["q|1".to_owned()], ["=k".to_owned(), "b".to_owned()]);
        let spell = |format| table(&matrix, &rows, &cols, format, 2);
        assert_eq!(spell(TableFormat::Csv), ",'=k,b\r\nq|1,0.3333333333333333,-1e-9\r\n");
        assert_eq!(spell(TableFormat::Tsv), "\t'=k\tb\nq|1\t0.3333333333333333\t-1e-9\n");
        assert_eq!(
            spell(TableFormat::Markdown),
            "|  | =k | b |\n| :--- | ---: | ---: |\n| q\\|1 | 0.33 | 0.00 |\n"
        );
        for format in TableFormat::ALL {
            assert!(spell(format).contains("0.33"), "{format:?}");
        }
    }
}

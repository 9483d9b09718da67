//! What is on screen as text, LaTeX and CSV.

use crate::cost::Breakdown;

use super::answer::{Answer, Table};

/// A notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// One line for each figure.
    Text,
    /// Mathematics, or a table.
    Latex,
    /// One row for each figure, values without separators.
    Csv,
}

impl Notation {
    /// Every notation with its name.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Text, "as text"), (Self::Latex, "as LaTeX"), (Self::Csv, "as CSV")];
}

/// The table, or else every figure of every section, under the name of the column.
pub fn written(answer: &Answer, name: &str, notation: Notation) -> String {
    match &answer.table {
        Some(table) => written_table(table, notation),
        None => written_sections(answer, name, notation),
    }
}

fn written_sections(answer: &Answer, name: &str, notation: Notation) -> String {
    let rows = answer.sections.iter().flat_map(|section| section.rows.iter().cloned()).collect();
    let all = Breakdown { rows };
    match notation {
        Notation::Latex => all.latex(),
        Notation::Csv => all.csv(),
        Notation::Text => {
            let mut out = format!("{name}\n");
            for section in &answer.sections {
                if !section.title.is_empty() {
                    out.push_str(&format!("\n{}\n", section.title));
                }
                out.push_str(&Breakdown { rows: section.rows.clone() }.text());
                for fact in &section.facts {
                    let source =
                        if fact.source.is_empty() { String::new() } else { format!(" ({})", fact.source) };
                    out.push_str(&format!("{}: {}{source}\n", fact.label, fact.value));
                }
            }
            out
        }
    }
}

fn written_table(table: &Table, notation: Notation) -> String {
    let head = std::iter::once(String::new()).chain(table.names.iter().cloned()).collect::<Vec<_>>();
    let body = table.rows.iter().map(|row| {
        std::iter::once(row.label.clone()).chain(row.cells.iter().map(|(text, _)| text.clone())).collect()
    });
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(body).collect();
    match notation {
        Notation::Text => lines.iter().map(|line| line.join("\t") + "\n").collect(),
        Notation::Csv => {
            let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
            lines.iter().map(|line| line.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect()
        }
        Notation::Latex => {
            let escaped = |cell: &String| {
                cell.replace('&', "\\&").replace('_', "\\_").replace('%', "\\%").replace('–', "--")
            };
            let body: String = lines
                .iter()
                .map(|line| {
                    "  ".to_owned() + &line.iter().map(escaped).collect::<Vec<_>>().join(" & ") + " \\\\\n"
                })
                .collect();
            format!("\\begin{{tabular}}{{l{}}}\n{body}\\end{{tabular}}\n", "r".repeat(table.names.len()))
        }
    }
}

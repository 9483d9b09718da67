//! Matrices: rows of numbers, or a recipe.

use std::sync::Arc;

use super::decoder::{Decoder, Variant};
use super::fields::Known;
use super::path::Path;
use crate::engine::Matrix;
use crate::scene::model::MatrixSource;
use crate::scene::syntax::{Kind, Node};

const KINDS: [&str; 3] = ["Randn", "Identity", "File"];

impl Decoder<'_> {
    /// Rows of numbers, `Randn(..)`, `Identity(..)` or `File(..)`. `what` names the matrix in complaints: `K of head 2`.
    pub fn matrix_source(&mut self, node: &Node, path: &Path<'_>, what: &str) -> Option<MatrixSource> {
        let node = node.without_some(self.text);
        match &node.kind {
            Kind::List(_) => self.rows(node, path, what).map(|rows| MatrixSource::Rows(Arc::new(rows))),
            Kind::Name | Kind::Parens(_) => {
                let variant = self.variant(node, path, "a matrix: rows of numbers, or Randn(..)")?;
                self.recipe(&variant, path)
            }
            _ => {
                self.expected(path, node, "a matrix: rows of numbers, as [[1, 0], [0, 1]]");
                None
            }
        }
    }

    fn recipe(&mut self, variant: &Variant<'_>, path: &Path<'_>) -> Option<MatrixSource> {
        const RANDN: Known<'static> =
            Known { name: "Randn", fields: &["rows", "cols", "seed", "skip", "factor"] };
        const IDENTITY: Known<'static> = Known { name: "Identity", fields: &["n"] };
        const FILE: Known<'static> = Known { name: "File", fields: &["path"] };
        let Variant { name, name_span, group } = variant;
        if !KINDS.contains(name) {
            self.unknown(path, name_span, "a kind of matrix", &KINDS);
            return None;
        }
        let Some(group) = group else {
            self.complain(path, name_span, format!("`{name}` needs its fields: {}", example(name)));
            return None;
        };
        match *name {
            "Randn" => {
                let fields = self.fields(group, path, &RANDN);
                let rows = self.required(&fields, path, "Randn", "rows");
                let rows = rows.and_then(|node| self.count(node, &path.field("rows"), "how many rows"));
                let cols = self.required(&fields, path, "Randn", "cols");
                let cols = cols.and_then(|node| self.count(node, &path.field("cols"), "how many columns"));
                let seed = self.required(&fields, path, "Randn", "seed");
                let seed = seed.and_then(|node| self.seed(node, &path.field("seed")));
                let skip = match fields.get("skip") {
                    Some(node) => self.count(node, &path.field("skip"), "how many draws to throw away first"),
                    None => Some(0),
                };
                let factor = match fields.get("factor") {
                    Some(node) => self.number(node, &path.field("factor")),
                    None => Some(1.0),
                };
                Some(MatrixSource::Randn {
                    rows: rows?,
                    cols: cols?,
                    seed: seed?,
                    skip: skip?,
                    factor: factor?,
                })
            }
            "Identity" => {
                let fields = self.fields(group, path, &IDENTITY);
                let n = self.required(&fields, path, "Identity", "n")?;
                Some(MatrixSource::Identity { n: self.count(n, &path.field("n"), "rows and columns")? })
            }
            _ => {
                let fields = self.fields(group, path, &FILE);
                let file = self.required(&fields, path, "File", "path")?;
                Some(MatrixSource::File { path: self.string(file, &path.field("path"))? })
            }
        }
    }

    pub fn seed(&mut self, node: &Node, path: &Path<'_>) -> Option<u32> {
        let seed = self.count(node, path, "the seed, as np.random.seed takes it: 0 to 4294967295")?;
        let narrow = u32::try_from(seed).ok();
        if narrow.is_none() {
            self.complain(path, &node.span, format!("a seed is 0 to 4294967295; found {seed}"));
        }
        narrow
    }

    /// Rows of numbers, all of one length. Every ragged row is named.
    pub fn rows(&mut self, node: &Node, path: &Path<'_>, what: &str) -> Option<Matrix> {
        let rows = self.list(node, path, "a matrix: a list of rows", |this, row, path| {
            this.list(row, path, "a row of numbers", Self::number)
        });
        self.same_lengths(node, path, what)?;
        Matrix::from_rows(&rows?).ok()
    }

    /// Rows of `true` and `false`.
    pub fn boolean_rows(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<Vec<bool>>> {
        self.list(node, path, "a list of rows", Self::booleans)
    }

    /// Complains about each row whose length differs from the first row's.
    fn same_lengths(&mut self, node: &Node, path: &Path<'_>, what: &str) -> Option<()> {
        let group = node.without_some(self.text).group()?;
        let rows = group.entries.iter().map(|entry| entry.value.without_some(self.text));
        let lengths: Vec<_> =
            rows.filter_map(|row| Some((row.span.clone(), row.group()?.entries.len()))).collect();
        let (_, first) = *lengths.first().unwrap_or(&(0..0, 0));
        let mut even = Some(());
        for (row_idx, (span, found)) in lengths.iter().enumerate().filter(|(_, (_, found))| *found != first) {
            let row = row_idx + 1;
            let (numbers, first_row) = (plural(*found, "number"), first);
            let message = format!("row {row} of {what} has {numbers}, row 1 has {first_row}");
            self.complain(&path.index(row_idx), span, message);
            even = None;
        }
        even
    }
}

fn example(kind: &str) -> &'static str {
    match kind {
        "Randn" => "Randn(rows: 8, cols: 4, seed: 0)",
        "Identity" => "Identity(n: 4)",
        _ => "File(path: \"w.npy\")",
    }
}

/// `1 number`, `2 numbers`.
pub(in crate::scene) fn plural(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

//! Where Q, K and V come from, and how scores are made of them.

use std::sync::Arc;

use super::decoder::{Decoder, Variant};
use super::fields::{Fields, Known};
use super::path::Path;
use crate::engine::Matrix;
use crate::scene::model::{Input, MatrixSource, Projected, ScoringSpec};
use crate::scene::syntax::{Group, Kind, Node};

const INPUTS: [&str; 4] = ["Heads", "Projected", "Tensors", "Weights"];
const SCORINGS: [&str; 5] = ["ScaledDot", "Dot", "Scale", "Additive", "General"];

impl Decoder<'_> {
    pub fn input(&mut self, node: &Node, path: &Path<'_>) -> Option<Input> {
        let wanted = "one of Heads(..), Projected(..), Tensors(..), Weights(..)";
        let Variant { name, name_span, group } = self.variant(node, path, wanted)?;
        if !INPUTS.contains(&name) {
            self.unknown(path, &name_span, "a kind of input", &INPUTS);
            return None;
        }
        let Some(group) = group else {
            self.complain(path, &name_span, format!("`{name}` needs its fields in parentheses"));
            return None;
        };
        match name {
            "Heads" => self.heads(group, path),
            "Projected" => self.projected(group, path),
            "Weights" => self.given_weights(group, path),
            _ => self.tensors(group, path),
        }
    }

    fn heads(&mut self, group: &Group, path: &Path<'_>) -> Option<Input> {
        const HEADS: Known<'static> = Known { name: "Heads", fields: &["q", "k", "v"] };
        let fields = self.fields(group, path, &HEADS);
        let mut side = |name: &str| {
            let node = self.required(&fields, path, "Heads", name)?;
            self.head_matrices(node, &path.field(name))
        };
        let (q, k, v) = (side("q"), side("k"), side("v"));
        Some(Input::Heads { q: q?, k: k?, v: v? })
    }

    /// A list of matrices. A single matrix where the list is meant is the commonest slip, and gets its own words.
    fn head_matrices(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<MatrixSource>> {
        let node = node.without_some(self.text);
        let letter = path.name().to_uppercase();
        if self.looks_like_a_matrix(node) {
            self.complain_with(
                path,
                &node.span,
                format!("`{path}` is a list of matrices, one per head; found a single matrix"),
                Some(format!("put one more pair of brackets around it: {}: [[[1, 0]]]", path.name())),
            );
            return None;
        }
        let mut head = 0;
        self.list(node, path, "a list of matrices, one per head", |this, node, path| {
            head += 1;
            this.matrix_source(node, path, &format!("{letter} of head {head}"))
        })
    }

    fn looks_like_a_matrix(&self, node: &Node) -> bool {
        let Kind::List(rows) = &node.kind else { return false };
        let of_numbers = |row: &Node| match &row.without_some(self.text).kind {
            Kind::List(row) => row.entries.iter().any(|entry| matches!(entry.value.kind, Kind::Number)),
            _ => false,
        };
        !rows.entries.is_empty() && rows.entries.iter().all(|row| of_numbers(&row.value))
    }

    fn projected(&mut self, group: &Group, path: &Path<'_>) -> Option<Input> {
        const PROJECTED: Known<'static> = Known {
            name: "Projected",
            fields: &[
                "x", "context", "heads", "kv_heads", "w_q", "w_k", "w_v", "b_q", "b_k", "b_v", "w_o", "b_o",
            ],
        };
        let fields = self.fields(group, path, &PROJECTED);
        let mut needed = |name: &str, what: &str| {
            let node = self.required(&fields, path, "Projected", name)?;
            self.matrix_source(node, &path.field(name), what)
        };
        let x = needed("x", "X");
        let (w_q, w_k, w_v) = (needed("w_q", "W_Q"), needed("w_k", "W_K"), needed("w_v", "W_V"));
        let context = self.optional_matrix(&fields, path, "context", "the context");
        let w_o = self.optional_matrix(&fields, path, "w_o", "W_O");
        let heads = match fields.get("heads") {
            Some(node) => self.count(node, &path.field("heads"), "how many query heads"),
            None => Some(1),
        };
        let kv_heads = match fields.get("kv_heads") {
            Some(node) => self.count(node, &path.field("kv_heads"), "how many key/value heads"),
            None => heads,
        };
        let mut bias = |name: &str| match fields.get(name) {
            Some(node) => self.numbers(node, &path.field(name)).map(Some),
            None => Some(None),
        };
        let (b_q, b_k, b_v, b_o) = (bias("b_q"), bias("b_k"), bias("b_v"), bias("b_o"));
        Some(Input::Projected(Box::new(Projected {
            x: x?,
            context: context?,
            heads: heads?,
            kv_heads: kv_heads?,
            w_q: w_q?,
            w_k: w_k?,
            w_v: w_v?,
            b_q: b_q?,
            b_k: b_k?,
            b_v: b_v?,
            w_o: w_o?,
            b_o: b_o?,
        })))
    }

    /// `Some(None)` when it is left out.
    fn optional_matrix(
        &mut self,
        fields: &Fields<'_>,
        path: &Path<'_>,
        name: &str,
        what: &str,
    ) -> Option<Option<MatrixSource>> {
        match fields.get(name) {
            Some(node) => self.matrix_source(node, &path.field(name), what).map(Some),
            None => Some(None),
        }
    }

    fn tensors(&mut self, group: &Group, path: &Path<'_>) -> Option<Input> {
        const TENSORS: Known<'static> = Known { name: "Tensors", fields: &["file", "q", "k", "v"] };
        let fields = self.fields(group, path, &TENSORS);
        let mut text = |name: &str| {
            let node = self.required(&fields, path, "Tensors", name)?;
            self.string(node, &path.field(name))
        };
        let (file, q, k, v) = (text("file"), text("q"), text("k"), text("v"));
        Some(Input::Tensors { file: file?, q: q?, k: k?, v: v? })
    }

    fn given_weights(&mut self, group: &Group, path: &Path<'_>) -> Option<Input> {
        const WEIGHTS: Known<'static> = Known { name: "Weights", fields: &["file", "name"] };
        let fields = self.fields(group, path, &WEIGHTS);
        let file = self.required(&fields, path, "Weights", "file");
        let file = file.and_then(|node| self.string(node, &path.field("file")));
        let name = match fields.get("name") {
            Some(node) => self.string(node, &path.field("name")).map(Some),
            None => Some(None),
        };
        Some(Input::Weights { file: file?, name: name? })
    }

    pub fn scoring(&mut self, node: &Node, path: &Path<'_>) -> Option<ScoringSpec> {
        let wanted = "one of ScaledDot, Dot, Scale(..), Additive(..), General(..)";
        let Variant { name, name_span, group } = self.variant(node, path, wanted)?;
        match (name, group) {
            ("ScaledDot", None) => Some(ScoringSpec::ScaledDot),
            ("Dot", None) => Some(ScoringSpec::Dot),
            ("Scale", Some(group)) => {
                let node = self.only(group, path, "Scale(0.5)")?;
                self.number(node, path).map(ScoringSpec::Scale)
            }
            ("Additive", Some(group)) => self.additive_scoring(group, path),
            ("General", Some(group)) => {
                const GENERAL: Known<'static> = Known { name: "General", fields: &["w"] };
                let fields = self.fields(group, path, &GENERAL);
                let w = self.required(&fields, path, "General", "w")?;
                Some(ScoringSpec::General { w: self.matrix_source(w, &path.field("w"), "W")? })
            }
            (name, group) if SCORINGS.contains(&name) => {
                let example = match name {
                    "Scale" => "Scale(0.5)",
                    "Additive" => "Additive(w_q: [..], w_k: [..], v: [..])",
                    "General" => "General(w: [..])",
                    name => name,
                };
                let verb = if group.is_some() { "takes nothing in parentheses" } else { "needs its value" };
                self.complain(path, &name_span, format!("`{name}` {verb}: write {example}"));
                None
            }
            _ => {
                self.unknown(path, &name_span, "a scoring", &SCORINGS);
                None
            }
        }
    }

    fn additive_scoring(&mut self, group: &Group, path: &Path<'_>) -> Option<ScoringSpec> {
        const ADDITIVE: Known<'static> = Known { name: "Additive", fields: &["w_q", "w_k", "v"] };
        let fields = self.fields(group, path, &ADDITIVE);
        let mut needed = |name: &str, what: &str| {
            let node = self.required(&fields, path, "Additive", name)?;
            self.matrix_source(node, &path.field(name), what)
        };
        let (w_q, w_k) = (needed("w_q", "W_q"), needed("w_k", "W_k"));
        let v = self.required(&fields, path, "Additive", "v");
        let v = v.and_then(|node| self.vector(node, &path.field("v")));
        Some(ScoringSpec::Additive { w_q: w_q?, w_k: w_k?, v: v? })
    }

    /// A list of numbers as a matrix of one row; a matrix as it stands.
    fn vector(&mut self, node: &Node, path: &Path<'_>) -> Option<MatrixSource> {
        let node = node.without_some(self.text);
        let of_numbers = match &node.kind {
            Kind::List(group) => group.entries.iter().all(|entry| matches!(entry.value.kind, Kind::Number)),
            _ => false,
        };
        if !of_numbers {
            return self.matrix_source(node, path, "v");
        }
        let numbers = self.numbers(node, path)?;
        Matrix::new(1, numbers.len(), numbers).ok().map(|row| MatrixSource::Rows(Arc::new(row)))
    }

    /// The one value in `Name(value)`.
    pub fn only<'n>(&mut self, group: &'n Group, path: &Path<'_>, example: &str) -> Option<&'n Node> {
        match group.entries.as_slice() {
            [entry] if entry.key.is_none() => Some(&entry.value),
            _ => {
                let span = group.open..group.close + 1;
                self.complain(path, &span, format!("expected exactly one value: {example}"));
                None
            }
        }
    }
}

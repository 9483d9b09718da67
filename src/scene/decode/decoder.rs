//! Scalars and lists, and how a complaint is made.

use super::path::Path;
use crate::scene::complaint::{Complaint, Place};
use crate::scene::nearest::nearest;
use crate::scene::syntax::{Group, Kind, Node, Span};

/// Complaints reported; beyond that a reader has seen enough.
const MAX_COMPLAINTS: usize = 50;

/// Decodes values and collects complaints. Every method gives `None` after having complained.
pub(super) struct Decoder<'t> {
    pub text: &'t str,
    pub complaints: Vec<Complaint>,
}

/// A name with or without something in brackets behind it: `Dot`, `Scale(0.5)`.
pub(super) struct Variant<'n> {
    pub name: &'n str,
    pub name_span: Span,
    /// `None` for a bare name.
    pub group: Option<&'n Group>,
}

impl<'t> Decoder<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, complaints: Vec::new() }
    }

    pub fn complain(&mut self, path: &Path<'_>, span: &Span, message: impl Into<String>) {
        self.complain_with(path, span, message, None);
    }

    pub fn complain_with(
        &mut self,
        path: &Path<'_>,
        span: &Span,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        if self.complaints.len() < MAX_COMPLAINTS {
            let place = Some(Place::of(self.text, span));
            self.complaints.push(Complaint { hint, place, ..Complaint::error(path.to_string(), message) });
        }
    }

    /// *`softcap` is a number, found a list.* Nothing is said twice about what the parser could not read.
    pub fn expected(&mut self, path: &Path<'_>, node: &Node, wanted: &str) {
        self.expected_with(path, node, wanted, None);
    }

    pub fn expected_with(&mut self, path: &Path<'_>, node: &Node, wanted: &str, hint: Option<String>) {
        if !matches!(node.kind, Kind::Broken) {
            let found = node.describe(self.text);
            self.complain_with(path, &node.span, format!("`{path}` is {wanted}; found {found}"), hint);
        }
    }

    /// *`Randm` is not a kind of matrix.*
    pub fn unknown(&mut self, path: &Path<'_>, span: &Span, what: &str, known: &[&str]) {
        let found = &self.text[span.clone()];
        let hint = match nearest(found, known.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("known are {}", known.join(", ")),
        };
        self.complain_with(path, span, format!("`{found}` is not {what}"), Some(hint));
    }

    pub fn slice(&self, span: &Span) -> &'t str {
        &self.text[span.clone()]
    }

    /// A number, as RON reads it; integers are accepted.
    pub fn number(&mut self, node: &Node, path: &Path<'_>) -> Option<f64> {
        let node = node.without_some(self.text);
        if !matches!(node.kind, Kind::Number) {
            self.expected(path, node, "a number");
            return None;
        }
        let found = self.slice(&node.span);
        let number = plain_number(found)
            .or_else(|| ron::from_str(found).ok())
            // Hexadecimal and the like are integers in RON, and integers are accepted.
            .or_else(|| ron::from_str::<i64>(found).ok().map(|integer| integer as f64));
        if number.is_none() {
            let shown = node.describe(self.text).replacen("the number ", "", 1);
            self.complain(path, &node.span, format!("`{shown}` is not a number"));
        }
        number
    }

    /// A whole number that is not negative. `meaning` says what it counts, for the one who wrote −1 or 1.5.
    pub fn count(&mut self, node: &Node, path: &Path<'_>, meaning: &str) -> Option<usize> {
        let node = node.without_some(self.text);
        let found = self.slice(&node.span);
        let count = if matches!(node.kind, Kind::Number) { ron::from_str(found).ok() } else { None };
        if count.is_none() {
            self.expected_with(path, node, "a whole number, 0 or more", Some(meaning.to_owned()));
        }
        count
    }

    /// A whole number of either sign.
    pub fn integer(&mut self, node: &Node, path: &Path<'_>) -> Option<i64> {
        let node = node.without_some(self.text);
        let found = self.slice(&node.span);
        let integer = if matches!(node.kind, Kind::Number) { ron::from_str(found).ok() } else { None };
        if integer.is_none() {
            self.expected(path, node, "a whole number");
        }
        integer
    }

    pub fn boolean(&mut self, node: &Node, path: &Path<'_>) -> Option<bool> {
        let node = node.without_some(self.text);
        match node.kind {
            Kind::Bool(value) => Some(value),
            _ => {
                self.expected(path, node, "`true` or `false`");
                None
            }
        }
    }

    pub fn string(&mut self, node: &Node, path: &Path<'_>) -> Option<String> {
        let node = node.without_some(self.text);
        match &node.kind {
            Kind::Text(text) => Some(text.clone()),
            _ => {
                self.expected_with(path, node, "a text in double quotes", None);
                None
            }
        }
    }

    /// Every item decoded, so that all of them get their complaints; `None` if any failed.
    pub fn list<T>(
        &mut self,
        node: &Node,
        path: &Path<'_>,
        wanted: &str,
        mut item: impl FnMut(&mut Self, &Node, &Path<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let node = node.without_some(self.text);
        let Kind::List(group) = &node.kind else {
            self.expected(path, node, wanted);
            return None;
        };
        let items: Vec<Option<T>> = group
            .entries
            .iter()
            .enumerate()
            .map(|(index, entry)| item(self, &entry.value, &path.index(index)))
            .collect();
        items.into_iter().collect()
    }

    pub fn numbers(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<f64>> {
        self.list(node, path, "a list of numbers", Self::number)
    }

    pub fn booleans(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<bool>> {
        self.list(node, path, "a list of `true` and `false`", Self::boolean)
    }

    pub fn strings(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<String>> {
        self.list(node, path, "a list of texts", Self::string)
    }

    /// A bare name or a name with brackets.
    pub fn variant<'n>(&mut self, node: &'n Node, path: &Path<'_>, wanted: &str) -> Option<Variant<'n>>
    where
        't: 'n,
    {
        let node = node.without_some(self.text);
        match &node.kind {
            Kind::Name => {
                Some(Variant { name: self.slice(&node.span), name_span: node.span.clone(), group: None })
            }
            Kind::Parens(group @ Group { name: Some(name), .. }) => {
                Some(Variant { name: self.slice(name), name_span: name.clone(), group: Some(group) })
            }
            _ => {
                self.expected(path, node, wanted);
                None
            }
        }
    }

    /// One of a few bare names: `QueriesAsRows`.
    pub fn choice<T: Copy>(
        &mut self,
        node: &Node,
        path: &Path<'_>,
        what: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let node = node.without_some(self.text);
        if !matches!(node.kind, Kind::Name) {
            self.expected(path, node, &format!("one of {}", names.join(", ")));
            return None;
        }
        let found = self.slice(&node.span);
        let choice = choices.iter().find(|(name, _)| *name == found).map(|(_, value)| *value);
        if choice.is_none() {
            self.unknown(path, &node.span, what, &names);
        }
        choice
    }
}

/// The common case, digits with a point at most, without the detour over a RON parser.
fn plain_number(found: &str) -> Option<f64> {
    let digits = found.strip_prefix('-').unwrap_or(found);
    let plain = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && !digits.contains("..");
    if plain { found.parse().ok() } else { None }
}

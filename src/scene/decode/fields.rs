//! The fields of a struct: known, unknown, missing, twice.

use super::decoder::Decoder;
use super::path::Path;
use crate::scene::nearest::nearest;
use crate::scene::syntax::{Group, Kind, Node, Span};

/// What a struct may hold.
pub(super) struct Known<'k> {
    /// The struct's name, for complaints.
    pub name: &'k str,
    /// Fields, in the order in which they are usually written.
    pub fields: &'k [&'k str],
}

/// The fields that were found.
pub(super) struct Fields<'n> {
    /// The struct's name, or its opening bracket: where something is missing.
    pub head: Span,
    found: Vec<(&'n str, &'n Node)>,
}

impl<'n> Fields<'n> {
    /// The field, unless it is absent or `None`.
    pub fn get(&self, name: &str) -> Option<&'n Node> {
        self.found.iter().find(|(found, _)| *found == name).map(|(_, node)| *node)
    }
}

impl<'t> Decoder<'t> {
    /// The fields of a group in parentheses. Complains about unknown, repeated and nameless ones and goes on.
    pub fn fields<'n>(&mut self, group: &'n Group, path: &Path<'_>, known: &Known<'_>) -> Fields<'n>
    where
        't: 'n,
    {
        let head = group.name.clone().unwrap_or(group.open..group.open + 1);
        let mut found: Vec<(&str, &Node)> = Vec::new();
        for entry in &group.entries {
            let Some(key) = &entry.key else {
                self.nameless(&entry.value, path, known);
                continue;
            };
            let name = self.slice(key);
            if found.iter().any(|(other, _)| *other == name) {
                self.complain(&path.field(name), key, format!("`{name}` is given twice"));
            } else if known.fields.contains(&name) {
                if !self.is_none(&entry.value) {
                    found.push((name, &entry.value));
                }
            } else {
                self.unknown_field(key, path, known);
            }
        }
        Fields { head, found }
    }

    fn is_none(&self, node: &Node) -> bool {
        matches!(node.kind, Kind::Name) && self.slice(&node.span) == "None"
    }

    fn nameless(&mut self, value: &Node, path: &Path<'_>, known: &Known<'_>) {
        if !matches!(value.kind, Kind::Broken) {
            let Known { name, fields, .. } = known;
            let found = value.describe(self.text);
            let hint = format!("{name} has the fields {}", fields.join(", "));
            self.complain_with(
                path,
                &value.span,
                format!("expected a field of {name}, found {found}"),
                Some(hint),
            );
        }
    }

    fn unknown_field(&mut self, key: &Span, path: &Path<'_>, known: &Known<'_>) {
        let Known { name: owner, fields, .. } = known;
        let name = self.slice(key);
        let hint = match nearest(name, fields.iter().copied()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None if fields.is_empty() => format!("{owner} has no fields"),
            None => format!("{owner} has the fields {}", fields.join(", ")),
        };
        self.complain_with(&path.field(name), key, format!("`{name}` is not a field of {owner}"), Some(hint));
    }

    /// A field that has to be there.
    pub fn required<'n>(
        &mut self,
        fields: &Fields<'n>,
        path: &Path<'_>,
        owner: &str,
        name: &str,
    ) -> Option<&'n Node> {
        let node = fields.get(name);
        if node.is_none() {
            self.complain(&path.field(name), &fields.head, format!("{owner} has no `{name}`"));
        }
        node
    }

    /// Fields in parentheses without a name, as `view: (..)`, or with `name` before them.
    pub fn nested<'n>(&mut self, node: &'n Node, path: &Path<'_>, known: &Known<'_>) -> Option<Fields<'n>>
    where
        't: 'n,
    {
        let node = node.without_some(self.text);
        match &node.kind {
            Kind::Parens(group) if group.name.is_none() => Some(self.fields(group, path, known)),
            _ => {
                self.expected(
                    path,
                    node,
                    &format!("a group in parentheses with the fields {}", known.fields.join(", ")),
                );
                None
            }
        }
    }
}

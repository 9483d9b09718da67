//! RON as a located tree: every value with its stretch of the file, comments kept.
//!
//! The `ron` crate stops at the first error, gives no place to what is wrong in meaning, and drops comments. This tree
//! knows where everything stands, so that all complaints can be made at once and a file can be changed without being
//! laid out anew. What a number or a text *means* is still asked of the `ron` crate, one scalar at a time.
//!
//! This part knows nothing of scenes.

mod cursor;
mod parse;
mod scalars;

use std::ops::Range;

pub(super) use parse::{Fault, parse};

/// A byte range of the file.
pub(super) type Span = Range<usize>;

/// A parsed file.
#[derive(Debug)]
pub(super) struct Tree {
    pub root: Node,
    /// Every comment, in order of appearance.
    pub comments: Vec<Span>,
}

/// One value.
#[derive(Debug)]
pub(super) struct Node {
    pub span: Span,
    pub kind: Kind,
}

/// What a value looks like.
#[derive(Debug)]
pub(super) enum Kind {
    /// Something that begins like a number; not yet proved to be one.
    Number,
    /// A text, unescaped.
    Text(String),
    /// A character in single quotes.
    Char,
    /// `true` or `false`.
    Bool(bool),
    /// A bare name: `Dot`.
    Name,
    /// `[..]`.
    List(Group),
    /// `(..)` or `Name(..)`: a struct or a tuple, told apart by the keys of its entries.
    Parens(Group),
    /// `{..}`.
    Map(Group),
    /// Something about which a complaint has been made already.
    Broken,
}

/// What stands between two brackets.
#[derive(Debug)]
pub(super) struct Group {
    /// The name before the bracket.
    pub name: Option<Span>,
    /// Where the opening bracket stands.
    pub open: usize,
    /// Where the closing bracket stands.
    pub close: usize,
    pub entries: Vec<Entry>,
}

/// One item or field of a group.
#[derive(Debug)]
pub(super) struct Entry {
    /// The field's name, in structs and in maps whose keys are names or texts.
    pub key: Option<Span>,
    pub value: Node,
    /// Where the comma after it stands.
    pub comma: Option<usize>,
}

impl Entry {
    /// From the key (or the value, where there is none) to the end of the value.
    pub fn span(&self) -> Span {
        let start = self.key.as_ref().map_or(self.value.span.start, |key| key.start);
        start..self.value.span.end
    }
}

impl Node {
    /// The value inside any number of `Some(..)`.
    pub fn without_some(&self, text: &str) -> &Self {
        let mut node = self;
        while let Kind::Parens(Group { name: Some(name), entries, .. }) = &node.kind {
            match entries.as_slice() {
                [Entry { key: None, value, .. }] if &text[name.clone()] == "Some" => node = value,
                _ => break,
            }
        }
        node
    }

    /// The group, whatever its brackets.
    pub fn group(&self) -> Option<&Group> {
        match &self.kind {
            Kind::List(group) | Kind::Parens(group) | Kind::Map(group) => Some(group),
            _ => None,
        }
    }

    /// What it is, with its article, as a complaint says it: `a number`, `a list`.
    pub fn describe(&self, text: &str) -> String {
        match &self.kind {
            Kind::Number => format!("the number {}", shorten(&text[self.span.clone()])),
            Kind::Text(_) => format!("the text {}", shorten(&text[self.span.clone()])),
            Kind::Char => format!("the character {}", &text[self.span.clone()]),
            Kind::Bool(value) => value.to_string(),
            Kind::Name => format!("`{}`", shorten(&text[self.span.clone()])),
            Kind::List(group) if group.entries.is_empty() => "an empty list".to_owned(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Parens(Group { name: Some(name), .. }) => format!("`{}(..)`", shorten(&text[name.clone()])),
            Kind::Parens(_) => "a group in parentheses".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
            Kind::Broken => "something unreadable".to_owned(),
        }
    }
}

/// At most about 30 characters of one line.
pub(super) fn shorten(text: &str) -> String {
    let mut shown: String = text.chars().take_while(|c| *c != '\n').take(30).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// The value that a field path such as `input.k[0][2]` names, or the deepest one on the way there.
pub(super) fn locate<'t>(root: &'t Node, text: &str, path: &str) -> &'t Node {
    let mut node = root.without_some(text);
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        let next = match step.strip_suffix(']') {
            Some(index) => index.parse().ok().and_then(|index: usize| item(node, index)),
            None => field(node, text, step),
        };
        match next {
            Some(next) => node = next.without_some(text),
            None => break,
        }
    }
    node
}

fn field<'t>(node: &'t Node, text: &str, name: &str) -> Option<&'t Node> {
    let entries = &node.group()?.entries;
    let named = |entry: &&Entry| entry.key.as_ref().is_some_and(|key| &text[key.clone()] == name);
    entries.iter().find(named).map(|entry| &entry.value)
}

fn item(node: &Node, index: usize) -> Option<&Node> {
    let group = node.group()?;
    // `Additive([[0, 1]])`: the index counts rows, not the arguments of `Additive`.
    if let (Kind::Parens(_), [only]) = (&node.kind, group.entries.as_slice()) {
        return item(&only.value, index);
    }
    group.entries.get(index).map(|entry| &entry.value)
}

//! Text → located tree, with every complaint about the form that can be made.

use super::cursor::{Cursor, OpenComment};
use super::{Entry, Group, Kind, Node, Span, Tree, shorten};

/// Brackets within brackets that are followed. No scene needs a tenth of it, and the stack is finite.
const MAX_DEPTH: usize = 100;

/// Faults reported; a file that is not a scene at all would make thousands.
const MAX_FAULTS: usize = 20;

/// Something wrong with the form of the text.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::scene) struct Fault {
    pub span: Span,
    pub message: String,
    pub hint: Option<&'static str>,
}

/// The tree of a text. There is a tree beside the faults when reading could go on to the end.
pub(in crate::scene) fn parse(text: &str) -> (Option<Tree>, Vec<Fault>) {
    let mut parser = Parser { cursor: Cursor::new(text), faults: Vec::new() };
    let root = parser.file().ok();
    let Parser { cursor, faults } = parser;
    (root.map(|root| Tree { root, comments: cursor.comments }), faults)
}

/// Reading cannot go on; the fault has been recorded.
pub(super) struct Stop;

pub(super) struct Parser<'t> {
    pub cursor: Cursor<'t>,
    faults: Vec<Fault>,
}

/// What may follow `#![enable(`. Implicit `Some` is always on, so that the first changes nothing here.
const EXTENSIONS: [&str; 4] =
    ["implicit_some", "unwrap_newtypes", "unwrap_variant_newtypes", "explicit_struct_names"];

impl Parser<'_> {
    fn file(&mut self) -> Result<Node, Stop> {
        self.blanks()?;
        while self.cursor.eat("#!") {
            self.extensions()?;
            self.blanks()?;
        }
        if self.cursor.peek().is_none() {
            let end = self.cursor.at;
            self.fault(end..end, "the file is empty; expected `Scene(..)`");
            return Err(Stop);
        }
        let root = self.value(0)?;
        self.blanks()?;
        if self.cursor.peek().is_some() {
            let start = self.cursor.at;
            let found = shorten(self.cursor.rest());
            self.fault(start..start + found.len(), format!("expected the end of the file, found `{found}`"));
        }
        Ok(root)
    }

    /// `[enable(implicit_some, ..)]`, the `#!` being passed.
    fn extensions(&mut self) -> Result<(), Stop> {
        let start = self.cursor.at;
        let line_end = self.cursor.rest().find(']').map(|end| start + end);
        let Some(end) = line_end else {
            self.fault(start..start + 1, "expected `[enable(..)]` after `#!`");
            return Err(Stop);
        };
        let inside = &self.cursor.text[start..end];
        self.cursor.at = end + 1;
        let names: Option<String> = inside
            .strip_prefix('[')
            .map(str::trim)
            .and_then(|inside| inside.strip_prefix("enable"))
            .map(str::trim)
            .and_then(|inside| inside.strip_prefix('('))
            .and_then(|inside| inside.strip_suffix(')'))
            .map(str::to_owned);
        let Some(names) = names else {
            self.fault(start..end + 1, "expected `[enable(..)]` after `#!`");
            return Ok(());
        };
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if !EXTENSIONS.contains(&name) {
                self.fault(start..end + 1, format!("`{name}` is not an extension of RON"));
            }
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node, Stop> {
        let start = self.cursor.at;
        if depth > MAX_DEPTH {
            self.fault(start..start + 1, format!("more than {MAX_DEPTH} brackets inside each other"));
            return Err(Stop);
        }
        let kind = match self.cursor.peek() {
            Some('(') => Kind::Parens(self.group(None, ')', depth)?),
            Some('[') => Kind::List(self.group(None, ']', depth)?),
            Some('{') => Kind::Map(self.group(None, '}', depth)?),
            Some('"') => self.text()?,
            Some('\'') => self.character(),
            Some('r') if self.raw_text_follows() => self.raw_text()?,
            Some('0'..='9' | '+' | '-' | '.') => self.number(),
            _ => match self.cursor.eat_name() {
                Some(name) => self.named(name, depth)?,
                None => self.unreadable(),
            },
        };
        Ok(Node { span: start..self.cursor.at, kind })
    }

    fn named(&mut self, name: Span, depth: usize) -> Result<Kind, Stop> {
        match &self.cursor.text[name.clone()] {
            "true" => return Ok(Kind::Bool(true)),
            "false" => return Ok(Kind::Bool(false)),
            "inf" | "NaN" | "inff32" | "inff64" | "NaNf32" | "NaNf64" => return Ok(Kind::Number),
            _ => {}
        }
        // Blanks may stand between a name and its bracket; after a bare name they are left to the group around it.
        let mark = (self.cursor.at, self.cursor.comments.len());
        self.blanks()?;
        if self.cursor.peek() == Some('(') {
            return Ok(Kind::Parens(self.group(Some(name), ')', depth)?));
        }
        self.cursor.at = mark.0;
        self.cursor.comments.truncate(mark.1);
        Ok(Kind::Name)
    }

    /// Entries up to the closing bracket; the opening one comes next.
    fn group(&mut self, name: Option<Span>, closer: char, depth: usize) -> Result<Group, Stop> {
        let open = self.cursor.at;
        self.cursor.bump();
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            self.blanks()?;
            match self.cursor.peek() {
                None => {
                    let opener = &self.cursor.text[open..=open];
                    self.fault(
                        open..open + 1,
                        format!(
                            "this `{opener}` is never closed; expected `{closer}` before the end of the file"
                        ),
                    );
                    return Err(Stop);
                }
                Some(found) if found == closer => {
                    let close = self.cursor.at;
                    self.cursor.bump();
                    return Ok(Group { name, open, close, entries });
                }
                Some(found @ (')' | ']' | '}')) => {
                    let at = self.cursor.at;
                    let opener = &self.cursor.text[open..=open];
                    let line = self.cursor.text[..open].matches('\n').count() + 1;
                    self.fault(
                        at..at + 1,
                        format!(
                            "expected `{closer}` to close the `{opener}` of line {line}, found `{found}`"
                        ),
                    );
                    return Err(Stop);
                }
                Some(',') => {
                    let at = self.cursor.at;
                    self.fault(at..at + 1, "a comma without a value before it");
                    self.cursor.bump();
                }
                Some(_) => {
                    let missing_comma = entries.last().is_some_and(|last| last.comma.is_none());
                    if missing_comma {
                        let at = self.cursor.at;
                        self.fault(at..at + 1, format!("expected a comma or `{closer}` here"));
                    }
                    let entry = self.entry(closer, depth)?;
                    entries.push(entry);
                }
            }
            if self.faults.len() > MAX_FAULTS {
                return Err(Stop);
            }
        }
    }

    /// One value, with `key:` before it where there is one, and the comma after it.
    fn entry(&mut self, closer: char, depth: usize) -> Result<Entry, Stop> {
        let first = if closer == ')' { self.key()? } else { None };
        let (key, value) = match first {
            Some(key) => (Some(key), self.value_after_colon(depth)?),
            None => {
                let value = self.value(depth + 1)?;
                self.blanks()?;
                if closer == '}' && self.cursor.eat(":") {
                    (Some(value.span), self.value_after_colon(depth)?)
                } else {
                    (None, value)
                }
            }
        };
        self.blanks()?;
        let comma = self.cursor.at;
        let comma = self.cursor.eat(",").then_some(comma);
        Ok(Entry { key, value, comma })
    }

    fn value_after_colon(&mut self, depth: usize) -> Result<Node, Stop> {
        self.blanks()?;
        let at = self.cursor.at;
        if matches!(self.cursor.peek(), Some(',' | ')' | ']' | '}') | None) {
            self.fault(at..at + 1, "expected a value after the colon");
            return Ok(Node { span: at..at, kind: Kind::Broken });
        }
        self.value(depth + 1)
    }

    /// `name:`, if it comes next; else nothing is passed.
    fn key(&mut self) -> Result<Option<Span>, Stop> {
        let mark = (self.cursor.at, self.cursor.comments.len());
        if let Some(name) = self.cursor.eat_name() {
            self.blanks()?;
            if self.cursor.eat(":") {
                return Ok(Some(name));
            }
        }
        self.cursor.at = mark.0;
        self.cursor.comments.truncate(mark.1);
        Ok(None)
    }

    fn blanks(&mut self) -> Result<(), Stop> {
        self.cursor.skip_blanks().map_err(|OpenComment(start)| {
            self.fault(start..start + 2, "this comment is never closed; expected `*/`");
            Stop
        })
    }

    pub(super) fn fault(&mut self, span: Span, message: impl Into<String>) {
        self.fault_with(span, message, None);
    }

    pub(super) fn fault_with(&mut self, span: Span, message: impl Into<String>, hint: Option<&'static str>) {
        self.faults.push(Fault { span, message: message.into(), hint });
    }
}

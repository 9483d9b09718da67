//! A reading position in a text: blanks, comments and the ends of words.

use super::Span;

/// A position in the text that only moves forward, and never into the middle of a character.
pub(super) struct Cursor<'t> {
    pub text: &'t str,
    pub at: usize,
    /// Comments passed so far.
    pub comments: Vec<Span>,
}

/// A comment that is opened but never closed begins here.
pub(super) struct OpenComment(pub usize);

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Self {
        // A byte-order mark is no part of the scene.
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, at, comments: Vec::new() }
    }

    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Passes one character.
    pub fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Passes `expected` if it comes next.
    pub fn eat(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Passes characters as long as they fulfil `wanted`; gives what was passed.
    pub fn eat_while(&mut self, wanted: impl Fn(char) -> bool) -> Span {
        let start = self.at;
        let rest = self.rest();
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        start..self.at
    }

    /// Passes a name, if one comes next.
    pub fn eat_name(&mut self) -> Option<Span> {
        let first = self.peek()?;
        (first.is_alphabetic() || first == '_').then(|| self.eat_while(|c| c.is_alphanumeric() || c == '_'))
    }

    /// Passes blanks and comments.
    pub fn skip_blanks(&mut self) -> Result<(), OpenComment> {
        loop {
            self.eat_while(char::is_whitespace);
            let start = self.at;
            if self.eat("//") {
                self.eat_while(|c| c != '\n');
            } else if self.eat("/*") {
                self.skip_block(start)?;
            } else {
                return Ok(());
            }
            self.comments.push(start..self.at);
        }
    }

    /// The rest of a block comment; block comments nest.
    fn skip_block(&mut self, start: usize) -> Result<(), OpenComment> {
        let mut depth = 1;
        while depth > 0 {
            if self.eat("*/") {
                depth -= 1;
            } else if self.eat("/*") {
                depth += 1;
            } else if self.peek().is_some() {
                self.bump();
            } else {
                return Err(OpenComment(start));
            }
        }
        Ok(())
    }
}

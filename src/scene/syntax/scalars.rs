//! Numbers, texts and characters.

use super::parse::{Parser, Stop};
use super::{Kind, shorten};

impl Parser<'_> {
    /// Whatever begins like a number; the decoder asks RON whether it is one, and blames this very stretch if not.
    pub(super) fn number(&mut self) -> Kind {
        let text = self.cursor.text;
        let start = self.cursor.at;
        self.cursor.bump();
        loop {
            self.cursor.eat_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
            let so_far = &text[start..self.cursor.at];
            let in_exponent = so_far.ends_with(['e', 'E']) && !so_far.contains(['x', 'X']);
            if !(in_exponent && (self.cursor.eat("+") || self.cursor.eat("-"))) {
                return Kind::Number;
            }
        }
    }

    pub(super) fn text(&mut self) -> Result<Kind, Stop> {
        let start = self.cursor.at;
        self.cursor.bump();
        loop {
            self.cursor.eat_while(|c| c != '"' && c != '\\');
            match self.cursor.peek() {
                Some('"') => {
                    self.cursor.bump();
                    return Ok(self.meaning(start));
                }
                Some(_) => {
                    self.cursor.bump();
                    self.cursor.bump();
                }
                None => {
                    self.fault(start..start + 1, "this text is never closed; expected `\"`");
                    return Err(Stop);
                }
            }
        }
    }

    pub(super) fn raw_text_follows(&self) -> bool {
        self.cursor.rest()[1..].trim_start_matches('#').starts_with('"')
    }

    pub(super) fn raw_text(&mut self) -> Result<Kind, Stop> {
        let start = self.cursor.at;
        self.cursor.bump();
        let hashes = self.cursor.eat_while(|c| c == '#');
        let end = format!("\"{}", &self.cursor.text[hashes]);
        self.cursor.bump();
        let Some(length) = self.cursor.rest().find(&end) else {
            self.fault(start..start + 1, format!("this raw text is never closed; expected `{end}`"));
            return Err(Stop);
        };
        self.cursor.at += length + end.len();
        Ok(self.meaning(start))
    }

    /// The text that was just passed, as RON reads it.
    pub(super) fn meaning(&mut self, start: usize) -> Kind {
        let span = start..self.cursor.at;
        match ron::from_str(&self.cursor.text[span.clone()]) {
            Ok(text) => Kind::Text(text),
            Err(error) => {
                let why = error.code;
                self.fault(span, format!("this text cannot be read: {why}"));
                Kind::Broken
            }
        }
    }

    pub(super) fn character(&mut self) -> Kind {
        let start = self.cursor.at;
        self.cursor.bump();
        if self.cursor.eat("\\") {
            self.cursor.bump();
            self.cursor.eat_while(|c| c != '\'' && c != '\n' && c != ',');
        } else {
            self.cursor.bump();
        }
        if self.cursor.eat("'") {
            return Kind::Char;
        }
        self.fault_with(
            start..self.cursor.at,
            "this character is never closed; expected `'`",
            Some("texts stand in double quotes: \"the\""),
        );
        Kind::Broken
    }

    /// Passes what is no value, up to where one could come again.
    pub(super) fn unreadable(&mut self) -> Kind {
        let start = self.cursor.at;
        self.cursor.bump();
        self.cursor
            .eat_while(|c| !c.is_whitespace() && !matches!(c, ',' | '(' | ')' | '[' | ']' | '{' | '}' | '"'));
        let found = shorten(&self.cursor.text[start..self.cursor.at]);
        self.fault(start..self.cursor.at, format!("expected a value, found `{found}`"));
        Kind::Broken
    }
}

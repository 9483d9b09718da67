//! What is wrong with a scene, and where.

use std::fmt;
use std::ops::Range;

/// Whether a complaint keeps the scene from loading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The scene does not load.
    Error,
    /// The scene loads; the reader should know.
    Warning,
}

/// A stretch of the file. Lines and columns count from 1; a column is a character, not a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column of the first character, from 1.
    pub column: usize,
    /// Characters, at least 1; never beyond the end of the line.
    pub length: usize,
}

/// One complaint about a scene: which field, what was expected and found, and where in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Whether it keeps the scene from loading.
    pub severity: Severity,
    /// The field, as a path from the top of the file; indices count from 0: `input.k[0]`. Empty for the file as a whole.
    pub field: String,
    /// One sentence in the words of the field, with expected and found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Where in the file; `None` when the scene did not come from text.
    pub place: Option<Place>,
}

impl Complaint {
    /// An error about `field`, with no place yet.
    pub fn error(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            field: field.into(),
            message: message.into(),
            hint: None,
            place: None,
        }
    }

    /// A warning about `field`, with no place yet.
    pub fn warning(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(field, message) }
    }

    /// The same complaint with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl Place {
    /// The place of a byte range of `text`. Ranges outside the text, or inside a character, are moved to the nearest character.
    pub fn of(text: &str, span: &Range<usize>) -> Self {
        let start = floor_char(text, span.start);
        let end = floor_char(text, span.end).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let on_this_line = text[start..end].lines().next().unwrap_or("");
        Self {
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            length: on_this_line.chars().count().max(1),
        }
    }
}

fn floor_char(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A complaint as a terminal or a banner shows it: `file:line:column: sentence`, the line of the file, a caret, the hint.
///
/// A very long line is shown only around the culprit. Without a place, the sentence alone follows the file's name.
pub fn render_complaint(file_name: &str, text: &str, complaint: &Complaint) -> String {
    let kind = match complaint.severity {
        Severity::Error => "",
        Severity::Warning => "warning: ",
    };
    let message = &complaint.message;
    let mut rendered = match &complaint.place {
        None => format!("{file_name}: {kind}{message}"),
        Some(place) => {
            let Place { line, column, .. } = place;
            let source = excerpt(text, place);
            format!("{file_name}:{line}:{column}: {kind}{message}\n{source}")
        }
    };
    if let Some(hint) = &complaint.hint {
        rendered.push_str("\n  hint: ");
        rendered.push_str(hint);
    }
    rendered
}

/// The source line with a caret under the culprit.
fn excerpt(text: &str, place: &Place) -> String {
    /// Characters of the line shown at most.
    const WIDTH: usize = 100;
    let line = text.split('\n').nth(place.line - 1).unwrap_or("").trim_end_matches('\r');
    let n_chars = line.chars().count();
    let start = if place.column <= WIDTH / 2 || n_chars <= WIDTH { 0 } else { place.column - WIDTH / 2 };
    let shown: String =
        line.chars().skip(start).take(WIDTH).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let before = place.column - 1 - start;
    let room = shown.chars().count().saturating_sub(before).max(1);
    let number = place.line.to_string();
    let margin = " ".repeat(number.len());
    let carets = "^".repeat(place.length.min(room));
    format!("  {number} | {shown}\n  {margin} | {}{carets}", " ".repeat(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_culprit_even_behind_wide_letters() {
        let text = "Scene(\n    titel: \"größe\", mask: 7,\n)";
        let start = text.find('7').unwrap();
        let mut complaint =
            Complaint::error("mask", "expected a list, found a number").with_hint("write [..]");
        complaint.place = Some(Place::of(text, &(start..start + 1)));
        let rendered = render_complaint("a.ron", text, &complaint);
        let lines: Vec<&str> = rendered.lines().collect();
        assert_eq!(lines[0], "a.ron:2:27: expected a list, found a number");
        assert_eq!(
            lines[1].chars().position(|c| c == '7'),
            lines[2].chars().position(|c| c == '^'),
            "{rendered}"
        );
        assert_eq!(lines[3], "  hint: write [..]");
    }

    #[test]
    fn a_place_never_leaves_the_text() {
        for span in [0..0, 3..900, 900..901, 1..2] {
            let place = Place::of("é\nab", &span);
            assert!(place.line <= 2 && place.length >= 1, "{span:?} gives {place:?}");
        }
    }
}

//! Small changes to a text, made all at once, that keep its comments and its layout.

use super::syntax::{Entry, Group, Span};

/// Changes to a text that have not been made yet. Spans are those of the unchanged text.
pub(super) struct Edits<'t> {
    text: &'t str,
    comments: &'t [Span],
    edits: Vec<(Span, String)>,
}

impl<'t> Edits<'t> {
    pub fn new(text: &'t str, comments: &'t [Span]) -> Self {
        Self { text, comments, edits: Vec::new() }
    }

    /// The text with every change made, those at one place in the order in which they were asked for.
    pub fn apply(mut self) -> String {
        self.edits.sort_by_key(|(span, _)| span.start);
        let mut changed = String::with_capacity(self.text.len());
        let mut done = 0;
        for (span, new) in &self.edits {
            let start = span.start.max(done);
            changed.push_str(&self.text[done..start]);
            changed.push_str(new);
            done = span.end.max(start);
        }
        changed.push_str(&self.text[done..]);
        changed
    }

    /// Replaces a value. Comments inside it move before the new value.
    pub fn replace(&mut self, span: Span, new: String) {
        let kept = self.comments_in(&span);
        self.edits.push((span, kept + &new));
    }

    /// Removes an entry with its comma, and its line if nothing else is there. Comments inside it stay.
    pub fn remove(&mut self, entry: &Entry) {
        let mut span = entry.span();
        if let Some(comma) = entry.comma {
            span.end = comma + 1;
        }
        let kept = self.comments_in(&span);
        let line_start = self.line_start(span.start);
        let rest = &self.text[span.end..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let line_break = ["\n", "\r\n"].into_iter().find(|end| rest[blank..].starts_with(end));
        match line_break {
            Some(line_break) if kept.is_empty() && self.text[line_start..span.start].trim().is_empty() => {
                span.start = line_start;
                span.end += blank + line_break.len();
            }
            Some(_) => {}
            None => span.end += blank,
        }
        self.edits.push((span, kept));
    }

    /// Adds an entry after entry number `after`, or as the first; on its own line where the group has its entries so.
    pub fn insert(&mut self, group: &Group, after: Option<usize>, new: &str) {
        let previous = after.and_then(|after| group.entries.get(after));
        if !self.is_multi_line(group) {
            match previous {
                Some(previous) => self.insert_at(previous.span().end, format!(", {new}")),
                None => self.insert_at(group.open + 1, format!("{new}, ")),
            }
            return;
        }
        let base = match previous {
            Some(Entry { comma: Some(comma), .. }) => comma + 1,
            Some(previous) => {
                let end = previous.span().end;
                let missing_comma = (end..end, ",".to_owned());
                if !self.edits.contains(&missing_comma) {
                    self.edits.push(missing_comma);
                }
                end
            }
            None => group.open + 1,
        };
        let margin = " ".repeat(self.entry_indent(group));
        self.insert_at(self.after_comments_on_line(base), format!("\n{margin}{new},"));
    }

    fn insert_at(&mut self, at: usize, new: String) {
        self.edits.push((at..at, new));
    }

    /// The column in which entries of a group begin on their lines.
    pub fn entry_indent(&self, group: &Group) -> usize {
        let entries = || group.entries.iter().map(|entry| entry.span().start);
        let first_on_line = |start: &usize| self.text[self.line_start(*start)..*start].trim().is_empty();
        let start = entries().find(first_on_line).or_else(|| entries().next());
        start.map_or(0, |start| self.column(start))
    }

    /// The blanks at the beginning of the line in which `at` lies.
    pub fn indent_of_line(&self, at: usize) -> usize {
        let line = &self.text[self.line_start(at)..];
        line.chars().take_while(|c| matches!(c, ' ' | '\t')).count()
    }

    /// Characters before `at` on its line.
    pub fn column(&self, at: usize) -> usize {
        self.text[self.line_start(at)..at].chars().count()
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// Whether the entries stand on lines of their own.
    fn is_multi_line(&self, group: &Group) -> bool {
        let mut end = group.open;
        group.entries.iter().any(|entry| {
            let span = entry.span();
            let gap = &self.text[end..span.start];
            end = span.end;
            gap.contains('\n')
        })
    }

    /// Behind the comments that follow `at` on its line, if nothing else does; else `at`.
    fn after_comments_on_line(&self, at: usize) -> usize {
        let mut end = at;
        loop {
            let rest = &self.text[end..];
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
            match self.comments.iter().find(|comment| comment.start == end + blank) {
                Some(comment) if !self.text[comment.clone()].contains('\n') => end = comment.end,
                _ if rest[blank..].starts_with('\n') => return end,
                _ => return at,
            }
        }
    }

    /// The comments inside a span, so written that a value can follow.
    fn comments_in(&self, span: &Span) -> String {
        let margin = " ".repeat(self.indent_of_line(span.start));
        let inside =
            self.comments.iter().filter(|comment| comment.start >= span.start && comment.end <= span.end);
        inside
            .map(|comment| match self.text[comment.clone()].trim_end() {
                line if line.starts_with("//") => format!("{line}\n{margin}"),
                block => format!("{block} "),
            })
            .collect()
    }
}

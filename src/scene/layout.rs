//! How a scene file is laid out: compact where it fits, one matrix row a line where it does not.

use super::out::Out;

/// Columns that a line may take.
const WIDTH: usize = 100;

/// Columns that a list of lists may take; longer matrices get one row a line.
const MATRIX_WIDTH: usize = 60;

const STEP: usize = 4;

/// A whole file.
pub(super) fn file(scene: &Out) -> String {
    let mut text = match scene {
        Out::Group(name, fields) => {
            let lines = fields.iter().map(|(name, value)| field(name, value, STEP));
            broken(name, "(", ")", lines, 0)
        }
        other => value(other, 0, 0),
    };
    text.push('\n');
    text
}

/// `name: value,` would be a line of its own, indented by `indent`.
pub(super) fn field(name: &str, out: &Out, indent: usize) -> String {
    format!("{name}: {}", value(out, indent, indent + name.len() + 2))
}

/// A value that begins in column `column` of a line indented by `indent`.
pub(super) fn value(out: &Out, indent: usize, column: usize) -> String {
    let flat = flat(out);
    let room = if is_list_of_lists(out) { MATRIX_WIDTH } else { WIDTH.saturating_sub(column + 1) };
    if flat.chars().count() <= room && !flat.contains('\n') && !has_long_matrix(out) {
        return flat;
    }
    let inner = indent + STEP;
    match out {
        Out::Word(_) | Out::Text(_) => flat,
        Out::List(items) if items.iter().all(|item| matches!(item, Out::Word(_))) => flat,
        Out::List(items) if items.iter().all(|item| matches!(item, Out::Text(_))) => filled(items, indent),
        Out::List(items) => broken("", "[", "]", items.iter().map(|item| value(item, inner, inner)), indent),
        Out::Group(name, fields) => {
            let lines = fields.iter().map(|(name, value)| field(name, value, inner));
            broken(name, "(", ")", lines, indent)
        }
        // The brackets of the argument open on the line of the name.
        Out::Call(name, argument) => {
            format!("{name}({})", value(argument, indent, column + name.len() + 1))
        }
    }
}

fn is_list_of_lists(out: &Out) -> bool {
    matches!(out, Out::List(items) if items.iter().any(|item| matches!(item, Out::List(_))))
}

/// Whether a matrix inside is too long for one line.
fn has_long_matrix(out: &Out) -> bool {
    match out {
        Out::Word(_) | Out::Text(_) => false,
        Out::List(items) => {
            (is_list_of_lists(out) && flat(out).len() > MATRIX_WIDTH) || items.iter().any(has_long_matrix)
        }
        Out::Group(_, fields) => fields.iter().any(|(_, value)| has_long_matrix(value)),
        Out::Call(_, argument) => has_long_matrix(argument),
    }
}

fn broken(name: &str, open: &str, close: &str, lines: impl Iterator<Item = String>, indent: usize) -> String {
    let (margin, inner) = (" ".repeat(indent), " ".repeat(indent + STEP));
    let body: String = lines.map(|line| format!("{inner}{line},\n")).collect();
    format!("{name}{open}\n{body}{margin}{close}")
}

/// Texts, as many on a line as fit.
fn filled(items: &[Out], indent: usize) -> String {
    let inner = " ".repeat(indent + STEP);
    let mut text = String::from("[");
    let mut column = WIDTH;
    for item in items {
        let item = flat(item);
        let wide = item.chars().count() + 2;
        if column + wide > WIDTH {
            text.push('\n');
            text.push_str(&inner);
            column = inner.len();
        } else {
            text.push(' ');
        }
        column += wide;
        text.push_str(&item);
        text.push(',');
    }
    text.push('\n');
    text.push_str(&" ".repeat(indent));
    text.push(']');
    text
}

/// On one line, but for the line breaks inside texts.
fn flat(out: &Out) -> String {
    match out {
        Out::Word(word) => word.clone(),
        Out::Text(text) => quoted(text),
        Out::List(items) => {
            let items: Vec<String> = items.iter().map(flat).collect();
            format!("[{}]", items.join(", "))
        }
        Out::Group(name, fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name}: {}", flat(value))).collect();
            format!("{name}({})", fields.join(", "))
        }
        Out::Call(name, argument) => format!("{name}({})", flat(argument)),
    }
}

/// A text in quotes: raw where it has several lines, so that it reads as it will be shown; escaped otherwise.
fn quoted(text: &str) -> String {
    let plain = |c: char| !c.is_control() || c == '\n' || c == '\t';
    if text.contains('\n') && text.chars().all(plain) {
        let mut hashes = "#".to_owned();
        while text.contains(&format!("\"{hashes}")) {
            hashes.push('#');
        }
        return format!("r{hashes}\"{text}\"{hashes}");
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

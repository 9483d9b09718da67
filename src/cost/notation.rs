//! How formulas are written: with symbols, with numbers, as plain text and as LaTeX.

use super::{Factor, Formula, Quantity, grouped};

impl Formula {
    /// With symbols: `2 · L · G · d_head · b`.
    pub fn symbols(&self) -> String {
        self.render(Style::Symbols)
    }

    /// With numbers: `2 · 32 · 8 · 128 · 2`.
    pub fn numbers(&self) -> String {
        self.render(Style::Numbers)
    }

    /// With symbols, for LaTeX's mathematics mode: `2 \cdot L \cdot G \cdot d_{\text{head}} \cdot b`.
    pub fn latex(&self) -> String {
        self.render(Style::Latex)
    }

    /// With numbers, for LaTeX's mathematics mode.
    pub fn latex_numbers(&self) -> String {
        self.render(Style::LatexNumbers)
    }

    fn render(&self, style: Style) -> String {
        let mut out = String::new();
        self.write(style, Binding::Loose, &mut out);
        out
    }

    fn write(&self, style: Style, around: Binding, out: &mut String) {
        match self {
            Self::Number(value) => out.push_str(&style.number(*value)),
            Self::Factor(factor) => out.push_str(&style.factor(factor)),
            Self::Product(parts) => {
                enclosed(around >= Binding::Tight, out, |out| {
                    join(parts, style, Binding::Product, style.times(), out);
                });
            }
            Self::Sum(parts) => {
                enclosed(around >= Binding::Product, out, |out| {
                    join(parts, style, Binding::Loose, " + ", out);
                });
            }
            Self::Difference(a, b) => enclosed(around >= Binding::Product, out, |out| {
                a.write(style, Binding::Loose, out);
                out.push_str(style.minus());
                b.write(style, Binding::Product, out);
            }),
            Self::Quotient(a, b) => style.fraction(a, b, around, out),
            Self::CeilQuotient(a, b) => style.rounded(a, b, ("⌈", "⌉"), ("\\lceil ", " \\rceil"), out),
            Self::FloorQuotient(a, b) => style.rounded(a, b, ("⌊", "⌋"), ("\\lfloor ", " \\rfloor"), out),
            Self::Min(a, b) => {
                out.push_str(if style.is_latex() { "\\min(" } else { "min(" });
                a.write(style, Binding::Loose, out);
                out.push_str(", ");
                b.write(style, Binding::Loose, out);
                out.push(')');
            }
        }
    }
}

impl Quantity {
    /// Symbols, numbers and result in one line of LaTeX.
    pub fn latex(&self) -> String {
        format!(
            "{} = {} = {}\\ \\text{{{}}}",
            self.formula.latex(),
            self.formula.latex_numbers(),
            Style::LatexNumbers.number(self.value),
            self.unit.suffix()
        )
    }
}

fn join(parts: &[Formula], style: Style, around: Binding, between: &str, out: &mut String) {
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            out.push_str(between);
        }
        part.write(style, around, out);
    }
}

fn enclosed(needed: bool, out: &mut String, inside: impl FnOnce(&mut String)) {
    if needed {
        out.push('(');
    }
    inside(out);
    if needed {
        out.push(')');
    }
}

/// How tightly the surroundings bind, hence whether a sum needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Loose,
    Product,
    Tight,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Symbols,
    Numbers,
    Latex,
    LatexNumbers,
}

impl Style {
    const fn is_latex(self) -> bool {
        matches!(self, Self::Latex | Self::LatexNumbers)
    }

    const fn times(self) -> &'static str {
        if self.is_latex() { " \\cdot " } else { " · " }
    }

    const fn minus(self) -> &'static str {
        if self.is_latex() { " - " } else { " − " }
    }

    fn number(self, value: u128) -> String {
        match self.is_latex() {
            true => grouped(value).replace(',', "{,}"),
            false => grouped(value),
        }
    }

    fn factor(self, factor: &Factor) -> String {
        match self {
            Self::Symbols => factor.symbol.to_owned(),
            Self::Latex => latex_symbol(factor.symbol),
            Self::Numbers | Self::LatexNumbers => self.number(factor.value),
        }
    }

    fn fraction(self, a: &Formula, b: &Formula, around: Binding, out: &mut String) {
        if self.is_latex() {
            out.push_str("\\frac{");
            a.write(self, Binding::Loose, out);
            out.push_str("}{");
            b.write(self, Binding::Loose, out);
            out.push('}');
            return;
        }
        enclosed(around >= Binding::Tight, out, |out| {
            a.write(self, Binding::Product, out);
            out.push_str(" / ");
            b.write(self, Binding::Tight, out);
        });
    }

    fn rounded(self, a: &Formula, b: &Formula, plain: (&str, &str), latex: (&str, &str), out: &mut String) {
        let (open, close) = if self.is_latex() { latex } else { plain };
        out.push_str(open);
        self.fraction(a, b, Binding::Loose, out);
        out.push_str(close);
    }
}

/// `d_head` as `d_{\text{head}}`, `n_q` as `n_{q}`; a whole word is set upright.
fn latex_symbol(symbol: &str) -> String {
    let upright = |word: &str| match (word, word.chars().count()) {
        ("Σ", _) => String::from("\\Sigma"),
        (_, 1) => word.to_owned(),
        _ => format!("\\text{{{word}}}"),
    };
    match symbol.split_once('_') {
        Some((base, below)) => format!("{}_{{{}}}", upright(base), upright(below)),
        None => upright(symbol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Field;

    #[test]
    fn parentheses_stand_only_where_they_are_needed() {
        let n = || Field::Queries.is(4_u64);
        let m = || Field::Keys.is(6_u64);
        assert_eq!(((n() + m()) * n()).symbols(), "(n_q + n_k) · n_q");
        assert_eq!((n() * m() + n()).symbols(), "n_q · n_k + n_q");
        assert_eq!(Formula::triangle(n()).symbols(), "n_q · (n_q + 1) / 2");
        assert_eq!((n() / (n() * m())).numbers(), "4 / (4 · 6)");
        assert_eq!((n() - (n() - m())).numbers(), "4 − (4 − 6)");
        assert_eq!((n().div_ceil(m()) * m()).numbers(), "⌈4 / 6⌉ · 6");
    }
}

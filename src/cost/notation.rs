//! How formulas are written: with symbols, with numbers, as plain text and as LaTeX.

use super::{Factor, Formula, Quantity, grouped};

/// A piece of a written formula: a factor, or what stands between factors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// As it is read.
    pub text: String,
    /// The factor that the text is, so that it can lead to its input.
    pub factor: Option<&'a Factor>,
}

/// A formula being written.
#[derive(Default)]
struct Pieces<'a>(Vec<Piece<'a>>);

impl<'a> Pieces<'a> {
    fn push_str(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(last) if last.factor.is_none() => last.text.push_str(text),
            _ => self.0.push(Piece { text: text.to_owned(), factor: None }),
        }
    }

    fn push(&mut self, letter: char) {
        self.push_str(letter.encode_utf8(&mut [0; 4]));
    }

    fn factor(&mut self, text: String, factor: &'a Factor) {
        self.0.push(Piece { text, factor: Some(factor) });
    }
}

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

    /// With symbols, in pieces that know their factors.
    pub fn symbol_pieces(&self) -> Vec<Piece<'_>> {
        self.pieces(Style::Symbols)
    }

    /// With numbers, in pieces that know their factors.
    pub fn number_pieces(&self) -> Vec<Piece<'_>> {
        self.pieces(Style::Numbers)
    }

    fn pieces(&self, style: Style) -> Vec<Piece<'_>> {
        let mut out = Pieces::default();
        self.write(style, Binding::Loose, &mut out);
        out.0
    }

    fn render(&self, style: Style) -> String {
        self.pieces(style).into_iter().map(|piece| piece.text).collect()
    }

    fn write<'a>(&'a self, style: Style, around: Binding, out: &mut Pieces<'a>) {
        match self {
            Self::Number(value) => out.push_str(&style.number(*value)),
            Self::Factor(factor) => out.factor(style.factor(factor), factor),
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

fn join<'a>(parts: &'a [Formula], style: Style, around: Binding, between: &str, out: &mut Pieces<'a>) {
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            out.push_str(between);
        }
        part.write(style, around, out);
    }
}

fn enclosed<'a>(needed: bool, out: &mut Pieces<'a>, inside: impl FnOnce(&mut Pieces<'a>)) {
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

    fn fraction<'a>(self, a: &'a Formula, b: &'a Formula, around: Binding, out: &mut Pieces<'a>) {
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

    fn rounded<'a>(
        self,
        a: &'a Formula,
        b: &'a Formula,
        plain: (&str, &str),
        latex: (&str, &str),
        out: &mut Pieces<'a>,
    ) {
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

    #[test]
    fn every_factor_is_a_piece_of_its_own_that_knows_its_input() {
        let formula = (Field::Queries.is(4_u64) + Formula::number(1_u64)) * Field::Keys.is(6_u64);
        let pieces = formula.number_pieces();
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(texts, ["(", "4", " + 1) · ", "6"]);
        let inputs: Vec<_> = pieces.iter().filter_map(|piece| piece.factor?.input).collect();
        assert_eq!(inputs, [Field::Queries, Field::Keys]);
    }
}

//! A list of quantities that belong together, and how it leaves the window: text, LaTeX, CSV.

use std::fmt::Write as _;

use super::{CostError, Formula, Quantity, Unit};

/// Quantities in the order in which to show them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// The rows.
    pub rows: Vec<Quantity>,
}

impl Breakdown {
    /// No rows.
    pub const fn new() -> Self {
        Self { rows: Vec::new() }
    }

    /// The row of this id.
    pub fn get(&self, id: &str) -> Option<&Quantity> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// The value of the row of this id; 0 where there is none.
    pub fn value(&self, id: &str) -> u128 {
        self.get(id).map_or(0, |row| row.value)
    }

    /// Evaluates a formula and appends it; gives its value back for further formulas.
    pub(super) fn push(
        &mut self,
        id: &'static str,
        label: &'static str,
        unit: Unit,
        formula: Formula,
    ) -> Result<u128, CostError> {
        let quantity = Quantity::new(id, label, unit, formula)?;
        let value = quantity.value;
        self.rows.push(quantity);
        Ok(value)
    }

    /// The rows with these ids as named factors, added up.
    pub(super) fn sum_of(&self, parts: &[(&str, &'static str)]) -> Formula {
        let factor = |(id, symbol): &(&str, &'static str)| self.get(id).map(|row| row.as_factor(symbol));
        Formula::Sum(parts.iter().filter_map(factor).collect())
    }

    /// One line for each row: the name, the formula with its numbers, the result, and bytes in both units.
    pub fn text(&self) -> String {
        self.rows.iter().fold(String::new(), |mut out, row| {
            // Writing into a String cannot fail.
            let _ = writeln!(out, "{}", row.text());
            out
        })
    }

    /// An `align*` environment, one row a line.
    pub fn latex(&self) -> String {
        let lines: Vec<String> =
            self.rows.iter().map(|row| format!("  \\text{{{}}} &= {}", row.label, row.latex())).collect();
        format!("\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines.join(" \\\\\n"))
    }

    /// `id,label,value,unit,formula,substituted` with a header. Values have no separators.
    pub fn csv(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut out = String::from("id,label,value,unit,formula,substituted\n");
        for row in &self.rows {
            let Quantity { id, label, value, unit, formula } = row;
            let (symbols, numbers) = (quoted(&formula.symbols()), quoted(&formula.numbers()));
            let _ = writeln!(out, "{id},{},{value},{},{symbols},{numbers}", quoted(label), unit.suffix());
        }
        out
    }
}

impl Quantity {
    /// `bytes per token: 2 · L · G · d_head · b = 2 · 32 · 8 · 128 · 2 = 131,072 B (131.07 kB, 128.00 KiB)`.
    pub fn text(&self) -> String {
        let symbols = self.formula.symbols();
        let mut out = format!("{}: ", self.label);
        if symbols != self.formula.numbers() {
            out.push_str(&symbols);
            out.push_str(" = ");
        }
        out.push_str(&self.substituted());
        if self.unit == Unit::Bytes && self.value >= 1000 {
            let bytes = super::Bytes(self.value);
            let _ = write!(out, " ({}, {})", bytes.decimal(), bytes.binary_beside_decimal());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Field;

    fn breakdown() -> Breakdown {
        let mut out = Breakdown::new();
        let formula = Field::Tokens.is(8000_u64) * Field::StorageType.is(2_u64);
        out.push("bytes", "bytes of a row", Unit::Bytes, formula).unwrap();
        out
    }

    #[test]
    fn a_breakdown_leaves_as_text_latex_and_csv() {
        let breakdown = breakdown();
        assert_eq!(breakdown.text(), "bytes of a row: T · b = 8,000 · 2 = 16,000 B (16.00 kB, 15.62 KiB)\n");
        assert!(breakdown.latex().contains("T \\cdot b = 8{,}000 \\cdot 2 = 16{,}000"));
        let csv = breakdown.csv();
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let record = reader.records().next().unwrap().unwrap();
        assert_eq!(
            record.iter().collect::<Vec<_>>(),
            ["bytes", "bytes of a row", "16000", "B", "T · b", "8,000 · 2"]
        );
    }
}

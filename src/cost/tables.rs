//! Tables and lists as plain text, for a terminal and for copying.

use super::{GroupReport, GrowthRow, HeadSharing};

impl HeadSharing {
    /// MHA, GQA and MQA in columns; nothing for no rows.
    pub fn table(rows: &[Self]) -> String {
        let line = |row: &Self| {
            let (token, all) = (row.bytes_per_token.binary(), row.bytes_all_sequences.decimal());
            let mark = if row.is_chosen { " (these)" } else { "" };
            format!("{} {:>9} {token:>11} {all:>15}{mark}\n", row.name, row.kv_heads)
        };
        titled("\n     KV heads   per token   all sequences\n", rows.iter().map(line).collect())
    }
}

impl GrowthRow {
    /// Lengths, multiply-adds, factors and score memory in columns; nothing for no rows.
    pub fn table(rows: &[Self]) -> String {
        let line = |row: &Self| {
            let factor = row.factor.map(|factor| format!("{factor:.1}")).unwrap_or_default();
            let (macs, bytes) = (row.macs.decimal(), row.score_matrix.decimal());
            format!("{:>8} {macs:>16} {factor:>8} {bytes:>16}\n", row.tokens)
        };
        titled("\n  tokens   scores and mix   factor   score matrices\n", rows.iter().map(line).collect())
    }
}

impl GroupReport {
    /// What each group keeps: a row, and all of them.
    pub fn memory_text(groups: &[Self]) -> String {
        let text = |report: &Self| {
            let lines = report.row.iter().chain([&report.needed]).map(|row| row.text() + "\n");
            format!("\n{}\n{}", report.title(), lines.collect::<String>())
        };
        groups.iter().map(text).collect()
    }

    /// The arithmetic of each group, a prefill and a decode step, term by term.
    pub fn arithmetic_text(groups: &[Self]) -> String {
        let text = |report: &Self| {
            let parts = [("prefill", &report.prefill), ("decode step", &report.decode)];
            let counted = parts.into_iter().filter_map(|(name, part)| Some((name, part.as_ref()?)));
            counted
                .map(|(name, part)| format!("\n{}, {name}\n{}", report.title(), part.text()))
                .collect::<String>()
        };
        groups.iter().map(text).collect()
    }

    /// `12 window layers`.
    pub fn title(&self) -> String {
        let plural = if self.group.layers == 1 { "layer" } else { "layers" };
        format!("{} {} {plural}", self.group.layers, self.group.kind.name())
    }
}

fn titled(title: &str, lines: String) -> String {
    if lines.is_empty() { lines } else { format!("{title}{lines}") }
}

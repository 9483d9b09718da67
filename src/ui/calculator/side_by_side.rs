//! Up to four columns beside each other: sizes, memory, arithmetic.

use crate::cost::{
    Bytes, Configuration, ConfigurationReport, Engine, LargestContext, LayerGroup, LayerKind, StorageType,
    Unit, grouped,
};

use crate::session::{Phase, Settings};

use super::answer::{Answer, Question, Table, TableRow};
use super::questions::amount;
use super::{arithmetic, curves};

/// The table, and memory and arithmetic of every column over the tokens.
pub fn answer(question: &Question) -> Answer {
    let mut out = Answer::default();
    let reports: Vec<Option<ConfigurationReport>> = question
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| match ConfigurationReport::new(column) {
            Ok(report) => Some(report),
            // No fault: it stands in the table without figures.
            Err(_) if index == 0 && question.scene_gives_weights => None,
            Err(error) => {
                out.complain(&error, column);
                if let Some(complaint) = out.complaints.last_mut() {
                    // No field is on screen here; the name says where to look.
                    complaint.field = None;
                    complaint.text = format!("{}: {}", column.name, complaint.text);
                }
                None
            }
        })
        .collect();
    let mut rows = sizes(question);
    rows.extend(memory(&reports));
    rows.extend(work(question));
    rows.push(longest(question));
    if question.scene_gives_weights {
        leave_out_scene(&mut rows);
    }
    let names = question.columns.iter().map(|column| column.name.clone()).collect();
    out.table = Some(Table { names, rows });
    out.charts.extend(curves::memory(question));
    out.charts.extend(curves::arithmetic(question));
    out
}

/// Of a scene that gives only weights nothing is known but its heads and tokens.
fn leave_out_scene(rows: &mut [TableRow]) {
    for row in rows.iter_mut().filter(|row| !["query heads", "tokens"].contains(&row.label.as_str())) {
        if let Some(cell) = row.cells.first_mut() {
            *cell = ("–".to_owned(), String::new());
        }
    }
}

fn row(label: &str, columns: &[Configuration], cell: impl Fn(&Configuration) -> String) -> TableRow {
    let both = |column: &Configuration| (cell(column), String::new());
    TableRow { label: label.to_owned(), cells: columns.iter().map(both).collect() }
}

fn sizes(question: &Question) -> Vec<TableRow> {
    let columns = &question.columns;
    let plain = |value: u64| grouped(u128::from(value));
    vec![
        row("layers", columns, |column| layers(&column.groups)),
        row("query heads", columns, |column| plain(column.heads)),
        row("KV heads", columns, |column| {
            each_group(column, |kind| kind.shape().map(|shape| shape.kv_heads))
        }),
        row("key width", columns, |column| {
            each_group(column, |kind| match kind {
                LayerKind::Latent(shape) => Some(shape.r_kv.saturating_add(shape.d_rope)),
                kind => kind.shape().map(|shape| shape.d_k),
            })
        }),
        row("tokens", columns, |column| plain(column.tokens)),
        row("sequences", columns, |column| plain(column.sequences)),
        row("stored as", columns, |column| stored(column.types.keys, column.types.values)),
        row("engine", columns, |column| engine(column.engine).to_owned()),
    ]
}

fn layers(groups: &[LayerGroup]) -> String {
    let each: Vec<String> =
        groups.iter().map(|group| format!("{} {}", group.layers, group.kind.name())).collect();
    each.join(" + ")
}

/// The same figure of every group; once where they agree.
fn each_group(column: &Configuration, figure: impl Fn(&LayerKind) -> Option<u64>) -> String {
    let mut found: Vec<u64> = column.groups.iter().filter_map(|group| figure(&group.kind)).collect();
    found.dedup();
    let texts: Vec<String> = found.iter().map(u64::to_string).collect();
    if texts.is_empty() { "–".to_owned() } else { texts.join(" / ") }
}

fn stored(keys: StorageType, values: StorageType) -> String {
    if keys == values { keys.name().to_owned() } else { format!("{}, {}", keys.name(), values.name()) }
}

/// What an engine's rule is called.
pub const fn engine(engine: Engine) -> &'static str {
    match engine {
        Engine::Exact => "as needed",
        Engine::Paged { windows_apart: true, .. } => "in blocks, windows apart",
        Engine::Paged { .. } => "in blocks",
        Engine::UpFront { .. } => "all up front",
    }
}

const MEMORY: [(&str, &str); 6] = [
    ("needed_bytes", "needed"),
    ("allocated_bytes", "allocated"),
    ("read_bytes", "read in a decode step"),
    ("marginal_bytes", "the next token adds"),
    ("average_bytes", "average for a token"),
    ("fixed_bytes", "no longer growing"),
];

fn memory(reports: &[Option<ConfigurationReport>]) -> Vec<TableRow> {
    let cell = |report: &Option<ConfigurationReport>, id: &str| match report
        .as_ref()
        .and_then(|report| report.summary.get(id))
    {
        Some(found) => {
            let bytes = Bytes(found.value);
            (
                bytes.decimal(),
                format!("{}\n{}\n{}", bytes.exact(), bytes.binary_beside_decimal(), found.substituted()),
            )
        }
        None => ("–".to_owned(), String::new()),
    };
    let line = |(id, label): (&str, &str)| TableRow {
        label: label.to_owned(),
        cells: reports.iter().map(|report| cell(report, id)).collect(),
    };
    MEMORY.into_iter().map(line).collect()
}

fn work(question: &Question) -> Vec<TableRow> {
    let unit = if question.settings.in_flops { "FLOPs" } else { "MACs" };
    let line = |label: &str, phase| {
        let settings = Settings { phase, ..question.settings.clone() };
        let asked = Question { settings, ..question.clone() };
        TableRow {
            label: format!("{label}, {unit}"),
            cells: (0..question.columns.len()).map(|column| total(&asked, column)).collect(),
        }
    };
    vec![line("prefill", Phase::Prefill), line("decode step", Phase::Decode)]
}

fn total(question: &Question, column: usize) -> (String, String) {
    let report = arithmetic::report(question, column, question.columns[column].tokens).ok();
    let row = report.and_then(|report| report.summary.get("total_macs").cloned());
    let row = if question.settings.in_flops { row.and_then(|row| row.in_flops().ok()) } else { row };
    match row {
        Some(row) => (row.unit.short(row.value), row.substituted()),
        None => ("–".to_owned(), String::new()),
    }
}

fn longest(question: &Question) -> TableRow {
    let budget = question.settings.budget;
    let cell = |column: &Configuration| match column
        .plan()
        .and_then(|plan| plan.largest_context(budget, column.sequences))
    {
        Ok(LargestContext::Tokens(tokens)) => Unit::Tokens.short(u128::from(tokens)),
        Ok(LargestContext::Unbounded) => "any".to_owned(),
        Err(_) => "–".to_owned(),
    };
    row(&format!("tokens in {}", amount(budget)), &question.columns, cell)
}

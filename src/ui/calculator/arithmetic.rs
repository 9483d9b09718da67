//! What a pass through the layers computes: a prefill, a decode step, a chunk.

use crate::cost::{
    Bytes, ComplexityInputs, Configuration, CostError, Field, Formula, KvShape, Pass, PassReport, Quantity,
    SoftmaxCount, Unit, score_memory, tiled_memory,
};
use crate::session::{Phase, Settings};

use super::answer::{Answer, Complaint, Fact, Question, Section};
use super::curves;
use super::questions::SCORERS;

/// Figures of the column on screen, and the arithmetic of every column over the tokens.
pub fn answer(question: &Question) -> Answer {
    let mut out = Answer::default();
    let (configuration, settings) = (question.configuration(), &question.settings);
    match report(question, question.selected, configuration.tokens) {
        Ok(report) => {
            out.take(totals(&report, configuration, settings), configuration);
            out.n_leading = out.sections.len();
            for group in &report.groups {
                let rows = in_unit(group.rows.rows.iter(), settings);
                let plural = if group.layers == 1 { "layer" } else { "layers" };
                let title = format!("{} {} {plural}", group.layers, group.kind);
                let section =
                    rows.map(|rows| Section { group: Some(group.group_idx), ..Section::titled(title, rows) });
                out.take(section, configuration);
            }
            out.take(kept_scores(question), configuration);
            out.take(doubling(question), configuration);
        }
        Err(error) => out.complain(&error, configuration),
    }
    out.charts.extend(curves::arithmetic(question));
    match curves::scorers(question) {
        Ok(chart) => out.charts.extend(chart),
        Err(error) => out.complaints.push(Complaint {
            field: error.field(),
            group: Some(SCORERS),
            text: error.to_string(),
        }),
    }
    out.charts.extend(curves::score_memory(question));
    out
}

/// A pass through a column at a length. Of the scene it is its own layer, with its own mask in the prefill.
pub fn report(question: &Question, column: usize, tokens: u64) -> Result<PassReport, CostError> {
    let settings = &question.settings;
    let (past, new) = span(settings, tokens);
    if column == 0 {
        return PassReport::of_layer(&scene_inputs(question, (past, new), tokens));
    }
    let configuration = question.columns.get(column).unwrap_or(&question.columns[0]);
    let pass = Pass {
        past,
        new,
        pairs: settings.pairs,
        softmax: settings.softmax,
        bytes_per_score: settings.bytes_per_score,
    };
    PassReport::new(configuration, &pass)
}

/// (tokens cached, tokens that run through the layers).
const fn span(settings: &Settings, tokens: u64) -> (u64, u64) {
    match settings.phase {
        Phase::Prefill => (0, tokens),
        Phase::Decode => (tokens, 1),
        Phase::Chunk => (tokens, settings.chunk),
    }
}

fn scene_inputs(question: &Question, (past, new): (u64, u64), tokens: u64) -> ComplexityInputs {
    let Question { scene_layer, settings, .. } = question;
    let is_the_board = settings.phase == Phase::Prefill && tokens == question.columns[0].tokens;
    let inputs = match is_the_board {
        true => scene_layer.clone(),
        false => ComplexityInputs {
            n_q: new,
            n_k: past.saturating_add(new),
            cached_keys: past,
            causal: true,
            visible_pairs: None,
            visible_pairs_of_all_heads: None,
            ..scene_layer.clone()
        },
    };
    ComplexityInputs { softmax: settings.softmax, ..inputs }.counting(settings.pairs)
}

fn totals(
    report: &PassReport,
    configuration: &Configuration,
    settings: &Settings,
) -> Result<Section, CostError> {
    let mut rows = in_unit(report.summary.rows.iter(), settings)?;
    if configuration.sequences > 1 {
        let total = report.summary.value("total_macs");
        let all = Field::Sequences.is(configuration.sequences) * Formula::named("total", "total", total);
        rows.extend(in_unit(
            [Quantity::new("all_sequences", "all sequences", Unit::Macs, all)?].iter(),
            settings,
        )?);
    }
    let mut section = Section::of(rows);
    if report.layers_not_counted > 0 {
        section.facts.push(Fact {
            label: "not counted".to_owned(),
            value: format!("{} recurrent layers", report.layers_not_counted),
            source: "only the size of their state is known here".to_owned(),
        });
    }
    Ok(section)
}

/// In MACs or in FLOPs, as asked. The line that adds the softmax stands only beside FLOPs.
pub fn in_unit<'a>(
    rows: impl Iterator<Item = &'a Quantity>,
    settings: &Settings,
) -> Result<Vec<Quantity>, CostError> {
    let uncounted = settings.softmax == SoftmaxCount::NotCounted;
    match settings.in_flops {
        // Without a softmax the two lines would say the same.
        true => rows.filter(|row| row.id != "flops" || !uncounted).map(Quantity::in_flops).collect(),
        false => Ok(rows.filter(|row| row.unit != Unit::Flops).cloned().collect()),
    }
}

/// The score matrices of one layer kept in full, and what a tiled kernel holds instead.
fn kept_scores(question: &Question) -> Result<Section, CostError> {
    let configuration = question.configuration();
    let Some(shape) = first_shape(configuration) else { return Ok(Section::default()) };
    let bytes = question.settings.bytes_per_score;
    let n = configuration.tokens;
    let kept = score_memory((n, n), configuration.heads, bytes, 1)?;
    let tiled = tiled_memory(n, shape.d_v, configuration.heads, bytes)?;
    let named = |row: Option<&Quantity>, label| row.map(|row| Quantity { label, ..row.clone() });
    let rows = [
        named(kept.get("total_bytes"), "scores kept in full"),
        named(tiled.get("output_bytes"), "tiled: output"),
        named(tiled.get("extra_bytes"), "tiled: row statistics"),
    ];
    Ok(Section::titled("Memory beside the inputs, one layer", rows.into_iter().flatten().collect()))
}

/// What each doubling of the tokens does: scores and mix, how many times those of the row before, and the score matrices.
fn doubling(question: &Question) -> Result<Section, CostError> {
    const LENGTHS: [u64; 5] = [256, 512, 1024, 2048, 4096];
    let mut before: Option<u128> = None;
    let mut facts = Vec::new();
    for tokens in LENGTHS {
        let counted = report(question, question.selected, tokens)?.summary;
        let macs = counted.value("scores").saturating_add(counted.value("mix"));
        let attention = Quantity::new("attention", "scores and mix", Unit::Macs, Formula::number(macs))?;
        let attention = if question.settings.in_flops { attention.in_flops()? } else { attention };
        let factor = before.filter(|before| *before > 0).map(|before| macs as f64 / before as f64);
        let times = factor.map_or_else(String::new, |factor| format!("{factor:.1}× the row before, "));
        facts.push(Fact {
            label: Unit::Tokens.exact(u128::from(tokens)),
            value: format!("{} {}", attention.unit.short(attention.value), attention.unit.suffix()),
            source: format!("{times}score matrices {}", Bytes(counted.value("score_bytes")).decimal()),
        });
        before = Some(macs);
    }
    Ok(Section {
        title: "Scores and mix, each length twice the one before".to_owned(),
        facts,
        ..Section::default()
    })
}

/// The heads of the first group that has any.
pub fn first_shape(configuration: &Configuration) -> Option<KvShape> {
    configuration.groups.iter().find_map(|group| group.kind.shape())
}

//! What is asked about every column alike, and the load of the one on screen.

use egui::{TextEdit, Ui};

use crate::cost::{Bytes, Configuration, Engine, Field, Hardware, PairCount, Prefix, SoftmaxCount, grouped};
use crate::session::{Phase, Settings, Topic};

use super::super::widgets;
use super::fields::{Fields, Place};

/// The place of the comparison between scorers, which is no group of layers.
pub const SCORERS: usize = usize::MAX;

/// Draws the fields of a topic. Returns (the configuration was changed, the settings were changed).
pub fn show(
    ui: &mut Ui,
    fields: &mut Fields<'_>,
    topic: Topic,
    model: &mut Configuration,
    settings: &mut Settings,
    budget_draft: &mut Option<String>,
) -> (bool, bool) {
    match topic {
        Topic::Memory | Topic::SideBySide => {
            let mut load = tokens(ui, fields, model, "tokens");
            load |= sequences(ui, fields, model);
            let asked = budget(ui, fields, settings, budget_draft);
            ui.add_space(4.0);
            load |= storage(ui, fields, model);
            load |= engine(ui, fields, model);
            (load, asked | spreading(ui, fields, model, settings))
        }
        Topic::Arithmetic => {
            let asked = phase(ui, fields, settings);
            let label = if settings.phase == Phase::Prefill { "tokens" } else { "tokens cached" };
            let mut load = tokens(ui, fields, model, label);
            load |= sequences(ui, fields, model);
            (load, asked | counting(ui, fields, settings))
        }
        Topic::Generation => (false, generation(ui, fields, settings)),
        Topic::Speed => {
            let mut load = tokens(ui, fields, model, "tokens");
            load |= sequences(ui, fields, model);
            load |= storage(ui, fields, model);
            (load, machine(ui, fields, settings))
        }
    }
}

fn tokens(ui: &mut Ui, fields: &mut Fields<'_>, model: &mut Configuration, label: &str) -> bool {
    let hint = model.max_context.map_or_else(
        || "In each sequence".to_owned(),
        |most| format!("In each sequence; the model was made for {}", grouped(u128::from(most))),
    );
    fields.number(ui, Place::of(Field::Tokens), label, &mut model.tokens, &hint)
}

fn sequences(ui: &mut Ui, fields: &mut Fields<'_>, model: &mut Configuration) -> bool {
    let hint = "Held and decoded at the same time: the batch";
    fields.number(ui, Place::of(Field::Sequences), "sequences", &mut model.sequences, hint)
}

fn storage(ui: &mut Ui, fields: &mut Fields<'_>, model: &mut Configuration) -> bool {
    let types = &mut model.types;
    let alike = types.keys == types.values;
    let mut changed = false;
    if fields.storage(ui, Place::of(Field::KeyType), "keys stored as", &mut types.keys) {
        if alike {
            types.values = types.keys;
        }
        changed = true;
    }
    changed | fields.storage(ui, Place::of(Field::ValueType), "values stored as", &mut types.values)
}

fn engine(ui: &mut Ui, fields: &mut Fields<'_>, model: &mut Configuration) -> bool {
    const PAGED: Engine = Engine::Paged { block_size: 16, batched_tokens: 8192, windows_apart: true };
    const UP_FRONT: Engine = Engine::UpFront { micro_batch: 512, unified: false, full_windows: false };
    let current = match model.engine {
        Engine::Exact => Engine::Exact,
        Engine::Paged { .. } => PAGED,
        Engine::UpFront { .. } => UP_FRONT,
    };
    let rules = [(Engine::Exact, "as needed"), (PAGED, "in blocks"), (UP_FRONT, "all up front")];
    let hint = "As needed: a rolling buffer. In blocks: vLLM. All up front: llama.cpp";
    let mut changed = false;
    let mut rule = current;
    if fields.choice(ui, "set aside", &rules, &mut rule, hint) {
        model.engine = rule;
        changed = true;
    }
    match &mut model.engine {
        Engine::Exact => {}
        Engine::Paged { block_size, batched_tokens, windows_apart } => {
            changed |=
                fields.number(ui, Place::of(Field::BlockSize), "tokens per block", block_size, "16 in vLLM");
            let hint = "Tokens that one step of the scheduler may add to a sequence";
            changed |=
                fields.number(ui, Place::of(Field::BatchedTokens), "batched at once", batched_tokens, hint);
            let hint = "Off: windowed layers are charged as full ones";
            changed |= ui.checkbox(windows_apart, "windows apart").on_hover_text(hint).changed();
        }
        Engine::UpFront { micro_batch, unified, full_windows } => {
            let hint = "Tokens of a micro-batch; 512 in llama.cpp";
            changed |= fields.number(ui, Place::of(Field::MicroBatch), "micro-batch", micro_batch, hint);
            changed |= ui.checkbox(unified, "one pool for all sequences").changed();
            changed |= ui.checkbox(full_windows, "windows in full").changed();
        }
    }
    changed
}

/// Devices, and what sequences have in common.
fn spreading(ui: &mut Ui, fields: &mut Fields<'_>, model: &Configuration, settings: &mut Settings) -> bool {
    let hint = "Heads are spread over so many devices; latent rows stay whole on each";
    let mut asked = fields.number(ui, Place::of(Field::Devices), "devices", &mut settings.devices, hint);
    if let Engine::Paged { .. } = model.engine {
        let hint = "Tokens that all sequences begin with; whole blocks of them are kept once";
        asked |= fields.number(
            ui,
            Place::of(Field::SharedTokens),
            "shared prefix",
            &mut settings.shared_tokens,
            hint,
        );
    }
    asked
}

/// An amount of memory, typed with its unit; a draft until it reads.
fn budget(ui: &mut Ui, fields: &mut Fields<'_>, settings: &mut Settings, draft: &mut Option<String>) -> bool {
    let mut text = draft.clone().unwrap_or_else(|| amount(settings.budget));
    let mut changed = false;
    let response = fields.field(ui, Place::of(Field::Budget), "memory budget", |ui| {
        ui.add(TextEdit::singleline(&mut text).desired_width(74.0).align(egui::Align2::RIGHT_CENTER))
            .on_hover_text("Such as 24 GiB or 80 GB")
    });
    if response.changed() {
        match text.parse::<Bytes>() {
            Ok(bytes) => {
                settings.budget = bytes;
                changed = true;
            }
            Err(error) => log::debug!("{error}"),
        }
        *draft = Some(text);
    }
    if let Some(typed) = draft.as_ref()
        && let Err(error) = typed.parse::<Bytes>()
    {
        let color = super::super::style::Colors::in_use(ui).bad;
        ui.add(egui::Label::new(egui::RichText::new(error.to_string()).small().color(color)).wrap());
    } else if !response.has_focus() {
        *draft = None;
    }
    changed
}

/// In the unit that makes it the shortest whole number: `24 GiB`, `80 GB`.
pub fn amount(bytes: Bytes) -> String {
    let whole = |prefix: &Prefix| bytes.0 > 0 && bytes.0.is_multiple_of(prefix.factor());
    let text = |prefix: Prefix| format!("{} {}B", grouped(bytes.0 / prefix.factor()), prefix.letters());
    let units = Prefix::BINARY.into_iter().chain(Prefix::DECIMAL).filter(whole);
    units.map(text).min_by_key(String::len).unwrap_or_else(|| bytes.exact())
}

fn phase(ui: &mut Ui, fields: &mut Fields<'_>, settings: &mut Settings) -> bool {
    let phases = [(Phase::Prefill, "prefill"), (Phase::Decode, "decode"), (Phase::Chunk, "chunk")];
    let mut asked = false;
    if let Some(phase) = widgets::segments(ui, &phases, settings.phase) {
        settings.phase = phase;
        asked = true;
    }
    ui.add_space(2.0);
    if settings.phase == Phase::Chunk {
        let hint = "Tokens of a chunked prefill that run at once";
        asked |= fields.number(ui, Place::of(Field::NewTokens), "chunk", &mut settings.chunk, hint);
    }
    asked
}

fn counting(ui: &mut Ui, fields: &mut Fields<'_>, settings: &mut Settings) -> bool {
    let mut asked = false;
    let pairs = [(PairCount::Visible, "causal"), (PairCount::All, "full square")];
    let hint = "Causal: only pairs that mask and window leave visible. \
                Full square: what a kernel computes that masks afterwards";
    asked |= fields.choice(ui, "pairs", &pairs, &mut settings.pairs, hint);
    let counts = [
        (SoftmaxCount::NotCounted, "not counted"),
        (SoftmaxCount::OnePerEntry, "1 per entry"),
        (SoftmaxCount::ThreePerEntry, "3 per entry"),
        (SoftmaxCount::FivePerEntry, "5 per entry"),
    ];
    let hint = "Sources count a softmax entry as 0, 1, 3 or 5 operations; none of them are multiply-adds";
    asked |= fields.choice(ui, "softmax", &counts, &mut settings.softmax, hint);
    let hint = "2 for f16 and bf16, 4 for f32; the scene's own are f64";
    asked |= fields.number(
        ui,
        Place::of(Field::BytesPerScore),
        "bytes per score",
        &mut settings.bytes_per_score,
        hint,
    );
    ui.add_space(4.0);
    widgets::caption(ui, "One head, scored in four ways");
    let hint = "Width of the hidden layer of additive scores";
    asked |= fields.number(
        ui,
        Place::of(Field::AttentionWidth),
        "hidden width d_a",
        &mut settings.attention_width,
        hint,
    );
    let hint = "Keys a query sees at most, itself included";
    asked | fields.number(ui, Place::in_group(Field::Window, SCORERS), "window", &mut settings.window, hint)
}

fn generation(ui: &mut Ui, fields: &mut Fields<'_>, settings: &mut Settings) -> bool {
    let hint = "Tokens that are there before the first step";
    let asked = fields.number(ui, Place::of(Field::Prompt), "prompt tokens", &mut settings.prompt, hint);
    let hint = "Steps: each feeds one token";
    asked | fields.number(ui, Place::of(Field::NewTokens), "new tokens", &mut settings.new_tokens, hint)
}

fn machine(ui: &mut Ui, fields: &mut Fields<'_>, settings: &mut Settings) -> bool {
    let rows = Hardware::rows();
    let options: Vec<(usize, &str)> =
        rows.iter().enumerate().map(|(index, row)| (index, row.name.as_str())).collect();
    let mut index = rows.iter().position(|row| *row == settings.hardware).unwrap_or(usize::MAX);
    let mut asked = false;
    ui.add_space(4.0);
    let hint = "A start; sources differ, so edit the figures";
    if fields.choice(ui, "machine", &options, &mut index, hint) {
        settings.hardware = rows[index].clone();
        asked = true;
    }
    let before = settings.hardware.clone();
    let hint = "Bytes a second from the large memory";
    let Hardware { bandwidth, peak_flops, .. } = &mut settings.hardware;
    asked |= fields.number(ui, Place::of(Field::Bandwidth), "bytes/s BW", bandwidth, hint);
    let hint = "Floating-point operations a second";
    asked |= fields.number(ui, Place::of(Field::PeakFlops), "FLOP/s F", peak_flops, hint);
    if settings.hardware != before && rows.contains(&before) {
        settings.hardware.name = format!("{}, edited", before.name);
    }
    let hint = "Bytes of all weights, read once in a step; 0 looks at the cache alone";
    asked |= fields.number(ui, Place::of(Field::WeightBytes), "weights w", &mut settings.weight_bytes, hint);
    let hint = "Parameters that take part in a step; 0 leaves arithmetic out";
    asked |= fields.number(
        ui,
        Place::of(Field::ActiveParameters),
        "active P_act",
        &mut settings.active_parameters,
        hint,
    );
    let hint = "Values that fast memory holds, for one kernel";
    asked |=
        fields.number(ui, Place::of(Field::FastMemory), "fast memory M", &mut settings.fast_memory, hint);
    let hint = "Query rows of a tile";
    asked | fields.number(ui, Place::of(Field::BlockRows), "tile rows B_r", &mut settings.block_rows, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_reads_back_as_what_it_was() {
        for text in ["24 GiB", "80 GB", "1,500 kB", "0 B", "7 B"] {
            let bytes: Bytes = text.parse().unwrap();
            assert_eq!(amount(bytes).parse::<Bytes>().unwrap(), bytes, "{text}");
        }
        assert_eq!(amount(Bytes(24 << 30)), "24 GiB");
        assert_eq!(amount(Bytes(80_000_000_000)), "80 GB");
    }
}

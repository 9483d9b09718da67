//! The sizes of a model: its heads, and its layers in groups that cache alike.

use egui::{RichText, TextEdit, Ui};

use crate::cost::{Configuration, Field, KvShape, LatentShape, LayerGroup, LayerKind, Preset, presets};

use super::super::style::Colors;
use super::super::widgets;
use super::fields::{Fields, Place};

/// Draws the fields. Returns whether anything was changed.
pub fn show(ui: &mut Ui, fields: &mut Fields<'_>, model: &mut Configuration, is_scene: bool) -> bool {
    let mut changed = name(ui, model, is_scene);
    changed |= fields.number(
        ui,
        Place::of(Field::QueryHeads),
        "query heads",
        &mut model.heads,
        "A multiple of the KV heads",
    );
    changed |= fields.number(
        ui,
        Place::of(Field::ModelWidth),
        "model width d_model",
        &mut model.d_model,
        "What Q, K and V are projected from; heads need not fill it",
    );
    let is_only = model.groups.len() == 1;
    let mut removed = None;
    for (index, group) in model.groups.iter_mut().enumerate() {
        ui.push_id(index, |ui| {
            ui.add_space(4.0);
            if !is_only && group_title(ui, index, group) {
                removed = Some(index);
            }
            changed |= group_fields(ui, fields, index, group);
        });
    }
    if let Some(index) = removed {
        model.groups.remove(index);
        changed = true;
    }
    ui.add_space(2.0);
    let accent = Colors::in_use(ui).accent;
    let button =
        egui::Button::new(RichText::new("+ add a group of layers").small().color(accent)).frame(false);
    if ui.add(button).on_hover_text("Layers that cache in another way").clicked() {
        let like = model.groups.last().cloned();
        model
            .groups
            .push(like.unwrap_or_else(|| LayerGroup::new(1, LayerKind::Full(KvShape::square(1, 64)))));
        changed = true;
    }
    changed
}

fn name(ui: &mut Ui, model: &mut Configuration, is_scene: bool) -> bool {
    if is_scene {
        widgets::caption(ui, "The scene's own sizes. A change makes a copy beside them.");
        return false;
    }
    let field = ui.add(TextEdit::singleline(&mut model.name).desired_width(f32::INFINITY));
    field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Name of the configuration"));
    if let Some(preset) = presets().iter().find(|preset| preset.name == model.name) {
        if !is_as_published(model, preset) {
            widgets::caption(ui, "Edited: not the sizes that were published.");
            return field.changed();
        }
        let first = preset.source.first().map(String::as_str).unwrap_or_default();
        let color = Colors::in_use(ui).muted;
        let text = RichText::new(format!("Source: {first}")).small().color(color);
        let all = [preset.source.join("\n"), preset.verification.clone(), preset.notes.clone()];
        let hover = all.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
        ui.add(egui::Label::new(text).truncate()).on_hover_text(hover);
    }
    field.changed()
}

/// Whether heads, widths and layers are those of the source; length, storage and engine are the user's.
fn is_as_published(model: &Configuration, preset: &Preset) -> bool {
    preset.configuration().is_ok_and(|published| {
        let same_heads = published.heads == model.heads && published.d_model == model.d_model;
        same_heads && published.groups == model.groups
    })
}

/// Returns whether the group should go.
fn group_title(ui: &mut Ui, index: usize, group: &LayerGroup) -> bool {
    let mut remove = false;
    ui.horizontal(|ui| {
        widgets::caption(ui, format!("group {}: {}", index + 1, group.kind.name()));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let text = RichText::new("×").color(Colors::in_use(ui).muted);
            remove = widgets::quiet_button(ui, text, &format!("Remove layer group {}", index + 1)).clicked();
        });
    });
    remove
}

fn group_fields(ui: &mut Ui, fields: &mut Fields<'_>, index: usize, group: &mut LayerGroup) -> bool {
    let place = |field| Place::in_group(field, index);
    let mut changed =
        fields.number(ui, place(Field::Layers), "layers", &mut group.layers, "That do the same");
    let kinds: Vec<(Kind, &str)> = Kind::ALL.into_iter().map(|kind| (kind, kind.text())).collect();
    let hint = "What a layer keeps of the tokens before";
    let mut kind = Kind::of(&group.kind);
    if fields.choice(ui, "attention", &kinds, &mut kind, hint) {
        group.kind = kind.like(&group.kind);
        changed = true;
    }
    changed | kind_fields(ui, fields, index, &mut group.kind)
}

fn kind_fields(ui: &mut Ui, fields: &mut Fields<'_>, index: usize, kind: &mut LayerKind) -> bool {
    let place = |field| Place::in_group(field, index);
    match kind {
        LayerKind::Full(shape) | LayerKind::Encoder(shape) => shape_fields(ui, fields, index, shape),
        LayerKind::Window { window, shape } => {
            let hint = "Keys a query sees at most, itself included";
            let changed = fields.number(ui, place(Field::Window), "window W", window, hint);
            changed | shape_fields(ui, fields, index, shape)
        }
        LayerKind::Chunked { chunk, shape } => {
            let changed =
                fields.number(ui, place(Field::Chunk), "chunk C", chunk, "A token sees its own chunk only");
            changed | shape_fields(ui, fields, index, shape)
        }
        LayerKind::Static { source_tokens, shape } => {
            let hint = "Their keys and values are made once";
            let changed = fields.number(ui, place(Field::SourceTokens), "source tokens", source_tokens, hint);
            changed | shape_fields(ui, fields, index, shape)
        }
        LayerKind::Latent(shape) => latent_fields(ui, fields, index, shape),
        LayerKind::Linear { state_bytes } => {
            let hint = "Of one layer and sequence, whatever the tokens";
            fields.number(ui, place(Field::StateBytes), "bytes of state", state_bytes, hint)
        }
        LayerKind::Shared { reads: Some(kind) } => {
            widgets::caption(ui, format!("reads the rows of a {} layer", kind.name()));
            kind_fields(ui, fields, index, kind)
        }
        LayerKind::Shared { reads: None } => false,
    }
}

fn shape_fields(ui: &mut Ui, fields: &mut Fields<'_>, index: usize, shape: &mut KvShape) -> bool {
    let place = |field| Place::in_group(field, index);
    let KvShape { kv_heads, d_k, d_v } = shape;
    let hint = "Heads of K and V, not query heads per KV head";
    let mut changed = fields.number(ui, place(Field::KvHeads), "KV heads", kv_heads, hint);
    let alike = *d_k == *d_v;
    let hint = "Of one head; need not be d_model / heads. Values follow where they are as wide";
    if fields.number(ui, place(Field::KeyWidth), "key width d_k", d_k, hint) {
        if alike {
            *d_v = *d_k;
        }
        changed = true;
    }
    changed | fields.number(ui, place(Field::ValueWidth), "value width d_v", d_v, "Of one head")
}

fn latent_fields(ui: &mut Ui, fields: &mut Fields<'_>, index: usize, shape: &mut LatentShape) -> bool {
    let place = |field| Place::in_group(field, index);
    let LatentShape { r_kv, d_rope, d_nope, d_v, r_q } = shape;
    let hint = "Width of what is cached for keys and values together";
    let mut changed = fields.number(ui, place(Field::LatentWidth), "latent r_kv", r_kv, hint);
    let hint = "Width of the rotated key that all heads share";
    changed |= fields.number(ui, place(Field::RopeWidth), "rotary d_rope", d_rope, hint);
    let hint = "Width of a head's key without rotation";
    changed |= fields.number(ui, place(Field::NopeWidth), "unrotated d_nope", d_nope, hint);
    changed |= fields.number(ui, place(Field::ValueWidth), "value width d_v", d_v, "Of one head");
    if let Some(width) = r_q {
        let hint = "Width of the queries' own latent";
        changed |= fields.number(ui, place(Field::QueryLatentWidth), "query latent r_q", width, hint);
    }
    changed
}

/// The kinds of layers to choose from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Full,
    Window,
    Chunked,
    Latent,
    Static,
    Linear,
    Shared,
    Encoder,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Full,
        Self::Window,
        Self::Chunked,
        Self::Latent,
        Self::Static,
        Self::Linear,
        Self::Shared,
        Self::Encoder,
    ];

    const fn of(kind: &LayerKind) -> Self {
        match kind {
            LayerKind::Full(_) => Self::Full,
            LayerKind::Window { .. } => Self::Window,
            LayerKind::Chunked { .. } => Self::Chunked,
            LayerKind::Latent(_) => Self::Latent,
            LayerKind::Static { .. } => Self::Static,
            LayerKind::Linear { .. } => Self::Linear,
            LayerKind::Shared { .. } => Self::Shared,
            LayerKind::Encoder(_) => Self::Encoder,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Window => "window",
            Self::Chunked => "chunked",
            Self::Latent => "latent",
            Self::Static => "cross",
            Self::Linear => "linear state",
            Self::Shared => "shared",
            Self::Encoder => "encoder",
        }
    }

    /// A layer of this kind with the heads of another, as far as it has any.
    fn like(self, other: &LayerKind) -> LayerKind {
        let shape = match other {
            LayerKind::Shared { reads: Some(kind) } => kind.shape(),
            kind => kind.shape(),
        };
        let shape = shape.unwrap_or(KvShape::square(8, 128));
        match self {
            Self::Full => LayerKind::Full(shape),
            Self::Window => LayerKind::Window { window: 4096, shape },
            Self::Chunked => LayerKind::Chunked { chunk: 8192, shape },
            // DeepSeek's widths; the only published ones so far.
            Self::Latent => LayerKind::Latent(LatentShape {
                r_kv: 512,
                d_rope: 64,
                d_nope: 128,
                d_v: 128,
                r_q: Some(1536),
            }),
            Self::Static => LayerKind::Static { source_tokens: 512, shape },
            Self::Linear => LayerKind::Linear { state_bytes: 1 << 20 },
            Self::Shared => LayerKind::Shared { reads: Some(Box::new(LayerKind::Full(shape))) },
            Self::Encoder => LayerKind::Encoder(shape),
        }
    }
}

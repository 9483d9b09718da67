//! The whole file, and the small groups in it: tokens, softmax, view.

use super::Unread;
use super::decoder::Decoder;
use super::fields::{Fields, Known};
use super::path::Path;
use crate::engine::{EmptyRow, SoftmaxAxis, SoftmaxForm, SoftmaxSpec};
use crate::scene::model::{Input, Orientation, Palette, SceneSpec, Stage, Tokens, View};
use crate::scene::syntax::{Group, Kind, Node};

const SCENE: Known<'static> = Known {
    name: "Scene",
    fields: &[
        "title",
        "topic",
        "notes",
        "tokens",
        "input",
        "scoring",
        "softcap",
        "mask",
        "position",
        "position_offset",
        "softmax",
        "sinks",
        "dropout",
        "precision",
        "fault",
        "view",
    ],
};

impl Decoder<'_> {
    /// The spec, as far as it can be read: a field that is wrong counts as left out, so that the rest can be judged.
    pub fn scene(&mut self, root: &Node) -> Option<(SceneSpec, Unread)> {
        let path = Path::TOP;
        let group = match &root.kind {
            Kind::Parens(group) => group,
            Kind::Broken => return None,
            _ => {
                let found = root.describe(self.text);
                self.complain(&path, &root.span, format!("a scene begins with `Scene(`; found {found}"));
                return None;
            }
        };
        self.scene_name(group);
        let fields = self.fields(group, &path, &SCENE);
        let title = self.string_or_empty(&fields, "title");
        let topic = self.string_or_empty(&fields, "topic");
        let notes = self.string_or_empty(&fields, "notes");
        let tokens = self.or_default(&fields, "tokens", Self::tokens);
        let input = self.required(&fields, &path, "the scene", "input");
        let input = input.and_then(|node| self.input(node, &path.field("input")));
        let scoring = self.or_default(&fields, "scoring", Self::scoring);
        let softcap =
            self.or_default(&fields, "softcap", |this, node, path| Some(this.number(node, path))).flatten();
        let mask = self.or_default(&fields, "mask", Self::masks);
        let position = self.or_default(&fields, "position", Self::position);
        let position_offset = self.or_default(&fields, "position_offset", Self::integer);
        let softmax = self.or_default(&fields, "softmax", Self::softmax);
        let sinks = self.or_default(&fields, "sinks", Self::sinks);
        let dropout =
            self.or_default(&fields, "dropout", |this, node, path| Some(this.dropout(node, path))).flatten();
        let precision = self.or_default(&fields, "precision", Self::precision);
        let fault =
            self.or_default(&fields, "fault", |this, node, path| Some(this.fault(node, path))).flatten();
        let view = self.or_default(&fields, "view", Self::view);
        let unread = Unread { input: input.is_none(), scoring: scoring.is_none() };
        let nothing = || Input::Heads { q: Vec::new(), k: Vec::new(), v: Vec::new() };
        let spec = SceneSpec {
            title: title.unwrap_or_default(),
            topic: topic.unwrap_or_default(),
            notes: notes.unwrap_or_default(),
            tokens: tokens.unwrap_or_default(),
            input: input.unwrap_or_else(nothing),
            scoring: scoring.unwrap_or_default(),
            softcap,
            mask: mask.unwrap_or_default(),
            position: position.unwrap_or_default(),
            position_offset: position_offset.unwrap_or_default(),
            softmax: softmax.unwrap_or_default(),
            sinks: sinks.unwrap_or_default(),
            dropout,
            precision: precision.unwrap_or_default(),
            fault,
            view: view.unwrap_or_default(),
        };
        Some((spec, unread))
    }

    fn scene_name(&mut self, group: &Group) {
        if let Some(name) = &group.name
            && self.slice(name) != "Scene"
        {
            let found = self.slice(name);
            self.complain(&Path::TOP, name, format!("expected `Scene(..)`, found `{found}(..)`"));
        }
    }

    /// The field, or what the format means by leaving it out; `None` only if it is there and wrong.
    fn or_default<T: Default>(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        decode: impl FnOnce(&mut Self, &Node, &Path<'_>) -> Option<T>,
    ) -> Option<T> {
        match fields.get(name) {
            Some(node) => decode(self, node, &Path::TOP.field(name)),
            None => Some(T::default()),
        }
    }

    fn string_or_empty(&mut self, fields: &Fields<'_>, name: &str) -> Option<String> {
        self.or_default(fields, name, Self::string)
    }

    /// A sink that is not a number counts all the same.
    fn sinks(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<f64>> {
        let number =
            |this: &mut Self, node: &Node, path: &Path<'_>| Some(this.number(node, path).unwrap_or(0.0));
        self.list(node, path, "a list of numbers", number)
    }

    fn tokens(&mut self, node: &Node, path: &Path<'_>) -> Option<Tokens> {
        const TOKENS: Known<'static> = Known { name: "tokens", fields: &["queries", "keys"] };
        let node = node.without_some(self.text);
        match &node.kind {
            Kind::List(_) => self.strings(node, path).map(Tokens::Shared),
            Kind::Parens(group) if group.name.is_none() => {
                let fields = self.fields(group, path, &TOKENS);
                let mut side = |name| match fields.get(name) {
                    Some(node) => self.strings(node, &path.field(name)),
                    None => Some(Vec::new()),
                };
                let (queries, keys) = (side("queries"), side("keys"));
                // One side can be judged without the other.
                Some(Tokens::Sides { queries: queries.unwrap_or_default(), keys: keys.unwrap_or_default() })
            }
            _ => {
                self.expected(path, node, "a list of texts, or `(queries: [..], keys: [..])`");
                None
            }
        }
    }

    fn softmax(&mut self, node: &Node, path: &Path<'_>) -> Option<SoftmaxSpec> {
        const SOFTMAX: Known<'static> = Known { name: "softmax", fields: &["over", "form", "empty_rows"] };
        const OVER: [(&str, SoftmaxAxis); 2] =
            [("Keys", SoftmaxAxis::Keys), ("Queries", SoftmaxAxis::Queries)];
        const FORM: [(&str, SoftmaxForm); 2] =
            [("Stable", SoftmaxForm::Stable), ("Naive", SoftmaxForm::Naive)];
        const EMPTY: [(&str, EmptyRow); 3] =
            [("Zero", EmptyRow::Zero), ("NotANumber", EmptyRow::NotANumber), ("Uniform", EmptyRow::Uniform)];
        let fields = self.nested(node, path, &SOFTMAX)?;
        let over = self.chosen(&fields, path, "over", "an axis of the softmax", &OVER);
        let form = self.chosen(&fields, path, "form", "a form of the softmax", &FORM);
        let empty_rows = self.chosen(&fields, path, "empty_rows", "a policy for empty rows", &EMPTY);
        Some(SoftmaxSpec { over: over?, form: form?, empty_rows: empty_rows? })
    }

    fn view(&mut self, node: &Node, path: &Path<'_>) -> Option<View> {
        const VIEW: Known<'static> =
            Known { name: "view", fields: &["decimals", "palette", "orientation", "stages", "head"] };
        const ORIENTATION: [(&str, Orientation); 2] = [
            ("QueriesAsRows", Orientation::QueriesAsRows),
            ("QueriesAsColumns", Orientation::QueriesAsColumns),
        ];
        let fields = self.nested(node, path, &VIEW)?;
        let default = View::default();
        let decimals = match fields.get("decimals") {
            Some(node) => self.count(node, &path.field("decimals"), "decimal places shown in cells, 0 to 17"),
            None => Some(default.decimals),
        };
        let palettes = Palette::ALL.map(|palette| (palette_name(palette), palette));
        let palette = self.chosen(&fields, path, "palette", "a palette", &palettes);
        let orientation = self.chosen(&fields, path, "orientation", "an orientation", &ORIENTATION);
        let stages = match fields.get("stages") {
            Some(node) => self.stages(node, &path.field("stages")),
            None => Some(default.stages),
        };
        let head = match fields.get("head") {
            Some(node) => self.count(node, &path.field("head"), "the query head shown first, from 1"),
            None => Some(default.head),
        };
        Some(View {
            decimals: decimals.unwrap_or(default.decimals),
            palette: palette.unwrap_or_default(),
            orientation: orientation.unwrap_or_default(),
            stages: stages.unwrap_or_else(|| Stage::ALL.to_vec()),
            head: head.unwrap_or(default.head),
        })
    }

    fn stages(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<Stage>> {
        let stages = Stage::ALL.map(|stage| (stage_name(stage), stage));
        self.list(node, path, "a list of stages", |this, node, path| {
            this.choice(node, path, "a stage", &stages)
        })
    }

    fn chosen<T: Copy + Default>(
        &mut self,
        fields: &Fields<'_>,
        path: &Path<'_>,
        name: &str,
        what: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        match fields.get(name) {
            Some(node) => self.choice(node, &path.field(name), what, choices),
            None => Some(T::default()),
        }
    }
}

/// How a palette is spelt in a file.
pub(in crate::scene) fn palette_name(palette: Palette) -> &'static str {
    match palette {
        Palette::Violet => "Violet",
        Palette::Blue => "Blue",
        Palette::Grey => "Grey",
        Palette::Viridis => "Viridis",
        Palette::Cividis => "Cividis",
    }
}

/// How a stage is spelt in a file.
pub(in crate::scene) fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::RawScores => "RawScores",
        Stage::ScaledScores => "ScaledScores",
        Stage::MaskedScores => "MaskedScores",
        Stage::Weights => "Weights",
        Stage::Output => "Output",
    }
}

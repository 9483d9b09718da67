//! Positions, and the number format.

use super::decoder::{Decoder, Variant};
use super::fields::Known;
use super::path::Path;
use crate::engine::{Precision, RopeLayout};
use crate::scene::model::Position;
use crate::scene::syntax::{Group, Node};

const POSITIONS: [&str; 4] = ["None", "Rope", "Alibi", "Sinusoidal"];

const ROPE: Known<'static> = Known { name: "Rope", fields: &["base", "layout"] };

/// The base of the paper, and of most models since.
const BASE: f64 = 10_000.0;

impl Decoder<'_> {
    pub fn position(&mut self, node: &Node, path: &Path<'_>) -> Option<Position> {
        let wanted = "one of None, Rope(..), Alibi, Sinusoidal";
        let Variant { name, name_span, group } = self.variant(node, path, wanted)?;
        match (name, group) {
            ("Rope", group) => self.rope(group, path),
            ("Alibi", None) => Some(Position::Alibi),
            ("Sinusoidal", None) => Some(Position::Sinusoidal),
            ("Alibi", Some(_)) => {
                let hint = "for slopes of your own write mask: [Alibi([0.5, 0.25, ..])]".to_owned();
                let message =
                    "`Alibi` takes nothing in parentheses: its slopes follow from the number of heads";
                self.complain_with(path, &name_span, message, Some(hint));
                None
            }
            ("Sinusoidal" | "None", Some(_)) => {
                let message = format!("`{name}` takes nothing in parentheses: write {name}");
                self.complain(path, &name_span, message);
                None
            }
            _ => {
                self.unknown(path, &name_span, "a way to give positions", &POSITIONS);
                None
            }
        }
    }

    fn rope(&mut self, group: Option<&Group>, path: &Path<'_>) -> Option<Position> {
        let Some(group) = group else {
            return Some(Position::Rope { base: BASE, layout: RopeLayout::default() });
        };
        let fields = self.fields(group, path, &ROPE);
        let base = match fields.get("base") {
            Some(node) => self.number(node, &path.field("base")),
            None => Some(BASE),
        };
        let layouts =
            [RopeLayout::HalfSplit, RopeLayout::Interleaved].map(|layout| (layout_name(layout), layout));
        let layout = match fields.get("layout") {
            Some(node) => self.choice(node, &path.field("layout"), "a layout of pairs", &layouts),
            None => Some(RopeLayout::default()),
        };
        Some(Position::Rope { base: base?, layout: layout? })
    }

    pub fn precision(&mut self, node: &Node, path: &Path<'_>) -> Option<Precision> {
        let formats = Precision::ALL.map(|precision| (precision_name(precision), precision));
        self.choice(node, path, "a number format", &formats)
    }
}

/// How a layout is spelt in a file.
pub(in crate::scene) fn layout_name(layout: RopeLayout) -> &'static str {
    match layout {
        RopeLayout::HalfSplit => "HalfSplit",
        RopeLayout::Interleaved => "Interleaved",
    }
}

/// How a number format is spelt in a file.
pub(in crate::scene) fn precision_name(precision: Precision) -> &'static str {
    match precision {
        Precision::F64 => "F64",
        Precision::F32 => "F32",
        Precision::Bf16 => "Bf16",
        Precision::F16 => "F16",
    }
}

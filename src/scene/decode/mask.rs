//! Mask layers.

use super::decoder::{Decoder, Variant};
use super::fields::Known;
use super::path::Path;
use crate::engine::{Convention, Corner, MaskRule, Matrix};
use crate::scene::syntax::{Group, Kind, Node};

/// Every layer with an example, in the order in which the format lists them.
const LAYERS: [(&str, &str); 13] = [
    ("Causal", "Causal(TopLeft) or Causal(BottomRight)"),
    ("ValidKeys", "ValidKeys(2)"),
    ("PaddedKeys", "PaddedKeys([false, false, true])"),
    ("Window", "Window(left: 2, right: 0)"),
    ("Documents", "Documents([0, 0, 1])"),
    ("Prefix", "Prefix(2)"),
    ("Global", "Global([0])"),
    ("Strided", "Strided(4)"),
    ("Matrix", "Matrix(convention: TrueAllows, rows: [[true, false], ..])"),
    ("Additive", "Additive([[0, -inf], ..])"),
    ("Alibi", "Alibi([0.5, 0.25, ..])"),
    ("MatrixPerHead", "MatrixPerHead(convention: TrueAllows, heads: [[[true, false], ..], ..])"),
    ("AdditivePerHead", "AdditivePerHead([[[0, -inf], ..], ..])"),
];

const BESIDES: &str =
    "counts besides the token itself; 0 means only the token itself, and leaving it out means no limit";

impl Decoder<'_> {
    pub fn masks(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<MaskRule>> {
        let node = node.without_some(self.text);
        if matches!(node.kind, Kind::Name)
            || matches!(&node.kind, Kind::Parens(group) if group.name.is_some())
        {
            let found = self.slice(&node.span).lines().next().unwrap_or("");
            let hint = format!("put it in brackets: mask: [{found}]");
            self.expected_with(path, node, "a list of layers", Some(hint));
            return None;
        }
        // A layer that cannot be read leaves its place to one that fits everywhere, so that the others keep theirs.
        let open = MaskRule::Window { left: None, right: None };
        self.list(node, path, "a list of layers", |this, node, path| {
            Some(this.mask(node, path).unwrap_or_else(|| open.clone()))
        })
    }

    fn mask(&mut self, node: &Node, path: &Path<'_>) -> Option<MaskRule> {
        let Variant { name, name_span, group } =
            self.variant(node, path, "a mask layer, as Causal(TopLeft)")?;
        let Some((_, example)) = LAYERS.iter().find(|(known, _)| *known == name) else {
            self.unknown(path, &name_span, "a mask layer", &LAYERS.map(|(known, _)| known));
            return None;
        };
        let Some(group) = group else {
            self.complain(path, &name_span, format!("`{name}` needs its value: write {example}"));
            return None;
        };
        match name {
            "Window" => self.window(group, path),
            "Matrix" | "MatrixPerHead" => self.boolean_mask(name, group, path),
            _ => {
                let value = self.only(group, path, example)?;
                self.layer(name, value, path)
            }
        }
    }

    /// The layers that have one value without a name.
    fn layer(&mut self, name: &str, value: &Node, path: &Path<'_>) -> Option<MaskRule> {
        const CORNERS: [(&str, Corner); 2] =
            [("TopLeft", Corner::TopLeft), ("BottomRight", Corner::BottomRight)];
        Some(match name {
            "Causal" => MaskRule::Causal(self.choice(value, path, "a corner of the mask", &CORNERS)?),
            "ValidKeys" => MaskRule::ValidKeys(self.count(value, path, "how many keys are real")?),
            "PaddedKeys" => MaskRule::PaddedKeys(self.booleans(value, path)?),
            "Documents" => {
                MaskRule::Documents(self.list(value, path, "a list of document numbers", Self::integer)?)
            }
            "Prefix" => MaskRule::Prefix(self.count(value, path, "how many keys every query may see")?),
            "Global" => {
                let position = |this: &mut Self, node: &Node, path: &Path<'_>| {
                    this.count(node, path, "a position, counted from 0")
                };
                MaskRule::Global(self.list(value, path, "a list of positions", position)?)
            }
            "Strided" => MaskRule::Strided(self.count(value, path, "the distance between visible keys")?),
            "Additive" => MaskRule::Additive(self.rows(value, path, "the additive mask")?),
            "Alibi" => MaskRule::Alibi(self.numbers(value, path)?),
            _ => MaskRule::AdditivePerHead(self.additive_heads(value, path)?),
        })
    }

    fn additive_heads(&mut self, value: &Node, path: &Path<'_>) -> Option<Vec<Matrix>> {
        let mut head = 0;
        self.list(value, path, "a list of matrices, one per query head", |this, node, path| {
            head += 1;
            this.rows(node, path, &format!("the additive mask of head {head}"))
        })
    }

    fn window(&mut self, group: &Group, path: &Path<'_>) -> Option<MaskRule> {
        const WINDOW: Known<'static> = Known { name: "Window", fields: &["left", "right"] };
        let fields = self.fields(group, path, &WINDOW);
        let mut side = |name: &str| match fields.get(name) {
            Some(node) => self.count(node, &path.field(name), &format!("`{name}` {BESIDES}")).map(Some),
            None => Some(None),
        };
        let (left, right) = (side("left"), side("right"));
        Some(MaskRule::Window { left: left?, right: right? })
    }

    fn boolean_mask(&mut self, name: &str, group: &Group, path: &Path<'_>) -> Option<MaskRule> {
        const CONVENTIONS: [(&str, Convention); 2] =
            [("TrueAllows", Convention::TrueAllows), ("TrueBlocks", Convention::TrueBlocks)];
        const MATRIX: Known<'static> = Known { name: "Matrix", fields: &["convention", "rows"] };
        const PER_HEAD: Known<'static> = Known { name: "MatrixPerHead", fields: &["convention", "heads"] };
        let per_head = name == "MatrixPerHead";
        let fields = self.fields(group, path, if per_head { &PER_HEAD } else { &MATRIX });
        let convention = match fields.get("convention") {
            Some(node) => self.choice(node, &path.field("convention"), "a convention", &CONVENTIONS),
            None => {
                self.complain_with(
                    &path.field("convention"),
                    &fields.head,
                    format!("{name} has no `convention`: does `true` allow or block?"),
                    Some("write convention: TrueAllows or convention: TrueBlocks".to_owned()),
                );
                None
            }
        };
        if per_head {
            let heads = self.required(&fields, path, name, "heads")?;
            let wanted = "a list of boolean masks, one per query head";
            let heads = self.list(heads, &path.field("heads"), wanted, Self::boolean_rows)?;
            return Some(MaskRule::MatrixPerHead { convention: convention?, heads });
        }
        let rows = self.required(&fields, path, name, "rows")?;
        let rows = self.boolean_rows(rows, &path.field("rows"))?;
        Some(MaskRule::Matrix { convention: convention?, rows })
    }
}

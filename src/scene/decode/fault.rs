//! Mistakes made on purpose, and dropout.

use super::decoder::Decoder;
use super::fields::Known;
use super::path::Path;
use crate::engine::Fault;
use crate::scene::model::DropoutSpec;
use crate::scene::syntax::Node;

impl Decoder<'_> {
    pub fn fault(&mut self, node: &Node, path: &Path<'_>) -> Option<Fault> {
        let faults = Fault::ALL.map(|fault| (fault_name(fault), fault));
        self.choice(node, path, "a named mistake", &faults)
    }

    pub fn dropout(&mut self, node: &Node, path: &Path<'_>) -> Option<DropoutSpec> {
        const DROPOUT: Known<'static> = Known { name: "dropout", fields: &["rate", "seed"] };
        let fields = self.nested(node, path, &DROPOUT)?;
        let rate = self.required(&fields, path, "dropout", "rate");
        let rate = rate.and_then(|node| self.number(node, &path.field("rate")));
        let seed = match fields.get("seed") {
            Some(node) => self.seed(node, &path.field("seed")),
            None => Some(0),
        };
        Some(DropoutSpec { rate: rate?, seed: seed? })
    }
}

/// How a mistake is spelt in a file.
pub(in crate::scene) fn fault_name(fault: Fault) -> &'static str {
    match fault {
        Fault::SoftmaxOverQueries => "SoftmaxOverQueries",
        Fault::NoScale => "NoScale",
        Fault::ModelWidthScale => "ModelWidthScale",
        Fault::InvertedBoolean => "InvertedBoolean",
        Fault::MaskAfterSoftmax => "MaskAfterSoftmax",
        Fault::MaskMultiplied => "MaskMultiplied",
        Fault::MinusTenThousand => "MinusTenThousand",
        Fault::MinusOneBillion => "MinusOneBillion",
        Fault::NaiveExp => "NaiveExp",
        Fault::WrongCorner => "WrongCorner",
        Fault::PaddingOnQueryRows => "PaddingOnQueryRows",
        Fault::TiledKvHeads => "TiledKvHeads",
        Fault::SplitWithoutTranspose => "SplitWithoutTranspose",
        Fault::MergeWithoutTranspose => "MergeWithoutTranspose",
        Fault::SoftCapAfterMask => "SoftCapAfterMask",
        Fault::BiasScaledWithScores => "BiasScaledWithScores",
        Fault::SumInHalfPrecision => "SumInHalfPrecision",
    }
}

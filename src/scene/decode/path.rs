//! The path of a field, spelt out only when somebody complains.

use std::fmt;

/// A field path from the top of the file: `input.k[0][2]`.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    parent: Option<&'p Self>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Top,
    Field(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub const TOP: Path<'static> = Path { parent: None, step: Step::Top };

    pub fn field<'s>(&'s self, name: &'s str) -> Path<'s> {
        Path { parent: Some(self), step: Step::Field(name) }
    }

    pub fn index(&self, index: usize) -> Path<'_> {
        Path { parent: Some(self), step: Step::Index(index) }
    }

    /// The field's own name; for an item, that of its list.
    pub fn name(&self) -> &'p str {
        match (self.step, self.parent) {
            (Step::Field(name), _) => name,
            (_, Some(parent)) => parent.name(),
            _ => "the scene",
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Top => Ok(()),
            Step::Field(name) if matches!(self.parent.map(|p| p.step), Some(Step::Top)) => f.write_str(name),
            Step::Field(name) => write!(f, ".{name}"),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

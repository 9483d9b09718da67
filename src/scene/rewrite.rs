//! Scenes as text: a fresh file, or an existing one with only the changes in it.

use super::decode::decode_whole;
use super::edits::Edits;
use super::model::SceneSpec;
use super::syntax::{Entry, Group, Kind, Node};
use super::{layout, out, out::Out};

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The whole new text.
    pub text: String,
    /// The original held comments that are not in the new text; say so before overwriting.
    pub lost_comments: bool,
}

/// A fresh scene file, laid out as a person would: defaults left out, one matrix row a line where a matrix is long.
///
/// [`read_spec`](super::read_spec) gives back the same spec; only the width of a matrix without rows cannot be written.
pub fn write(spec: &SceneSpec) -> String {
    layout::file(&out::scene(spec))
}

/// `original` with the values of `spec`: comments, order and layout stay, and only what differs is replaced.
///
/// An original that does not read as a scene is replaced whole, which loses its comments.
pub fn rewrite(original: &str, spec: &SceneSpec) -> Rewritten {
    let new = out::scene(spec);
    if let Ok((old_spec, tree)) = decode_whole(original) {
        let old = out::scene(&old_spec);
        let mut rewriter = Rewriter { text: original, edits: Edits::new(original, &tree.comments) };
        rewriter.value(&tree.root, &old, &new);
        let text = rewriter.edits.apply();
        let same = |text| decode_whole(text).is_ok_and(|(spec, _)| out::scene(&spec) == new);
        if same(&text) {
            return Rewritten { text, lost_comments: false };
        }
        let lost_comments = !tree.comments.is_empty();
        return Rewritten { text: layout::file(&new), lost_comments };
    }
    let lost_comments = original.contains("//") || original.contains("/*");
    Rewritten { text: layout::file(&new), lost_comments }
}

struct Rewriter<'t> {
    text: &'t str,
    edits: Edits<'t>,
}

impl Rewriter<'_> {
    /// Turns `node`, which spells `old`, into `new`: inside it where both are built alike, as a whole otherwise.
    fn value(&mut self, node: &Node, old: &Out, new: &Out) {
        if old == new {
            return;
        }
        let node = node.without_some(self.text);
        match (&node.kind, old, new) {
            (Kind::List(group), Out::List(old), Out::List(new))
                if group.entries.len() == old.len() && !old.is_empty() && !new.is_empty() =>
            {
                self.items(group, old, new);
            }
            (Kind::Parens(group), Out::Group(old_name, old), Out::Group(new_name, new))
                if old_name == new_name && !group.entries.is_empty() =>
            {
                self.fields(group, old, new);
            }
            (Kind::Parens(group), Out::Call(old_name, old), Out::Call(new_name, new))
                if old_name == new_name && group.entries.len() == 1 =>
            {
                self.value(&group.entries[0].value, old, new);
            }
            _ => self.replace(node, new),
        }
    }

    fn replace(&mut self, node: &Node, new: &Out) {
        let indent = self.edits.indent_of_line(node.span.start);
        let column = self.edits.column(node.span.start);
        self.edits.replace(node.span.clone(), layout::value(new, indent, column));
    }

    /// What both ends share stays; the middle is changed item by item, then shortened or lengthened.
    fn items(&mut self, group: &Group, old: &[Out], new: &[Out]) {
        let shorter = old.len().min(new.len());
        let same_start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let ends = old.iter().rev().zip(new.iter().rev());
        let same_end = ends.take(shorter - same_start).take_while(|(old, new)| old == new).count();
        let (old_end, new_end) = (old.len() - same_end, new.len() - same_end);
        let both_end = old_end.min(new_end);
        for index in same_start..both_end {
            self.value(&group.entries[index].value, &old[index], &new[index]);
        }
        for entry in &group.entries[both_end..old_end] {
            self.edits.remove(entry);
        }
        let indent = self.edits.entry_indent(group);
        for item in &new[both_end..new_end] {
            self.edits.insert(group, both_end.checked_sub(1), &layout::value(item, indent, indent));
        }
    }

    fn fields(&mut self, group: &Group, old: &[(&'static str, Out)], new: &[(&'static str, Out)]) {
        let index_of = |name: &str| {
            let named = |entry: &Entry| entry.key.as_ref().is_some_and(|key| &self.text[key.clone()] == name);
            group.entries.iter().position(named)
        };
        let positions: Vec<Option<usize>> = new.iter().map(|(name, _)| index_of(name)).collect();
        let gone: Vec<usize> = old
            .iter()
            .filter(|(name, _)| new.iter().all(|(other, _)| other != name))
            .filter_map(|(name, _)| index_of(name))
            .collect();
        let indent = self.edits.entry_indent(group);
        for ((name, new), position) in new.iter().zip(positions) {
            let before = old.iter().find(|(other, _)| other == name).map(|(_, old)| old);
            match (position, before) {
                (Some(position), Some(old)) => self.value(&group.entries[position].value, old, new),
                // What means nothing special was spelt out: `scoring: ScaledDot`, `softcap: None`.
                (Some(position), None) => self.replace(&group.entries[position].value, new),
                (None, Some(old)) if old == new => {}
                (None, _) => {
                    let after = self.before(group, name, &gone);
                    self.edits.insert(group, after, &layout::field(name, new, indent));
                }
            }
        }
        for position in gone {
            self.edits.remove(&group.entries[position]);
        }
    }

    /// The entry behind which a new field belongs: the last one that stays and is usually written before it.
    fn before(&self, group: &Group, name: &str, gone: &[usize]) -> Option<usize> {
        let rank = |name: &str| out::ORDER.iter().position(|known| *known == name);
        let earlier =
            |entry: &Entry| entry.key.as_ref().is_some_and(|key| rank(&self.text[key.clone()]) < rank(name));
        let stays = |position: &usize| !gone.contains(position) && earlier(&group.entries[*position]);
        (0..group.entries.len()).rfind(stays)
    }
}

//! Input fields that formulas can point at, each with what is wrong with it below.

use egui::{Color32, DragValue, Frame, Margin, Response, RichText, Ui, UiBuilder};

use crate::cost::{Field, Prefix, StorageType, grouped};

use super::super::style::Colors;
use super::super::{settings_panel::choice, widgets};
use super::answer::Complaint;

/// A field on screen: an input, and the group of layers that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The input.
    pub field: Field,
    /// The group of layers, from 0.
    pub group: Option<usize>,
}

impl Place {
    /// A field of the whole configuration.
    pub const fn of(field: Field) -> Self {
        Self { field, group: None }
    }

    /// A field of one group of layers.
    pub const fn in_group(field: Field, group: usize) -> Self {
        Self { field, group: Some(group) }
    }

    /// Whether a formula or a complaint that names `other` means this field. One that names no group means any.
    fn answers(self, other: Self) -> bool {
        home(self.field) == home(other.field)
            && (self.group.is_none() || other.group.is_none() || self.group == other.group)
    }
}

/// Where a factor of a formula is typed: several are made from the same input.
const fn home(field: Field) -> Field {
    match field {
        Field::HeadWidth => Field::KeyWidth,
        Field::StorageType => Field::KeyType,
        Field::Queries | Field::Keys | Field::CachedKeys | Field::ContextLength | Field::VisiblePairs => {
            Field::Tokens
        }
        other => other,
    }
}

/// The fields of one frame.
pub struct Fields<'a> {
    /// The field that the pointer is on in a formula.
    pub lit: Option<Place>,
    /// The field that a click in a formula leads to.
    pub asked: Option<Place>,
    /// What is wrong.
    pub complaints: &'a [Complaint],
    /// Which of these have been shown at their fields.
    pub shown: &'a mut Vec<bool>,
}

impl Fields<'_> {
    /// A whole number. Returns whether it was changed.
    pub fn number(&mut self, ui: &mut Ui, place: Place, label: &str, value: &mut u64, hint: &str) -> bool {
        self.field(ui, place, label, |ui| {
            let speed = (*value as f64 * 0.004).max(0.05);
            let drag = DragValue::new(value)
                .speed(speed)
                .custom_formatter(|value, _| written(value.max(0.0) as u128))
                .custom_parser(parse);
            ui.add(drag).on_hover_text(hint)
        })
        .changed()
    }

    /// A storage type.
    pub fn storage(&mut self, ui: &mut Ui, place: Place, label: &str, value: &mut StorageType) -> bool {
        let types: Vec<(StorageType, &str)> =
            StorageType::ALL.into_iter().map(|storage| (storage, storage.name())).collect();
        let hint = "How one value is stored; block types include their scales";
        let mut chosen = None;
        self.around(ui, place, label, |ui| chosen = choice(ui, label, &types, *value, hint));
        chosen.map(|storage| *value = storage).is_some()
    }

    /// One of a few, on the same lines as the other fields.
    pub fn choice<T: Copy + PartialEq>(
        &mut self,
        ui: &mut Ui,
        label: &str,
        options: &[(T, &str)],
        value: &mut T,
        hint: &str,
    ) -> bool {
        let mut chosen = None;
        ground(ui, label, false, |ui| chosen = choice(ui, label, options, *value, hint));
        chosen.map(|other| *value = other).is_some()
    }

    /// Any widget at the right of its name.
    pub fn field(
        &mut self,
        ui: &mut Ui,
        place: Place,
        label: &str,
        add: impl FnOnce(&mut Ui) -> Response,
    ) -> Response {
        let asked = self.asked.is_some_and(|asked| place.answers(asked));
        let response = self.around(ui, place, label, |ui| widgets::setting(ui, label, add));
        if asked {
            response.request_focus();
            response.scroll_to_me(None);
        }
        response
    }

    /// The ground that lights up, and the complaint below.
    fn around<R>(&mut self, ui: &mut Ui, place: Place, label: &str, add: impl FnOnce(&mut Ui) -> R) -> R {
        let bad = Colors::in_use(ui).bad;
        let lit = self.lit.or(self.asked).is_some_and(|lit| place.answers(lit));
        let added = ground(ui, label, lit, add);
        for (complaint, shown) in self.complaints.iter().zip(self.shown.iter_mut()) {
            let named = complaint.field.map(|field| Place { field, group: complaint.group });
            if !*shown && named.is_some_and(|named| place.answers(named)) {
                *shown = true;
                ui.add(egui::Label::new(RichText::new(&complaint.text).small().color(bad)).wrap());
            }
        }
        added
    }
}

/// The ground of a field, in line with the headings; it lights up around the field.
fn ground<R>(ui: &mut Ui, label: &str, lit: bool, add: impl FnOnce(&mut Ui) -> R) -> R {
    let fill = if lit { Colors::in_use(ui).accent_soft } else { Color32::TRANSPARENT };
    let frame = Frame::new()
        .fill(fill)
        .corner_radius(5)
        .outer_margin(Margin { left: -5, ..Margin::ZERO })
        .inner_margin(Margin { left: 5, right: 2, top: 1, bottom: 1 });
    // An identity of its own: a sentence that appears above must not take the keyboard or the drag away.
    let id = ui.scope_id().with(label);
    ui.scope_builder(UiBuilder::new().scope_id(id), |ui| frame.show(ui, add).inner).inner
}

/// With separators; round numbers of ten digits and more with a prefix: `2,039 G`.
fn written(value: u128) -> String {
    let whole = |prefix: &Prefix| value.is_multiple_of(prefix.factor());
    let text = |prefix: Prefix| format!("{} {}", grouped(value / prefix.factor()), prefix.letters());
    let prefixes = Prefix::DECIMAL.into_iter().filter(whole);
    match value {
        0..1_000_000_000 => grouped(value),
        _ => prefixes.map(text).min_by_key(String::len).unwrap_or_default().trim_end().to_owned(),
    }
}

/// `8,192`, `8 192`, `8k` and `8Ki` are numbers.
fn parse(text: &str) -> Option<f64> {
    let compact: String =
        text.chars().filter(|letter| !letter.is_whitespace() && !",_".contains(*letter)).collect();
    let split = compact.find(|letter: char| letter.is_alphabetic()).unwrap_or(compact.len());
    let (number, letters) = compact.split_at(split);
    let prefix = Prefix::from_letters(letters)?;
    number.parse::<f64>().ok().map(|value| value * prefix.factor() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_separators_and_prefixes() {
        assert_eq!(parse("131,072"), Some(131_072.0));
        assert_eq!(parse("128Ki"), Some(131_072.0));
        assert_eq!(parse("8 k"), Some(8000.0));
        assert_eq!(parse("many"), None);
        for value in [0, 8192, 2_039_000_000_000, 312_000_000_000_000, 1_234_567_891] {
            assert_eq!(parse(&written(value)), Some(value as f64));
        }
        assert_eq!(written(2_039_000_000_000), "2,039 G");
    }

    #[test]
    fn a_factor_leads_to_the_field_that_it_is_made_from() {
        let tokens = Place::of(Field::Tokens);
        assert!(tokens.answers(Place::of(Field::Queries)));
        let second = Place::in_group(Field::KeyWidth, 1);
        assert!(second.answers(Place::in_group(Field::HeadWidth, 1)));
        assert!(second.answers(Place::of(Field::HeadWidth)));
        assert!(!second.answers(Place::in_group(Field::HeadWidth, 0)));
    }
}

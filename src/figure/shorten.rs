//! Token labels made visible and made to fit.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::sketch::{Style, width};

/// The label as it is drawn: `∅` for an empty one, `␣` for each space of a blank one, else itself.
pub fn visible(label: &str) -> Cow<'_, str> {
    if label.is_empty() {
        return Cow::Borrowed("∅");
    }
    if label.chars().all(char::is_whitespace) {
        return Cow::Owned("␣".repeat(label.chars().count().min(4)));
    }
    Cow::Borrowed(label)
}

/// The visible label, cut between graphemes to at most `most` graphemes, the last of them `…` where something was cut.
///
/// `most` = 0 gives an empty string.
pub fn shorten_to_graphemes(label: &str, most: usize) -> String {
    let label = visible(label);
    if label.graphemes(true).take(most + 1).count() <= most {
        return label.into_owned();
    }
    let kept: String = label.graphemes(true).take(most.saturating_sub(1)).collect();
    if most == 0 { kept } else { kept + "…" }
}

/// The visible label, cut between graphemes until it is no wider than `room` points. At least `…` remains.
pub fn shorten_to_width(label: &str, style: Style, room: f32) -> String {
    let label = visible(label);
    if width(&label, style) <= room {
        return label.into_owned();
    }
    // No face sets a letter much narrower than a fifth of its size: longer labels need not be measured whole.
    let most = (room / (0.2 * style.size)).max(1.0) as usize;
    let graphemes: Vec<&str> = label.graphemes(true).take(most).collect();
    let fits = |n: &usize| width(&with_dots(&graphemes[..*n]), style) <= room;
    let n = (1..=graphemes.len()).rev().find(fits).unwrap_or(0);
    with_dots(&graphemes[..n])
}

fn with_dots(graphemes: &[&str]) -> String {
    let mut text: String = graphemes.concat();
    text.truncate(text.trim_end().len());
    text + "…"
}

#[cfg(test)]
mod tests {
    use super::super::{Color, Face};
    use super::*;

    const FAMILY: &str = "👩‍👩‍👧‍👦";

    #[test]
    fn labels_are_cut_between_graphemes() {
        assert_eq!(shorten_to_graphemes(&"é".repeat(200), 3), "éé…");
        assert_eq!(shorten_to_graphemes("👕shirt", 2), "👕…");
        assert_eq!(shorten_to_graphemes("深紅", 2), "深紅");
        assert_eq!(shorten_to_graphemes(FAMILY, 1), FAMILY);
        assert_eq!(shorten_to_graphemes("e\u{301}a", 2), "e\u{301}a");
        for label in ["é…", "👕shirt", "深紅", FAMILY, "e\u{301}", "x"] {
            for most in 0..7 {
                let cut = shorten_to_graphemes(label, most);
                assert!(cut.graphemes(true).count() <= most, "{label} {most}");
            }
        }
    }

    #[test]
    fn empty_and_blank_labels_can_be_seen() {
        assert_eq!(visible(""), "∅");
        assert_eq!(visible(" "), "␣");
        assert_eq!(visible("\n\t"), "␣␣");
        assert_eq!(visible("the"), "the");
    }

    #[test]
    fn a_shortened_label_fits_its_room() {
        let style = Style { face: Face::Regular, size: 10.0, color: Color::BLACK };
        for label in ["approved", "a", &"w".repeat(500), "深紅深紅深紅", FAMILY, "two words here"] {
            for room in [12.0, 20.0, 33.0, 60.0] {
                let cut = shorten_to_width(label, style, room);
                assert!(width(&cut, style) <= room || cut == "…", "{label} {room} {cut}");
                assert!(!cut.is_empty());
            }
        }
    }
}

//! The nearest known name, for misspelt ones.

/// The known name that `found` was most likely meant to be, if any is near.
///
/// Near means: at most a third of the letters differ (Levenshtein, neighbouring letters swapped count as one), ignoring
/// case and underscores; or one is the beginning of the other.
pub(super) fn nearest<'k>(found: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let wanted = plain(found);
    if wanted.len() > 40 {
        return None;
    }
    let (distance, name) = known
        .into_iter()
        .map(|name| {
            let plain = plain(name);
            let beginning = wanted.len() >= 3 && (plain.starts_with(&wanted) || wanted.starts_with(&plain));
            (if beginning { 1 } else { edits(&wanted, &plain) }, name)
        })
        .min_by_key(|(distance, _)| *distance)?;
    let letters = wanted.len().max(plain(name).len());
    (distance * 3 <= letters.max(3)).then_some(name)
}

fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

/// Letters to insert, delete, replace or swap (optimal string alignment).
fn edits(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for i in 0..left.len() {
        let mut row = vec![i + 1];
        for j in 0..right.len() {
            let replaced = above[j] + usize::from(left[i] != right[j]);
            let mut best = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && left[i] == right[j - 1] && left[i - 1] == right[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_far_ones_are_not_offered() {
        let fields = ["title", "tokens", "input", "scoring", "softcap", "softmax", "mask", "view"];
        assert_eq!(nearest("titel", fields), Some("title"));
        assert_eq!(nearest("Masks", fields), Some("mask"));
        assert_eq!(nearest("soft_cap", fields), Some("softcap"));
        assert_eq!(nearest("scor", fields), Some("scoring"));
        assert_eq!(nearest("temperature", fields), None);
        assert_eq!(nearest("Randm", ["Randn", "Identity", "File"]), Some("Randn"));
        assert_eq!(nearest("scal", ["Scale", "Dot"]), Some("Scale"));
        assert_eq!(nearest("", fields), None);
    }
}

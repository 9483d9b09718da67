//! The scenes that come with the program, compiled in.

/// A scene file that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// The stem of its file name: `01_two_positions`.
    pub name: &'static str,
    /// The scene file, word for word.
    pub text: &'static str,
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(Bundled { name: $name, text: include_str!(concat!("../../scenes/", $name, ".ron")) }),*]
    };
}

/// In the order in which they are read: by topic, and within a topic one builds on another.
static SCENES: &[Bundled] = bundled![
    "01_two_positions",
    "02_two_positions_second_key",
    "03_two_positions_even",
    "04_three_positions",
    "05_animals_and_places",
    "06_query_times_four",
    "07_duplicate_key",
    "08_without_scaling",
    "09_large_scores",
    "10_dot_scorer",
    "11_additive_scorer",
    "12_three_positions_causal",
    "13_causal_and_padding",
    "14_causal_top_left",
    "15_causal_bottom_right",
    "16_causal_more_queries",
    "17_empty_row_zero",
    "18_empty_row_nan",
    "19_empty_row_uniform",
    "20_boolean_mask_true_allows",
    "21_boolean_mask_true_blocks",
    "22_additive_mask",
    "23_sliding_window",
    "24_packed_documents",
    "25_projections",
    "26_two_heads",
    "27_grouped_heads",
    "28_multi_query",
    "29_cross_attention",
    "30_decode_step",
    "31_bank_loan_layer_0",
    "32_bank_loan_layer_5",
    "33_boat_bank_layer_0",
    "34_boat_bank_layer_5",
    "35_rotary_positions",
    "36_linear_biases",
    "37_window_stride_global",
    "38_half_precision_overflow",
    "39_lost_differences",
    "40_maps_from_elsewhere",
    "41_learned_sink",
    "42_dropout",
    "43_mask_after_softmax",
    "44_minus_ten_thousand",
    "45_tiled_kv_heads",
];

/// Tensor files that bundled scenes refer to, under the paths by which they do.
static FILES: &[(&str, &[u8])] = &[
    ("models/bank_loan.safetensors", include_bytes!("../../scenes/models/bank_loan.safetensors")),
    (
        "models/bank_loan_weights.safetensors",
        include_bytes!("../../scenes/models/bank_loan_weights.safetensors"),
    ),
    ("models/bank_river.safetensors", include_bytes!("../../scenes/models/bank_river.safetensors")),
];

/// Every bundled scene, grouped by topic.
pub fn all() -> &'static [Bundled] {
    SCENES
}

/// The bundled scene of this name: `01_two_positions`, `two_positions`, or either with `.ron`.
///
/// A name is matched whole, so that a file of one's own is never mistaken for a bundled scene.
pub fn find(name: &str) -> Option<&'static Bundled> {
    let stem = name.strip_suffix(".ron").unwrap_or(name);
    SCENES.iter().find(|scene| scene.name == stem || without_number(scene.name) == stem)
}

/// The bytes of a file that a bundled scene refers to, by its path relative to the scene: `models/bank_loan.safetensors`.
///
/// Both `/` and `\` separate folders.
pub fn file(path: &str) -> Option<&'static [u8]> {
    let path = path.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    FILES.iter().find(|(known, _)| *known == path).map(|(_, bytes)| *bytes)
}

/// `two_positions` of `01_two_positions`.
fn without_number(name: &str) -> &str {
    match name.split_once('_') {
        Some((number, rest)) if number.chars().all(|c| c.is_ascii_digit()) => rest,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_is_found_by_its_full_name_without_its_number_and_with_its_extension() {
        for name in ["04_three_positions", "three_positions", "04_three_positions.ron", "three_positions.ron"]
        {
            assert_eq!(find(name).map(|scene| scene.name), Some("04_three_positions"), "{name}");
        }
    }

    #[test]
    fn other_names_are_not_found() {
        for name in
            ["", "04", "three", "positions", "_three_positions", "scenes/04_three_positions.ron", ".ron"]
        {
            assert_eq!(find(name), None, "{name}");
        }
    }

    #[test]
    fn no_two_scenes_answer_to_one_name() {
        for scene in all() {
            assert_eq!(find(scene.name), Some(scene));
            assert_eq!(find(without_number(scene.name)), Some(scene));
        }
    }

    #[test]
    fn model_files_are_found_by_the_path_that_scenes_use() {
        let loan = file("models/bank_loan.safetensors");
        assert!(loan.is_some_and(|bytes| bytes.len() > 8));
        assert_eq!(file("./models/bank_loan.safetensors"), loan);
        assert_eq!(file("models\\bank_loan.safetensors"), loan);
        assert_eq!(file("bank_loan.safetensors"), None);
    }
}

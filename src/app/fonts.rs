//! Hands the bundled faces to egui: the same bytes that figures are measured with.

use std::sync::Arc;

use egui::{FontData, FontDefinitions, FontFamily};

use crate::figure::Face;
use crate::ui::paint;

/// Installs the faces: Inter first, DejaVu Sans for signs that it lacks, then egui's own and the system's.
pub fn install(ctx: &egui::Context) {
    let mut fonts = FontDefinitions::default();
    for face in Face::all() {
        let data = FontData::from_static(face.bytes());
        fonts.font_data.insert(key(face), Arc::new(data));
    }
    let fallback: Vec<String> = std::iter::once(key(Face::Fallback))
        .chain(fonts.families.get(&FontFamily::Proportional).cloned().unwrap_or_default())
        .collect();
    for face in Face::all() {
        let mut family = vec![key(face)];
        family.extend(fallback.iter().filter(|name| **name != key(face)).cloned());
        fonts.families.insert(paint::family(face), family);
    }
    ctx.set_fonts(fonts);
}

/// One name for each face; those of one typeface share their family name.
fn key(face: Face) -> String {
    format!("{face:?}")
}

//! What figures look like, as data.

use super::Color;

/// Whether colours are made for light or dark paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tone {
    /// Dark ink on light paper.
    #[default]
    Light,
    /// Light ink on dark paper.
    Dark,
}

/// The look of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FigureTheme {
    /// For a projector and for most papers.
    #[default]
    Light,
    /// For dark slides.
    Dark,
    /// Black ink and stronger rules, for paper.
    Print,
}

/// The colours of a theme. A drawing holds no ground: surfaces paint `paper` first, or leave it transparent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Which ramps to use.
    pub tone: Tone,
    /// The ground that the figure is made for.
    pub paper: Color,
    /// Text and axes.
    pub ink: Color,
    /// Shapes, captions, what is said quietly. Contrast with `paper` of 4.5 or more.
    pub muted: Color,
    /// The pin, and nothing else.
    pub accent: Color,
    /// Rules between cells.
    pub rule: Color,
    /// Around a matrix.
    pub border: Color,
    /// Strokes of blocked cells.
    pub hatch: Color,
    /// Tone of blocked cells.
    pub blocked: Color,
    /// Tone of cells that are not a number.
    pub not_a_number: Color,
    /// Marks of cells that are not a number or infinite.
    pub mark: Color,
    /// The name of Q.
    pub query: Color,
    /// The name of K.
    pub key: Color,
    /// The names of V and the output.
    pub value: Color,
    /// The name of the weights.
    pub weight: Color,
}

impl FigureTheme {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Light, Self::Dark, Self::Print];

    /// The colours.
    pub fn colors(self) -> &'static Theme {
        match self {
            Self::Light => &LIGHT,
            Self::Dark => &DARK,
            Self::Print => &PRINT,
        }
    }
}

const LIGHT: Theme = Theme {
    tone: Tone::Light,
    paper: Color::WHITE,
    ink: Color::hex(0x1c_21_2b),
    muted: Color::hex(0x64_6b_78),
    accent: Color::hex(0x2f_54_d6),
    rule: Color::hex(0xe6_e8_ee),
    border: Color::hex(0xc3_c8_d2),
    hatch: Color::hex(0xcb_cf_d8),
    blocked: Color::hex(0xf1_f2_f5),
    not_a_number: Color::hex(0xfb_e4_a8),
    mark: Color::hex(0xa3_5b_00),
    query: Color::hex(0x2f_5f_cf),
    key: Color::hex(0xbd_3a_45),
    value: Color::hex(0x23_7f_4e),
    weight: Color::hex(0x62_38_9c),
};

const DARK: Theme = Theme {
    tone: Tone::Dark,
    paper: Color::hex(0x14_16_1b),
    ink: Color::hex(0xe8_ea_ef),
    muted: Color::hex(0x9a_a1_af),
    accent: Color::hex(0x7d_a2_ff),
    rule: Color::hex(0x2e_32_3b),
    border: Color::hex(0x4a_50_5c),
    hatch: Color::hex(0x45_4b_57),
    blocked: Color::hex(0x26_29_31),
    not_a_number: Color::hex(0x6b_4a_0a),
    mark: Color::hex(0xff_c9_61),
    query: Color::hex(0x8a_b0_ff),
    key: Color::hex(0xf2_8f_97),
    value: Color::hex(0x77_cf_9b),
    weight: Color::hex(0xc6_ab_ff),
};

const PRINT: Theme = Theme {
    tone: Tone::Light,
    paper: Color::WHITE,
    ink: Color::BLACK,
    muted: Color::hex(0x4a_4a_4a),
    accent: Color::hex(0x1d_3f_b8),
    rule: Color::hex(0xcf_cf_cf),
    border: Color::hex(0x55_55_55),
    hatch: Color::hex(0xa8_a8_a8),
    blocked: Color::hex(0xf2_f2_f2),
    not_a_number: Color::hex(0xfb_e4_a8),
    mark: Color::hex(0x7a_44_00),
    query: Color::BLACK,
    key: Color::BLACK,
    value: Color::BLACK,
    weight: Color::BLACK,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ink_of_every_theme_reads_on_its_paper() {
        for theme in FigureTheme::ALL {
            let colors = theme.colors();
            for ink in [
                colors.ink,
                colors.muted,
                colors.accent,
                colors.query,
                colors.key,
                colors.value,
                colors.weight,
            ] {
                assert!(colors.paper.contrast(ink) >= 4.5, "{theme:?} {ink:?}");
            }
        }
    }

    #[test]
    fn blocked_cells_keep_their_muted_glyph_readable() {
        for theme in FigureTheme::ALL {
            let colors = theme.colors();
            assert!(colors.blocked.contrast(colors.muted) >= 4.5, "{theme:?}");
        }
    }
}

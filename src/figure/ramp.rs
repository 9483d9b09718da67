//! Colour ramps of 256 steps, straight lines in OKLab: equal steps of a number look like equal steps of colour.

use std::sync::OnceLock;

use super::color::Oklab;
use super::{Color, Tone};
use crate::scene::Palette;

/// 256 colours, from the colour of zero to the colour of the largest magnitude.
pub type Ramp = [Color; 256];

/// What a ramp colours. Every kind exists for light and for dark paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RampKind {
    /// Weights, in the palette chosen by the reader.
    Weights(Palette),
    /// Scores above zero.
    ScorePlus,
    /// Scores below zero.
    ScoreMinus,
    /// Queries above zero.
    QueryPlus,
    /// Queries below zero.
    QueryMinus,
    /// Keys above zero.
    KeyPlus,
    /// Keys below zero.
    KeyMinus,
    /// Values and outputs above zero.
    ValuePlus,
    /// Values and outputs below zero.
    ValueMinus,
}

const KINDS: usize = 13;

impl RampKind {
    /// All of them, in table order.
    pub const ALL: [Self; KINDS] = [
        Self::Weights(Palette::Violet),
        Self::Weights(Palette::Blue),
        Self::Weights(Palette::Grey),
        Self::Weights(Palette::Viridis),
        Self::Weights(Palette::Cividis),
        Self::ScorePlus,
        Self::ScoreMinus,
        Self::QueryPlus,
        Self::QueryMinus,
        Self::KeyPlus,
        Self::KeyMinus,
        Self::ValuePlus,
        Self::ValueMinus,
    ];

    fn index(self) -> usize {
        Self::ALL.iter().position(|kind| *kind == self).unwrap_or(0)
    }

    /// First and last colour on paper of that tone; `None` for the published maps and for grey.
    fn ends(self, tone: Tone) -> Option<(Color, Color)> {
        let dark = tone == Tone::Dark;
        let (light_end, dark_end) = match self {
            Self::Weights(Palette::Violet) => (0x54_2e_92, 0xd2_bb_ff),
            Self::Weights(Palette::Blue) => (0x0f_4a_94, 0xa8_d2_ff),
            Self::Weights(Palette::Grey | Palette::Viridis | Palette::Cividis) => return None,
            Self::ScorePlus => (0xaa_56_2c, 0xf0_a0_72),
            Self::ScoreMinus => (0x24_72_90, 0x6f_bf_dd),
            Self::QueryPlus => (0x7f_a4_ec, 0x6d_92_dd),
            Self::QueryMinus => (0xb3_a4_8c, 0x93_86_72),
            Self::KeyPlus => (0xe2_8a_90, 0xd2_6c_74),
            Self::KeyMinus => (0x8b_a3_bd, 0x70_95_bd),
            Self::ValuePlus => (0x79_bd_94, 0x5f_a2_7c),
            Self::ValueMinus => (0xa9_97_bd, 0x8b_7b_a0),
        };
        let zero = zero(tone);
        Some((zero, Color::hex(if dark { dark_end } else { light_end })))
    }
}

/// The colour of zero on paper of that tone.
pub fn zero(tone: Tone) -> Color {
    match tone {
        Tone::Light => Color::WHITE,
        Tone::Dark => Color::hex(0x1d_20_27),
    }
}

/// The 256 colours of a kind on paper of that tone. Computed once.
pub fn ramp(kind: RampKind, tone: Tone) -> &'static Ramp {
    static TABLES: [[OnceLock<Box<Ramp>>; KINDS]; 2] = [const { [const { OnceLock::new() }; KINDS] }; 2];
    TABLES[tone as usize][kind.index()].get_or_init(|| Box::new(build(kind, tone)))
}

fn build(kind: RampKind, tone: Tone) -> Ramp {
    if let Some((from, to)) = kind.ends(tone) {
        return if tone == Tone::Dark { arc(from, to) } else { line(from, to) };
    }
    let map = match kind {
        RampKind::Weights(Palette::Viridis) => colorous::VIRIDIS,
        RampKind::Weights(Palette::Cividis) => colorous::CIVIDIS,
        _ => return grey(tone),
    };
    std::array::from_fn(|step| {
        let color = map.eval_rational(step, 256);
        Color::rgb(color.r, color.g, color.b)
    })
}

/// All 256 greys there are; any other line between black and white would repeat some.
fn grey(tone: Tone) -> Ramp {
    std::array::from_fn(|step| {
        let level = if tone == Tone::Dark { step } else { 255 - step } as u8;
        Color::rgb(level, level, level)
    })
}

fn line(from: Color, to: Color) -> Ramp {
    let (from, to) = (Oklab::from(from), Oklab::from(to));
    std::array::from_fn(|step| faithful(from.mix(to, step as f64 / 255.0)))
}

/// A line in lightness that gains its hue early: straight lines from near-black pass through mud.
fn arc(from: Color, to: Color) -> Ramp {
    let (from, to) = (Oklab::from(from), Oklab::from(to));
    std::array::from_fn(|step| {
        let t = step as f64 / 255.0;
        let hued = from.mix(to, t * (2.0 - t) + 0.35 * t * (1.0 - t));
        faithful(Oklab { l: from.mix(to, t).l, ..hued })
    })
}

/// The eight-bit neighbour whose lightness comes closest. Plain rounding would let neighbours swap lightness.
fn faithful(target: Oklab) -> Color {
    let channels = target.channels();
    let wanted = target.l;
    let rounded = |bits: u32| {
        let channel = |i: usize| (channels[i].floor() as u32 + (bits >> i & 1)).min(255) as u8;
        Color::rgb(channel(0), channel(1), channel(2))
    };
    let error = |color: &Color| {
        let lab = Oklab::from(*color);
        (lab.l - wanted).abs() + 0.02 * lab.distance(target)
    };
    (0..8).map(rounded).min_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or(Color::BLACK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const TONES: [Tone; 2] = [Tone::Light, Tone::Dark];

    #[test]
    fn sequential_maps_have_256_distinct_colours_of_strictly_monotone_lightness() {
        for tone in TONES {
            for palette in [Palette::Violet, Palette::Blue, Palette::Grey, Palette::Viridis, Palette::Cividis]
            {
                let colors = ramp(RampKind::Weights(palette), tone);
                let distinct: HashSet<_> = colors.iter().collect();
                // The published eight-bit viridis and cividis tables come from splines; only ours are held to 256.
                let published = matches!(palette, Palette::Viridis | Palette::Cividis);
                assert!(published || distinct.len() == 256, "{palette:?} {tone:?}: {}", distinct.len());
                let falling = colors[0].lightness() > colors[255].lightness();
                for (step, pair) in colors.windows(2).enumerate() {
                    let (a, b) = (pair[0].lightness(), pair[1].lightness());
                    let monotone = if falling { b < a } else { b > a };
                    assert!(published || monotone, "{palette:?} {tone:?} step {step}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn both_arms_of_a_signed_map_start_at_the_colour_of_zero() {
        for tone in TONES {
            for kind in RampKind::ALL.into_iter().skip(5) {
                assert_eq!(ramp(kind, tone)[0], zero(tone), "{kind:?}");
            }
        }
    }

    /// Machado, Oliveira and Fernandes 2009, severity 1, on linear light.
    fn as_seen_by(matrix: [[f64; 3]; 3], color: Color) -> Oklab {
        let to_linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let to_gamma = |c: f64| if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
        let linear = [to_linear(color.r), to_linear(color.g), to_linear(color.b)];
        let seen = matrix.map(|row| {
            let sum: f64 = row.iter().zip(linear).map(|(m, c)| m * c).sum();
            (to_gamma(sum.clamp(0.0, 1.0)) * 255.0).round() as u8
        });
        Oklab::from(Color::rgb(seen[0], seen[1], seen[2]))
    }

    #[test]
    fn signs_stay_apart_for_colour_blind_readers() {
        let deuteranopia = [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ];
        let protanopia = [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ];
        let pairs = [
            (RampKind::ScorePlus, RampKind::ScoreMinus),
            (RampKind::QueryPlus, RampKind::QueryMinus),
            (RampKind::KeyPlus, RampKind::KeyMinus),
            (RampKind::ValuePlus, RampKind::ValueMinus),
        ];
        for tone in TONES {
            for (plus, minus) in pairs {
                for matrix in [deuteranopia, protanopia] {
                    let plus_seen = as_seen_by(matrix, ramp(plus, tone)[255]);
                    let minus_seen = as_seen_by(matrix, ramp(minus, tone)[255]);
                    let apart = plus_seen.distance(minus_seen);
                    assert!(apart > 0.06, "{plus:?} {tone:?}: {apart:.3}");
                }
            }
        }
    }
}

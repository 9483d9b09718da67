//! Colours as eight-bit sRGB, and the two measures that figures need of them: OKLab for mixing, luminance for contrast.

use std::sync::OnceLock;

/// A colour, sRGB with straight alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Color {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
    /// 255 is opaque.
    pub a: u8,
}

impl Color {
    /// White.
    pub const WHITE: Self = Self::rgb(255, 255, 255);
    /// Black.
    pub const BLACK: Self = Self::rgb(0, 0, 0);

    /// An opaque colour.
    pub const fn rgb(r: u8, g: u8, b: u8) -> Self {
        Self { r, g, b, a: 255 }
    }

    /// An opaque colour written as `0xRRGGBB`.
    pub const fn hex(rgb: u32) -> Self {
        Self::rgb((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
    }

    /// Relative luminance, 0 (black) to 1 (white), as WCAG 2 defines it. Alpha is ignored.
    pub fn luminance(self) -> f64 {
        let [r, g, b] = self.linear();
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// Contrast ratio, 1 to 21, as WCAG 2 defines it. The order of the two does not matter.
    pub fn contrast(self, other: Self) -> f64 {
        ratio(self.luminance(), other.luminance())
    }

    /// CIE lightness L*, 0 to 100 (D65 white).
    pub fn lightness(self) -> f64 {
        let y = self.luminance();
        if y > 216.0 / 24389.0 { 116.0 * y.cbrt() - 16.0 } else { y * 24389.0 / 27.0 }
    }

    /// Whichever of `inks` reads best on this ground; black or white where none of them reaches a contrast of 4.5.
    ///
    /// One of black and white always reaches 4.58.
    pub fn ink(self, inks: [Self; 2]) -> Self {
        let own = self.luminance();
        let contrast = |ink: Self| ratio(own, ink.luminance());
        let best_of = |[a, b]: [Self; 2]| if contrast(a) >= contrast(b) { a } else { b };
        let best = best_of(inks);
        if contrast(best) >= 4.5 { best } else { best_of([Self::BLACK, Self::WHITE]) }
    }

    /// Mixes two colours in OKLab; `t` = 0 gives `self`, 1 gives `other`. Alpha is mixed as it stands.
    pub fn mix(self, other: Self, t: f64) -> Self {
        let t = t.clamp(0.0, 1.0);
        let (from, to) = (Oklab::from(self), Oklab::from(other));
        let alpha = f64::from(self.a) + (f64::from(other.a) - f64::from(self.a)) * t;
        Self { a: alpha.round() as u8, ..from.mix(to, t).nearest() }
    }

    fn linear(self) -> [f64; 3] {
        // A figure asks for the contrast of some ten thousand cells; the curve is worth a table.
        static LINEAR: OnceLock<[f64; 256]> = OnceLock::new();
        let table = LINEAR.get_or_init(|| std::array::from_fn(|level| to_linear(level as f64 / 255.0)));
        [self.r, self.g, self.b].map(|channel| table[usize::from(channel)])
    }
}

/// A colour in OKLab (Ottosson 2020): equal distances look about equally far apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oklab {
    /// Perceived lightness, 0 to 1.
    pub l: f64,
    /// Green (negative) to red.
    pub a: f64,
    /// Blue (negative) to yellow.
    pub b: f64,
}

impl From<Color> for Oklab {
    fn from(color: Color) -> Self {
        let [r, g, b] = color.linear();
        let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
        let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
        let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
        Self {
            l: 0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s,
            a: 1.977_998_495_1 * l - 2.428_592_205_0 * m + 0.450_593_709_9 * s,
            b: 0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766_0 * s,
        }
    }
}

impl Oklab {
    /// The straight line between two colours.
    pub fn mix(self, other: Self, t: f64) -> Self {
        let at = |from: f64, to: f64| from + (to - from) * t;
        Self { l: at(self.l, other.l), a: at(self.a, other.a), b: at(self.b, other.b) }
    }

    /// Euclidean distance (ΔE_OK).
    pub fn distance(self, other: Self) -> f64 {
        ((self.l - other.l).powi(2) + (self.a - other.a).powi(2) + (self.b - other.b).powi(2)).sqrt()
    }

    /// sRGB channels from 0 to 255 before rounding; outside the gamut they are clipped.
    pub fn channels(self) -> [f64; 3] {
        let l = (self.l + 0.396_337_777_4 * self.a + 0.215_803_757_3 * self.b).powi(3);
        let m = (self.l - 0.105_561_345_8 * self.a - 0.063_854_172_8 * self.b).powi(3);
        let s = (self.l - 0.089_484_177_5 * self.a - 1.291_485_548_0 * self.b).powi(3);
        [
            4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
            -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
            -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
        ]
        .map(|channel| (to_gamma(channel.clamp(0.0, 1.0)) * 255.0).clamp(0.0, 255.0))
    }

    /// The nearest eight-bit colour.
    pub fn nearest(self) -> Color {
        let [r, g, b] = self.channels().map(|channel| channel.round() as u8);
        Color::rgb(r, g, b)
    }
}

/// Contrast of two luminances.
fn ratio(a: f64, b: f64) -> f64 {
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn to_linear(channel: f64) -> f64 {
    if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
}

fn to_gamma(channel: f64) -> f64 {
    if channel <= 0.003_130_8 { channel * 12.92 } else { 1.055 * channel.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oklab_of_the_primaries_is_as_published() {
        // Ottosson, "A perceptual color space for image processing"; CSS Color 4 sample values.
        let red = Oklab::from(Color::rgb(255, 0, 0));
        assert!((red.l - 0.627_955).abs() < 1e-4 && (red.a - 0.224_863).abs() < 1e-4, "{red:?}");
        let blue = Oklab::from(Color::rgb(0, 0, 255));
        assert!((blue.l - 0.452_014).abs() < 1e-4 && (blue.b + 0.311_528).abs() < 1e-4, "{blue:?}");
    }

    #[test]
    fn every_grey_and_every_primary_comes_back_from_oklab() {
        for level in 0..=255 {
            for color in [Color::rgb(level, level, level), Color::rgb(level, 0, 0), Color::rgb(0, 40, level)]
            {
                assert_eq!(Oklab::from(color).nearest(), color);
            }
        }
    }

    #[test]
    fn contrast_is_as_wcag_defines_it() {
        assert!((Color::BLACK.contrast(Color::WHITE) - 21.0).abs() < 1e-9);
        assert!((Color::hex(0x767676).contrast(Color::WHITE) - 4.54).abs() < 0.01);
        assert!((Color::hex(0x777777).lightness() - 50.03).abs() < 0.05);
    }

    #[test]
    fn some_ink_reads_on_every_ground() {
        for step in 0..4096_u32 {
            let ground =
                Color::rgb((step >> 8) as u8 * 17, (step >> 4 & 15) as u8 * 17, (step & 15) as u8 * 17);
            let ink = ground.ink([Color::hex(0x1f2430), Color::WHITE]);
            assert!(ground.contrast(ink) >= 4.5, "{ground:?} {ink:?}");
        }
    }
}

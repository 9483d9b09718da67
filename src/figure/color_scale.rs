//! From a number to a colour. Every number has a named outcome, and what is not a number never moves the range.

use super::ramp::{self, Ramp, RampKind};
use super::{Color, Theme};
use crate::scene::Palette;

/// What a cell is, as far as its colour is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// Within the range: −1 to 1 on a signed scale, 0 to 1 on a sequential one.
    Value(f64),
    /// Every number of the matrix is the same; the position is the one it would have on its own.
    Constant(f64),
    /// Below the range; shown in the colour of its lower end.
    Below,
    /// Above the range; shown in the colour of its upper end.
    Above,
    /// Hidden by a mask, whatever number lies under it.
    Blocked,
    /// NaN.
    NotANumber,
    /// +∞.
    PositiveInfinity,
    /// −∞, though no mask blocks the cell.
    NegativeInfinity,
}

/// Colours of one matrix.
#[derive(Clone, Copy, Debug)]
pub struct ColorScale {
    low: f64,
    high: f64,
    constant: bool,
    signed: bool,
    plus: &'static Ramp,
    minus: &'static Ramp,
    theme: &'static Theme,
}

/// Which hues stand for the two signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// Warm orange above 0, teal blue below.
    Scores,
    /// Blue above 0, sand below.
    Queries,
    /// Rose above 0, slate below.
    Keys,
    /// Green above 0, mauve below.
    Values,
}

impl ColorScale {
    /// From 0 to 1, whatever the weights are: the same weight has the same colour in every head and every figure.
    pub fn weights(palette: Palette, theme: &'static Theme) -> Self {
        let plus = ramp::ramp(RampKind::Weights(palette), theme.tone);
        Self { low: 0.0, high: 1.0, constant: false, signed: false, plus, minus: plus, theme }
    }

    /// Centred on 0 and as wide as the largest finite magnitude among `values`, so that colour tells the sign.
    ///
    /// Callers leave blocked cells out of `values`; NaN and infinities are ignored here.
    pub fn signed(hues: Signed, values: impl IntoIterator<Item = f64>, theme: &'static Theme) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            low = low.min(value);
            high = high.max(value);
        }
        let limit = if low > high { 0.0 } else { low.abs().max(high.abs()) };
        let (plus, minus) = match hues {
            Signed::Scores => (RampKind::ScorePlus, RampKind::ScoreMinus),
            Signed::Queries => (RampKind::QueryPlus, RampKind::QueryMinus),
            Signed::Keys => (RampKind::KeyPlus, RampKind::KeyMinus),
            Signed::Values => (RampKind::ValuePlus, RampKind::ValueMinus),
        };
        Self {
            low: -limit,
            high: limit,
            constant: low >= high,
            signed: true,
            plus: ramp::ramp(plus, theme.tone),
            minus: ramp::ramp(minus, theme.tone),
            theme,
        }
    }

    /// The same scale over another range, for instance one row's. An empty or unordered range leaves it unchanged.
    #[must_use]
    pub fn with_range(mut self, low: f64, high: f64) -> Self {
        if low.is_finite() && high.is_finite() && low < high {
            (self.low, self.high) = (low, high);
        }
        self
    }

    /// Both ends of the range. Equal (to 0) when there is no finite number but 0.
    pub fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// What a number is on this scale.
    pub fn outcome(&self, value: f64, blocked: bool) -> Outcome {
        if blocked {
            return Outcome::Blocked;
        }
        if value.is_nan() {
            return Outcome::NotANumber;
        }
        if value.is_infinite() {
            return if value > 0.0 { Outcome::PositiveInfinity } else { Outcome::NegativeInfinity };
        }
        if value < self.low {
            return Outcome::Below;
        }
        if value > self.high {
            return Outcome::Above;
        }
        let position = self.position(value);
        if self.constant { Outcome::Constant(position) } else { Outcome::Value(position) }
    }

    fn position(&self, value: f64) -> f64 {
        if self.high <= self.low {
            return 0.0;
        }
        // Halved first: high − low of a signed range can overflow.
        if self.signed {
            value / self.high
        } else {
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        }
    }

    /// The colour of an outcome.
    pub fn color(&self, outcome: Outcome) -> Color {
        let last = self.plus.len() - 1;
        match outcome {
            Outcome::Value(position) | Outcome::Constant(position) => self.at(position),
            Outcome::Above | Outcome::PositiveInfinity => self.plus[last],
            Outcome::Below | Outcome::NegativeInfinity => {
                if self.signed {
                    self.minus[last]
                } else {
                    self.plus[0]
                }
            }
            Outcome::Blocked => self.theme.blocked,
            Outcome::NotANumber => self.theme.not_a_number,
        }
    }

    /// The colour at a position: −1 to 1 on a signed scale, 0 to 1 on a sequential one.
    pub fn at(&self, position: f64) -> Color {
        let step = |t: f64| (t.clamp(0.0, 1.0) * 255.0).round() as usize;
        if self.signed && position < 0.0 { self.minus[step(-position)] } else { self.plus[step(position)] }
    }

    /// The colour of the text on a cell: ink or paper of the theme, whichever reads better; muted on blocked cells.
    pub fn text_color(&self, outcome: Outcome) -> Color {
        let fill = self.color(outcome);
        if outcome == Outcome::Blocked {
            return self.theme.muted;
        }
        fill.ink([self.theme.ink, self.theme.paper])
    }

    /// Colours from the lower end to the upper, for a legend.
    pub fn samples(&self, n: usize) -> Vec<Color> {
        let from = if self.signed { -1.0 } else { 0.0 };
        (0..n).map(|i| self.at(from + (1.0 - from) * i as f64 / (n.max(2) - 1) as f64)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::FigureTheme;
    use super::*;

    fn scores(values: &[f64]) -> ColorScale {
        ColorScale::signed(Signed::Scores, values.iter().copied(), FigureTheme::Light.colors())
    }

    #[test]
    fn the_signed_scale_is_centred_on_zero() {
        let scale = scores(&[-1.0, 4.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!(scale.range(), (-4.0, 4.0));
        assert_eq!(scale.outcome(-1.0, false), Outcome::Value(-0.25));
        assert_eq!(scale.color(scale.outcome(0.0, false)), Color::WHITE);
        assert_ne!(scale.at(0.5), scale.at(-0.5));
    }

    #[test]
    fn a_constant_matrix_has_a_defined_colour() {
        for (values, position) in [(&[0.0, 0.0], 0.0), (&[2.0, 2.0], 1.0), (&[-3.0, -3.0], -1.0)] {
            let scale = scores(values);
            assert_eq!(scale.outcome(values[0], false), Outcome::Constant(position));
        }
        assert_eq!(scores(&[]).outcome(0.0, false), Outcome::Constant(0.0));
    }

    #[test]
    fn every_number_has_its_named_outcome() {
        let scale = ColorScale::weights(Palette::Violet, FigureTheme::Light.colors());
        assert_eq!(scale.outcome(0.25, false), Outcome::Value(0.25));
        assert_eq!(scale.outcome(-1e-9, false), Outcome::Below);
        assert_eq!(scale.outcome(1.5, false), Outcome::Above);
        assert_eq!(scale.outcome(f64::NAN, false), Outcome::NotANumber);
        assert_eq!(scale.outcome(f64::NAN, true), Outcome::Blocked);
        assert_eq!(scale.outcome(f64::INFINITY, false), Outcome::PositiveInfinity);
        assert_eq!(scale.outcome(f64::NEG_INFINITY, false), Outcome::NegativeInfinity);
        assert_ne!(scale.color(Outcome::Blocked), scale.color(Outcome::Value(0.0)));
    }

    #[test]
    fn extreme_ranges_do_not_overflow() {
        let scale = scores(&[-f64::MAX, f64::MAX]);
        assert_eq!(scale.outcome(f64::MAX, false), Outcome::Value(1.0));
        assert_eq!(scores(&[f64::MIN_POSITIVE]).outcome(f64::MIN_POSITIVE, false), Outcome::Constant(1.0));
    }

    #[test]
    fn digits_read_on_every_colour_of_every_scale() {
        for theme in FigureTheme::ALL {
            for palette in Palette::ALL {
                let weights = ColorScale::weights(palette, theme.colors());
                let signed = ColorScale::signed(Signed::Scores, [1.0], theme.colors());
                for step in -255..=255 {
                    for scale in [weights, signed] {
                        let outcome = Outcome::Value(f64::from(step) / 255.0);
                        let contrast = scale.color(outcome).contrast(scale.text_color(outcome));
                        assert!(contrast >= 4.5, "{theme:?} {palette:?} {step}: {contrast}");
                    }
                }
            }
        }
    }
}

//! Title and formula above a figure.

use super::attention_tex::attention_tex;
use super::sketch::Sketch;
use super::{Anchor, Face, FigureInput, Label, Point, formula};
use crate::engine::AttentionSpec;

/// Size of the title, in points.
const TITLE: f32 = 18.0;
/// Size of the line about a mistake, and what it takes, in points.
const MISTAKE: f32 = 11.5;
const MISTAKE_LINE: f32 = 20.0;
/// Size of the formula, in points.
const FORMULA: f32 = 12.5;

/// Title and formula, measured but not yet placed.
pub struct Heading {
    title: Label,
    formula: Option<super::FormulaBox>,
    /// Says that the numbers are wrong on purpose.
    mistake: Option<Label>,
}

impl Heading {
    /// The heading of a figure of one head. A scene without a title gets none.
    pub fn of_head(input: &FigureInput<'_>, head: usize, sketch: &Sketch) -> Self {
        let mut heading = match input.gives_weights {
            true => Self::plain(input.title, sketch), // the caption of the one matrix says where it is from
            false => Self::of_spec(input, &input.in_force(head), sketch),
        };
        if let (Some(head), true) = (input.head(head), input.heads.len() > 1) {
            let place = format!("   head {} of {}", head.query_head + 1, input.heads.len());
            heading.title = heading.title.push_colored(&place, sketch.theme.muted);
            if input.kv_heads() != input.heads.len() {
                let shared = format!(" · KV {}", head.kv_head + 1);
                heading.title = heading.title.push_colored(&shared, sketch.theme.muted);
            }
        }
        heading
    }

    /// The heading of a figure of all heads: title and formula, which is not known of weights that were computed elsewhere.
    pub fn of_scene(input: &FigureInput<'_>, sketch: &Sketch) -> Self {
        if input.gives_weights {
            // There is no formula to claim.
            let mut heading = Self::plain(input.title, sketch);
            heading.title = heading.title.push_colored("   computed elsewhere", sketch.theme.muted);
            return heading;
        }
        Self::of_spec(input, &input.in_force(0), sketch)
    }

    fn of_spec(input: &FigureInput<'_>, spec: &AttentionSpec, sketch: &Sketch) -> Self {
        let formula = formula(&attention_tex(input, spec), FORMULA, sketch.theme.ink).ok();
        let mistake = input.fault().map(|fault| {
            let words = format!("Mistake made on purpose: {}", fault.label());
            Label::plain(&words, Face::Bold, MISTAKE, sketch.theme.mark)
        });
        Self { formula, mistake, ..Self::plain(input.title, sketch) }
    }

    /// The title alone.
    pub fn plain(title: &str, sketch: &Sketch) -> Self {
        let title = Label::plain(title, Face::Bold, TITLE, sketch.theme.ink);
        Self { title, formula: None, mistake: None }
    }

    /// Width of the wider line, in points.
    pub fn width(&self) -> f32 {
        let formula = self.formula.as_ref().map_or(0.0, |formula| formula.width);
        let mistake = self.mistake.as_ref().map_or(0.0, Label::width);
        self.title.width().max(formula).max(mistake)
    }

    /// From the top of the title to the foot of the formula, in points.
    pub fn height(&self) -> f32 {
        let formula = self.formula.as_ref().map_or(0.0, |formula| formula.ascent + formula.descent + 10.0);
        self.title.ascent() + formula + self.mistake.as_ref().map_or(0.0, |_| MISTAKE_LINE)
    }

    /// Draws the heading so that it ends at the height `bottom`, its left edge at `x`.
    pub fn draw_above(&self, sketch: &mut Sketch, x: f32, bottom: f32) {
        let mut bottom = bottom;
        if let Some(mistake) = &self.mistake {
            sketch.extend(mistake.place(Point { x, y: bottom }, Anchor::Start));
            bottom -= MISTAKE_LINE;
        }
        let mut baseline = bottom;
        if let Some(formula) = &self.formula {
            let at = Point { x, y: bottom - formula.descent };
            sketch.extend(formula.at(at));
            baseline = at.y - formula.ascent - 10.0;
        }
        sketch.extend(self.title.place(Point { x, y: baseline }, Anchor::Start));
    }
}

//! Closer looks at one head: what number formats do to it, how it is computed by tiles or with a cache, how it answers to changes,
//! and what linear attention makes of it.
//!
//! Every number comes from the engine; these figures only lay it out.

mod decoding;
mod formats;
mod gradients;
mod linear;
mod page;
mod row;
mod table;
mod tiles;

use page::Page;

use super::board::MARGIN;
use super::sketch::Sketch;
use super::{Anchor, Drawing, FigureInput, FigureOptions, Point};
use crate::engine::{FaultSite, Scoring};

/// A closer look at one head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Study {
    /// The head in `f64`, `f32`, `bf16` and `f16`, and what each format is off by.
    Formats,
    /// The softmax of the pinned query over one tile of keys after another, with a running maximum and sum.
    Tiles,
    /// One token after another, with the keys and values so far in a cache.
    Decoding,
    /// The Jacobian of the softmax of the pinned query, and the way back from the sum of the outputs to Q, K and V.
    Gradients,
    /// φ(q)·φ(k) in place of exp(q·k), beside the softmax.
    Linear,
}

impl Study {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 5] = [Self::Formats, Self::Tiles, Self::Decoding, Self::Gradients, Self::Linear];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Formats => "formats",
            Self::Tiles => "tiles",
            Self::Decoding => "decoding",
            Self::Gradients => "gradients",
            Self::Linear => "linear",
        }
    }

    /// The name shown to people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Formats => "Number formats",
            Self::Tiles => "Softmax in tiles",
            Self::Decoding => "Decoding with a cache",
            Self::Gradients => "Gradients",
            Self::Linear => "Linear attention",
        }
    }

    /// Whether it computes from Q, K and V, so that weights alone are not enough.
    pub const fn needs_inputs(self) -> bool {
        !matches!(self, Self::Gradients)
    }

    /// Whether it is about one query, the pinned one.
    const fn is_of_query(self) -> bool {
        matches!(self, Self::Tiles | Self::Gradients)
    }
}

/// More multiply-adds than this in one head are not drawn, because every change of the scene would be waited for.
const MOST_MACS: u128 = 1_000_000;

/// Draws the figure. What cannot be looked at in this way gives a sheet that says why.
pub fn study(study: Study, input: &FigureInput<'_>, options: &FigureOptions) -> Drawing {
    let Some(mut page) = Page::new(study, input, options) else {
        let mut sketch = Sketch::new(options.theme.colors());
        let words = "The scene has no heads to look at.";
        sketch.text(words, sketch.muted(11.0), Point::default(), Anchor::Start);
        return sketch.into_drawing(MARGIN, input.title.to_owned(), words.to_owned());
    };
    match obstacle(study, &page) {
        Some(sentence) => page.say(&sentence),
        None => match study {
            Study::Formats => formats::draw(&mut page),
            Study::Tiles => tiles::draw(&mut page),
            Study::Decoding => decoding::draw(&mut page),
            Study::Gradients => gradients::draw(&mut page),
            Study::Linear => linear::draw(&mut page),
        },
    }
    if page.head.dropped.is_some() {
        page.remark("every stage here is before dropout");
    }
    page.finish()
}

/// Why there is nothing to draw.
fn obstacle(study: Study, page: &Page<'_>) -> Option<String> {
    let (n_q, n_k) = (page.n_q(), page.n_k());
    if n_q == 0 {
        return Some("There is no query to look at.".to_owned());
    }
    if page.input.gives_weights && study.needs_inputs() {
        let sentence = "The weights of this scene were computed elsewhere; Q, K and V are not known, so nothing can be computed anew.";
        return Some(sentence.to_owned());
    }
    if let Some(fault) = page.input.fault().filter(|fault| fault.site() == FaultSite::Head) {
        return Some(format!(
            "A mistake is made on purpose in this scene ({}); closer looks are of heads without one. Take it back to see them.",
            fault.label()
        ));
    }
    if n_k == 0 {
        return Some("There are no keys to look at.".to_owned());
    }
    let width = match &page.input.spec.scoring {
        Scoring::Additive { v, .. } => v.len(),
        Scoring::ScaledDot | Scoring::Dot | Scoring::Scale(_) | Scoring::General { .. } => {
            page.head.input.k.cols()
        }
    };
    let macs = n_q as u128 * n_k as u128 * (width + page.head.input.v.cols()) as u128;
    (macs > MOST_MACS).then(|| {
        format!(
            "This head takes {:.1} million multiply-adds; closer looks are drawn up to one million. Take a scene with fewer \
             tokens or narrower heads.",
            macs as f64 / 1e6
        )
    })
}

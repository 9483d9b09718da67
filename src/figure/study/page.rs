//! One sheet: a title, then parts from top to bottom, each with its own height.

use super::super::axis::Axis;
use super::super::board::{GAP, MARGIN, valid_pin};
use super::super::caption::SMALL;
use super::super::single::head_words;
use super::super::sketch::Sketch;
use super::super::trace_figure::wrapped;
use super::super::words::name;
use super::super::{Anchor, Drawing, Face, FigureInput, FigureOptions, Label, Pin, Point};
use super::Study;
use super::row::{Panel, draw_row};
use super::table::Table;
use crate::engine::{AttentionSpec, SoftmaxAxis};
use crate::scene::{HeadEvaluation, Orientation};

/// How wide a sheet may grow, in points.
pub const ROOM: f32 = 1100.0;
/// Between parts of a sheet, in points.
const PART_GAP: f32 = 30.0;
/// From line to line of a paragraph, in points.
const LINE: f32 = 17.0;
/// Size of sentences, in points.
const TEXT: f32 = 11.5;

/// A sheet in the making.
pub struct Page<'a> {
    pub input: FigureInput<'a>,
    pub options: &'a FigureOptions,
    pub head: &'a HeadEvaluation,
    pub pin: Option<Pin>,
    pub sketch: Sketch,
    /// The upper edge of what comes next.
    pub y: f32,
    /// The foot of its title.
    start: f32,
    title: String,
    words: Vec<String>,
}

impl<'a> Page<'a> {
    /// An empty sheet with its title; `None` for an evaluation without heads.
    pub fn new(study: Study, input: &FigureInput<'a>, options: &'a FigureOptions) -> Option<Self> {
        let head = input.head(options.head)?;
        let mut page = Self {
            input: *input,
            options,
            head,
            pin: valid_pin(input, options),
            sketch: Sketch::new(options.theme.colors()),
            y: 0.0,
            start: 0.0,
            title: study.label().to_owned(),
            words: Vec::new(),
        };
        if study.is_of_query() && page.n_q() > 0 {
            page.title = format!("{}: {}", page.title, page.query_words());
        }
        page.words.push(format!("{}.", page.title));
        if options.title {
            page.draw_title();
        }
        Some(page)
    }

    fn draw_title(&mut self) {
        let ink = self.sketch.theme.ink;
        let title = Label::plain(&self.title, Face::Bold, 18.0, ink);
        self.sketch.extend(title.place(Point { x: 0.0, y: 14.0 }, Anchor::Start));
        let several = self.input.heads.len() > 1;
        let place = several.then(|| head_words(&self.input, self.options.head));
        let parts = [Some(self.input.title.to_owned()).filter(|title| !title.trim().is_empty()), place];
        let scene = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        let style = self.sketch.muted(TEXT);
        self.y = 34.0;
        for line in wrapped(&scene, style) {
            self.sketch.text(&line, style, Point { x: 0.0, y: self.y }, Anchor::Start);
            self.y += LINE;
        }
        self.y += 3.0;
        self.start = self.y;
    }

    pub fn n_q(&self) -> usize {
        self.head.attention.weights.rows()
    }

    pub fn n_k(&self) -> usize {
        self.head.attention.weights.cols()
    }

    pub fn spec(&self) -> &'a AttentionSpec {
        self.input.spec
    }

    /// The pinned query, or the last one, which sees most under a causal mask.
    pub fn query(&self) -> usize {
        self.pin.map_or_else(|| self.n_q().saturating_sub(1), |pin| pin.query)
    }

    /// `query 3 “sat”`
    pub fn query_words(&self) -> String {
        let query = self.query();
        let label = name(self.input.query_labels, query);
        let number = query + 1;
        match label.trim().is_empty() || label == number.to_string() {
            true => format!("query {number}"),
            false => format!("query {number} “{label}”"),
        }
    }

    /// Whether queries run across the paper in matrices of pairs.
    pub fn turned(&self) -> bool {
        self.options.orientation == Orientation::QueriesAsColumns
    }

    pub fn is_over_queries(&self) -> bool {
        self.spec().softmax.over == SoftmaxAxis::Queries
    }

    pub fn query_axis(&self) -> Axis<'a> {
        Axis { labels: self.input.query_labels, pinned: self.pin.map(|pin| pin.query), size: 9.5 }
    }

    pub fn key_axis(&self) -> Axis<'a> {
        Axis { labels: self.input.key_labels, pinned: self.pin.map(|pin| pin.key), size: 9.5 }
    }

    /// A sentence, which is also told to a person who cannot see the figure.
    pub fn say(&mut self, sentence: &str) {
        let style = self.sketch.ink(TEXT);
        self.y += 8.0;
        for line in wrapped(sentence, style) {
            self.y += LINE;
            self.sketch.text(&line, style, Point { x: 0.0, y: self.y }, Anchor::Start);
        }
        self.words.push(sentence.to_owned());
    }

    /// A quiet line with sub- and superscripts.
    pub fn remark(&mut self, markup: &str) {
        let label = Label::markup(markup, Face::Regular, SMALL + 1.0, self.sketch.theme.muted);
        self.y += LINE;
        self.sketch.extend(label.place(Point { x: 0.0, y: self.y }, Anchor::Start));
    }

    /// The name of a part.
    pub fn part(&mut self, name: &str) {
        let style = self.sketch.bold(SMALL + 1.0, self.sketch.theme.muted);
        self.y += if self.y <= self.start { 10.0 } else { PART_GAP };
        self.sketch.text(name, style, Point { x: 0.0, y: self.y }, Anchor::Start);
        self.y += 11.0;
    }

    /// Matrices side by side.
    pub fn row(&mut self, panels: &[Panel<'_>]) {
        self.row_with(panels, None);
    }

    /// Matrices side by side, and a table at their right or, without room for it there, below them.
    pub fn row_with(&mut self, panels: &[Panel<'_>], table: Option<&Table>) {
        let top = self.y;
        let (right, bottom) = draw_row(&mut self.sketch, panels, top, ROOM, self.options.legends);
        self.y = bottom;
        let Some(table) = table else { return };
        let x = right + 1.5 * GAP;
        if x + table.width(&self.sketch) > ROOM {
            self.y += 14.0;
            return self.table(table);
        }
        let first = top + 32.0;
        table.draw(&mut self.sketch, Point { x, y: top + 14.0 }, first);
        self.y = bottom.max(first + table.height() - 8.0);
    }

    pub fn table(&mut self, table: &Table) {
        self.y += 14.0;
        let first = self.y + 18.0;
        table.draw(&mut self.sketch, Point { x: 0.0, y: self.y }, first);
        self.y = first + table.height() - 8.0;
    }

    /// Adds to what is told to a person who cannot see the figure.
    pub fn tell(&mut self, sentence: String) {
        self.words.push(sentence);
    }

    pub fn finish(self) -> Drawing {
        let Self { sketch, title, words, input, .. } = self;
        let title = if input.title.trim().is_empty() { title } else { format!("{title}, {}", input.title) };
        sketch.into_drawing(MARGIN, title, words.join(" "))
    }
}

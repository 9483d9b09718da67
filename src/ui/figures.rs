//! Drawings of what is on screen, made once for each revision and set of options.

use std::sync::{Arc, Weak};

use egui::Theme;

use crate::export::{ExportOptions, Format, Ground, TextMode};
use crate::figure::{
    Drawing, Figure, FigureInput, FigureOptions, FigureTheme, MatrixId, Pin, Study, Terms, TraceText,
    Writing, compose, trace_text,
};
use crate::scene::Stage;
use crate::session::{Centre, Command, Derived, FigureExport, Session};

use super::export_dialog::Preview;

/// A figure that can be shown or exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureChoice {
    /// The stages of one head.
    Board,
    /// Where Q, K and V come from.
    Projections,
    /// Every head.
    Heads,
    /// What positions do.
    Positions,
    /// A closer look at the head on screen.
    Study(Study),
    /// The arithmetic behind the pinned cell.
    Trace,
    /// One matrix.
    Matrix(MatrixId),
    /// What scores and mix cost over the tokens.
    ComplexityChart,
    /// What the cache takes over the tokens.
    CacheChart,
    /// The first chart of the calculators in the centre.
    CalculatorChart,
}

impl FigureChoice {
    /// The name shown to people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Board => "Board",
            Self::Projections => "Projections",
            Self::Heads => "All heads",
            Self::Positions => "Positions",
            Self::Study(study) => study.label(),
            Self::Trace => "Trace of the pinned cell",
            Self::Matrix(matrix) => matrix.label(),
            Self::ComplexityChart => "Chart: complexity",
            Self::CacheChart => "Chart: cache memory",
            Self::CalculatorChart => "Chart of the calculators",
        }
    }

    /// Every figure that this scene has.
    pub fn offered(session: &Session) -> Vec<Self> {
        let mut offered = vec![Self::Board];
        if session.has_projections() {
            offered.push(Self::Projections);
        }
        if session.scene().heads() > 1 {
            offered.push(Self::Heads);
        }
        if session.has_positions() {
            offered.push(Self::Positions);
        }
        if session.pin().is_some() {
            offered.push(Self::Trace);
        }
        let studies =
            Study::ALL.into_iter().filter(|study| !session.gives_weights() || !study.needs_inputs());
        offered.extend(studies.map(Self::Study));
        let matrices = [
            MatrixId::RawScores,
            MatrixId::ScaledScores,
            MatrixId::MaskedScores,
            MatrixId::Weights,
            MatrixId::DroppedWeights,
            MatrixId::Output,
            MatrixId::OutputBeforeDropout,
            MatrixId::Q,
            MatrixId::K,
            MatrixId::V,
        ];
        offered.extend(matrices.into_iter().filter(|id| session.matrix(*id).is_some()).map(Self::Matrix));
        if !session.gives_weights() {
            offered.extend([Self::ComplexityChart, Self::CacheChart]); // they count by widths
        }
        if session.centre() == Centre::Calculators && !super::calculator::is_without_chart(session) {
            offered.push(Self::CalculatorChart);
        }
        offered
    }

    /// The file name offered, without extension: `three_positions_weights`.
    pub fn file_stem(self, session: &Session) -> String {
        let name = session.document().name();
        let scene = name.strip_suffix(".ron").unwrap_or(&name);
        let figure = match self {
            Self::Board => "board",
            Self::Projections => "projections",
            Self::Heads => "heads",
            Self::Positions => "positions",
            Self::Study(study) => study.name(),
            Self::Trace => "trace",
            Self::Matrix(matrix) => matrix.name(),
            Self::ComplexityChart => "complexity",
            Self::CacheChart => "cache",
            Self::CalculatorChart => "calculators",
        };
        format!("{scene}_{figure}")
    }

    fn figure(self, session: &Session) -> Figure {
        match self {
            Self::Board => Figure::Board,
            Self::Projections => Figure::Projection,
            Self::Heads => Figure::Heads,
            Self::Positions => Figure::Positions,
            Self::Study(study) => Figure::Study(study),
            Self::Trace => Figure::Trace,
            Self::Matrix(matrix) => Figure::Matrix(matrix),
            Self::ComplexityChart => Figure::Chart(Box::new(super::charts::complexity(session))),
            Self::CacheChart => Figure::Chart(Box::new(super::charts::cache(session))),
            Self::CalculatorChart => Figure::Chart(Box::new(super::calculator::first_chart(session))),
        }
    }
}

/// The figure in the centre.
pub fn in_centre(session: &Session) -> FigureChoice {
    match (session.focus(), session.centre()) {
        (Some(matrix), _) => FigureChoice::Matrix(matrix),
        (None, Centre::Board) => FigureChoice::Board,
        (None, Centre::Projections) => FigureChoice::Projections,
        (None, Centre::Heads) => FigureChoice::Heads,
        (None, Centre::Positions) => FigureChoice::Positions,
        (None, Centre::Study(study)) => FigureChoice::Study(study),
        (None, Centre::Calculators) if super::calculator::is_without_chart(session) => FigureChoice::Board,
        (None, Centre::Calculators) => FigureChoice::CalculatorChart,
    }
}

/// What a drawing was made from.
struct Made {
    /// Not held: the stages of a large scene must go when the next ones are there.
    derived: Weak<Derived>,
    figure: Figure,
    options: FigureOptions,
    drawing: Arc<Drawing>,
}

/// The form in which the board is on screen: what fits there. It is exported in the same form.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardForm {
    /// Which stages.
    pub stages: Vec<Stage>,
    /// Whether its cells hold digits.
    pub digits: bool,
}

/// Extent of a side of a board without digits, in points: three stages of this size fit beside the panels.
const COMPACT_SIDE: f32 = 200.0;

/// The drawings made last.
#[derive(Default)]
pub struct Figures {
    /// Whether each query's weights are coloured up to their own largest one.
    pub weights_per_row: bool,
    form: Option<BoardForm>,
    made: Vec<Made>,
    trace: Option<(TraceKey, Arc<TraceText>)>,
    /// The preview of the export dialog.
    pub preview: Preview,
}

/// The board in its two forms, an enlarged matrix, and what the export dialog shows.
const MOST_KEPT: usize = 6;

impl Figures {
    /// The figure in the centre in the window's colours, in this form if it is the board.
    pub fn centre(&mut self, session: &Session, theme: Theme, form: &BoardForm) -> Arc<Drawing> {
        let theme = match theme {
            Theme::Light => FigureTheme::Light,
            Theme::Dark => FigureTheme::Dark,
        };
        self.form = Some(form.clone());
        let options = self.options(session, theme, self.form.as_ref());
        self.drawing(session, in_centre(session).figure(session), options)
    }

    /// A figure in its own colours, as it is written.
    pub fn for_export(
        &mut self,
        session: &Session,
        choice: FigureChoice,
        theme: FigureTheme,
        form: Option<&BoardForm>,
        every_term: bool,
    ) -> Arc<Drawing> {
        let options = FigureOptions { every_term, ..self.options(session, theme, form) };
        self.drawing(session, choice.figure(session), options)
    }

    /// The figure in the centre as a picture for the clipboard.
    pub fn copy_command(&mut self, session: &Session) -> Command {
        let choice = in_centre(session);
        let theme = FigureTheme::Light;
        Command::CopyFigure(Arc::new(FigureExport {
            drawing: self.for_export(session, choice, theme, self.form.clone().as_ref(), false),
            format: Format::Png,
            options: ExportOptions {
                dpi: 300.0,
                ground: Ground::Paper(theme.colors().paper),
                text: TextMode::Shapes,
                ..ExportOptions::default()
            },
            suggested_name: choice.file_stem(session),
        }))
    }

    /// The arithmetic behind the pinned cell, to the last term or with long sums shortened.
    pub fn trace(&mut self, session: &Session, in_full: bool) -> Option<Arc<TraceText>> {
        let pin = session.pin().map(|pin| Pin { query: pin.query, key: pin.key })?;
        let key = TraceKey { derived: Arc::downgrade(session.derived()), head: session.head(), pin, in_full };
        if let Some((_, text)) = self.trace.as_ref().filter(|(old, _)| *old == key) {
            return Some(Arc::clone(text));
        }
        let text = Arc::new(fresh_trace(session, pin, in_full)?);
        self.trace = Some((key, Arc::clone(&text)));
        Some(text)
    }

    /// The scene's own view, the head and pin on screen, the board in the form in which it is on screen.
    fn options(&self, session: &Session, theme: FigureTheme, form: Option<&BoardForm>) -> FigureOptions {
        // Decimals, palette and orientation of the document, even while its evaluation is still under way.
        let mut options = FigureOptions {
            head: session.head(),
            pin: session.pin().map(|pin| Pin { query: pin.query, key: pin.key }),
            theme,
            weights_per_row: self.weights_per_row,
            ..FigureOptions::of_view(&session.document().scene().spec().view)
        };
        if let Some(form) = form {
            options.stages.clone_from(&form.stages);
            options.digits = form.digits;
            if !form.digits {
                options.color_side = COMPACT_SIDE;
            }
        }
        options
    }

    /// The form in which the board is on screen.
    pub fn form_on_screen(&self) -> Option<&BoardForm> {
        self.form.as_ref()
    }

    fn drawing(&mut self, session: &Session, figure: Figure, options: FigureOptions) -> Arc<Drawing> {
        let derived = Arc::downgrade(session.derived());
        let found = self.made.iter().position(|made| {
            Weak::ptr_eq(&made.derived, &derived) && made.figure == figure && made.options == options
        });
        if let Some(index) = found {
            // The one used last goes to the end; the front is dropped first.
            let made = self.made.remove(index);
            let drawing = Arc::clone(&made.drawing);
            self.made.push(made);
            return drawing;
        }
        let drawing = Arc::new(compose(&figure, session.scene(), session.evaluation(), &options));
        self.made.retain(|made| made.derived.strong_count() > 0);
        if self.made.len() >= MOST_KEPT {
            self.made.remove(0);
        }
        self.made.push(Made { derived, figure, options, drawing: Arc::clone(&drawing) });
        drawing
    }
}

/// What a trace was made from.
struct TraceKey {
    derived: Weak<Derived>,
    head: usize,
    pin: Pin,
    in_full: bool,
}

impl PartialEq for TraceKey {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.derived, &other.derived)
            && (self.head, self.pin, self.in_full) == (other.head, other.pin, other.in_full)
    }
}

/// The arithmetic behind a pair of the head on screen.
pub fn fresh_trace(session: &Session, pin: Pin, in_full: bool) -> Option<TraceText> {
    let input = FigureInput::new(session.scene(), session.evaluation());
    let terms = if in_full { Terms::Every } else { Terms::Few };
    let writing = Writing { decimals: session.scene().spec().view.decimals, terms };
    trace_text(&input, session.head(), pin, writing)
}

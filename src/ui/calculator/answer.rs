//! What the calculators answer: quantities with their formulas, facts, charts, a table, and what is wrong with an input.

use crate::cost::{ComplexityInputs, Configuration, CostError, Field, Quantity};
use crate::figure::ChartSpec;
use crate::session::{Session, Settings, Topic};

/// Everything that an answer depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The scene's own sizes, then what stands beside them.
    pub columns: Vec<Configuration>,
    /// The scene's one layer, with its own mask.
    pub scene_layer: ComplexityInputs,
    /// Whether the scene gives only weights, so that its widths are not known.
    pub scene_gives_weights: bool,
    /// The column on screen.
    pub selected: usize,
    /// What is asked.
    pub topic: Topic,
    /// What is asked about every column alike.
    pub settings: Settings,
}

/// What the calculators show of one topic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Figures of the column on screen, the most important first.
    pub sections: Vec<Section>,
    /// How many sections stand before the first chart.
    pub n_leading: usize,
    /// Inputs that have no cost.
    pub complaints: Vec<Complaint>,
    /// Curves.
    pub charts: Vec<ChartSpec>,
    /// Columns side by side.
    pub table: Option<Table>,
}

/// Figures that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Empty for the first one.
    pub title: String,
    /// The group of layers that it is about.
    pub group: Option<usize>,
    /// Exact figures with their formulas.
    pub rows: Vec<Quantity>,
    /// Figures that are no integers, and sentences.
    pub facts: Vec<Fact>,
}

/// A figure that is no integer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is.
    pub label: String,
    /// Its value with its unit.
    pub value: String,
    /// Where it comes from.
    pub source: String,
}

/// An input that has no cost, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The field, where there is a single one.
    pub field: Option<Field>,
    /// The group of layers that it belongs to.
    pub group: Option<usize>,
    /// One sentence.
    pub text: String,
}

/// Columns side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The columns' names.
    pub names: Vec<String>,
    /// What is compared.
    pub rows: Vec<TableRow>,
}

/// One figure of every column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// What it is.
    pub label: String,
    /// One cell for each column: as it is shown, and with every digit.
    pub cells: Vec<(String, String)>,
}

impl Question {
    /// What the session asks.
    pub fn of(session: &Session) -> Self {
        let calculators = session.calculators();
        Self {
            columns: session.columns(),
            scene_layer: session.complexity().clone(),
            scene_gives_weights: session.gives_weights(),
            selected: calculators.selected,
            topic: calculators.topic,
            settings: calculators.settings.clone(),
        }
    }

    /// The column on screen.
    pub fn configuration(&self) -> &Configuration {
        // There is always the scene's own column.
        self.columns.get(self.selected).unwrap_or(&self.columns[0])
    }

    /// Whether the scene's own sizes are on screen.
    pub fn is_about_the_scene(&self) -> bool {
        self.selected == 0
    }

    /// Whether the column on screen is that of a scene whose widths are not known.
    pub fn is_without_widths(&self) -> bool {
        self.is_about_the_scene() && self.scene_gives_weights
    }

    /// The column on screen to begin own sizes with; usual widths where those of the scene are not known.
    pub fn own_sizes(&self) -> Configuration {
        let begin = match self.is_without_widths() {
            true => Configuration::default(),
            false => self.configuration().clone(),
        };
        Configuration { name: "Own sizes".to_owned(), ..begin }
    }
}

impl Answer {
    /// Takes in a part, or what is wrong.
    pub fn take(&mut self, part: Result<Section, CostError>, configuration: &Configuration) {
        match part {
            Ok(section) => self.sections.push(section),
            Err(error) => self.complain(&error, configuration),
        }
    }

    /// Notes what is wrong, once.
    pub fn complain(&mut self, error: &CostError, configuration: &Configuration) {
        let complaint =
            Complaint { field: error.field(), group: culprit(error, configuration), text: sentence(error) };
        if !self.complaints.contains(&complaint) {
            self.complaints.push(complaint);
        }
    }
}

impl Section {
    /// Figures without a title.
    pub fn of(rows: Vec<Quantity>) -> Self {
        Self { rows, ..Self::default() }
    }

    /// Figures under a title.
    pub fn titled(title: impl Into<String>, rows: Vec<Quantity>) -> Self {
        Self { title: title.into(), rows, ..Self::default() }
    }
}

/// A sentence begins with a capital.
fn sentence(error: &CostError) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The group of layers that alone is refused for the same reason.
fn culprit(error: &CostError, configuration: &Configuration) -> Option<usize> {
    configuration.groups.iter().position(|group| {
        let alone = Configuration { groups: vec![group.clone()], ..configuration.clone() };
        alone.plan().is_err_and(|found| found == *error)
    })
}

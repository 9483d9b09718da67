//! The calculators: the configurations that stand side by side, and what is asked about them. Serialisable, and pure.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cost::{Bytes, Comparison, Configuration, CostError, Hardware, PairCount, SoftmaxCount};

use super::costs::configuration_of;
use super::{Effect, Export, Session};

/// What the calculators hold. The scene's own sizes are always the first column and not kept here; they follow the scene.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Calculators {
    /// Configurations beside the scene's own, at most [`Self::MOST_BESIDE`].
    pub beside: Vec<Configuration>,
    /// The column whose sizes are on screen: 0 is the scene, 1 the first beside it.
    pub selected: usize,
    /// What is asked.
    pub topic: Topic,
    /// What is asked about every column alike.
    pub settings: Settings,
}

/// What the calculators show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Topic {
    /// What a cache takes.
    #[default]
    Memory,
    /// What a pass through the layers computes.
    Arithmetic,
    /// What producing tokens takes with and without a cache.
    Generation,
    /// What has to move, and how fast a machine can be at best.
    Speed,
    /// Every column beside the others.
    SideBySide,
}

/// What runs through the layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// All tokens at once, nothing cached. For the scene: what is on the board, with its own mask.
    #[default]
    Prefill,
    /// One token after all the others.
    Decode,
    /// So many tokens after all the others.
    Chunk,
}

/// What is asked about every column alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Show FLOPs, two for each multiply-add, instead of MACs.
    pub in_flops: bool,
    /// What runs through the layers.
    pub phase: Phase,
    /// Tokens of a chunk of a prefill.
    pub chunk: u64,
    /// Which pairs are counted.
    pub pairs: PairCount,
    /// What one softmax entry counts as.
    pub softmax: SoftmaxCount,
    /// Bytes of one stored score.
    pub bytes_per_score: u64,
    /// Tokens before the first produced one.
    pub prompt: u64,
    /// Tokens produced.
    pub new_tokens: u64,
    /// Memory that a cache may take.
    pub budget: Bytes,
    /// Devices that heads are spread over.
    pub devices: u64,
    /// Tokens that all sequences begin with.
    pub shared_tokens: u64,
    /// The machine.
    pub hardware: Hardware,
    /// Bytes of all weights, read once in a decode step; 0 leaves them out.
    pub weight_bytes: u64,
    /// Parameters that take part in a step; 0 leaves arithmetic out.
    pub active_parameters: u64,
    /// Values that fast memory holds.
    pub fast_memory: u64,
    /// Query rows of a tile.
    pub block_rows: u64,
    /// Width of the hidden layer of additive scores.
    pub attention_width: u64,
    /// Window of the comparison between scorers, the token itself included.
    pub window: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            in_flops: false,
            phase: Phase::Prefill,
            chunk: 512,
            pairs: PairCount::Visible,
            softmax: SoftmaxCount::NotCounted,
            bytes_per_score: 2,
            prompt: 0,
            new_tokens: 16,
            budget: Bytes(24 << 30),
            devices: 1,
            shared_tokens: 0,
            hardware: Hardware::rows().swap_remove(0),
            weight_bytes: 0,
            active_parameters: 0,
            // 192 KiB of two-byte values: the shared memory of an A100's multiprocessor.
            fast_memory: 98_304,
            block_rows: 128,
            attention_width: 64,
            window: 256,
        }
    }
}

/// A wish about the calculators.
#[derive(Clone, Debug, PartialEq)]
pub enum Calculate {
    /// Show another topic.
    Show(Topic),
    /// Look at another column.
    Select(usize),
    /// Change the sizes of the column on screen. Those of the scene are its own: a changed copy stands beside them.
    Change(Box<Configuration>),
    /// Change what is asked about every column.
    Settle(Box<Settings>),
    /// Put one more beside the others and look at it.
    Add(Box<Configuration>),
    /// Take a column away; the scene's own stays.
    Remove(usize),
    /// Ask which file holds a configuration, then put it beside the others.
    Open,
    /// Ask where, then write the configuration on screen as text.
    Save(Box<Configuration>),
}

impl Calculators {
    /// How many stand beside the scene's own sizes.
    pub const MOST_BESIDE: usize = Comparison::LIMIT - 1;

    /// Whether there is no room for one more.
    pub fn is_full(&self) -> bool {
        self.beside.len() >= Self::MOST_BESIDE
    }

    /// Puts a configuration beside the others and selects it.
    ///
    /// # Errors
    /// [`CostError::TooMany`] where there is no room; nothing is changed.
    pub fn add(&mut self, configuration: Configuration) -> Result<(), CostError> {
        if self.is_full() {
            return Err(CostError::TooMany { found: Comparison::LIMIT + 1, limit: Comparison::LIMIT });
        }
        self.beside.push(configuration);
        self.selected = self.beside.len();
        Ok(())
    }

    /// Changes the column on screen; the scene's own sizes are copied first.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn change(&mut self, configuration: Configuration) -> Result<(), CostError> {
        match self.selected.checked_sub(1).and_then(|index| self.beside.get_mut(index)) {
            Some(own) => {
                *own = configuration;
                Ok(())
            }
            None => self.add(Configuration { name: "Own sizes".to_owned(), ..configuration }),
        }
    }

    /// Takes a column away and keeps looking at the same one where it is still there.
    pub fn remove(&mut self, column: usize) {
        let Some(index) = column.checked_sub(1).filter(|index| *index < self.beside.len()) else { return };
        self.beside.remove(index);
        if self.selected >= column {
            self.selected -= 1;
        }
    }

    /// Looks at a column, if there is one.
    pub fn select(&mut self, column: usize) {
        if column <= self.beside.len() {
            self.selected = column;
        }
    }
}

impl Session {
    /// The calculators.
    pub fn calculators(&self) -> &Calculators {
        &self.calculators
    }

    /// The columns: the scene's own sizes, then what stands beside them.
    pub fn columns(&self) -> Vec<Configuration> {
        std::iter::once(configuration_of(self.scene()))
            .chain(self.calculators.beside.iter().cloned())
            .collect()
    }

    pub(super) fn calculate(&mut self, wish: Calculate) -> Vec<Effect> {
        let calculators = &mut self.calculators;
        let done = match wish {
            Calculate::Show(topic) => {
                calculators.topic = topic;
                Ok(())
            }
            Calculate::Select(column) => {
                calculators.select(column);
                Ok(())
            }
            Calculate::Settle(settings) => {
                calculators.settings = *settings;
                Ok(())
            }
            Calculate::Remove(column) => {
                calculators.remove(column);
                Ok(())
            }
            Calculate::Change(configuration) => calculators.change(*configuration),
            Calculate::Add(configuration) => calculators.add(*configuration),
            Calculate::Open => return vec![Effect::AskWhichConfiguration],
            Calculate::Save(configuration) => return self.save_configuration(&configuration),
        };
        if let Err(error) = done {
            self.say(true, error.to_string());
        }
        Vec::new()
    }

    fn save_configuration(&mut self, configuration: &Configuration) -> Vec<Effect> {
        match configuration.to_ron() {
            Ok(text) => {
                let suggested_name = format!("{}.ron", file_stem(&configuration.name));
                vec![Effect::AskWhereToExport(Export::Text { suggested_name, text })]
            }
            Err(error) => {
                self.say(true, error.to_string());
                Vec::new()
            }
        }
    }

    /// A file was read in which a configuration should be.
    pub(super) fn configuration_read(&mut self, path: &Path, text: Result<String, String>) {
        let read = text.and_then(|text| Configuration::from_ron(&text).map_err(|error| error.to_string()));
        match read
            .and_then(|configuration| self.calculators.add(configuration).map_err(|error| error.to_string()))
        {
            Ok(()) => self.centre = super::Centre::Calculators,
            Err(reason) => self.say(true, format!("No configuration was read: {reason}: {}", path.display())),
        }
    }
}

/// `Llama 3.1 8B` as `llama-3.1-8b`.
fn file_stem(name: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || letter == '.' { letter } else { ' ' };
    let spaced: String = name.to_lowercase().chars().map(plain).collect();
    let stem = spaced.split_whitespace().collect::<Vec<_>>().join("-");
    if stem.is_empty() { "configuration".to_owned() } else { stem }
}

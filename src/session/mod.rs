//! Room 7: the open document, selection, undo; `apply(Command) → Effects`. Pure.
//!
//! This room does not know the file system nor egui. Whatever the world must do is an [`Effect`]; whatever the world
//! answers is an [`Event`]. One writer: [`Session::apply`] and [`Session::handle`].

mod calculators;
mod command;
mod costs;
mod derived;
mod document;
mod edit;
mod effect;
mod evaluating;
mod history;
mod notice;
mod sizes;
mod state;
mod tokens;
mod view;

pub use calculators::{Calculate, Calculators, Phase, Settings, Topic};
pub use command::{Answer, Centre, Command, FigureExport};
pub use costs::{cache_of, complexity_of, configuration_of};
pub use derived::{Checked, Derived, estimated_macs};
pub use document::{Document, Origin};
pub use edit::{Axis, Edit, Slot};
pub use effect::{Effect, Event, Export};
pub use history::History;
pub use notice::{Notice, Problem, Question};
pub use state::{Pin, Session};

//! Qkv: a desktop application for teaching and learning attention.
//!
//! It opens a scene file that describes Q, K, V, masks and heads, computes attention with its own engine, and shows the
//! score, weight and output matrices side by side, with the arithmetic behind every number; figures leave as SVG, PDF
//! and PNG.
//!
//! # The map
//!
//! | # | room | what lives there | what it does not know |
//! |---|---|---|---|
//! | 1 | [`engine`] | attention maths: scores, masks, softmax, heads, traces, checks | names of tokens, files, colours, clocks |
//! | 2 | [`cost`] | exact counts: multiply-adds, bytes, cache, traffic, presets | tensors |
//! | 4 | [`scene`] | the scene grammar, validation, bundled scenes, NumPy-compatible random numbers, tensor files; [`scene::evaluate`] | pixels |
//! | 5 | [`figure`] | figure request + evaluation → [`figure::Drawing`]: items at final positions, in points | egui, files |
//! | 6 | [`export`] | `Drawing` → SVG, PNG, PDF; matrices → CSV, Markdown, LaTeX, Typst | layout |
//! | 7 | [`session`] | the open document, selection, undo; `apply(Command) → Effects`; pure | the file system, egui |
//! | 8 | `ui` | egui panels: read `&Session`, push commands; paint a `Drawing` | how anything is computed or stored |
//! | 9 | `app` | `eframe::App`, file dialogs, threads, watching, settings, clipboard | maths |
//!
//! Beside the rooms stand [`cli`], which runs a command without a window, and [`disk`], what the window and the command
//! line share of the file system. Room 3, for experiments over engine and cost, is made when it has something to hold.
//!
//! # The one rule
//!
//! **A room uses only rooms with a smaller number.** A test reads the `use crate::…` lines and fails on a breach. Rooms 8
//! and 9 exist only with the feature `gui`; everything else builds and passes its tests without it.
//!
//! # What holds everywhere
//!
//! - A [`scene::Scene`] cannot be invalid.
//! - The engine never sees a token's name.
//! - [`session::Session::apply`] never touches the outside world.
//! - Panels cannot change the session; they push commands.
//! - A [`figure::Drawing`] holds no text that still needs measuring, and exporters contain no layout.
//! - Nothing is computed twice for one revision.
//! - Every error has one place where the user sees it.
//!
//! Data flows one way:
//!
//! ```text
//! scenes/x.ron → SceneSpec → Scene → Evaluation → Drawing → window | SVG | PNG | PDF
//!                              ↑ Command (apply, pure) ← ui ← user
//! ```

#[cfg(feature = "gui")]
pub mod app;
pub mod cli;
pub mod cost;
pub mod disk;
pub mod engine;
pub mod export;
pub mod figure;
pub mod scene;
pub mod session;
#[cfg(feature = "gui")]
pub mod ui;

//! Qkv: a desktop application for teaching and learning attention.
//!
//! | # | room | what lives there | what it does not know |
//! |---|---|---|---|
//! | 1 | [`engine`] | attention maths: scores, masks, softmax, heads, traces, checks | names of tokens, files, colours, clocks |
//! | 2 | [`cost`] | exact counts: multiply-adds, bytes, cache | tensors |
//! | 4 | [`scene`] | the RON grammar, validation, bundled scenes, tensor files; `evaluate(scene)` | pixels |
//! | 5 | [`figure`] | figure request + evaluation → `Drawing` | egui, files |
//! | 6 | [`export`] | `Drawing` → SVG, PNG, PDF; matrices → CSV, Markdown, LaTeX, Typst | layout |
//! | 7 | [`session`] | the open document, selection, undo; `apply(Command) → Effects` | the file system, egui |

pub mod cost;
pub mod engine;
pub mod export;
pub mod figure;
pub mod scene;
pub mod session;

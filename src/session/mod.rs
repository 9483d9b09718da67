//! Room 7: the open document, selection, undo; `apply(Command) → Effects`. Pure.
//!
//! This room does not know the file system nor egui.

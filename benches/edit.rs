//! One edit in a 64 × 64 scene with digits, from the command to the triangles of the next frame.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on should stop")]

use criterion::{Criterion, criterion_group, criterion_main};

#[cfg(feature = "gui")]
fn edit(c: &mut Criterion) {
    use std::sync::Arc;

    use qkv::figure::MatrixId;
    use qkv::session::{Command, Document, Edit, Origin, Session, Slot};
    use qkv::ui::{Outbox, UiState};

    let matrix = |seed: u32| format!("[Randn(rows: 64, cols: 64, seed: {seed})]");
    let text = format!(
        "Scene(title: \"64 × 64\", input: Heads(q: {}, k: {}, v: {}), mask: [Causal(TopLeft)], view: (decimals: 2))",
        matrix(1),
        matrix(2),
        matrix(3)
    );
    let scene = qkv::scene::read(&text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
    let mut session = Session::new(Document::new(Arc::new(scene), Origin::Untitled, text.into()));
    // The first edit writes the random numbers out; those that are measured change one number.
    let set =
        |value| Command::Edit { edit: Edit::SetCell { slot: Slot::Q(0), row: 5, col: 5, value }, gesture: 1 };
    session.apply(set(0.0));
    session.apply(Command::Focus(Some(MatrixId::Weights)));
    let ctx = egui::Context::default();
    qkv::app::install_fonts(&ctx);
    qkv::ui::style::install(&ctx);
    let mut state = UiState::default();
    let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1920.0, 1080.0));
    let mut frame = |session: &Session| {
        let input = egui::RawInput { screen_rect: Some(screen), ..egui::RawInput::default() };
        let output = ctx.run_ui(input, |ui| qkv::ui::show(ui, session, &mut state, &mut Outbox::default()));
        ctx.tessellate(output.shapes, output.pixels_per_point).len()
    };
    for _ in 0..4 {
        frame(&session);
    }
    let mut value = 0.0;
    c.bench_function("edit 64 × 64, weights with digits: command to triangles", |b| {
        b.iter(|| {
            value += 0.01;
            session.apply(set(value));
            frame(&session)
        });
    });
    c.bench_function("the same frame without an edit", |b| b.iter(|| frame(&session)));
    session.apply(Command::Focus(None));
    c.bench_function("edit 64 × 64, five stages without digits", |b| {
        b.iter(|| {
            value += 0.01;
            session.apply(set(value));
            frame(&session)
        });
    });
}

#[cfg(not(feature = "gui"))]
fn edit(_: &mut Criterion) {}

criterion_group!(benches, edit);
criterion_main!(benches);

//! The window driven by the names of its parts, as a screen reader or a person finds them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![cfg(feature = "gui")]

use egui::{Key, Modifiers, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use qkv::figure::{MatrixId, Study};
use qkv::scene::bundled;
use qkv::session::{Centre, Command, Document, Session};
use qkv::ui::{Outbox, UiState};

/// The window without a shell: commands are applied, wishes for the window are granted, effects are kept.
struct Desk {
    session: Session,
    ui: UiState,
    effects: Vec<qkv::session::Effect>,
}

fn window(name: &str, size: Vec2) -> Harness<'static, Desk> {
    let session = Session::new(Document::bundled(name).unwrap());
    let desk = Desk { session, ui: UiState::default(), effects: Vec::new() };
    let mut installed = false;
    let mut harness = Harness::builder().with_size(size).with_step_dt(0.02).build_ui_state(
        move |ui, desk: &mut Desk| {
            if !std::mem::replace(&mut installed, true) {
                qkv::app::install_fonts(ui.ctx());
                qkv::ui::style::install(ui.ctx());
                ui.ctx().set_theme(egui::ThemePreference::Light);
                // Fonts are there from the next pass on.
                ui.ctx().request_repaint();
                return;
            }
            let mut out = Outbox::default();
            if let Some(action) = qkv::ui::pressed(ui.ctx()) {
                out.wish(qkv::ui::Wish::Act(action));
            }
            qkv::ui::show(ui, &desk.session, &mut desk.ui, &mut out);
            for wish in std::mem::take(&mut out.wishes) {
                if let qkv::ui::Wish::Act(action) = wish {
                    match action.command(&desk.session) {
                        Some(command) => out.push(command),
                        None => qkv::ui::act(action, ui.ctx(), &desk.session, &mut desk.ui, &mut out),
                    }
                }
            }
            for command in out.commands {
                desk.effects.extend(desk.session.apply(command));
            }
        },
        desk,
    );
    harness.run_ok();
    harness
}

const SMALL: Vec2 = Vec2::new(1280.0, 800.0);

fn texts(harness: &Harness<'_, Desk>) -> Vec<String> {
    fn collect(shape: &egui::Shape, texts: &mut Vec<String>) {
        match shape {
            egui::Shape::Text(text) => texts.push(text.galley.text().to_owned()),
            egui::Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    for clipped in &harness.output().shapes {
        collect(&clipped.shape, &mut texts);
    }
    texts
}

fn assert_no_id_clash(harness: &Harness<'_, Desk>, what: &str) {
    let clash: Vec<String> =
        texts(harness).into_iter().filter(|text| text.contains("use of") && text.contains("ID")).collect();
    assert!(clash.is_empty(), "{what}: {clash:?}");
}

#[test]
fn every_bundled_scene_opens_without_a_clash_of_ids() {
    let mut harness = window("two_positions", SMALL);
    for scene in bundled::all() {
        harness.state_mut().session.apply(Command::OpenBundled(scene.name));
        harness.run_ok();
        assert_no_id_clash(&harness, scene.name);
        for centre in [Centre::Projections, Centre::Heads, Centre::Study(Study::Linear)] {
            harness.state_mut().session.apply(Command::Show(centre));
            harness.run_ok();
            assert_no_id_clash(&harness, scene.name);
        }
    }
}

#[test]
fn a_click_on_the_list_opens_a_scene() {
    let mut harness = window("two_positions", SMALL);
    let title = qkv::scene::catalogue().iter().find(|lesson| lesson.name == "04_three_positions").unwrap();
    harness.get_by_label(&title.title).click();
    harness.run_ok();
    assert_eq!(harness.state().session.document().name(), "04_three_positions.ron");
}

#[test]
fn a_click_on_a_weight_pins_it_and_spells_it_out() {
    let mut harness = window("three_positions_causal", SMALL);
    let weights = harness.get_by_label("Weights, head 1, 3 × 3");
    let rect = weights.rect();
    click_at(&mut harness, rect.min + rect.size() * egui::vec2(1.0 / 6.0, 5.0 / 6.0));
    let pin = harness.state().session.pin().unwrap();
    assert_eq!((pin.query, pin.key), (2, 0));
    let shown = texts(&harness).join("\n");
    assert!(shown.contains("0.2483"), "{shown}");
}

fn click_at(harness: &mut Harness<'_, Desk>, at: egui::Pos2) {
    for pressed in [true, false] {
        harness.event(egui::Event::PointerMoved(at));
        harness.event(egui::Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        harness.step();
    }
    harness.run_ok();
}

#[test]
fn a_number_is_edited_in_place_and_everything_follows() {
    let mut harness = window("two_positions", SMALL);
    let rect = harness.get_by_label("Q, head 1, 1 × 2").rect();
    click_at(&mut harness, rect.min + rect.size() * egui::vec2(0.25, 0.5));
    type_over(&mut harness, "0");
    let q = harness.state().session.matrix(MatrixId::Q).unwrap();
    assert_eq!(q.row(0), [0.0, 0.0]);
    let weights = harness.state().session.matrix(MatrixId::Weights).unwrap();
    assert_eq!(weights.row(0), [0.5, 0.5]);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    harness.run_ok();
    assert_eq!(harness.state().session.matrix(MatrixId::Q).unwrap().row(0), [1.0, 0.0]);
}

fn type_over(harness: &mut Harness<'_, Desk>, text: &str) {
    harness.event(egui::Event::Text(text.to_owned()));
    harness.run_ok();
    harness.key_press(Key::Enter);
    harness.run_ok();
}

#[test]
fn a_draft_that_is_no_number_stays_with_a_hint_and_never_reaches_the_scene() {
    let mut harness = window("two_positions", SMALL);
    let rect = harness.get_by_label("Q, head 1, 1 × 2").rect();
    click_at(&mut harness, rect.min + rect.size() * egui::vec2(0.25, 0.5));
    type_over(&mut harness, "1.0.0");
    assert_eq!(harness.state().session.matrix(MatrixId::Q).unwrap().row(0), [1.0, 0.0]);
    assert!(texts(&harness).iter().any(|text| text.contains("1.0.0") && text.contains("no number")));
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert!(harness.state().ui.board.editor.is_none());
}

#[test]
fn a_double_click_fills_the_centre_with_one_matrix_and_esc_returns() {
    let mut harness = window("three_positions", SMALL);
    let at = harness.get_by_label("Weights, head 1, 3 × 3").rect().center();
    harness.event(egui::Event::PointerMoved(at));
    for pressed in [true, false, true, false] {
        let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
        harness.event(egui::Event::PointerButton { pos: at, button, pressed, modifiers });
        harness.step();
    }
    harness.run_ok();
    assert_eq!(harness.state().session.focus(), Some(MatrixId::Weights));
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert_eq!(harness.state().session.focus(), None);
}

#[test]
fn arrows_move_the_pin_as_in_a_spreadsheet() {
    let mut harness = window("three_positions", SMALL);
    let rect = harness.get_by_label("Weights, head 1, 3 × 3").rect();
    click_at(&mut harness, rect.min + rect.size() / 6.0);
    harness.key_press(Key::ArrowRight);
    harness.run_ok();
    harness.key_press(Key::ArrowDown);
    harness.run_ok();
    let pin = harness.state().session.pin().unwrap();
    assert_eq!((pin.query, pin.key), (1, 1));
}

#[test]
fn mask_layers_are_added_and_removed_from_the_settings() {
    let mut harness = window("three_positions", SMALL);
    harness.get_by_label("+ add a mask layer").click();
    harness.run_ok();
    harness.get_by_label("Causal, top left").click();
    harness.run_ok();
    assert_eq!(harness.state().session.scene().spec().mask.len(), 1);
    assert_eq!(harness.state().session.matrix(MatrixId::Weights).unwrap().row(0), [1.0, 0.0, 0.0]);
    harness.get_by_label("Remove mask layer 1").click();
    harness.run_ok();
    assert!(harness.state().session.scene().spec().mask.is_empty());
}

#[test]
fn positions_are_chosen_in_the_settings_and_shown_in_the_centre() {
    let mut harness = window("three_positions_causal", Vec2::new(1280.0, 1400.0));
    harness.get_by_role_and_label(egui::Role::ComboBox, "Position").scroll_to_me();
    harness.run_ok();
    harness.get_by_role_and_label(egui::Role::ComboBox, "Position").click();
    harness.run_ok();
    harness.get_by_label("RoPE, halves").click();
    harness.run_ok();
    assert!(harness.state().session.matrix(MatrixId::UnrotatedQ).is_some());
    harness.get_by_label("positions").click();
    harness.run_ok();
    assert_eq!(harness.state().session.centre(), Centre::Positions);
    assert_no_id_clash(&harness, "positions");
}

#[test]
fn closer_looks_are_chosen_above_the_board_and_their_pairs_pin() {
    let mut harness = window("three_positions_causal", SMALL);
    for study in Study::ALL {
        harness.get_by_label("Closer looks").click();
        harness.run_ok();
        harness.get_by_label(study.label()).click();
        harness.run_ok();
        assert_eq!(harness.state().session.centre(), Centre::Study(study));
        assert_no_id_clash(&harness, study.name());
    }
    let linear = harness.get_all_by_label("linear, head 1, 3 × 3").next().unwrap().rect();
    click_at(&mut harness, linear.min + linear.size() * egui::vec2(1.0 / 6.0, 0.5));
    let pin = harness.state().session.pin().unwrap();
    assert_eq!((pin.query, pin.key), (1, 0));
    harness.get_by_label("board").click();
    harness.run_ok();
    assert_eq!(harness.state().session.centre(), Centre::Board);
}

#[test]
fn the_view_menu_names_the_closer_looks_and_the_figure_is_copied_as_shown() {
    let mut harness = window("grouped_heads", SMALL);
    harness.get_by_label("View").click();
    harness.run_ok();
    // The one in the menu, not the one above the board.
    let entry = harness
        .get_all_by_label_contains("Closer looks")
        .min_by(|a, b| a.rect().min.x.total_cmp(&b.rect().min.x));
    entry.unwrap().click();
    harness.run_ok();
    harness.get_by_label("Gradients").click();
    harness.run_ok();
    assert_eq!(harness.state().session.centre(), Centre::Study(Study::Gradients));
    let desk = harness.state_mut();
    let Command::CopyFigure(copied) = desk.ui.figures.copy_command(&desk.session) else {
        panic!("no figure")
    };
    assert_eq!(copied.suggested_name, "27_grouped_heads_gradients");
    assert!(copied.drawing.title.starts_with("Gradients: query"));
}

#[test]
fn equal_and_empty_labels_do_not_confuse_the_window() {
    let text = r#"Scene(title: "Equal labels", tokens: ["the", "the", "", " ", "the"], input: Heads(
        q: [[[1, 0], [0, 1], [1, 1], [0, 0], [2, 1]]], k: [[[1, 0], [0, 1], [1, 1], [0, 0], [2, 1]]],
        v: [[[1, 0], [0, 1], [1, 1], [0, 0], [2, 1]]]))"#;
    let scene = qkv::scene::read(text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
    let document = Document::new(std::sync::Arc::new(scene), qkv::session::Origin::Untitled, text.into());
    let mut harness = window("two_positions", SMALL);
    harness.state_mut().session = Session::new(document);
    harness.run_ok();
    assert_no_id_clash(&harness, "equal labels");
    let rect = harness.get_by_label("Weights, head 1, 5 × 5").rect();
    click_at(&mut harness, rect.min + rect.size() * egui::vec2(9.0 / 10.0, 5.0 / 10.0));
    let pin = harness.state().session.pin().unwrap();
    assert_eq!((pin.query, pin.key), (2, 4));
}

#[test]
fn an_idle_window_asks_for_no_repaint() {
    let mut harness = window("three_positions_causal", SMALL);
    harness.run_steps(6);
    let delay = harness.output().viewport_output.values().map(|output| output.repaint_delay).min().unwrap();
    assert!(delay.as_secs() > 3600, "repaints after {delay:?}");
}

#[test]
fn the_export_dialog_opens_with_a_preview_and_hands_the_figure_over() {
    let mut harness = window("three_positions", SMALL);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::E);
    harness.run_ok();
    harness.get_by_label("Preview of the export");
    harness.get_by_label("Save…").click();
    harness.run_ok();
    assert!(
        harness
            .state()
            .effects
            .iter()
            .any(|effect| matches!(effect, qkv::session::Effect::AskWhereToExport(_)))
    );
}

#[test]
fn tokens_are_renamed_and_added_in_their_dialog() {
    let mut harness = window("three_positions", SMALL);
    harness.get_by_role_and_label(egui::Role::Button, "Tokens").click();
    harness.run_ok();
    harness.get_by_label("Add a position").click();
    harness.run_ok();
    assert_eq!(harness.state().session.scene().n_k(), 4);
    assert_eq!(harness.state().session.scene().n_q(), 4, "one sequence stands on both sides");
    harness.get_by_label("Remove token 1").click();
    harness.run_ok();
    assert_eq!(harness.state().session.scene().key_labels()[0], "cat");
}

#[test]
fn typing_into_a_cell_moves_nothing_below_the_board() {
    let mut harness = window("two_positions", SMALL);
    let before = harness.get_by_label("Edit title and notes").rect();
    let rect = harness.get_by_label("Q, head 1, 1 × 2").rect();
    click_at(&mut harness, rect.min + rect.size() * egui::vec2(0.25, 0.5));
    harness.key_press(Key::F2);
    harness.run_ok();
    assert!(harness.state().ui.board.editor.is_some());
    assert_eq!(harness.get_by_label("Edit title and notes").rect(), before);
}

#[test]
fn esc_cancels_the_question_about_unsaved_changes() {
    let mut harness = window("two_positions", SMALL);
    let edit = qkv::session::Edit::SetDecimals(2);
    harness.state_mut().session.apply(Command::Edit { edit, gesture: 0 });
    harness.state_mut().session.apply(Command::Quit);
    harness.run_ok();
    assert!(harness.state().session.question().is_some());
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert!(harness.state().session.question().is_none());
    assert!(harness.state().session.document().is_changed());
}

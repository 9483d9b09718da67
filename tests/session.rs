//! Scripts of commands against the session, which knows neither files nor a window.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use qkv::engine::{Corner, EmptyRow, Fault, MaskRule, Precision, RopeLayout};
use qkv::figure::{CellRef, MatrixId};
use qkv::scene::{self, DropoutSpec, Position, ScoringSpec};
use qkv::session::{
    Answer, Axis, Calculate, Centre, Checked, Command, Derived, Document, Edit, Effect, Event, Export,
    Origin, Question, Session, Slot,
};

fn open(name: &str) -> Session {
    Session::new(Document::bundled(name).unwrap())
}

fn edit(edit: Edit) -> Command {
    Command::Edit { edit, gesture: 0 }
}

fn set(slot: Slot, row: usize, col: usize, value: f64) -> Command {
    edit(Edit::SetCell { slot, row, col, value })
}

fn weight(session: &Session, query: usize, key: usize) -> f64 {
    session.matrix(MatrixId::Weights).unwrap().get(query, key)
}

#[test]
fn a_new_scene_is_valid_and_unchanged() {
    let session = Session::new(Document::untitled());
    assert!(!session.document().is_changed());
    assert_eq!(session.scene().n_q(), 2);
}

#[test]
fn an_edited_number_moves_everything_downstream_at_once() {
    let mut session = open("two_positions");
    assert!((weight(&session, 0, 0) - 0.669_761_549_326_656_9).abs() < 1e-12);
    session.apply(set(Slot::Q(0), 0, 0, 0.0));
    session.apply(set(Slot::Q(0), 0, 1, 1.0));
    assert!((weight(&session, 0, 1) - 0.669_761_549_326_656_9).abs() < 1e-12);
    let output = session.matrix(MatrixId::Output).unwrap();
    assert!((output.get(0, 1) - 2.679_046_197_306_627_5).abs() < 1e-12);
}

#[test]
fn one_gesture_is_one_step() {
    let mut session = open("two_positions");
    for step in 1..=5 {
        session.apply(Command::Edit {
            edit: Edit::SetCell { slot: Slot::Q(0), row: 0, col: 0, value: f64::from(step) },
            gesture: 7,
        });
    }
    session.apply(Command::Undo);
    assert_eq!(session.matrix(MatrixId::Q).unwrap().get(0, 0), 1.0);
    assert!(!session.can_undo());
    session.apply(Command::Redo);
    assert_eq!(session.matrix(MatrixId::Q).unwrap().get(0, 0), 5.0);
}

#[test]
fn undo_back_to_the_stored_scene_leaves_nothing_to_save() {
    let mut session = open("three_positions");
    session.apply(set(Slot::V(0), 1, 1, 8.0));
    assert!(session.document().is_changed());
    session.apply(Command::Undo);
    assert!(!session.document().is_changed());
}

#[test]
fn closing_with_unsaved_changes_asks_and_cancel_keeps_everything() {
    let mut session = open("three_positions");
    session.apply(set(Slot::V(0), 1, 1, 8.0));
    assert_eq!(session.apply(Command::Quit), []);
    assert!(matches!(session.question(), Some(Question::Unsaved { .. })));
    assert_eq!(session.apply(Command::Answer(Answer::Cancel)), []);
    assert!(session.question().is_none());
    assert_eq!(session.matrix(MatrixId::V).unwrap().get(1, 1), 8.0);
}

#[test]
fn cancelling_the_save_dialog_keeps_the_window_and_the_edit() {
    let mut session = open("three_positions");
    session.apply(set(Slot::V(0), 1, 1, 8.0));
    session.apply(Command::Quit);
    let effects = session.apply(Command::Answer(Answer::Save));
    assert!(matches!(effects.as_slice(), [Effect::AskWhereToSave { .. }]));
    assert_eq!(session.handle(Event::SaveChosen(None)), []);
    assert!(session.document().is_changed());
    // A later save does not quit behind the user's back.
    let path = PathBuf::from("/somewhere/mine.ron");
    let effects = session.handle(Event::SaveChosen(Some(path.clone())));
    let [Effect::WriteScene { text, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    let effects = session.handle(Event::Saved { path, text: Arc::clone(text) });
    assert!(!effects.contains(&Effect::Quit));
}

#[test]
fn save_then_goes_on_with_what_was_wanted() {
    let mut session = open("three_positions");
    session.apply(set(Slot::V(0), 1, 1, 8.0));
    session.apply(Command::Quit);
    session.apply(Command::Answer(Answer::Save));
    let path = PathBuf::from("/somewhere/mine.ron");
    let effects = session.handle(Event::SaveChosen(Some(path.clone())));
    let [Effect::WriteScene { text, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    let effects = session.handle(Event::Saved { path, text: Arc::clone(text) });
    assert!(effects.contains(&Effect::Quit));
    assert!(!session.document().is_changed());
}

#[test]
fn a_failed_save_loses_nothing_and_does_not_quit() {
    let mut session = open("three_positions");
    session.apply(set(Slot::V(0), 1, 1, 8.0));
    session.apply(Command::Quit);
    session.apply(Command::Answer(Answer::Save));
    let path = PathBuf::from("/read/only.ron");
    session.handle(Event::SaveChosen(Some(path.clone())));
    assert_eq!(session.handle(Event::SaveFailed { path, reason: "permission denied".to_owned() }), []);
    assert!(session.document().is_changed());
    assert!(
        session
            .take_notices()
            .iter()
            .any(|notice| notice.is_error && notice.text.contains("permission denied"))
    );
}

#[test]
fn a_scene_that_does_not_load_keeps_the_last_good_one_and_its_history() {
    let mut session = open("three_positions");
    session.apply(set(Slot::V(0), 1, 1, 8.0));
    let text = "Scene(title: \"x\", inptu: 3)";
    let result = scene::read(text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).map(Arc::new);
    let path = PathBuf::from("/tmp/broken.ron");
    session.handle(Event::SceneRead { path, text: text.into(), result });
    let problem = session.problem().unwrap();
    assert!(
        problem.complaints.iter().any(|complaint| complaint.to_string().contains("input")),
        "{problem:?}"
    );
    assert_eq!(session.matrix(MatrixId::V).unwrap().get(1, 1), 8.0);
    assert!(session.can_undo());
    session.apply(Command::DismissProblem);
    assert!(session.problem().is_none());
}

#[test]
fn a_change_on_disk_is_read_at_once_unless_there_are_changes_here() {
    let path = PathBuf::from("/lecture/scene.ron");
    let text: Arc<str> = scene::bundled::find("three_positions").unwrap().text.into();
    let scene = Arc::clone(Document::bundled("three_positions").unwrap().scene());
    let mut session = Session::new(Document::new(scene, Origin::File(path.clone()), text));
    assert_eq!(session.handle(Event::ChangedOnDisk(path.clone())), [Effect::ReadScene(path.clone())]);
    session.apply(set(Slot::V(0), 0, 0, 3.0));
    assert_eq!(session.handle(Event::ChangedOnDisk(path.clone())), []);
    assert_eq!(session.question(), Some(&Question::ChangedOnDisk(path.clone())));
    assert_eq!(session.apply(Command::Answer(Answer::Discard)), [Effect::ReadScene(path)]);
}

#[test]
fn what_is_read_again_from_disk_is_one_step_that_can_be_taken_back() {
    let path = PathBuf::from("/lecture/scene.ron");
    let read = |text: &str| {
        let scene = scene::read(text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
        Event::SceneRead { path: path.clone(), text: text.into(), result: Ok(Arc::new(scene)) }
    };
    let first = scene::bundled::find("three_positions").unwrap().text;
    let mut session = Session::new(Document::untitled());
    session.handle(read(first));
    assert!(!session.can_undo(), "another document begins a history of its own");
    session.apply(set(Slot::V(0), 0, 0, 3.0));
    let edited = session.scene().spec().clone();

    let second = first.replace("title: \"", "title: \"Mended: ");
    session.handle(read(&second));
    assert!(session.scene().spec().title.starts_with("Mended"));
    assert!(!session.document().is_changed());
    session.apply(Command::Undo);
    assert_eq!(*session.scene().spec(), edited);
    assert!(session.document().is_changed(), "the file on disk says something else now");
    session.apply(Command::Undo);
    assert_eq!(session.scene().spec().title, scene::read_spec(first).unwrap().title);
    session.apply(Command::Redo);
    session.apply(Command::Redo);
    assert!(!session.document().is_changed());

    session.handle(read(&format!("// a remark\n{second}")));
    session.apply(Command::Undo);
    assert_eq!(*session.scene().spec(), edited, "a remark is no step of its own");
}

#[test]
fn saving_keeps_comments() {
    let mut session = open("two_positions");
    let stored = Arc::clone(session.document().stored_text());
    assert!(stored.contains("//"), "the scene has comments to keep");
    session.apply(set(Slot::V(0), 0, 0, 7.5));
    let text = session.document().text_to_save();
    for comment in stored.lines().filter_map(|line| line.split_once("//").map(|(_, comment)| comment.trim()))
    {
        assert!(text.contains(comment), "lost: {comment}");
    }
    let read = scene::read_spec(&text).unwrap();
    assert_eq!(&read, session.document().scene().spec());
}

#[test]
fn a_refused_edit_changes_nothing_and_says_why() {
    let mut session = open("three_positions");
    let before = Arc::clone(session.document().scene());
    session.apply(set(Slot::V(0), 9, 9, 1.0));
    assert!(session.refusal().is_some_and(|sentence| sentence.contains("row 10")), "{:?}", session.refusal());
    session.apply(edit(Edit::AddMask(MaskRule::PaddedKeys(vec![true; 2]))));
    assert!(session.refusal().is_some());
    assert_eq!(session.document().scene(), &before);
    assert!(!session.can_undo());
}

#[test]
fn adding_a_token_keeps_matrices_labels_and_masks_together() {
    let mut session = open("causal_and_padding");
    let n = session.scene().n_k();
    session.apply(edit(Edit::AddToken(Axis::Keys)));
    assert_eq!(session.refusal(), None);
    assert_eq!(session.scene().n_k(), n + 1);
    assert_eq!(session.scene().key_labels().len(), n + 1);
    session.apply(edit(Edit::RemoveToken(Axis::Keys, n)));
    assert_eq!(session.scene().n_k(), n);
    session.apply(Command::Undo);
    session.apply(Command::Undo);
    assert!(!session.document().is_changed());
}

#[test]
fn the_last_position_stays_because_a_matrix_without_rows_has_no_width_in_a_file() {
    let mut session = open("three_positions_causal");
    for _ in 0..3 {
        session.apply(edit(Edit::RemoveToken(Axis::Queries, 0)));
    }
    assert_eq!(session.scene().n_q(), 1);
    assert!(session.refusal().is_some_and(|sentence| sentence.contains("at least one")));
    let read = scene::read_spec(&session.document().text_to_save()).unwrap();
    assert_eq!(&read, session.document().scene().spec());
}

#[test]
fn pins_and_heads_stay_inside_the_scene() {
    let mut session = open("two_heads");
    session.apply(Command::SelectHead(99));
    assert_eq!(session.head(), session.scene().heads() - 1);
    let pin = session.pin();
    session.apply(Command::Pin { query: 99, key: 0 });
    assert_eq!(session.pin(), pin);
}

#[test]
fn the_calculators_follow_the_scene_and_a_changed_size_makes_a_copy_beside_it() {
    let mut session = open("three_positions");
    assert_eq!((session.complexity().n_q, session.complexity().d_k), (3, 2));
    let mut own = session.columns().remove(0);
    own.tokens = 4096;
    session.apply(Command::Calculate(Calculate::Change(Box::new(own))));
    let columns = session.columns();
    assert_eq!(columns.iter().map(|column| column.tokens).collect::<Vec<_>>(), [3, 4096]);
    assert_eq!(session.calculators().selected, 1);
    session.apply(edit(Edit::AddToken(Axis::Queries)));
    session.apply(edit(Edit::AddToken(Axis::Keys)));
    assert_eq!(session.columns()[0].tokens, session.scene().n_k() as u64);
    assert_eq!(session.columns()[1].tokens, 4096);
    session.apply(Command::Calculate(Calculate::Remove(0)));
    assert_eq!(session.columns().len(), 2);
    session.apply(Command::Calculate(Calculate::Remove(1)));
    assert_eq!((session.columns().len(), session.calculators().selected), (1, 0));
}

#[test]
fn a_fifth_configuration_is_refused_with_a_sentence() {
    let mut session = open("three_positions");
    for _ in 0..3 {
        session.apply(Command::Calculate(Calculate::Add(Box::default())));
    }
    assert!(session.take_notices().is_empty());
    session.apply(Command::Calculate(Calculate::Add(Box::default())));
    assert_eq!(session.columns().len(), 4);
    let notices = session.take_notices();
    assert!(notices[0].is_error && notices[0].text.contains("side by side"), "{notices:?}");
}

#[test]
fn a_configuration_leaves_as_text_and_comes_back_from_a_file() {
    let mut session = open("three_positions");
    let configuration = qkv::cost::preset("gemma-3-27b").unwrap().configuration().unwrap();
    let effects = session.apply(Command::Calculate(Calculate::Save(Box::new(configuration.clone()))));
    let [Effect::AskWhereToExport(Export::Text { suggested_name, text })] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(suggested_name, "gemma-3-27b.ron");
    session.handle(Event::ConfigurationRead { path: suggested_name.into(), text: Ok(text.clone()) });
    assert_eq!(session.columns()[1], configuration);
    assert_eq!(session.centre(), Centre::Calculators);
    // The same file opened or dropped where a scene is expected.
    let result = scene::read(text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).map(Arc::new);
    session.handle(Event::SceneRead { path: suggested_name.into(), text: text.as_str().into(), result });
    assert!(session.problem().is_none());
    assert_eq!(session.columns()[2], configuration);
    let broken = Ok("Configuration(\n  heds: 3,\n)".to_owned());
    session.handle(Event::ConfigurationRead { path: "broken.ron".into(), text: broken });
    let text = session.take_notices().remove(0).text;
    assert!(text.contains("heds") && text.contains("line 2") && text.contains("broken.ron"), "{text}");
    assert_eq!(session.columns().len(), 3);
}

#[test]
fn a_number_of_a_tensor_file_can_be_edited_after_which_the_scene_holds_the_numbers() {
    let mut session = open("bank_loan_layer_5");
    let before = session.matrix(MatrixId::Weights).unwrap();
    let old = session.matrix(MatrixId::Q).unwrap().get(2, 0);
    let head = session.head();
    session.apply(set(Slot::Q(head), 2, 0, old + 1.0));
    assert_eq!(session.refusal(), None);
    let after = session.matrix(MatrixId::Weights).unwrap();
    assert_eq!(before.row(1), after.row(1), "other queries do not move");
    assert_ne!(before.row(2), after.row(2));
}

const ROPE: Position = Position::Rope { base: 100.0, layout: RopeLayout::HalfSplit };

#[test]
fn positions_are_chosen_and_taken_back() {
    let mut session = open("three_positions");
    let before = session.matrix(MatrixId::Weights).unwrap();
    session.apply(edit(Edit::SetPosition(ROPE)));
    assert_ne!(session.matrix(MatrixId::Weights).unwrap(), before);
    assert_ne!(session.matrix(MatrixId::Q), session.matrix(MatrixId::UnrotatedQ));
    session.apply(Command::Show(Centre::Positions));
    assert_eq!(session.centre(), Centre::Positions);
    session.apply(Command::Undo);
    assert_eq!(session.matrix(MatrixId::Weights).unwrap(), before);
    assert_eq!(session.matrix(MatrixId::UnrotatedQ), None);
    assert_eq!(session.centre(), Centre::Board, "there are no positions to show any more");
    session.apply(edit(Edit::SetPosition(Position::Sinusoidal)));
    assert!(session.refusal().is_some_and(|refusal| refusal.contains("hidden states")));
}

#[test]
fn what_is_turned_is_edited_before_it_turns() {
    let mut session = open("three_positions");
    session.apply(edit(Edit::SetPosition(ROPE)));
    assert_eq!((session.slot(MatrixId::Q), session.slot(MatrixId::K)), (None, None));
    assert_eq!(session.slot(MatrixId::UnrotatedK), Some(Slot::K(0)));
    session.apply(set(Slot::K(0), 1, 0, 5.0));
    assert_eq!(session.matrix(MatrixId::UnrotatedK).unwrap().row(1), [5.0, 1.0]);
    let expected = 5.0 * 1_f64.cos() - 1_f64.sin();
    assert!((session.matrix(MatrixId::K).unwrap().get(1, 0) - expected).abs() < 1e-15);
}

#[test]
fn hidden_states_are_edited_before_positions_are_added() {
    let mut session = open("projections");
    let given = session.matrix(MatrixId::X).unwrap();
    session.apply(edit(Edit::SetPosition(Position::Sinusoidal)));
    assert_eq!(session.slot(MatrixId::X), None);
    assert_eq!(session.slot(MatrixId::GivenX), Some(Slot::X));
    assert_eq!(session.matrix(MatrixId::GivenX).unwrap(), given);
    let added = session.matrix(MatrixId::XPositions).unwrap();
    assert_eq!(session.matrix(MatrixId::X).unwrap().get(1, 0), given.get(1, 0) + added.get(1, 0));
}

#[test]
fn a_narrow_format_rounds_the_board_and_not_what_the_scene_states() {
    let mut session = open("three_positions");
    session.apply(set(Slot::Q(0), 0, 0, 0.1));
    session.apply(edit(Edit::SetPrecision(Precision::Bf16)));
    let cell = CellRef { matrix: MatrixId::Q, row: 0, col: 0 };
    assert_eq!(session.matrix(MatrixId::Q).unwrap().get(0, 0), Precision::Bf16.round(0.1));
    assert_eq!(session.stated(cell), Some(0.1));
    assert_eq!(session.stated(CellRef { matrix: MatrixId::Weights, row: 0, col: 0 }), None);
    session.apply(Command::Undo);
    assert_eq!(session.matrix(MatrixId::Q).unwrap().get(0, 0), 0.1);
}

#[test]
fn sinks_dropout_and_mistakes_are_edits_like_others() {
    let mut session = open("three_positions_causal");
    let weight = |session: &Session| session.matrix(MatrixId::Weights).unwrap().get(0, 0);
    session.apply(edit(Edit::SetSinks(vec![0.5])));
    assert!(weight(&session) < 0.6);
    session.apply(edit(Edit::SetSinks(Vec::new())));
    session.apply(edit(Edit::SetDropout(Some(DropoutSpec { rate: 0.5, seed: 4 }))));
    assert!(session.matrix(MatrixId::DroppedWeights).is_some());
    assert!(session.matrix(MatrixId::OutputBeforeDropout).is_some());
    session.apply(edit(Edit::SetDropout(Some(DropoutSpec { rate: 1.0, seed: 4 }))));
    assert!(session.refusal().unwrap().contains("dropout rate"));
    session.apply(edit(Edit::SetDropout(None)));
    assert!(session.matrix(MatrixId::DroppedWeights).is_none());
    session.apply(edit(Edit::SetFault(Some(Fault::MaskAfterSoftmax))));
    assert!((weight(&session) - 0.4011).abs() < 1e-4);
    for _ in 0..5 {
        session.apply(Command::Undo);
    }
    assert_eq!(weight(&session), 1.0);
    assert!(!session.document().is_changed());
}

#[test]
fn sinks_follow_the_number_of_heads() {
    let mut session = open("three_positions");
    session.apply(edit(Edit::SetSinks(vec![0.5])));
    session.apply(edit(Edit::SetHeads(3)));
    assert_eq!(session.scene().spec().sinks, [0.5; 3]);
    session.apply(edit(Edit::SetHeads(2)));
    assert_eq!(session.scene().spec().sinks, [0.5; 2]);
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let cell = (0..3usize, 0..4usize, 0..3usize, -3.0..3.0f64).prop_map(|(which, row, col, value)| {
        let slot = [Slot::Q(0), Slot::K(0), Slot::V(0)][which];
        Edit::SetCell { slot, row, col, value }
    });
    prop_oneof![
        4 => cell,
        1 => (0..4usize).prop_map(|n| Edit::AddMask(MaskRule::ValidKeys(n))),
        1 => Just(Edit::AddMask(MaskRule::Causal(Corner::BottomRight))),
        1 => (0..3usize).prop_map(Edit::RemoveMask),
        1 => Just(Edit::MoveMask { from: 0, to: 1 }),
        1 => Just(Edit::SetScoring(ScoringSpec::Dot)),
        1 => (0.1..2.0f64).prop_map(|scale| Edit::SetScoring(ScoringSpec::Scale(scale))),
        1 => Just(Edit::SetEmptyRows(EmptyRow::Uniform)),
        1 => (0..9usize).prop_map(Edit::SetDecimals),
        1 => prop::sample::select(vec![Position::None, ROPE, Position::Alibi]).prop_map(Edit::SetPosition),
        1 => prop::sample::select(&Precision::ALL[..]).prop_map(Edit::SetPrecision),
        1 => prop::option::of(0.0..0.9f64).prop_map(|rate| Edit::SetDropout(rate.map(|rate| DropoutSpec { rate, seed: 1 }))),
        1 => prop::option::of(-2.0..2.0f64).prop_map(|sink| Edit::SetSinks(sink.into_iter().collect())),
        1 => prop::option::of(prop::sample::select(&Fault::ALL[..])).prop_map(Edit::SetFault),
        1 => Just(Edit::AddToken(Axis::Keys)),
        1 => (0..4usize).prop_map(|position| Edit::RemoveToken(Axis::Queries, position)),
        1 => "[a-zé😀 ]{0,6}".prop_map(|label| Edit::SetToken { axis: Axis::Keys, position: 1, label }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn undo_after_any_script_restores_the_scene(script in proptest::collection::vec((any_edit(), 0..3u64), 1..24)) {
        let mut session = open("three_positions_causal");
        let before = session.document().scene().spec().clone();
        for (edit, gesture) in script {
            session.apply(Command::Edit { edit, gesture });
        }
        let after = session.document().scene().spec().clone();
        let mut n_steps = 0;
        while session.can_undo() {
            session.apply(Command::Undo);
            n_steps += 1;
        }
        prop_assert_eq!(session.document().scene().spec(), &before);
        for _ in 0..n_steps {
            session.apply(Command::Redo);
        }
        prop_assert_eq!(session.document().scene().spec(), &after);
    }

    #[test]
    fn no_script_of_edits_changes_weights_that_are_given(script in proptest::collection::vec(any_edit(), 1..12)) {
        let mut session = open("maps_from_elsewhere");
        let before = session.matrix(MatrixId::Weights).unwrap();
        for edit in script {
            session.apply(Command::Edit { edit, gesture: 0 });
        }
        prop_assert_eq!(session.matrix(MatrixId::Weights).unwrap(), before);
        prop_assert!(session.gives_weights());
    }

    #[test]
    fn what_is_saved_reads_back_as_the_same_scene(script in proptest::collection::vec(any_edit(), 1..12)) {
        let mut session = open("three_positions_causal");
        for edit in script {
            session.apply(Command::Edit { edit, gesture: 0 });
        }
        let text = session.document().text_to_save();
        let read = scene::read_spec(&text);
        prop_assert!(read.is_ok(), "{read:?}\n{text}");
        prop_assert_eq!(&read.unwrap(), session.document().scene().spec(), "{}", text);
    }
}

#[test]
fn a_scene_that_takes_long_is_evaluated_elsewhere_and_gets_its_pin_when_it_is_done() {
    let matrix = |seed: u32| format!("[Randn(rows: 128, cols: 64, seed: {seed})]");
    let text =
        format!("Scene(title: \"Long\", input: Heads(q: {}, k: {}, v: {}))", matrix(1), matrix(2), matrix(3));
    let scene = scene::read(&text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
    let mut session = open("three_positions");
    let path = PathBuf::from("/lecture/long.ron");
    let effects = session.handle(Event::SceneRead { path, text: text.into(), result: Ok(Arc::new(scene)) });
    let Some(Effect::Evaluate { revision, scene }) = effects.into_iter().next() else {
        panic!("evaluated in the frame")
    };
    assert!(!session.is_up_to_date());
    assert_eq!(session.scene().n_q(), 3, "the scene before stays on screen meanwhile");
    let stale = Derived::of(revision - 1, Arc::clone(&scene));
    session.handle(Event::Derived(Arc::new(stale)));
    assert!(!session.is_up_to_date(), "an answer to an older question is dropped");
    session.handle(Event::Derived(Arc::new(Derived::of(revision, scene))));
    assert!(session.is_up_to_date());
    assert_eq!(session.pin().map(|pin| pin.query), Some(127));
}

/// A scene of `n` tokens, 64 wide.
fn long_scene(n: usize) -> Arc<scene::Scene> {
    let matrix = |seed: u32| format!("[Randn(rows: {n}, cols: 64, seed: {seed})]");
    let text =
        format!("Scene(title: \"Long\", input: Heads(q: {}, k: {}, v: {}))", matrix(1), matrix(2), matrix(3));
    Arc::new(scene::read(&text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap())
}

/// A session in which a scene of 128 tokens is open and evaluated, with the revision of that.
fn long_session() -> (Session, u64) {
    let mut session = Session::new(Document::new(long_scene(128), Origin::Untitled, "".into()));
    let revision = computing(&session.apply(set(Slot::Q(0), 0, 0, 1.0)));
    answer(&mut session, revision);
    (session, revision)
}

/// The revision whose evaluation is asked for.
fn computing(effects: &[Effect]) -> u64 {
    match effects {
        [Effect::Evaluate { revision, .. }] => *revision,
        other => panic!("no evaluation is asked for: {other:?}"),
    }
}

/// The worker's answer for the present scene.
fn answer(session: &mut Session, revision: u64) {
    let scene = Arc::clone(session.document().scene());
    let derived = Arc::new(Derived::of(revision, scene));
    session.handle(Event::Derived(Arc::clone(&derived)));
    session.handle(Event::Checked(Arc::new(Checked::of(&derived))));
}

#[test]
fn a_stopped_evaluation_loses_nothing_and_can_be_asked_for_again() {
    let (mut session, _) = long_session();
    let before = session.matrix(MatrixId::Weights).unwrap();
    let revision = computing(&session.apply(set(Slot::Q(0), 0, 0, 9.0)));
    assert!(session.is_evaluating() && !session.is_stopped());
    assert_eq!(session.apply(Command::StopEvaluation), [Effect::StopComputing]);
    assert!(session.is_stopped() && !session.is_evaluating());
    assert_eq!(session.matrix(MatrixId::Weights).unwrap(), before, "the board stays as it was");
    assert_eq!(session.document().scene().head_inputs()[0].q.get(0, 0), 9.0, "the edit stays too");
    assert_eq!(session.apply(Command::StopEvaluation), [], "there is nothing more to stop");
    assert_eq!(computing(&session.apply(Command::Evaluate)), revision);
    assert!(session.is_evaluating());
    answer(&mut session, revision);
    assert!(session.is_up_to_date());
    assert_ne!(session.matrix(MatrixId::Weights).unwrap(), before);
    assert_eq!(session.apply(Command::Evaluate), [], "what is up to date is not computed again");
}

#[test]
fn an_edit_while_an_evaluation_is_under_way_or_stopped_asks_for_the_newest_only() {
    let (mut session, _) = long_session();
    let first = computing(&session.apply(set(Slot::Q(0), 0, 0, 7.0)));
    let second = computing(&session.apply(set(Slot::Q(0), 0, 0, 8.0)));
    let outdated = Derived::of(first, Arc::clone(session.document().scene()));
    session.handle(Event::Derived(Arc::new(outdated)));
    assert!(session.is_evaluating(), "the answer to the first edit comes too late");
    session.apply(Command::StopEvaluation);
    let third = computing(&session.apply(set(Slot::Q(0), 0, 0, 9.0)));
    assert!(first < second && second < third);
    assert!(session.is_evaluating(), "an edit is a wish to see what comes of it");
}

#[test]
fn an_edit_taken_back_during_its_evaluation_shows_the_board_at_once() {
    let (mut session, _) = long_session();
    let before = session.matrix(MatrixId::Weights).unwrap();
    session.apply(set(Slot::Q(0), 0, 0, 9.0));
    assert_eq!(session.apply(Command::Undo), [Effect::StopComputing]);
    assert!(session.is_up_to_date() && !session.is_checking());
    assert_eq!(session.matrix(MatrixId::Weights).unwrap(), before);
    let again = computing(&session.apply(Command::Redo));
    session.apply(Command::StopEvaluation);
    assert_eq!(session.apply(Command::Undo), []);
    assert!(session.is_up_to_date(), "nothing is left of the stop either");
    assert!(session.derived().revision > again);
}

#[test]
fn an_evaluation_that_ends_in_the_moment_it_is_stopped_is_shown() {
    let (mut session, _) = long_session();
    let revision = computing(&session.apply(set(Slot::Q(0), 0, 0, 9.0)));
    session.apply(Command::StopEvaluation);
    answer(&mut session, revision);
    assert!(session.is_up_to_date() && !session.is_stopped());
}

#[test]
fn checks_of_a_middling_scene_follow_the_board_and_those_of_another_revision_are_dropped() {
    let mut session = Session::new(Document::new(long_scene(48), Origin::Untitled, "".into()));
    assert!(!session.is_checking());
    let effects = session.apply(set(Slot::Q(0), 0, 0, 1.0));
    let [Effect::Check(first)] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(session.is_up_to_date(), "the board does not wait for the checks");
    assert!(session.is_checking());
    assert_eq!(session.checks().len(), 5, "those of the scene before");
    let effects = session.apply(set(Slot::Q(0), 0, 0, 2.0));
    let [Effect::Check(second)] = effects.as_slice() else { panic!("{effects:?}") };
    session.handle(Event::Checked(Arc::new(Checked::of(first))));
    assert!(session.is_checking());
    session.handle(Event::Checked(Arc::new(Checked::of(second))));
    assert!(!session.is_checking());
}

#[test]
fn the_checks_that_had_to_wait_are_run_when_the_evaluation_is_stopped() {
    let mut session = Session::new(Document::new(long_scene(48), Origin::Untitled, "".into()));
    session.apply(set(Slot::Q(0), 0, 0, 1.0));
    let path = PathBuf::from("/lecture/long.ron");
    session.handle(Event::SceneRead { path, text: "".into(), result: Ok(long_scene(128)) });
    assert!(session.is_evaluating());
    let effects = session.apply(Command::StopEvaluation);
    assert!(
        matches!(effects.as_slice(), [Effect::Check(derived)] if Arc::ptr_eq(derived, session.derived()))
    );
}

fn file_session(path: &str) -> Session {
    let text: Arc<str> = scene::bundled::find("three_positions").unwrap().text.into();
    let scene = Arc::clone(Document::bundled("three_positions").unwrap().scene());
    Session::new(Document::new(scene, Origin::File(PathBuf::from(path)), text))
}

#[test]
fn saving_says_what_the_file_should_hold_so_that_nobody_elses_text_is_written_over() {
    let mut session = file_session("/lecture/scene.ron");
    let effects = session.apply(Command::Save);
    let [Effect::WriteScene { path, expected: Some(expected), .. }] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(expected, session.document().stored_text());
    // The shell found something else there.
    session.handle(Event::FoundChanged(path.clone()));
    assert!(matches!(session.question(), Some(Question::ChangedOnDisk(_))));
    assert_eq!(session.apply(Command::Answer(Answer::Cancel)), []);
}

#[test]
fn a_scene_read_out_of_a_figure_never_replaces_the_figure() {
    let mut session = open("two_positions");
    let text: Arc<str> = scene::bundled::find("three_positions").unwrap().text.into();
    let result = Ok(Arc::clone(Document::bundled("three_positions").unwrap().scene()));
    session.handle(Event::SceneRead { path: PathBuf::from("/slides/board.svg"), text, result });
    assert_eq!(session.document().origin(), &Origin::Untitled);
    assert!(matches!(session.apply(Command::Save).as_slice(), [Effect::AskWhereToSave { .. }]));
}

#[test]
fn a_file_chosen_while_there_are_changes_asks_before_it_opens() {
    let mut session = open("three_positions");
    session.apply(set(Slot::V(0), 1, 1, 8.0));
    assert_eq!(session.handle(Event::OpenChosen(Some(PathBuf::from("/lecture/other.ron")))), []);
    assert!(matches!(session.question(), Some(Question::Unsaved { .. })));
}

#[test]
fn a_change_on_disk_does_not_replace_an_open_question() {
    let mut session = file_session("/lecture/scene.ron");
    session.apply(set(Slot::V(0), 1, 1, 8.0));
    session.apply(Command::Quit);
    session.handle(Event::ChangedOnDisk(PathBuf::from("/lecture/scene.ron")));
    assert!(matches!(session.question(), Some(Question::Unsaved { .. })));
}

#[test]
fn a_scene_opens_on_the_head_that_it_names() {
    let session = open("bank_loan_layer_5");
    assert_eq!(session.head() + 1, 8, "where bank looks at loan");
    let (bank, loan) = (2, 5);
    assert!(weight(&session, bank, loan) > 0.5);
}

#[test]
fn weights_computed_elsewhere_are_looked_at_and_not_edited() {
    let mut session = open("maps_from_elsewhere");
    assert!(session.gives_weights() && session.is_up_to_date());
    assert_eq!((session.head(), session.scene().heads()), (2, 12));
    assert_eq!(session.pin(), Some(qkv::session::Pin { query: 7, key: 6 }));
    for matrix in
        [MatrixId::Q, MatrixId::K, MatrixId::V, MatrixId::RawScores, MatrixId::Output, MatrixId::Concat]
    {
        assert!(session.matrix(matrix).is_none() && session.slot(matrix).is_none(), "{matrix:?}");
        let format = qkv::export::TableFormat::Csv;
        assert!(session.apply(Command::CopyMatrix { matrix, format }).is_empty(), "{matrix:?}");
    }
    assert!(session.slot(MatrixId::Weights).is_none());
    let reason = session.why_not_editable(MatrixId::Weights).unwrap();
    assert!(
        reason.contains("computed elsewhere") && reason.contains("bank_loan_weights.safetensors"),
        "{reason}"
    );
    session.apply(Command::SelectHead(6));
    assert!(weight(&session, 2, 0) > 0.7);

    let before = session.document().scene().spec().clone();
    let refused = [
        Edit::SetCell { slot: Slot::Q(0), row: 0, col: 0, value: 1.0 },
        Edit::SetScoring(ScoringSpec::Dot),
        Edit::SetSoftcap(Some(30.0)),
        Edit::AddMask(MaskRule::Causal(Corner::TopLeft)),
        Edit::SetPosition(Position::Alibi),
        Edit::SetPrecision(Precision::F16),
        Edit::SetEmptyRows(EmptyRow::Uniform),
        Edit::SetSinks(vec![1.0; 12]),
        Edit::SetDropout(Some(DropoutSpec { rate: 0.5, seed: 0 })),
        Edit::SetFault(Some(Fault::NoScale)),
        Edit::AddToken(Axis::Keys),
        Edit::RemoveToken(Axis::Queries, 0),
        Edit::SetWidths { d_k: 2, d_v: 2 },
        Edit::SetHeads(2),
        Edit::SetKvHeads(1),
    ];
    for change in refused {
        session.apply(edit(change.clone()));
        let refusal = session.refusal().unwrap_or_else(|| panic!("{change:?} was taken"));
        assert!(refusal.contains("weights"), "{change:?}: {refusal}");
        assert_eq!(session.document().scene().spec(), &before, "{change:?}");
    }
    session.apply(edit(Edit::SetDecimals(2)));
    session.apply(edit(Edit::SetToken { axis: Axis::Keys, position: 5, label: "credit".to_owned() }));
    assert_eq!(session.scene().key_labels()[5], "credit");
    assert_eq!(scene::read_spec(&session.document().text_to_save()).unwrap(), *session.scene().spec());
}

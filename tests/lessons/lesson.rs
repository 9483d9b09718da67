//! One bundled scene, evaluated, and the numbers in its notes held against the engine's.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use qkv::engine::{Attention, Matrix};
use qkv::scene::{
    self, Evaluation, Input, MatrixSource, Scene, SceneSpec, bundled, evaluate, render_complaint,
};

/// Says of every number in the notes of one scene what it ought to be.
pub type Telling = fn(&Lesson);

/// A scene and what it comes to.
pub struct Lesson {
    pub name: &'static str,
    pub scene: Scene,
    pub evaluation: Evaluation,
    told: RefCell<BTreeSet<String>>,
    faults: RefCell<Vec<String>>,
}

impl Lesson {
    /// Reads and evaluates the bundled scene `name`.
    pub fn open(name: &str) -> Self {
        let bundled = bundled::find(name).unwrap_or_else(|| panic!("there is no bundled scene {name}"));
        let scene = read(bundled.name, bundled.text);
        let evaluation = evaluate(&scene);
        let (told, faults) = Default::default();
        Self { name: bundled.name, scene, evaluation, told, faults }
    }

    /// The stages of head `number`, counted from 1 as on screen.
    pub fn head(&self, number: usize) -> &Attention {
        &self.evaluation.heads[number - 1].attention
    }

    /// The same scene after `edit`.
    pub fn edited(&self, edit: impl FnOnce(&mut SceneSpec)) -> Evaluation {
        let mut spec = self.scene.spec().clone();
        edit(&mut spec);
        let scene = Scene::new(spec, self.scene.files());
        evaluate(&scene.unwrap_or_else(|complaints| panic!("{}: {complaints:?}", self.name)))
    }

    /// The notes quote `values` as `quote`, rounded to the digits shown there. Whole numbers are quoted exactly.
    pub fn says(&self, quote: &str, values: &[f64]) {
        self.tell(quote);
        let Some(quoted) = numbers(quote) else { return self.fault(format!("`{quote}` is no number")) };
        if quoted.len() != values.len() {
            return self.fault(format!(
                "`{quote}` has {} numbers, the engine {}",
                quoted.len(),
                values.len()
            ));
        }
        for ((number, decimals), value) in quoted.iter().zip(values) {
            let tolerance = if *decimals == 0 { 1e-9 } else { 0.5 * 10f64.powi(-*decimals) + 1e-12 };
            let agrees = (number - value).abs() <= tolerance; // never so for NaN
            if !agrees {
                self.fault(format!("`{quote}` is {values:?}"));
                break;
            }
        }
    }

    /// As [`says`](Self::says), of a single number.
    pub fn says_one(&self, quote: &str, value: f64) {
        self.says(quote, &[value]);
    }

    /// The numbers that the notes tell the reader to type.
    pub fn given(&self, quote: &str) -> Vec<f64> {
        self.tell(quote);
        numbers(quote).unwrap_or_default().into_iter().map(|(number, _)| number).collect()
    }

    /// As [`given`](Self::given), a single number.
    pub fn given_one(&self, quote: &str) -> f64 {
        self.given(quote)[0]
    }

    /// The notes claim something else of the number `quote`.
    pub fn claims(&self, quote: &str, what: &str, holds: bool) {
        self.tell(quote);
        self.holds(what, holds);
    }

    /// The notes claim something without a number.
    pub fn holds(&self, what: &str, holds: bool) {
        if !holds {
            self.fault(format!("it is not so that {what}"));
        }
    }

    /// Everything that is wrong, numbers that nobody has spoken of included.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = self.faults.borrow().clone();
        let told = self.told.borrow();
        let notes = &self.scene.spec().notes;
        let untold =
            code_spans(notes).into_iter().filter(|span| numbers(span).is_some() && !told.contains(*span));
        faults.extend(untold.map(|span| format!("nobody checks `{span}`")));
        faults.extend(bare_decimals(notes).map(|word| format!("{word} stands outside of backticks")));
        let shown = i32::try_from(self.scene.spec().view.decimals).unwrap();
        let finer =
            |span: &&str| numbers(span).is_some_and(|n| n.iter().any(|(_, decimals)| *decimals > shown));
        let finer = code_spans(notes).into_iter().filter(finer);
        faults.extend(finer.map(|span| format!("`{span}` is finer than the board shows")));
        faults.into_iter().map(|fault| format!("{}: {fault}", self.name)).collect()
    }

    fn tell(&self, quote: &str) {
        if !code_spans(&self.scene.spec().notes).contains(&quote) {
            self.fault(format!("the notes do not hold `{quote}`"));
        }
        self.told.borrow_mut().insert(quote.to_owned());
    }

    fn fault(&self, fault: String) {
        self.faults.borrow_mut().push(fault);
    }
}

/// Reads a scene that may refer to bundled tensor files; complaints fail the test in the form that users see.
pub fn read(name: &str, text: &str) -> Scene {
    read_with(name, text, |_| None)
}

/// As [`read`], with more files than the bundled ones.
pub fn read_with(name: &str, text: &str, more: impl Fn(&str) -> Option<Vec<u8>>) -> Scene {
    let mut file_bytes = |path: &str| {
        let bytes = bundled::file(path).map(<[u8]>::to_vec).or_else(|| more(path));
        bytes.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))
    };
    scene::read(text, &mut file_bytes).unwrap_or_else(|complaints| {
        let rendered: Vec<String> =
            complaints.iter().map(|complaint| render_complaint(name, text, complaint)).collect();
        panic!("{}", rendered.join("\n"))
    })
}

/// A matrix as a scene gives it, from its rows.
pub fn rows<R: AsRef<[f64]>>(rows: &[R]) -> MatrixSource {
    MatrixSource::Rows(Arc::new(Matrix::from_rows(rows).unwrap()))
}

/// Replaces one row (counted from 1) of a matrix that is written out.
pub fn set_row(source: &mut MatrixSource, number: usize, row: &[f64]) {
    let MatrixSource::Rows(matrix) = source else { panic!("the matrix is not written out") };
    Arc::make_mut(matrix).row_mut(number - 1).copy_from_slice(row);
}

/// Q, K and V of a scene that writes them out.
pub fn heads_of(
    spec: &mut SceneSpec,
) -> (&mut Vec<MatrixSource>, &mut Vec<MatrixSource>, &mut Vec<MatrixSource>) {
    let Input::Heads { q, k, v } = &mut spec.input else { panic!("Q, K and V are not written out") };
    (q, k, v)
}

/// What stands between single backticks.
fn code_spans(notes: &str) -> Vec<&str> {
    notes.split('`').skip(1).step_by(2).collect()
}

/// The numbers of `0.5` or `[1, 0.5]`, each with its decimal places; `None` for anything else.
pub fn numbers(span: &str) -> Option<Vec<(f64, i32)>> {
    let inner = match span.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?,
        None => span,
    };
    let number = |text: &str| {
        let text = text.trim();
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Some((text.parse::<f64>().ok()?, i32::try_from(decimals).ok()?))
    };
    inner.split(',').map(number).collect()
}

/// Words outside of backticks that hold a decimal number.
fn bare_decimals(notes: &str) -> impl Iterator<Item = &str> {
    let prose = notes.split('`').step_by(2);
    prose.flat_map(str::split_whitespace).filter(|word| {
        let bytes = word.as_bytes();
        bytes
            .windows(3)
            .any(|three| three[0].is_ascii_digit() && three[1] == b'.' && three[2].is_ascii_digit())
    })
}

//! What panels may read of a session.

use std::sync::Arc;

use crate::cost::{CacheInputs, ComplexityInputs};
use crate::engine::{Check, CheckOutcome, Matrix};
use crate::export::{TableFormat, table};
use crate::figure::{CellRef, MatrixId, mask_name};
use crate::scene::{Evaluation, HeadEvaluation, Input, Position, Scene};

use super::{Centre, Derived, Document, Pin, Problem, Question, Session, Slot};

impl Session {
    /// The open document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The scene whose evaluation is on screen. While a long evaluation is under way this is the one before.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.derived.scene
    }

    /// What is on screen: scene and evaluation of one revision.
    pub fn derived(&self) -> &Arc<Derived> {
        &self.derived
    }

    /// The evaluation on screen.
    pub fn evaluation(&self) -> &Arc<Evaluation> {
        &self.derived.evaluation
    }

    /// The standing checks of the evaluation on screen; those of the one before while [they are run](Self::is_checking).
    pub fn checks(&self) -> &[(Check, CheckOutcome)] {
        &self.checked.outcomes
    }

    /// Whether the standing checks of the evaluation on screen are still being run.
    pub fn is_checking(&self) -> bool {
        self.checked.revision != self.derived.revision
    }

    /// What to know about the scene though nothing is wrong.
    pub fn warnings(&self) -> &[String] {
        &self.derived.evaluation.warnings
    }

    /// Whether the evaluation on screen answers the present scene.
    pub fn is_up_to_date(&self) -> bool {
        self.derived.revision == self.revision
    }

    /// Whether the present scene is being evaluated away from the frame.
    pub fn is_evaluating(&self) -> bool {
        !self.is_up_to_date() && !self.is_stopped
    }

    /// Whether the evaluation of the present scene was stopped, so that the one on screen is that of the scene before.
    pub fn is_stopped(&self) -> bool {
        !self.is_up_to_date() && self.is_stopped
    }

    /// The sizes of the scene whose evaluation is under way or was stopped: heads, queries, keys.
    pub fn awaited_sizes(&self) -> [usize; 3] {
        let scene = self.document.scene();
        [scene.heads(), scene.n_q(), scene.n_k()]
    }

    /// The query head on screen, from 0.
    pub fn head(&self) -> usize {
        self.head.min(self.derived.evaluation.heads.len().saturating_sub(1))
    }

    /// The evaluation of the head on screen.
    pub fn head_evaluation(&self) -> Option<&HeadEvaluation> {
        self.derived.evaluation.heads.get(self.head())
    }

    /// The pinned pair.
    pub fn pin(&self) -> Option<Pin> {
        self.pin.filter(|pin| pin.query < self.scene().n_q() && pin.key < self.scene().n_k())
    }

    /// The matrix that fills the centre.
    pub fn focus(&self) -> Option<MatrixId> {
        self.focus
    }

    /// The figure in the centre. A scene whose positions have gone shows its board.
    pub fn centre(&self) -> Centre {
        if self.centre == Centre::Positions && !self.has_positions() { Centre::Board } else { self.centre }
    }

    /// The scene that did not load.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    /// The question that must be answered first.
    pub fn question(&self) -> Option<&Question> {
        self.question.as_ref()
    }

    /// Why the last edit was refused.
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Whether there is a step to take back.
    pub fn can_undo(&self) -> bool {
        self.history.can_undo()
    }

    /// Whether there is a step to do again.
    pub fn can_redo(&self) -> bool {
        self.history.can_redo()
    }

    /// Whether Q, K and V are made from hidden states.
    pub fn has_projections(&self) -> bool {
        matches!(self.scene().spec().input, Input::Projected(_))
    }

    /// Whether only the weights are known, as they were computed elsewhere.
    pub fn gives_weights(&self) -> bool {
        self.scene().gives_weights()
    }

    /// Why the numbers of a matrix cannot be typed over, in one sentence; `None` where they can.
    pub fn why_not_editable(&self, matrix: MatrixId) -> Option<String> {
        if self.slot(matrix).is_some() {
            return None;
        }
        Some(match &self.scene().spec().input {
            Input::Weights { file, .. } => {
                format!(
                    "The weights were computed elsewhere and are read from {file}; they cannot be edited here"
                )
            }
            Input::Heads { .. } | Input::Tensors { .. } | Input::Projected(_) => {
                format!("{} is computed; edit the matrices that it is computed from", matrix.label())
            }
        })
    }

    /// Whether the scene says where its tokens stand.
    pub fn has_positions(&self) -> bool {
        self.scene().spec().position != Position::None
    }

    /// What the scene on screen costs to compute.
    pub fn complexity(&self) -> &ComplexityInputs {
        &self.derived.complexity
    }

    /// What a cache would hold of the scene on screen.
    pub fn cache(&self) -> &CacheInputs {
        &self.derived.cache
    }

    /// A matrix of the head on screen; `None` where the scene has no such matrix.
    pub fn matrix(&self, matrix: MatrixId) -> Option<Arc<Matrix>> {
        self.matrix_of_head(matrix, self.head())
    }

    /// A matrix of a query head.
    pub fn matrix_of_head(&self, matrix: MatrixId, head: usize) -> Option<Arc<Matrix>> {
        crate::figure::matrix_of(self.scene(), self.evaluation(), matrix, head)
    }

    /// Where the scene states a matrix of the head on screen, if it does: what can be edited.
    pub fn slot(&self, matrix: MatrixId) -> Option<Slot> {
        let head = self.head_evaluation()?;
        let (is_turned, is_added) = match self.scene().spec().position {
            Position::Rope { .. } => (true, false),
            Position::Sinusoidal => (false, true),
            Position::None | Position::Alibi => (false, false),
        };
        let slot = match matrix {
            MatrixId::Q | MatrixId::K if is_turned => return None,
            MatrixId::X | MatrixId::Context if is_added => return None,
            MatrixId::Q | MatrixId::UnrotatedQ => Slot::Q(head.query_head),
            MatrixId::K | MatrixId::UnrotatedK => Slot::K(head.kv_head),
            MatrixId::V => Slot::V(head.kv_head),
            MatrixId::X | MatrixId::GivenX => Slot::X,
            MatrixId::Context | MatrixId::GivenContext => Slot::Context,
            MatrixId::WQ => Slot::WQ,
            MatrixId::WK => Slot::WK,
            MatrixId::WV => Slot::WV,
            MatrixId::WO => Slot::WO,
            _ => return None,
        };
        let stated = match (&self.scene().spec().input, slot) {
            (Input::Heads { .. } | Input::Tensors { .. }, Slot::Q(_) | Slot::K(_) | Slot::V(_)) => true,
            (Input::Projected(projected), Slot::Context) => projected.context.is_some(),
            (Input::Projected(projected), Slot::WO) => projected.w_o.is_some(),
            (Input::Projected(_), Slot::X | Slot::WQ | Slot::WK | Slot::WV) => true,
            _ => false,
        };
        stated.then_some(slot)
    }

    /// A number as the scene states it, which a narrower format may have rounded on the board. `None` where it is not stated.
    pub fn stated(&self, cell: CellRef) -> Option<f64> {
        let slot = self.slot(cell.matrix)?;
        let given = |head: usize| self.scene().head_inputs().get(head);
        let matrix = match slot {
            Slot::Q(_) => given(self.head()).map(|input| Arc::clone(&input.q)),
            Slot::K(_) => given(self.head()).map(|input| Arc::clone(&input.k)),
            Slot::V(_) => given(self.head()).map(|input| Arc::clone(&input.v)),
            _ => self.matrix(cell.matrix),
        }?;
        (cell.row < matrix.rows() && cell.col < matrix.cols()).then(|| matrix.get(cell.row, cell.col))
    }

    /// The name of the mask layer that hides this pair, if one does.
    pub fn blocked_by(&self, head: usize, cell: CellRef) -> Option<String> {
        if !cell.matrix.is_score_like() {
            return None;
        }
        let layer = self.derived.evaluation.heads.get(head)?.attention.blocked_by(cell.row, cell.col)?;
        self.scene().spec().mask.get(layer).map(mask_name)
    }

    /// One matrix of the head on screen as text, with its labels.
    pub(super) fn table(&self, matrix: MatrixId, format: TableFormat) -> Option<String> {
        let numbers = self.matrix(matrix)?;
        let labels = crate::figure::labels_of(self.scene(), matrix, &numbers);
        Some(table(&numbers, &labels.rows, &labels.cols, format, self.scene().spec().view.decimals))
    }
}

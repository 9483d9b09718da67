//! Changes of a scene, as data and as functions from one description to the next.

use std::sync::Arc;

use crate::engine::{EmptyRow, Fault, MaskRule, Matrix, Precision, SoftmaxAxis, SoftmaxForm};
use crate::scene::{
    DropoutSpec, Input, MatrixSource, Orientation, Palette, Position, Scene, SceneSpec, ScoringSpec, Stage,
    Tokens,
};

/// One change of a scene.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Replace one number of a matrix that the scene states.
    SetCell {
        /// Which matrix.
        slot: Slot,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        col: usize,
        /// The new number.
        value: f64,
    },
    /// Replace a block of numbers, its top left corner at (row, col). What does not fit is refused.
    SetBlock {
        /// Which matrix.
        slot: Slot,
        /// Row of the corner, from 0.
        row: usize,
        /// Column of the corner, from 0.
        col: usize,
        /// Rows of numbers.
        values: Vec<Vec<f64>>,
    },
    /// How scores are made.
    SetScoring(ScoringSpec),
    /// c in c·tanh(s/c), or none.
    SetSoftcap(Option<f64>),
    /// Add a mask layer at the end.
    AddMask(MaskRule),
    /// Replace a mask layer.
    SetMask(usize, MaskRule),
    /// Remove a mask layer.
    RemoveMask(usize),
    /// Move a mask layer to another place.
    MoveMask {
        /// From here.
        from: usize,
        /// To here.
        to: usize,
    },
    /// How attention comes to know where a token stands.
    SetPosition(Position),
    /// The number format of every stage.
    SetPrecision(Precision),
    /// The learned sink of each query head; none where empty.
    SetSinks(Vec<f64>),
    /// Dropout of the weights, or none.
    SetDropout(Option<DropoutSpec>),
    /// A mistake to make on purpose, or none.
    SetFault(Option<Fault>),
    /// The position of query 0.
    SetPositionOffset(i64),
    /// What a query gets that may see nothing.
    SetEmptyRows(EmptyRow),
    /// Along which axis weights sum to 1.
    SetSoftmaxAxis(SoftmaxAxis),
    /// With or without the row maximum.
    SetSoftmaxForm(SoftmaxForm),
    /// Decimal places in cells.
    SetDecimals(usize),
    /// Colours of the weights.
    SetPalette(Palette),
    /// Which way round the matrices are drawn.
    SetOrientation(Orientation),
    /// Which stages are on the board.
    SetStages(Vec<Stage>),
    /// The title.
    SetTitle(String),
    /// The notes, as Markdown.
    SetNotes(String),
    /// Rename one token.
    SetToken {
        /// Of which axis.
        axis: Axis,
        /// Position, from 0.
        position: usize,
        /// The new label.
        label: String,
    },
    /// Append a position: a row of zeros on this axis, with a label.
    AddToken(Axis),
    /// Remove a position from this axis.
    RemoveToken(Axis, usize),
    /// Widths of keys and values: columns of zeros are added, or columns dropped, at the right (written-out scenes).
    SetWidths {
        /// Width of queries and keys.
        d_k: usize,
        /// Width of values.
        d_v: usize,
    },
    /// How many heads there are: the last one is repeated, or heads are dropped, at the end (written-out scenes).
    SetHeads(usize),
    /// Share K and V among the query heads differently (projected scenes).
    SetKvHeads(usize),
}

/// One of the two axes of the score matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Rows of Q.
    Queries,
    /// Rows of K and V.
    Keys,
}

/// A matrix that a scene states, and which therefore can be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// Q of a query head.
    Q(usize),
    /// K of a KV head.
    K(usize),
    /// V of a KV head.
    V(usize),
    /// Hidden states.
    X,
    /// Hidden states that keys and values are made of.
    Context,
    /// Query weights.
    WQ,
    /// Key weights.
    WK,
    /// Value weights.
    WV,
    /// Output weights.
    WO,
}

impl Edit {
    /// The description that results.
    ///
    /// # Errors
    /// A sentence when the change cannot be made to this scene. Whether the result is a valid scene is decided
    /// by [`Scene::new`].
    pub fn apply(&self, scene: &Scene) -> Result<SceneSpec, String> {
        let mut spec = scene.spec().clone();
        match self {
            Self::SetCell { slot, row, col, value } => {
                set_block(&mut spec, scene, *slot, (*row, *col), &[vec![*value]])?;
            }
            Self::SetBlock { slot, row, col, values } => {
                set_block(&mut spec, scene, *slot, (*row, *col), values)?;
            }
            Self::SetScoring(scoring) => spec.scoring = scoring.clone(),
            Self::SetSoftcap(cap) => spec.softcap = *cap,
            Self::AddMask(_) | Self::SetMask(..) | Self::RemoveMask(_) | Self::MoveMask { .. } => {
                self.apply_to_mask(&mut spec.mask)?;
            }
            Self::SetPosition(position) => spec.position = *position,
            Self::SetPrecision(precision) => spec.precision = *precision,
            Self::SetSinks(sinks) => spec.sinks.clone_from(sinks),
            Self::SetDropout(dropout) => spec.dropout = *dropout,
            Self::SetFault(fault) => spec.fault = *fault,
            Self::SetPositionOffset(offset) => spec.position_offset = *offset,
            Self::SetEmptyRows(policy) => spec.softmax.empty_rows = *policy,
            Self::SetSoftmaxAxis(axis) => spec.softmax.over = *axis,
            Self::SetSoftmaxForm(form) => spec.softmax.form = *form,
            Self::SetDecimals(decimals) => spec.view.decimals = *decimals,
            Self::SetPalette(palette) => spec.view.palette = *palette,
            Self::SetOrientation(orientation) => spec.view.orientation = *orientation,
            Self::SetStages(stages) => spec.view.stages.clone_from(stages),
            Self::SetTitle(title) => spec.title.clone_from(title),
            Self::SetNotes(notes) => spec.notes.clone_from(notes),
            Self::SetToken { axis, position, label } => {
                set_token(&mut spec, scene, *axis, *position, label)?;
            }
            Self::AddToken(axis) => super::tokens::add(&mut spec, scene, *axis)?,
            Self::RemoveToken(axis, position) => super::tokens::remove(&mut spec, scene, *axis, *position)?,
            Self::SetWidths { d_k, d_v } => super::sizes::set_widths(&mut spec, scene, *d_k, *d_v)?,
            Self::SetHeads(n_heads) => super::sizes::set_heads(&mut spec, scene, *n_heads)?,
            Self::SetKvHeads(kv_heads) => match &mut spec.input {
                Input::Projected(projected) => projected.kv_heads = *kv_heads,
                Input::Weights { .. } => return Err(super::sizes::read_from_file(&spec)),
                Input::Heads { .. } | Input::Tensors { .. } => {
                    return Err("the KV heads of this scene are written out; only a projected scene \
                                can share them differently"
                        .to_owned());
                }
            },
        }
        Ok(spec)
    }

    fn apply_to_mask(&self, mask: &mut Vec<MaskRule>) -> Result<(), String> {
        let n_layers = mask.len();
        let check = |layer: usize| {
            if layer < n_layers { Ok(()) } else { Err(format!("there is no mask layer {}", layer + 1)) }
        };
        match self {
            Self::AddMask(rule) => mask.push(rule.clone()),
            Self::SetMask(layer, rule) => {
                check(*layer)?;
                mask[*layer] = rule.clone();
            }
            Self::RemoveMask(layer) => {
                check(*layer)?;
                mask.remove(*layer);
            }
            Self::MoveMask { from, to } => {
                check(*from)?;
                check(*to)?;
                let rule = mask.remove(*from);
                mask.insert(*to, rule);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Writes `values` into the matrix behind `slot`, its top left corner at `corner`.
fn set_block(
    spec: &mut SceneSpec,
    scene: &Scene,
    slot: Slot,
    corner: (usize, usize),
    values: &[Vec<f64>],
) -> Result<(), String> {
    match &spec.input {
        Input::Tensors { .. } => spec.input = written_out(scene),
        Input::Weights { .. } => return Err(super::sizes::read_from_file(spec)),
        Input::Heads { .. } | Input::Projected(_) => {}
    }
    let source = source_mut(&mut spec.input, slot)
        .ok_or_else(|| format!("{} is computed in this scene; edit what it is computed from", slot.name()))?;
    let mut matrix = Matrix::clone(&*source.matrix(scene.files())?);
    let (first_row, first_col) = corner;
    for (row_idx, row) in values.iter().enumerate() {
        for (col_idx, value) in row.iter().enumerate() {
            let (row, col) = (first_row + row_idx, first_col + col_idx);
            if row >= matrix.rows() || col >= matrix.cols() {
                return Err(format!(
                    "{} has {} rows and {} columns; row {}, column {} lies outside",
                    slot.name(),
                    matrix.rows(),
                    matrix.cols(),
                    row + 1,
                    col + 1
                ));
            }
            matrix.set(row, col, *value);
        }
    }
    *source = MatrixSource::Rows(Arc::new(matrix));
    Ok(())
}

/// The same Q, K and V as numbers in the scene itself, so that they can be edited.
fn written_out(scene: &Scene) -> Input {
    let per_kv_head = scene.heads() / scene.kv_heads().max(1);
    let rows = |matrix: &Arc<Matrix>| MatrixSource::Rows(Arc::clone(matrix));
    let inputs = scene.head_inputs();
    let kv_inputs = || inputs.iter().step_by(per_kv_head.max(1));
    Input::Heads {
        q: inputs.iter().map(|input| rows(&input.q)).collect(),
        k: kv_inputs().map(|input| rows(&input.k)).collect(),
        v: kv_inputs().map(|input| rows(&input.v)).collect(),
    }
}

/// Where the scene states the matrix behind `slot`, if it does.
pub(super) fn source_mut(input: &mut Input, slot: Slot) -> Option<&mut MatrixSource> {
    match (input, slot) {
        (Input::Heads { q, .. }, Slot::Q(head)) => q.get_mut(head),
        (Input::Heads { k, .. }, Slot::K(head)) => k.get_mut(head),
        (Input::Heads { v, .. }, Slot::V(head)) => v.get_mut(head),
        (Input::Projected(projected), slot) => match slot {
            Slot::X => Some(&mut projected.x),
            Slot::Context => projected.context.as_mut(),
            Slot::WQ => Some(&mut projected.w_q),
            Slot::WK => Some(&mut projected.w_k),
            Slot::WV => Some(&mut projected.w_v),
            Slot::WO => projected.w_o.as_mut(),
            Slot::Q(_) | Slot::K(_) | Slot::V(_) => None,
        },
        _ => None,
    }
}

fn set_token(
    spec: &mut SceneSpec,
    scene: &Scene,
    axis: Axis,
    position: usize,
    label: &str,
) -> Result<(), String> {
    spec.tokens = match &spec.tokens {
        Tokens::Shared(labels) => Tokens::Shared(labels.clone()),
        Tokens::Sides { .. } | Tokens::Numbers => {
            Tokens::Sides { queries: scene.query_labels().to_vec(), keys: scene.key_labels().to_vec() }
        }
    };
    let labels = match (&mut spec.tokens, axis) {
        (Tokens::Shared(labels), _) => labels,
        (Tokens::Sides { queries, .. }, Axis::Queries) => queries,
        (Tokens::Sides { keys, .. }, Axis::Keys) => keys,
        (Tokens::Numbers, _) => return Err("this scene has no labels".to_owned()),
    };
    let n_labels = labels.len();
    let slot = labels
        .get_mut(position)
        .ok_or_else(|| format!("there are {n_labels} labels; position {} lies outside", position + 1))?;
    label.clone_into(slot);
    Ok(())
}

impl Slot {
    /// The name shown to people.
    pub fn name(self) -> String {
        match self {
            Self::Q(head) => format!("Q of head {}", head + 1),
            Self::K(head) => format!("K of KV head {}", head + 1),
            Self::V(head) => format!("V of KV head {}", head + 1),
            Self::X => "X".to_owned(),
            Self::Context => "the context".to_owned(),
            Self::WQ => "W_Q".to_owned(),
            Self::WK => "W_K".to_owned(),
            Self::WV => "W_V".to_owned(),
            Self::WO => "W_O".to_owned(),
        }
    }
}

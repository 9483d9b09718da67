//! Tensor files: bytes in, arrays out. Safetensors for Q, K and V; `.npy` for single matrices.

use std::collections::BTreeMap;
use std::sync::Arc;

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensorError, SafeTensors};

use super::decode::plural;
use super::inputs::MAX_HEADS;
use super::npy;
use crate::engine::{Matrix, Precision};

/// Why a tensor file cannot be used: what follows *"bank.safetensors" cannot be used:*.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FileError(pub(super) String);

/// Tensor files by the path under which a scene names them.
///
/// Cheap to clone. A scene keeps the files that it was read with, so that an edited scene can be checked again without
/// touching the disk.
#[derive(Clone, Debug, Default)]
pub struct TensorFiles {
    files: BTreeMap<String, Result<Arc<Loaded>, FileError>>,
}

#[derive(Debug)]
enum Loaded {
    Safetensors { bytes: Vec<u8>, entries: BTreeMap<String, Entry>, metadata: BTreeMap<String, String> },
    Npy(Array),
}

/// Where a tensor lies in its file. The range has been checked against the file and the shape.
#[derive(Debug)]
struct Entry {
    dtype: Dtype,
    shape: Vec<usize>,
    start: usize,
    end: usize,
}

/// Numbers with a shape, row by row.
#[derive(Debug)]
pub(super) struct Array {
    pub shape: Vec<usize>,
    pub data: Vec<f64>,
    /// The format that the file holds them in.
    pub kept_in: Precision,
}

impl TensorFiles {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the file that a scene calls `path`. A file that cannot be used is remembered as such, with the reason.
    ///
    /// # Errors
    /// What is wrong with the file, with expected and found.
    pub fn load(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), FileError> {
        let loaded = if bytes.starts_with(npy::MAGIC) || path.to_lowercase().ends_with(".npy") {
            npy::read_npy(&bytes).map(Loaded::Npy)
        } else {
            read_safetensors(bytes)
        };
        let result = loaded.as_ref().map(|_| ()).map_err(Clone::clone);
        self.files.insert(path.to_owned(), loaded.map(Arc::new));
        result
    }

    /// Remembers that the file that a scene calls `path` could not be read.
    pub fn mark_unreadable(&mut self, path: &str, reason: impl Into<String>) {
        self.files.insert(path.to_owned(), Err(FileError(reason.into())));
    }

    /// Whether a file of this path has been loaded, or found unusable.
    pub fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The paths, in alphabetical order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The names of the tensors in a safetensors file, in alphabetical order; empty for any other file.
    pub fn tensor_names(&self, path: &str) -> Vec<&str> {
        match self.files.get(path).map(|file| file.as_deref()) {
            Some(Ok(Loaded::Safetensors { entries, .. })) => entries.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The tokens in the file's metadata: a JSON list of texts under `tokens`. `None` if there are none.
    ///
    /// # Errors
    /// The metadata have `tokens`, but not as a JSON list of texts.
    pub fn tokens(&self, path: &str) -> Result<Option<Vec<String>>, FileError> {
        let Some(Ok(Loaded::Safetensors { metadata, .. })) = self.files.get(path).map(|file| file.as_deref())
        else {
            return Ok(None);
        };
        let Some(tokens) = metadata.get("tokens") else { return Ok(None) };
        serde_json::from_str(tokens).map(Some).map_err(|error| {
            FileError(format!("`tokens` in its metadata is not a JSON list of texts: {error}"))
        })
    }

    fn loaded(&self, path: &str) -> Result<&Loaded, FileError> {
        match self.files.get(path) {
            Some(Ok(loaded)) => Ok(loaded),
            Some(Err(error)) => Err(error.clone()),
            None => Err(FileError("it has not been read".to_owned())),
        }
    }

    /// Whether the file can be used at all.
    pub(super) fn check(&self, path: &str) -> Result<(), FileError> {
        self.loaded(path).map(|_| ())
    }

    /// Tensor `name` of shape (heads, n, d) as one matrix per head.
    pub(super) fn heads(&self, path: &str, name: &str) -> Result<Vec<Arc<Matrix>>, FileError> {
        let Loaded::Safetensors { bytes, entries, .. } = self.loaded(path)? else {
            return Err(FileError("it is an .npy file; Q, K and V come from a safetensors file".to_owned()));
        };
        let Some(entry) = entries.get(name) else {
            return Err(FileError(format!("it has no tensor `{name}`")));
        };
        let Entry { dtype, shape, start, end } = entry;
        let &[n_heads, rows, cols] = shape.as_slice() else {
            let axes = plural(shape.len(), "axis").replace("axiss", "axes");
            return Err(FileError(format!(
                "tensor `{name}` has {axes} {shape:?}; expected 3: (heads, positions, width)"
            )));
        };
        let numbers = numbers(*dtype, &bytes[*start..*end])
            .ok_or_else(|| FileError(format!("tensor `{name}` is of type {dtype:?}; {TYPES}")))?;
        per_head(&format!("tensor `{name}`"), &numbers, [n_heads, rows, cols])
    }

    /// Attention maps, one matrix of shape (n_q, n_k) per head, and the number format that the file holds them in. `name` is
    /// that of a tensor; an `.npy` file holds one array without a name.
    pub(super) fn weights(
        &self,
        path: &str,
        name: Option<&str>,
    ) -> Result<(Vec<Arc<Matrix>>, Precision), FileError> {
        match (self.loaded(path)?, name) {
            (Loaded::Npy(Array { shape, data, kept_in }), None) => {
                Ok((per_head("the array", data, maps("the array", shape)?)?, *kept_in))
            }
            (Loaded::Npy(_), Some(_)) => {
                Err(FileError("it is an .npy file, which holds one array without a name".to_owned()))
            }
            (Loaded::Safetensors { .. }, None) => {
                Err(FileError("it is a safetensors file, and no tensor in it is named".to_owned()))
            }
            (Loaded::Safetensors { bytes, entries, .. }, Some(name)) => {
                let Some(Entry { dtype, shape, start, end }) = entries.get(name) else {
                    return Err(FileError(format!("it has no tensor `{name}`")));
                };
                let what = format!("tensor `{name}`");
                let known = numbers(*dtype, &bytes[*start..*end]).zip(precision_of(*dtype));
                let (numbers, kept_in) =
                    known.ok_or_else(|| FileError(format!("{what} is of type {dtype:?}; {TYPES}")))?;
                Ok((per_head(&what, &numbers, maps(&what, shape)?)?, kept_in))
            }
        }
    }

    /// The matrix in an `.npy` file; a single axis gives one row.
    pub(super) fn matrix(&self, path: &str) -> Result<Matrix, FileError> {
        let Loaded::Npy(Array { shape, data, .. }) = self.loaded(path)? else {
            return Err(FileError("it is a safetensors file; File(..) takes an .npy file".to_owned()));
        };
        let (rows, cols) = match *shape.as_slice() {
            [cols] => (1, cols),
            [rows, cols] => (rows, cols),
            _ => {
                return Err(FileError(format!(
                    "it has the shape {shape:?}; a matrix has 2 axes, found {}",
                    shape.len()
                )));
            }
        };
        Matrix::new(rows, cols, data.clone()).map_err(|error| FileError(error.to_string()))
    }
}

/// Heads, queries and keys of attention maps of this shape.
fn maps(what: &str, shape: &[usize]) -> Result<[usize; 3], FileError> {
    match *shape {
        [n_q, n_k] => Ok([1, n_q, n_k]),
        [heads, n_q, n_k] | [1, heads, n_q, n_k] => Ok([heads, n_q, n_k]),
        [batch, _, _, _] => Err(FileError(format!(
            "{what} has the shape {shape:?}, a batch of {batch} sequences; expected one: (1, heads, n_q, n_k)"
        ))),
        _ => Err(FileError(format!(
            "{what} has the shape {shape:?}; expected (heads, n_q, n_k), (n_q, n_k) or (1, heads, n_q, n_k)"
        ))),
    }
}

/// One matrix per head of numbers of the shape (heads, rows, cols).
fn per_head(
    what: &str,
    numbers: &[f64],
    [n_heads, rows, cols]: [usize; 3],
) -> Result<Vec<Arc<Matrix>>, FileError> {
    if n_heads > MAX_HEADS {
        return Err(FileError(format!("{what} has {n_heads} heads; at most {MAX_HEADS} are allowed")));
    }
    let size = rows.saturating_mul(cols); // checked when the file was read
    let head = |head: usize| {
        let data = numbers.get(head * size..(head + 1) * size).unwrap_or_default().to_vec();
        Matrix::new(rows, cols, data).map(Arc::new)
    };
    (0..n_heads).map(head).collect::<Result<_, _>>().map_err(|error| FileError(error.to_string()))
}

const TYPES: &str = "F64, F32, F16 and BF16 are supported";

/// The numbers of a tensor; `None` for a type that holds no plain numbers.
fn numbers(dtype: Dtype, bytes: &[u8]) -> Option<Vec<f64>> {
    fn each<const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        bytes.as_chunks::<N>().0.iter().map(|chunk| value(*chunk)).collect()
    }
    match dtype {
        Dtype::F64 => Some(each(bytes, f64::from_le_bytes)),
        Dtype::F32 => Some(each(bytes, |chunk| f64::from(f32::from_le_bytes(chunk)))),
        Dtype::F16 => Some(each(bytes, |chunk| f16::from_le_bytes(chunk).to_f64())),
        Dtype::BF16 => Some(each(bytes, |chunk| bf16::from_le_bytes(chunk).to_f64())),
        _ => None,
    }
}

/// The format of the numbers in a tensor; `None` for a type that holds no plain numbers.
fn precision_of(dtype: Dtype) -> Option<Precision> {
    match dtype {
        Dtype::F64 => Some(Precision::F64),
        Dtype::F32 => Some(Precision::F32),
        Dtype::F16 => Some(Precision::F16),
        Dtype::BF16 => Some(Precision::Bf16),
        _ => None,
    }
}

fn read_safetensors(bytes: Vec<u8>) -> Result<Loaded, FileError> {
    let data_start = check_header(&bytes)?;
    let (_, parsed) =
        SafeTensors::read_metadata(&bytes).map_err(|error| in_words(&error, &bytes, data_start))?;
    let entries = parsed.tensors().into_iter().map(|(name, info)| {
        let (start, end) = info.data_offsets;
        let entry = Entry {
            dtype: info.dtype,
            shape: info.shape.clone(),
            start: data_start + start,
            end: data_start + end,
        };
        (name, entry)
    });
    let entries = entries.collect();
    let metadata = parsed.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    Ok(Loaded::Safetensors { bytes, entries, metadata })
}

/// Where the data begin, if the header can be there at all. Nothing is reserved on the header's word.
fn check_header(bytes: &[u8]) -> Result<usize, FileError> {
    /// What the format's own readers allow.
    const LIMIT: u64 = 100_000_000;
    let found = bytes.len() as u64;
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return Err(FileError(format!("a safetensors file has at least 8 bytes; found {found}")));
    };
    let wanted = u64::from_le_bytes(*length);
    if wanted > rest.len() as u64 {
        let (wanted, found) = (grouped(wanted), grouped(found));
        return Err(FileError(format!("its header wants {wanted} bytes, the whole file has {found}")));
    }
    if wanted > LIMIT {
        let (wanted, limit) = (grouped(wanted), grouped(LIMIT));
        return Err(FileError(format!("its header wants {wanted} bytes; at most {limit} are allowed")));
    }
    match rest.first() {
        Some(b'{') if wanted > 0 => Ok(8 + wanted as usize),
        Some(&other) if wanted > 0 => {
            let other = char::from(other).escape_default();
            Err(FileError(format!("its header has to begin with `{{`; found `{other}`")))
        }
        _ => Err(FileError("its header is empty; expected a JSON object".to_owned())),
    }
}

/// The crate's error with the numbers that it leaves out.
fn in_words(error: &SafeTensorError, bytes: &[u8], data_start: usize) -> FileError {
    FileError(match error {
        SafeTensorError::MetadataIncompleteBuffer => {
            let header = bytes.get(8..data_start).unwrap_or_default();
            let declared = serde_json::from_slice::<safetensors::tensor::Metadata>(header).ok();
            let wanted = declared.map_or(0, |metadata| metadata.data_len());
            let found = bytes.len().saturating_sub(data_start);
            format!("expected {} data bytes, found {}", grouped(wanted as u64), grouped(found as u64))
        }
        SafeTensorError::InvalidOffset(name) => {
            format!(
                "tensor `{name}` does not begin where the one before it ends; tensors may not overlap or leave gaps"
            )
        }
        SafeTensorError::TensorInvalidInfo => {
            "a tensor's shape and type do not come to the bytes that are set aside for it".to_owned()
        }
        SafeTensorError::ValidationOverflow => "a tensor's shape is larger than any memory".to_owned(),
        SafeTensorError::InvalidHeaderDeserialization(error) => {
            format!("its header is not what it should be: {error}")
        }
        other => other.to_string(),
    })
}

/// Digits in groups of three: 132,095,296.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

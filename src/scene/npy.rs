//! NumPy's `.npy` files: bytes in, numbers out. Nothing in them is believed before it is checked.

use half::f16;

use super::decode::plural;
use super::tensors::{Array, FileError, grouped};
use crate::engine::Precision;

/// What an `.npy` file begins with.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// The array in an `.npy` file of version 1, 2 or 3, of real numbers. Bytes after the data are ignored, as NumPy does.
///
/// # Errors
/// A sentence that says what was expected and found.
pub(super) fn read_npy(bytes: &[u8]) -> Result<Array, FileError> {
    let (header, data) = split(bytes)?;
    let descr = text_field(header, "descr")?;
    let kind = ElementKind::parse(&descr)?;
    let fortran = flag_field(header, "fortran_order")?;
    let shape = shape_field(header)?;
    let n_elements = shape.iter().try_fold(1_usize, |n, &axis| n.checked_mul(axis));
    let wanted = n_elements.and_then(|n| n.checked_mul(kind.size));
    let (Some(n_elements), Some(wanted)) = (n_elements, wanted) else {
        return Err(FileError(format!("its header claims the shape {shape:?}, more than any memory holds")));
    };
    if data.len() < wanted {
        let (wanted, found) = (grouped(wanted as u64), grouped(data.len() as u64));
        return Err(FileError(format!("expected {wanted} bytes of data, found {found}")));
    }
    let mut numbers: Vec<f64> =
        data[..wanted].chunks_exact(kind.size.max(1)).map(|bytes| kind.value(bytes)).collect();
    if fortran && shape.len() == 2 {
        let (rows, cols) = (shape[0], shape[1]);
        numbers = (0..n_elements).map(|at| numbers[(at % cols) * rows + at / cols]).collect();
    } else if fortran && shape.len() > 2 {
        return Err(FileError(format!(
            "an array of {} in column order is not supported",
            plural(shape.len(), "axis").replace("axiss", "axes")
        )));
    }
    Ok(Array { shape, data: numbers, kept_in: kind.precision() })
}

/// The header's text and the bytes behind it.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), FileError> {
    if bytes.starts_with(b"PK") {
        return Err(FileError("it is a zip archive (an .npz file?), not an .npy file".to_owned()));
    }
    if !bytes.starts_with(MAGIC) {
        return Err(FileError("it is not an .npy file: it does not begin with \\x93NUMPY".to_owned()));
    }
    let cut = || FileError(format!("its header is cut: the file has only {} bytes", bytes.len()));
    let version = *bytes.get(6).ok_or_else(cut)?;
    let (length, start) = match version {
        1 => {
            let length = bytes.get(8..10).ok_or_else(cut)?;
            (u64::from(u16::from_le_bytes([length[0], length[1]])), 10)
        }
        2 | 3 => {
            let length = bytes.get(8..12).ok_or_else(cut)?;
            (u64::from(u32::from_le_bytes([length[0], length[1], length[2], length[3]])), 12)
        }
        other => return Err(FileError(format!("version {other} of the .npy format is not known"))),
    };
    let found = (bytes.len() - start) as u64;
    if length > found {
        let (length, found) = (grouped(length), grouped(found));
        return Err(FileError(format!("its header is cut: it claims {length} bytes, found {found}")));
    }
    let (header, data) = bytes[start..].split_at(length as usize);
    let header =
        std::str::from_utf8(header).map_err(|error| FileError(format!("its header is not text: {error}")))?;
    Ok((header, data))
}

/// How the numbers are stored.
struct ElementKind {
    big_endian: bool,
    kind: u8,
    size: usize,
}

impl ElementKind {
    fn parse(descr: &str) -> Result<Self, FileError> {
        let unknown = || FileError(format!("its numbers are of the type `{descr}`, which is not supported"));
        let [order, kind, size @ ..] = descr.as_bytes() else { return Err(unknown()) };
        let big_endian = match order {
            b'<' | b'|' | b'=' => false,
            b'>' => true,
            _ => return Err(unknown()),
        };
        let size = match (kind, size) {
            (b'O', _) => {
                return Err(FileError(
                    "it holds Python objects (a pickle), which are never unpacked".to_owned(),
                ));
            }
            (b'c', _) => {
                let name = if size == b"8" { "complex64" } else { "complex128" };
                return Err(FileError(format!("its numbers are complex ({name}); real numbers are needed")));
            }
            (b'b', _) => {
                return Err(FileError("it holds true and false (bool); numbers are needed".to_owned()));
            }
            (b'f', b"2" | b"4" | b"8") | (b'i' | b'u', b"1" | b"2" | b"4" | b"8") => {
                usize::from(size[0] - b'0')
            }
            _ => return Err(unknown()),
        };
        Ok(Self { big_endian, kind: *kind, size })
    }

    /// The number format that holds these numbers; whole numbers lose nothing in the widest.
    fn precision(&self) -> Precision {
        match (self.kind, self.size) {
            (b'f', 2) => Precision::F16,
            (b'f', 4) => Precision::F32,
            _ => Precision::F64,
        }
    }

    fn value(&self, bytes: &[u8]) -> f64 {
        let mut wide = [0_u8; 8]; // little-endian
        for (target, byte) in wide.iter_mut().zip(bytes) {
            *target = *byte;
        }
        if self.big_endian {
            wide[..self.size].reverse();
        }
        let bits = u64::from_le_bytes(wide);
        let unused = 64 - 8 * self.size as u32;
        match (self.kind, self.size) {
            (b'f', 2) => f16::from_bits(bits as u16).to_f64(),
            (b'f', 4) => f64::from(f32::from_bits(bits as u32)),
            (b'f', _) => f64::from_bits(bits),
            (b'i', _) => (((bits << unused) as i64) >> unused) as f64,
            _ => bits as f64,
        }
    }
}

/// What follows `'name':` in the header, a Python dictionary.
fn field<'h>(header: &'h str, name: &str) -> Result<&'h str, FileError> {
    let key = format!("'{name}'");
    let missing = || FileError(format!("its header has no `{name}`"));
    let at = header.find(&key).ok_or_else(missing)?;
    let value = header[at + key.len()..].trim_start().strip_prefix(':').ok_or_else(missing)?;
    Ok(value.trim_start())
}

fn text_field(header: &str, name: &str) -> Result<String, FileError> {
    let value = field(header, name)?;
    if value.starts_with('[') {
        return Err(FileError("its rows are records (a structured type), which is not supported".to_owned()));
    }
    let inside = value.strip_prefix('\'').and_then(|value| value.split('\'').next());
    inside.map(str::to_owned).ok_or_else(|| FileError(format!("`{name}` in its header is not a text")))
}

fn flag_field(header: &str, name: &str) -> Result<bool, FileError> {
    let value = field(header, name)?;
    if value.starts_with("True") {
        Ok(true)
    } else if value.starts_with("False") {
        Ok(false)
    } else {
        Err(FileError(format!("`{name}` in its header is neither True nor False")))
    }
}

fn shape_field(header: &str) -> Result<Vec<usize>, FileError> {
    let value = field(header, "shape")?;
    let inside = value.strip_prefix('(').and_then(|value| value.split_once(')'));
    let Some((inside, _)) = inside else {
        return Err(FileError("`shape` in its header is not a tuple".to_owned()));
    };
    let axes = inside.split(',').map(str::trim).filter(|axis| !axis.is_empty());
    axes.enumerate()
        .map(|(index, axis)| {
            let axis = axis.trim_end_matches('L');
            axis.parse().map_err(|_not_a_count| {
                FileError(format!("axis {} of its shape is {axis}; expected 0 or more", index + 1))
            })
        })
        .collect()
}

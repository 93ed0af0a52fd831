//! Tensors in a file of the safetensors format (a length, a JSON header, raw little-endian values).

use half::{bf16, f16};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Float {
    I8,
    F16,
    Bf16,
    F32,
    F64,
}

impl Float {
    fn of(kind: Dtype) -> Option<Self> {
        Some(match kind {
            Dtype::I8 => Float::I8,
            Dtype::F16 => Float::F16,
            Dtype::BF16 => Float::Bf16,
            Dtype::F32 => Float::F32,
            Dtype::F64 => Float::F64,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Float::I8 => 1,
            Float::F16 | Float::Bf16 => 2,
            Float::F32 => 4,
            Float::F64 => 8,
        }
    }
}

/// A matrix whose rows are read as they are needed, in the precision of its file.
#[derive(Debug, PartialEq)]
pub(super) struct Table {
    values: Vec<u8>,
    kind: Float,
    rows: usize,
    columns: usize,
}

impl Table {
    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// How long a row is.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Adds row `row`, times `weight`, to `sum`; `false` where there is no such row.
    pub(super) fn add_row(&self, row: usize, weight: f64, sum: &mut [f64]) -> bool {
        let length = self.columns * self.kind.bytes();
        let Some(bytes) = self.values.chunks_exact(length).nth(row) else { return false };
        match self.kind {
            Float::I8 => add(sum, weight, bytes, |[byte]: [u8; 1]| f64::from(i8::from_le_bytes([byte]))),
            Float::F16 => add(sum, weight, bytes, |value| f16::from_le_bytes(value).to_f64()),
            Float::Bf16 => add(sum, weight, bytes, |value| bf16::from_le_bytes(value).to_f64()),
            Float::F32 => add(sum, weight, bytes, |value| f64::from(f32::from_le_bytes(value))),
            Float::F64 => add(sum, weight, bytes, f64::from_le_bytes),
        }
        true
    }
}

fn add<const N: usize>(sum: &mut [f64], weight: f64, bytes: &[u8], value: impl Fn([u8; N]) -> f64) {
    let (values, _) = bytes.as_chunks::<N>();
    for (sum, bytes) in sum.iter_mut().zip(values) {
        *sum += weight * value(*bytes);
    }
}

/// The tensors of a file.
pub(super) struct TensorFile<'a>(SafeTensors<'a>);

impl<'a> TensorFile<'a> {
    /// Reads the header of `bytes` and checks that what it says is there.
    ///
    /// # Errors
    /// When the bytes are no safetensors file, in words.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, String> {
        SafeTensors::deserialize(bytes).map(TensorFile).map_err(|error| format!("is no safetensors file: {error}"))
    }

    /// The names of the tensors, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.0.names().into_iter().map(str::to_string).collect();
        names.sort();
        names
    }

    /// The matrix `name`; `None` where there is no such tensor.
    ///
    /// # Errors
    /// When it is no matrix of real numbers, in words.
    pub(super) fn table(&self, name: &str) -> Result<Option<Table>, String> {
        let Some(tensor) = self.tensor(name) else { return Ok(None) };
        let (Some(kind), [rows, columns]) = (Float::of(tensor.dtype()), tensor.shape()) else {
            return Err(unexpected(name, "a matrix of F16, BF16, F32, F64 or I8", &tensor));
        };
        if *rows == 0 || *columns == 0 {
            return Err(unexpected(name, "a matrix with values in it", &tensor));
        }
        Ok(Some(Table { values: tensor.data().to_vec(), kind, rows: *rows, columns: *columns }))
    }

    /// The vector `name`; `None` where there is no such tensor.
    ///
    /// # Errors
    /// When it is no vector of real numbers, in words.
    pub(super) fn vector(&self, name: &str) -> Result<Option<Vec<f64>>, String> {
        let Some(tensor) = self.tensor(name) else { return Ok(None) };
        let (Some(kind), [length]) = (Float::of(tensor.dtype()), tensor.shape()) else {
            return Err(unexpected(name, "a vector of F16, BF16, F32 or F64", &tensor));
        };
        let table = Table { values: tensor.data().to_vec(), kind, rows: 1, columns: *length };
        let mut values = vec![0.0; *length];
        if *length > 0 {
            table.add_row(0, 1.0, &mut values);
        }
        Ok(Some(values))
    }

    /// The row numbers in the vector `name`; `None` where there is no such tensor.
    ///
    /// # Errors
    /// When it is no vector of whole numbers from 0, in words.
    pub(super) fn indexes(&self, name: &str) -> Result<Option<Vec<usize>>, String> {
        let Some(tensor) = self.tensor(name) else { return Ok(None) };
        let expected = || unexpected(name, "a vector of I64 or I32, none below 0", &tensor);
        let read = |value: i64| usize::try_from(value).map_err(|_| expected());
        match (tensor.dtype(), tensor.shape()) {
            (Dtype::I64, [_]) => {
                tensor.data().as_chunks::<8>().0.iter().map(|bytes| read(i64::from_le_bytes(*bytes))).collect()
            }
            (Dtype::I32, [_]) => {
                tensor.data().as_chunks::<4>().0.iter().map(|bytes| read(i32::from_le_bytes(*bytes).into())).collect()
            }
            _ => Err(expected()),
        }
        .map(Some)
    }

    fn tensor(&self, name: &str) -> Option<TensorView<'a>> {
        self.0.tensor(name).ok()
    }
}

fn unexpected(name: &str, expected: &str, found: &TensorView<'_>) -> String {
    format!("has a tensor `{name}`: expected {expected}, found {:?} of shape {:?}", found.dtype(), found.shape())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A safetensors file of these tensors: name, type, shape, bytes.
    pub(in super::super) fn file(tensors: &[(&str, Dtype, &[usize], Vec<u8>)]) -> Vec<u8> {
        let views = tensors.iter().map(|(name, kind, shape, bytes)| {
            (name.to_string(), TensorView::new(*kind, shape.to_vec(), bytes).expect("a tensor"))
        });
        safetensors::serialize(views.collect::<Vec<_>>(), None).expect("a file")
    }

    pub(in super::super) fn f32s(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn every_kind_of_number_is_read() {
        let values = [1.5f32, -2.0, 0.25, 96.0, 3.0, -0.5];
        let f16s: Vec<u8> = values.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect();
        let bf16s: Vec<u8> = values.iter().flat_map(|value| bf16::from_f32(*value).to_le_bytes()).collect();
        let f64s: Vec<u8> = values.iter().flat_map(|value| f64::from(*value).to_le_bytes()).collect();
        let i8s: Vec<u8> = [1i8, -2, 3, -128, 127, 0].iter().flat_map(|value| value.to_le_bytes()).collect();
        let bytes = file(&[
            ("a", Dtype::F16, &[2, 3], f16s),
            ("b", Dtype::BF16, &[2, 3], bf16s),
            ("c", Dtype::F32, &[2, 3], f32s(&values)),
            ("d", Dtype::F64, &[2, 3], f64s),
            ("e", Dtype::I8, &[3, 2], i8s),
        ]);
        let tensors = TensorFile::new(&bytes).expect("a file");
        for name in ["a", "b", "c", "d"] {
            let table = tensors.table(name).expect("a matrix").expect("there");
            let mut sum = vec![1.0; 3];
            assert!(table.add_row(1, 2.0, &mut sum));
            assert_eq!(sum, [193.0, 7.0, 0.0], "{name}");
            assert!(!table.add_row(2, 1.0, &mut sum), "{name}");
        }
        let mut sum = vec![0.0; 2];
        assert!(tensors.table("e").expect("a matrix").expect("there").add_row(1, 1.0, &mut sum));
        assert_eq!(sum, [3.0, -128.0]);
        assert_eq!(tensors.table("z"), Ok(None));
        assert_eq!(tensors.names(), ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        let bytes = file(&[
            ("line", Dtype::F32, &[2], f32s(&[1.0, 2.0])),
            ("ids", Dtype::I64, &[2], [3i64, -1].iter().flat_map(|id| id.to_le_bytes()).collect()),
        ]);
        let tensors = TensorFile::new(&bytes).expect("a file");
        let error = tensors.table("line").expect_err("a vector");
        assert_eq!(
            error,
            "has a tensor `line`: expected a matrix of F16, BF16, F32, F64 or I8, found F32 of shape [2]"
        );
        assert!(tensors.indexes("ids").is_err() && tensors.vector("ids").is_err());
        assert_eq!(tensors.vector("line"), Ok(Some(vec![1.0, 2.0])));
        assert!(TensorFile::new(b"{}").err().is_some_and(|error| error.starts_with("is no safetensors file: ")));
    }
}

//! The index file: vectors with their lengths, and a graph of neighbours where the recipe wants one.
//!
//! # Format
//!
//! Numbers are little-endian.
//!
//! | part | type | content |
//! |---|---|---|
//! | magic | 8 bytes | `RSVECIDX` |
//! | version | u32 | 1 |
//! | dimensions | u32 | numbers per vector |
//! | texts | u64 | how many texts there were |
//! | vectors | u64 | how many of them have a vector |
//! | metric | u32 | 0 cosine, 1 dot product, 2 Euclidean distance |
//! | graph | u32 | 1 where there is a graph of neighbours, else 0 |
//! | padding | zeros | up to byte 64 |
//! | matrix | f32 x dimensions x vectors | the vectors as they were embedded |
//! | lengths | f64 x vectors | |
//! | numbers | u32 x vectors | of their texts, ascending |
//! | graph | | see [`super::hnsw`] |
//!
//! The file is mapped into memory when it is searched; a blob of the store is verified before.

use std::path::Path;

use super::embeddings::Embeddings;
use super::exact::{RowScales, Vectors, Wanted};
use super::hnsw::Hnsw;
use super::little_endian::{HEAD_BYTES, Reader, f32s, pad_head, put_f32s, put_u32s};
use super::matrix::{Matrix, map};
use super::neighbour::Neighbour;
use super::options::{Metric, VectorIndexKind, VectorOptions};
use super::rows::Rows;
use super::similarity::norm;
use crate::contract::Artifact;
use crate::error::DecodeError;

const MAGIC: &[u8; 8] = b"RSVECIDX";
const VERSION: u32 = 1;
const WHAT: &str = "vector index";

/// Vectors that can be searched.
pub struct VectorIndex {
    head: Head,
    matrix: Matrix,
    norms: Vec<f64>,
    numbers: Vec<u32>,
    graph: Option<Hnsw>,
    scales: RowScales,
}

/// What the file begins with.
#[derive(Clone, Copy)]
struct Head {
    dimensions: usize,
    texts: u32,
    vectors: usize,
    metric: Metric,
    graph: bool,
}

impl VectorIndex {
    /// The index of some vectors.
    ///
    /// # Errors
    /// When a graph is wanted and cannot be made.
    pub fn build(embeddings: &Embeddings, options: &VectorOptions) -> Result<Self, DecodeError> {
        let (dimensions, metric) = (embeddings.dimensions(), options.metric);
        let matrix = embeddings.vectors();
        let norms: Vec<f64> = matrix.chunks_exact(dimensions.max(1)).map(norm).collect();
        let graph = options.index == VectorIndexKind::Hnsw && norms.len() >= options.min_rows as usize;
        let rows = Rows { metric, dimensions, matrix, norms: &norms };
        let graph = if graph { Some(Hnsw::build(rows)?) } else { None };
        let head = Head { dimensions, texts: embeddings.texts(), vectors: norms.len(), metric, graph: graph.is_some() };
        let scales = RowScales::new(metric, &norms);
        let numbers = embeddings.present();
        Ok(VectorIndex { head, matrix: Matrix::Kept(matrix.to_vec()), norms, numbers, graph, scales })
    }

    /// The index in a file, which is mapped: its vectors are read as they are needed.
    ///
    /// # Errors
    /// When the file cannot be mapped or is something else.
    pub fn open(path: &Path) -> Result<Self, DecodeError> {
        let (file, bytes) = map(path)?;
        let content = file
            .as_slice_bytes(0, bytes as u64)
            .map_err(|error| DecodeError::Format(format!("{WHAT}: cannot be mapped: {error}")))?;
        let parts = Parts::read(content)?;
        let range = HEAD_BYTES..HEAD_BYTES + parts.matrix.len();
        let (head, norms, numbers, graph) = (parts.head, parts.norms, parts.numbers, parts.graph);
        let scales = RowScales::new(head.metric, &norms);
        Ok(VectorIndex { head, matrix: Matrix::of(file, range)?, norms, numbers, graph, scales })
    }

    /// How many texts there were, those without a vector included.
    pub fn texts(&self) -> usize {
        self.head.texts as usize
    }

    /// How many vectors there are.
    pub fn vectors(&self) -> usize {
        self.head.vectors
    }

    /// Numbers per vector; 0 where there are no vectors.
    pub fn dimensions(&self) -> usize {
        self.head.dimensions
    }

    /// How long a query's vector must be; `None` where there are no vectors.
    pub fn length(&self) -> Option<usize> {
        (self.vectors() > 0).then(|| self.dimensions())
    }

    /// What near means.
    pub fn metric(&self) -> Metric {
        self.head.metric
    }

    /// Whether every vector is compared.
    pub fn exact(&self) -> bool {
        self.graph.is_none()
    }

    /// The texts nearest to each of `wanted`, best first, of equals the one that comes first. Scores are computed in `f64` in
    /// one order of sums, and what one vector finds does not depend on the others. A vector of another length finds nothing.
    pub fn nearest(&self, wanted: &[Wanted<'_>]) -> Vec<Vec<Neighbour>> {
        let Head { metric, dimensions, .. } = self.head;
        let rows = Rows { metric, dimensions, matrix: self.matrix.numbers(), norms: &self.norms };
        let vectors = Vectors { rows, texts: &self.numbers, scales: &self.scales };
        match &self.graph {
            None => vectors.nearest(wanted),
            Some(graph) => {
                use rayon::prelude::*;
                wanted.par_iter().map(|wanted| near(graph, &vectors, wanted)).collect()
            }
        }
    }
}

/// The nearest of what the graph leads to.
fn near(graph: &Hnsw, vectors: &Vectors<'_>, wanted: &Wanted<'_>) -> Vec<Neighbour> {
    let Wanted { vector, top_k } = *wanted;
    if vector.len() != vectors.rows.dimensions {
        return Vec::new();
    }
    let norm = norm(vector);
    vectors.best(vector, norm, top_k, &graph.near(vectors.rows, vector, norm, top_k))
}

/// A file taken apart.
struct Parts<'a> {
    head: Head,
    matrix: &'a [u8],
    norms: Vec<f64>,
    numbers: Vec<u32>,
    graph: Option<Hnsw>,
}

impl<'a> Parts<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::open(WHAT, bytes, MAGIC, VERSION)?;
        let dimensions = reader.u32()? as usize;
        let [texts, vectors] = [reader.count()?, reader.count()?];
        let texts = u32::try_from(texts).map_err(|_| reader.error(format!("{texts} texts are too many")))?;
        let metric = match reader.u32()? {
            0 => Metric::Cosine,
            1 => Metric::Dot,
            2 => Metric::L2,
            other => return Err(reader.error(format!("there is no metric {other}"))),
        };
        let graph = reader.u32()? == 1;
        let read = bytes.len() - reader.left();
        reader.take(HEAD_BYTES.saturating_sub(read))?;
        let head = Head { dimensions, texts, vectors, metric, graph };
        let matrix = reader.take(vectors.saturating_mul(dimensions).saturating_mul(4))?;
        let norms = reader.f64s(vectors)?;
        let numbers = reader.u32s(vectors)?;
        if numbers.windows(2).any(|pair| pair[0] >= pair[1]) || numbers.last().is_some_and(|last| *last >= texts) {
            return Err(reader.error("the numbers of the texts are not ascending, or not among the texts"));
        }
        if (dimensions == 0) != (vectors == 0) {
            return Err(reader.error(format!("{vectors} vectors of {dimensions} numbers")));
        }
        let graph = if graph { Some(Hnsw::read(&mut reader, vectors)?) } else { None };
        reader.end()?;
        Ok(Parts { head, matrix, norms, numbers, graph })
    }
}

impl Artifact for VectorIndex {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let Head { dimensions, texts, vectors, metric, graph } = self.head;
        let mut bytes = Vec::with_capacity(HEAD_BYTES + vectors * (4 * dimensions + 12));
        bytes.extend_from_slice(MAGIC);
        put_u32s(&mut bytes, &[VERSION, dimensions as u32]);
        for count in [u64::from(texts), vectors as u64] {
            bytes.extend_from_slice(&count.to_le_bytes());
        }
        let metric = match metric {
            Metric::Cosine => 0,
            Metric::Dot => 1,
            Metric::L2 => 2,
        };
        put_u32s(&mut bytes, &[metric, u32::from(graph)]);
        pad_head(&mut bytes);
        put_f32s(&mut bytes, self.matrix.numbers());
        self.norms.iter().for_each(|norm| bytes.extend_from_slice(&norm.to_le_bytes()));
        put_u32s(&mut bytes, &self.numbers);
        if let Some(graph) = &self.graph {
            graph.write(&mut bytes);
        }
        Ok(bytes)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let Parts { head, matrix, norms, numbers, graph } = Parts::read(&bytes)?;
        let scales = RowScales::new(head.metric, &norms);
        Ok(VectorIndex { head, matrix: Matrix::Kept(f32s(matrix)), norms, numbers, graph, scales })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ragstage_cache::Digest;

    use super::super::similarity::score;
    use super::*;

    fn embeddings(rows: &[Vec<f32>]) -> Embeddings {
        Embeddings::new(rows.iter().map(|row| Some(row.as_slice()))).expect("embeddings")
    }

    fn options(metric: Metric) -> VectorOptions {
        VectorOptions { metric, ..VectorOptions::default() }
    }

    fn index(rows: &[Vec<f32>], metric: Metric) -> VectorIndex {
        VectorIndex::build(&embeddings(rows), &options(metric)).expect("index")
    }

    fn pairs(found: &[Neighbour]) -> Vec<(u32, f64)> {
        found.iter().map(|neighbour| (neighbour.text, neighbour.score)).collect()
    }

    /// Every vector scored in `f64`, sorted.
    fn brute_force(rows: &[Vec<f32>], metric: Metric, query: &[f32], top_k: usize) -> Vec<(u32, f64)> {
        let scored = |row: &Vec<f32>| score(metric, query, norm(query), row, norm(row));
        let mut all: Vec<(u32, f64)> = (0u32..).zip(rows.iter().map(scored)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(top_k);
        all
    }

    #[test]
    fn neighbours_by_hand() {
        let rows = [vec![1.0, 0.0], vec![0.0, 2.0], vec![3.0, 4.0], vec![0.0, 0.0]];
        let near =
            |metric, query: &[f32], top_k| pairs(&index(&rows, metric).nearest(&[Wanted { vector: query, top_k }])[0]);
        assert_eq!(near(Metric::Cosine, &[2.0, 0.0], 4), [(0, 1.0), (2, 0.6), (1, 0.0), (3, 0.0)]);
        assert_eq!(near(Metric::Dot, &[1.0, 1.0], 2), [(2, 7.0), (1, 2.0)]);
        assert_eq!(near(Metric::L2, &[0.0, 0.0], 3), [(3, 0.0), (0, -1.0), (1, -2.0)]);
        // A query of zeros is as near to every vector: the first ones are found.
        assert_eq!(near(Metric::Cosine, &[0.0, 0.0], 2), [(0, 0.0), (1, 0.0)]);
        assert!(near(Metric::Cosine, &[1.0, 0.0], 0).is_empty());
        assert!(near(Metric::Cosine, &[1.0, 0.0, 0.0], 3).is_empty());
    }

    #[test]
    fn texts_without_a_vector_are_left_out() {
        let embeddings = Embeddings::new([None, Some([1.0f32].as_slice()), None, Some(&[2.0])]).expect("embeddings");
        let index = VectorIndex::build(&embeddings, &options(Metric::Dot)).expect("index");
        assert_eq!((index.texts(), index.vectors()), (4, 2));
        assert_eq!(pairs(&index.nearest(&[Wanted { vector: &[1.0], top_k: 9 }])[0]), [(3, 2.0), (1, 1.0)]);
        let none = VectorIndex::build(&Embeddings::default(), &options(Metric::Dot)).expect("index");
        assert!(none.nearest(&[Wanted { vector: &[1.0], top_k: 9 }])[0].is_empty());
        assert!(none.nearest(&[]).is_empty());
    }

    #[test]
    fn a_file_that_is_mapped_gives_what_was_built() {
        let rows: Vec<Vec<f32>> =
            (0..40).map(|i| (0..7).map(|j| ((i * 31 + j * 17) % 23) as f32 - 11.0).collect()).collect();
        for min_rows in [1, 1000] {
            let options = VectorOptions { index: VectorIndexKind::Hnsw, min_rows, ..VectorOptions::default() };
            let built = VectorIndex::build(&embeddings(&rows), &options).expect("index");
            assert_eq!(built.exact(), min_rows == 1000);
            let bytes = built.encode().expect("encode");
            let folder = tempfile::tempdir().expect("folder");
            let path = folder.path().join("index");
            std::fs::write(&path, &bytes).expect("a file");
            let opened = VectorIndex::open(&path).expect("open");
            assert!(matches!(opened.matrix, Matrix::Mapped { .. }));
            let read = VectorIndex::decode(bytes.clone()).expect("decode");
            for index in [&opened, &read] {
                assert_eq!(index.encode().expect("encode"), bytes);
                let wanted = [Wanted { vector: &rows[3], top_k: 5 }];
                assert_eq!(index.nearest(&wanted), built.nearest(&wanted));
            }
            assert_eq!(built.nearest(&[Wanted { vector: &rows[3], top_k: 1 }])[0][0].text, 3);
        }
    }

    #[test]
    fn the_bytes_are_pinned() {
        let rows: Vec<Vec<f32>> = (0..70).map(|i| vec![i as f32, (i * i % 13) as f32]).collect();
        let digest = |options: &VectorOptions| {
            let index = VectorIndex::build(&embeddings(&rows), options).expect("index");
            Digest::of(&index.encode().expect("encode")).short()
        };
        // Changed bytes for the same vectors: bump the code version of `vector_index` or HNSW_VERSION, then these values.
        assert_eq!(digest(&VectorOptions::default()), "00247034a03d");
        let hnsw = VectorOptions { index: VectorIndexKind::Hnsw, min_rows: 1, ..VectorOptions::default() };
        assert_eq!(digest(&hnsw), "2246d2c4e447");
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        let bytes = index(&[vec![1.0, 0.0], vec![0.0, 2.0]], Metric::Cosine).encode().expect("encode");
        let error = |bytes: &[u8]| match VectorIndex::decode(bytes.to_vec()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        assert_eq!(error(&bytes), "");
        assert!(error(b"RSVECF32").contains("RSVECIDX"));
        assert!(error(&bytes[..70]).contains("16 bytes expected, 6 left"));
        let with = |at: usize, byte: u8| {
            let mut other = bytes.clone();
            other[at] = byte;
            error(&other)
        };
        assert!(with(8, 9).contains("expected version 1, found 9"));
        assert!(with(32, 3).contains("no metric 3"));
        assert!(with(31, 255).contains("bytes expected"));
        assert!(with(bytes.len() - 4, 0).contains("not ascending"));
        assert!(with(bytes.len() - 4, 2).contains("not among the texts"));
        assert!(with(36, 1).contains("bytes expected"));
        let folder = tempfile::tempdir().expect("folder");
        assert!(VectorIndex::open(&folder.path().join("none")).is_err());
        std::fs::write(folder.path().join("empty"), b"").expect("a file");
        assert!(VectorIndex::open(&folder.path().join("empty")).is_err());
    }

    /// A number whose size varies as widely as those of embedders of every kind.
    fn number() -> impl Strategy<Value = f32> {
        prop_oneof![
            8 => (-8i8..8).prop_map(f32::from),
            8 => -1.0f32..1.0,
            1 => prop::sample::select(vec![1e-30f32, -1e-30, 1e-20, 3e37, -3e37, 1e-44, 0.0]),
        ]
    }

    fn vectors(count: std::ops::Range<usize>) -> impl Strategy<Value = (Vec<Vec<f32>>, Vec<Vec<f32>>)> {
        (1usize..40).prop_flat_map(move |width| {
            let vector = || prop::collection::vec(number(), width);
            (prop::collection::vec(vector(), count.clone()), prop::collection::vec(vector(), 1..9))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_is_found_is_what_comparing_all_in_f64_finds(
            (rows, queries) in vectors(1..60),
            metric in prop::sample::select(vec![Metric::Cosine, Metric::Dot, Metric::L2]),
            top_k in 1usize..12,
        ) {
            let index = index(&rows, metric);
            let wanted: Vec<Wanted<'_>> = queries.iter().map(|vector| Wanted { vector, top_k }).collect();
            let together = index.nearest(&wanted);
            for (query, found) in queries.iter().zip(&together) {
                prop_assert_eq!(pairs(found), brute_force(&rows, metric, query, top_k));
            }
            for (wanted, found) in wanted.iter().zip(&together) {
                prop_assert_eq!(&index.nearest(&[*wanted])[0], found);
            }
        }
    }

    #[test]
    fn rows_and_queries_beyond_one_block_change_nothing() {
        // Many equal and nearly equal vectors, over several blocks of rows and of queries.
        let row = |i: usize| (0..5).map(|j| ((i * 7 + j * 3) % 50) as f32 * 0.1 + (i % 3) as f32 * 1e-7).collect();
        let rows: Vec<Vec<f32>> = (0..2500).map(row).collect();
        for metric in [Metric::Cosine, Metric::Dot, Metric::L2] {
            let index = index(&rows, metric);
            let wanted: Vec<Wanted<'_>> = rows.iter().take(300).map(|vector| Wanted { vector, top_k: 4 }).collect();
            let found = index.nearest(&wanted);
            assert_eq!(found.len(), 300);
            for query in (0..300).step_by(37) {
                assert_eq!(pairs(&found[query]), brute_force(&rows, metric, &rows[query], 4));
                assert_eq!(index.nearest(&wanted[query..=query])[0], found[query]);
            }
        }
    }
}

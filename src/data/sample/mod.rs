//! Parts of a dataset, as folders of their own that its adapter reads like the whole.

mod algorithm;
mod beir;
mod csv_file;
mod drawn;
mod financebench;
mod json_file;
mod layout;
mod lines_file;
mod locomo;
mod openviking;
mod pool;
mod python_random;
mod qasper;
mod question_file;
mod sample_error;
mod stable;
mod syllabusqa;
mod uda;
mod write;

pub use algorithm::{Algorithm, Mode, Part};
pub use python_random::PythonRandom;
pub use sample_error::SampleError;
pub use write::{METADATA_FILE, check_support, is_supported, sample};

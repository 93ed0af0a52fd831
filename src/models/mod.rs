//! Model files of embedders that run in process: which there are, where they are kept, and how they get there.

mod catalog;
mod download;
mod fetch;
mod model_error;
mod model_home;

pub use catalog::{CATALOG, CatalogFile, CatalogModel};
pub use fetch::{Fetched, FetchedFile, ModelSource, Notice, fetch};
pub use model_error::{ModelError, ModelErrorKind};
pub use model_home::{ModelHome, check_name};

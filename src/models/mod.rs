//! Model files of embedders that run in process: which there are, where they are kept, and how they get there.

mod catalog;
mod fetch;
mod model_home;

pub(crate) use catalog::nearest_name;
pub use catalog::{CATALOG, CatalogFile, CatalogModel};
pub use fetch::{Fetched, FetchedFile, ModelSource, fetch};
pub use model_home::{ModelHome, check_name};

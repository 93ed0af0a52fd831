//! Which part of a dataset is wanted.

/// Which part of a dataset is wanted; all of it where neither number is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// How many documents.
    pub documents: Option<u64>,
    /// How many questions.
    pub questions: Option<u64>,
    /// Whether exactly so many questions are drawn where only their number is given. Else documents keep all of theirs.
    pub exact: bool,
    /// Seed of the draw.
    pub seed: u64,
    /// How it is drawn.
    pub algorithm: Algorithm,
}

/// How a part is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Ours: by a hash of seed and id.
    Stable,
    /// OpenViking's (spec/openviking 3.4).
    OpenViking(Mode),
}

/// How OpenViking draws questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// As many of each category.
    Stratified,
    /// Whatever their category.
    Random,
}

impl Algorithm {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Stable => "stable",
            Algorithm::OpenViking(_) => "openviking",
        }
    }
}

impl Mode {
    /// Its name on the command line and in OpenViking's metadata.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Stratified => "stratified",
            Mode::Random => "random",
        }
    }
}

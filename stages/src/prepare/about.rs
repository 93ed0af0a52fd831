//! What is known of a public dataset, whichever part of it is evaluated.

/// A public dataset that an adapter reads: what `ragstage data info` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// Its name on the command line. It is the adapter's, but where an adapter reads several.
    pub name: &'static str,
    /// The name of the adapter that reads it.
    pub adapter: &'static str,
    /// What its authors call it.
    pub title: &'static str,
    /// One sentence on what it asks.
    pub task: &'static str,
    /// Where it is from.
    pub homepage: &'static str,
    /// Its licence, as its authors state it, or that they state none.
    pub license: &'static str,
    /// How to cite it.
    pub citation: &'static str,
    /// The release or commit that the counts are of.
    pub version: &'static str,
    /// Which documents and cases share a knowledge base.
    pub units: &'static str,
    /// How many there are of what, in the whole dataset.
    pub counts: &'static [Count],
    /// The categories of its cases, by the label's words.
    pub categories: &'static [Category],
    /// What the adapter leaves out.
    pub left_out: &'static [LeftOut],
    /// The evaluators, in evaluator grammar, of an evaluation that names none.
    pub evaluators: &'static [&'static str],
    /// What to know before numbers are compared.
    pub notes: &'static [&'static str],
}

/// How many of something a dataset has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Of what, in the plural.
    pub what: &'static str,
    /// How many.
    pub count: u64,
}

/// A category of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Category {
    /// The word in labels and reports.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// How many cases of the whole dataset are of it.
    pub cases: u64,
}

/// What an adapter leaves out of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftOut {
    /// What.
    pub what: &'static str,
    /// Why.
    pub why: &'static str,
    /// How many of the whole dataset.
    pub count: u64,
}

/// All public datasets that adapters read, by name.
pub static DATASETS: &[&About] = &[];

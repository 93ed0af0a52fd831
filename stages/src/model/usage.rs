//! How many tokens calls took.

use serde::{Deserialize, Serialize};

/// Tokens of one or more calls of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Who counted.
    pub source: UsageSource,
}

/// Who counted tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The server said so.
    #[default]
    Server,
    /// The server said nothing: counted here in tokens of cl100k_base, which need not be the model's.
    Counted,
}

impl Usage {
    /// Both together; counted where either is.
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(other.completion_tokens),
            source: self.source.max(other.source),
        }
    }
}

/// What a case took of one model; part of an observation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ModelUsage {
    /// The model, as the evaluation file names it.
    pub model: String,
    /// How many calls.
    pub calls: u64,
    /// Their tokens.
    pub usage: Usage,
    /// Billionths of a US dollar at the price of the run that asked.
    pub nano_usd: u64,
}

impl ModelUsage {
    /// Adds `other` to the entry of its model.
    pub fn add_to(list: &mut Vec<ModelUsage>, other: &ModelUsage) {
        match list.iter_mut().find(|known| known.model == other.model) {
            Some(known) => {
                known.calls += other.calls;
                known.usage = known.usage.plus(other.usage);
                known.nano_usd = known.nano_usd.saturating_add(other.nano_usd);
            }
            None => list.push(other.clone()),
        }
    }
}

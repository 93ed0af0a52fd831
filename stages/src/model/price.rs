//! What a model costs.

use serde::{Deserialize, Serialize};

use super::usage::Usage;
use crate::contract::Spend;

/// US dollars per million tokens. In no key: what a call cost is an observation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Price {
    /// Of tokens that are read.
    pub input_per_million: f64,
    /// Of tokens that are written.
    pub output_per_million: f64,
}

impl Price {
    /// What `usage` costs, rounded to the nearest billionth of a dollar.
    pub fn spend(&self, usage: &Usage) -> Spend {
        let nano = |tokens: u64, per_million: f64| (tokens as f64 * per_million * 1e3).round().max(0.0) as u64;
        Spend {
            tokens: usage.prompt_tokens.saturating_add(usage.completion_tokens),
            nano_usd: nano(usage.prompt_tokens, self.input_per_million)
                .saturating_add(nano(usage.completion_tokens, self.output_per_million)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::UsageSource;

    #[test]
    fn a_spend_is_tokens_and_money() {
        let price = Price { input_per_million: 0.15, output_per_million: 0.6 };
        let usage = Usage { prompt_tokens: 1000, completion_tokens: 10, source: UsageSource::Server };
        assert_eq!(price.spend(&usage), Spend { tokens: 1010, nano_usd: 150_000 + 6_000 });
        // 48 * 0.4 is no number of binary floating point.
        let usage = Usage { prompt_tokens: 48, completion_tokens: 0, source: UsageSource::Server };
        let price = Price { input_per_million: 0.4, output_per_million: 0.0 };
        assert_eq!(price.spend(&usage).nano_usd, 19_200);
    }
}

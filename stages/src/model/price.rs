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

/// US dollars for people: with `decimals` of them, or more where the first two digits that are not 0 need more.
pub fn dollars(usd: f64, decimals: usize) -> String {
    let needed = if usd > 0.0 { (-usd.log10()).ceil().clamp(0.0, 9.0) as usize + 1 } else { 0 };
    format!("{usd:.*}", needed.max(decimals))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::UsageSource;

    #[test]
    fn a_small_amount_keeps_two_digits() {
        for (usd, decimals, expected) in [
            (0.0, 6, "0.000000"),
            (8e-7, 6, "0.00000080"),
            (1.25e-6, 6, "0.0000013"),
            (0.000_012, 6, "0.000012"),
            (0.5, 6, "0.500000"),
            (12.0, 4, "12.0000"),
            (0.001, 4, "0.0010"),
            (0.000_123, 4, "0.00012"),
            (1e-12, 4, "0.0000000000"),
        ] {
            assert_eq!(dollars(usd, decimals), expected);
        }
    }

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

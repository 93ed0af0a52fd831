//! What a run spends and what its caches save, and the budget that it keeps.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ragstage_stages::contract::Spend;
use ragstage_stages::error::{RowError, RowErrorKind};
use ragstage_stages::model::dollars;
use serde::{Deserialize, Serialize};

/// What a run spent and saved.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Account {
    /// Tokens of the calls that were made.
    pub spent_tokens: u64,
    /// What they cost, in US dollars.
    pub spent_usd: f64,
    /// Tokens of the calls that caches made needless.
    pub saved_tokens: u64,
    /// What those had cost, in US dollars.
    pub saved_usd: f64,
    /// The budget, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
    /// Calls that were not made because the budget did not hold them.
    pub over_budget: u64,
}

/// Counts money, and says which calls may still begin. Shared by all pools of a run.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Billionths of a US dollar.
    budget: Option<u64>,
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    spent: Spend,
    /// What calls in flight may cost, in billionths of a US dollar.
    reserved: u64,
    saved: Spend,
    over_budget: u64,
}

/// Whether a call may begin.
pub enum Grant<'a> {
    /// It may; what it may cost is set aside for it.
    Given(Reservation<'a>),
    /// Not before calls in flight have landed and it is known what they cost.
    Later,
    /// It may not; `first` for the first call of the run of which that is true.
    Refused {
        /// What to say of its rows.
        error: RowError,
        /// Whether no call was refused before.
        first: bool,
    },
}

/// Money that is set aside for a call; given back on drop.
pub struct Reservation<'a> {
    ledger: &'a Ledger,
    nano_usd: u64,
}

impl Ledger {
    /// Nothing spent yet of `budget_usd`, where there is one.
    pub fn new(budget_usd: Option<f64>) -> Self {
        Ledger { budget: budget_usd.map(|usd| (usd * 1e9) as u64), book: Mutex::default() }
    }

    /// Asks for a call that costs `estimate` at most. What costs nothing is always given.
    pub fn reserve(&self, estimate: Spend) -> Grant<'_> {
        let mut book = self.book();
        let cost = estimate.nano_usd;
        if let Some(budget) = self.budget.filter(|_| cost > 0) {
            let left = budget.saturating_sub(book.spent.nano_usd);
            if cost > left {
                book.over_budget += 1;
                let message = format!(
                    "not asked: it may cost ${}, and ${} of the budget of ${} are left",
                    usd(cost),
                    usd(left),
                    usd(budget)
                );
                let error = RowError { attempts: 0, ..RowError::new(RowErrorKind::Budget, message) };
                return Grant::Refused { error, first: book.over_budget == 1 };
            }
            if cost > left.saturating_sub(book.reserved) {
                return Grant::Later;
            }
        }
        book.reserved = book.reserved.saturating_add(cost);
        Grant::Given(Reservation { ledger: self, nano_usd: cost })
    }

    /// Notes what was not spent, since it was there already.
    pub fn save(&self, spend: Spend) {
        let mut book = self.book();
        book.saved = book.saved.plus(spend);
    }

    /// What was spent and saved so far; `None` where there is nothing of either.
    pub fn account(&self) -> Option<Account> {
        let book = self.book();
        let account = Account {
            spent_tokens: book.spent.tokens,
            spent_usd: book.spent.usd(),
            saved_tokens: book.saved.tokens,
            saved_usd: book.saved.usd(),
            budget_usd: self.budget.map(|nano_usd| Spend { tokens: 0, nano_usd }.usd()),
            over_budget: book.over_budget,
        };
        let any = book.spent != Spend::default() || book.saved != Spend::default() || book.over_budget > 0;
        any.then_some(account)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation<'_> {
    /// The call has landed: what it cost takes the place of what it might have cost.
    pub fn settle(mut self, spent: Spend) {
        let mut book = self.ledger.book();
        book.spent = book.spent.plus(spent);
        book.reserved = book.reserved.saturating_sub(std::mem::take(&mut self.nano_usd));
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.nano_usd > 0 {
            let mut book = self.ledger.book();
            book.reserved = book.reserved.saturating_sub(self.nano_usd);
        }
    }
}

/// Billionths of a dollar as dollars: four decimals, more where there would be nothing to see.
fn usd(nano_usd: u64) -> String {
    Account::money(Spend { tokens: 0, nano_usd }.usd())
}

impl Account {
    /// US dollars for people: four decimals, or the first two digits that are not 0.
    pub fn money(usd: f64) -> String {
        dollars(usd, 4)
    }

    /// Tokens for people: `4,100`.
    pub fn count(tokens: u64) -> String {
        let digits = tokens.to_string();
        let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
        for (position, digit) in digits.chars().enumerate() {
            if position > 0 && (digits.len() - position).is_multiple_of(3) {
                shown.push(',');
            }
            shown.push(digit);
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(nano_usd: u64) -> Spend {
        Spend { tokens: 10, nano_usd }
    }

    fn given(grant: Grant<'_>) -> Reservation<'_> {
        match grant {
            Grant::Given(reservation) => reservation,
            Grant::Later => panic!("has to wait"),
            Grant::Refused { error, .. } => panic!("{error}"),
        }
    }

    #[test]
    fn a_call_begins_only_if_the_budget_holds_it_whatever_lands() {
        let ledger = Ledger::new(Some(1e-6));
        let first = given(ledger.reserve(cost(600)));
        assert!(matches!(ledger.reserve(cost(500)), Grant::Later), "600 may be needed");
        first.settle(cost(500));
        let second = given(ledger.reserve(cost(500)));
        drop(second);
        match ledger.reserve(cost(501)) {
            Grant::Refused { error, first } => {
                assert!(first);
                assert_eq!(
                    error.to_string(),
                    "over_budget: not asked: it may cost $0.00000050, and $0.00000050 of the budget of $0.0000010 are left"
                );
            }
            _ => panic!("501 are more than is left"),
        }
        assert!(matches!(ledger.reserve(cost(502)), Grant::Refused { first: false, .. }));
        given(ledger.reserve(cost(500))).settle(cost(500));
        given(ledger.reserve(Spend { tokens: 7, nano_usd: 0 })).settle(Spend { tokens: 7, nano_usd: 0 });
        let account = ledger.account().expect("money was spent");
        assert_eq!((account.spent_tokens, account.spent_usd, account.over_budget), (27, 1e-6, 2));
    }

    #[test]
    fn without_a_budget_everything_is_given_and_counted() {
        let ledger = Ledger::new(None);
        assert_eq!(ledger.account(), None);
        let all: Vec<_> = (0..3).map(|_| given(ledger.reserve(cost(u64::MAX)))).collect();
        all.into_iter().for_each(|reservation| reservation.settle(cost(2)));
        ledger.save(cost(5));
        let account = ledger.account().expect("an account");
        assert_eq!((account.spent_tokens, account.spent_usd), (30, 6e-9));
        assert_eq!((account.saved_tokens, account.saved_usd, account.budget_usd), (10, 5e-9, None));
    }

    #[test]
    fn sums_read_well() {
        assert_eq!([0, 999, 4100, 1234567].map(Account::count), ["0", "999", "4,100", "1,234,567"]);
        assert_eq!([0.0, 0.0123, 12.5, 0.00042].map(Account::money), ["0.0000", "0.0123", "12.5000", "0.00042"]);
    }
}

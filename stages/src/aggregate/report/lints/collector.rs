//! All lints, found along with the rest of the report in one pass over the cases.

use super::constant_scores::ConstantScores;
use super::dangling_gold::DanglingGold;
use super::document_ids::DocumentIds;
use super::duplicate_hits::DuplicateHits;
use super::known_documents::KnownDocuments;
use super::lint::{Lint, counted};
use super::names::LINTS;
use super::no_qrels;
use super::retrieval_bypass::RetrievalBypass;
use super::self_hit::SelfHit;
use super::small_n;
use super::ties::Ties;
use super::unjudged_heavy::UnjudgedHeavy;
use crate::aggregate::case_list::CaseList;
use crate::aggregate::report::case_response::CaseResponse;
use crate::aggregate::series::Series;
use crate::aggregate::{GateOutcome, GateSpec, PlannedQuery};
use crate::artifact::{Documents, Golds};
use crate::prepare::QRELS_WITHOUT_QUERY;
use crate::score::ranked_documents;

/// What was seen so far.
pub(in crate::aggregate::report) struct Lints<'a> {
    cases: &'a CaseList,
    plan: &'a [PlannedQuery],
    documents: KnownDocuments<'a>,
    /// `None` where neither the gold nor all results are looked at: what is found by looking at all of them is not looked for.
    gold: Option<DanglingGold>,
    /// What the gold alone tells.
    of_gold: Option<Lint>,
    columns: Vec<Column>,
}

/// What was seen of one planned query.
struct Column {
    document_ids: DocumentIds,
    duplicates: DuplicateHits,
    unjudged: UnjudgedHeavy,
    ties: Ties,
    self_hits: SelfHit,
    bypass: RetrievalBypass,
    /// In the order of the evaluators.
    scores: Vec<ConstantScores>,
}

impl<'a> Lints<'a> {
    /// Looks at the gold, where there is time for it: only then are results looked at too.
    pub(in crate::aggregate::report) fn begin(
        cases: &'a CaseList,
        plan: &'a [PlannedQuery],
        golds: Option<&Golds>,
        documents: &'a Documents,
    ) -> Self {
        let documents = KnownDocuments::of(documents);
        let column = |planned: &PlannedQuery| Column {
            document_ids: DocumentIds::default(),
            duplicates: DuplicateHits::default(),
            unjudged: UnjudgedHeavy::default(),
            ties: Ties::of(planned),
            self_hits: SelfHit::default(),
            bypass: RetrievalBypass::default(),
            scores: planned.evaluators.iter().map(|_| ConstantScores::default()).collect(),
        };
        let gold = golds.map(|golds| DanglingGold::of(cases, golds, &documents));
        let of_gold = golds.and_then(no_qrels::lint);
        Lints { cases, plan, documents, gold, of_gold, columns: plan.iter().map(column).collect() }
    }

    /// Looks at a case of the planned query at `column`.
    pub(in crate::aggregate::report) fn see(&mut self, column: usize, case: &CaseResponse<'_>) {
        let Some(column) = self.columns.get_mut(column) else { return };
        let case_id = &case.query.case_id;
        if let (Some(retrieved), Some(gold)) = (case.retrieved, &mut self.gold) {
            gold.see(&retrieved.results);
            column.document_ids.see(case_id, &retrieved.results, &self.documents);
            column.duplicates.see(case_id, &retrieved.results);
            column.ties.see(case_id, &retrieved.results);
            let documents = ranked_documents(&retrieved.results);
            column.self_hits.see(case_id, &documents);
            column.bypass.see(case_id, case.unit_documents, &documents);
            if let Some(gold) = case.gold {
                column.unjudged.see(case_id, gold, &documents);
            }
        }
    }

    /// Looks at the scores that the planned query at `column` gave, by evaluator.
    pub(in crate::aggregate::report) fn see_scores(&mut self, column: usize, series: &[Series]) {
        let Some(column) = self.columns.get_mut(column) else { return };
        for (scores, series) in column.scores.iter_mut().zip(series) {
            for entry in 0..self.cases.len() {
                if let Some(value) = series.outcome(self.cases, entry).value {
                    scores.see(self.cases.query(entry).case_id, &value);
                }
            }
        }
    }

    /// All that is to be told, once every case was seen, but what is `silenced` by name.
    pub(in crate::aggregate::report) fn finish(
        self,
        gates: &[(&GateSpec, GateOutcome)],
        known: &[(String, String)],
        silenced: &[String],
    ) -> Vec<Lint> {
        let names_documents = self.gold.as_ref().is_some_and(DanglingGold::names_documents);
        let mut lints = self.gold.map(|gold| gold.lints(self.cases)).unwrap_or_default();
        lints.extend(self.of_gold);
        lints.extend(small_n::lints(gates));
        lints.extend(known.iter().filter_map(|(name, message)| {
            let name = LINTS.into_iter().find(|known| known == name)?;
            Some(Lint { name, message: message.clone(), cases: Vec::new(), count: 1 })
        }));
        let metadata = &self.cases.units.benchmark.metadata;
        if let Some(count) =
            metadata.get(QRELS_WITHOUT_QUERY).and_then(|count| count.as_u64()).filter(|count| *count > 0)
        {
            let message = format!("the queries of {} are not in the benchmark", counted(count, "judgement"));
            lints.push(Lint { name: "qrels-without-query", message, cases: Vec::new(), count });
        }
        for (planned, column) in self.plan.iter().zip(self.columns) {
            lints.extend(column.document_ids.lint(planned).filter(|_| names_documents));
            lints.extend(column.duplicates.lint(planned));
            lints.extend(column.unjudged.lint(planned));
            lints.extend(column.ties.lint(planned));
            lints.extend(column.self_hits.lint(planned));
            lints.extend(column.bypass.lint(planned));
            let scores = planned.evaluators.iter().zip(column.scores);
            lints.extend(scores.filter_map(|(evaluator, scores)| scores.lint(planned, evaluator)));
        }
        lints.retain(|lint| !silenced.iter().any(|name| name == lint.name));
        lints
    }
}

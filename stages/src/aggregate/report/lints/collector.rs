//! All lints, found along with the rest of the report in one pass over the cases.

use super::constant_scores::ConstantScores;
use super::dangling_gold::DanglingGold;
use super::document_ids::DocumentIds;
use super::duplicate_hits::DuplicateHits;
use super::known_documents::KnownDocuments;
use super::lint::{Lint, counted};
use crate::aggregate::PlannedQuery;
use crate::aggregate::case_list::CaseList;
use crate::aggregate::report::case_response::CaseResponse;
use crate::artifact::{Documents, Golds};
use crate::prepare::QRELS_WITHOUT_QUERY;

/// What was seen so far.
pub(in crate::aggregate::report) struct Lints<'a> {
    cases: &'a CaseList,
    plan: &'a [PlannedQuery],
    documents: KnownDocuments<'a>,
    gold: DanglingGold,
    columns: Vec<Column>,
}

/// What was seen of one planned query.
struct Column {
    document_ids: DocumentIds,
    duplicates: DuplicateHits,
    /// In the order of the evaluators.
    scores: Vec<ConstantScores>,
}

impl<'a> Lints<'a> {
    /// Looks at the gold.
    pub(in crate::aggregate::report) fn begin(
        cases: &'a CaseList,
        plan: &'a [PlannedQuery],
        golds: &Golds,
        documents: &'a Documents,
    ) -> Self {
        let documents = KnownDocuments::of(documents);
        let column = |planned: &PlannedQuery| Column {
            document_ids: DocumentIds::default(),
            duplicates: DuplicateHits::default(),
            scores: planned.evaluators.iter().map(|_| ConstantScores::default()).collect(),
        };
        let gold = DanglingGold::of(cases, golds, &documents);
        Lints { cases, plan, documents, gold, columns: plan.iter().map(column).collect() }
    }

    /// Looks at a case of the planned query at `column`.
    pub(in crate::aggregate::report) fn see(&mut self, column: usize, case: &CaseResponse<'_>) {
        let Some(column) = self.columns.get_mut(column) else { return };
        let case_id = &case.query.case_id;
        if let Some(retrieved) = case.retrieved {
            self.gold.see(&retrieved.results);
            column.document_ids.see(case_id, &retrieved.results, &self.documents);
            column.duplicates.see(case_id, &retrieved.results);
        }
        for (scores, (_, outcome)) in column.scores.iter_mut().zip(&case.scores) {
            if let Some(value) = outcome.value {
                scores.see(case_id, value);
            }
        }
    }

    /// All that is to be told, once every case was seen.
    pub(in crate::aggregate::report) fn finish(self) -> Vec<Lint> {
        let names_documents = self.gold.names_documents();
        let mut lints = self.gold.lints(self.cases);
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
            let scores = planned.evaluators.iter().zip(column.scores);
            lints.extend(scores.filter_map(|(evaluator, scores)| scores.lint(planned, evaluator)));
        }
        lints
    }
}

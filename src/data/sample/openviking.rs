//! OpenViking's selections, to the last question (spec/openviking 3.4).

use std::collections::{BTreeMap, HashSet};

use super::algorithm::Mode;
use super::drawn::{Drawn, DrawnDocument};
use super::pool::{Pool, PoolDocument};
use super::python_random::PythonRandom;
use super::sample_error::SampleError;

/// The four datasets differ in how their scripts draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// `sample` of documents; questions keep their order.
    Locomo,
    /// `sample` of documents; questions in drawn order.
    SyllabusQa,
    /// The documents with most questions where questions are drawn too; questions keep their order.
    Qasper,
    /// The documents with most questions; questions in drawn order.
    FinanceBench,
}

/// A question by the position of its document and its own.
type At = (usize, usize);

/// Draws from `pool`.
///
/// # Errors
/// Where the original crashes: fewer questions than categories.
pub fn draw(
    script: Script,
    pool: &Pool,
    documents: Option<usize>,
    questions: Option<usize>,
    mode: Mode,
    seed: u64,
) -> Result<Drawn, SampleError> {
    let draw = Draw { script, pool, seed };
    match (documents, questions) {
        (None, None) => Ok(Drawn::whole(pool, 0..pool.documents.len())),
        (Some(documents), None) => Ok(Drawn::whole(pool, draw.documents(documents, false))),
        (Some(documents), Some(questions)) => {
            let documents = draw.documents(documents, true);
            let taken = match mode {
                Mode::Stratified => draw.stratified(&documents, questions)?,
                Mode::Random => draw.random(&documents, questions),
            };
            Ok(draw.kept(&documents, &taken))
        }
        (None, Some(questions)) => {
            let documents = match mode {
                Mode::Stratified => draw.whole_stratified(questions)?,
                Mode::Random => draw.whole_random(questions),
            };
            Ok(Drawn::whole(pool, documents))
        }
    }
}

struct Draw<'a> {
    script: Script,
    pool: &'a Pool,
    seed: u64,
}

impl Draw<'_> {
    fn generator(&self) -> PythonRandom {
        PythonRandom::new(self.seed)
    }

    fn document(&self, document: usize) -> &PoolDocument {
        &self.pool.documents[document]
    }

    fn category(&self, (document, question): At) -> Option<&str> {
        self.document(document).questions[question].category.as_deref()
    }

    /// Algorithm A: positions of documents, in drawn order.
    fn documents(&self, count: usize, with_questions: bool) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.pool.documents.len()).collect();
        if count >= all.len() {
            return all;
        }
        let mut generator = self.generator();
        let is_by_count = match self.script {
            Script::Locomo | Script::SyllabusQa => false,
            Script::Qasper => with_questions,
            Script::FinanceBench => true,
        };
        if !is_by_count {
            return generator.sample(&all, count);
        }
        let most_first = |all: &mut Vec<usize>| all.sort_by_key(|d| std::cmp::Reverse(self.document(*d).asked()));
        if self.script == Script::FinanceBench {
            most_first(&mut all);
        }
        generator.shuffle(&mut all);
        most_first(&mut all);
        all.truncate(count);
        all
    }

    /// The asked questions of `documents`, in their order, by category.
    fn by_category(&self, documents: &[usize]) -> BTreeMap<&str, Vec<At>> {
        let mut categories: BTreeMap<&str, Vec<At>> = BTreeMap::new();
        for at in self.asked(documents) {
            if let Some(category) = self.category(at) {
                categories.entry(category).or_default().push(at);
            }
        }
        categories
    }

    /// The asked questions of `documents`, in their order.
    fn asked(&self, documents: &[usize]) -> Vec<At> {
        let of = |document: &usize| {
            let document = *document;
            (0..self.document(document).questions.len()).map(move |question| (document, question))
        };
        documents.iter().flat_map(of).filter(|at| self.category(*at).is_some()).collect()
    }

    /// As [`Draw::asked`], but by category, these in the order of their first questions.
    fn asked_by_first_category(&self, documents: &[usize]) -> Vec<At> {
        let mut categories: Vec<(&str, Vec<At>)> = Vec::new();
        for at in self.asked(documents) {
            let Some(category) = self.category(at) else { continue };
            match categories.iter_mut().find(|(known, _)| *known == category) {
                Some((_, questions)) => questions.push(at),
                None => categories.push((category, vec![at])),
            }
        }
        categories.into_iter().flat_map(|(_, questions)| questions).collect()
    }

    /// How many questions of each category, in their order.
    fn targets(categories: usize, questions: usize) -> impl Iterator<Item = usize> {
        (0..categories).map(move |i| questions / categories + usize::from(i < questions % categories))
    }

    fn up_to(&self, list: Vec<At>, questions: usize) -> Vec<At> {
        if list.len() > questions { self.generator().sample(&list, questions) } else { list }
    }

    /// Algorithm B, stratified: questions in sampled order.
    fn stratified(&self, documents: &[usize], questions: usize) -> Result<Vec<At>, SampleError> {
        let categories = self.by_category(documents);
        if questions < categories.len() {
            if self.script == Script::Qasper {
                return Err(too_few(questions, categories.len()));
            }
            return Ok(self.up_to(self.asked_by_first_category(documents), questions));
        }
        let mut generator = self.generator();
        let mut taken: Vec<At> = Vec::new();
        // What cannot be taken again: questions are told apart by their content.
        let mut contents: HashSet<At> = HashSet::new();
        for (list, target) in categories.values().zip(Self::targets(categories.len(), questions)) {
            let mut shuffled = list.clone();
            generator.shuffle(&mut shuffled);
            taken.extend(shuffled.into_iter().take(target));
        }
        contents.extend(taken.iter().map(|at| self.first(*at)));
        while taken.len() < questions {
            let before = taken.len();
            for list in categories.values() {
                if taken.len() >= questions {
                    break;
                }
                if list.iter().all(|at| contents.contains(&self.first(*at))) {
                    continue;
                }
                let mut shuffled = list.clone();
                generator.shuffle(&mut shuffled);
                if let Some(next) = shuffled.into_iter().find(|at| !contents.contains(&self.first(*at))) {
                    contents.insert(self.first(next));
                    taken.push(next);
                }
            }
            if taken.len() == before {
                break;
            }
        }
        Ok(taken)
    }

    /// The first question of the same content.
    fn first(&self, (document, question): At) -> At {
        (document, self.document(document).questions[question].same)
    }

    /// Algorithm B, random: questions in sampled order.
    fn random(&self, documents: &[usize], questions: usize) -> Vec<At> {
        let list = match self.script {
            Script::Locomo => documents.iter().flat_map(|d| self.asked_by_first_category(&[*d])).collect(),
            _ => self.asked(documents),
        };
        self.up_to(list, questions)
    }

    /// `documents` with the questions of `taken`, and with those that are not asked. Questions are found again by their
    /// content, so that of equal ones the first stays.
    fn kept(&self, documents: &[usize], taken: &[At]) -> Drawn {
        let of = |&document: &usize| {
            let questions = &self.document(document).questions;
            let mut kept: Vec<usize> = Vec::new();
            for at in taken.iter().filter(|at| at.0 == document) {
                let (_, question) = self.first(*at);
                if !kept.contains(&question) {
                    kept.push(question);
                }
            }
            kept.extend((0..questions.len()).filter(|question| questions[*question].category.is_none()));
            if matches!(self.script, Script::Locomo | Script::Qasper) {
                kept.sort_unstable();
            }
            DrawnDocument { document, questions: kept }
        };
        Drawn { documents: documents.iter().map(of).collect() }
    }

    /// Algorithm C, random: documents in the order in which they are taken.
    fn whole_random(&self, questions: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.pool.documents.len()).collect();
        self.generator().shuffle(&mut all);
        let (mut taken, mut total) = (Vec::new(), 0);
        for document in all {
            let asked = self.document(document).asked();
            if asked == 0 {
                continue;
            }
            if total + asked <= questions || taken.is_empty() {
                taken.push(document);
                total += asked;
            } else if total >= questions {
                break;
            }
        }
        taken
    }

    /// Algorithm C, stratified: documents in the order in which they are taken.
    fn whole_stratified(&self, questions: usize) -> Result<Vec<usize>, SampleError> {
        let all: Vec<usize> = (0..self.pool.documents.len()).collect();
        let categories = self.by_category(&all);
        if questions < categories.len() {
            return Err(too_few(questions, categories.len()));
        }
        let mut generator = self.generator();
        let mut taken: Vec<usize> = Vec::new();
        for ((category, list), target) in categories.iter().zip(Self::targets(categories.len(), questions)) {
            let mut shuffled = list.clone();
            generator.shuffle(&mut shuffled);
            let mut count: usize = taken.iter().map(|document| self.document(*document).asked_of(category)).sum();
            for (document, _) in shuffled {
                if count >= target {
                    break;
                }
                let more = self.document(document).asked_of(category);
                if taken.contains(&document) || count + more > target {
                    continue;
                }
                taken.push(document);
                count += more;
            }
        }
        Ok(taken)
    }
}

fn too_few(questions: usize, categories: usize) -> SampleError {
    SampleError::Refused {
        what: format!(
            "expected at least as many questions as there are categories ({categories}), found {questions}: OpenViking's \
             stratified sampling has no result for fewer"
        ),
        hint: "use --mode random, or leave --algorithm openviking out".to_string(),
    }
}

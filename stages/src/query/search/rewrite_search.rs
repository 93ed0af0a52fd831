//! `rewrite_search`: another mode, asked with several wordings.

use std::collections::BTreeSet;
use std::time::Instant;

use ragstage_cache::KeyVisitor;
use serde_json::{Value, json};

use super::distinct_asks::search_distinct;
use super::fusion::fuse;
use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::lexical_rewriter::LexicalRewriter;
use super::mode::SearchMode;
use super::on_failure::OnFailure;
use super::prompted_model::{PromptedModel, Question};
use super::searcher::{Ask, Found, Search};
use crate::artifact::Hit;
use crate::build::full_text::ANALYZER_VERSION;
use crate::contract::Context;
use crate::error::{RowError, StageError};
use crate::model::{ModelUsage, Prompt, ReplySchema};

/// Version of how wordings are asked for and their results fused, in the key of this mode and of those that ask it.
const REWRITE_VERSION: u64 = 1;

/// Most characters of a wording, so that three of them fit into the default of 128 tokens.
const LONGEST_WORDING: usize = 120;

/// Another mode, asked with several wordings of the query; their results are fused by reciprocal rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RewriteSearch {
    /// The mode that is asked.
    pub base: Box<SearchMode>,
    /// How many wordings beside the query itself, at most.
    pub variants: u32,
    /// Whether the query itself is asked as well, first. It is in any case where there is no other wording.
    pub include_original: bool,
    /// Who finds them.
    pub by: Rewriter,
    /// The constant of the fusion.
    pub rrf_k: f64,
    /// What becomes of a case for which the model gave no usable reply.
    pub on_failure: OnFailure,
}

/// Who finds other wordings.
#[derive(Debug, Clone, PartialEq)]
pub enum Rewriter {
    /// A chat model. Its prompt is given `query` and `variants`, how many wordings are wanted.
    Llm(PromptedModel),
    /// The query's words without stop words, its parts, and its longer words; no model.
    Lexical,
}

impl RewriteSearch {
    /// The prompt that a chat model is given by default.
    pub fn prompt() -> Prompt {
        Prompt::new(include_str!("prompts/rewrite.md"))
    }

    /// An example of what a prompt is filled with.
    pub fn example() -> Value {
        json!({"query": "a query", "variants": 3})
    }

    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        self.base.reads(artifacts);
    }

    pub(super) fn walk(&self, name: &str, kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "rewrite");
        v.uint("rewrite_version", REWRITE_VERSION);
        self.base.walk("base_mode", kb, v);
        v.uint("variants", u64::from(self.variants));
        v.bool("include_original", self.include_original);
        match &self.by {
            Rewriter::Llm(model) => model.walk("llm", v),
            Rewriter::Lexical => v.uint("analyzer_version", ANALYZER_VERSION),
        }
        v.float("rrf_k", self.rrf_k);
        v.bool("base_on_failure", self.on_failure == OnFailure::Base);
        v.end();
    }

    pub(super) fn open<'a>(
        &'a self,
        context: &dyn Context,
        kb: &'a KnowledgeBase,
    ) -> Result<Box<dyn Search + 'a>, StageError> {
        Ok(Box::new(Open { mode: self, base: self.base.open(context, kb)?, lexical: LexicalRewriter::new()? }))
    }

    pub(super) fn calls_models(&self) -> bool {
        matches!(self.by, Rewriter::Llm(_)) || self.base.calls_models()
    }
}

struct Open<'a> {
    mode: &'a RewriteSearch,
    base: Box<dyn Search + 'a>,
    lexical: LexicalRewriter,
}

/// The other wordings of one query.
#[derive(Default)]
struct Wordings {
    texts: Vec<String>,
    usage: Option<ModelUsage>,
    latency_ms: f64,
    /// Why there are none, where a model gave no usable reply.
    issue: Option<Value>,
}

impl Open<'_> {
    fn wordings(&self, context: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Wordings, RowError>>, StageError> {
        let most = self.mode.variants as usize;
        let model = match &self.mode.by {
            Rewriter::Lexical => {
                let alone = |ask: &Ask<'_>| {
                    let start = Instant::now();
                    let texts = self.lexical.wordings(ask.text, most);
                    Ok(Wordings { texts, latency_ms: start.elapsed().as_secs_f64() * 1e3, ..Wordings::default() })
                };
                return Ok(asks.iter().map(alone).collect());
            }
            Rewriter::Llm(model) => model,
        };
        let questions: Vec<Question<'_>> = asks
            .iter()
            .map(|ask| Question {
                label: ask.label,
                view: json!({"query": ask.text, "variants": most}),
                schema: queries_schema(most),
            })
            .collect();
        let replies = model.ask(context, &questions, &|_, text| read_queries(text, most))?;
        Ok(replies
            .into_iter()
            .map(|reply| match reply {
                Ok(reply) => Ok(Wordings {
                    texts: reply.value,
                    usage: Some(reply.usage),
                    latency_ms: reply.latency_ms,
                    issue: None,
                }),
                Err(error) => {
                    let issue = self.mode.on_failure.issue("rewrite_invalid_output", error)?;
                    Ok(Wordings { issue: Some(issue), ..Wordings::default() })
                }
            })
            .collect())
    }

    /// All that is asked for a case.
    fn queries<'q>(&self, original: &'q str, wordings: &'q Wordings) -> Vec<&'q str> {
        let others = wordings.texts.iter().map(String::as_str);
        if self.mode.include_original || wordings.texts.is_empty() {
            std::iter::once(original).chain(others.filter(|text| *text != original)).collect()
        } else {
            others.collect()
        }
    }

    /// What becomes of a case with what was found for each of its wordings.
    fn finish(
        &self,
        ask: &Ask<'_>,
        wordings: Wordings,
        lists: Vec<Result<Found, RowError>>,
    ) -> Result<Found, RowError> {
        let mut found = Found { latency_ms: wordings.latency_ms, ..Found::default() };
        wordings.usage.iter().for_each(|usage| ModelUsage::add_to(&mut found.usage, usage));
        let mut hits: Vec<Vec<Hit>> = Vec::with_capacity(lists.len());
        let mut nested: Vec<Value> = Vec::new();
        for list in lists {
            let list = list?;
            found.latency_ms += list.latency_ms;
            list.usage.iter().for_each(|usage| ModelUsage::add_to(&mut found.usage, usage));
            found.trace.extend(list.trace);
            hits.push(list.hits);
            nested.push(list.metadata.into());
        }
        let mut put = |name: &str, value: Value| found.metadata.insert(name.to_string(), value);
        put("base_mode", self.mode.base.name().into());
        match &self.mode.by {
            Rewriter::Llm(model) => {
                put("rewriter", "llm".into());
                put("rewriter_model", model.model.model.as_str().into());
            }
            Rewriter::Lexical => {
                put("rewriter", "lexical".into());
            }
        }
        put("variations", json!(wordings.texts));
        if nested.iter().any(|metadata| *metadata != json!({})) {
            put("base", nested.into());
        }
        found.hits = match wordings.issue {
            Some(issue) => {
                put("fallback", self.mode.base.name().into());
                put("issues", json!([issue]));
                hits.into_iter().next().unwrap_or_default()
            }
            None => {
                let lists: Vec<(f64, &[Hit])> = hits.iter().map(|hits| (1.0, hits.as_slice())).collect();
                fuse(&lists, self.mode.rrf_k, ask.top_k)
            }
        };
        found.trace.push(json!({
            "mode": "rewrite_search",
            "base_mode": self.mode.base.name(),
            "variations": wordings.texts,
            "result_count": found.hits.len(),
        }));
        Ok(found)
    }
}

impl Search for Open<'_> {
    fn search(&self, context: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Found, RowError>>, StageError> {
        let wordings = self.wordings(context, asks)?;
        let mut nested: Vec<Ask<'_>> = Vec::new();
        let mut counts: Vec<usize> = Vec::with_capacity(asks.len());
        for (ask, wordings) in asks.iter().zip(&wordings) {
            let queries = wordings.as_ref().map(|wordings| self.queries(ask.text, wordings)).unwrap_or_default();
            counts.push(queries.len());
            nested.extend(queries.into_iter().map(|text| Ask { text, ..*ask }));
        }
        let mut lists = search_distinct(&*self.base, context, &nested)?.into_iter();
        drop(nested);
        Ok(asks
            .iter()
            .zip(wordings)
            .zip(counts)
            .map(|((ask, wordings), count)| {
                let lists: Vec<Result<Found, RowError>> = lists.by_ref().take(count).collect();
                self.finish(ask, wordings?, lists)
            })
            .collect())
    }
}

fn queries_schema(most: usize) -> ReplySchema {
    ReplySchema {
        name: "queries",
        schema: json!({
            "type": "object",
            "properties": {
                "queries": {
                    "type": "array",
                    "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_WORDING},
                    "minItems": 1,
                    "maxItems": most,
                },
            },
            "required": ["queries"],
            "additionalProperties": false,
        }),
    }
}

#[derive(serde::Deserialize)]
struct QueriesReply {
    queries: Vec<String>,
}

/// The wordings of a reply: trimmed, each once, the first `most`.
fn read_queries(text: &str, most: usize) -> Result<Vec<String>, String> {
    let reply: QueriesReply =
        serde_json::from_str(text).map_err(|error| format!("expected {{\"queries\": [texts]}}: {error}"))?;
    let mut queries: Vec<String> = Vec::new();
    for query in reply.queries.iter().map(|query| query.trim()).filter(|query| !query.is_empty()) {
        if !queries.iter().any(|known| known == query) {
            queries.push(query.to_string());
        }
    }
    if queries.is_empty() {
        return Err("expected texts in `queries`, found none".to_string());
    }
    queries.truncate(most);
    Ok(queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_trimmed_told_apart_and_cut() {
        assert_eq!(read_queries(r#"{"queries": [" a ", "b", "a", "", "c", "d"]}"#, 3).unwrap(), ["a", "b", "c"]);
        assert_eq!(read_queries(r#"{"queries": [" "]}"#, 3).unwrap_err(), "expected texts in `queries`, found none");
        assert!(read_queries(r#"{"queries": [1]}"#, 3).unwrap_err().starts_with("expected {\"queries\": [texts]}: "));
    }

    #[test]
    fn the_prompt_takes_its_example() {
        let filled = RewriteSearch::prompt().fill(&RewriteSearch::example()).unwrap();
        assert!(filled.starts_with("Write 3 other wordings") && filled.ends_with("Question: a query"), "{filled}");
    }
}

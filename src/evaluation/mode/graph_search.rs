//! Options of `graph_search`.

use ragstage_stages::query::search::{GraphMatch, GraphRanking, GraphSearch, SearchMode};

use super::super::diagnostic::Faults;
use super::super::shape::{Choice, Field, Need, Range, Record, Shape};
use super::super::view::View;
use super::modes::Modes;

/// How likely the walk of `ranking: pagerank` goes on, where the file does not say; as in HippoRAG.
const DAMPING: f64 = 0.5;

/// What its options accept.
pub(super) static OPTIONS: Record = Record {
    name: "graph_search",
    doc: "Entities and relations near the query, and the chunks that speak of them; the graph is `recipe.graph`.",
    fields: &[
        Field {
            name: "match",
            doc: "How the query finds entities and relations.",
            shape: Shape::Choice(&[
                Choice { word: "lexical", doc: "by its words; needs no embedder" },
                Choice { word: "vector", doc: "by its vector; the recipe needs `embed`" },
            ]),
            need: Need::Default("\"lexical\""),
        },
        Field {
            name: "ranking",
            doc: "How chunks are ranked.",
            shape: Shape::Choice(&[
                Choice { word: "hits", doc: "by the entities and relations found, and their neighbours" },
                Choice { word: "pagerank", doc: "by personalised PageRank over the whole graph" },
            ]),
            need: Need::Default("\"hits\""),
        },
        Field {
            name: "damping",
            doc: "How likely the walk of `ranking: pagerank` goes on; 0.5 by default.",
            shape: Shape::Float(Range { min: 0.0, above_min: false, max: 1.0, below_max: true }),
            need: Need::Optional,
        },
        Field {
            name: "entity_limit",
            doc: "Most entities that a query finds; top_k, at least 20, by default.",
            shape: Shape::Int { min: 0, max: 10_000 },
            need: Need::Optional,
        },
        Field {
            name: "relation_limit",
            doc: "Most relations that a query finds; top_k, at least 20, by default.",
            shape: Shape::Int { min: 0, max: 10_000 },
            need: Need::Optional,
        },
        Field {
            name: "expand_limit",
            doc: "Most relations of an entity that are followed by `ranking: hits`.",
            shape: Shape::Int { min: 0, max: 10_000 },
            need: Need::Default("20"),
        },
        Field {
            name: "evidence_limit",
            doc: "Most chunks that one entity or relation may bring in by itself; as many as there are by default.",
            shape: Shape::Int { min: 1, max: 10_000 },
            need: Need::Optional,
        },
    ],
    together: &[],
};

pub(super) fn convert(view: &View<'_>, _: &Modes<'_>, faults: &mut Faults) -> Option<SearchMode> {
    let damping = view.get("damping");
    let ranking = match view.get("ranking").text() {
        Some("pagerank") => GraphRanking::PageRank { damping: damping.float().unwrap_or(DAMPING) },
        _ if damping.is_given() => {
            let hint = "add `ranking: pagerank`, or remove it".to_string();
            faults.add_hint(damping.start(), &damping.path, "`damping` has no meaning beside `ranking: hits`", hint);
            return None;
        }
        _ => GraphRanking::Hits,
    };
    let defaults = GraphSearch::default();
    Some(SearchMode::Graph(GraphSearch {
        matching: match view.get("match").text() {
            Some("vector") => GraphMatch::Vector,
            _ => GraphMatch::Lexical,
        },
        ranking,
        entity_limit: view.get("entity_limit").int(),
        relation_limit: view.get("relation_limit").int(),
        expand_limit: view.get("expand_limit").int().unwrap_or(defaults.expand_limit),
        evidence_limit: view.get("evidence_limit").int(),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::super::models::Models;
    use super::super::super::prompt::PromptFiles;
    use super::super::super::rerankers::Rerankers;
    use super::super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<SearchMode, Vec<String>> {
        let models = Models { list: Vec::new(), incomplete: false };
        let prompts = PromptFiles::new("".as_ref());
        let modes = Modes { models: &models, rerankers: &Rerankers::default(), prompts: &prompts };
        let mode = checked(text, &Shape::Record(&OPTIONS), |view, faults| convert(view, &modes, faults));
        mode.map(|mode| mode.expect("a mode without fault"))
    }

    #[test]
    fn defaults_are_those_of_the_mode() {
        assert_eq!(read("{}").unwrap(), SearchMode::Graph(GraphSearch::default()));
        assert_eq!(read(&spelled_out(OPTIONS.fields)).unwrap(), SearchMode::Graph(GraphSearch::default()));
    }

    #[test]
    fn every_option_is_read() {
        let text = "{match: vector, ranking: pagerank, damping: 0.5, entity_limit: 3, relation_limit: 0, \
                    expand_limit: 7, evidence_limit: 2}";
        let expected = GraphSearch {
            matching: GraphMatch::Vector,
            ranking: GraphRanking::PageRank { damping: 0.5 },
            entity_limit: Some(3),
            relation_limit: Some(0),
            expand_limit: 7,
            evidence_limit: Some(2),
        };
        assert_eq!(read(text).unwrap(), SearchMode::Graph(expected));
    }

    #[test]
    fn options_are_checked() {
        for (text, expected) in [
            (
                "{damping: 0.5}",
                "1:11 damping: `damping` has no meaning beside `ranking: hits` [add `ranking: pagerank`, or remove it]",
            ),
            ("{evidence_limit: 0}", "1:18 evidence_limit: expected a whole number from 1 to 10000, found 0"),
            ("{ranking: pagerank, damping: 1}", "1:30 damping: expected a number at least 0 and below 1, found 1"),
        ] {
            assert_eq!(read(text).unwrap_err(), [expected], "{text}");
        }
    }
}

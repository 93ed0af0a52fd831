//! Which nodes ask somebody else, and whom.

use std::collections::BTreeSet;

use ragstage_stages::build::graph::GraphExtractor;
use ragstage_stages::contract::Pool;
use ragstage_stages::model::EmbedderSpec;
use ragstage_stages::query::AnswerOptions;
use ragstage_stages::query::search::{KbArtifact, Planner, RerankBy, Rewriter, SearchMode};

use super::node::Spec;

impl Spec {
    /// The pools whose calls the node may make.
    pub fn pools(&self) -> BTreeSet<Pool> {
        let mut pools = BTreeSet::new();
        match self {
            Spec::Ingest { system, .. } if system.openviking.is_some() => drop(pools.insert(Pool::Ingest)),
            Spec::System { .. } | Spec::Ingest { .. } => drop(pools.insert(Pool::Queries)),
            Spec::Embed { embedder, .. } => embedder_calls(embedder, &mut pools),
            Spec::ExtractGraph { options } if matches!(options.extractor, GraphExtractor::Llm(_)) => {
                pools.insert(Pool::Llm);
            }
            Spec::Search { mode, embedder, .. } => {
                mode_calls(mode, &mut pools);
                let mut reads = BTreeSet::new();
                mode.reads(&mut reads);
                let vectors = [KbArtifact::VectorIndex, KbArtifact::GraphVectorIndex];
                if let Some(embedder) = embedder.as_deref().filter(|_| vectors.iter().any(|v| reads.contains(v))) {
                    embedder_calls(embedder, &mut pools);
                }
            }
            Spec::Answer { options, .. }
                if !matches!(options, AnswerOptions::Extractive(_) | AnswerOptions::System) =>
            {
                pools.insert(Pool::Llm);
            }
            Spec::Score { evaluator, .. } if evaluator.describe().model.is_some() => drop(pools.insert(Pool::Judge)),
            Spec::Score { evaluator, .. } if evaluator.program().is_some() => drop(pools.insert(Pool::Programs)),
            _ => {}
        }
        pools
    }
}

fn embedder_calls(embedder: &EmbedderSpec, pools: &mut BTreeSet<Pool>) {
    if matches!(embedder, EmbedderSpec::OpenAi(_)) {
        pools.insert(Pool::Embeddings);
    }
}

fn mode_calls(mode: &SearchMode, pools: &mut BTreeSet<Pool>) {
    let asks_llm = match mode {
        SearchMode::Hybrid(mode) => {
            mode.parts.iter().for_each(|part| mode_calls(&part.mode, pools));
            false
        }
        SearchMode::Rerank(mode) => {
            mode_calls(&mode.base, pools);
            if matches!(mode.by, RerankBy::Endpoint(_)) {
                pools.insert(Pool::Rerank);
            }
            matches!(mode.by, RerankBy::Llm { .. })
        }
        SearchMode::Rewrite(mode) => {
            mode_calls(&mode.base, pools);
            matches!(mode.by, Rewriter::Llm(_))
        }
        SearchMode::Multihop(mode) => {
            mode_calls(&mode.base, pools);
            matches!(mode.planner, Planner::Llm { .. })
        }
        SearchMode::FullText(_) | SearchMode::Vector(_) | SearchMode::Graph(_) => mode.calls_models(),
    };
    if asks_llm {
        pools.insert(Pool::Llm);
    }
}

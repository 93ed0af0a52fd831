#!/usr/bin/env bash
# SciFact (BEIR) with full-text, vector and hybrid search: nDCG@10 of each, to hold against what others publish.
#
#   benches/scifact.sh [DATA] [MODEL]
#
# DATA is a folder with corpus, queries and qrels (RAGSTAGE_DATA/beir/scifact, else ../shared/data/beir/scifact), MODEL the name or
# folder of a sentence transformer (MINILM_DIR, else all-minilm-l6-v2 as `ragstage models get` puts it). Embedding 5,183 abstracts takes
# some ten minutes on two cores the first time, and nothing after that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
data=${1:-${RAGSTAGE_DATA:-../shared/data}/beir/scifact}
model=${2:-${MINILM_DIR:-all-minilm-l6-v2}}
if [[ ! -d $data ]]; then
    echo "SKIPPED scifact: there is no folder $data" >&2
    exit 0
fi
data=$(cd "$data" && pwd)
folder=${CARGO_TARGET_DIR:-target}/scifact
mkdir -p "$folder"
cat >"$folder/evaluation.yaml" <<YAML
name: scifact
benchmark: {adapter: beir, path: "$data", split: test}
recipe:
  name: minilm
  chunk: {splitter: token, size: 100000}
  embed: {provider: bert, model: "$model"}
queries:
  - {mode: full_text_search, top_k: 100}
  - {mode: vector_search, top_k: 100}
  - {mode: hybrid_search, top_k: 100}
answer: none
evaluators: [nDCG@10, AP@100, R@100]
YAML
# One thread per text is enough: rows are computed side by side, and a pool of its own would only spin.
export CANDLE_NUM_THREADS=${CANDLE_NUM_THREADS:-1}
"${CARGO:-cargo}" run --release --locked --features bert --bin ragstage -- run "$folder/evaluation.yaml" --output "$folder/report"

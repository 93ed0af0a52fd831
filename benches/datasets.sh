#!/usr/bin/env bash
# LoCoMo and Qasper's test set whole, a knowledge base per conversation and paper, with full-text search: how long a first run takes,
# and a second one, which must execute nothing.
#
#   benches/datasets.sh [DATA]
#
# DATA is the folder with locomo and qasper (RAGSTAGE_DATA, else ../shared/data).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
data=${1:-${RAGSTAGE_DATA:-../shared/data}}
folder=${CARGO_TARGET_DIR:-target}/datasets
rm -rf "$folder"
mkdir -p "$folder"
"${CARGO:-cargo}" build --release --locked --bin ragstage
ragstage=${CARGO_TARGET_DIR:-target}/release/ragstage
for dataset in "locomo $data/locomo/locomo10.json" "qasper $data/qasper/qasper-test-v0.3.json.gz"; do
    read -r name path <<<"$dataset"
    if [[ ! -f $path ]]; then
        echo "SKIPPED $name: there is no file $path" >&2
        continue
    fi
    cat >"$folder/$name.yaml" <<YAML
name: $name
benchmark: {adapter: $name, path: "$(realpath "$path")", scope: document}
recipe: {}
queries: [{mode: full_text_search, top_k: 10}]
answer: {provider: extractive}
YAML
    for run in first second; do
        echo "$name, $run run:"
        (time "$ragstage" run --store "$folder/store" "$folder/$name.yaml") 2>&1 | grep -E "Actions:|Nothing to do|evidence_recall|^real|^user"
    done
done

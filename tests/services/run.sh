#!/usr/bin/env bash
# Tests against real model servers: an embedding server, a chat model, and the models that run in process.
#
# The servers are started by scripts that are no part of this repository: RAGSTAGE_SERVICES, or ../shared/services beside the
# checkout. Where they are absent, or a server cannot be installed here, this says SKIPPED and why, and succeeds: a machine
# without them is no fault of the code. A test that fails against a server that runs is one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
services=${RAGSTAGE_SERVICES:-../shared/services}
folder=${CARGO_TARGET_DIR:-target}/services
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

skip() {
    echo "SKIPPED services: $1" >&2
    exit 0
}
[[ -f $services/start-embeddings.sh && -f $services/start-llm.sh ]] || skip "$services has no start-embeddings.sh and start-llm.sh"
command -v python3 >/dev/null || skip "there is no python3, which the servers need"

# Ports of its own, so that servers that run already are left alone.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
EMBED_PORT=$(free_port)
LLM_PORT=$(free_port)
export EMBED_PORT LLM_PORT
stop() {
    bash "$services/start-embeddings.sh" stop "$folder/embeddings" || true
    bash "$services/start-llm.sh" stop "$folder/llm" || true
}
trap stop EXIT
for server in embeddings llm; do
    if ! bash "$services/start-$server.sh" start "$folder/$server" >"$folder/$server.start.log" 2>&1; then
        tail -5 "$folder/$server.start.log" >&2
        skip "the $server server could not be started; its log is $folder/$server.start.log"
    fi
    # shellcheck disable=SC1090
    . "$folder/$server/env.sh"
done

"${CARGO:-cargo}" test --locked --features bert --test services --test parity -- --nocapture "$@"

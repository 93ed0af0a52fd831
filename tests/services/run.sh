#!/usr/bin/env bash
# Tests against real servers: an embedding server, a chat model, the models that run in process, and an OpenViking server that uses
# the first two.
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
OV_PORT=$(free_port)
export EMBED_PORT LLM_PORT OV_PORT
stop() {
    [[ ! -f $services/start-openviking.sh ]] || bash "$services/start-openviking.sh" stop "$folder/openviking" || true
    bash "$services/start-embeddings.sh" stop "$folder/embeddings" || true
    bash "$services/start-llm.sh" stop "$folder/llm" || true
}
trap stop EXIT
start() {
    # The most that an installation may take of the time that CI has.
    if ! timeout 600 bash "$services/start-$1.sh" start "$folder/$1" >"$folder/$1.start.log" 2>&1; then
        tail -5 "$folder/$1.start.log" >&2
        return 1
    fi
    # shellcheck disable=SC1090
    . "$folder/$1/env.sh"
}
for server in embeddings llm; do
    start "$server" || skip "the $server server could not be started; its log is $folder/$server.start.log"
done

unset OPENVIKING_URL
"${CARGO:-cargo}" test --locked --features bert --test services --test parity -- --nocapture --skip openviking:: "$@"

# By itself: its server asks the same chat model for summaries, also after something was removed.
[[ -f $services/start-openviking.sh ]] || skip "openviking: $services has no start-openviking.sh"
bash "$services/start-openviking.sh" wipe "$folder/openviking"
start openviking || skip "openviking: the server could not be started; its log is $folder/openviking.start.log"
"${CARGO:-cargo}" test --locked --features bert --test services -- --nocapture --test-threads 1 openviking:: "$@"

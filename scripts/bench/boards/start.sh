#!/bin/sh
# Starts the proxy as a public board starts it: start.sh. Boards set addresses and PORT in the environment; prepare.ts ran before.
set -eu
cd "$(dirname "$(readlink -f "$0")")/../../.."
export DATA_DIR="${DATA_DIR:-./data/boards}" EMBEDDED_PG_PORT="${EMBEDDED_PG_PORT:-0}" METRICS_PORT="${METRICS_PORT:-0}" LOG_LEVEL="${LOG_LEVEL:-warn}"
exec node_modules/.bin/bun src/process/server.ts

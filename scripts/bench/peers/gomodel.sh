#!/bin/sh
# Starts GoModel. GOMODEL is the path of its program.
set -eu
export GOMODEL_MASTER_KEY="$KEY" OPENAI_BASE_URL="$UPSTREAM_BASE_URL" OPENAI_API_KEY=bench
# Prevents it from fetching a list of models and prices at startup.
export MODEL_LIST_URL= OPENAI_MODELS=gpt-4o-mini CONFIGURED_PROVIDER_MODELS_MODE=allowlist
# Enables its exact cache, in Redis. Usage is stored in SQLite by default.
export RESPONSE_CACHE_SIMPLE_ENABLED=true REDIS_KEY_RESPONSES="gomodel:$PORT:"
cd "$(mktemp -d)"
exec "$GOMODEL"

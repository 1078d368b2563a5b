#!/bin/sh
# Starts GoModel: GOMODEL is its program.
set -eu
export GOMODEL_MASTER_KEY="$KEY" OPENAI_BASE_URL="$UPSTREAM_BASE_URL" OPENAI_API_KEY=bench
# Else it fetches a list of models and prices when it starts.
export MODEL_LIST_URL= OPENAI_MODELS=gpt-4o-mini CONFIGURED_PROVIDER_MODELS_MODE=allowlist
# Its exact cache, in Redis; usage in SQLite, as by default.
export RESPONSE_CACHE_SIMPLE_ENABLED=true REDIS_KEY_RESPONSES="gomodel:$PORT:"
cd "$(mktemp -d)"
exec "$GOMODEL"

#!/bin/sh
# Starts LiteLLM's proxy. LITELLM is the path of its program.
set -eu
# Prevents it from fetching a list of prices at startup.
export LITELLM_LOCAL_MODEL_COST_MAP=True
# It would use our database as its own.
unset DATABASE_URL
settings="$(mktemp -d)/litellm.yaml"
cat > "$settings" <<YAML
model_list:
  - model_name: "*"
    litellm_params:
      model: "openai/*"
      api_base: $UPSTREAM_BASE_URL
      api_key: bench
litellm_settings:
  cache: true
  cache_params:
    type: local
general_settings:
  master_key: $KEY
YAML
exec "$LITELLM" --config "$settings" --host 127.0.0.1 --port "$PORT" --telemetry False

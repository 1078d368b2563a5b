#!/bin/sh
# LiteLLM's proxy from PyPI, in FOLDER/litellm: python3 -m venv FOLDER/litellm && FOLDER/litellm/bin/pip install 'litellm[proxy]'
set -eu
# Else it waits for a list of prices that it fetches when it starts.
export LITELLM_LOCAL_MODEL_COST_MAP=True
# It would take our database for its own.
unset DATABASE_URL
cat > "$FOLDER/litellm.yaml" <<YAML
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
exec "$FOLDER/litellm/bin/litellm" --config "$FOLDER/litellm.yaml" --host 127.0.0.1 --port "$PORT" --telemetry False

#!/bin/sh
# Sends one question to the alias `local`. Prints the response headers that say who answered, and the response.
curl -sS -i "$PROXY_URL/v1/chat/completions" -H "Authorization: Bearer $PROXY_KEY" -H 'Content-Type: application/json' \
  -d "{\"model\":\"local\",\"max_tokens\":200,\"messages\":[{\"role\":\"user\",\"content\":\"$1\"}]}" |
  tr -d '\r' | grep -i -E '^(x-proxy-(provider|model|cost-usd)|proxy-status):|^\{'

#!/bin/sh
# Stores a project's provider key: `model-proxy set-provider-key` of this checkout. The key is read from standard input, or asked for on a
# terminal. Never pass it as an argument, which other users can read.
#
#   printf %s "$SECRET" | scripts/set-provider-key.sh acme openai
cd "$(dirname "$0")/.." && PATH="$PWD/node_modules/.bin:$PATH" exec bun src/process/server.ts set-provider-key "$@"

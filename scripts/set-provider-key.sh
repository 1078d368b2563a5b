#!/bin/sh
# Stores a project's own key for a direct provider (openai, anthropic, groq), used from the next request on. The key comes on
# standard input, or is asked for where that is a terminal: never in an argument, which others can read. Prints its last four
# characters.
#
#   printf %s "$SECRET" | scripts/set-provider-key.sh acme openai
#
# It is sealed with ENCRYPTION_KEY before it reaches the database at DATABASE_URL; with neither set, in the embedded database of
# DATA_DIR, whether or not the proxy runs.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
command -v bun >/dev/null || { echo 'bun is missing: run npx -y bun@1.4.5 install' >&2; exit 1; }

if [ ! -t 0 ] || [ "$#" -ne 2 ]; then
  exec bun scripts/set-provider-key.ts "$@"
fi

trap 'stty echo' EXIT
printf 'Key for %s: ' "$2" >&2
stty -echo
IFS= read -r secret
stty echo
echo >&2
printf %s "$secret" | bun scripts/set-provider-key.ts "$@"

#!/bin/sh
# Stores a project's provider key (openai, anthropic, groq, …), which is used from the next request on. The key is read from standard input,
# or prompted for on a terminal. Never pass it as an argument, which other users can read. Prints the key's last four characters.
#
#   printf %s "$SECRET" | scripts/set-provider-key.sh acme openai
#   printf %s "$SECRET" | scripts/set-provider-key.sh acme openai second 3     # a further key: its name and weight
#
# The key is encrypted with ENCRYPTION_KEY before it reaches the database at DATABASE_URL. With neither set, it is stored in the embedded
# database of DATA_DIR, also while the proxy is running.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
command -v bun >/dev/null || { echo 'bun is missing: run npx -y bun@1.4.5 install' >&2; exit 1; }

if [ ! -t 0 ] || [ "$#" -lt 2 ]; then
  exec bun src/process/server.ts set-provider-key "$@"
fi

trap 'stty echo' EXIT
printf 'Key for %s: ' "$2" >&2
stty -echo
IFS= read -r secret
stty echo
echo >&2
printf %s "$secret" | bun src/process/server.ts set-provider-key "$@"

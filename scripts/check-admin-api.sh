#!/usr/bin/env bash
# Tests the admin API against its own description with schemathesis (PyPI), on a separate embedded proxy: about a minute, and 30 s of
# processor time. Needs python3 with venv. Further arguments go to schemathesis. Usage: scripts/check-admin-api.sh [-n EXAMPLES] [--seed N]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
log=$folder/proxy.log
proxy=
cleanup() { [ -z "$proxy" ] || kill "$proxy" 2>/dev/null || true; rm -rf "$folder"; }
trap cleanup EXIT

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet schemathesis==4.32.5

# Not through npx, which does not pass the terminating signal on.
"$(npx --no-install which bun)" scripts/serve-admin-api.ts >"$log" 2>&1 &
proxy=$!
for _ in $(seq 120); do { grep -q '^http' "$log" || ! kill -0 "$proxy" 2>/dev/null; } && break; sleep 1; done
read -r address key < <(grep '^http' "$log") || { cat "$log"; exit 1; }

# schemathesis leaves a folder in its working directory.
cd "$folder"
"$folder/venv/bin/schemathesis" run "$address/openapi.json" -H "Authorization: Bearer $key" --phases coverage,fuzzing -n 5 \
    --continue-on-failure --warnings off "$@"

#!/usr/bin/env bash
# Tests the admin API against its own description with schemathesis (PyPI), on a separate embedded proxy that has one of everything: at most
# 80 s, and 30 s of processor time. What SQL refuses beyond the description is no failure. Needs python3 with venv. Further arguments go to schemathesis. Usage: scripts/check-admin-api.sh [-n EXAMPLES] [--seed N]
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
for _ in $(seq 120); do { grep -q '^# complete' "$log" || ! kill -0 "$proxy" 2>/dev/null; } && break; sleep 1; done
read -r address key < <(grep '^http' "$log") || { cat "$log"; exit 1; }

# schemathesis leaves a folder in its working directory, and reads which ids there are.
cd "$folder"
sed 1d "$log" >schemathesis.toml
"$folder/venv/bin/schemathesis" run "$address/openapi.json" -H "Authorization: Bearer $key" --phases coverage,fuzzing -n 3 --max-time 80 \
    --exclude-checks positive_data_acceptance --continue-on-failure --warnings off "$@"

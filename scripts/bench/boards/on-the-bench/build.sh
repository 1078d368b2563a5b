#!/bin/sh
# Installs the packages of the checkout in MODEL_PROXY_CHECKOUT, and prepares its database. Nothing is released yet, so there is no address to
# clone.
set -eu
folder="$(cd "$(dirname "$0")" && pwd)"
ln -sfn "$(cd "${MODEL_PROXY_CHECKOUT:?the path of a checkout}" && pwd)" "$folder/src"
cd "$folder/src"
npx -y bun@1.4.5 install --frozen-lockfile
DATA_DIR="${DATA_DIR:-./data/boards}" npx bun scripts/bench/boards/prepare.ts on-the-bench

#!/bin/sh
# Portkey's gateway from npm, in FOLDER/portkey: npm install --prefix FOLDER/portkey @portkey-ai/gateway
set -eu
cd "$FOLDER/portkey"
exec node node_modules/@portkey-ai/gateway/build/start-server.js --port="$PORT" --headless

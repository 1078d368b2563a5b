#!/bin/sh
# Starts Portkey's gateway. PORTKEY is the path of its start-server.js.
set -eu
exec node "$PORTKEY" --port="$PORT" --headless

#!/bin/sh
# Prints the part of CHANGELOG.md about a version, without its heading: the notes of its release, and the message of its tag.
set -eu
cd "$(dirname "$0")/../.."
notes=$(awk -v heading="## [$1]" 'index($0, "## [") == 1 { within = index($0, heading) == 1; next } within' CHANGELOG.md)
[ -n "$notes" ] || { printf 'CHANGELOG.md says nothing about %s\n' "$1" >&2; exit 1; }
printf '%s\n' "$notes"

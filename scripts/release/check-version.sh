#!/bin/sh
# Prints `version=1.2.3` for the tag v1.2.3. Fails if package.json, the chart or the changelog name another version.
set -eu
cd "$(dirname "$0")/../.."
version=${1#v}
fail() { printf 'the tag is %s, but %s\n' "$1" "$2" >&2; exit 1; }

package=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
[ "$package" = "$version" ] || fail "$1" "package.json has version $package"
for field in version appVersion; do
  chart=$(sed -n "s/^$field: //p" deploy/chart/Chart.yaml | tr -d '"')
  [ "$chart" = "$version" ] || fail "$1" "deploy/chart/Chart.yaml has $field $chart"
done
grep -q "^## \[$version\]: [0-9]\{4\}-[0-9][0-9]-[0-9][0-9]$" CHANGELOG.md ||
  fail "$1" "CHANGELOG.md has no line '## [$version]: YYYY-MM-DD'"
printf 'version=%s\n' "$version"

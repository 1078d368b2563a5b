#!/bin/sh
# Packs the programs that `bun run build` wrote into dist/release: an archive for each platform, the SBOM, and the checksums of all. Archives
# of equal programs are equal: order, owners and times of their files are fixed.
set -eu
cd "$(dirname "$0")/../.."
version=$1
rm -rf dist/release
mkdir -p dist/release
for folder in dist/npm/*/; do
  platform=$(basename "$folder")
  program=$(find "$folder" -maxdepth 1 -name 'model-proxy*' -type f)
  # The package that starts the programs has none.
  [ -n "$program" ] || continue
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime='1970-01-01 UTC' -C "$folder" -cf - "$(basename "$program")" |
    gzip -n > "dist/release/model-proxy-$version-$platform.tar.gz"
done
npx bun scripts/write-sbom.ts > "dist/release/model-proxy-$version.cdx.json"
cd dist/release
sha256sum -- model-proxy-* > SHA256SUMS

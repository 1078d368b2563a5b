/** `bun run build-dashboard`: builds the dashboard's files in advance, as an installation does. */
import { mkdir, rm } from 'node:fs/promises'
import { BUILD_DIRECTORY, ENCODING_SUFFIXES, hashSources, SOURCE_HASH_PREFIX } from '../src/dashboard/assets.ts'
import { bundlePages, type ContentEncoding } from '../src/dashboard/bundle.ts'

const assets = await bundlePages()
await rm(BUILD_DIRECTORY, { recursive: true, force: true })
await mkdir(BUILD_DIRECTORY, { recursive: true })
for (const { name, encoded } of assets) {
  for (const [encoding, bytes] of Object.entries(encoded))
    await Bun.write(`${BUILD_DIRECTORY}${name}${ENCODING_SUFFIXES[encoding as ContentEncoding]}`, bytes)
}
// Written last: without this file a build counts as incomplete.
await Bun.write(`${BUILD_DIRECTORY}${SOURCE_HASH_PREFIX}${await hashSources()}`, '')

/** `bun run build-dashboard`: builds the dashboard's files in advance, as an installation does. */
import { mkdir, rm } from 'node:fs/promises'
import { BUILT_FOLDER, BUILT_FROM, ENDINGS, hashSources } from '../src/dashboard/assets.ts'
import { bundlePages, type Encoding } from '../src/dashboard/bundle.ts'

const assets = await bundlePages()
await rm(BUILT_FOLDER, { recursive: true, force: true })
await mkdir(BUILT_FOLDER, { recursive: true })
for (const { name, encoded } of assets) {
  for (const [encoding, bytes] of Object.entries(encoded))
    await Bun.write(`${BUILT_FOLDER}${name}${ENDINGS[encoding as Encoding]}`, bytes)
}
// The last: until then, what is there is not taken for whole.
await Bun.write(`${BUILT_FOLDER}${BUILT_FROM}${await hashSources()}`, '')

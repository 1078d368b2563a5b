/**
 * `bun run build-dashboard`: builds the dashboard's files in advance, as the image does. Otherwise the first visitor waits for the build.
 */
import { mkdir, rm } from 'node:fs/promises'
import { BUILT_FOLDER } from '../src/dashboard/assets.ts'
import { bundlePages } from '../src/dashboard/bundle.ts'

await rm(BUILT_FOLDER, { recursive: true, force: true })
await mkdir(BUILT_FOLDER, { recursive: true })
for (const { name, bytes } of await bundlePages()) await Bun.write(`${BUILT_FOLDER}${name}`, bytes)

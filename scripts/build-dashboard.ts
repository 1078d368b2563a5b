/** `bun run build-dashboard`: makes the dashboard's files ahead of time, as the image does; else the first who looks waits for them. */
import { mkdir, rm } from 'node:fs/promises'
import { BUILT_FOLDER } from '../src/dashboard/assets.ts'
import { bundlePages } from '../src/dashboard/bundle.ts'

await rm(BUILT_FOLDER, { recursive: true, force: true })
await mkdir(BUILT_FOLDER, { recursive: true })
for (const { name, bytes } of await bundlePages()) await Bun.write(`${BUILT_FOLDER}${name}`, bytes)

/** The pages' files, compressed once: read from the build folder, or bundled on first use when there is no build. */
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Asset } from './bundle.ts'

export interface ServedAsset extends Asset {
  gzipped: Uint8Array
}

/** Where `bun run build-dashboard` puts them. */
export const BUILT_FOLDER = fileURLToPath(new URL('../../dist/dashboard/', import.meta.url))

/** Finds a file by name; index.html is the page. */
export type FindAsset = (name: string) => Promise<ServedAsset | null>

/** Shared by all controllers of this process: they serve the same files. */
let loading: Promise<Map<string, ServedAsset>> | null = null

export function createAssets(): FindAsset {
  return async name => {
    loading ??= load()
    // A failed build is not cached: the next request tries again.
    const assets = await loading.catch(error => {
      loading = null
      throw error
    })
    return assets.get(name) ?? null
  }
}

async function load(): Promise<Map<string, ServedAsset>> {
  const names = await readdir(BUILT_FOLDER).catch(() => [])
  const assets = names.length > 0 ? await Promise.all(names.map(readBuilt)) : await bundle()
  return new Map(assets.map(asset => [asset.name, { ...asset, gzipped: Bun.gzipSync(Uint8Array.from(asset.bytes)) }]))
}

/** The import is dynamic because the bundler and its style sheet compiler are large, and only dashboard requests need them. */
async function bundle(): Promise<Asset[]> {
  const { bundlePages } = await import('./bundle.ts')
  return bundlePages()
}

async function readBuilt(name: string): Promise<Asset> {
  const file = Bun.file(`${BUILT_FOLDER}${name}`)
  return { name, type: file.type, bytes: await file.bytes() }
}

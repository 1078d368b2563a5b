/** The pages' files, compressed: as they were built when the program was installed, or bundled on first use where the sources are others. */
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Asset, ContentEncoding } from './bundle.ts'

/** Where `bun run build-dashboard` puts them. */
export const BUILD_DIRECTORY = fileURLToPath(new URL('../../dist/dashboard/', import.meta.url))
const PAGES_FOLDER = fileURLToPath(new URL('pages/', import.meta.url))
/** How the files of each encoding end. */
export const ENCODING_SUFFIXES: Record<ContentEncoding, string> = { identity: '', gzip: '.gz', br: '.br' }
/** Begins the name of the file that says what was built: an empty one. */
export const SOURCE_HASH_PREFIX = 'sources-'

/** Finds a file by name; index.html is the page. */
export type AssetLookup = (name: string) => Promise<Asset | null>

/** Shared by all controllers of this process: they serve the same files. */
let loading: Promise<Map<string, Asset>> | null = null

export function createAssetLookup(): AssetLookup {
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

/** A hash of the pages' sources; null where they are not, as in a packed program. */
export async function hashSources(): Promise<string | null> {
  const names = await readdir(PAGES_FOLDER, { recursive: true }).catch((): string[] => [])
  if (names.length === 0) return null
  const hash = new Bun.CryptoHasher('sha256')
  for (const name of names.filter(each => /\.\w+$/.test(each)).sort()) {
    hash.update(`${name}\n`)
    hash.update(await Bun.file(`${PAGES_FOLDER}${name}`).bytes())
  }
  return hash.digest('hex').slice(0, 16)
}

async function load(): Promise<Map<string, Asset>> {
  const names = await readdir(BUILD_DIRECTORY).catch((): string[] => [])
  const sources = await hashSources()
  const isBuilt = names.length > 0 && (sources === null || names.includes(`${SOURCE_HASH_PREFIX}${sources}`))
  const assets = isBuilt ? await Promise.all(names.filter(isAsset).map(readBuilt)) : await bundle()
  return new Map(assets.map(asset => [asset.name, asset]))
}

/** The import is dynamic because the bundler and its style sheet compiler are large, and only dashboard requests need them. */
async function bundle(): Promise<Asset[]> {
  const { bundlePages } = await import('./bundle.ts')
  return bundlePages()
}

function isAsset(name: string): boolean {
  return (
    !name.startsWith(SOURCE_HASH_PREFIX) &&
    !name.endsWith(ENCODING_SUFFIXES.gzip) &&
    !name.endsWith(ENCODING_SUFFIXES.br)
  )
}

async function readBuilt(name: string): Promise<Asset> {
  const read = (encoding: ContentEncoding) =>
    Bun.file(`${BUILD_DIRECTORY}${name}${ENCODING_SUFFIXES[encoding]}`).bytes()
  const [identity, gzip, br] = await Promise.all([read('identity'), read('gzip'), read('br')])
  return { name, type: Bun.file(name).type, encoded: { identity, gzip, br } }
}

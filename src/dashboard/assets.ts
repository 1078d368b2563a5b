/** The compressed files of the pages. They are built at installation, and bundled on first use if the sources have changed since. */
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Asset, ContentEncoding } from './bundle.ts'

/** The output directory of `bun run build-dashboard`. */
export const BUILD_DIRECTORY = fileURLToPath(new URL('../../dist/dashboard/', import.meta.url))
const PAGES_DIRECTORY = fileURLToPath(new URL('pages/', import.meta.url))
/** The file name suffix of each encoding. */
export const ENCODING_SUFFIXES: Record<ContentEncoding, string> = { identity: '', gzip: '.gz', br: '.br' }
/** The name prefix of an empty file that identifies the sources of a build by their hash. */
export const SOURCE_HASH_PREFIX = 'sources-'

/** Looks up a file by name. The document is index.html. Returns null if there is no such file. */
export type AssetLookup = (name: string) => Promise<Asset | null>

/** All controllers of the process share the files. */
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

/** Hashes the sources of the pages. Returns null if there are none, as in a compiled program. */
export async function hashSources(): Promise<string | null> {
  const names = await readdir(PAGES_DIRECTORY, { recursive: true }).catch((): string[] => [])
  if (names.length === 0) return null
  const hash = new Bun.CryptoHasher('sha256')
  for (const name of names.filter(each => /\.\w+$/.test(each)).sort()) {
    hash.update(`${name}\n`)
    hash.update(await Bun.file(`${PAGES_DIRECTORY}${name}`).bytes())
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

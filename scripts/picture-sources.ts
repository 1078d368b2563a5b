/**
 * Which sources each picture in docs/dashboard shows, as hashes. take-screenshots.ts records them, and check-pictures.ts compares them. A
 * hash covers the code of a page and of everything that it imports, without comments and types, the frame, the style sheet and the data.
 */
import { dirname, resolve } from 'node:path'

const ROOT = new URL('../', import.meta.url).pathname
const PAGES = `${ROOT}src/dashboard/pages/`
/** Part of every picture. */
const COMMON = ['src/dashboard/pages/screens/app-shell.tsx', 'src/dashboard/pages/styles.css', 'test/browser/seed.ts']
/** Pictures of other modules than the pages in the menu. */
const OTHERS = { login: 'login', request: 'request-details', 'new-key': 'api-keys' }
/** Imports all pages. */
const TABLE = `${PAGES}pages.ts`
const IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

/** The file in which the hashes are recorded: an object from the name of a picture to its hash. */
export const RECORD = 'docs/dashboard/pictures.json'

/** Returns the names of pictures whose sources have changed since they were taken, or that were never taken. */
export function findOldPictures(recorded: Record<string, string>, current: Record<string, string>): string[] {
  return Object.keys(current).filter(name => recorded[name] !== current[name])
}

/** Returns the hash of each picture. `modules` has the path of the module of each page in the menu, below `screens`. */
export async function hashPictures(modules: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {}
  for (const [name, module] of Object.entries({ ...OTHERS, ...modules })) {
    const files = new Set<string>()
    for (const file of COMMON) await collect(ROOT + file, files)
    await collect(`${PAGES}screens/${module}.tsx`, files)
    const hash = new Bun.CryptoHasher('sha256')
    for (const file of [...files].sort()) hash.update(`${file.slice(ROOT.length)}\n${await readCode(file)}\n`)
    hashes[name] = hash.digest('hex').slice(0, 16)
  }
  return hashes
}

/** Adds a file of the pages and all that it imports. */
async function collect(file: string, files: Set<string>): Promise<void> {
  if (files.has(file) || file === TABLE) return
  files.add(file)
  if (!file.startsWith(PAGES)) return
  for (const [, path = ''] of (await readCode(file)).matchAll(IMPORT)) {
    const imported = resolve(dirname(file), path)
    if (imported.startsWith(PAGES)) await collect(imported, files)
  }
}

const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }

/** Returns the code without comments and types. */
async function readCode(file: string): Promise<string> {
  const text = await Bun.file(file).text()
  if (file.endsWith('.tsx')) return transpilers.tsx.transformSync(text)
  return file.endsWith('.ts') ? transpilers.ts.transformSync(text) : text
}

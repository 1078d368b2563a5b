/** The shell blocks of README and docs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const PAGES = ['README.md', ...[...new Bun.Glob('docs/*.md').scanSync(ROOT)].sort()]

export const blocksOf = (page: string) =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text = '']) => text)

/** Returns the shell block of a page that contains `part`. Throws if there is none. */
export function findBlock(page: string, part: string): string {
  const block = blocksOf(page).find(text => text.includes(part))
  if (block === undefined) throw new Error(`${page} has no block with ${part}`)
  return block
}

/** The shell blocks of README and docs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { bareEnvironment } from './bare-environment.ts'

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

/** Runs a shell block with `model-proxy` in a folder, and returns what it prints. */
export async function runDocsBlock(block: string, cwd: string, environment: Record<string, string>): Promise<string> {
  const command = `model-proxy() { bun '${ROOT}src/process/server.ts' "$@"; }`
  const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', `${command}\n${block}`], {
    cwd,
    env: { ...bareEnvironment(), ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect([await child.exited, err]).toEqual([0, err])
  return out
}

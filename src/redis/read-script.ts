/** The Lua scripts beside this file, which Redis runs. */
import { readFileSync } from 'node:fs'

export function readScript(file: `${string}.lua`): string {
  return readFileSync(new URL(file, import.meta.url), 'utf8')
}

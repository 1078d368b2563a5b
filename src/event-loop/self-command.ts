/** The command of this program: a checkout run by Bun, or a compiled binary (scripts/build-binary.ts). */
import { fileURLToPath } from 'node:url'

const ENTRY = new URL('../process/server.ts', import.meta.url)

export const isCompiledBinary = ENTRY.pathname.startsWith('/$bunfs/')

/** The command that starts another process of this program. Append its arguments. */
export const SELF_COMMAND: readonly string[] = isCompiledBinary
  ? [process.execPath]
  : [process.execPath, fileURLToPath(ENTRY)]

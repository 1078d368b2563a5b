/** The program itself: a checkout that Bun runs, or one file with everything in it (scripts/build-binary.ts). */
import { fileURLToPath } from 'node:url'

const ENTRY = new URL('../process/server.ts', import.meta.url)

export const isCompiledBinary = ENTRY.pathname.startsWith('/$bunfs/')

/** Starts it once more, as another process; arguments follow. */
export const SELF_COMMAND: readonly string[] = isCompiledBinary
  ? [process.execPath]
  : [process.execPath, fileURLToPath(ENTRY)]

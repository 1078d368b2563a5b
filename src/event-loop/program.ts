/** The program itself: a checkout that Bun runs, or one file with everything in it (scripts/build-binary.ts). */
import { fileURLToPath } from 'node:url'

const ENTRY = new URL('../process/server.ts', import.meta.url)

export const isBinary = ENTRY.pathname.startsWith('/$bunfs/')

/** Starts it once more, as another process; arguments follow. */
export const OWN_COMMAND: readonly string[] = isBinary ? [process.execPath] : [process.execPath, fileURLToPath(ENTRY)]

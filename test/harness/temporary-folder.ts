/** A folder that goes when the tests of its file have ended. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'model-proxy-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

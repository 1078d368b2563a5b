/** Creates a folder that is deleted after the tests of its file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

export function createTemporaryDirectory(): string {
  const folder = mkdtempSync(join(tmpdir(), 'model-proxy-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** `bun run mutate` breaks lines by their text: one that has moved or changed is found here, long before. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MUTATIONS } from '../../scripts/mutations.ts'

const ROOT = join(import.meta.dirname, '../..')

test.each(MUTATIONS.map(({ file, line }) => [file, line]))('%s has %s once', (file, line) => {
  expect(readFileSync(join(ROOT, file), 'utf8').split(line)).toHaveLength(2)
})

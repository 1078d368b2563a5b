/** `bun run mutate` finds lines and tests by their text. This test fails as soon as a line or test has moved or changed. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MUTATIONS } from '../../scripts/mutations.ts'

const ROOT = join(import.meta.dirname, '../..')

test.each(MUTATIONS.map(({ file, line, noticedBy }) => [file, line, noticedBy] as const))(
  '%s has %s once',
  (file, line, noticedBy) => {
    expect(readFileSync(join(ROOT, file), 'utf8').split(line)).toHaveLength(2)
    expect(noticedBy.filter(path => !existsSync(join(ROOT, path)))).toEqual([])
  },
)

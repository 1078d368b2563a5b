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

test('each mutated source can be parsed', () => {
  const loaders = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }
  const broken = MUTATIONS.flatMap(({ file, line, becomes }) => {
    const extension = /\.(tsx?)$/.exec(file)?.[1] as keyof typeof loaders | undefined
    if (extension === undefined) return []
    const source = readFileSync(join(ROOT, file), 'utf8').split(line).join(becomes)
    try {
      loaders[extension].transformSync(source)
      return []
    } catch {
      return [`${file}: ${line} → ${becomes}`]
    }
  })
  expect(broken).toEqual([])
})

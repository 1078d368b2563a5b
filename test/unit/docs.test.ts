import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { PAGES, writeErrorTable, writeFieldTable } from '../../scripts/write-docs.ts'
import { ERRORS } from '../../src/errors/catalogue.ts'
import { FIELD_RULES } from '../../src/providers/anthropic/field-rules.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

// Where one is not: bun scripts/write-docs.ts writes them.
test.each(Object.entries(PAGES))('%s is what the code says', (path, write) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(write())
})

test.each([
  ['errors', writeErrorTable(() => true), Object.keys(ERRORS).length + 2, 7],
  ['request fields', writeFieldTable(), Object.keys(FIELD_RULES).length + 3, 6],
])('every one of the %s has a row, and no cell breaks the table', (_, table, rowCount, cellCount) => {
  const rows = table.split('\n')
  expect(rows).toHaveLength(rowCount)
  for (const row of rows) expect(row.split('|')).toHaveLength(cellCount)
})

const documents = ['README.md', 'ARCHITECTURE.md', ...[...new Bun.Glob('docs/*.md').scanSync(root)].sort()]

test.each(documents)('every link in %s leads to a file', path => {
  const links = [...readFileSync(join(root, path), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)]
  expect(links.map(([, link = '']) => link).filter(link => !existsSync(join(root, dirname(path), link)))).toEqual([])
})

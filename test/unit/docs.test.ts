import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import {
  PAGES,
  writeErrorTable,
  writeFieldTable,
  writeOperationTable,
  writeTranslatedTable,
} from '../../scripts/write-docs.ts'
import { ERRORS } from '../../src/errors/catalogue.ts'
import { MESSAGE_FIELDS } from '../../src/formats/messages/message-fields.ts'
import { RESPONSE_FIELDS } from '../../src/formats/responses/response-fields.ts'
import { FIELD_RULES } from '../../src/providers/anthropic/field-rules.ts'
import { TRIED_CLIENTS, writeClientTable } from '../clients/tried-clients.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

// Where one is not: bun scripts/write-docs.ts writes them.
test.each(Object.entries(PAGES))('%s is what the code says', (path, write) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(write())
})

test.each([
  ['errors', writeErrorTable(ERRORS), Object.keys(ERRORS).length + 2, 7],
  ['fields of chat', writeFieldTable(), Object.keys(FIELD_RULES).length + 3, 6],
  ['fields of responses', writeTranslatedTable(RESPONSE_FIELDS), Object.keys(RESPONSE_FIELDS).length + 3, 5],
  ['fields of messages', writeTranslatedTable(MESSAGE_FIELDS), Object.keys(MESSAGE_FIELDS).length + 3, 5],
])('every one of the %s has a row, and no cell breaks the table', (_, table, rowCount, cellCount) => {
  const rows = table.split('\n')
  expect(rows).toHaveLength(rowCount)
  for (const row of rows) expect(row.split('|')).toHaveLength(cellCount)
})

test('the page on what is passed on has its table', () => {
  // Where it has not: bun scripts/write-docs.ts prints it.
  expect(readFileSync(join(root, 'docs/pass-through.md'), 'utf8')).toContain(writeOperationTable())
})

test('the page on clients has those that are tried, in the versions that are', () => {
  // Where it has not: bun scripts/write-docs.ts prints it.
  expect(readFileSync(join(root, 'docs/clients.md'), 'utf8')).toContain(writeClientTable())
})

test.each(TRIED_CLIENTS)('$client is tried by $test', ({ client, packages, test: file }) => {
  const text = readFileSync(join(root, 'test/clients', file), 'utf8')
  // A package of Python's is imported by another name, which its test's file has; a command is in its test's name. Java and Rust say it in
  // what they print.
  const names = file.endsWith('.py') ? [] : file.startsWith('command-line') ? [client] : packages
  expect(names.filter(name => !new RegExp(`['"]${name}['": ]|${name} at `).test(text))).toEqual([])
})

test('the page of errors has them all', () => {
  const rows = readFileSync(join(root, 'docs/errors.md'), 'utf8').match(/^\| [45]\d\d \|/gm)
  expect(rows).toHaveLength(Object.keys(ERRORS).length)
})

const documents = ['README.md', 'ARCHITECTURE.md', ...[...new Bun.Glob('docs/*.md').scanSync(root)].sort()]

test.each(documents)('every link in %s leads to a file', path => {
  const links = [...readFileSync(join(root, path), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)]
  expect(links.map(([, link = '']) => link).filter(link => !existsSync(join(root, dirname(path), link)))).toEqual([])
})

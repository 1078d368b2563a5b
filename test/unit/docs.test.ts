import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { PAGES, writeFieldLists } from '../../scripts/write-docs.ts'
import { ERROR_CATALOGUE } from '../../src/errors/error-catalogue.ts'
import { MESSAGE_FIELD_RULES } from '../../src/formats/messages/message-fields.ts'
import { RESPONSE_FIELD_RULES } from '../../src/formats/responses/response-fields.ts'
import { WEBHOOK_EVENT_TYPES } from '../../src/postgres/seeds.generated.ts'
import { FIELD_RULES } from '../../src/providers/anthropic/field-rules.ts'
import { TESTED_CLIENTS } from '../clients/tested-clients.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

// If a page differs, `bun scripts/write-docs.ts` rewrites it.
test.each(Object.entries(PAGES))('%s agrees with the code', (path, write) => {
  const page = readFileSync(join(root, path), 'utf8')
  expect(page).toBe(write(page))
})

test.each([
  ['chat', FIELD_RULES],
  ['responses', RESPONSE_FIELD_RULES],
  ['messages', MESSAGE_FIELD_RULES],
])('every field of %s is in one row, under its treatment', (_, rules) => {
  const said = writeFieldLists(rules)
    .split('### ')
    .slice(1)
    .flatMap(list => {
      const [treatment = '', ...lines] = list.trim().split('\n')
      return lines.flatMap(line => {
        const [, fields = '', reason = ''] = /^- ((?:`[^`]+`(?:, )?)+): (.+)$/.exec(line) ?? []
        return [...fields.matchAll(/`([^`]+)`/g)].map(([, field]) => [field, treatment.toLowerCase(), reason])
      })
    })
  const table = Object.entries(rules).map(([field, { treatment, reason }]) => [field, treatment, reason])
  expect(said.toSorted()).toEqual(table.toSorted())
})

test('every event that SQL emits is a row', () => {
  const raised = [...new Bun.Glob('sql/functions/**/*.sql').scanSync(root)].flatMap(path => {
    const text = readFileSync(join(root, path), 'utf8')
    return [...text.matchAll(/\b(?:perform|select) raise_event\(\s*[^,]+,\s*'([^']+)'/g)].map(([, kind]) => kind)
  })
  expect(raised.length).toBeGreaterThan(4)
  const kinds = new Set<unknown>(WEBHOOK_EVENT_TYPES.map(({ kind }) => kind))
  expect(raised.filter(kind => !kinds.has(kind))).toEqual([])
})

test.each(TESTED_CLIENTS)('$client is tested by $test', ({ client, packages, test: file }) => {
  const text = readFileSync(join(root, 'test/clients', file), 'utf8')
  // Python tests import a package under another name and are not checked. A command’s test contains the command. Java and Rust tests print
  // the package’s name.
  const names = file.endsWith('.py') ? [] : file.startsWith('command-line') ? [client] : packages
  expect(names.filter(name => !new RegExp(`['"]${name}['": ]|${name} at `).test(text))).toEqual([])
})

test('the page of errors lists them all, each under its status', () => {
  const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')
  const said = [...page.matchAll(/<summary>(\d+)<\/summary>\n\n([\s\S]*?)\n\n<\/details>/g)].flatMap(
    ([, status, list = '']) => list.split('\n').map(line => `${status} ${/^- `(\w+)`: ./.exec(line)?.[1]}`),
  )
  expect(said.toSorted()).toEqual(
    Object.values(ERROR_CATALOGUE)
      .map(({ status, code }) => `${status} ${code}`)
      .toSorted(),
  )
})

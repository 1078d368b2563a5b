import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ERROR_CATALOGUE } from '../../../src/errors/error-catalogue.ts'
import type { ErrorDefinition } from '../../../src/errors/error-definition.ts'

const entries: [string, ErrorDefinition][] = Object.entries(ERROR_CATALOGUE)
const root = fileURLToPath(new URL('../../../', import.meta.url))

test.each(entries)('%s has an error status, a code, a message and one sentence about its cause', (_, entry) => {
  expect(entry.status).toBeGreaterThanOrEqual(400)
  expect(entry.status).toBeLessThan(600)
  expect(entry.code).toMatch(/^[a-z_]+$/)
  expect(entry.message).not.toBe('')
  expect(entry.description).toMatch(/^[A-Z`].*\.$/)
})

test('no two errors of one status and code have the same message, except for their headers', () => {
  const told = entries.map(([, { status, code, message, param, headers }]) =>
    JSON.stringify([status, code, message, param, headers]),
  )
  expect(new Set(told).size).toBe(told.length)
})

/** Files that may create an error with the text of a provider. */
const QUOTING = ['src/formats/errors/client-error.ts']

test('creates errors only from the catalogue, and uses every entry', () => {
  const files = [...new Bun.Glob('src/**/*.ts').scanSync(root)].filter(file => !file.startsWith('src/errors/'))
  const sources = files.map(file => [file, readFileSync(`${root}${file}`, 'utf8')] as const)
  const filesWith = (pattern: RegExp) => sources.filter(([, text]) => pattern.test(text)).map(([file]) => file)
  expect(filesWith(/new ProxyError\(/)).toEqual([])
  expect(filesWith(/extends ProxyError/)).toEqual(['src/hooks/hook-response.ts', 'src/providers/upstream-failure.ts'])
  expect(filesWith(/createUpstreamError\(/).sort()).toEqual(QUOTING)
  const all = [...sources.map(([, text]) => text), readFileSync(`${root}src/errors/errors.ts`, 'utf8')].join('\n')
  expect(entries.map(([name]) => name).filter(name => !all.includes(`'${name}'`))).toEqual([])
})

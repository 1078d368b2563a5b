/** Sends each kind of invalid value for each field that a route of the admin API declares. New operations are covered at once. */
import { beforeAll, expect, test } from 'vitest'
import { validateInput } from '../../../src/admin/validate-input.ts'
import { describeOnce } from '../../harness/backends.ts'
import { listDeclaredRoutes } from '../../harness/description.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { type Kind, listInvalidInputs, sampleOf } from '../../harness/invalid-inputs.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

const SENTENCES: Record<Kind, RegExp> = {
  missing: /^The (field|query parameter) '[\w.]+' is required\.$/,
  unknown: /^The (field|query parameter) '[\w.]+' is unknown(; known are \w+(, \w+)*)?\.$/,
  type: /^The (field|query parameter) '[\w.]+' must be [\w ]+, not [\w ]+\.$/,
  range:
    /^The (field|query parameter) '[\w.]+' must (be from -?\d+ to \d+|be at least \d+ and less than \d+|be one of .+|be (a|an|the|1 to) .+|be \w+|have .+|not contain the character U\+0000)\.$/,
}

const routes = listDeclaredRoutes()
const NO_FIELDS = { type: 'object', properties: {}, additionalProperties: false }

function queryString(query: Record<string, unknown>): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value)) return value.map(item => [`${name}[]`, String(item)])
    if (typeof value === 'object' && value !== null)
      return Object.entries(value).map(([inner, item]) => [`${name}[${inner}]`, String(item)])
    return [[name, String(value)]]
  })
  return new URLSearchParams(pairs).toString()
}

describeOnce('validation in the admin API', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), dashboard: true }))
  let key: string

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    key = await issueAdminKey(proxy, 'root@example.org')
    await proxy.query(`select create_project('acme', 'free')`)
  })

  /** Reads the contents of all tables that operations change. */
  async function readTables() {
    const tables = await proxy.query<{ name: string }>(
      `select table_name as name from information_schema.tables
        where table_schema = current_schema() and table_type = 'BASE TABLE' and table_name <> 'rejections' order by 1`,
    )
    expect(tables.length).toBeGreaterThan(20)
    const contents: Record<string, unknown> = {}
    for (const { name } of tables) {
      const [row] = await proxy.query<{ content: string }>(
        `select md5(string_agg(row, '' order by row)) as content
           from (select (to_jsonb(t) - 'last_used_at')::text as row from "${name}" t) rows`,
      )
      contents[name] = row?.content
    }
    return contents
  }

  test('rejects each kind of invalid value of each declared field, in one form of sentence, and stores nothing', async () => {
    await send(proxy, 'GET', '/v1/organization/projects', { headers: { authorization: `Bearer ${key}` } })
    const before = await readTables()
    const counts = { missing: 0, unknown: 0, type: 0, range: 0 }
    for (const { method, path, input } of routes) {
      const [query, body] = [input.query ?? NO_FIELDS, input.body ?? NO_FIELDS]
      const valid = { query: sampleOf(query), body: sampleOf(body) }
      expect(() => validateInput(input, valid), `${method} ${path}`).not.toThrow()
      const address = path.replace(/:project_id/, 'proj_1').replace(/:\w+/g, 'a')
      for (const place of method === 'POST' ? (['query', 'body'] as const) : (['query'] as const)) {
        for (const { kind, field, value } of listInvalidInputs(place === 'query' ? query : body, place === 'query')) {
          const given = { ...valid, [place]: value }
          const answer = await send(proxy, method, `${address}?${queryString(given.query)}`, {
            headers: { authorization: `Bearer ${key}` },
            ...(method === 'POST' && { body: given.body }),
          })
          const { message, param } = answer.json?.error ?? {}
          const about = `${method} ${path} ${place} ${field}: ${kind}, ${JSON.stringify(value).slice(0, 80)}`
          expect([about, answer.status, param, message]).toEqual([
            about,
            400,
            field,
            expect.stringMatching(SENTENCES[kind]),
          ])
          counts[kind]++
        }
      }
    }
    expect(await readTables()).toEqual(before)
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(40)
    expect(routes.length).toBeGreaterThan(90)
  }, 120_000)

  test('never quotes a value, which may be a secret', async () => {
    const answer = await send(proxy, 'POST', '/v1/organization/projects/proj_1/provider_keys/openai', {
      headers: { authorization: `Bearer ${key}` },
      body: { value: 'secret of somebody', name: 'secret of somebody' },
    })
    expect([answer.status, answer.json.error.param]).toEqual([400, 'value'])
    expect(answer.text).not.toContain('secret of')
  })
})

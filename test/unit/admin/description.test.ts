import { expect, test } from 'vitest'
import { PARAMETER_DESCRIPTIONS } from '../../../src/admin/parameters.ts'
import { findUndescribed, listOperations, readDescription } from '../../harness/description.ts'

test('describes each operation, its parameters and its response', async () => {
  const operations = await listOperations()
  expect(operations.length).toBeGreaterThan(80)
  for (const { method, path, operation } of operations) {
    const about = `${method} ${path}`
    expect([about, operation.summary]).toEqual([about, expect.stringMatching(/^[A-Z].{5,}[^.]$/)])
    expect([about, operation.tags]).toEqual([about, [expect.any(String)]])
    const { 200: done, 302: found, ...refused } = operation.responses
    expect([about, Object.keys(refused)]).toEqual([about, ['4XX', '5XX']])
    const schema = done?.content['application/json'].schema
    const isSaid = schema?.$ref !== undefined || schema?.properties !== undefined || schema?.items !== undefined
    const isPage = done?.content['text/html'] !== undefined
    expect([about, isSaid || isPage || found !== undefined]).toEqual([about, true])
  }
})

test('describes each parameter, and nothing that is not one', async () => {
  const { tags } = (await readDescription()) as unknown as { tags: { name: string }[] }
  const operations = await listOperations()
  const parameters = operations.flatMap(({ operation }) => operation.parameters ?? [])
  expect(parameters.filter(({ description }) => !description).map(({ name }) => name)).toEqual([])
  const names = new Set(parameters.map(({ name }) => name))
  expect(Object.keys(PARAMETER_DESCRIPTIONS).filter(name => !names.has(name))).toEqual([])
  const used = new Set(operations.map(({ operation }) => operation.tags[0]))
  expect(tags.map(({ name }) => name).filter(name => !used.has(name))).toEqual([])
})

test('each integer parameter has bounds, which its error message names', async () => {
  const operations = await listOperations()
  const taken = operations.map(({ operation }) => JSON.stringify([operation.parameters, operation.requestBody]))
  const numbers = taken.flatMap(text => text.match(/\{[^{}]*"type":"integer"[^{}]*\}/g) ?? [])
  expect(numbers.length).toBeGreaterThan(10)
  expect(numbers.filter(text => !/"minimum":-?\d/.test(text) || !/"maximum":\d/.test(text))).toEqual([])
})

test('each schema is defined once, and all references resolve', async () => {
  const description = await readDescription()
  const text = JSON.stringify(description)
  expect(text).not.toContain('$id')
  const referred = new Set(Array.from(text.matchAll(/#\/components\/schemas\/(\w+)/g), ([, name]) => name))
  expect([...referred].sort()).toEqual(Object.keys(description.components.schemas).sort())
})

test('detects a response that does not match its description', async () => {
  const plan = {
    name: 'free',
    requests_per_minute_per_key: 1,
    requests_per_minute_per_address: 1,
    tokens_per_minute_per_key: null,
    requests_per_month: 1,
    test_requests_per_minute: 1,
    test_requests_per_month: 1,
    max_cache_ttl_seconds: 1,
    concurrent_requests: 1,
  }
  const about = (body: unknown, status = 200) =>
    findUndescribed('POST', '/v1/organization/plans/free', Response.json(body, { status }))
  expect(await about(plan)).toBe(null)
  expect(await about({ ...plan, further: 1 })).toContain('further')
  expect(await about({ ...plan, name: null })).toContain('/name')
  expect(await about(plan, 400)).toContain('error')
  expect(await about({ error: { message: 'm', type: 't', param: null, code: 'c' } }, 404)).toBe(null)
})

test('describes the Idempotency-Key of each POST below /v1', async () => {
  for (const { method, path, operation } of await listOperations()) {
    const names = (operation.parameters ?? []).map(({ name }: { name: string }) => name)
    if (path.startsWith('/v1/'))
      expect([method, path, names.includes('Idempotency-Key')]).toEqual([method, path, method === 'POST'])
  }
})

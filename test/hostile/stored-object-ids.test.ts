/** A stored object belongs to the project that created or first named it, at every endpoint and in every field with an id. */

import OpenAI, { toFile } from 'openai'
import postgres from 'postgres'
import { beforeAll, expect, test } from 'vitest'
import { OBJECT_REFERENCE_FIELDS, REFERENCE_FIELDS } from '../../src/formats/stored-object-references.ts'
import { allowedMethodsOf, TARGETS_BY_PATH } from '../../src/http/paths.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { PASS_THROUGH_OPERATIONS } from '../../src/providers/pass-through-operations.ts'
import { describeOnce, describeReal } from '../harness/backends.ts'
import { post, readAnswer } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const model = 'gpt-4o-mini'
const messages = [{ role: 'user', content: 'Hi.' }]
/** Every path that calls a provider. Null: the body cannot name a stored object, because its text is embedded or looked up in the proxy. */
const BODIES: Record<string, object | null> = {
  '/chat/completions': { model, messages },
  '/responses': { model, input: 'Hi.' },
  '/messages': { model, messages, max_tokens: 9 },
  '/completions': { model: 'gpt-3.5-turbo-instruct', prompt: 'Hi.' },
  '/embeddings': null,
  '/responses/input_tokens': { model, input: 'Hi.' },
  '/messages/count_tokens': { model, messages },
  '/cache/feedback': null,
  '/cache/explain': null,
}
const PATHS = Object.entries(TARGETS_BY_PATH).flatMap(([path, target]) =>
  allowedMethodsOf(target).includes('POST') ? [path.replace('/v1', '')] : [],
)
const ENDPOINT_CASES: Record<string, object> = {
  ...Object.fromEntries(PATHS.flatMap(path => (BODIES[path] ? [[path, BODIES[path]]] : []))),
  ...Object.fromEntries(
    Object.entries(PASS_THROUGH_OPERATIONS)
      // A project's own provider has no reranking, and audio is sent in forms.
      .filter(
        ([operation, { acceptsForms }]) => operation !== 'rerank' && !(acceptsForms && operation.startsWith('audio')),
      )
      .map(([operation, { defaultModel }]) => [
        `/${operation}`,
        { model: defaultModel ?? 'tts-1', prompt: 'x', input: 'x', voice: 'alloy' },
      ]),
  ),
}
const naming = (field: string, id: string): object => (field.endsWith('s') ? { [field]: [id] } : { [field]: id })
const NAMES: Record<string, (id: string) => object> = {
  ...Object.fromEntries(Array.from(REFERENCE_FIELDS, field => [field, (id: string) => naming(field, id)])),
  ...Object.fromEntries(Array.from(OBJECT_REFERENCE_FIELDS, name => [name, (id: string) => ({ [name]: { id } })])),
  file_id: id => ({ file_id: id }),
  'thread of a message': id => ({ thread: { type: 'continue', previous_message_id: id } }),
}

describeOnce('ids of stored objects', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let a: string
  let b: string

  beforeAll(async () => {
    a = await proxy.createKey({ project: 'a', type: 'project' })
    b = await proxy.createKey({ project: 'b', type: 'project' })
    for (const project of ['a', 'b']) await storeKey(proxy.stores, project, 'openai', `sk-of-one-account-${project}`)
    await storeKey(proxy.stores, 'a', 'groq', 'gsk-of-a')
  })

  test('every path that calls a provider is tested', () => {
    expect(Object.keys(BODIES).toSorted()).toEqual(PATHS.toSorted())
  })

  const places = Object.keys(ENDPOINT_CASES).flatMap(path => Object.keys(NAMES).map(name => [path, name] as const))
  test.each(draw(places))('%s: %s', async (path, name) => {
    const id = `id_${crypto.randomUUID().replaceAll('-', '')}`
    const body = { ...ENDPOINT_CASES[path], x: NAMES[name]?.(id) }
    const mine = await readAnswer(await post(proxy, a, path, JSON.stringify(body)))
    expect(mine.text).not.toContain('No such')
    const before = upstreams.openai.requests.length
    const theirs = await readAnswer(await post(proxy, b, path, JSON.stringify(body)))
    expect([theirs.status, theirs.text]).toEqual([404, expect.stringContaining('No such')])
    expect(upstreams.openai.requests.length).toBe(before)
  })

  test.each(draw(Object.keys(ENDPOINT_CASES)))('%s rejects an impossible id by the name of its field', async path => {
    const before = upstreams.openai.requests.length
    for (const [name, write] of Object.entries(NAMES)) {
      for (const id of ['', 'i'.repeat(257)]) {
        const body = JSON.stringify({ ...ENDPOINT_CASES[path], x: write(id) })
        const { status, text } = await readAnswer(await post(proxy, a, path, body))
        expect([name, status, text]).toEqual([name, 400, expect.stringMatching(/x\.\w+ must be an ID of 1 to 256/)])
      }
    }
    expect(upstreams.openai.requests.length).toBe(before)
  })

  const call = async (key: string, method: string, path: string) => {
    const response = await fetch(proxy.baseUrl + path, { method, headers: { authorization: `Bearer ${key}` } })
    return [response.status, await response.text()] as const
  }

  test.each([false, true])(
    'a response, created with stream: %s, belongs to its project before any request names it',
    async stream => {
      const params = { model, input: `Keep ${stream}.`, stream }
      const made = await readAnswer(await post(proxy, a, '/responses', JSON.stringify(params)))
      expect(made.status).toBe(200)
      const [, id = ''] = /"id":"(resp_[\w-]+)"/.exec(made.text) ?? []
      const [, item = ''] = /"id":"(msg_[\w-]+)"/.exec(made.text) ?? []
      upstreams.openai.requests.length = 0
      for (const [method, part] of [
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '/cancel'],
        ['GET', '/input_items'],
      ]) {
        expect((await call(b, method ?? '', `/responses/${id}${part}`))[0]).toBe(404)
      }
      const continued = [
        { model, input: 'And?', previous_response_id: id },
        { model, input: [{ type: 'item_reference', id: item }] },
        { model, input: [{ type: 'reasoning', id: item, summary: [] }] },
        { model, input: [{ type: 'image_generation_call', id: item, result: null, revised_prompt: 'x' }] },
      ]
      for (const body of continued) {
        const theirs = await readAnswer(await post(proxy, b, '/responses', JSON.stringify(body)))
        expect([theirs.status, theirs.text]).toEqual([404, expect.stringContaining('No such object')])
      }
      expect(upstreams.openai.requests).toEqual([])
      expect((await call(a, 'GET', `/responses/${id}`))[0]).toBe(200)
      for (const body of continued) expect((await post(proxy, a, '/responses', JSON.stringify(body))).status).toBe(200)
    },
  )

  const ask = async (key: string, body: object) =>
    readAnswer(await post(proxy, key, '/responses', JSON.stringify(body)))

  test('a response that repeats another project’s id claims nothing', async () => {
    const { id } = JSON.parse((await ask(a, { model, input: 'Mine.' })).text)
    const parameters = { type: 'object', properties: {}, default: { id } }
    const repeated = await ask(b, { model, input: 'Whose?', tools: [{ type: 'function', name: 'f', parameters }] })
    expect([repeated.status, repeated.text]).toEqual([200, expect.stringContaining(`"default":{"id":"${id}"}`)])
    expect((await call(b, 'GET', `/responses/${id}`))[0]).toBe(404)
    expect((await call(a, 'GET', `/responses/${id}`))[0]).toBe(200)
  })

  test('claims ids late in a long response, too', async () => {
    upstreams.openai.scriptOnce({
      kind: 'answer',
      contentChars: 600_000,
      toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }],
    })
    const made = JSON.parse((await ask(a, { model, input: 'At length.' })).text)
    const { id } = made.output.at(-1)
    expect(id).toMatch(/^fc_/)
    expect((await ask(b, { model, input: [{ type: 'item_reference', id }] })).status).toBe(404)
  })

  test('claims ids created in the background or by a fallback', async () => {
    const { id } = JSON.parse((await ask(a, { model, input: 'Later.', background: true })).text)
    upstreams.openai.scriptOnce({
      kind: 'raw',
      headers: { 'content-type': 'application/json' },
      parts: [`{"id":"${id}","output":[{"id":"msg_`, 'later","file_id":"cfile_later"}]}'],
    })
    expect((await call(a, 'GET', `/responses/${id}`))[1]).toContain('msg_later')
    expect((await ask(b, { model, input: [{ type: 'item_reference', id: 'msg_later' }] })).status).toBe(404)
    expect((await ask(b, { model, input: [{ type: 'input_file', file_id: 'cfile_later' }] })).status).toBe(404)
    await proxy.query(`select set_setting('a', 'fallbacks', '${model}')`)
    upstreams.groq.script({ kind: 'error', status: 503 })
    const fallen = await ask(a, { model: 'llama-3.3-70b-versatile', input: 'Anyone?' })
    upstreams.groq.reset()
    expect(fallen.text).toContain('resp_fake')
    expect((await call(b, 'GET', `/responses/${JSON.parse(fallen.text).id}`))[0]).toBe(404)
  })

  test('claims responses that a batch created when their ids are first read', async () => {
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: a, maxRetries: 0 })
    const line = (n: number) =>
      JSON.stringify({ custom_id: `${n}`, method: 'POST', url: '/v1/responses', body: { model, input: `Batch ${n}?` } })
    const lines = Array.from({ length: 3_000 }, (_, n) => line(n)).join('\n')
    const file = await client.files.create({ file: await toFile(Buffer.from(lines), 'in.jsonl'), purpose: 'batch' })
    const params = { input_file_id: file.id, endpoint: '/v1/responses', completion_window: '24h' } as const
    let batch = await client.batches.create(params)
    while (!batch.output_file_id) batch = await client.batches.retrieve(batch.id)
    const output = await (await client.files.content(batch.output_file_id)).text()
    const made = [...output.matchAll(/"id":"(\w+)"/g)].map(([, id = '']) => id)
    expect(made).toHaveLength(6_000)
    for (const id of [made[0], made[2_998], made[4_000], made.at(-1)]) {
      const theirs = await ask(b, { model, input: [{ type: 'item_reference', id }] })
      expect([theirs.status, theirs.text]).toEqual([404, expect.stringContaining('No such object')])
    }
    expect((await call(b, 'GET', `/responses/${made[0]}`))[0]).toBe(404)
    expect((await ask(a, { model, input: 'And?', previous_response_id: made[0] })).status).toBe(200)
  })

  test('a line of a batch names no other project’s response', async () => {
    const made = await readAnswer(await post(proxy, a, '/responses', JSON.stringify({ model, input: 'For a batch.' })))
    const body = { model, input: 'And?', previous_response_id: JSON.parse(made.text).id }
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set(
      'file',
      new Blob([JSON.stringify({ custom_id: '1', method: 'POST', url: '/v1/responses', body })]),
      'in.jsonl',
    )
    const headers = { authorization: `Bearer ${b}` }
    const response = await fetch(`${proxy.baseUrl}/files`, { method: 'POST', headers, body: form })
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('No such object')])
  })
})

describeReal('two projects that name one unknown id at once', backend => {
  test('one waits for the other, and is rejected', async () => {
    const { database, databaseUrl } = await backend.open()
    const first = postgres(databaseUrl ?? '', { max: 1, onnotice: () => {} })
    for (const name of ['a', 'b']) await callFunction(database, 'create_project', { project: name, plan: 'free' })
    const ids = Array.from({ length: 200 }, (_, i) => `resp_${i}`)
    const ask = { of_provider: 'openai', under_shared_key: false, ids }
    let second: Promise<{ id: string }[]> | null = null
    await first.begin(async sql => {
      expect(await sql`select id from claim_referenced_ids(1, 'openai', false, ${ids})`).toHaveLength(0)
      second = callFunction(database, 'claim_referenced_ids', { of_project: 2, ...ask })
      await waitUntil('it waits', async () => {
        const [{ waiting } = { waiting: 0 }] = await sql<{ waiting: number }[]>`
          select count(*)::integer as waiting from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`
        return waiting > 0
      })
    })
    expect(await second).toHaveLength(ids.length)
    expect(await callFunction(database, 'claim_referenced_ids', { of_project: 1, ...ask })).toEqual([])
    await first.end()
  })
})

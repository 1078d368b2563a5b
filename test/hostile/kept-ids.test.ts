/** What a provider keeps belongs to the project that made it or named it first: at every door, in every field that names something. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OBJECT_NAMES, OTHER_NAMES } from '../../src/formats/kept-references.ts'
import { OPERATIONS } from '../../src/providers/operations.ts'
import { describeOnce, type Stores } from '../harness/backends.ts'
import { post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey, type Upstreams } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

const model = 'gpt-4o-mini'
const messages = [{ role: 'user', content: 'Hi.' }]
const DOORS: Record<string, object> = {
  '/chat/completions': { model, messages },
  '/responses': { model, input: 'Hi.' },
  '/messages': { model, messages, max_tokens: 9 },
  '/completions': { model: 'gpt-3.5-turbo-instruct', prompt: 'Hi.' },
  '/responses/input_tokens': { model, input: 'Hi.' },
  '/messages/count_tokens': { model, messages },
  ...Object.fromEntries(
    Object.entries(OPERATIONS)
      // A provider with a key of the project's own has no rankings; sounds come in forms.
      .filter(([operation, { takesForms }]) => operation !== 'rerank' && !(takesForms && operation.startsWith('audio')))
      .map(([operation, { defaultModel }]) => [
        `/${operation}`,
        { model: defaultModel ?? 'tts-1', prompt: 'x', input: 'x', voice: 'alloy' },
      ]),
  ),
}
/** As the patterns that find them have them. */
const FIELDS = OTHER_NAMES.split('|').flatMap(name =>
  name.endsWith('s?') ? [name.slice(0, -2), name.replace('?', '')] : [name],
)
const naming = (field: string, id: string): object => (field.endsWith('s') ? { [field]: [id] } : { [field]: id })
const NAMES: Record<string, (id: string) => object> = {
  ...Object.fromEntries(FIELDS.map(field => [field, (id: string) => naming(field, id)])),
  ...Object.fromEntries(OBJECT_NAMES.split('|').map(name => [name, (id: string) => ({ [name]: { id } })])),
  file_id: id => ({ file_id: id }),
}

describeOnce('what providers keep', backend => {
  let upstreams: Upstreams
  let stores: Stores
  let proxy: TestProxy
  let a: string
  let b: string

  beforeAll(async () => {
    upstreams = await startUpstreams()
    stores = await backend.open()
    proxy = await startProxy({ stores, environment: upstreams.environment })
    a = await proxy.createKey({ project: 'a', type: 'project' })
    b = await proxy.createKey({ project: 'b', type: 'project' })
    for (const project of ['a', 'b']) await storeKey(stores, project, 'openai', `sk-of-one-account-${project}`)
  })
  afterAll(async () => {
    await proxy.stop()
    await upstreams.stop()
  })

  describe.each(Object.keys(DOORS))('%s', path => {
    test.each(Object.keys(NAMES))('%s', async name => {
      const id = `id_${crypto.randomUUID().replaceAll('-', '')}`
      const body = { ...DOORS[path], x: NAMES[name]?.(id) }
      const mine = await readAnswer(await post(proxy, a, path, JSON.stringify(body)))
      expect(mine.text).not.toContain('No such')
      const before = upstreams.openai.requests.length
      const theirs = await readAnswer(await post(proxy, b, path, JSON.stringify(body)))
      expect([theirs.status, theirs.text]).toEqual([404, expect.stringContaining('No such')])
      expect(upstreams.openai.requests.length).toBe(before)
    })
  })

  const call = async (key: string, method: string, path: string) => {
    const response = await fetch(proxy.baseUrl + path, { method, headers: { authorization: `Bearer ${key}` } })
    return [response.status, await response.text()] as const
  }

  test.each([false, true])(
    'a response, made with stream: %s, is its project’s before anybody names it',
    async stream => {
      const asked = { model, input: `Keep ${stream}.`, stream }
      const made = await readAnswer(await post(proxy, a, '/responses', JSON.stringify(asked)))
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

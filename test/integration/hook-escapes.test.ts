/** No encoding of a text hides it from the hook: escapes in JSON, forms, query strings, opaque provider extras, and responses. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type ExtrasKeys, packExtras } from '../../src/formats/chat/provider-extras.ts'
import { describeBackends } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, get, post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { type RecordedHookRequest, startHook } from '../harness/hook.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { startFakeAccount } from './stored-objects/fake-account.ts'

const CARD = '4111 1111 1111 1111'
const MODEL = 'gpt-4o-mini'
const SECRET = 'an-mcp-secret'

/** The same JSON, with every character of every key and value escaped. */
function escapeJson(value: unknown): string {
  return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, text => {
    const unescaped: string = JSON.parse(text)
    const units = Array.from({ length: unescaped.length }, (_, at) => unescaped.charCodeAt(at))
    return `"${units.map(unit => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`
  })
}

const refusesCards = ({ type, request, answer }: RecordedHookRequest) => {
  const isShown = JSON.stringify(type === 'before' ? request : answer).includes(CARD)
  return { verdict: isShown ? 'refuse' : 'allow', message: 'No cards.', policy: '1' }
}

describeBackends('a hook', backend => {
  const hook = duringTests(startHook)
  const upstreams = duringTests(startUpstreams)
  const kept = duringTests(startFakeAccount)
  const start = (more = {}) => {
    const environment = { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0', ...hook.environment, ...more }
    return startProxy({ stores: backend.open(), environment })
  }
  const proxy = duringTests(start)
  /** A proxy whose OpenAI account stores objects. */
  const keeping = duringTests(() => start({ OPENAI_BASE_URL: kept.baseUrl }))
  let keys: { key: string; keeping: string }

  beforeEach(async () => {
    for (const each of [hook, upstreams, kept]) each.reset()
    keys = { key: await keyOf(proxy), keeping: await keyOf(keeping) }
    hook.setDecision(refusesCards)
  })

  async function keyOf(to: TestProxy): Promise<string> {
    const project = `p-${crypto.randomUUID().slice(0, 8)}`
    const key = await to.createKey({ project, type: 'project' })
    for (const vendor of ['openai', 'anthropic'] as const)
      await storeKey(to.stores, project, vendor, `sk-${vendor}-key`)
    return key
  }

  const askedProviders = () =>
    [upstreams.openai, upstreams.anthropic, upstreams.aggregator, kept].reduce(
      (sum, { requests }) => sum + requests.length,
      0,
    )

  /** Expects that no letter or digit is escaped in the bytes that the hook received. */
  function expectCanonical(): void {
    expect(hook.bodies.length).toBeGreaterThan(0)
    for (const body of hook.bodies) expect(body).not.toMatch(/\\u00[2-7]/)
  }

  async function expectRefused(sent: Response | Promise<Response>): Promise<void> {
    const { status, json, text } = await readAnswer(await sent)
    expect([status, text]).toEqual([400, expect.stringContaining('No cards.')])
    // Anthropic's errors have a type only.
    expect(['request_refused', undefined]).toContain(json.error.code)
    expect(askedProviders()).toBe(0)
    expectCanonical()
  }

  const userMessage = { role: 'user', content: CARD }
  const REQUESTS: Record<string, [path: string, body: Record<string, unknown>]> = {
    'a chat': ['/chat/completions', { model: MODEL, messages: [userMessage] }],
    'a streamed chat': ['/chat/completions', { model: MODEL, messages: [userMessage], stream: true }],
    'a part of a message': [
      '/chat/completions',
      { model: MODEL, messages: [{ role: 'user', content: [{ type: 'text', text: CARD }] }] },
    ],
    'a key of a schema': [
      '/chat/completions',
      {
        ...question('Well?'),
        model: MODEL,
        tools: [
          { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { [CARD]: {} } } } },
        ],
      },
    ],
    'a field that nobody knows': [
      '/chat/completions',
      { ...question('Well?'), model: MODEL, anything: { deep: [[{ at: CARD }]] } },
    ],
    'a long chat': [
      '/chat/completions',
      { model: MODEL, messages: [{ role: 'user', content: `${'long '.repeat(20_000)}${CARD}` }] },
    ],
    'a completion': ['/completions', { model: 'gpt-3.5-turbo-instruct', prompt: CARD }],
    'a response': ['/responses', { model: MODEL, input: [userMessage] }],
    'its instructions': ['/responses', { model: MODEL, input: 'Well?', instructions: CARD }],
    'a message': ['/messages', { model: MODEL, max_tokens: 9, messages: [userMessage] }],
    'a message to Claude': ['/messages', { model: 'claude-haiku-4-5', max_tokens: 9, messages: [userMessage] }],
    'a vector': ['/embeddings', { model: 'text-embedding-3-small', input: [CARD] }],
    'a moderation': ['/moderations', { model: 'omni-moderation-latest', input: CARD }],
    'a picture': ['/images/generations', { model: 'gpt-image-1', prompt: CARD }],
    'a speech': ['/audio/speech', { model: 'tts-1', voice: 'alloy', input: CARD }],
    'a count': ['/responses/input_tokens', { model: MODEL, input: CARD }],
    'a compaction': ['/responses/compact', { model: MODEL, input: CARD }],
    'a question about the cache': ['/cache/explain', { model: MODEL, messages: [userMessage] }],
    'a batch of messages': [
      '/messages/batches',
      { requests: [{ custom_id: 'a', params: { model: 'claude-haiku-4-5', max_tokens: 9, messages: [userMessage] } }] },
    ],
  }

  test.each(Object.entries(REQUESTS))('receives %s with every character escaped', async (_, [path, body]) => {
    await expectRefused(post(proxy, keys.key, path, escapeJson(body)))
  })

  test.each(Object.entries(REQUESTS))('allows %s, which is forwarded as it was written', async (_, [path, body]) => {
    hook.setDecision(() => ({ verdict: 'allow', policy: '1' }))
    const written = escapeJson(body)
    const sent = await post(proxy, keys.key, path, written)
    expect(sent.status, await sent.text()).toBe(200)
    expect(JSON.stringify(hook.requests[0]?.request)).toContain(CARD)
    expectCanonical()
  })

  test('receives numbers that JavaScript cannot represent, digit by digit', async () => {
    const number = '41111111111111111111'
    hook.setDecision(({ type }) => ({
      verdict: type === 'before' && hook.bodies.at(-1)?.includes(number) ? 'refuse' : 'allow',
      message: 'No cards.',
    }))
    await expectRefused(
      post(
        proxy,
        keys.key,
        '/chat/completions',
        `{"model":"${MODEL}","messages":[{"role":"user","content":"Hi"}],"at":[${number}]}`,
      ),
    )
  })

  test('receives JSON within a text, whose own escapes a translation or a model reads', async () => {
    const call = (args: string) => ({
      model: 'claude-haiku-4-5',
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'Seen.' },
      ],
    })
    await expectRefused(post(proxy, keys.key, '/chat/completions', call(escapeJson({ at: { deep: [CARD] } }))))
    hook.bodies.length = 0
    const twice = escapeJson({ at: CARD })
    await expectRefused(post(proxy, keys.key, '/chat/completions', call(`${twice.slice(0, -1)},"at":"harmless"}`)))
    hook.bodies.length = 0
    await expectRefused(
      post(proxy, keys.key, '/chat/completions', call(JSON.stringify({ nested: escapeJson([CARD]) }))),
    )
  })

  test('receives the text of a message unchanged if it is not JSON', async () => {
    for (const content of ['{not json \\u0041', 'C:\\users\\u0041', '[1, 2', '"'])
      expect((await ask(proxy, keys.key, { ...question(content), model: MODEL })).status).toBe(200)
    const shown = hook.requests.filter(({ type }) => type === 'before').map(({ request }) => request.messages)
    expect(shown).toEqual(
      ['{not json \\u0041', 'C:\\users\\u0041', '[1, 2', '"'].map(content => [{ role: 'user', content }]),
    )
  })

  describe('packed provider extras', () => {
    const packed = (keysOf: ExtrasKeys) =>
      packExtras({ fields: { reasoning_content: `My card: ${CARD}` }, calls: {} }, keysOf) ?? ''
    const bodies = (text: string): [string, Record<string, unknown>][] => {
      const blocks = [
        { type: 'thinking', thinking: 'Hm.', signature: text },
        { type: 'redacted_thinking', data: text },
      ]
      const input = [
        { role: 'user', content: 'Well?' },
        { type: 'reasoning', summary: [], encrypted_content: text },
        { role: 'assistant', content: 'Hm.' },
        { role: 'user', content: 'And?' },
      ]
      const ofModel = (model: string): [string, Record<string, unknown>][] => [
        ['/responses', { model, input }],
        ...blocks.map(
          block =>
            [
              '/messages',
              {
                model,
                max_tokens: 9,
                messages: [
                  { role: 'user', content: 'Well?' },
                  { role: 'assistant', content: [block, { type: 'text', text: 'Hm.' }] },
                  { role: 'user', content: 'And?' },
                ],
              },
            ] as [string, Record<string, unknown>],
        ),
      ]
      return [...ofModel('openai/gpt-4o-mini'), ...ofModel(MODEL)]
    }

    test('are unpacked for the hook, however they are written', async () => {
      for (const [path, body] of bodies(packed(['any key']))) {
        const whole = JSON.stringify(body)
        for (const written of [
          whole,
          escapeJson(body),
          whole.replaceAll('"mp1.', '"\\u006dp1.'),
          whole.replaceAll('"mp1.', '"m\\u00701.'),
        ]) {
          hook.bodies.length = 0
          await expectRefused(post(proxy, keys.key, path, written))
        }
      }
    })

    test('of a client are not sent to a provider', async () => {
      hook.setDecision(() => ({ verdict: 'allow', policy: '1' }))
      for (const [path, body] of bodies(packed(['any key']))) {
        for (const written of [JSON.stringify(body), JSON.stringify(body).replaceAll('"mp1.', '"\\u006dp1.')]) {
          const sent = await post(proxy, keys.key, path, written.replace('And?', crypto.randomUUID()))
          expect(sent.status, await sent.text()).toBe(200)
        }
      }
      const forwarded = [upstreams.openai, upstreams.aggregator].flatMap(({ requests }) => requests)
      expect(forwarded).toHaveLength(12)
      for (const { body } of forwarded) {
        expect(JSON.stringify(body)).not.toContain('mp1.')
        expect(JSON.stringify(body)).not.toContain(CARD)
      }
    })
  })

  test('reveal no MCP credentials to the hook, however their tool is written', async () => {
    const server = {
      type: 'mcp',
      server_label: 'a',
      server_url: 'https://a.example',
      authorization: SECRET,
      headers: { 'x-key': SECRET },
    }
    const bodies = [
      ['/responses', { model: MODEL, input: 'Well?', tools: [server] }],
      ['/responses', { model: MODEL, input: 'long '.repeat(60_000), tools: [server] }],
      [
        '/messages',
        {
          model: 'claude-haiku-4-5',
          max_tokens: 9,
          messages: [{ role: 'user', content: 'Well?' }],
          mcp_servers: [{ type: 'url', name: 'a', url: 'https://a.example', authorization_token: SECRET }],
        },
      ],
    ] as const
    for (const [path, body] of bodies) {
      const plain = JSON.stringify(body)
      for (const written of [
        plain,
        escapeJson(body),
        plain.replace('"mcp"', '"\\u006dcp"'),
        plain.replace('"mcp_servers"', '"mcp\\u005fservers"'),
      ])
        await post(proxy, keys.key, path, written).then(sent => sent.text())
    }
    expect(hook.requests.length).toBeGreaterThanOrEqual(12)
    for (const body of hook.bodies) expect(body).not.toContain(SECRET)
    for (const { request } of hook.requests) expect(JSON.stringify(request)).toContain('https://a.example')
  })

  describe('of a form, the hook', () => {
    const send = (path: string, form: FormData) =>
      fetch(`${proxy.baseUrl}${path}`, { method: 'POST', headers: { authorization: `Bearer ${keys.key}` }, body: form })
    const picture = () => new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff, 0])], 'a.png')
    const edit = (add: (form: FormData) => void) => {
      const form = new FormData()
      form.set('model', 'gpt-image-1')
      form.set('image', picture())
      form.append('prompt', 'Well?')
      add(form)
      return send('/images/edits', form)
    }

    test.each(['image', 'mask', 'file', 'image[]', 'mask[0]', 'data', 'anything'])(
      'receives a text named %s',
      async name => {
        await expectRefused(edit(form => form.append(name, CARD)))
      },
    )

    test.each(['image', 'mask', 'file', 'image[]', 'prompt', 'anything'])(
      'receives a text that is sent as a file named %s',
      async name => {
        await expectRefused(edit(form => form.append(name, new File([CARD], 'a.txt'))))
      },
    )

    test('receives each of two fields of one name, long ones, and JSON in a field', async () => {
      await expectRefused(
        edit(form => {
          for (const text of [CARD, 'harmless']) form.append('x', text)
        }),
      )
      await expectRefused(edit(form => form.append('x', `${'long '.repeat(4_000)}${CARD}`)))
      await expectRefused(edit(form => form.append('x', escapeJson({ at: CARD }))))
      await expectRefused(edit(form => form.append('x', new File([CARD, new Uint8Array([255])], 'a.txt'))))
    })

    test('receives no images', async () => {
      expect((await edit(form => form.append('mask', picture()))).status).toBe(200)
      expect(hook.requests[0]?.request).toEqual({ model: 'gpt-image-1', prompt: 'Well?' })
    })

    const raw = (head: string, value: string, type = 'multipart/form-data; boundary=b') => {
      const parts = [
        'Content-Disposition: form-data; name="model"\r\n\r\ngpt-image-1',
        'Content-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n\0',
        `Content-Disposition: form-data; name="prompt"${head}\r\n\r\n${value}`,
      ]
      return fetch(`${proxy.baseUrl}/images/edits`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.key}`, 'content-type': type },
        body: `${parts.map(part => `--b\r\n${part}\r\n`).join('')}--b--\r\n`,
      })
    }

    test.each([
      '\r\nContent-Transfer-Encoding: base64',
      '\r\ncontent-transfer-encoding:quoted-printable',
      '\r\nContent-Type: text/plain; charset=utf-7',
      '\r\nContent-Type: text/plain; x=y; CHARSET = "UTF-16"',
    ])('rejects a text that a provider may decode otherwise:%s', async head => {
      const sent = await raw(head, Buffer.from(CARD).toString('base64'))
      expect([sent.status, await sent.text()]).toEqual([400, expect.stringContaining('UTF-8')])
      expect(askedProviders()).toBe(0)
    })

    test.each([
      '',
      '\r\nContent-Type: text/plain; charset=UTF-8',
      '\r\nContent-Transfer-Encoding: 8bit',
      '\r\nContent-Type: text/plain',
    ])('accepts one that it cannot:%s', async head => expect((await raw(head, 'Well?')).status).toBe(200))

    test('and no provider gets a charset by which it would read another text', async () => {
      expect((await raw('', 'Well?', 'multipart/form-data; charset=utf-7; boundary=b')).status).toBe(200)
      const headers = { 'content-type': 'application/json; charset=utf-7' }
      const sent = await post(
        proxy,
        keys.key,
        '/moderations',
        { model: 'omni-moderation-latest', input: 'Well?' },
        { headers },
      )
      expect(sent.status).toBe(200)
      expect(upstreams.openai.requests.map(request => request.headers['content-type'])).toEqual([
        'multipart/form-data; boundary=b',
        'application/json',
      ])
    })
  })

  describe('of OpenAI’s stored objects, the hook', () => {
    const named = { name: escapeJson(CARD).slice(1, -1) }

    test('receives bodies, forms and query strings before they are forwarded', async () => {
      const key = keys.keeping
      await expectRefused(post(keeping, key, '/conversations', `{"metadata":{"a":"${named.name}"}}`))
      await expectRefused(post(keeping, key, '/vector_stores', `{"name":"${named.name}"}`))
      const form = new FormData()
      form.set('model', 'sora-2')
      form.append('prompt', `${'long '.repeat(4_000)}${CARD}`)
      form.append('prompt', 'harmless')
      await expectRefused(
        fetch(`${keeping.baseUrl}/videos`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: form }),
      )
      hook.setDecision(() => ({ verdict: 'allow' }))
      const made = await readAnswer(await post(keeping, key, '/conversations', {}))
      kept.reset()
      hook.setDecision(refusesCards)
      const search = `?after=${[...CARD].map(char => `%${char.charCodeAt(0).toString(16)}`).join('')}`
      for (const path of [`/conversations/${made.json.id}/items`, '/responses/resp_1', '/responses/resp_1/input_items'])
        await expectRefused(get(keeping, `${path}${search}`, key))
      await expectRefused(post(keeping, key, `/conversations/${made.json.id}/items${search}`, { items: [] }))
    })

    test('receives only the fields of files', async () => {
      hook.setDecision(() => ({ verdict: 'allow' }))
      const upload = await readAnswer(
        await post(keeping, keys.keeping, '/uploads', { purpose: 'user_data', filename: 'a', bytes: 1 }),
      )
      hook.reset()
      const form = new FormData()
      form.set('data', new File(['text '.repeat(1_000_000)], 'a.txt'))
      const sent = await fetch(`${keeping.baseUrl}/uploads/${upload.json.id}/parts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.keeping}` },
        body: form,
      })
      expect(sent.status, await sent.text()).toBe(200)
      expect(hook.requests.map(({ request }) => request)).toEqual([{}])
    })
  })

  describe('of responses, the hook', () => {
    const answered = async (sent: Response | Promise<Response>) => {
      const { status, text } = await readAnswer(await sent)
      expect([status, text]).toEqual([400, expect.stringContaining('No cards.')])
      expect(text).not.toContain('4111')
      for (const body of hook.bodies) expect(body).not.toMatch(/\\u00[2-7]/)
    }

    test('receives a text with every character escaped, plain and streamed', async () => {
      const message = { role: 'assistant', content: CARD }
      const plain = {
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model: MODEL,
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      }
      const headers = { 'content-type': 'application/json' }
      upstreams.openai.scriptOnce({ kind: 'raw', headers, parts: [escapeJson(plain)] })
      await answered(post(proxy, keys.key, '/chat/completions', { ...question('Plain?'), model: MODEL }))
      const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: MODEL }
      const chunks = [...CARD].map(content => ({ ...chunk, choices: [{ index: 0, delta: { content } }] }))
      const last = { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
      const parts = [...[...chunks, last].map(each => `data: ${escapeJson(each)}\n\n`), 'data: [DONE]\n\n']
      upstreams.openai.scriptOnce({ kind: 'raw', headers: { 'content-type': 'text/event-stream' }, parts })
      await answered(
        post(proxy, keys.key, '/chat/completions', { ...question('Streamed?'), model: MODEL, stream: true }),
      )
    })

    test('receives compacted responses, input items and revised prompts', async () => {
      hook.setDecision(() => ({ verdict: 'allow' }))
      await post(proxy, keys.key, '/responses/compact', { model: MODEL, input: 'Well?' }).then(sent => sent.text())
      await get(proxy, '/responses/resp_1/input_items', keys.key).then(sent => sent.text())
      expect(hook.requests.map(({ type, answer }) => [type, JSON.stringify(answer ?? null)])).toEqual([
        ['before', 'null'],
        ['after', expect.stringContaining('compaction')],
        ['after', expect.stringContaining('stored')],
      ])
      hook.setDecision(refusesCards)
      upstreams.openai.script({
        kind: 'answer',
        fields: { data: [{ revised_prompt: CARD, b64_json: 'aaaa'.repeat(500_000) }] },
      })
      await answered(post(proxy, keys.key, '/images/generations', { model: 'gpt-image-1', prompt: 'Well?' }))
      expect(hook.bodies.at(-1)?.length).toBeLessThan(2_000)
      hook.setDecision(() => ({ verdict: 'allow' }))
      const sent = await readAnswer(
        await post(proxy, keys.key, '/images/generations', { model: 'gpt-image-1', prompt: 'Well?' }),
      )
      expect([sent.status, sent.json.data[0].b64_json.length]).toEqual([200, 2_000_000])
    })
  })

  test('is called once for a response that twenty requests get at once after its policy changed', async () => {
    const body = { ...question('Twenty?'), model: MODEL }
    const twenty = () => Promise.all(Array.from({ length: 20 }, () => ask(proxy, keys.key, body)))
    hook.setDecision(() => ({ verdict: 'allow', policy: '1' }))
    await ask(proxy, keys.key, body)
    for (const policy of ['2', '3']) {
      hook.requests.length = 0
      hook.setDecision(() => ({ verdict: 'allow', policy }))
      expect((await twenty()).map(({ cache }) => cache)).toEqual(Array(20).fill('HIT'))
      expect(hook.requests.filter(({ type }) => type === 'after')).toHaveLength(1)
      expect(hook.requests.filter(({ type }) => type === 'before')).toHaveLength(20)
    }
    hook.requests.length = 0
    upstreams.reset()
    upstreams.openai.script({ kind: 'answer', content: 'fresh' })
    hook.setDecision(({ stored }) => ({ verdict: stored ? 'refuse' : 'allow', policy: '4' }))
    for (const { status, text } of await twenty())
      expect([status, text]).toEqual([200, expect.stringContaining('fresh')])
    expect(hook.requests.filter(({ stored }) => stored === true)).toHaveLength(1)
    expect(upstreams.openai.requests).toHaveLength(1)
  })

  test('is called again for a response if it was unreachable, or has another policy by then', async () => {
    const body = { ...question('Again?'), model: MODEL }
    hook.setDecision(() => ({ verdict: 'allow', policy: '1' }))
    await ask(proxy, keys.key, body)
    hook.setDecision(({ type }) =>
      type === 'before' ? { verdict: 'allow', policy: '2' } : new Response(null, { status: 500 }),
    )
    expect((await ask(proxy, keys.key, body)).status).toBe(503)
    hook.setDecision(() => ({ verdict: 'allow', policy: '2' }))
    expect((await ask(proxy, keys.key, body)).cache).toBe('HIT')
    hook.setDecision(({ type }) => ({ verdict: type === 'after' ? 'refuse' : 'allow', policy: '3' }))
    expect((await ask(proxy, keys.key, body)).status).toBe(400)
  })
})

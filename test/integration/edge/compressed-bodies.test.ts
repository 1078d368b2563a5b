/** Compressed request bodies, at each kind of endpoint that accepts one. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { allowedMethodsOf, TARGETS_BY_PATH } from '../../../src/http/paths.ts'
import type { RouteTarget } from '../../../src/pipeline/request/request.ts'
import { PASS_THROUGH_OPERATIONS } from '../../../src/providers/pass-through-operations.ts'
import { describeOnce } from '../../harness/backends.ts'
import { type Answer, get, readAnswer } from '../../harness/client.ts'
import { startUpstreams, storeKey } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { CODINGS, encodeBody } from '../../harness/encode-body.ts'
import { GEMINI_PATHS } from '../../harness/gemini-paths.ts'
import { startProxy } from '../../harness/proxy.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { sendRaw } from '../hostile/raw-http.ts'

const MIB = 1_048_576
const CHAT = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }
/** Every endpoint that takes a JSON body, from the tables of the code. */
const PATHS = [
  ...Object.keys(TARGETS_BY_PATH).filter(path =>
    allowedMethodsOf(TARGETS_BY_PATH[path] as RouteTarget).includes('POST'),
  ),
  ...GEMINI_PATHS,
  ...Object.keys(PASS_THROUGH_OPERATIONS).map(operation => `/v1/${operation}`),
  '/v1/batches',
].map(path => path.replace('/v1', ''))

describeOnce('compressed bodies', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { ...upstreams.environment, MAX_BODY_BYTES: String(MIB), MAX_RETRIES: '0' },
      dashboard: true,
    }),
  )
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ project: 'compressed', type: 'project' })
    for (const provider of ['openai', 'anthropic'] as const)
      await storeKey(proxy.stores, 'compressed', provider, 'sk-own')
  })
  beforeEach(() => upstreams.reset())

  interface Sent {
    codings: string
    type?: string
    /** The bytes to send, if they are not the encoded body. */
    bytes?: Uint8Array<ArrayBuffer>
    isChunked?: boolean
    authorization?: string
  }

  async function send(path: string, body: string | Uint8Array | object, sent: Sent): Promise<Answer> {
    const { codings, type = 'application/json', isChunked = false, authorization = key } = sent
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
    const bytes = sent.bytes ?? encodeBody(text, codings)
    const response = await fetch(`${proxy.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${authorization}`, 'content-type': type, 'content-encoding': codings },
      body: isChunked ? new Blob([bytes]).stream() : bytes,
    })
    return readAnswer(response)
  }

  test.each(PATHS)('are decoded at %s', async path => {
    const body = `{"model": "none", "said": ${JSON.stringify('so '.repeat(50))}`
    const plain = await send(path, body, { codings: 'identity' })
    const compressed = await send(path, body, { codings: 'gzip' })
    expect([compressed.status, compressed.json?.error ?? compressed.text]).toEqual([
      plain.status,
      plain.json?.error ?? plain.text,
    ])
    expect(plain.status).not.toBe(415)
  })

  describe.each([...CODINGS, 'x-gzip', 'GZIP', 'identity, br', 'gzip, zstd', 'zstd, br, deflate'])('%s', codings => {
    const bodyOf = (name: string) => ({ ...CHAT, messages: [{ role: 'user', content: `${name} ${codings}` }] })

    test.each([false, true])(
      'is the same request as without it, and is unknown to the provider; in chunks: %s',
      async isChunked => {
        const body = bodyOf(`Same ${isChunked}?`)
        const first = await send('/chat/completions', body, { codings, isChunked })
        expect([first.status, first.cache], first.text).toEqual([200, 'MISS'])
        const [request] = upstreams.aggregator.requests
        expect(request?.body).toEqual(body)
        expect(request?.headers).not.toHaveProperty('content-encoding')
        const again = await send('/chat/completions', body, { codings: 'identity' })
        expect([again.cache, again.text]).toEqual(['HIT', first.text])
      },
    )

    test('reads a form', async () => {
      const form = new FormData()
      form.set('model', 'whisper-1')
      form.set('file', new File([`RIFF ${codings}`.repeat(100)], 'sound.wav'))
      const encoded = new Response(form)
      const type = encoded.headers.get('content-type') ?? ''
      const body = new Uint8Array(await encoded.arrayBuffer())
      const answer = await send('/audio/transcriptions', body, { codings, type })
      expect(answer.status, answer.text).toBe(200)
      expect(upstreams.openai.requests[0]?.bodyText).toContain(`RIFF ${codings}`)
      expect(upstreams.openai.requests[0]?.headers).not.toHaveProperty('content-encoding')
    })
  })

  test('are read at Responses, Messages, embeddings, counts, files and batches of any kind', async () => {
    const codings = 'zstd'
    const messages = [{ role: 'user', content: 'Hello' }]
    const claude = { model: 'claude-haiku-4-5', max_tokens: 9, messages }
    for (const [path, body] of [
      ['/responses', { model: 'gpt-4o-mini', input: 'Hello' }],
      ['/responses', { model: 'openai/gpt-4o-mini', input: 'Hello', stream: true }],
      ['/responses/input_tokens', { model: 'openai/gpt-4o-mini', input: 'Hello' }],
      ['/messages', claude],
      ['/messages/count_tokens', { model: claude.model, messages }],
      ['/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Hello' }],
      ['/embeddings', { model: 'text-embedding-3-small', input: ['Hello'] }],
      ['/moderations', { model: 'omni-moderation-latest', input: 'Hello' }],
      ['/cache/explain', CHAT],
      ['/messages/batches', { requests: [{ custom_id: 'a', params: claude }] }],
    ] as const) {
      const answer = await send(path, body, { codings })
      expect([path, answer.status], answer.text).toEqual([path, 200])
    }
    const form = new FormData()
    form.set('purpose', 'batch')
    const line = {
      custom_id: 'a',
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'gpt-4o-mini', messages },
    }
    form.set('file', new File([`${JSON.stringify(line)}\n`], 'in.jsonl'))
    const encoded = new Response(form)
    const type = encoded.headers.get('content-type') ?? ''
    const file = await send('/files', new Uint8Array(await encoded.arrayBuffer()), { codings, type })
    expect(file.status, file.text).toBe(200)
    const batch = { input_file_id: file.json.id, endpoint: '/v1/chat/completions', completion_window: '24h' }
    expect((await send('/batches', batch, { codings })).status).toBe(200)
  })

  test('are read by the admin API and the dashboard', async () => {
    for (const path of ['/organization/projects', '/../dashboard/api/login']) {
      const plain = await send(path, '{"name": ', { codings: 'identity', authorization: 'sk-none' })
      const compressed = await send(path, '{"name": ', { codings: 'br', authorization: 'sk-none' })
      expect([compressed.status, compressed.json?.error?.code]).toEqual([plain.status, plain.json?.error?.code])
    }
  })

  describe.each(CODINGS)('%s has MAX_BODY_BYTES as its limit', codings => {
    const sized = (length: number) => JSON.stringify(CHAT).padEnd(length)

    test.each([false, true])('after decoding; in chunks: %s', async isChunked => {
      const whole = await send('/chat/completions', sized(MIB), { codings, isChunked })
      expect(whole.status, whole.text).toBe(200)
      const longer = await send('/chat/completions', sized(MIB + 1), { codings, isChunked })
      expect([longer.status, longer.json.error.code]).toEqual([413, 'request_too_large'])
      expect(longer.headers.get('connection')).toBe('close')
    })

    test('for a body of gigabytes, and a rejected one holds no memory', async () => {
      const bomb = encodeBody(encodeBody(Buffer.alloc(64 * MIB), codings), 'gzip')
      for (let sent = 0; sent < 15; sent++) {
        const answer = await send('/chat/completions', '', { codings: `${codings}, gzip`, bytes: bomb })
        expect(answer.status).toBe(413)
      }
      expect((await send('/chat/completions', sized(MIB), { codings })).status).toBe(200)
    })

    test.each<[string, Uint8Array]>([
      ['plain', Buffer.from(JSON.stringify(CHAT))],
      ['cut off', encodeBody(JSON.stringify(CHAT), codings).subarray(0, -2)],
      ['followed by more', Buffer.concat([encodeBody(JSON.stringify(CHAT), codings), Buffer.from('{}')])],
    ])('and is a 400 if it is %s', async (_, bytes) => {
      const answer = await send('/chat/completions', '', { codings, bytes: new Uint8Array(bytes) })
      expect([answer.status, answer.json.error]).toMatchObject([400, { param: 'Content-Encoding' }])
      expect(upstreams.aggregator.requests).toEqual([])
    })
  })

  test.each(['compress', 'gzip, lzma', 'br, br, br, br'])(
    'in another encoding are a 415 that names the supported ones: %s',
    async codings => {
      const answer = await send('/chat/completions', CHAT, {
        codings,
        bytes: encodeBody(JSON.stringify(CHAT), 'identity'),
      })
      expect([answer.status, answer.json.error]).toMatchObject([
        415,
        {
          code: 'unsupported_media_type',
          param: 'Content-Encoding',
          message: expect.stringContaining('gzip, deflate, br'),
        },
      ])
      expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate, br, zstd')
    },
  )

  test('are an error in the format of Messages there', async () => {
    const answer = await send('/messages', '', { codings: 'gzip', bytes: encodeBody('{}', 'identity') })
    expect([answer.status, answer.json]).toMatchObject([
      400,
      { type: 'error', error: { type: 'invalid_request_error' } },
    ])
  })

  test('of an unknown key are not decoded', async () => {
    const bytes = encodeBody('no gzip', 'identity')
    expect((await send('/chat/completions', '', { codings: 'gzip', bytes, authorization: 'sk-none' })).status).toBe(401)
  })

  test('in memory are bounded together by their decoded size', async () => {
    const random = crypto.getRandomValues(new Uint8Array(49_152))
    const body = encodeBody(Buffer.alloc(MIB - 1024, Buffer.from(random).toString('base64')), 'gzip')
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: proxy\r\nAuthorization: Bearer ${key}\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`
    const { promise: oneTooMany, resolve: goOn } = Promise.withResolvers<void>()
    const parts = [head, body.subarray(0, -1), oneTooMany, body.subarray(-1)]
    const sent = Array.from({ length: 14 }, () =>
      sendRaw({ port: proxy.port, parts, responses: 1, timeLimitMs: 50_000 }),
    )
    const late = await Promise.race(sent)
    expect(late.responses.map(({ status }) => status)).toEqual([503])
    goOn()
    await Promise.all(sent)
    const sized = JSON.stringify(CHAT).padEnd(MIB)
    await waitUntil('other bodies are accepted', async () => {
      return (await send('/chat/completions', sized, { codings: 'gzip' })).status === 200
    })
  })

  test('mean nothing without a body', async () => {
    const answer = await readAnswer(await get(proxy, '/models', key, { headers: { 'content-encoding': 'gzip' } }))
    expect(answer.status).toBe(200)
  })
})

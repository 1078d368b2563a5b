/**
 * Odd values in each field that the vendors' packages declare, at each endpoint and for each provider: each gets a 4xx in JSON, or is
 * forwarded.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { type Answer, readAnswer } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { type FieldPlace, listFields, type RequestType } from '../harness/vendor-fields.ts'

/** As JSON text, because `JSON.stringify` cannot write some of them. */
const ODD_VALUES = [
  '{"toString":1}',
  '{"toString":null,"valueOf":null}',
  '{"toJSON":1}',
  '{"__proto__":null}',
  '{"__proto__":{"type":"text"},"constructor":1}',
  '{"type":{"toString":1},"role":{"toString":1},"name":[[]],"text":{"length":-1},"id":{"toString":1}}',
  '{"length":1e9}',
  '"constructor"',
  '"__proto__"',
  '"toString"',
  '"hasOwnProperty"',
  'null',
  '[]',
  '[null]',
  '[[[[]]]]',
  '[{"toString":1}]',
  '["__proto__"]',
  '{}',
  'true',
  '1e400',
  '-1e400',
  '-0',
  '1e-400',
  '9007199254740993',
  '"\\ud800"',
  '"\\u0000"',
  '""',
  `"${'x'.repeat(5_000)}"`,
  `{"${'y'.repeat(5_000)}":1}`,
]
const PLACE = '@odd value@'

const OPENAI = { package: 'openai' } as const
const ANTHROPIC = { package: '@anthropic-ai/sdk' } as const
const messages = [{ role: 'user', content: 'Hi.' }]
const CHAT = { ...OPENAI, files: ['chat/completions/completions', 'shared'] }
const MESSAGES = { ...ANTHROPIC, files: ['messages/messages'] }
const BETA = { ...ANTHROPIC, files: ['beta/messages/messages', 'beta/beta'] }
const RESPONSES = { ...OPENAI, files: ['responses/responses', 'shared', 'conversations/conversations'] }
const AUDIO = { ...OPENAI, files: ['audio/transcriptions', 'audio/translations', 'audio/speech'] }
const IMAGES = { ...OPENAI, files: ['images'] }
const line = { custom_id: 'a', params: { model: 'claude-haiku-4-5', max_tokens: 9, messages } }

/** Endpoints where the model determines the provider. Every provider is tested. */
const ASKED: [path: string, type: Omit<RequestType, 'body'>, body: object][] = [
  ['/chat/completions', { ...CHAT, interface: 'ChatCompletionCreateParamsBase' }, { messages }],
  ['/responses', { ...RESPONSES, interface: 'ResponseCreateParamsBase' }, { input: 'Hi.' }],
  ['/messages', { ...MESSAGES, interface: 'MessageCreateParamsBase' }, { messages, max_tokens: 9 }],
  ['/messages', { ...BETA, interface: 'MessageCreateParamsBase' }, { messages, max_tokens: 9 }],
  ['/responses/input_tokens', { ...RESPONSES, interface: 'ResponseCreateParamsBase' }, { input: 'Hi.' }],
  ['/messages/count_tokens', { ...MESSAGES, interface: 'MessageCountTokensParams' }, { messages }],
  ['/cache/explain', { ...CHAT, interface: 'ChatCompletionCreateParamsBase' }, { messages }],
]
/** A model for each provider. */
const WAYS = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-haiku-4-5',
  groq: 'llama-3.1-8b-instant',
  aggregator: 'mistralai/mistral-small',
  sandbox: 'gpt-4o-mini',
}
const OTHERS: [path: string, type: Omit<RequestType, 'body'>, body: object][] = [
  [
    '/completions',
    { ...OPENAI, files: ['completions', 'chat/completions/completions'], interface: 'CompletionCreateParamsBase' },
    { model: 'gpt-3.5-turbo-instruct', prompt: 'Hi.' },
  ],
  [
    '/embeddings',
    { ...OPENAI, files: ['embeddings'], interface: 'EmbeddingCreateParams' },
    { model: 'text-embedding-3-small', input: 'Hi.' },
  ],
  ['/images/generations', { ...IMAGES, interface: 'ImageGenerateParamsBase' }, { model: 'gpt-image-1', prompt: 'Hi.' }],
  [
    '/images/edits',
    { ...IMAGES, interface: 'ImageEditParamsBase' },
    { model: 'gpt-image-1', prompt: 'Hi.', image: 'x' },
  ],
  ['/images/variations', { ...IMAGES, interface: 'ImageCreateVariationParams' }, { model: 'dall-e-2', image: 'x' }],
  ['/audio/speech', { ...AUDIO, interface: 'SpeechCreateParams' }, { model: 'tts-1', voice: 'alloy', input: 'Hi.' }],
  [
    '/audio/transcriptions',
    { ...AUDIO, interface: 'TranscriptionCreateParamsBase' },
    { model: 'whisper-1', file: 'x' },
  ],
  ['/audio/translations', { ...AUDIO, interface: 'TranslationCreateParams' }, { model: 'whisper-1', file: 'x' }],
  [
    '/moderations',
    { ...OPENAI, files: ['moderations'], interface: 'ModerationCreateParams' },
    { model: 'omni-moderation-latest', input: 'Hi.' },
  ],
  [
    '/batches',
    { ...OPENAI, files: ['batches'], interface: 'BatchCreateParams' },
    { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' },
  ],
  [
    '/messages/batches',
    { ...ANTHROPIC, files: ['messages/batches', 'messages/messages'], interface: 'BatchCreateParams' },
    { requests: [line] },
  ],
]

const WAY_NAMES = Object.keys(WAYS) as (keyof typeof WAYS)[]

/** No package declares these fields. */
const RANKED: readonly FieldPlace[] = ['model', 'query', 'documents', 'top_n', 'return_documents'].map(name => ({
  name,
  bodyWith: value => ({ model: 'cohere/rerank-v3.5', query: 'x', documents: ['x'], [name]: value }),
}))

interface OddTargets {
  proxy: TestProxy
  /** A key of a project with keys of every provider. */
  key: string
  testKey: string
}

/** Creates a project with keys of all providers, and one of the sandbox. Neither has limits. */
async function openOddTargets(proxy: TestProxy, stores: Parameters<typeof storeKey>[0]): Promise<OddTargets> {
  const key = await proxy.createKey({ project: 'a', type: 'project' })
  const testKey = await proxy.createKey({ project: 'b', type: 'test' })
  for (const provider of ['openai', 'anthropic', 'groq'] as const)
    await storeKey(stores, 'a', provider, `sk-${provider}`)
  await proxy.query(`
    update plans set requests_per_minute_per_key = 1000000, requests_per_minute_per_address = 1000000,
      requests_per_month = 100000000, test_requests_per_minute = 1000000, test_requests_per_month = 100000000`)
  return { proxy, key, testKey }
}

/** The limit of a request, even on a busy machine. */
const HUNG_MS = 120_000

/** Returns the fault; null for a success, or for a JSON error that describes the client's mistake. */
async function findFault({ proxy }: OddTargets, path: string, by: string, body: string): Promise<string | null> {
  const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' }
  const ask = () => fetch(proxy.baseUrl + path, { method: 'POST', headers, body, signal: AbortSignal.timeout(HUNG_MS) })
  const answer = await ask()
    .then(readAnswer)
    .catch((error: unknown) => `${error}`)
  if (typeof answer === 'string') return answer
  const isTold = answer.status < 400 || typeof answer.json?.error?.message === 'string'
  // Also in streams.
  const isOurs = (answer.status >= 500 && !isBusy(answer)) || /on our side|upstream call failed/.test(answer.text)
  return isTold && !isOurs ? null : `${answer.status} ${answer.text.slice(0, 200)}`
}

/** The database was too slow. The response has Retry-After and says nothing about the value. */
function isBusy({ status, headers }: Answer): boolean {
  return status === 503 && headers.has('retry-after')
}

const VALUES_EACH = 3
const FEW_FIELDS = 50
const MOST_TOLD = 20
const AT_ONCE = 8

/**
 * Each field gets some of the values in turn, so that each value occurs at every endpoint and provider. A small number of fields gets all
 * values.
 */
async function tryFields(
  targets: OddTargets,
  path: string,
  { by, fields, turn }: { by: string; fields: readonly FieldPlace[]; turn: number },
): Promise<string[]> {
  const faults: string[] = []
  const values = fields.length < FEW_FIELDS ? ODD_VALUES.length : VALUES_EACH
  const cases = draw(fields.map((field, at) => ({ ...field, at }))).flatMap(({ name, bodyWith, at }) => {
    const whole = JSON.stringify({
      ...(at % 3 === 0 && MAY_STREAM.has(path) ? { stream: true } : {}),
      ...bodyWith(PLACE),
    })
    const odds = Array.from({ length: values }, (_, n) => {
      return ODD_VALUES[n === 0 && turn % 2 === 0 ? 0 : (at * 7 + turn * 3 + n * 5) % ODD_VALUES.length] ?? ''
    })
    return draw(odds).map(odd => ({ name, odd, body: whole.replace(JSON.stringify(PLACE), odd) }))
  })
  async function work(): Promise<void> {
    for (let next = cases.pop(); next; next = cases.pop()) {
      const fault = await findFault(targets, path, by, next.body)
      if (fault !== null) faults.push(`${next.name} = ${next.odd.slice(0, 60)}: ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return faults.slice(0, MOST_TOLD)
}

const MAY_STREAM = new Set(['/chat/completions', '/responses', '/messages', '/completions'])

describeOnce('unusual values', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let targets: OddTargets

  beforeAll(async () => {
    targets = await openOddTargets(proxy, proxy.stores)
  })

  const tried = { timeout: 600_000 }

  describe.each(WAY_NAMES)('by %s', way => {
    test.each(ASKED.map(([path, type, body], turn) => ({ path, type, body, turn })))(
      '$path, $type.interface of $type.files',
      tried,
      async ({ path, type, body, turn }) => {
        const fields = listFields({ ...type, body: { model: WAYS[way], ...body } })
        expect(fields.length).toBeGreaterThan(100)
        const by = way === 'sandbox' ? targets.testKey : targets.key
        expect(await tryFields(targets, path, { by, fields, turn: turn + WAY_NAMES.indexOf(way) })).toEqual([])
      },
    )
  })

  test.each(OTHERS.map(([path, type, body]) => ({ path, type, body })))(
    '$path',
    tried,
    async ({ path, type, body }) => {
      const fields = listFields({ ...type, body: body as Record<string, unknown> })
      expect(fields.length).toBeGreaterThan(2)
      await expectAll(path, fields)
    },
  )
  test('/rerank', tried, () => expectAll('/rerank', RANKED))

  async function expectAll(path: string, fields: readonly FieldPlace[]): Promise<void> {
    for (const by of [targets.key, targets.testKey])
      expect(await tryFields(targets, path, { by, fields, turn: 1 })).toEqual([])
  }

  /** As JSON text, because an object literal cannot contain a key named `__proto__`. */
  const ODD_LINES = ['constructor', '__proto__', 'toString', ''].flatMap(url => [
    JSON.stringify({ custom_id: 'a', method: 'POST', url, body: { model: 'gpt-4o-mini', messages: [] } }),
    JSON.stringify({ custom_id: 'a', method: 'POST', url, body: { model: url, max_tokens: { toString: 1 } } }),
    `{"custom_id":"a","method":"POST","url":"/v1/responses","body":{"model":"gpt-4o-mini","__proto__":"${url}"}}`,
  ])

  test.each(ODD_LINES)('a batch of %s, if a budget needs its size', async line => {
    await proxy.query(`select set_budget('a', 'usd', 100, 'month')`)
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('__proto__', 'x')
    form.set('constructor', 'x')
    form.set('file', new File([line], 'in.jsonl'))
    const headers = { authorization: `Bearer ${targets.key}` }
    const uploaded = await fetch(`${proxy.baseUrl}/files`, { method: 'POST', headers, body: form })
    expect(uploaded.status).toBeLessThan(500)
    const { id } = (await uploaded.json()) as { id?: string }
    const body = JSON.stringify({ input_file_id: id ?? 'x', endpoint: '/v1/responses', completion_window: '24h' })
    expect(await findFault(targets, '/batches', targets.key, body)).toBeNull()
  })
})

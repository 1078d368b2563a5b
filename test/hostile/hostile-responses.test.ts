/** A provider's response takes time in proportion to its length, at every endpoint that reads or translates it, plain and streamed. */
import { beforeAll, expect, test } from 'vitest'
import { describeEmbedded } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey, type Upstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { HOSTILE_SHAPES, type HostileShape } from '../harness/hostile-texts.ts'
import { startProxy } from '../harness/proxy.ts'
import { findSlowRequest } from '../harness/slow-requests.ts'

type Body = Record<string, unknown>

const CHARS = 40_000
const SHAPES_EACH = 4
const MESSAGES = [{ role: 'user', content: 'Hello.' }]
const JSON_OBJECT = { response_format: { type: 'json_object' } }
const ENDPOINT_CASES: Record<string, Body> = {
  '/chat/completions': { messages: MESSAGES, ...JSON_OBJECT, stop: ['\n\n', ' '] },
  '/responses': { input: 'Hello.', metadata: { team: 'x' } },
  '/messages': { messages: MESSAGES, max_tokens: 9 },
}
const MODELS = ['gpt-4o-mini', 'claude-haiku-4-5', 'mistralai/mistral-small']

/** Scripts the response of each provider. */
const ANSWERS: Record<string, (text: string, upstreams: Upstreams) => void> = {
  'a text': (content, { openai, aggregator, anthropic }) => {
    for (const each of [openai, aggregator]) each.script({ kind: 'answer', content })
    anthropic.script({ kind: 'answer', content: [{ type: 'text', text: content, citations: null }] })
  },
  'a fenced text': (text, { openai, aggregator, anthropic }) => {
    const content = `\`\`\`json\n${text}`
    for (const each of [openai, aggregator]) each.script({ kind: 'answer', content })
    anthropic.script({ kind: 'answer', content: [{ type: 'text', text: content, citations: null }] })
  },
  'a call': (text, { openai, aggregator, anthropic }) => {
    for (const each of [openai, aggregator])
      each.script({ kind: 'answer', toolCalls: [{ name: 'look', arguments: JSON.stringify({ text }), id: text }] })
    const input = { text }
    anthropic.script({ kind: 'answer', content: [{ type: 'tool_use', id: text, name: 'look', input } as never] })
  },
  'an error': (message, { openai, aggregator, anthropic }) => {
    for (const each of [openai, aggregator]) each.script({ kind: 'error', status: 400, message, code: message })
    anthropic.script({ kind: 'error', status: 400, type: 'invalid_request_error', message })
  },
}

describeEmbedded('hostile responses', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' } }),
  )
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ project: 'own-keys', type: 'project' })
    for (const provider of ['openai', 'anthropic'] as const)
      await storeKey(proxy.stores, 'own-keys', provider, 'sk-own')
  })

  const places = Object.keys(ANSWERS).flatMap(answer =>
    Object.keys(ENDPOINT_CASES).flatMap(path =>
      MODELS.flatMap(model => [true, false].map(stream => [answer, path, model, stream] as const)),
    ),
  )
  /** Each place gets several shapes. The next place uses the next shapes. */
  const cases = places.flatMap((place, at) =>
    Array.from({ length: SHAPES_EACH }, (_, nth) => {
      const shape = HOSTILE_SHAPES[(at * SHAPES_EACH + nth) % HOSTILE_SHAPES.length] as HostileShape
      return [...place, shape.name, shape] as const
    }),
  )

  test.each(draw(cases))('%s at %s by %s, streamed: %s, of %s', async (answer, path, model, stream, _, { write }) => {
    const grown = await findSlowRequest(CHARS, async chars => {
      upstreams.reset()
      ANSWERS[answer]?.(write(chars), upstreams)
      // Otherwise identical requests would share one response.
      const headers = { 'cache-control': 'no-store' }
      await (await post(proxy, key, path, { ...ENDPOINT_CASES[path], model, stream }, { headers })).text()
    })
    expect(grown).toBeNull()
  })
})

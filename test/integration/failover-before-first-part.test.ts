/** A stream that fails before its first text, reasoning or tool call is retried with a fallback; one that fails later is not. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { Scenario as ClaudeScenario } from '../fake-anthropic/scenario.ts'
import type { RawScenario, Scenario } from '../fake-provider/scenario.ts'
import { describeOnce } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import type { Endpoint, Mode, Outcome } from '../harness/outcomes/outcome.ts'
import { readOutcome } from '../harness/outcomes/read-outcome.ts'
import { pathOf, writeRequest } from '../harness/provider-cases/requests.ts'
import {
  chatBody,
  chatStream,
  chunk,
  DONE,
  frame,
  JSON_TYPE,
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  ROLE,
  STREAM,
  typedEvents,
  USAGE,
  usageChunk,
} from '../harness/provider-cases/write-bytes.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

/** A comment; a blank line for Gemini's clients, which cannot read comments. */
const KEEP_ALIVE = /^(?::|\r\n)/
const ENDPOINTS: readonly Endpoint[] = ['chat', 'responses', 'messages', 'generate_content']
const WANTED = 'openai/gpt-4o-mini'
const CLAUDE = 'claude-haiku-4-5'
const FALLBACK = 'openai/gpt-4o'
const SILENCE_MS = 50
const NEVER_MS = 60 * 60_000
/** Longer than the silence after which the response head is sent. */
const TIMEOUTS = { UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '1000', UPSTREAM_IDLE_TIMEOUT_MS: '1000' }
/** A limit for requests that hang. */
const HANGS_AFTER_MS = 20_000
/** Ids and messages of each failing response. */
const TRACES = /chatcmpl-1"|msg_1"|trouble|overloaded|"error":(?!null)/i
const ERROR = { message: 'There is trouble', code: 502 }

const raw = (body: string, more: Partial<RawScenario> = {}): RawScenario => {
  return { kind: 'raw', parts: body === '' ? [] : [body], ...more }
}
const asJson = { headers: { 'content-type': JSON_TYPE } }

const EARLY: Record<string, RawScenario> = {
  'cut after the head': raw('', { afterwards: 'cut' }),
  'cut after a comment': raw(': processing\n\n', { afterwards: 'cut' }),
  'cut after the role': raw(ROLE, { afterwards: 'cut' }),
  'no event at all': raw(''),
  'the role, and the end of the body': raw(ROLE),
  'the role, and [DONE]': raw(ROLE + DONE),
  '[DONE] alone': raw(DONE),
  'an error as the first event': raw(frame({ error: ERROR }) + DONE),
  'an error that is a text as the first event': raw(frame({ error: 'There is trouble' })),
  'an error under its own name': raw(`event: error\n${frame({ error: ERROR })}`),
  'an error in a field of the stream': raw('error: {"code":500,"message":"There is trouble"}\n\n'),
  'an error after the role': raw(ROLE + frame({ error: ERROR }) + DONE),
  'an error after a first chunk without choices': raw(frame({ choices: [] }) + ROLE + frame({ error: ERROR })),
  'choices: []': raw(frame({ id: 'chatcmpl-1', choices: [] }) + DONE),
  'finish_reason error without text': raw(ROLE + chunk({}, 'error') + usageChunk(USAGE) + DONE),
  'an unknown finish_reason without text': raw(ROLE + chunk({}, 'network_error') + DONE),
  'stop without a word, and tokens counted': raw(chatStream({ deltas: [] })),
  'an error body that is plain JSON': raw(JSON.stringify({ error: ERROR }), asJson),
  'an error body labelled as a stream': raw(JSON.stringify({ error: ERROR })),
  'choices: [] that is plain JSON': raw('{"id":"chatcmpl-1","choices":[]}', asJson),
  'a page': raw('<html>There is trouble</html>', { headers: { 'content-type': 'text/html' } }),
  'nothing, labelled as JSON': raw('', asJson),
  'unreadable JSON': raw('data: {"choices":[{"ind\n\n', { afterwards: 'cut' }),
}

const SILENT: Record<string, Scenario> = {
  'before the head': { kind: 'hang', after: 'nothing' },
  'after the head': raw('', { afterwards: 'hang' }),
  'after the role': raw(ROLE, { afterwards: 'hang' }),
}

const EARLY_PLAIN: Record<string, RawScenario> = {
  'an error body': raw(JSON.stringify({ error: ERROR }), asJson),
  'choices: []': raw('{"id":"chatcmpl-1","choices":[]}', asJson),
  nothing: raw('', asJson),
  'a page': raw('<html>There is trouble</html>', { headers: { 'content-type': 'text/html' } }),
  'finish_reason error without text': raw(chatBody({ message: { content: '' }, finish: 'error' }), asJson),
  'output tokens with nothing to show': raw(chatBody({ message: { content: '' } }), asJson),
  'a stream with an error as its first event': raw(frame({ error: ERROR })),
}

const OVERLOADED = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } as const
const START = messageStart({ input_tokens: 10, output_tokens: 1 })
const EARLY_CLAUDE: Record<string, string> = {
  'overloaded_error as the first event': typedEvents(OVERLOADED),
  'overloaded_error after message_start': START + typedEvents(OVERLOADED),
  'the end of the body after message_start': START,
  'an empty block, then overloaded_error':
    START +
    typedEvents(
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'ping' },
      OVERLOADED,
    ),
  'no event at all': '',
  'an error body': JSON.stringify(OVERLOADED),
  'output tokens with nothing to show': START + messageDelta('end_turn', { output_tokens: 100 }) + MESSAGE_STOP,
}

const LATE: Record<string, RawScenario> = {
  'text, then an error': raw(ROLE + chunk({ content: 'Half' }) + frame({ error: ERROR }) + DONE),
  'text, then a cut': raw(ROLE + chunk({ content: 'Half' }), { afterwards: 'cut' }),
  'text, then the end of the body': raw(ROLE + chunk({ content: 'Half' })),
  'reasoning, then a cut': raw(ROLE + chunk({ reasoning_content: 'Half' }), { afterwards: 'cut' }),
  'a call, then a cut': raw(
    ROLE +
      chunk({
        tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'run', arguments: '{"co' } }],
      }),
    { afterwards: 'cut' },
  ),
  'text, then finish_reason error': raw(ROLE + chunk({ content: 'Half' }) + chunk({}, 'error') + DONE),
}

const HEALTHY_FALLBACK: Scenario = { kind: 'answer', content: 'Healthy' }

interface Wanted {
  scenario?: Scenario | Promise<Scenario>
  /** The scenario for a project's own Anthropic key. */
  claude?: ClaudeScenario
  /** The fallback succeeds by default. */
  fallback?: Scenario
}

interface Answered extends Outcome {
  model: string | null
  cache: string | null
  body: string
}

describeOnce('failover before the first part', backend => {
  const upstreams = duringTests(startUpstreams)
  const environment = (more = {}) => ({
    ...upstreams.environment,
    UPSTREAM_MAX_RETRIES: '0',
    UPSTREAM_CIRCUIT_FAILURES: '1000000',
    ...more,
  })
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: environment(), keepAliveAfterMs: NEVER_MS }),
  )
  /** A proxy that sends response heads early. */
  const quick = duringTests(() =>
    startProxy({ stores: proxy.stores, environment: environment(), keepAliveAfterMs: SILENCE_MS }),
  )
  /** The same, and it abandons silent providers. */
  const impatient = duringTests(() =>
    startProxy({ stores: proxy.stores, environment: environment(TIMEOUTS), keepAliveAfterMs: SILENCE_MS }),
  )
  let key: string
  let prompts = 0
  const scripts = new Map<string, Wanted>()

  beforeAll(async () => {
    const settings = { semantic_mode: 'off', fallbacks: FALLBACK }
    key = await proxy.createKey({ project: 'fallbacks', type: 'project', settings })
    await storeKey(proxy.stores, 'fallbacks', 'anthropic', 'sk-own')
    answerAsScripted()
  })

  /** Returns a new prompt to which the requested model responds as given. */
  function promptFor(wanted: Wanted): string {
    const name = `prompt-${++prompts}`
    scripts.set(name, wanted)
    return `Is ${name} answered?`
  }

  function answerAsScripted(): void {
    upstreams.aggregator.script(({ body, bodyText }) => {
      const { scenario, fallback } = scripts.get(/prompt-\d+/.exec(bodyText)?.[0] ?? '') ?? {}
      return (body as { model: string }).model === FALLBACK ? (fallback ?? HEALTHY_FALLBACK) : scenario
    })
    upstreams.anthropic.script(({ bodyText }) => scripts.get(/prompt-\d+/.exec(bodyText)?.[0] ?? '')?.claude)
  }

  const isFallbackCalled = (prompt: string) =>
    upstreams.aggregator.requests.some(({ body, bodyText }) => {
      return bodyText.includes(prompt) && (body as { model: string }).model === FALLBACK
    })

  async function send(endpoint: Endpoint, mode: Mode, prompt: string, { model = WANTED, to = proxy } = {}) {
    const request = { endpoint, mode, model, prompt, tools: true }
    const sending = { signal: AbortSignal.timeout(HANGS_AFTER_MS) }
    const response = await post(to, key, pathOf(request), writeRequest(request), sending)
    const { status, headers } = response
    const { body, isCut } = await response.text().then(
      text => ({ body: text, isCut: false }),
      () => ({ body: '', isCut: true }),
    )
    const contentType = headers.get('content-type') ?? ''
    return {
      ...readOutcome(endpoint, mode, { status, contentType, body, isCut }),
      model: headers.get('x-proxy-model'),
      cache: headers.get('x-proxy-cache'),
      body,
    }
  }

  const HEALTHY = { text: 'Healthy', calls: [], end: 'stop', problems: [] }
  function expectHealthy(answered: Answered, model: string | null = FALLBACK): void {
    const { text, calls, end, problems, body } = answered
    const found = { text, calls, end, problems, model: answered.model, trace: TRACES.exec(body)?.[0] ?? null }
    expect(found, JSON.stringify(found)).toEqual({ ...HEALTHY, model, trace: null })
  }

  /** The cases at each endpoint. */
  const each = <Value>(values: Record<string, Value>) =>
    draw(ENDPOINTS.flatMap(endpoint => Object.entries(values).map(([name, value]) => [endpoint, name, value] as const)))

  test.each(each(EARLY))('%s, a stream: %s', async (endpoint, _, scenario) => {
    expectHealthy(await send(endpoint, 'streamed', promptFor({ scenario })))
  })

  test.each(each(EARLY_PLAIN))('%s, a plain response: %s', async (endpoint, _, scenario) => {
    expectHealthy(await send(endpoint, 'plain', promptFor({ scenario })))
  })

  test.each(each(EARLY_CLAUDE))('%s, a stream with the project’s Anthropic key: %s', async (endpoint, _, body) => {
    const prompt = promptFor({ claude: { kind: 'raw', status: 200, headers: { 'content-type': STREAM }, body } })
    expectHealthy(await send(endpoint, 'streamed', prompt, { model: CLAUDE }))
  })

  test.each(each(LATE))('%s, no fallback after the first part: %s', async (endpoint, name, scenario) => {
    const prompt = promptFor({ scenario })
    // Gemini's calls are sent whole: nothing of a part of one has been sent.
    if (endpoint === 'generate_content' && name.startsWith('a call'))
      return expectHealthy(await send(endpoint, 'streamed', prompt))
    const { end, problems, body } = await send(endpoint, 'streamed', prompt)
    expect({ end, problems }, `${end} ${problems}`).toEqual({ end: 'error', problems: [] })
    expect(body).toMatch(/Half|"run"/)
    expect(isFallbackCalled(prompt)).toBe(false)
    expect((await send(endpoint, 'streamed', prompt)).cache).not.toBe('HIT')
  })

  test.concurrent.each(each(SILENT))('%s, a stream that stays silent %s', async (endpoint, _, scenario) => {
    // The head is sent before the responding model is known.
    expectHealthy(await send(endpoint, 'streamed', promptFor({ scenario }), { to: impatient }), null)
  })

  describe.each(ENDPOINTS)('%s', endpoint => {
    test('a stream with the project’s Anthropic key that is cut after its headers', async () => {
      const prompt = promptFor({ claude: { kind: 'cut', after: 0 } })
      expectHealthy(await send(endpoint, 'streamed', prompt, { model: CLAUDE }))
    })

    test('a fallback that fails in the same way ends in a failure', async () => {
      const scenario = raw(frame({ error: ERROR }))
      const { end, text, problems } = await send(endpoint, 'streamed', promptFor({ scenario, fallback: scenario }))
      expect({ end, text, problems }).toEqual({ end: 'error', text: '', problems: [] })
    })

    test.concurrent('after a silence, headers and a comment are sent, and the provider may still respond', async () => {
      const { promise: scenario, resolve: answer } = Promise.withResolvers<Scenario>()
      const stream = await beginStream(endpoint, promptFor({ scenario }))
      await waitUntil('a comment arrives', () => stream.seen() !== '' || stream.isOver())
      expect(stream.seen()).toMatch(KEEP_ALIVE)
      expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/)
      answer({ kind: 'answer', content: 'Late, but well' })
      expect(await stream.read()).toMatchObject({ text: 'Late, but well', end: 'stop', problems: [] })
    })

    test.concurrent('after a silence, a fallback may still respond', async () => {
      const { promise: scenario, resolve: answer } = Promise.withResolvers<Scenario>()
      const stream = await beginStream(endpoint, promptFor({ scenario }))
      await waitUntil('a comment arrives', () => stream.seen() !== '' || stream.isOver())
      expect(stream.seen()).toMatch(KEEP_ALIVE)
      answer(raw(frame({ error: ERROR })))
      expect(await stream.read()).toMatchObject(HEALTHY)
      expect(stream.seen()).not.toMatch(TRACES)
    })

    test.concurrent('after a silence, a failure of all is an error event', async () => {
      const { promise: scenario, resolve: answer } = Promise.withResolvers<Scenario>()
      const fallback = raw(frame({ error: ERROR }))
      const stream = await beginStream(endpoint, promptFor({ scenario, fallback }))
      await waitUntil('a comment arrives', () => stream.seen() !== '' || stream.isOver())
      expect(stream.seen()).toMatch(KEEP_ALIVE)
      answer(raw(frame({ error: ERROR })))
      expect(await stream.read()).toMatchObject({ text: '', end: 'error', problems: [] })
    })
  })

  /** Reads a stream part by part. */
  async function beginStream(endpoint: Endpoint, prompt: string) {
    const request = { endpoint, mode: 'streamed', model: WANTED, prompt } as const
    const sending = { signal: AbortSignal.timeout(HANGS_AFTER_MS) }
    const response = await post(quick, key, pathOf(request), writeRequest(request), sending)
    const decoder = new TextDecoder()
    let text = ''
    let isOver = false
    async function read(): Promise<Outcome> {
      for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true })
      const { status, headers } = response
      const contentType = headers.get('content-type') ?? ''
      return readOutcome(endpoint, 'streamed', { status, contentType, body: text, isCut: false })
    }
    const reading = read()
    reading.catch(() => {}).finally(() => (isOver = true))
    return { response, seen: () => text, isOver: () => isOver, read: () => reading }
  }
})

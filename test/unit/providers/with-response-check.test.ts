import { describe, expect, test } from 'vitest'
import type { Provider, UpstreamRequest, UpstreamResponse } from '../../../src/providers/upstream.ts'
import { brokenResponseError, type UpstreamFailure } from '../../../src/providers/upstream-failure.ts'
import { withResponseCheck } from '../../../src/providers/with-response-check.ts'
import { withRetries } from '../../../src/providers/with-retries.ts'

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const CHOICE = { index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }
const GOOD = JSON.stringify({ id: 'c', choices: [CHOICE], usage: USAGE })
const GOOD_STREAM = eventsOf(
  { choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] },
  { choices: [], usage: USAGE },
)

function eventsOf(...chunks: object[]): string {
  return `${chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
}

interface Given {
  body: string
  status?: number
  type?: string
  /** Error with which the body fails after its text. */
  brokenBy?: unknown
}

const asStream = (body: string): Given => ({ body, type: 'text/event-stream' })

function bodyOf({ body, brokenBy }: Given): ReadableStream<Uint8Array> {
  if (brokenBy === undefined) return new Blob([body]).stream()
  const left = [new TextEncoder().encode(body)]
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = left.shift()
      if (piece) controller.enqueue(piece)
      else controller.error(brokenBy)
    },
  })
}

/** A provider that returns these responses in order and repeats the last one. It is called with the proxy's response check and retries. */
function provide(...given: Given[]) {
  let requests = 0
  const provider: Provider = {
    name: 'p',
    pricedAs: null,
    async send(): Promise<UpstreamResponse> {
      const next = given[Math.min(requests++, given.length - 1)] as Given
      const { status = 200, type = 'application/json' } = next
      const headers = new Headers({ 'content-type': type })
      return { status, headers, body: bodyOf(next), isStorable: () => true }
    },
  }
  const { send: ask } = withRetries(withResponseCheck(provider), { maxRetries: 2, random: () => 0 })
  async function send(fields: Partial<UpstreamRequest> = {}) {
    const headers = new Headers()
    const request = { endpoint: 'chat', bodyText: '{}', body: {}, headers, stream: false } as const
    const settled = await ask({ ...request, signal: new AbortController().signal, ...fields }).catch(
      (failure: UpstreamFailure) => failure,
    )
    return { settled, requests }
  }
  return send
}

const inBody = (fields: object) => ({ body: JSON.stringify({ id: 'c', ...fields }) })
const CALLED = { usage: { promptTokens: 3, completionTokens: 2 } }

describe('a plain response', () => {
  test('is read and judged once', async () => {
    const { settled, requests } = await provide({ body: GOOD })()
    expect(requests).toBe(1)
    expect(settled).toMatchObject({ status: 200, plain: { completeness: 'whole', failure: null, ...CALLED } })
  })

  test.each<[string, Given]>([
    ['without a choice', inBody({ choices: [] })],
    ['without a finish reason', inBody({ choices: [{ ...CHOICE, finish_reason: null }] })],
    ['that is an HTML page', { body: '<html>', type: 'text/html' }],
    ['that is empty', { body: '' }],
    ['with an unknown finish reason', inBody({ choices: [{ ...CHOICE, finish_reason: 'abort' }] })],
    ['with a server error', inBody({ error: { message: 'Overloaded', code: 503 } })],
  ])('%s is retried if it cost nothing', async (_, failed) => {
    const { settled, requests } = await provide(failed, { body: GOOD })()
    expect([settled.status, requests]).toEqual([200, 2])
  })

  test('that is a failure each time is a failure in the end', async () => {
    const { settled, requests } = await provide(inBody({ choices: [] }))()
    expect(requests).toBe(3)
    expect(settled).toMatchObject({ status: 502, kind: 'empty', failureKind: 'malformed', replacesResponse: true })
  })

  test('that was charged is not retried', async () => {
    for (const failed of [inBody({ choices: [], usage: USAGE }), inBody({ error: { code: 503 }, usage: USAGE })]) {
      const { settled, requests } = await provide(failed, { body: GOOD })()
      expect(requests).toBe(1)
      expect(settled).toMatchObject(CALLED)
    }
  })

  test('with an error about the request is not retried', async () => {
    const error = { message: 'Too long', code: 400, type: 'invalid_request_error' }
    const { settled, requests } = await provide(inBody({ error }), { body: GOOD })()
    expect(requests).toBe(1)
    expect(settled).toMatchObject({ status: 400, kind: 'reported', message: 'Too long' })
  })

  test('that the provider would store is not requested again', async () => {
    const { requests } = await provide(inBody({ choices: [] }), { body: GOOD })({ body: { store: true } })
    expect(requests).toBe(1)
  })

  test('may be a stream that some providers send instead', async () => {
    const { settled } = await provide(asStream(GOOD_STREAM))()
    expect(settled).toMatchObject({ plain: { completeness: 'whole', ...CALLED } })
  })

  test.each([{ endpoint: 'embeddings' }, { isCountOnly: true }] as const)('of %j is not read', async fields => {
    const { settled } = await provide({ body: '{}' })(fields)
    expect(settled).toMatchObject({ status: 200 })
    expect(settled).not.toHaveProperty('plain')
  })

  test('with another status is not read', async () => {
    const { settled } = await provide({ body: '{}', status: 404 })()
    expect(settled).toMatchObject({ status: 404 })
    expect(settled).not.toHaveProperty('plain')
  })
})

describe('a stream', () => {
  const role = { choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] }

  test('is read to its first part', async () => {
    const { settled, requests } = await provide(asStream(GOOD_STREAM))({ stream: true })
    expect(requests).toBe(1)
    expect(settled).toHaveProperty('stream.assembler.hasOutput', true)
  })

  test.each([
    ['is empty', ''],
    ['has only the end marker', 'data: [DONE]\n\n'],
    ['ends after the role', eventsOf(role)],
    ['has an error first', 'event: error\ndata: {"message":"overloaded"}\n\n'],
    ['has an error after the role', eventsOf(role, { error: { message: 'Overloaded', code: 503 } })],
  ])('that %s is retried', async (_, text) => {
    const { settled, requests } = await provide(asStream(text), asStream(GOOD_STREAM))({ stream: true })
    expect(requests).toBe(2)
    expect(settled).toHaveProperty('stream.assembler.hasOutput', true)
  })

  test('that was charged before its first part is not retried', async () => {
    const text = eventsOf(role, { choices: [], usage: USAGE })
    const { settled, requests } = await provide(asStream(text), asStream(GOOD_STREAM))({ stream: true })
    expect(requests).toBe(1)
    expect(settled).toMatchObject({ status: 502, kind: 'empty', ...CALLED })
  })

  test('that breaks off before its first part costs what was reported', async () => {
    const text = `data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\n`
    const { settled } = await provide({ ...asStream(text), brokenBy: brokenResponseError('p', 'broke off') })({
      stream: true,
    })
    expect(settled).toMatchObject({ status: 502, kind: 'broken', ...CALLED })
  })

  test('that fails after its first part is not retried', async () => {
    const text = eventsOf({ choices: [{ index: 0, delta: { content: 'Hi' } }] }, { error: { message: 'Overloaded' } })
    const { settled, requests } = await provide(asStream(text), asStream(GOOD_STREAM))({ stream: true })
    expect(requests).toBe(1)
    expect(settled).toHaveProperty('stream.assembler.hasOutput', true)
  })

  test('that ends regularly without a part is no failure of the provider', async () => {
    const text = eventsOf({ choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }] })
    const { settled, requests } = await provide(asStream(text))({ stream: true })
    expect(requests).toBe(1)
    expect(settled).toHaveProperty('stream.assembler.hasOutput', false)
  })

  test('may be an object, with or without the label of a stream', async () => {
    for (const given of [{ body: GOOD }, asStream(GOOD)]) {
      const { settled } = await provide(given)({ stream: true })
      expect(settled).toMatchObject({ plain: { completeness: 'whole', ...CALLED } })
    }
  })
})

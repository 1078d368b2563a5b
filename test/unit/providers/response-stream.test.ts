import { describe, expect, test } from 'vitest'
import type { Endpoint } from '../../../src/formats/endpoint.ts'
import type { JsonObject } from '../../../src/formats/json/canonical.ts'
import { createResponseTranslator } from '../../../src/formats/translation.ts'
import { ResponseStream } from '../../../src/providers/response-stream.ts'
import { brokenResponseError } from '../../../src/providers/upstream-failure.ts'

const encoder = new TextEncoder()
const expected = { clientSetOutputLimit: true }

const delta = (fields: object, finishReason: string | null = null) =>
  ({ id: 'c', choices: [{ index: 0, delta: fields, finish_reason: finishReason }] }) as JsonObject
const eventOf = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

const ROLE = eventOf(delta({ role: 'assistant', content: '' }))
const TEXT = eventOf(delta({ content: 'Hi.' }))
const END = eventOf(delta({}, 'stop'))
const DONE = eventOf('[DONE]')

const HANGS = Symbol('hangs')

/** A body that delivers one piece per read. After the last piece it closes, hangs or fails with `failure`. */
function bodyOf(pieces: readonly string[], failure?: unknown): ReadableStream<Uint8Array> {
  const left = [...pieces]
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = left.shift()
        if (piece !== undefined) controller.enqueue(encoder.encode(piece))
        else if (failure === HANGS) return new Promise(() => {})
        else if (failure) controller.error(failure)
        else controller.close()
        return undefined
      },
    },
    { highWaterMark: 0 },
  )
}

function open(
  pieces: readonly string[],
  { endpoint = 'chat' as Endpoint, failure }: { endpoint?: Endpoint; failure?: unknown } = {},
) {
  return new ResponseStream(bodyOf(pieces, failure), { endpoint, expected: expected }, null)
}

async function readText(stream: ResponseStream): Promise<string> {
  let text = ''
  for (let events = await stream.read(); events !== null; events = await stream.read())
    for (const event of events) text += new TextDecoder().decode(event)
  return text
}

describe('reading to the first part', () => {
  test('holds a bounded beginning, and lets the stream continue', async () => {
    const long = eventOf({ id: 'x'.repeat(1_000_000) })
    const stream = open(
      Array.from({ length: 50 }, () => long),
      { failure: HANGS },
    )
    expect(await stream.readToFirstPart()).toBe(true)
    expect(stream.assembler.hasOutput).toBe(false)
  })

  test.each([
    ['a content part', [ROLE, TEXT], true],
    ['an end without content', [ROLE, END, DONE], false],
    ['an error', [eventOf({ error: 'overloaded' })], false],
    ['an empty body', [], false],
  ])('reports whether the stream continues: %s', async (_, pieces, goesOn) => {
    expect(await open(pieces).readToFirstPart()).toBe(goesOn)
  })

  test('reads no further than the first part, and read returns all that was read', async () => {
    const stream = open([ROLE, TEXT, END, DONE])
    await stream.readToFirstPart()
    expect(stream.assembler.hasOutput).toBe(true)
    const first = await stream.read()
    expect(first?.map(event => new TextDecoder().decode(event))).toEqual([ROLE, TEXT])
    expect(await readText(stream)).toBe(END + DONE)
    expect(stream.analyze()).toMatchObject({ completeness: 'whole', failure: null })
  })

  test('reads on after a role, a keep-alive or an empty text', async () => {
    const stream = open([': PROCESSING\n\n', ROLE, eventOf(delta({ content: null })), TEXT, END])
    await stream.readToFirstPart()
    expect(await stream.read()).toHaveLength(4)
  })

  test.each([
    ['reasoning', delta({ reasoning_content: 'Hm' })],
    ['a tool call', delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] })],
    ['a refusal', delta({ refusal: 'No' })],
    ['an image', delta({ images: [{ type: 'image_url' }] })],
    ['an unknown field', delta({ video: { data: 'x' } })],
  ])('accepts %s as a part', async (_, chunk) => {
    const stream = open([ROLE, eventOf(chunk), TEXT, END])
    await stream.readToFirstPart()
    expect(await stream.read()).toHaveLength(2)
  })

  test('ends at an error, at the closing event and at the end', async () => {
    for (const pieces of [[ROLE, eventOf({ error: { message: 'No.' } })], [ROLE, END, DONE], [ROLE]]) {
      const stream = open(pieces)
      await stream.readToFirstPart()
      expect(stream.assembler.hasOutput).toBe(false)
      expect(stream.analyze().failure === null).toBe(pieces.length === 3)
    }
  })

  test('waits for nothing after the closing event', async () => {
    const stream = open([ROLE, END, DONE], { failure: HANGS })
    await stream.readToFirstPart()
    expect(stream.analyze()).toMatchObject({ completeness: 'empty_message', failure: null })
  })

  test('rejects if the connection breaks before', async () => {
    const failure = brokenResponseError('p', 'broke off its answer')
    await expect(open([ROLE], { failure }).readToFirstPart()).rejects.toBe(failure)
  })
})

describe('reading a stream', () => {
  test('returns events unchanged', async () => {
    const text = `: OK\n\n${ROLE}event: message\r\nid: 7\r\n${TEXT}${END}${DONE}`
    expect(await readText(open([text]))).toBe(text)
    expect(await readText(open([...text]))).toBe(text)
  })

  test('omits empty frames and keep-alives with data', async () => {
    const pieces = [ROLE, eventOf('{}'), 'event: ping\ndata: ping\n\n', eventOf(''), TEXT, eventOf('null'), END, DONE]
    expect(await readText(open(pieces))).toBe(ROLE + TEXT + END + DONE)
    expect(await readText(open([pieces.join('')]))).toBe(ROLE + TEXT + END + DONE)
  })

  test('omits a chunk that cannot be parsed', async () => {
    const stream = open([TEXT, 'data: {"choices":[{"del'])
    expect(await readText(stream)).toBe(TEXT)
    expect(stream.analyze()).toMatchObject({ completeness: 'malformed_chunk', failure: { status: 502 } })
  })

  test('rewrites only calls that clients would confuse', async () => {
    const call = (id: string) =>
      eventOf(delta({ tool_calls: [{ index: 0, id, function: { name: 'f', arguments: '{}' } }] }))
    const text = await readText(open([call('a'), call('b'), END, DONE]))
    expect(text).toBe(call('a') + call('b').replace('{"index":0,"id"', '{"index":1,"id"') + END + DONE)
  })

  test('writes an error under the name that chat clients expect', async () => {
    const text = await readText(open([TEXT, 'event: error\ndata: {"message":"No."}\n\n']))
    expect(text).toBe(`${TEXT}data: {"error":{"message":"No."}}\n\n`)
  })

  test('changes no event of other endpoints', async () => {
    const text =
      'event: ping\ndata: {"type":"ping"}\n\nevent: error\ndata: {"type":"error","error":{"message":"No."}}\n\n'
    expect(await readText(open([text], { endpoint: 'messages' }))).toBe(text)
  })
})

describe('a plain response', () => {
  const body = JSON.stringify({ id: 'c', choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }] })

  test.each([
    ['at once', [body]],
    ['in pieces', [...body]],
    ['with a line end', [`${body}\n`]],
  ])('is an object labelled as a stream, %s', async (_, pieces) => {
    const stream = open(pieces)
    await stream.readToFirstPart()
    expect(stream.isPlain).toBe(true)
    expect(new TextDecoder().decode(await stream.readPlain()).trim()).toBe(body)
  })

  test('is not an object between events', async () => {
    const error = '{"error":{"message":"No."}}\n\n'
    for (const pieces of [[TEXT, error], [TEXT + error], [ROLE + error], [TEXT + END + error]]) {
      const stream = open(pieces)
      await readText(stream)
      expect(stream.isPlain).toBe(false)
      expect(stream.analyze()).toMatchObject({ completeness: 'error_in_stream', failure: { message: 'No.' } })
    }
  })

  test('is not a stream', async () => {
    const stream = open([ROLE, TEXT, END, DONE])
    await readText(stream)
    expect(stream.isPlain).toBe(false)
  })
})

describe('a reported failure', () => {
  test.each<[string, string, boolean]>([
    ['in an event', eventOf({ error: { message: 'No.' } }), true],
    ['in an event named `error`', 'event: error\ndata: {"message":"No."}\n\n', true],
    ['in a field named `error`', 'error: {"message":"No."}\n\n', false],
    ['in a choice', eventOf({ choices: [{ index: 0, delta: {}, error: { message: 'No.' } }] }), false],
    ['in x_groq', eventOf({ choices: [], x_groq: { error: 'No.' } }), false],
  ])('an error %s', async (_, event, isTold) => {
    const stream = open([TEXT, event])
    await readText(stream)
    expect(stream.hasReportedFailure).toBe(isTold)
    expect(stream.analyze()).toMatchObject({ completeness: 'error_in_stream' })
  })
})

describe('judging a response', () => {
  test('judges the response from which a stream is translated', async () => {
    const context = { model: 'm', inputTokens: 1, requestId: 'req_1', extrasKeys: ['p m'] }
    const translation = createResponseTranslator({
      endpoint: 'messages',
      source: 'chat',
      context,
      expected,
    }).createStreamTranslator()
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }]
    const chunks = [delta({ content: 'A dot:', images }), delta({}, 'stop')]
    const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }
    const events = [...chunks, usage].flatMap(chunk => translation.push({ event: null, data: JSON.stringify(chunk) }))
    const written = [...events, ...translation.end()].map(event => `event: ${event.type}\n${eventOf(event)}`)
    const stream = new ResponseStream(bodyOf(written), { endpoint: 'messages', expected: expected }, translation)
    await readText(stream)
    expect(stream.finish().completeness).toBe('whole')
    expect(stream.analyze()).toMatchObject({
      completeness: 'omitted_parts',
      omitted: ['images'],
      failure: null,
      usage: { promptTokens: 3, completionTokens: 2 },
      id: expect.stringMatching(/^msg_/),
    })
  })
})

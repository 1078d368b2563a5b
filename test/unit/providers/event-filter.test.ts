import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createEventSplitter } from '../../../src/formats/sse/split-events.ts'
import { parseSseEvent } from '../../../src/formats/sse/sse.ts'
import { createBodyRedactor } from '../../../src/providers/credentials/body-filter.ts'
import { Credentials } from '../../../src/providers/credentials/credentials.ts'
import { EventFilter } from '../../../src/providers/credentials/event-filter.ts'
import { containsCredential, ENCODINGS } from '../../harness/quote-credential.ts'

const SECRET = 'sk-proj-a1B2c3D4e5F6g7H8i9J0/kL+m~n_o'
const OTHER = 'gsk_another0123456789'
const credentials = new Credentials([SECRET, OTHER])

type Json = Record<string, unknown>
interface Form {
  write(text: string, choice?: number): Json
  read(event: Json): string
}

// biome-ignore lint/suspicious/noExplicitAny: each form reads its own events.
type Any = any
const chat = (write: (text: string) => Json, read: (delta: Any) => string | undefined): Form => ({
  write: (text, choice = 0) => ({
    id: 'c',
    object: 'chat.completion.chunk',
    choices: [{ index: choice, delta: write(text) }],
  }),
  read: (event: Any) => event.choices.map(({ delta }: Any) => read(delta) ?? '').join(''),
})
const typed = (type: string, fields: Json, name = 'delta'): Form => ({
  write: (text, choice = 0) => ({ type, event_id: crypto.randomUUID(), output_index: choice, ...fields, [name]: text }),
  read: (event: Any) => (event.type === type ? event[name] : ''),
})
const messages = (type: string, name: string): Form => ({
  write: text => ({ type: 'content_block_delta', index: 0, delta: { type, [name]: text } }),
  read: (event: Any) => event.delta?.[name] ?? '',
})

const FORMS: Record<string, Form> = {
  'content of a chat chunk': chat(
    content => ({ content }),
    ({ content }) => content,
  ),
  'arguments of a chat tool call': chat(
    text => ({ tool_calls: [{ index: 1, function: { arguments: text } }] }),
    ({ tool_calls }) => tool_calls[0].function.arguments,
  ),
  'reasoning of a chat chunk': chat(
    text => ({ content: '', reasoning_details: [{ type: 'reasoning.text', text }] }),
    ({ reasoning_details }) => reasoning_details[0].text,
  ),
  'a legacy completion': {
    write: (text, choice = 0) => ({ id: 'c', choices: [{ index: choice, text }] }),
    read: (event: Any) => event.choices[0].text,
  },
  'text of a response': typed('response.output_text.delta', { item_id: 'msg', content_index: 0 }),
  'function arguments of a response': typed('response.function_call_arguments.delta', { item_id: 'fc' }),
  'text of a message': messages('text_delta', 'text'),
  'tool input of a message': messages('input_json_delta', 'partial_json'),
  'a transcript': typed('transcript.text.delta', {}),
  'a realtime transcript': typed('response.output_audio_transcript.delta', { response_id: 'r', content_index: 0 }),
}

const write = (event: Json) => `data: ${JSON.stringify(event)}\n\n`
const decode = (inJson: string) => JSON.parse(`"${inJson}"`) as string

/** Forwards a stream event by event, and records the output after each event. */
function forward(events: readonly string[], by = credentials) {
  const filter = createBodyRedactor(by, { headers: new Headers({ 'content-type': 'text/event-stream' }) })
  const outputs = [...events.map(event => filter.push(Buffer.from(event))), filter.end()].map(each =>
    Buffer.from(each).toString(),
  )
  return { text: outputs.join(''), outputs, hasFound: filter.hasFound }
}

function readText(stream: string, read: Form['read']): string {
  const data = createEventSplitter()
    .push(Buffer.from(stream))
    .map(event => parseSseEvent(event)?.data)
  return data.map(each => (each && each !== '[DONE]' ? read(JSON.parse(each)) : '')).join('')
}

function cut(text: string, at: readonly number[]): string[] {
  const places = [0, ...at.map(fraction => Math.floor(fraction * text.length)).sort((a, b) => a - b), text.length]
  return places.slice(1).map((end, index) => text.slice(places[index], end))
}

const fractions = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 })

describe.each(Object.entries(FORMS))('a credential in %s', (_, { write: form, read }) => {
  test('is redacted wherever its text is split in two', () => {
    for (let at = 0; at <= SECRET.length; at++) {
      const parts = [`It is ${SECRET.slice(0, at)}`, `${SECRET.slice(at)}, no more`, ' than that']
      const { text, hasFound } = forward(parts.map(part => write(form(part))))
      const shown = readText(text, read)
      expect([at, containsCredential(shown, SECRET), hasFound]).toEqual([at, false, true])
      // The filter holds text back from the fourth matching character on, so up to three characters are forwarded before the rest arrives.
      expect(shown).toMatch(/^It is (?:|s|sk|sk-)\[redacted\], no more than that$/)
    }
  })

  test('is redacted if it arrives character by character', () => {
    const { text } = forward([...`It is ${SECRET}, no more`].map(part => write(form(part))))
    expect(readText(text, read)).toBe('It is sk-[redacted], no more')
  })

  test('is redacted in any encoding and parts, among other events', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(ENCODINGS)), fractions, (spell, at) => {
        const parts = cut(`It is ${decode(spell(SECRET))}. So`, at).map(part => write(form(part)))
        const { text, hasFound } = forward([
          ...parts.flatMap(part => [part, ': ping\n\n', write({ type: 'ping' })]),
          'data: [DONE]\n\n',
        ])
        const shown = readText(text, event => (event.type === 'ping' ? '' : read(event)))
        expect([containsCredential(shown, SECRET), hasFound]).toEqual([false, true])
        expect(shown).toMatch(/^It is .*\[redacted\].*\. So$/)
      }),
      { numRuns: 60 },
    )
  })

  test('leaves all other text unchanged', () => {
    const piece = fc.constantFrom(
      'sk-',
      'proj-a1',
      SECRET.slice(0, -1),
      '\\u0073',
      '%25',
      '&#',
      OTHER.slice(2),
      '\ud83d',
      'é',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { minLength: 1 }), fractions, (pieces, at) => {
        const events = cut(pieces.join(''), at).map(part => write(form(part)))
        const { text, outputs, hasFound } = forward([...events, 'data: [DONE]\n\n'])
        expect([text, hasFound, outputs.at(-1)]).toEqual([`${events.join('')}data: [DONE]\n\n`, false, ''])
      }),
    )
  })
})

const content = FORMS['content of a chat chunk'] as Form
const chunk = (text: string, choice = 0) => write(content.write(text, choice))

test('of two interleaved choices, each is read by itself', () => {
  const events = [chunk('A sk-proj-a1B2'), chunk('B gsk_ano', 1), chunk(SECRET.slice(12)), chunk('ther0123456789', 1)]
  const { text } = forward(events)
  expect([containsCredential(text, SECRET), containsCredential(text, OTHER)]).toEqual([false, false])
  expect(readText(text, content.read)).toBe('A [redacted]B [redacted]')
  const alike = [chunk('A sk-proj-a1B2'), chunk(SECRET.slice(12), 1)]
  expect(forward(alike)).toMatchObject({ text: alike.join(''), hasFound: false })
})

test('does not repeat the end of a forwarded text', () => {
  const { text } = forward(['This', ` and ${SECRET.slice(0, 9)}`, SECRET.slice(9)].map(part => chunk(part)))
  expect(readText(text, content.read)).toBe('This and [redacted]')
})

test('reads a text over two blocks of a message as one', () => {
  const delta = (index: number, text: string) =>
    write({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })
  const stop = write({ type: 'content_block_stop', index: 0 })
  const { text, hasFound } = forward([delta(0, SECRET.slice(0, 20)), stop, delta(1, SECRET.slice(20))])
  expect([text.includes(SECRET.slice(20)), hasFound]).toEqual([false, true])
})

test('holds an event only while its text may begin a credential', () => {
  const events = ['This', ' is', ' of us', ' sk', '-pro', 'file', ' x', ' sk-proj', '-a1', ' y'].map(part =>
    chunk(part),
  )
  const { outputs } = forward(events)
  expect(outputs.map(each => each.split('data: ').length - 1)).toEqual([1, 1, 1, 1, 0, 2, 1, 0, 0, 3, 0])
})

test.each([
  ['data: [DONE]\n\n'],
  [write({ type: 'response.output_text.done', text: 'sk-proj' })],
  [write({ type: 'message_stop' })],
  [write({ type: 'error', error: { message: 'sk-proj' } })],
])('holds nothing behind %j, and redacts a credential that is the beginning of another', end => {
  const both = new Credentials(['sk-0123456789', 'sk-0123456789-more'])
  const { outputs } = forward([chunk('a sk-0123'), chunk('456789'), end, chunk(' z')], both)
  expect(outputs.slice(0, 2)).toEqual(['', ''])
  expect(outputs[2]).toContain('"a [redacted]"')
  expect(outputs[2]).toContain(end)
  expect(forward([chunk('a sk-proj'), end]).outputs.slice(0, 2)).toEqual(['', chunk('a sk-proj') + end])
})

test('bounds what is held of other texts, and redacts what follows all the same', () => {
  const other = chunk('x'.repeat(50_000), 1)
  const { outputs, hasFound } = forward([chunk(SECRET.slice(0, 9)), ...Array(6).fill(other), chunk(SECRET.slice(9))])
  expect(outputs.findIndex(each => each.length > 0)).toBe(6)
  expect([outputs.join('').includes(SECRET.slice(9)), hasFound]).toEqual([false, true])
  const filter = new EventFilter<string>(credentials, (_, body) => JSON.stringify(body))
  const begin = (id: number) => JSON.stringify({ type: 'a.delta', response_id: id, delta: 's' })
  for (let id = 0; id <= 256; id++) expect(filter.push(begin(id), begin(id))).toEqual([begin(id)])
  const rest = (id: number) => JSON.stringify({ type: 'a.delta', response_id: id, delta: SECRET.slice(1) })
  // The filter forgets the oldest of them.
  expect([0, 1].map(id => filter.push(rest(id), rest(id)).join().includes(SECRET.slice(1)))).toEqual([true, false])
})

test('a stream that ends early sends what is held, and is read to its end', () => {
  const begin = chunk('a sk-proj')
  expect(forward([begin]).outputs).toEqual(['', begin])
  expect(forward([begin, chunk(SECRET.slice(7)).trimEnd()]).hasFound).toBe(true)
})

test('keeps the other lines of an event, and reads a stream without the label of one', () => {
  const event = (text: string) => `id: 7\r\nevent: x\r\ndata: ${JSON.stringify(content.write(text))}\r\n\r\n`
  const filter = createBodyRedactor(credentials, { headers: new Headers() })
  const parts = [event(SECRET.slice(0, 9)), event(SECRET.slice(9))].map(part =>
    Buffer.from(filter.push(Buffer.from(part))),
  )
  const text = parts.join('') + Buffer.from(filter.end())
  expect([readText(text, content.read), text.match(/id: 7\nevent: x\ndata: /g)?.length]).toEqual(['[redacted]', 2])
  const page = createBodyRedactor(credentials, { headers: new Headers() })
  expect(Buffer.from(page.push(Buffer.from('<html>'))).toString()).toBe('<html>')
})

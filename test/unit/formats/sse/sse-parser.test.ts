import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSseParser, type SseEvent } from '../../../../src/formats/sse/sse.ts'
import { cutBytes } from '../../../fake-provider/assemble-bytes.ts'

const encoder = new TextEncoder()

function parse(bytes: Uint8Array, cuts: readonly number[] = []): SseEvent[] {
  const events: SseEvent[] = []
  const parser = createSseParser(event => events.push(event))
  for (const part of cutBytes(bytes, cuts)) parser.push(part)
  parser.end()
  return events
}

function parseText(text: string): SseEvent[] {
  return parse(encoder.encode(text))
}

/** The algorithm of the standard, word for word, over the whole text at once. An unterminated event at the end counts as well. */
function parseByTheStandard(bytes: Uint8Array): SseEvent[] {
  const text = new TextDecoder().decode(bytes)
  const events: SseEvent[] = []
  let data = ''
  let event = ''
  for (const line of [...text.split(/\r\n|\n|\r/), '']) {
    if (line === '') {
      if (data !== '') events.push({ event: event === '' ? null : event, data: data.slice(0, -1) })
      data = ''
      event = ''
      continue
    }
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? []
    if (field === 'data') data += `${value ?? ''}\n`
    else if (field === 'event') event = value ?? ''
  }
  return events
}

describe('createSseParser', () => {
  test.each([
    ['LF', '\n'],
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ])('reads events that end in %s', (_name, end) => {
    expect(parseText(`data: a${end}${end}event: e${end}data: b${end}${end}`)).toEqual([
      { event: null, data: 'a' },
      { event: 'e', data: 'b' },
    ])
  })

  test('joins data lines with a line feed, and removes one space after the colon', () => {
    expect(parseText('data:a\ndata:  b\ndata\ndata:\n\n')).toEqual([{ event: null, data: 'a\n b\n\n' }])
  })

  test('skips comments, other fields, and events without data', () => {
    expect(parseText(': PROCESSING\n\nid: 1\nretry: 5\nfoo: bar\n\nevent: lonely\n\n:\ndata: x\n\n')).toEqual([
      { event: null, data: 'x' },
    ])
  })

  test('forgets the event name after each event', () => {
    expect(parseText('event: error\ndata: 1\n\ndata: 2\n\nevent: error\nevent:\ndata: 3\n\n')).toEqual([
      { event: 'error', data: '1' },
      { event: null, data: '2' },
      { event: null, data: '3' },
    ])
  })

  test('removes one byte-order mark at the start of the stream, and no other', () => {
    expect(parseText('\uFEFFdata: a\n\ndata: \uFEFFb\n\n')).toEqual([
      { event: null, data: 'a' },
      { event: null, data: '\uFEFFb' },
    ])
    expect(parseText('\uFEFF\uFEFFdata: a\n\ndata: b\n\n')).toEqual([{ event: null, data: 'b' }])
  })

  test('dispatches within the push that completes the event', () => {
    const events: string[] = []
    const parser = createSseParser(event => events.push(event.data))
    parser.push(encoder.encode('data: a\n'))
    expect(events).toEqual([])
    parser.push(encoder.encode('\ndata: b'))
    expect(events).toEqual(['a'])
  })

  test.each(['data: [DONE]', 'data: [DONE]\n', 'data: [DONE]\r', 'data: [DONE]\r\n'])(
    'counts a last event without its end: %j',
    text => {
      expect(parseText(text)).toEqual([{ event: null, data: '[DONE]' }])
    },
  )

  test('ends once: nothing is dispatched again', () => {
    const events: SseEvent[] = []
    const parser = createSseParser(event => events.push(event))
    parser.push(encoder.encode('data: a'))
    parser.end()
    parser.end()
    expect(events).toHaveLength(1)
  })

  test('reads characters cut between any two bytes, and invalid ones as U+FFFD', () => {
    const bytes = encoder.encode('data: é漢😀\n\n')
    for (let cut = 0; cut <= bytes.length; cut++) expect(parse(bytes, [cut])).toEqual([{ event: null, data: 'é漢😀' }])
    expect(parse(new Uint8Array([...encoder.encode('data: '), 0xf0, 0x9f, 0x0a, 0x0a]))).toEqual([
      { event: null, data: '\uFFFD' },
    ])
  })

  test('reads a line of a megabyte that arrives in small pieces', () => {
    const long = 'x'.repeat(1_000_000)
    const cuts = Array.from({ length: 10_000 }, (_, at) => at * 100)
    expect(parse(encoder.encode(`data: ${long}\n\n`), cuts)).toEqual([{ event: null, data: long }])
  })

  test('emits the standard’s events for any bytes, however they are cut', () => {
    const word = fc.constantFrom(
      'data',
      'event',
      'id',
      'retry',
      ':',
      ' ',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      'data: ',
      'x',
      'é',
      '😀',
      '[DONE]',
      '\0',
    )
    const text = fc.array(word, { maxLength: 40 }).map(words => encoder.encode(words.join('')))
    const bytes = fc.oneof(text, text, fc.uint8Array({ maxLength: 40 }))
    fc.assert(
      fc.property(bytes, fc.array(fc.nat()), (input, cuts) => {
        expect(parse(input, cuts)).toEqual(parseByTheStandard(input))
      }),
    )
  })
})

describe('what is no event by the standard', () => {
  /** Parses the text into events, and into stray text that the standard ignores. */
  function parseWithStray(text: string, cuts: readonly number[] = []) {
    const events: SseEvent[] = []
    const stray: SseEvent[] = []
    const parser = createSseParser(
      event => events.push(event),
      event => stray.push(event),
    )
    for (const part of cutBytes(encoder.encode(text), cuts)) parser.push(part)
    parser.end()
    return { events, stray }
  }

  test.each([
    ['error: {"message":"No."}\n\n', { event: 'error', data: '{"message":"No."}' }],
    ['error:No.\n\n', { event: 'error', data: 'No.' }],
    ['error\n\n', { event: 'error', data: '' }],
    ['{"error":{"message":"No."}}\n', { event: null, data: '{"error":{"message":"No."}}' }],
    ['{"error":{"message":"No."}}', { event: null, data: '{"error":{"message":"No."}}' }],
  ])('reports %j, wherever it is cut', (text, stray) => {
    for (let cut = 0; cut <= text.length; cut++)
      expect(parseWithStray(text, [cut]), `cut at ${cut}`).toEqual({ events: [], stray: [stray] })
  })

  test('is reported between events, which are unchanged', () => {
    expect(parseWithStray('data: a\n\nerror: No.\n\ndata: b\n\n')).toEqual({
      events: [
        { event: null, data: 'a' },
        { event: null, data: 'b' },
      ],
      stray: [{ event: 'error', data: 'No.' }],
    })
  })

  test.each([': comment\n\n', 'id: 1\n\n', 'retry: 5\n\n', 'foo: bar\n\n', '<html>\n', '[1]\n', 'errors: 1\n\n'])(
    'reports nothing for %j',
    text => {
      expect(parseWithStray(text)).toEqual({ events: [], stray: [] })
    },
  )
})

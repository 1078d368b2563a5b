import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { concatBytes, createEventSplitter } from '../../../../src/formats/sse/split-events.ts'

const encoder = new TextEncoder()
const lines = fc.array(fc.constantFrom('data: a', 'data: é👩‍👩‍👧', ': comment', 'event: x', 'data:'), {
  minLength: 1,
  maxLength: 3,
})
/** Events as lists of lines. Each stream uses one kind of line ending, and some streams begin with a blank line. */
const streams = fc.record({
  events: fc.array(lines, { maxLength: 5 }),
  newline: fc.constantFrom('\n', '\r', '\r\n'),
  leading: fc.nat(1),
  unfinished: fc.constantFrom('', 'data: {"cho', 'data: x'),
})
const cuts = fc.array(fc.nat(400), { maxLength: 20 })

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map(place => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return ends.map((end, position) => bytes.subarray(ends[position - 1] ?? 0, end))
}

const toText = (parts: Uint8Array[]) => Buffer.concat(parts).toString()

describe('events are emitted', () => {
  test('each as soon as it is complete and not before, byte for byte, however the bytes are cut', () => {
    const property = fc.property(streams, cuts, ({ events, newline, leading, unfinished }, places) => {
      const written = events.map(event => event.map(line => line + newline).join('') + newline)
      const texts = written.map((text, position) => (position === 0 ? newline.repeat(leading) + text : text))
      const bytes = encoder.encode(texts.join('') + unfinished)
      const boundaries = new Set([0])
      for (const text of texts) boundaries.add(Math.max(...boundaries) + encoder.encode(text).length)
      const splitter = createEventSplitter()
      let taken = 0
      let passed = 0
      for (const part of cut(bytes, places)) {
        taken += part.length
        passed += concatBytes(splitter.push(part)).length
        expect(boundaries).toContain(passed)
        // A CR at the end may be half of a CRLF, so its event waits for the next byte.
        const isHalf = bytes[taken - 1] === 13
        const complete = [...boundaries].filter(boundary => boundary < taken || (boundary === taken && !isHalf))
        expect(passed).toBeGreaterThanOrEqual(Math.max(...complete, 0) - (isHalf ? 2 : 0))
      }
      expect(passed + splitter.end().length).toBe(bytes.length)
    })
    fc.assert(property)
  })

  test('one by one, however many arrive together', () => {
    const parts = ['data: a\n\ndata: dr', 'op\n\nda', 'ta: b\n', '\ndata: c'].map(part => encoder.encode(part))
    const splitter = createEventSplitter()
    const given = parts.map(part => splitter.push(part).map(event => toText([event])))
    expect([...given, toText([splitter.end()])]).toEqual([
      ['data: a\n\n'],
      ['data: drop\n\n'],
      [],
      ['data: b\n\n'],
      'data: c',
    ])
  })

  test('whole, however long they are', () => {
    const splitter = createEventSplitter()
    const part = encoder.encode('x'.repeat(16_384))
    for (let pushed = 0; pushed < 1_024; pushed++) splitter.push(part)
    expect(concatBytes(splitter.push(encoder.encode('\n\n')))).toHaveLength(16_384 * 1_024 + 2)
  })
})

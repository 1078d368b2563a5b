import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventChunk, stripUsage } from '../../../../src/formats/sse/event-chunk.ts'
import { createEventSplitter } from '../../../../src/formats/sse/split-events.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function drop(stream: string, cuts: readonly number[]): string {
  const bytes = encoder.encode(stream)
  const splitter = createEventSplitter()
  const places = [...cuts.map(cut => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  let start = 0
  let passed = ''
  for (const place of places) {
    passed += decoder.decode(new EventChunk(splitter.push(bytes.subarray(start, place))).bytesWithoutUsage, {
      stream: true,
    })
    start = place
  }
  return passed + decoder.decode(stripUsage(splitter.end()))
}

const first = 'data: {"choices":[{"index":0,"delta":{"content":"é\\"usage\\":null"}}]}\n\n'
const comment = ': PROCESSING\r\n\r\n'
const usage = 'data: {"choices":[],"usage":{"prompt_tokens":3}}\n\n'
const done = 'data: [DONE]\n\n'

test.each([
  ['the closing usage chunk', first + comment + usage + done, first + comment + done],
  [
    'usage: null of every other chunk',
    'data: {"choices":[{"index":0}],"usage":null}\n\n',
    'data: {"choices":[{"index":0}]}\n\n',
  ],
  [
    'usage beside the last choice',
    'data: {"choices":[{"index":0,"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}\n\n',
    'data: {"choices":[{"index":0,"finish_reason":"stop"}]}\n\n',
  ],
  ['nothing from a stream without usage', first + done, first + done],
  ['nothing from data that is not JSON', 'data: {"usage":\n\n', 'data: {"usage":\n\n'],
  ['the closing usage chunk of a truncated stream', first + usage.trimEnd(), first],
])('drops %s, however the bytes are cut', (_, stream, expected) => {
  const property = fc.property(fc.array(fc.nat(2_000)), cuts => {
    expect(drop(stream, cuts)).toBe(expected)
  })
  fc.assert(property)
})

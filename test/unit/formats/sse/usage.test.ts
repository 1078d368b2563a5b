import { describe, expect, test } from 'vitest'
import { stripUsage } from '../../../../src/formats/sse/event-chunk.ts'

/** Returns the data of an event without its usage, or null if nothing remains. */
function hideUsage(data: string): string | null {
  const event = stripUsage(new TextEncoder().encode(`data: ${data}\n\n`))
  return event.length === 0 ? null : new TextDecoder().decode(event).slice('data: '.length, -2)
}

describe('an event without usage', () => {
  test('is forwarded unchanged, byte for byte, if it had none', () => {
    for (const data of ['{"choices": []}', '[DONE]', 'not json', '{"choices":[{"delta":{"content":"\\"usage\\""}}]}']) {
      expect(hideUsage(data)).toBe(data)
    }
  })

  test('loses the announcement of usage, and is otherwise unchanged', () => {
    expect(hideUsage('{"id": "a","choices":[],"usage":null,"obfuscation":"x"}')).toBe(
      '{"id": "a","choices":[],"obfuscation":"x"}',
    )
    expect(hideUsage('{"usage": null, "choices": [{"index": 0}]}')).toBe('{"choices":[{"index":0}]}')
  })

  test('is dropped if it has nothing but usage', () => {
    expect(hideUsage('{"id":"a","choices":[],"usage":{"total_tokens":3}}')).toBe(null)
  })

  test('is kept without choices if it has other fields', () => {
    expect(hideUsage('{"choices": [], "usage": null, "prompt_filter_results": []}')).toBe(
      '{"choices":[],"prompt_filter_results":[]}',
    )
  })

  test('keeps a choice that comes with usage, and text that only looks like usage', () => {
    expect(
      hideUsage('{"choices":[{"index":0,"delta":{}}],"usage":{"total_tokens":3},"x_groq":{"usage":{"a":1}}}'),
    ).toBe('{"choices":[{"index":0,"delta":{}}],"x_groq":{"usage":{"a":1}}}')
    expect(hideUsage('{"choices":[],"usage":{"total_tokens":3},"x_groq":{"usage":{"a":1}}}')).toBe(
      '{"choices":[],"x_groq":{"usage":{"a":1}}}',
    )
    // Without usage in it, `x_groq` does not justify a chunk that the client did not request.
    expect(hideUsage('{"choices":[],"usage":{"total_tokens":3},"x_groq":{"id":"req_1"}}')).toBe(null)
    const nested = '{"choices":[],"x_groq":{"usage":{"a":1}}}'
    expect(hideUsage(nested)).toBe(nested)
    const quoted = '{"choices":[{"delta":{"content":"say \\",\\"usage\\":null"}}]}'
    expect(hideUsage(quoted)).toBe(quoted)
  })

  test('keeps all other numbers unrounded', () => {
    expect(hideUsage('{"choices":[{"index":0}],"usage":{},"x_groq":{"usage":{"time":0.12345678901234567890}}}')).toBe(
      '{"choices":[{"index":0}],"x_groq":{"usage":{"time":0.12345678901234567890}}}',
    )
  })
})

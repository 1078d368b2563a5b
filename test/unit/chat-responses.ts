/** Chat responses of every shape that a provider may return, for tests of translations. */

import fc from 'fast-check'
import type { JsonObject } from '../../src/formats/json/canonical.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 })
const maybe = <Value>(some: fc.Arbitrary<Value>) => fc.option(some, { nil: undefined })

const call = fc.record({
  id: fc.stringMatching(/^call_[a-z0-9]{8}$/),
  name: fc.constantFrom('lookUp', 'run_command', 'patch'),
  input: fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.oneof(fc.string(), fc.integer(), fc.boolean()), {
    maxKeys: 3,
  }),
})

const message = fc
  .record({
    content: fc.option(text),
    refusal: maybe(text),
    reasoning_content: maybe(text),
    reasoning_details: maybe(fc.constant([{ type: 'reasoning.encrypted', data: 'AAAA', index: 0 }])),
    calls: fc.uniqueArray(call, { maxLength: 3, selector: ({ id }) => id }),
    annotations: maybe(
      fc.constant([
        { type: 'url_citation', url_citation: { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 1 } },
      ]),
    ),
  })
  .map(({ calls, ...said }): JsonObject => {
    const written = calls.map(({ id, name, input }) => {
      return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
    })
    const given = Object.entries(said).filter(([, value]) => value !== undefined)
    const tools = written.length > 0 ? { tool_calls: written } : {}
    return { role: 'assistant', ...Object.fromEntries(given), ...tools }
  })

const usage = fc
  .record({
    prompt_tokens: fc.nat(9_000),
    completion_tokens: fc.nat(9_000),
    cached_tokens: fc.nat(500),
    reasoning_tokens: fc.nat(500),
  })
  .map(({ prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens }) => ({
    prompt_tokens: prompt_tokens + cached_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + cached_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens },
    completion_tokens_details: { reasoning_tokens },
  }))

/** Complete responses, not streamed, with one choice. */
export const chatAnswers: fc.Arbitrary<JsonObject> = fc
  .record({ message, usage, reason: fc.constantFrom('stop', 'length', 'content_filter') })
  .map(({ message: said, usage: used, reason }) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: 'some/model',
    choices: [
      {
        index: 0,
        message: said,
        logprobs: null,
        finish_reason: reason === 'stop' && 'tool_calls' in said ? 'tool_calls' : reason,
      },
    ],
    usage: used,
  }))

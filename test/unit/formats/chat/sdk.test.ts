import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { encodeSseStream, splitChatResponse } from '../../../../src/formats/chat/split-chat-response.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import { CORPUS } from '../../../fake-provider/corpus.ts'

/** The official client, with a fetch that responds with these bytes. */
function clientReading(bytes: Uint8Array, type: string): OpenAI {
  const fetch = async () => new Response(new Blob([new Uint8Array(bytes)]), { headers: { 'content-type': type } })
  return new OpenAI({ apiKey: 'sk-none', baseURL: 'http://127.0.0.1:9/v1', fetch, maxRetries: 0 })
}

const request = { model: 'm', messages: [{ role: 'user' as const, content: 'x' }] }

/** The fields that every client reads. Additions of the official client and unknown fields are omitted. */
function readable(choice: OpenAI.ChatCompletion.Choice) {
  const { content, refusal, tool_calls, function_call, audio } = choice.message
  const calls = tool_calls?.map(call => ({
    id: call.id,
    type: call.type,
    called: call.type === 'custom' ? call.custom : { name: call.function.name, arguments: call.function.arguments },
  }))
  return {
    index: choice.index,
    finish_reason: choice.finish_reason,
    logprobs: choice.logprobs ?? null,
    content: content ?? null,
    refusal: refusal ?? null,
    calls: calls ?? [],
    function_call: function_call ?? null,
    audio: audio ?? null,
  }
}

const whole = CORPUS.filter(entry => entry.completeness === 'whole' && entry.body.object === 'chat.completion')

describe('the official client', () => {
  test.each(whole)('reads the split response like the plain one: $name', async ({ body }) => {
    const json = new TextEncoder().encode(JSON.stringify(body))
    const plain = await clientReading(json, 'application/json').chat.completions.create(request)
    const events = encodeSseStream(splitChatResponse(body, { includeUsage: true }))
    const stream = clientReading(events, 'text/event-stream').chat.completions.stream(request)
    const streamed = await stream.finalChatCompletion()
    expect(streamed.choices.map(readable)).toEqual(plain.choices.map(readable))
    expect(streamed).toMatchObject({ id: body.id, created: body.created, model: body.model, object: 'chat.completion' })
    expect(streamed.usage ?? null).toEqual(plain.usage ?? null)
  })

  test('reads a split legacy completion', async () => {
    const legacy = CORPUS.filter(entry => entry.body.object === 'text_completion' && entry.completeness === 'whole')
    expect(legacy.length).toBeGreaterThan(1)
    for (const { body } of legacy) {
      const events = clientReading(
        encodeSseStream(splitChatResponse(body, { includeUsage: false })),
        'text/event-stream',
      )
      let text = ''
      for await (const chunk of await events.completions.create({ model: 'm', prompt: 'x', stream: true })) {
        text += chunk.choices[0]?.text ?? ''
      }
      expect(text).toBe((body.choices as JsonObject[])[0]?.text)
    }
  })
})

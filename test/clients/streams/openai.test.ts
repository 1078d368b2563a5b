import { zodFunction, zodResponseFormat } from 'openai/helpers/zod'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineFormTests } from './define-form-tests.ts'
import { GROQ_USAGE, WHOLE_MESSAGE } from './misread.ts'
import { clientOf, openaiReader } from './openai-reader.ts'
import { connect } from './read-forms.ts'

const MODEL = 'openai/gpt-4o-mini'
const Place = z.object({ name: z.string(), isCapital: z.boolean(), people: z.number() })

defineFormTests({
  client: 'the official openai client',
  reader: openaiReader,
  everywhere: true,
  misread: {
    ...GROQ_USAGE,
    ...WHOLE_MESSAGE,
    'OpenAI: tool calls whose fragments are interleaved, both in one chunk':
      'The client reports a call as complete once another one continues.',
    'Choices without an index, a finish_reason beside the last words': 'The client throws.',
  },
  define(running) {
    test('parses the same structured output live, replayed and plain', async () => {
      const { proxy, upstream } = running()
      upstream.reset()
      const caches: (string | null)[] = []
      const client = clientOf(connect(proxy.baseUrl, await proxy.createKey({ type: 'project' }), caches))
      const request = {
        model: MODEL,
        messages: [{ role: 'user' as const, content: 'Which town is that?' }],
        response_format: zodResponseFormat(Place, 'place'),
      }
      const stream = async () => (await client.chat.completions.stream(request).finalChatCompletion()).choices[0]
      const read = [await stream(), await stream(), (await client.chat.completions.parse(request)).choices[0]]
      for (const choice of read)
        expect(choice?.message.parsed).toEqual({ name: 'fake-provider', isCapital: true, people: 1 })
      expect(caches).toEqual(['MISS', 'HIT', 'HIT'])
    })

    test('a streamed tool loop calls the tool with the same arguments from the cache', async () => {
      const { proxy, upstream } = running()
      upstream.reset()
      const caches: (string | null)[] = []
      const client = clientOf(connect(proxy.baseUrl, await proxy.createKey({ type: 'project' }), caches))
      const called: unknown[] = []
      const run = () =>
        client.chat.completions
          .runTools({
            model: MODEL,
            stream: true,
            messages: [{ role: 'user', content: 'Call find_place for me.' }],
            tools: [
              zodFunction({
                name: 'find_place',
                parameters: Place,
                function(place) {
                  called.push(place)
                  upstream.script({ kind: 'answer', content: 'Found it.' })
                  return 'found'
                },
              }),
            ],
          })
          .finalContent()
      expect([await run(), await run()]).toEqual(['Found it.', 'Found it.'])
      expect(called).toEqual(Array(2).fill({ name: 'fake-provider', isCapital: true, people: 1 }))
      expect(caches).toEqual(['MISS', 'MISS', 'HIT', 'HIT'])
    })
  },
})

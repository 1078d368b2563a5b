import { tool } from '@langchain/core/tools'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineFormTests } from './define-form-tests.ts'
import { langchainReader, modelOf } from './langchain-reader.ts'
import { GROQ_USAGE, WHOLE_MESSAGE } from './misread.ts'
import { connect } from './read-forms.ts'

const Place = z.object({ name: z.string(), isCapital: z.boolean(), people: z.number() })
const PLACE = { name: 'fake-provider', isCapital: true, people: 1 }

defineFormTests({
  client: 'LangChain.js',
  reader: langchainReader,
  unknown: {
    'OpenAI: custom tool call': 'The client supports only functions.',
    'OpenAI: two choices, interleaved, the second done first': 'The client never requests more than one.',
    'Aggregator: an image as the answer': 'The client reads images only in plain responses.',
  },
  misread: {
    ...GROQ_USAGE,
    ...WHOLE_MESSAGE,
    'OpenAI: tool calls whose fragments are interleaved, both in one chunk':
      'The client returns calls in the order of their first fragments.',
    'OpenAI: audio, which ends with its expiry and no finish_reason': 'The stream has no finish_reason.',
    'Aggregator: usage in a chunk that repeats the last choice': 'The client concatenates a repeated finish_reason.',
    'vLLM: another id with every fragment of a call, stop_reason, empty names':
      'The client starts a new call at each new id.',
  },
  define(running) {
    test('parses the same structured output live, replayed and plain', async () => {
      const { proxy, upstream } = running()
      upstream.reset()
      const caches: (string | null)[] = []
      const connection = connect(proxy.baseUrl, await proxy.createKey({ type: 'project' }), caches)
      const model = modelOf(connection).withStructuredOutput(Place, { method: 'jsonSchema' })
      const stream = async () => {
        let latest: unknown
        for await (const part of await model.stream('Which town is that?')) latest = part
        return latest
      }
      const read = [await stream(), await stream(), await model.invoke('Which town is that?')]
      expect(read).toEqual(Array(3).fill(PLACE))
      expect(caches).toEqual(['MISS', 'HIT', 'HIT'])
    })

    test('calls a tool with the same arguments live, replayed and plain', async () => {
      const { proxy, upstream } = running()
      upstream.reset()
      const caches: (string | null)[] = []
      const connection = connect(proxy.baseUrl, await proxy.createKey({ type: 'project' }), caches)
      const findPlace = tool(place => JSON.stringify(place), { name: 'find_place', schema: Place })
      const model = modelOf(connection).bindTools([findPlace])
      const stream = async () => {
        const chunks = await Array.fromAsync(await model.stream('Call find_place for me.'))
        return chunks.reduce((sum, chunk) => sum.concat(chunk)).tool_calls?.[0]
      }
      const read = [await stream(), await stream(), (await model.invoke('Call find_place for me.')).tool_calls?.[0]]
      for (const call of read) {
        if (call === undefined) throw new Error('No tool was called')
        expect((await findPlace.invoke({ ...call, type: 'tool_call' })).content).toBe(JSON.stringify(PLACE))
      }
      expect(read.map(call => call?.id)).toEqual(Array(3).fill(read[0]?.id))
      expect(caches).toEqual(['MISS', 'HIT', 'HIT'])
    })
  },
})

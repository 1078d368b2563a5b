import { generateText, isStepCount, Output, streamText, tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { aiSdkReader, modelOf } from './ai-sdk-reader.ts'
import { defineFormTests } from './define-form-tests.ts'
import { GROQ_USAGE, WHOLE_MESSAGE } from './misread.ts'
import { connect } from './read-forms.ts'

const Place = z.object({ name: z.string(), isCapital: z.boolean(), people: z.number() })
const PLACE = { name: 'fake-provider', isCapital: true, people: 1 }

defineFormTests({
  client: 'the Vercel AI SDK',
  reader: aiSdkReader,
  unknown: {
    'OpenAI: custom tool call': 'The client supports only functions.',
    'OpenAI: two choices, interleaved, the second done first': 'The client never requests more than one.',
  },
  misread: {
    ...GROQ_USAGE,
    ...WHOLE_MESSAGE,
    'OpenAI: audio, which ends with its expiry and no finish_reason': 'The client throws.',
    'vLLM: another id with every fragment of a call, stop_reason, empty names': 'The client keeps the first id.',
  },
  define(running) {
    test('generates the same object live, replayed and plain', async () => {
      const { proxy, upstream } = running()
      upstream.reset()
      const caches: (string | null)[] = []
      const connection = connect(proxy.baseUrl, await proxy.createKey({ type: 'project' }), caches)
      const request = {
        model: modelOf(connection),
        output: Output.object({ schema: Place }),
        prompt: 'Which town is that?',
      }
      const read = [
        await streamText(request).output,
        await streamText(request).output,
        (await generateText(request)).output,
      ]
      expect(read).toEqual(Array(3).fill(PLACE))
      expect(caches).toEqual(['MISS', 'HIT', 'HIT'])
    })

    test('a tool loop takes the same steps live, replayed and plain', async () => {
      const { proxy, upstream } = running()
      upstream.reset()
      const caches: (string | null)[] = []
      const connection = connect(proxy.baseUrl, await proxy.createKey({ type: 'project' }), caches)
      const called: unknown[] = []
      const find_place = tool({
        inputSchema: Place,
        async execute(place) {
          called.push(place)
          upstream.script({ kind: 'answer', content: 'Found it.' })
          return 'found'
        },
      })
      const request = {
        model: modelOf(connection),
        tools: { find_place },
        stopWhen: isStepCount(3),
        prompt: 'Call find_place for me.',
      }
      const read = [await streamText(request).text, await streamText(request).text, (await generateText(request)).text]
      expect(read).toEqual(Array(3).fill('Found it.'))
      expect(called).toEqual(Array(3).fill(PLACE))
      expect(caches).toEqual(['MISS', 'MISS', 'HIT', 'HIT', 'HIT', 'HIT'])
    })

    test('usage is sent only if it is requested', async () => {
      const { proxy, upstream } = running()
      upstream.reset()
      const connection = connect(proxy.baseUrl, await proxy.createKey({ type: 'project' }))
      const countTokens = async (asks: boolean) => {
        const { inputTokens, outputTokens } = await streamText({
          model: modelOf(connection, asks),
          prompt: 'How much?',
        }).usage
        return [inputTokens, outputTokens]
      }
      const [live, hit] = [await countTokens(false), await countTokens(false)]
      expect([live, hit]).toEqual(Array(2).fill([undefined, undefined]))
      expect(await countTokens(true)).toEqual([expect.any(Number), expect.any(Number)])
    })
  },
})

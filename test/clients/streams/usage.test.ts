import { describe, expect, test } from 'vitest'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { describeOnce } from '../../harness/backends.ts'
import { ask } from '../../harness/client.ts'
import { draw } from '../../harness/depth.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { GROQ_USAGE, REPAIRED } from './misread.ts'
import { scriptOfEntry, WHOLE_CHATS } from './play-corpus.ts'
import { readEvents, withoutNumbers } from './read-events.ts'

interface Chunk {
  choices: unknown[]
  usage?: unknown
}

describeOnce('usage follows stream_options', backend => {
  const upstream = duringTests(startFakeProvider)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstream.environment }))

  /** Returns the chunks of a live response and of its cached one. */
  async function streamTwice(content: string, options: object): Promise<{ live: Chunk[]; hit: Chunk[] }> {
    const key = await proxy.createKey({ type: 'project' })
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }], stream: true, ...options }
    const answers = [await ask(proxy, key, body), await ask(proxy, key, body)]
    expect(answers.map(answer => answer.cache)).toEqual(['MISS', 'HIT'])
    const [live = [], hit = []] = answers.map(answer => readEvents(answer.text) as Chunk[])
    return { live, hit }
  }

  /** Returns the provider's chunks without usage. */
  function withoutUsage(chunks: Chunk[]): Omit<Chunk, 'usage'>[] {
    const left = chunks.filter(({ choices, usage }) => choices.length > 0 || usage == null)
    return left.map(({ usage: _usage, ...rest }) => rest)
  }

  const withUsage = (chunks: Chunk[]) => chunks.filter(chunk => chunk.usage != null)

  describe.each(draw(WHOLE_CHATS.filter(entry => entry.clientSetOutputLimit !== true)))('$name', entry => {
    /** The index of a call can differ. */
    const comparable = (chunks: unknown[]) => (entry.name in REPAIRED ? withoutNumbers(chunks) : chunks)

    test('requested: once, as the last chunk of a hit, without choices', async () => {
      upstream.script(scriptOfEntry(entry))
      const { live, hit } = await streamTwice(entry.name, { stream_options: { include_usage: true } })
      expect(comparable(live)).toEqual(comparable(readEvents(entry.stream ?? '')))
      if (entry.body.usage === undefined) return expect(withUsage(hit)).toEqual([])
      expect(withUsage(hit)).toEqual([hit.at(-1)])
      expect(hit.at(-1)).toMatchObject({ choices: [], usage: entry.body.usage })
      for (const chunk of hit.slice(0, -1)) expect(chunk).toMatchObject({ choices: [expect.anything()], usage: null })
    })

    test.each([{}, { stream_options: { include_usage: false } }])('not requested: nowhere (%o)', async options => {
      upstream.script(scriptOfEntry(entry))
      const { live, hit } = await streamTwice(entry.name, options)
      for (const chunk of [...live, ...hit]) expect(chunk).not.toHaveProperty('usage')
      expect(comparable(live)).toEqual(comparable(withoutUsage(readEvents(entry.stream ?? '') as Chunk[])))
      expect(upstream.requests.at(-1)?.body).toMatchObject({ stream_options: { include_usage: true } })
    })
  })

  test('Groq’s own field is sent to all clients, as they expect', async () => {
    const entry = WHOLE_CHATS.find(({ name }) => name in GROQ_USAGE)
    if (!entry) throw new Error('There is no such entry')
    upstream.script(scriptOfEntry(entry))
    const { live, hit } = await streamTwice(entry.name, {})
    for (const chunks of [live, hit]) expect(chunks.at(-1)).toMatchObject({ x_groq: { usage: entry.body.usage } })
  })

  test('x_groq.usage reaches a client that did not request usage, byte for byte, in a last chunk with usage or without choices', async () => {
    const chunk = (choices: string, rest: string) =>
      `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":${choices}${rest}}\n\n`
    const begins = chunk('[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]', '')
    const ends = '[{"index":0,"delta":{},"finish_reason":"stop"}]'
    const usage = '{"queue_time":0.026917053,"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}'
    const groq = `,"x_groq":{"id":"req_1","usage":${usage}}`
    const asSent = (last: string[]) => [begins, ...last, 'data: [DONE]\n\n'].join('')
    for (const [name, sent, expected] of [
      ['in x_groq alone', [chunk(ends, groq)], [chunk(ends, groq)]],
      ['in both', [chunk(ends, `${groq},"usage":${usage}`)], [chunk(ends, groq)]],
      [
        'without choices',
        [chunk(ends, ''), chunk('[]', `${groq},"usage":${usage}`)],
        [chunk(ends, ''), chunk('[]', groq)],
      ],
    ] as const) {
      upstream.script({ kind: 'raw', parts: [asSent([...sent])] })
      const key = await proxy.createKey({ type: 'project' })
      const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: `groq ${name}` }], stream: true }
      expect((await ask(proxy, key, body)).text, name).toBe(asSent([...expected]))
      const hit = await ask(proxy, key, body)
      expect(hit.cache).toBe('HIT')
      expect(readEvents(hit.text).at(-1)).toMatchObject({ x_groq: { id: 'req_1', usage: JSON.parse(usage) } })
    }
  })
})

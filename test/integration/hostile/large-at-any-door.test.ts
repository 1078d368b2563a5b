/** Bodies that would hold up the event loop, at the doors that answer without the pipeline: the worker takes them apart, and refuses. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MOST } from '../../../src/large-bodies/json-size.ts'
import { describeEmbedded } from '../../harness/backends.ts'
import { post, readAnswer } from '../../harness/client.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { type Standin, startStandin } from '../../standin/server.ts'

const BODY = JSON.stringify({
  model: 'openai/gpt-4o-mini',
  messages: [{ role: 'user', content: 'How many tokens?' }],
  max_tokens: 9,
  x: Object.fromEntries(Array.from({ length: MOST.fields }, (_, i) => [`k${i}`, i])),
})

describeEmbedded('large bodies at any door', backend => {
  let upstream: Standin
  let proxy: TestProxy
  let key: string

  beforeAll(async () => {
    upstream = await startStandin()
    proxy = await startProxy({
      stores: await backend.open(),
      environment: { AGGREGATOR_BASE_URL: upstream.baseUrl, AGGREGATOR_API_KEY: 'k' },
    })
    key = await proxy.createKey({ type: 'project' })
  })
  afterAll(async () => {
    await proxy.stop()
    await upstream.stop()
  })

  test.each([
    '/messages/count_tokens',
    '/responses/input_tokens',
    '/cache/explain',
    '/cache/feedback',
    '/moderations',
    '/chat/completions',
    '/responses',
    '/messages',
    '/embeddings',
  ])('%s has no more than the worker lets through', async path => {
    const answer = await readAnswer(await post(proxy, key, path, BODY))
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(`more than ${MOST.fields} fields`)])
  })

  test('an answer of many megabytes is passed on, and not kept', async () => {
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Tell me everything.' }] }
    upstream.script({ kind: 'answer', contentChars: 9_000_000 })
    for (let i = 0; i < 2; i++) {
      const answer = await readAnswer(await post(proxy, key, '/chat/completions', body))
      expect([answer.status, answer.cache]).toEqual([200, 'MISS'])
      expect(answer.text.length).toBeGreaterThan(9_000_000)
    }
    upstream.reset()
  })
})

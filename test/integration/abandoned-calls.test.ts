/**
 * Calls that continue after their clients disconnected are limited: a call that is ended early is estimated, the others are settled
 * exactly.
 */
import { beforeEach, expect, test } from 'vitest'
import type { RecordedRequest } from '../fake-provider/recording.ts'
import type { Scenario } from '../fake-provider/scenario.ts'
import { describeBackends } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const MOST_CALLS = 2
const LEFT = 5
const chat = {
  messages: [{ role: 'user', content: 'Why?' }],
  model: 'o3',
  max_completion_tokens: 1_000,
  service_tier: 'default',
}
const usage = { prompt_tokens: 10, completion_tokens: 500 }
const tokens = { input_tokens: 10, output_tokens: 500, total_tokens: 510 }
const picture = `event: image_generation.completed\ndata: ${JSON.stringify({ type: 'image_generation.completed', b64_json: 'eA==', usage: tokens })}\n\n`

interface Case {
  path: string
  body: Record<string, unknown>
  /** How the provider's response ends. */
  ends: Scenario
}
const CASES: Record<string, Case> = {
  'plain responses': { path: '/chat/completions', body: chat, ends: { kind: 'answer', usage } },
  streams: { path: '/chat/completions', body: { ...chat, stream: true }, ends: { kind: 'answer', usage } },
  'streams of pictures': {
    path: '/images/generations',
    body: { model: 'gpt-image-1', prompt: 'A tree', stream: true, size: '1024x1024', quality: 'low' },
    ends: { kind: 'raw', headers: { 'content-type': 'text/event-stream' }, parts: [picture] },
  },
}

describeBackends('calls whose clients have disconnected', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' },
      abandonedCallLimits: { calls: MOST_CALLS },
    }),
  )
  let project: string
  let key: string

  beforeEach(async () => {
    upstreams.reset()
    project = `a-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
    await proxy.query(`select set_budget('${project}', 'usd', 100, 'total')`)
  })

  async function records() {
    await proxy.settle()
    return proxy.query<{ estimated: string | null; doubtful: number | null; tokens: number }>(
      `select cost_estimated as estimated, doubtful_usd::float8 as doubtful, completion_tokens as tokens
      from usage_records where project_id = find_project('${project}') order by cost_estimated nulls last`,
    )
  }

  const posted = () => (upstreams.openai.requests as RecordedRequest[]).filter(({ method }) => method === 'POST')

  test.each(Object.keys(CASES))('%s: a bounded number is read on, and the oldest are estimated', async name => {
    const { path, body, ends } = CASES[name] as Case
    const release = Promise.withResolvers<Scenario>()
    upstreams.openai.script(() => release.promise)
    const leaving = new AbortController()
    const left = Array.from({ length: LEFT }, () =>
      post(proxy, key, path, body, { signal: leaving.signal, headers: { 'cache-control': 'no-store' } }).catch(
        () => {},
      ),
    )
    await waitUntil('all requests reach the provider', () => posted().length === LEFT)
    leaving.abort()
    await Promise.all(left)
    const givenUp = LEFT - MOST_CALLS
    await waitUntil('the oldest calls are ended early', async () => (await records()).length === givenUp)
    for (const record of await records()) {
      expect(record.estimated).toBe('client_left')
      expect(record.doubtful).toBeGreaterThan(0)
    }
    await waitUntil(
      'the ended calls are aborted',
      () => posted().filter(({ abortedAtMs }) => abortedAtMs !== null).length === givenUp,
    )
    release.resolve(ends)
    await waitUntil('the other calls are read to their end', async () => (await records()).length === LEFT)
    const exact = { estimated: null, doubtful: null, tokens: 500 }
    expect((await records()).slice(givenUp)).toEqual(Array(MOST_CALLS).fill(exact))
  })
})

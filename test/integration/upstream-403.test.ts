/** A 403 from the aggregator, at every endpoint: it is forwarded if it concerns the request, but not if it concerns the operator's key. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createLog } from '../../src/telemetry/log.ts'
import { describeOnce } from '../harness/backends.ts'
import { post, readAnswer } from '../harness/client.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const model = 'openai/gpt-4o-mini'
const messages = [{ role: 'user', content: 'Hi' }]
const ENDPOINT_CASES: [path: string, body: Record<string, unknown>][] = [
  ['/chat/completions', { messages }],
  ['/chat/completions', { messages, stream: true }],
  ['/responses', { input: 'Hi' }],
  ['/responses', { input: 'Hi', stream: true }],
  ['/messages', { messages, max_tokens: 9 }],
  ['/messages', { messages, max_tokens: 9, stream: true }],
  ['/completions', { prompt: 'Hi' }],
  ['/embeddings', { input: 'Hi' }],
  ['/moderations', { input: 'Hi' }],
]
const FLAGGED = 'Your input was flagged for violence.'

describeOnce('a 403 of the aggregator', backend => {
  const upstreams = duringTests(startUpstreams)
  const warned: unknown[] = []
  const log = Object.assign(createLog('silent'), { warn: (...line: unknown[]) => warned.push(line) })
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment, log }))
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'project' })
  })
  beforeEach(() => {
    upstreams.reset()
    warned.length = 0
  })

  test.each(ENDPOINT_CASES)('at %s (%j) about the request is forwarded, and sent once', async (path, fields) => {
    upstreams.aggregator.script({ kind: 'error', status: 403, message: FLAGGED })
    const answer = await readAnswer(await post(proxy, key, path, { model, ...fields }))
    // Anthropic's clients treat a 403 as a rejected key.
    expect([answer.status, answer.json.error.message]).toEqual([path === '/messages' ? 400 : 403, FLAGGED])
    expect(upstreams.aggregator.requests).toHaveLength(1)
    expect(warned).toEqual([])
  })

  test.each(ENDPOINT_CASES)('at %s (%j) about the key reveals nothing of it to the client', async (path, fields) => {
    upstreams.aggregator.script({ kind: 'error', status: 403, message: 'Key limit exceeded (total limit). See org 7.' })
    const answer = await readAnswer(await post(proxy, key, path, { model, ...fields }))
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false'])
    expect(JSON.stringify(answer.json)).toContain('rejected the key of this service')
    expect(JSON.stringify(answer.json)).not.toContain('org 7')
    expect(upstreams.aggregator.requests).toHaveLength(1)
  })
})

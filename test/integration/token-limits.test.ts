/**
 * Tokens a minute: what concurrent requests may use, what they used, and the headers that report it, at every endpoint that calls a
 * provider.
 */
import { beforeEach, expect, test } from 'vitest'
import { createTokenRateLimiter } from '../../src/admission/token-rate-limiter.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { describeBackends } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { type Answer, ask, post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { sendSimultaneously } from '../harness/send-simultaneously.ts'
import { waitUntil } from '../harness/wait-until.ts'

const upstreams = duringTests(startUpstreams)

const plain = (content: string, max_tokens = 100) => ({ ...question(content, { model: 'gpt-4o-mini' }), max_tokens })
/** A token has at least one byte. */
const mostOf = (body: { max_tokens: number }) => JSON.stringify(body).length + body.max_tokens
const tokensOf = ({ headers }: Pick<Answer, 'headers'>) =>
  ['limit', 'remaining', 'reset'].map(what => headers.get(`x-ratelimit-${what}-tokens`))

describeBackends('tokens per minute', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let key: string
  beforeEach(async () => {
    upstreams.reset()
    const project = `t-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
  })

  const limitTo = (tokens: number | null) =>
    proxy.query(`select set_key_limits(find_key('${key}'), '{"tokens_per_minute": ${tokens}}')`)
  /** The remaining tokens of the window after all requests are settled. */
  async function remaining(of = 'What is known?'): Promise<number> {
    const { cache, headers } = await ask(proxy, key, plain(of))
    expect(cache).toBe('HIT')
    return Number(headers.get('x-ratelimit-remaining-tokens'))
  }
  const usedBy = ({ json }: Answer) => json.usage.total_tokens as number

  test('a request counts its upper bound, then its usage; a hit counts none', async () => {
    const known = await ask(proxy, key, plain('What is known?'))
    expect(tokensOf(known)).toEqual([null, null, null])
    await limitTo(10_000)
    expect(await remaining()).toBe(10_000)
    const answer = await ask(proxy, key, plain('What else?'))
    expect(tokensOf(answer)).toEqual(['10000', String(10_000 - mostOf(plain('What else?'))), '60s'])
    await waitUntil(
      'all requests are settled in the window',
      async () => (await remaining()) === 10_000 - usedBy(answer),
    )
    upstreams.openai.script({ kind: 'error', status: 500 })
    const failed = await ask(proxy, key, plain('What fails?'))
    expect([failed.status, tokensOf(failed)[0]]).toEqual([500, '10000'])
    upstreams.reset()
    await waitUntil(
      'all requests are settled in the window',
      async () => (await remaining()) === 10_000 - usedBy(answer),
    )
    await limitTo(null)
    expect(tokensOf(await ask(proxy, key, plain('What is known?')))).toEqual([null, null, null])
  })

  test('of many simultaneous requests, only those within the limit are sent, and the others are told when to retry', async () => {
    const body = (n: number) => plain(`What is number ${100 + n}?`)
    await limitTo(Math.floor(mostOf(body(0)) * 3.5))
    const answers = await sendSimultaneously(upstreams.openai, 10, n => ask(proxy, key, body(n)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(3)
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    expect(upstreams.openai.requests).toHaveLength(10 - refused.length)
    for (const { json, headers } of refused) {
      expect(json.error).toMatchObject({ code: 'rate_limit_exceeded', type: 'tokens' })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(headers.get('x-ratelimit-limit-tokens')).toBe(String(Math.floor(mostOf(body(0)) * 3.5)))
    }
  })

  test('a request that would never fit gets an error that says so', async () => {
    await limitTo(500)
    const answer = await ask(proxy, key, plain('What is much?', 500))
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([429, 'false'])
    expect(answer.json.error.message).toMatch(
      /can use up to \d+ tokens, but its key is limited to 500 tokens per minute/,
    )
    expect(upstreams.openai.requests).toEqual([])
  })

  test.each([
    ['/chat/completions', { ...plain('x'), stream: true }],
    ['/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'x', max_tokens: 100 }],
    ['/responses', { model: 'gpt-4o-mini', input: 'x', max_output_tokens: 100 }],
    ['/messages', { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'x' }], max_tokens: 100 }],
    ['/embeddings', { model: 'text-embedding-3-small', input: ['one', 'two'] }],
    ['/images/generations', { model: 'gpt-image-1', prompt: 'x' }],
    ['/audio/speech', { model: 'gpt-4o-mini-tts', input: 'x', voice: 'alloy' }],
    ['/moderations', { input: 'x' }],
  ])('at %s', async (path, body) => {
    await limitTo(1)
    const refused = await readAnswer(await post(proxy, key, path, body))
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('tokens')])
    expect(upstreams.openai.requests).toEqual([])
    await limitTo(1_000_000)
    const answer = await readAnswer(await post(proxy, key, path, body))
    expect([answer.status, answer.headers.get('x-ratelimit-limit-tokens')]).toEqual([200, '1000000'])
    expect(Number(answer.headers.get('x-ratelimit-remaining-tokens'))).toBeLessThan(1_000_000)
  })

  test('the plan’s limit applies to a key without one, and else the lower of two', async () => {
    const plan = `plan-${crypto.randomUUID()}`
    await proxy.query(`insert into plans (name, requests_per_minute_per_key, requests_per_minute_per_address, requests_per_month, tokens_per_minute_per_key)
      values ('${plan}', 1000, 1000, 1000, 700)`)
    await proxy.query(
      `update projects set plan = '${plan}' where id = (select project_id from api_keys where id = find_key('${key}'))`,
    )
    const limit = async () => tokensOf(await ask(proxy, key, plain('x')))[0]
    expect(await limit()).toBe('700')
    await limitTo(600)
    expect(await limit()).toBe('600')
    await limitTo(800)
    expect(await limit()).toBe('700')
  })
})

test('a window keeps the usage, even if that is more than was reserved', async () => {
  const windows = createTokenRateLimiter(createInProcessStore())
  const account = { project_id: 1, key_id: 1, tokens_per_minute: 100 }
  const [one, two] = [await windows.reserve(account, 30), await windows.reserve(account, 20)]
  expect([one.remaining, two.remaining, await windows.remaining(account)]).toEqual([70, 50, 50])
  windows.settle([one, two], 35)
  await waitUntil('all requests are settled in the window', async () => (await windows.remaining(account)) === 65)
  windows.settle([await windows.reserve(account, null).catch(() => windows.reserve(account, 65))], 80)
  await waitUntil('all requests are settled in the window', async () => (await windows.remaining(account)) === 0)
  await expect(windows.reserve(account, 1)).rejects.toMatchObject({ status: 429 })
  await expect(windows.reserve(account, 101)).rejects.toMatchObject({ headers: { 'x-should-retry': 'false' } })
})

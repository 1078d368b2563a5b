import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RecordedRequest } from '../fake-provider/recording.ts'
import type { Scenario } from '../fake-provider/scenario.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { post } from '../harness/client.ts'
import { propertyRuns } from '../harness/depth.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { createRandom } from '../harness/random.ts'

const REQUESTS = 8 * propertyRuns
/** The number of distinct prompts. The other requests repeat one of them. */
const PROMPTS = 6 * propertyRuns
const AT_ONCE = 32
/** US dollars per token of gpt-4o-mini. */
const PRICE = { prompt: 0.15e-6, completion: 0.6e-6 }

const promptOf = (n: number) => `Tell me about item ${n} of list ${n * 7919}`
const answerTo = (prompt: string) => `This is what there is to say about: ${prompt}. `.repeat(3)
const usageOf = (n: number) => ({ prompt_tokens: 10 + (n % 90), completion_tokens: 5 + (n % 50) })

interface Asked {
  n: number
  stream: boolean
}

interface Ended extends Asked {
  status: number
  cache: string | null
  /** whole: the complete and correct response. broken: a stream that ends with an error. refused: an error instead of a response. */
  ending: 'whole' | 'broken' | 'refused'
}

function promptIn(request: RecordedRequest): string {
  return (request.body as { messages: { content: string }[] }).messages[0]?.content ?? ''
}

describeOnce('an upstream that fails 30 % of calls at connect and 10 % in mid-stream', backend => {
  const upstream = duringTests(startFakeProvider)
  let proxy: TestProxy
  let key: string
  const failed = { atConnect: 0, midway: 0 }

  beforeAll(async () => {
    const random = createRandom(20_261_122)
    const numbers = new Map(Array.from({ length: PROMPTS }, (_, n) => [promptOf(n), n]))
    upstream.script((request): Scenario => {
      const chance = random()
      if (chance < 0.3) {
        failed.atConnect++
        return { kind: 'cut', after: 'nothing' }
      }
      if (chance < 0.4) {
        failed.midway++
        return { kind: 'cut', after: 2 }
      }
      const prompt = promptIn(request)
      return { kind: 'answer', content: answerTo(prompt), usage: usageOf(numbers.get(prompt) ?? 0) }
    })
    proxy = await startProxy({ stores: await backend.open(), environment: upstream.environment })
    // Semantic lookups are off, so every response is the upstream's own or a repetition for the same question.
    const project = 'unreliable'
    key = await proxy.createKey({ project, type: 'project' })
    await proxy.query(`select set_setting('${project}', 'semantic_enabled', 'false')`)
  })
  afterAll(() => proxy.stop())

  function send({ n, stream }: Asked, headers: Record<string, string> = {}): Promise<Response> {
    const body = {
      ...question(promptOf(n)),
      ...(stream ? { stream, stream_options: { include_usage: n % 2 === 0 } } : {}),
    }
    return post(proxy, key, '/chat/completions', body, { headers, signal: AbortSignal.timeout(30_000) })
  }

  async function ask(asked: Asked): Promise<Ended> {
    const response = await send(asked)
    const text = await response.text()
    const { status } = response
    const ended = { ...asked, status, cache: response.headers.get('x-proxy-cache') }
    if (status !== 200) {
      const { error } = JSON.parse(text)
      expect([status, error.code]).toEqual(status === 503 ? [503, 'service_unavailable'] : [502, 'upstream_error'])
      return { ...ended, ending: 'refused' }
    }
    const right = answerTo(promptOf(asked.n))
    if (!asked.stream) {
      expect(JSON.parse(text).choices[0]).toMatchObject({ message: { content: right }, finish_reason: 'stop' })
      return { ...ended, ending: 'whole' }
    }
    const events = text.split('\n\n').filter(event => event !== '')
    const isDone = events.at(-1) === 'data: [DONE]'
    const chunks = events.slice(0, -1).map(event => JSON.parse(event.slice('data: '.length)))
    const content = chunks.map(chunk => chunk.choices[0]?.delta?.content ?? '').join('')
    if (isDone) {
      expect(content).toBe(right)
      return { ...ended, ending: 'whole' }
    }
    // The fake provider cuts another text, so that a stored part of it would be noticed.
    expect(content).not.toContain(right)
    expect(JSON.parse(events.at(-1)?.slice('data: '.length) ?? '').error.code).toBe('upstream_error')
    return { ...ended, ending: 'broken' }
  }

  async function askAll(): Promise<Ended[]> {
    const random = createRandom(7)
    const waiting: Asked[] = Array.from({ length: REQUESTS }, (_, i) => ({
      n: i < PROMPTS ? i : Math.floor(random() * PROMPTS),
      stream: random() < 0.5,
    }))
    const ended: Ended[] = []
    async function work(): Promise<void> {
      for (let next = waiting.pop(); next; next = waiting.pop()) ended.push(await ask(next))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    return ended
  }

  test(`${REQUESTS} requests: each succeeds or fails correctly, nothing wrong is stored, and the records agree with the upstream’s`, async () => {
    const ended = await askAll()
    const whole = ended.filter(({ ending }) => ending === 'whole')
    const misses = whole.filter(({ cache }) => cache === 'MISS')
    expect(ended).toHaveLength(REQUESTS)
    // The upstream failed at the intended rates, and retries corrected most failures.
    expect(failed.atConnect / upstream.counts.total).toBeCloseTo(0.3, 1)
    expect(failed.midway / upstream.counts.total).toBeCloseTo(0.1, 1)
    expect(upstream.counts.total).toBe(failed.atConnect + failed.midway + upstream.counts.answered)
    expect(whole.length).toBeGreaterThan(REQUESTS * 0.75)
    expect(ended.filter(({ ending }) => ending === 'broken').length).toBeGreaterThan(REQUESTS / 100)

    await proxy.settle()
    const [accounts] = await proxy.query<Record<string, number>>(`
      select
        count(*)::integer as records,
        count(*) filter (where status = 200)::integer as answered,
        count(*) filter (where status = 200 and cache_result = 'MISS')::integer as misses,
        count(*) filter (where status = 200 and cache_result = 'HIT')::integer as hits,
        sum(prompt_tokens) filter (where status = 200)::integer as prompt_tokens,
        sum(completion_tokens) filter (where status = 200)::integer as completion_tokens,
        (sum(cost_usd) filter (where status = 200))::float8 as cost,
        (select sum(requests) from monthly_counters)::integer as counted
      from usage_records`)
    const spent = upstream.requests
      .filter(request => request.isAnswered)
      .map(request => usageOf(Number(/item (\d+)/.exec(promptIn(request))?.[1])))
    const promptTokens = spent.reduce((sum, usage) => sum + usage.prompt_tokens, 0)
    const completionTokens = spent.reduce((sum, usage) => sum + usage.completion_tokens, 0)
    const { cost, ...counts } = accounts ?? {}
    expect(counts).toEqual({
      // A busy machine's database may be too slow to admit a request: it gets an error and has no record.
      records: ended.filter(({ cache }) => cache !== null).length,
      answered: whole.length,
      misses: upstream.counts.answered,
      hits: whole.length - misses.length,
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      counted: whole.length,
    })
    expect(misses).toHaveLength(upstream.counts.answered)
    expect(cost).toBeCloseTo(promptTokens * PRICE.prompt + completionTokens * PRICE.completion, 6)

    // All stored responses are correct, and all correct responses are stored.
    const answered = new Set(whole.map(({ n }) => n))
    const calls = upstream.counts.total
    for (let n = 0; n < PROMPTS; n++) {
      const response = await send({ n, stream: false }, { 'cache-control': 'only-if-cached' })
      const body = (await response.json()) as { choices?: { message: { content: string } }[] }
      expect([n, response.status]).toEqual([n, answered.has(n) ? 200 : 504])
      if (response.status === 200) expect(body.choices?.[0]?.message.content).toBe(answerTo(promptOf(n)))
    }
    expect(upstream.counts.total).toBe(calls)
  }, 120_000)
})

import { beforeEach, describe, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { type Answer, ask, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const QUESTION = 'Explain how photosynthesis works in the leaves of green plants, with photographs'
/** The first has the same normalized text. The second is verified to ask the same. The third is similar and not verified. */
const SAME_WORDS = `Could you please ${QUESTION.toLowerCase()}?`
const OTHER_WORDS = 'Explain how photosynthesis works in the leaves of green plants, with a photograph'
const UNVERIFIED = 'Explain how photosynthesis works in the leaves of green plants, with drawings'

/** Any similarity suffices. */
const NEAR = { semantic_threshold: '0.5', cache_feedback: 'any' }
const STORED_ALONE = { 'cache-control': 'only-if-cached' }

describeBackends('a project', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: fakeProvider.environment }))
  let project: string
  let key: string

  beforeEach(async () => {
    fakeProvider.reset()
    project = `p-${crypto.randomUUID().slice(0, 8)}`
    key = await proxy.createKey({ project, type: 'project', settings: NEAR })
  })

  const set = (setting: string, value: string) =>
    proxy.query(`select set_setting('${project}', '${setting}', '${value}')`)

  /** Sends a new question and waits until its response is stored. */
  async function learn(body: Parameters<typeof ask>[2]): Promise<void> {
    await ask(proxy, key, body)
    await proxy.settle()
    const find = () => ask(proxy, key, body, { 'cache-control': 'only-if-cached' })
    await waitUntil('the response is stored', async () => (await find()).status === 200)
  }

  const decisionOf = ({ cache, headers }: Answer) => [cache, headers.get('x-proxy-cache-reason')]

  function feedback(body: Record<string, unknown>, ownKey = key): Promise<Response> {
    return post(proxy, ownKey, '/cache/feedback', body)
  }

  describe('decides which wordings are served', () => {
    test('verified, by default', async () => {
      await learn(QUESTION)
      expect(decisionOf(await ask(proxy, key, UNVERIFIED, STORED_ALONE))).toEqual(['MISS', null])
      expect(decisionOf(await ask(proxy, key, OTHER_WORDS))).toEqual(['HIT-SEMANTIC', 'verified'])
    })

    test('matched wordings are served by their name, without another search in PostgreSQL', async () => {
      await learn(QUESTION)
      const [first, reason] = decisionOf(await ask(proxy, key, OTHER_WORDS))
      await proxy.settle()
      await proxy.query('delete from cache_entries')
      const again = await ask(proxy, key, OTHER_WORDS)
      expect([first, reason]).toEqual(['HIT-SEMANTIC', 'verified'])
      expect([decisionOf(again), fakeProvider.requests.length]).toEqual([[first, reason], 1])
    })

    test('and reports what prevented a hit', async () => {
      expect(decisionOf(await ask(proxy, key, UNVERIFIED, { 'cache-control': 'no-store' }))).toEqual([
        'MISS',
        'no-store',
      ])
      expect(decisionOf(await ask(proxy, key, UNVERIFIED.replace('green', 'red')))).toEqual(['MISS', 'no-candidate'])
      await learn(QUESTION)
      expect(decisionOf(await ask(proxy, key, UNVERIFIED, { 'x-proxy-cache-threshold': '0.999' }))).toEqual([
        'MISS',
        'below-threshold',
      ])
    })

    test('in a busy minute, too', async () => {
      const ask60 = Array.from({ length: 60 }, (_, i) => ask(proxy, key, `How do I print the form ${1000 + i}?`))
      for (const answer of await Promise.all(ask60)) expect(answer.cache).toBe('MISS')
      await learn(QUESTION)
      expect(decisionOf(await ask(proxy, key, OTHER_WORDS))).toEqual(['HIT-SEMANTIC', 'verified'])
      await proxy.settle()
      const [cache, reason] = decisionOf(await ask(proxy, key, 'What is the best way to print the form 1042?'))
      expect([cache, reason]).toEqual(['HIT-SEMANTIC', 'verified'])
      expect(decisionOf(await ask(proxy, key, 'How do I print the form 2042?'))).toEqual(['MISS', 'unverified:number'])
    })

    test('exactly, if the context has text to work on', async () => {
      const inContext = (system: string, content: string) => ({
        model: 'openai/gpt-4o-mini',
        messages: [
          { role: 'system', content: system },
          { role: 'user', content },
        ],
      })
      for (const [system, result] of [
        ['You are a helpful assistant. Answer briefly.', 'HIT-SEMANTIC'],
        ['You translate what the user writes into French.', 'MISS'],
      ] as const) {
        await learn(inContext(system, QUESTION))
        expect((await ask(proxy, key, inContext(system, SAME_WORDS))).cache).toBe(result)
      }
    })

    test.each([
      ['semantic_policy', 'threshold'],
      ['semantic_guards', 'false'],
    ])('by similarity alone: %s = %s', async (setting, value) => {
      await set(setting, value)
      await learn(QUESTION)
      expect(decisionOf(await ask(proxy, key, UNVERIFIED))).toEqual(['HIT-SEMANTIC', 'threshold'])
      // A repeated question gets the same decision as a new one, although the proxy remembers the wording.
      await set('semantic_policy', 'verified')
      expect(decisionOf(await ask(proxy, key, UNVERIFIED))).toEqual(['MISS', 'unverified:words'])
    })

    test('not at all, and remembered wordings are then ignored', async () => {
      await learn(QUESTION)
      for (let i = 0; i < 2; i++) expect((await ask(proxy, key, SAME_WORDS)).cache).toBe('HIT-SEMANTIC')
      await set('semantic_mode', 'off')
      expect(decisionOf(await ask(proxy, key, SAME_WORDS))).toEqual(['MISS', 'off'])
    })

    test('by neither name with invalid values', async () => {
      for (const [setting, takes] of [
        ['semantic_policy', 'verified, proved, judged or threshold'],
        ['semantic_mode', 'on, shadow or off'],
        ['semantic_guards', 'true or false'],
        ['cache_mode', 'all, deterministic or off'],
        ['semantic_judge_timeout_ms', 'whole milliseconds from 1 to 60000'],
      ] as const) {
        await expect(set(setting, 'perhaps')).rejects.toThrow(takes)
      }
      await set('semantic_policy', 'judged')
      await set('semantic_guards', 'true')
      expect(
        await proxy.query(`select semantic_policy, semantic_guards from projects where name = '${project}'`),
      ).toEqual([{ semantic_policy: 'judged', semantic_guards: true }])
    })
  })

  test('in shadow mode calls the provider, and reports what would have been served and saved', async () => {
    await learn(QUESTION)
    await set('semantic_mode', 'shadow')
    expect(decisionOf(await ask(proxy, key, OTHER_WORDS))).toEqual(['MISS', 'shadow'])
    await proxy.settle()
    const rows = await proxy.query<{ hits: number }>(
      `select reason, hits::integer as hits, prompt_tokens > 0 as has_tokens, saved_usd > 0 as has_cost
      from semantic_shadow where project = '${project}'`,
    )
    expect(rows).toEqual([{ reason: 'verified', hits: 1, has_tokens: true, has_cost: true }])
    // The upstream's response was stored like any other.
    expect((await ask(proxy, key, OTHER_WORDS)).cache).toBe('HIT')
  })

  describe('decides what is cached at all', () => {
    const body = (fields = {}) => ({
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: QUESTION }],
      ...fields,
    })

    test('only requests for the same response each time', async () => {
      await set('cache_mode', 'deterministic')
      for (const fields of [{ temperature: 0 }, { seed: 7 }]) {
        await learn(body(fields))
        expect((await ask(proxy, key, body(fields))).cache).toBe('HIT')
      }
      for (let i = 0; i < 2; i++) expect(decisionOf(await ask(proxy, key, body()))).toEqual(['MISS', 'off'])
    })

    test('nothing, not even calls in flight', async () => {
      await learn(body({ temperature: 0 }))
      await set('cache_mode', 'off')
      fakeProvider.reset()
      const answers = await Promise.all([1, 2, 3].map(() => ask(proxy, key, body({ temperature: 0 }))))
      expect(answers.map(answer => answer.cache)).toEqual(['MISS', 'MISS', 'MISS'])
      expect(fakeProvider.requests).toHaveLength(3)
      await set('cache_mode', 'all')
      expect((await ask(proxy, key, body({ temperature: 0 }))).cache).toBe('HIT')
    })
  })

  describe('receives verdicts of people', () => {
    /** Sends a wording twice, so that its hit is remembered. Returns the id of the last request. */
    async function serveTwice(words: string): Promise<string> {
      let id = ''
      for (let i = 0; i < 2; i++) {
        const answer = await ask(proxy, key, words)
        expect(answer.cache).toBe('HIT-SEMANTIC')
        id = answer.headers.get('x-request-id') ?? ''
      }
      return id
    }

    test.each([
      ['normalized', SAME_WORDS],
      ['verified', OTHER_WORDS],
    ])('a wrong %s hit is never served again, in either direction', async (_, words) => {
      await learn(QUESTION)
      const response = await feedback({ request_id: await serveTwice(words), verdict: 'wrong' })
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"wrong"')])
      expect(decisionOf(await ask(proxy, key, words))).toEqual(['MISS', 'unverified:verdict'])
      await proxy.settle()
      // The response that was stored for the exact request is still valid.
      for (const each of [words, QUESTION]) expect((await ask(proxy, key, each)).cache).toBe('HIT')
    })

    test('by psql too', async () => {
      await learn(QUESTION)
      const id = await serveTwice(OTHER_WORDS)
      await proxy.settle()
      await proxy.query(`select give_feedback('${project}', '${id}', 'wrong')`)
      expect(decisionOf(await ask(proxy, key, OTHER_WORDS, STORED_ALONE))).toEqual(['MISS', null])
      const events = await proxy.query(`select kind, payload ->> 'request_id' as id from events where once = '${id}'`)
      expect(events).toEqual([{ kind: 'cache.wrong_hit', id }])
      await expect(proxy.query(`select give_feedback('${project}', 'nothing', 'wrong')`)).rejects.toThrow(
        /no semantic hit/,
      )
      await expect(proxy.query(`select give_feedback('${project}', '${id}', 'bad')`)).rejects.toThrow(/wrong or right/)
    })

    test('a right one is served from then on, if similar questions are looked up', async () => {
      await set('semantic_policy', 'threshold')
      await learn(QUESTION)
      expect((await feedback({ request_id: await serveTwice(UNVERIFIED), verdict: 'right' })).status).toBe(200)
      await set('semantic_policy', 'verified')
      expect(decisionOf(await ask(proxy, key, UNVERIFIED))).toEqual(['HIT-SEMANTIC', 'judged'])
      expect(decisionOf(await ask(proxy, key, UNVERIFIED))).toEqual(['HIT-SEMANTIC', 'judged'])
    })

    test('with no effect on another project, other requests, or other words', async () => {
      await learn(QUESTION)
      const id = await serveTwice(OTHER_WORDS)
      const other = await proxy.createKey({ type: 'project', settings: NEAR })
      expect((await feedback({ request_id: id, verdict: 'wrong' }, other)).status).toBe(404)
      expect((await feedback({ request_id: 'no-such', verdict: 'wrong' })).status).toBe(404)
      expect((await feedback({ request_id: id, verdict: 'bad' })).status).toBe(400)
      expect((await feedback({ verdict: 'wrong' })).status).toBe(400)
      expect((await feedback({ request_id: id, verdict: 'wrong' }, 'lgw_proj_nobody')).status).toBe(401)
      expect((await ask(proxy, key, OTHER_WORDS)).cache).toBe('HIT-SEMANTIC')
    })

    test('as long as an entry is stored', async () => {
      await learn(QUESTION)
      await feedback({ request_id: await serveTwice(OTHER_WORDS), verdict: 'wrong' })
      await proxy.query(`update cache_verdicts set expires_at = now()`)
      await proxy.query(`select delete_expired_verdicts(100)`)
      expect(await proxy.query('select verdict from cache_verdicts')).toContainEqual({ verdict: 'different' })
      await proxy.query(`select purge_cache('${project}')`)
      expect(
        await proxy.query(
          `select 1 as kept from cache_verdicts v join projects p on p.id = v.project_id where p.name = '${project}'`,
        ),
      ).toEqual([])
    })
  })
})

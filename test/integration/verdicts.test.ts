import { beforeEach, describe, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { type Answer, ask, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const QUESTION = 'Explain how photosynthesis works in the leaves of green plants, with photographs'
/** The first is verified to ask the same. The second is similar, and the verifier finds a difference. */
const OTHER_WORDS = 'Explain how photosynthesis works in the leaves of green plants, with a photograph'
const UNVERIFIED = 'Explain how photosynthesis works in the leaves of green plants, with drawings'
/** Depends on its caller, so no other caller gets the response. */
const OWN = 'Explain how photosynthesis works in the leaves of my green plants, with photographs'
const OWN_WORDS = 'Explain how photosynthesis works in the leaves of my green plants, with a photograph'

const NEAR = { semantic_threshold: '0.5', cache_feedback: 'any' }
/** The response is not stored, so that the question can be sent for the first time again. */
const UNSTORED = { 'x-proxy-cache-ttl': '0' }

describeBackends('a person’s verdict on two questions', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: fakeProvider.environment }))
  let project: string
  let key: string

  beforeEach(async () => {
    project = `p-${crypto.randomUUID().slice(0, 8)}`
    key = await proxy.createKey({ project, type: 'project', settings: NEAR })
  })

  const set = (setting: string, value: string) =>
    proxy.query(`select set_setting('${project}', '${setting}', '${value}')`)
  const on = (day: string, content: string, fields = {}) => ({
    model: 'openai/gpt-4o-mini',
    messages: [
      { role: 'system', content: `You are a helpful assistant. Today is ${day}.` },
      { role: 'user', content },
    ],
    ...fields,
  })
  type Asked = ReturnType<typeof on>

  async function store(body: Asked, by = key): Promise<void> {
    expect((await ask(proxy, by, body)).status).toBe(200)
    await proxy.settle()
  }
  async function lookUp(body: Asked, { by = key, headers = UNSTORED as Record<string, string> } = {}): Promise<Answer> {
    let answer: Answer
    // On a busy machine a lookup may time out and find nothing.
    for (let left = 3; ; left--) {
      answer = await ask(proxy, by, body, headers)
      if (left === 0 || decisionOf(answer)[1] !== 'no-candidate') break
    }
    await proxy.settle()
    return answer
  }
  const decisionOf = ({ cache, headers }: Answer) => [cache, headers.get('x-proxy-cache-reason')]
  const giveFeedback = async (
    of: Answer,
    verdict: 'wrong' | 'right',
    { by = key, ...named }: Record<string, string> = {},
  ) =>
    (await post(proxy, by, '/cache/feedback', { request_id: of.headers.get('x-request-id'), verdict, ...named })).status

  const MATCHED = ['HIT-SEMANTIC', 'verified']
  const ALLOWED = ['HIT-SEMANTIC', 'judged']
  const REFUSED = ['MISS', 'unverified:verdict']
  const UNDECIDED = ['MISS', 'unverified:words']

  describe('if the hit was wrong', () => {
    test('applies under every system prompt and for every model, also if the match is remembered', async () => {
      const elsewhere = await proxy.createKey({ type: 'project', settings: NEAR })
      const places = [on('Monday', ''), on('Tuesday', ''), on('Monday', '', { model: 'openai/gpt-4o' })]
      const asked = (place: Asked, content: string) => ({
        ...place,
        messages: on('', content).messages.with(0, place.messages[0] as never),
      })
      for (const place of places) {
        await store(asked(place, QUESTION))
        for (let i = 0; i < 2; i++) expect(decisionOf(await lookUp(asked(place, OTHER_WORDS)))).toEqual(MATCHED)
      }
      await store(on('Monday', QUESTION), elsewhere)
      expect(await giveFeedback(await lookUp(on('Monday', OTHER_WORDS)), 'wrong')).toBe(200)
      for (const place of places) expect(decisionOf(await lookUp(asked(place, OTHER_WORDS)))).toEqual(REFUSED)
      await store(on('Wednesday', OTHER_WORDS))
      expect(decisionOf(await lookUp(on('Wednesday', QUESTION)))).toEqual(REFUSED)
      expect(decisionOf(await lookUp(on('Monday', OTHER_WORDS), { by: elsewhere }))).toEqual(MATCHED)
    })

    test('applies to two wordings with one normalized form', async () => {
      const polite = `Could you please ${QUESTION.toLowerCase()}?`
      for (const day of ['Monday', 'Tuesday']) await store(on(day, QUESTION))
      expect(await giveFeedback(await lookUp(on('Monday', polite)), 'wrong')).toBe(200)
      expect(decisionOf(await lookUp(on('Tuesday', polite)))).toEqual(REFUSED)
    })

    test('is kept for a year after the responses are gone, unless the cache is purged', async () => {
      await store(on('Monday', QUESTION))
      expect(await giveFeedback(await lookUp(on('Monday', OTHER_WORDS)), 'wrong')).toBe(200)
      await proxy.query(`delete from cache_entries where project_id = find_project('${project}')`)
      const later = async (interval: string) => {
        await proxy.query(`update cache_verdicts set expires_at = expires_at - interval '${interval}'
          where project_id = find_project('${project}')`)
        await proxy.query('select delete_expired_verdicts(1000)')
        return (await proxy.query(`select from cache_verdicts where project_id = find_project('${project}')`)).length
      }
      expect(await later('364 days')).toBe(1)
      await store(on('Tuesday', QUESTION))
      expect(decisionOf(await lookUp(on('Tuesday', OTHER_WORDS)))).toEqual(REFUSED)
      await proxy.query(`delete from cache_entries where project_id = find_project('${project}')`)
      expect(await later('1 day')).toBe(0)
      await store(on('Wednesday', QUESTION))
      expect(await giveFeedback(await lookUp(on('Wednesday', OTHER_WORDS)), 'wrong')).toBe(200)
      await proxy.query(`select purge_cache('${project}')`)
      expect(await later('0 days')).toBe(0)
    })

    test('outweighs an earlier “right” anywhere, and a later one outweighs it in its own context', async () => {
      for (const day of ['Monday', 'Tuesday']) await store(on(day, QUESTION))
      const [monday, tuesday] = [await lookUp(on('Monday', UNVERIFIED)), await lookUp(on('Tuesday', UNVERIFIED))]
      expect([await giveFeedback(monday, 'right'), await giveFeedback(tuesday, 'wrong')]).toEqual([200, 200])
      for (const day of ['Monday', 'Tuesday']) expect(decisionOf(await lookUp(on(day, UNVERIFIED)))).toEqual(REFUSED)
      expect(await giveFeedback(monday, 'right')).toBe(200)
      expect(decisionOf(await lookUp(on('Monday', UNVERIFIED)))).toEqual(ALLOWED)
      expect(decisionOf(await lookUp(on('Tuesday', UNVERIFIED)))).toEqual(REFUSED)
      const fakeg = await proxy.query(
        `select verdict from effective_verdicts where project_id = find_project('${project}')`,
      )
      expect(fakeg).toHaveLength(2)
      expect(await giveFeedback(tuesday, 'right')).toBe(200)
      expect(decisionOf(await lookUp(on('Tuesday', UNVERIFIED)))).toEqual(ALLOWED)
    })
  })

  describe('if the hit would have been right', () => {
    test('serves later such questions in that context, however similar they are', async () => {
      for (const day of ['Monday', 'Tuesday']) await store(on(day, QUESTION))
      const missed = await lookUp(on('Monday', UNVERIFIED))
      expect(decisionOf(missed)).toEqual(UNDECIDED)
      const candidate = await ask(proxy, key, on('Monday', QUESTION))
      expect(missed.headers.get('x-proxy-cache-near-miss')).toBe(candidate.headers.get('x-proxy-cache-id'))
      expect(await giveFeedback(missed, 'right')).toBe(200)
      await set('semantic_threshold', '0.9999')
      for (let i = 0; i < 2; i++) {
        const served = await lookUp(on('Monday', UNVERIFIED))
        expect([decisionOf(served), served.json.choices]).toEqual([ALLOWED, candidate.json.choices])
        expect(Number(served.headers.get('x-proxy-cache-similarity'))).toBeLessThan(0.9999)
      }
      const { decision } = (await post(proxy, key, '/cache/explain', on('Monday', UNVERIFIED)).then(r =>
        r.json(),
      )) as never
      expect(decision).toMatchObject({ cache: 'HIT-SEMANTIC', reason: 'judged' })
      // The verdict has no effect if the client requires more similarity, if only proved matches are allowed, or in another context.
      const stricter = { ...UNSTORED, 'x-proxy-cache-threshold': '0.99999' }
      expect((await lookUp(on('Monday', UNVERIFIED), { headers: stricter })).cache).toBe('MISS')
      expect((await lookUp(on('Tuesday', UNVERIFIED))).cache).toBe('MISS')
      await set('semantic_policy', 'proved')
      expect((await lookUp(on('Monday', UNVERIFIED))).cache).toBe('MISS')
    })

    test('rejects a verdict if nothing was near', async () => {
      const missed = await lookUp(on('Monday', UNVERIFIED))
      expect([decisionOf(missed), missed.headers.get('x-proxy-cache-near-miss')]).toEqual([
        ['MISS', 'no-candidate'],
        null,
      ])
      expect(await giveFeedback(missed, 'right')).toBe(404)
    })

    test('is open to callers who share the response', async () => {
      const other = await proxy.createKey({ project, type: 'project' })
      const missedBy = async (user: string) => {
        await store(on('Monday', QUESTION, { user }))
        return lookUp(on('Monday', UNVERIFIED, { user }))
      }
      await set('cache_scope', 'key')
      expect([await giveFeedback(await missedBy('alice'), 'right', { by: other })]).toEqual([404])
      await set('cache_scope', 'user')
      const missed = await missedBy('alice')
      expect(await giveFeedback(missed, 'right', { user: 'bob' })).toBe(404)
      expect(await giveFeedback(missed, 'right', { by: other })).toBe(404)
      expect(decisionOf(await lookUp(on('Monday', UNVERIFIED, { user: 'alice' })))).toEqual(UNDECIDED)
      expect(await giveFeedback(missed, 'right', { by: other, user: 'alice' })).toBe(200)
      expect(decisionOf(await lookUp(on('Monday', UNVERIFIED, { user: 'alice' })))).toEqual(ALLOWED)
      expect(decisionOf(await missedBy('bob'))).toEqual(UNDECIDED)
      const bobs = await missedBy('bob')
      expect(await giveFeedback(bobs, 'right')).toBe(404)
      expect(await giveFeedback(bobs, 'right', { user: 'bob' })).toBe(200)
    })
  })

  test.each([
    ['user', QUESTION, OTHER_WORDS],
    ['project', OWN, OWN_WORDS],
  ])('reveals nothing to callers who do not share a response: %s', async (scope, question, words) => {
    await set('cache_scope', scope)
    // Requests of each user differ in a field, because identical requests share a response.
    const asked = (day: string, content: string, user: string) => on(day, content, { user, max_tokens: user.length })
    for (const user of ['alice', 'bob']) {
      for (const day of ['Monday', 'Tuesday']) await store(asked(day, question, user))
    }
    const matched = await lookUp(asked('Monday', words, 'alice'))
    expect([await giveFeedback(matched, 'wrong'), await giveFeedback(matched, 'wrong', { user: 'bob' })]).toEqual([
      404, 404,
    ])
    expect(await giveFeedback(matched, 'wrong', { user: 'alice' })).toBe(200)
    for (const day of ['Monday', 'Tuesday']) {
      expect(decisionOf(await lookUp(asked(day, words, 'alice')))).toEqual(REFUSED)
      expect(decisionOf(await lookUp(asked(day, words, 'bob')))).toEqual(MATCHED)
    }
  })

  test('applies to either of the two questions, only in its project', async () => {
    const elsewhere = `${project}-other`
    const other = await proxy.createKey({ project: elsewhere, type: 'project', settings: NEAR })
    const keptOf = async (name: string) =>
      (await proxy.query(`select from cache_verdicts where project_id = find_project('${name}')`)).length
    for (const forgotten of ['alice', 'bob', 'carol']) {
      for (const by of forgotten === 'alice' ? [key, other] : [key]) {
        await store(on('Monday', QUESTION, { user: 'alice' }), by)
        expect(
          await giveFeedback(await lookUp(on('Monday', OTHER_WORDS, { user: 'bob' }), { by }), 'wrong', { by }),
        ).toBe(200)
      }
      await proxy.query(`select invalidate_cache('${project}', of_user => '${forgotten}', dry_run => false)`)
      const kept = [await keptOf(project), await keptOf(elsewhere)]
      expect([forgotten, kept]).toEqual([forgotten, [forgotten === 'carol' ? 1 : 0, 1]])
    }
  })
})

import { beforeAll, beforeEach, expect, test } from 'vitest'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { describeBackends } from '../../harness/backends.ts'
import { ask } from '../../harness/client.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { type Answered, addUser, issueAdminKey, send } from './people.ts'

const QUESTION = 'Explain how photosynthesis works in the leaves of green plants, with photographs'
const OTHER_WORDS = 'Explain how photosynthesis works in the leaves of green plants, with a photograph'
const POLITE = `Please ${QUESTION[0]?.toLowerCase()}${QUESTION.slice(1)}`
const UNPROVED = 'Explain how photosynthesis works in the leaves of green plants, with drawings'
const NUMBERED = 'Explain how photosynthesis works in the leaves of 12 green plants, with photographs'
const FAR = 'Explain how photosynthesis began on this planet, with a timeline of the discoveries'
const NEAR = { semantic_threshold: '0.5' }
/** The response of this request is not stored, so the next request shows the decision about the pair again. */
const PASSING = { 'x-proxy-cache-ttl': '0' }

describeBackends('matches and near misses', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() =>
    startProxy({
      dashboard: true,
      stores: backend.open(),
      environment: { ...fakeProvider.environment, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY },
    }),
  )
  let adminKey: string
  let name: string
  let project: string
  let key: string

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    adminKey = await issueAdminKey(proxy, 'root@example.org')
  })
  beforeEach(async () => {
    name = `p-${crypto.randomUUID().slice(0, 8)}`
    key = await proxy.createKey({ project: name, type: 'project', settings: NEAR })
    const [row] = await proxy.query<{ id: number }>(`select find_project('${name}') as id`)
    project = `proj_${row?.id}`
    await set('log_content', 'sealed')
    await ask(proxy, key, QUESTION)
    await proxy.settle()
  })

  const set = (setting: string, value: string) => proxy.query(`select set_setting('${name}', '${setting}', '${value}')`)

  function call(method: string, path: string, body?: unknown): Promise<Answered> {
    return send(proxy, method, `/v1/cache/${path}`, { body, headers: { authorization: `Bearer ${adminKey}` } })
  }

  const list = async (what: 'matches' | 'near_misses', query = '') =>
    (await call('GET', `${what}?project_id=${project}${query}`)).json
  const say = (request_id: string | null, verdict: string) =>
    call('POST', 'verdicts', { project_id: project, request_id, verdict })

  /** Sends a request and returns its log record once it is written. */
  async function served(words: string, headers: Record<string, string> = {}) {
    const { headers: received } = await ask(proxy, key, words, headers)
    await proxy.settle()
    return {
      id: received.get('x-request-id'),
      cache: received.get('x-proxy-cache'),
      reason: received.get('x-proxy-cache-reason'),
    }
  }

  test('a hit shows both wordings side by side, and is never served again once marked wrong', async () => {
    const hit = await served(OTHER_WORDS)
    expect(hit.cache).toBe('HIT-SEMANTIC')
    const { data } = await list('matches')
    expect(data).toMatchObject([
      {
        object: 'cache.match',
        request_id: hit.id,
        reason: 'verified',
        model: 'openai/gpt-4o-mini',
        verdict: null,
        wordings: {
          asked: OTHER_WORDS,
          cached: QUESTION,
          differences: [{ kind: 'words', harmless: true, asked_text: 'a photograph', cached_text: 'photographs' }],
        },
      },
    ])
    const given = await say(hit.id, 'wrong')
    expect([given.status, given.json]).toMatchObject([200, { verdict: 'different', verdict_source: 'person' }])
    expect(await served(OTHER_WORDS, PASSING)).toMatchObject({ cache: 'MISS', reason: 'unverified:verdict' })
    expect((await say(hit.id, 'right')).json).toMatchObject({ verdict: 'same' })
    expect(await served(OTHER_WORDS, PASSING)).toMatchObject({ cache: 'HIT-SEMANTIC' })
    const [event] = await proxy.query(
      `select action, target, details ->> 'verdict' as verdict from audit_log where action = 'cache.verdict' and target = '${hit.id}' order by id limit 1`,
    )
    expect(event).toEqual({ action: 'cache.verdict', target: hit.id, verdict: 'wrong' })
  })

  test('verdicts are listed, and a withdrawn one has no effect', async () => {
    const hit = await served(OTHER_WORDS)
    await say(hit.id, 'wrong')
    const verdicts = async (query = '') => (await call('GET', `verdicts?project_id=${project}${query}`)).json
    const { data } = await verdicts()
    expect(data).toMatchObject([
      {
        object: 'cache.verdict',
        verdict: 'different',
        source: 'person',
        model: 'openai/gpt-4o-mini',
        wordings: expect.arrayContaining([QUESTION]),
      },
    ])
    expect((await verdicts(`&after=${data[0].id}`)).data).toEqual([])
    await set('log_content', 'off')
    expect((await verdicts()).data[0].wordings).toEqual([null, null])
    expect(await served(OTHER_WORDS, PASSING)).toMatchObject({ reason: 'unverified:verdict' })
    const takeBack = () => call('DELETE', `verdicts/${data[0].verdict_id}?project_id=${project}`)
    expect((await takeBack()).json).toMatchObject({ object: 'cache.verdict.deleted', deleted: true })
    expect(await served(OTHER_WORDS, PASSING)).toMatchObject({ cache: 'HIT-SEMANTIC', reason: 'verified' })
    expect((await takeBack()).status).toBe(404)
    expect((await verdicts()).data).toEqual([])
  })

  test.each(['verified', 'judged'])('a near miss names its reason, and is a hit once confirmed (%s)', async policy => {
    await set('semantic_policy', policy)
    await set('semantic_judge_floor', '0.5')
    const missed = await served(UNPROVED, PASSING)
    expect(missed.cache).toBe('MISS')
    const { data } = await list('near_misses')
    expect(data).toMatchObject([
      {
        object: 'cache.near_miss',
        request_id: missed.id,
        reason: 'undecided',
        difference: 'words',
        wordings: {
          differences: [{ kind: 'words', harmless: false, asked_text: 'drawings', cached_text: 'photographs' }],
        },
      },
    ])
    expect((await list('matches')).data).toEqual([])
    expect((await say(missed.id, 'right')).status).toBe(200)
    expect(await served(UNPROVED, PASSING)).toMatchObject({ cache: 'HIT-SEMANTIC', reason: 'judged' })
  })

  test('a record says what was compared and what prevented a match, also far below the threshold', async () => {
    interface Row {
      cache_reason: string
      cache_id: string
      similarity: number | null
      cache_decision: { objections: object[] } | null
    }
    const decisionOf = async (words: string, headers?: Record<string, string>) => {
      const { id } = await served(words, headers)
      const [row] = await proxy.query<Row>(
        `select cache_reason, cache_id, similarity, cache_decision from usage_records where request_id = '${id}'`,
      )
      return row
    }
    const common = { policy: 'verified', risk: 'balanced', scope: 'project', compared: 1, verdict: null }
    const cached = (await decisionOf(OTHER_WORDS))?.cache_id
    expect(await decisionOf(FAR, PASSING)).toMatchObject({
      cache_reason: 'below-threshold',
      cache_id: cached,
      similarity: expect.closeTo(0.1, 0),
      cache_decision: { ...common, veto: null, objections: [] },
    })
    expect(await decisionOf(NUMBERED, PASSING)).toMatchObject({
      cache_id: cached,
      similarity: 0,
      cache_decision: { ...common, veto: 'number' },
    })
    const near = await decisionOf(UNPROVED, PASSING)
    expect(near).toMatchObject({ cache_reason: 'unverified:words', cache_decision: { ...common, veto: null } })
    expect(near?.cache_decision?.objections).toHaveLength(3)
    expect(await decisionOf('Are whales mammals?', PASSING)).toMatchObject({ similarity: null, cache_decision: null })
    expect(await decisionOf(QUESTION)).toMatchObject({ cache_reason: 'exact', cache_decision: null })
  })

  test('wordings are stored only if the project allows it, and deleted when it no longer does', async () => {
    await set('log_content', 'off')
    await served(OTHER_WORDS)
    expect((await list('matches')).data).toMatchObject([{ reason: 'verified', wordings: null }])
    await set('log_content', 'sealed')
    await served(UNPROVED, PASSING)
    const stored = () =>
      proxy.query<{ sealed: string }>(
        `select encode(sealed_wording, 'escape') as sealed from semantic_hits where project_id = find_project('${name}') and sealed_wording is not null`,
      )
    const [sealed] = await stored()
    expect(sealed?.sealed).not.toContain('drawings')
    await set('log_content', 'off')
    expect(await stored()).toEqual([])
    expect(JSON.stringify([await list('matches'), await list('near_misses')])).not.toContain('photosynthesis')
  })

  test('a question that was stored without its text stays hidden, until it is stored again', async () => {
    const refresh = async () => {
      await ask(proxy, key, QUESTION, { 'cache-control': 'no-cache' })
      await proxy.settle()
    }
    const shown = async () => [
      (await list('matches')).data[0].wordings,
      (await call('GET', `verdicts?project_id=${project}`)).json.data[0].wordings,
    ]
    await set('log_content', 'off')
    await refresh()
    await set('log_content', 'sealed')
    await say((await served(OTHER_WORDS, PASSING)).id, 'right')
    expect(await shown()).toEqual([null, [null, null]])
    await refresh()
    expect(await shown()).toEqual([
      expect.objectContaining({ cached: QUESTION }),
      expect.arrayContaining([null, QUESTION]),
    ])
  })

  test('lists are paginated, and accept only their own cursor', async () => {
    for (const words of [OTHER_WORDS, POLITE, `${POLITE}?`]) await served(words)
    const all = (await list('matches')).data.map((match: { id: string }) => match.id)
    expect(all).toHaveLength(3)
    const first = await list('matches', '&limit=2')
    const second = await list('matches', `&limit=2&after=${first.last_id}`)
    expect([first.has_more, second.has_more]).toEqual([true, false])
    expect([...first.data, ...second.data].map((match: { id: string }) => match.id)).toEqual(all)
    expect((await call('GET', `matches?project_id=${project}&after=WyIxIiwiYSJd`)).status).toBe(400)
  })

  test('a verdict needs a match that was served', async () => {
    const unknown = await say('nothing', 'wrong')
    expect([unknown.status, unknown.json.error.message]).toEqual([404, expect.stringContaining('No semantic hit')])
    expect((await say('nothing', 'bad')).status).toBe(400)
    const hit = await served(OTHER_WORDS)
    await proxy.query(`select purge_cache('${name}')`)
    expect((await say(hit.id, 'wrong')).status).toBe(404)
    expect((await list('matches')).data).toMatchObject([{ entry_id: null, model: null, wordings: null }])
  })

  test('calibration counts matches by similarity, and the verdicts on them', async () => {
    await set('semantic_policy', 'threshold')
    await set('semantic_threshold', '0.99')
    const hit = await served(POLITE)
    const missed = await served(UNPROVED, PASSING)
    await say(hit.id, 'right')
    await say(missed.id, 'wrong')
    const { histogram, calibration } = (await call('GET', `calibration?project_id=${project}`)).json
    expect(histogram).toHaveLength(50)
    const { similarity } = (await list('near_misses')).data[0]
    const binOf = (value: number) => histogram[Math.min(49, Math.floor(value * 100 + 1e-6) - 50)]
    expect(binOf(1)).toMatchObject({ at_least: 0.99, served: 1, stopped: 0, same: 1, different: 0 })
    expect(binOf(similarity)).toMatchObject({ served: 0, stopped: 1, same: 0, different: 1 })
    const all = calibration.filter((row: { difference: string }) => row.difference === 'all')
    expect(all.at(0)).toMatchObject({ threshold: 0.5, served: 2, precision: 0.5 })
  })
})

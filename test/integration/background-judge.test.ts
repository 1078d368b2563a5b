import { beforeEach, describe, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import { storeCachedResponses } from '../../src/postgres/store-cached-responses.ts'
import { formatBytea } from '../../src/postgres/wire-format.ts'
import type { Scenario } from '../fake-provider/scenario.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends, describeOnce } from '../harness/backends.ts'
import { cacheEntryFor, createEmbeddingSpace, createTestProject } from '../harness/cached-responses.ts'
import { question } from '../harness/chat.ts'
import { type Answer, ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const JUDGE = 'openai/gpt-4.1-mini'
const QUESTION = 'Explain how photosynthesis works in the leaves of green plants, with photographs'
const UNPROVED = 'Explain how photosynthesis works in the leaves of green plants, with drawings'
const PROVED = 'Explain how photosynthesis works in the leaves of green plants, with a photograph'
/** Any similarity suffices. */
const NEAR = { semantic_threshold: '0.5' }
/** The response is not stored, so that the question can be sent for the first time again. */
const UNSTORED = { 'x-proxy-cache-ttl': '0' }

const verdict = (said: string): Scenario => ({ kind: 'answer', content: JSON.stringify({ verdict: said }) })

describeOnce('a project that learns', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const environment = () => ({ ...fakeProvider.environment, UPSTREAM_MAX_RETRIES: '0' })
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: environment() }))
  let project: string
  let key: string

  beforeEach(async () => {
    fakeProvider.reset()
    await proxy.query('delete from judge_queue')
    project = `p-${crypto.randomUUID().slice(0, 8)}`
    key = await proxy.createKey({ project, type: 'project', settings: NEAR })
    for (const [setting, value] of [
      ['semantic_policy', 'judged'],
      ['semantic_judge', 'learn'],
      ['semantic_judge_model', JUDGE],
      ['semantic_judge_floor', '0.5'],
    ] as const) {
      await set(setting, value)
    }
  })

  const set = (setting: string, value: string) =>
    proxy.query(`select set_setting('${project}', '${setting}', '${value}')`)

  const modelOf = ({ body }: { body: unknown }) => (body as { model: string }).model
  const judgedAs = (said: (first: string, second: string) => Scenario) =>
    fakeProvider.script(request => {
      if (modelOf(request) !== JUDGE) return undefined
      const { messages } = request.body as { messages: { content: string }[] }
      const { first, second } = JSON.parse(messages[1]?.content ?? '')
      return said(first, second)
    })
  const asksOfJudge = () => fakeProvider.requests.filter(request => modelOf(request) === JUDGE)
  const decisionOf = ({ cache, headers }: Answer) => [cache, headers.get('x-proxy-cache-reason')]
  const rowsOf = <Row>(text: string) => proxy.query<Row>(text.replaceAll('$project', `find_project('${project}')`))
  const verdicts = () =>
    rowsOf<{ source: string; verdict: string }>(
      'select source, verdict from cache_verdicts where project_id = $project order by given_at',
    )

  /** Sends a new question and waits until its response is stored. */
  async function store(body: string): Promise<void> {
    await ask(proxy, key, body, { 'cache-control': 'no-cache' })
    await proxy.settle()
  }

  /** Waits until this is true: a judge is called when a process gets to it. */
  const eventually = (isSo: () => Promise<boolean>) => waitUntil('the expected state is reached', isSo)

  /** Waits until the queue of the project's judge is empty. */
  async function judged(): Promise<void> {
    await proxy.settle()
    await eventually(async () => (await rowsOf('select from judge_queue where project_id = $project')).length === 0)
  }

  test('calls no model during a request, and uses the verdict for the next one', async () => {
    judgedAs(() => verdict('same'))
    await store(QUESTION)
    expect(decisionOf(await ask(proxy, key, UNPROVED, UNSTORED))).toEqual(['MISS', 'unverified:words'])
    await judged()
    expect(asksOfJudge()).toHaveLength(2)
    const [first, second] = asksOfJudge().map(({ body }) => {
      const { messages, response_format } = body as { messages: { content: string }[]; response_format: unknown }
      expect(response_format).toMatchObject({ type: 'json_schema', json_schema: { strict: true } })
      return JSON.parse(messages[1]?.content ?? '')
    })
    expect(first).toMatchObject({ first: UNPROVED, second: QUESTION, context: { model: 'openai/gpt-4o-mini' } })
    expect(second).toMatchObject({ first: QUESTION, second: UNPROVED })
    expect(decisionOf(await ask(proxy, key, UNPROVED, UNSTORED))).toEqual(['HIT-SEMANTIC', 'judged'])
    const [spent] = await rowsOf<{ pairs: number; usd: number }>(
      'select pairs, usd::double precision as usd from judge_spending where project_id = $project',
    )
    expect(spent).toEqual({ pairs: 1, usd: expect.any(Number) })
    expect(spent?.usd).toBeGreaterThan(0)
  })

  test('treats a judge whose verdict changes with the order as “different”, and calls it once', async () => {
    judgedAs(first => verdict(first === UNPROVED ? 'same' : 'different'))
    await store(QUESTION)
    await ask(proxy, key, UNPROVED, UNSTORED)
    await judged()
    expect(await verdicts()).toEqual([{ source: 'judge', verdict: 'different' }])
    // The verdict does not count in the calibration.
    expect(await rowsOf('select from cache_verdicts where project_id = $project and similarity is not null')).toEqual(
      [],
    )
    expect(decisionOf(await ask(proxy, key, UNPROVED, UNSTORED))).toEqual(['MISS', 'unverified:words'])
    await judged()
    expect(asksOfJudge()).toHaveLength(2)
  })

  test('leaves a failing judge alone for a while, and loses no pair', async () => {
    judgedAs(() => ({ kind: 'error', status: 500 }))
    await store(QUESTION)
    await ask(proxy, key, UNPROVED, UNSTORED)
    await proxy.settle()
    const waiting = () =>
      rowsOf<{ attempts: number }>(
        `select attempts from judge_queue where project_id = $project and not_before > now() + interval '20 seconds'
        and not_before < now() + interval '1 minute'`,
      )
    await eventually(async () => (await waiting()).length === 1)
    expect(await waiting()).toEqual([{ attempts: 1 }])
    expect(await verdicts()).toEqual([])
    judgedAs(() => verdict('same'))
    await rowsOf('update judge_queue set not_before = now() where project_id = $project')
    await judged()
    expect(await verdicts()).toEqual([{ source: 'judge', verdict: 'same' }])
  })

  test('calls no model without a budget, and waits for one', async () => {
    await set('semantic_judge_daily_usd', '0.0000001')
    await store(QUESTION)
    await ask(proxy, key, { ...question(UNPROVED), user: 'alice' }, UNSTORED)
    await proxy.settle()
    await eventually(async () => {
      const text = `select attempts, end_user from judge_queue where project_id = $project and not_before > now() + interval '5 minutes'`
      const [waiting] = await rowsOf<{ attempts: number; end_user: string }>(text)
      return waiting?.attempts === 0 && waiting.end_user === 'alice'
    })
    expect(asksOfJudge()).toEqual([])
  })

  test.each<[string, () => Promise<unknown>, Record<string, string>]>([
    ['from requests that want nothing kept', async () => {}, { 'cache-control': 'no-store' }],
    ['below the floor', () => set('semantic_judge_floor', '0.999'), UNSTORED],
    ['under proof alone', () => set('semantic_policy', 'proved'), UNSTORED],
    ['without a judge', () => set('semantic_judge', 'off'), UNSTORED],
    ['without a model', () => set('semantic_judge_model', ''), UNSTORED],
    ['with no semantic cache', () => set('semantic_mode', 'off'), UNSTORED],
  ])('judges nothing %s', async (_, prepare, headers) => {
    await store(QUESTION)
    await prepare()
    await ask(proxy, key, UNPROVED, headers)
    await proxy.settle()
    expect(await rowsOf('select from judge_queue where project_id = $project')).toEqual([])
  })

  describe('has served hits judged', () => {
    beforeEach(async () => {
      await set('semantic_policy', 'verified')
      await set('semantic_judge', 'off')
      await set('semantic_verify_ratio', '1')
      await store(QUESTION)
    })

    test('and serves them no more if they were wrong', async () => {
      judgedAs(() => verdict('different'))
      for (let i = 0; i < 2; i++) expect((await ask(proxy, key, PROVED)).cache).toBe('HIT-SEMANTIC')
      await judged()
      expect(await verdicts()).toEqual([{ source: 'review', verdict: 'different' }])
      expect(decisionOf(await ask(proxy, key, PROVED, UNSTORED))).toEqual(['MISS', 'unverified:verdict'])
      await proxy.settle()
      // A person's verdict outweighs it.
      await proxy.query(`insert into cache_verdicts select project_id, context_hash, one_hash, other_hash, 'person', 'same', 1, null, now(), expires_at
        from cache_verdicts where project_id = find_project('${project}')`)
      expect(decisionOf(await ask(proxy, key, PROVED, UNSTORED))[0]).toBe('HIT-SEMANTIC')
    })

    test('once, whether by the wording’s own name or not', async () => {
      judgedAs(() => verdict('same'))
      for (let i = 0; i < 3; i++) {
        expect((await ask(proxy, key, PROVED)).cache).toBe('HIT-SEMANTIC')
        await judged()
      }
      expect(asksOfJudge()).toHaveLength(2)
    })

    test('but not what a person has approved, nor for test keys', async () => {
      await set('semantic_verify_ratio', '0')
      const answer = await ask(proxy, key, PROVED)
      await proxy.settle()
      await set('semantic_verify_ratio', '1')
      await proxy.query(`select give_feedback('${project}', '${answer.headers.get('x-request-id')}', 'right')`)
      expect((await ask(proxy, key, PROVED)).cache).toBe('HIT-SEMANTIC')
      const testKey = await proxy.createKey({ project, type: 'test' })
      await ask(proxy, testKey, QUESTION)
      await proxy.settle()
      expect((await ask(proxy, testKey, PROVED)).cache).toBe('HIT-SEMANTIC')
      await proxy.settle()
      expect(await rowsOf('select from judge_queue where project_id = $project')).toEqual([])
      expect(asksOfJudge()).toEqual([])
    })

    test('as often as it is configured', async () => {
      await set('semantic_verify_ratio', '0')
      expect((await ask(proxy, key, PROVED)).cache).toBe('HIT-SEMANTIC')
      await proxy.settle()
      expect(await rowsOf('select from judge_queue where project_id = $project')).toEqual([])
    })
  })
})

describeBackends('the queue for the judge', backend => {
  async function fill(count: number) {
    const { database } = await backend.open()
    const projectId = await createTestProject(database, 'acme')
    const place = { projectId, spaceId: await createEmbeddingSpace(database), context: 'c' }
    await database.runScript(
      `update projects set semantic_policy = 'judged', semantic_judge = 'learn', semantic_judge_model = 'm'`,
    )
    const answers = Array.from({ length: count }, (_, i) => cacheEntryFor(`prompt ${i}`, place))
    for (let start = 0; start < count; start += 50)
      await storeCachedResponses(database, answers.slice(start, start + 50))
    const pairs = answers.map(({ requestHash, semantic }) => ({
      project_id: projectId,
      context_hash: formatBytea(semantic?.contextHash ?? ''),
      asked_hash: formatBytea('0'.repeat(64)),
      entry_hash: formatBytea(requestHash),
      is_review: false,
      context: '{}',
      asked: 'something "else" with a \\ in it',
      similarity: 0.9,
    }))
    const queue = (queued: typeof pairs) => callFunction(database, 'queue_judgements', { pairs: queued })
    await queue(pairs)
    const waiting = async () =>
      Number((await database.call<{ count: number }>('select count(*) as count from judge_queue', []))[0]?.count)
    return { database, pairs, queue, waiting }
  }

  test('contains a pair once, and no pair whose entry is gone', async () => {
    const { database, pairs, queue, waiting } = await fill(3)
    await queue([...pairs, ...pairs])
    await queue(pairs.slice(0, 1).map(pair => ({ ...pair, entry_hash: formatBytea('f'.repeat(64)) })))
    expect(await waiting()).toBe(3)
    await database.runScript(
      `delete from cache_entries where request_hash = (select entry_hash from judge_queue limit 1)`,
    )
    expect(await callFunction(database, 'claim_judgements', { max_rows: 10 })).toHaveLength(2)
    expect(await waiting()).toBe(2)
  })

  test('gives each pair to one worker', async () => {
    const { database } = await fill(20)
    const taken = await Promise.all(
      Array.from({ length: 6 }, () => callFunction(database, 'claim_judgements', { max_rows: 4 })),
    )
    const ids = taken.flat().map(({ id }) => id)
    expect([ids.length, new Set(ids).size]).toEqual([20, 20])
    expect(taken.flat()[0]).toMatchObject({ asked: 'something "else" with a \\ in it', semantic_judge_model: 'm' })
  })

  test('is bounded by number and age', async () => {
    const { database, pairs, queue, waiting } = await fill(60)
    await database.runScript(`
      insert into judge_queue (project_id, context_hash, one_hash, other_hash, asked_hash, entry_hash, is_review, context, asked, similarity)
      select project_id, sha256(convert_to(n::text, 'utf8')), one_hash, other_hash, asked_hash, entry_hash, false, '{}', '', 1
      from (select * from judge_queue limit 1) q, generate_series(1, 920) n`)
    await queue(pairs.map(pair => ({ ...pair, asked_hash: formatBytea('1'.repeat(64)) })))
    expect(await waiting()).toBe(1000)
    await database.runScript(`update judge_queue set queued_at = now() - interval '25 hours'`)
    expect(await callFunction(database, 'claim_judgements', { max_rows: 10 })).toEqual([])
    await database.runScript('select delete_expired_verdicts(5000)')
    expect(await waiting()).toBe(0)
  })

  test('drops pairs that need no verdict any more, and keeps those that were not tried', async () => {
    const { database, waiting } = await fill(3)
    const [one] = await callFunction(database, 'claim_judgements', { max_rows: 1 })
    const put = { of_project: one?.project_id ?? 0, queued_id: one?.id ?? 0, counts_attempt: false, for_seconds: 60 }
    await callFunction(database, 'requeue_judgements', put)
    expect(await callFunction(database, 'claim_judgements', { max_rows: 10 })).toEqual([])
    await database.runScript(`update judge_queue set not_before = now()`)
    expect(await callFunction(database, 'claim_judgements', { max_rows: 10 })).toHaveLength(3)
    const [row] = await database.call<{ most: number }>('select max(attempts) as most from judge_queue', [])
    expect(row?.most).toBe(1)
    await database.runScript(`update judge_queue set not_before = now(); update projects set semantic_judge = 'off'`)
    expect(await callFunction(database, 'claim_judgements', { max_rows: 10 })).toEqual([])
    expect(await waiting()).toBe(0)
  })
})

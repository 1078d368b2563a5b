/** Realtime sessions are admitted again every half minute, limited by budgets, and charged for every usage that their provider reports. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { ENDLESS, INVALID, startRealtime } from '../fake-provider/realtime.ts'
import { describeOnce, type Stores } from '../harness/backends.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { openRealtimeSession } from '../harness/realtime-session.ts'

const MODEL = 'gpt-realtime-2'
/** The cost of a full context and the longest response, all of it audio. */
const LARGEST_USD = (128_000 * 32 + 32_000 * 64) / 1e6
/** The cost of the fake provider's response: 800 + 200 cached tokens of input, 500 of output, all text. */
const RESPONSE_USD = (800 * 4 + 200 * 0.4 + 500 * 24) / 1e6
/** The cost of three seconds with whisper-1. */
const TRANSCRIPTION_USD = 3 * 0.0001
const MANUAL = { type: 'session.update', session: { type: 'realtime', audio: { input: { turn_detection: null } } } }
const COMMIT = { type: 'input_audio_buffer.commit' }
const transcribeBy = (model: string | null) => ({
  type: 'session.update',
  session: { type: 'realtime', audio: { input: { transcription: model === null ? null : { model } } } },
})
const respond = (instructions = 'one') => ({ type: 'response.create', response: { instructions } })

describeOnce('realtime sessions', backend => {
  let stores: Stores
  const upstream = duringTests(() => startRealtime({ apiKey: 'sk-own' }))
  let isDatabaseGone = false
  const proxy = duringTests(async () => {
    stores = await backend.open()
    const { database } = stores
    const failing: Database = {
      ...database,
      call: (text, ...values) =>
        isDatabaseGone && text.includes('admit(') ? Promise.reject(new Error('gone')) : database.call(text, ...values),
    }
    return startProxy({ stores: { ...stores, database: failing }, environment: environment() })
  })
  let project: string
  let key: string

  beforeEach(async () => {
    isDatabaseGone = false
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    await storeKey(stores, project, 'openai', 'sk-own')
    for (const noted of [upstream.opened, upstream.received, upstream.ended]) noted.length = 0
  })

  const environment = () => ({ OPENAI_BASE_URL: upstream.baseUrl, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY })
  const address = (query: string, { port } = proxy) => `ws://127.0.0.1:${port}/v1/realtime${query}`
  const open = (query = `?model=${MODEL}`, apiKey = key) => openRealtimeSession(address(query), apiKey)
  const setBudget = (usd: number | null) => proxy.query(`select set_budget('${project}', 'usd', ${usd}, 'total')`)
  const setLimits = (limits: object) =>
    proxy.query(`select set_key_limits(find_key('${key}'), '${JSON.stringify(limits)}')`)
  const received = (type: string) => upstream.received.filter(each => each.type === type)

  async function records() {
    await proxy.settle()
    return proxy.query<{ model: string; status: number; usd: number; tokens: number; estimated: string | null }>(`
      select u.model, status, cost_usd::float8 as usd, prompt_tokens + completion_tokens as tokens, cost_estimated as estimated
      from usage_records u join projects p on p.id = u.project_id
      where p.name = '${project}' order by u.cost_usd, u.model`)
  }

  async function budget(): Promise<{ spent: number; reserved: number }> {
    await proxy.settle()
    const [row] = await proxy.query<{ spent: number; reserved: number }>(`
      select coalesce(sum(c.spent), 0)::float8 as spent, coalesce(sum(c.reserved), 0)::float8 as reserved
      from budget_periods c join budgets b on b.id = c.budget_id join projects p on p.id = b.project_id
      where p.name = '${project}'`)
    return row ?? { spent: 0, reserved: 0 }
  }

  const expectSpent = (usd: number) =>
    expect.poll(budget).toEqual({ spent: expect.closeTo(usd, 9), reserved: expect.closeTo(0, 9) })

  describe('every event with usage is charged once', () => {
    test.each([
      ['by the second', 'whisper-1', { type: 'duration', seconds: 3 }, TRANSCRIPTION_USD, 0],
      [
        'by the token',
        'gpt-4o-transcribe',
        {
          type: 'tokens',
          input_tokens: 30,
          output_tokens: 10,
          total_tokens: 40,
          input_token_details: { audio_tokens: 30, text_tokens: 0 },
        },
        (30 * 2.5 + 10 * 10) / 1e6,
        40,
      ],
      ['without a price', 'whisper-of-tomorrow', { type: 'duration', seconds: 3 }, 0, 0],
    ])('a transcription %s', async (_, model, transcriptionUsage, usd, tokens) => {
      const hearing = startRealtime({ transcriptionUsage })
      const other = await startProxy({ stores, environment: { ...environment(), OPENAI_BASE_URL: hearing.baseUrl } })
      const session = await openRealtimeSession(address(`?model=${MODEL}`, other), key)
      session.send(transcribeBy(model))
      for (const audio of ['AAAA', 'BBBB']) {
        session.send({ type: 'input_audio_buffer.append', audio })
        session.send(COMMIT)
      }
      await session.has('conversation.item.input_audio_transcription.completed', 2)
      await session.close()
      await other.stop()
      const transcriptions = (await records()).filter(each => each.model === model)
      expect(transcriptions).toEqual(
        Array(2).fill({ model, status: 200, usd: expect.closeTo(usd, 9), tokens, estimated: null }),
      )
      await hearing.stop()
    })

    test('in a session that only transcribes, which needs no model', async () => {
      const session = await open('?intent=transcription')
      const input = { transcription: { model: 'whisper-1' } }
      session.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } })
      session.send(COMMIT)
      await session.has('conversation.item.input_audio_transcription.completed')
      await session.close()
      expect(upstream.opened.map(({ path }) => path)).toEqual(['/v1/realtime?intent=transcription'])
      expect(await records()).toMatchObject([
        { model: '' },
        { model: 'whisper-1', usd: expect.closeTo(TRANSCRIPTION_USD, 9) },
      ])
    })

    test('an event of an unknown kind', async () => {
      const session = await open()
      await session.has('session.created')
      upstream.send({ type: 'conversation.item.summed_up', usage: { input_tokens: 100, output_tokens: 10 } })
      upstream.send({ type: 'session.reviewed', review: { usage: { input_tokens: 200, output_tokens: 20 } } })
      await session.has('session.reviewed')
      await session.close()
      expect(await records()).toMatchObject([
        { model: MODEL, usd: 0 },
        { model: MODEL, usd: expect.closeTo((100 * 4 + 10 * 24) / 1e6, 9) },
        { model: MODEL, usd: expect.closeTo((200 * 4 + 20 * 24) / 1e6, 9) },
      ])
    })

    test('what a response reports before it is done is replaced by its end', async () => {
      const session = await open()
      session.send(respond(ENDLESS))
      await session.has('response.created')
      const [created] = session.events.filter(({ type }) => type === 'response.created')
      const response = created?.response as { id: string }
      const usage = { input_tokens: 1, output_tokens: 1 }
      upstream.send({ type: 'response.usage.updated', response_id: response.id, usage })
      const whole = { input_tokens: 100, output_tokens: 10 }
      upstream.send({ type: 'response.done', response: { ...response, status: 'completed', usage: whole } })
      await session.has('response.done')
      await session.close()
      expect((await records()).map(({ tokens }) => tokens)).toEqual([0, 110])
    })

    test('a response without a received end is estimated by what was transferred, far below the bound', async () => {
      const session = await open()
      session.send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(106_667) })
      session.send(respond(ENDLESS))
      await session.has('response.output_text.delta', 3)
      upstream.close()
      await session.ended
      const [, response] = await records()
      expect(response).toMatchObject({ status: 502, estimated: 'provider_failed' })
      // Ten seconds in the most compact format: a hundred tokens.
      expect(response?.usd).toBeGreaterThan((100 * 32) / 1e6)
      expect(response?.usd).toBeLessThan(LARGEST_USD / 100)
    })
  })

  describe('under a budget', () => {
    test('a session opens if its next response fits, and costs what it used', async () => {
      await setBudget(LARGEST_USD)
      const session = await open()
      expect(await budget()).toEqual({ spent: 0, reserved: expect.closeTo(LARGEST_USD, 9) })
      await session.close()
      await expectSpent(0)
      await setBudget(LARGEST_USD - 0.01)
      await expect(open()).rejects.toBeDefined()
      expect(upstream.opened.length).toBe(1)
    })

    test('a session that is asked for responses needs no reservation beside theirs', async () => {
      await setBudget(LARGEST_USD + 1)
      const session = await open()
      session.send(MANUAL)
      await session.has('session.updated')
      await expect.poll(budget).toEqual({ spent: 0, reserved: expect.closeTo(0, 9) })
      for (const count of [1, 2, 3]) {
        session.send(respond())
        await session.has('response.done', count)
        await expectSpent(count * RESPONSE_USD)
      }
      await session.close()
      await expectSpent(3 * RESPONSE_USD)
    })

    test('a response that does not fit is not requested, and the session ends', async () => {
      await setBudget(LARGEST_USD + 1)
      const session = await open()
      await session.has('session.created')
      // The provider may begin a response by itself, and the budget has only enough for that one.
      session.send(respond())
      expect((await session.ended).code).toBe(1008)
      expect(session.errorCode()).toBe('budget_reserved')
      expect(received('response.create')).toEqual([])
      await expectSpent(0)
    })

    test('a response that the provider starts by itself is reserved before; if the next does not fit, the session ends after it', async () => {
      await setBudget(LARGEST_USD + 1)
      const session = await open()
      await session.has('session.created')
      upstream.send({ type: 'response.created', response: { id: 'r1' } })
      await session.has('error')
      expect(session.errorCode()).toBe('budget_reserved')
      expect(session.socket.readyState).toBe(WebSocket.OPEN)
      expect(received('response.cancel')).toEqual([])
      const usage = { input_tokens: 1_000, output_tokens: 0 }
      upstream.send({ type: 'response.done', response: { id: 'r1', status: 'completed', usage } })
      expect((await session.ended).code).toBe(1008)
      await expectSpent((1_000 * 4) / 1e6)
    })

    test('many simultaneous sessions do not exceed it', async () => {
      await setBudget(3 * LARGEST_USD + 1)
      const sessions: Awaited<ReturnType<typeof open>>[] = []
      for (let n = 0; n < 8; n++) {
        const session = await open()
        session.send(MANUAL)
        await session.has('session.updated')
        await expect.poll(async () => (await budget()).reserved).toBeCloseTo(0, 9)
        sessions.push(session)
      }
      for (const session of sessions) for (const _ of [1, 2]) session.send(respond(ENDLESS))
      await expect.poll(() => sessions.filter(({ errorCode }) => errorCode() !== undefined).length).toBeGreaterThan(4)
      await expect.poll(() => received('response.create').length).toBe(3)
      expect((await budget()).reserved).toBeLessThanOrEqual(3 * LARGEST_USD + 1e-6)
      for (const session of sessions) await session.close()
      await expectSpent(3 * RESPONSE_USD)
      expect(received('response.create').length).toBe(3)
    })

    test('an error in place of a response releases its reservation, and names the client’s event', async () => {
      await setBudget(LARGEST_USD + 1)
      const session = await open()
      session.send(MANUAL)
      await session.has('session.updated')
      for (const [n, event_id] of ['mine', undefined].entries()) {
        session.send({ ...respond(INVALID), event_id })
        await session.has('error', n + 1)
        const error = { code: 'invalid_value', event_id: event_id ?? null }
        expect(session.events.at(-1)).toMatchObject({ type: 'error', error })
        await expect.poll(budget).toEqual({ spent: 0, reserved: expect.closeTo(0, 9) })
      }
      session.send(respond())
      await session.has('response.done')
      await session.close()
      await expectSpent(RESPONSE_USD)
    })

    test('a transcription is reserved before its audio is sent, and one without a price is not started', async () => {
      await setBudget(LARGEST_USD + 1)
      const session = await open()
      session.send(transcribeBy('whisper-of-tomorrow'))
      await session.has('error')
      expect(session.errorCode()).toBe('model_not_priced')
      session.send(MANUAL)
      session.send(transcribeBy('whisper-1'))
      await session.has('session.updated', 2)
      expect(received('session.update').length).toBe(2)
      // Ten minutes are reserved at a time.
      await expect.poll(budget).toEqual({ spent: 0, reserved: expect.closeTo(600 * 0.0001, 9) })
      session.send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(7_000_000) })
      session.send(COMMIT)
      await session.has('conversation.item.input_audio_transcription.completed')
      await expect
        .poll(budget)
        .toEqual({ spent: expect.closeTo(TRANSCRIPTION_USD, 9), reserved: expect.closeTo(1_200 * 0.0001, 9) })
      await session.close()
      await expectSpent(TRANSCRIPTION_USD)
    })

    test('a session that only transcribes reserves no response', async () => {
      await setBudget(0.1)
      const session = await open('?intent=transcription')
      session.send(transcribeBy('whisper-1'))
      await session.has('session.updated')
      expect(await budget()).toEqual({ spent: 0, reserved: expect.closeTo(600 * 0.0001, 9) })
      session.send(COMMIT)
      await session.has('conversation.item.input_audio_transcription.completed')
      await session.close()
      await expectSpent(TRANSCRIPTION_USD)
    })

    test('the provider may respond by itself only once that is reserved', async () => {
      await setBudget(LARGEST_USD + 1)
      const session = await open()
      session.send(MANUAL)
      await session.has('session.updated')
      await expect.poll(async () => (await budget()).reserved).toBeCloseTo(0, 9)
      session.send(respond(ENDLESS))
      await session.has('response.created')
      const audio = { input: { turn_detection: { type: 'server_vad' } } }
      session.send({ type: 'session.update', session: { type: 'realtime', audio } })
      await session.has('error')
      expect(session.errorCode()).toBe('budget_reserved')
      expect(received('session.update').length).toBe(1)
      await session.close()
      await expectSpent(RESPONSE_USD)
    })

    test('a client that disconnects has its response cancelled, and pays what that reports', async () => {
      await setBudget(10)
      const session = await open()
      session.send(MANUAL)
      await session.has('session.updated')
      session.send(respond(ENDLESS))
      await session.has('response.output_text.delta', 3)
      await session.close()
      await expectSpent(RESPONSE_USD)
      expect(received('response.cancel').length).toBe(1)
    })
  })

  describe('a session that would not be admitted again', () => {
    test('continues if nothing has changed', async () => {
      const session = await open()
      for (let n = 0; n < 5; n++) await proxy.readmitSessions()
      session.send(respond())
      await session.has('response.done')
      expect(session.errorCode()).toBeUndefined()
      await session.close()
    })

    test.each([
      ['deactivated', () => `select deactivate_key('${key.slice(0, 17)}')`, 'api_key_disabled'],
      [
        'expired',
        () => `update api_keys set expires_at = now() - interval '1 second' where id = find_key('${key}')`,
        'invalid_api_key',
      ],
    ])('ends at once when its key is %s, and its response’s usage is charged', async (_, change, code) => {
      const session = await open()
      session.send(respond(ENDLESS))
      await session.has('response.output_text.delta', 3)
      await proxy.query(change())
      await proxy.readmitSessions()
      expect((await session.ended).code).toBe(1008)
      expect(session.errorCode()).toBe(code)
      await expect.poll(() => upstream.ended.length).toBe(1)
      expect(await records()).toMatchObject([{ usd: 0 }, { usd: expect.closeTo(RESPONSE_USD, 9), estimated: null }])
    })

    /** Starts an endless response, makes the change, and expects the session to end with this code. */
    async function expectEndAfterResponse(change: () => Promise<unknown>, code: string): Promise<void> {
      const session = await open()
      session.send(respond(ENDLESS))
      await session.has('response.output_text.delta', 3)
      await change()
      await proxy.readmitSessions()
      await session.has('error')
      expect(session.errorCode()).toBe(code)
      expect(session.socket.readyState).toBe(WebSocket.OPEN)
      session.send(respond())
      const [created] = session.events.filter(({ type }) => type === 'response.created')
      upstream.send({ type: 'response.done', response: { ...(created?.response as object), status: 'completed' } })
      expect((await session.ended).code).toBe(1008)
      expect(received('response.create').length).toBe(1)
    }

    test('ends after its response when its model is no longer allowed', async () => {
      await expectEndAfterResponse(() => setLimits({ allowed_models: ['gpt-4o-mini'] }), 'model_not_allowed')
    })

    test('ends after its response when its project’s setting no longer allows the model', async () => {
      const change = () => proxy.query(`select set_settings('${project}', '{"allowed_models": "gpt-4o-mini"}')`)
      await expectEndAfterResponse(change, 'model_not_allowed')
    })

    test('ends after its response when a lower plan’s month is used up', async () => {
      await proxy.query(`insert into plans values ('two-a-month', 1000, 1000, 2) on conflict do nothing`)
      await expectEndAfterResponse(
        () => proxy.query(`select set_plan('${project}', 'two-a-month')`),
        'monthly_quota_exceeded',
      )
    })

    test('ends after its response when a budget was set that leaves nothing', async () => {
      await expectEndAfterResponse(() => setBudget(0.01), 'insufficient_quota')
    })

    test('holds a reservation once a budget that leaves something was set', async () => {
      const session = await open()
      await session.has('session.created')
      await setBudget(20)
      await proxy.readmitSessions()
      expect(await budget()).toEqual({ spent: 0, reserved: expect.closeTo(LARGEST_USD, 9) })
      session.send(respond())
      await session.has('response.done')
      await session.close()
      await expectSpent(RESPONSE_USD)
    })

    test('a response starts under a budget that no check has seen yet', async () => {
      const session = await open()
      await session.has('session.created')
      await setBudget(0.01)
      session.send(respond(ENDLESS))
      expect((await session.ended).code).toBe(1008)
      expect(session.errorCode()).toBe('insufficient_quota')
      expect(received('response.cancel').length).toBe(1)
      await expectSpent(RESPONSE_USD)
    })

    test('as many sessions end as exceed a lower plan', async () => {
      const sessions = [await open(), await open(), await open()]
      await proxy.query(
        `insert into plans values ('two-at-once', 1000, 1000, 1000, 20, 1000, 1000, 2) on conflict do nothing`,
      )
      await proxy.query(`select set_plan('${project}', 'two-at-once')`)
      for (let n = 0; n < 2; n++) await proxy.readmitSessions()
      await expect.poll(() => upstream.ended.length).toBe(1)
      expect(sessions.filter(({ errorCode }) => errorCode() === 'concurrent_requests_exceeded').length).toBe(1)
      for (const session of sessions) session.socket.close(1000)
    })

    test('ends when its transcription model is no longer allowed', async () => {
      const session = await open()
      session.send(transcribeBy('whisper-1'))
      await session.has('session.updated')
      await setLimits({ allowed_models: [MODEL] })
      await proxy.readmitSessions()
      expect((await session.ended).code).toBe(1008)
      expect(session.errorCode()).toBe('model_not_allowed')
    })

    test('continues while the database does not respond, for four checks', async () => {
      const session = await open()
      await session.has('session.created')
      for (const count of [1, 2]) {
        isDatabaseGone = true
        for (let n = 0; n < 3; n++) await proxy.readmitSessions()
        session.send({ type: 'session.update', session: {} })
        await session.has('session.updated', count)
        expect(session.errorCode()).toBeUndefined()
        if (count === 2) break
        isDatabaseGone = false
        await proxy.readmitSessions()
      }
      await proxy.readmitSessions()
      expect((await session.ended).code).toBe(1008)
      expect(session.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'service_unavailable' } })
    })
  })

  test('a session keeps its model, and accepts no transcription model that is not allowed', async () => {
    await setLimits({ allowed_models: [MODEL] })
    const session = await open()
    session.send({ type: 'session.update', session: { type: 'realtime', model: 'gpt-realtime-1.5' } })
    session.send(transcribeBy('whisper-1'))
    await session.has('error', 2)
    const errors = session.events.filter(({ type }) => type === 'error')
    expect(errors.map(({ error }) => error)).toMatchObject([{ param: 'session.model' }, { code: 'model_not_allowed' }])
    session.send({ type: 'session.update', session: { type: 'realtime', model: MODEL } })
    session.send(transcribeBy(null))
    await session.has('session.updated', 2)
    expect(received('session.update').length).toBe(2)
    await session.close()
  })
})

import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { createUsageRecorder } from '../../src/telemetry/usage-recorder.ts'
import { describeBackends } from '../harness/backends.ts'
import { queriesOf } from '../harness/queries.ts'
import { waitUntil } from '../harness/wait-until.ts'

function makeRecord(id: string, changes: Partial<UsageRecord> = {}): UsageRecord {
  return {
    recorded_at: new Date().toISOString(),
    request_id: id,
    project_id: 1,
    key_id: 1,
    endpoint: 'chat',
    model: 'openai/gpt-4o-mini',
    provider: 'sandbox',
    cache_result: 'MISS',
    status: 200,
    streamed: false,
    prompt_tokens: 1,
    cached_prompt_tokens: 0,
    completion_tokens: 1,
    tokens_saved: 0,
    cost_usd: 0,
    saved_usd: 0,
    latency_ms: 1,
    duration_ms: 1,
    tags: null,
    ...changes,
  }
}

async function recordedIds(database: Database): Promise<string[]> {
  const { rows } = await sql<{ request_id: string }>`select request_id from usage_records order by request_id`.execute(
    queriesOf(database),
  )
  return rows.map(row => row.request_id)
}

describeBackends('usage records', backend => {
  async function open() {
    const { database } = await backend.open()
    await callFunction(database, 'maintain_usage_partitions', {})
    return { database, recorder: createUsageRecorder(database, createLog('silent')) }
  }

  test.each([
    { what: 'a number too large', bad: { prompt_tokens: 2 ** 40, cost_usd: 0.25 }, usd: 0.25 },
    { what: 'a price too large', bad: { cost_usd: 1e12 }, usd: 1e12 },
    { what: 'what is no number', bad: { cost_usd: Number.NaN }, usd: 0 },
  ])('one that the database never accepts does not delay the others: $what', async ({ bad, usd }) => {
    const { database, recorder } = await open()
    for (let i = 0; i < 20; i++) recorder.record(makeRecord(`r${String(i).padStart(2, '0')}`, i === 13 ? bad : {}))
    await recorder.drain(60_000)
    const ids = await recordedIds(database)
    expect(ids).toHaveLength(19)
    expect(ids).not.toContain('r13')
    expect(recorder.dropped()).toEqual({ records: 1, usd })
  })

  test('names are kept to the letter', async () => {
    const { database, recorder } = await open()
    const names = ['a"b', 'c\\d\\"', '{e,f}', 'NULL', 'null', "it's", ' g ', 'é👩‍👩‍👧', '']
    for (const [i, model] of names.entries()) recorder.record(makeRecord(`n${i}`, { model, provider: null }))
    await recorder.drain(60_000)
    const { rows } = await sql<{ model: string; provider: string | null }>`
      select model, provider from usage_records order by request_id
    `.execute(queriesOf(database))
    expect(rows).toEqual(names.map(model => ({ model, provider: null })))
  })

  test('more records than fit a batch are all written soon', async () => {
    const { database, recorder } = await open()
    for (let i = 0; i < 2_500; i++) recorder.record(makeRecord(`m${i}`))
    await waitUntil('all are written', async () => (await recordedIds(database)).length === 2_500)
  })

  test('records that arrive during or after a drain are written by themselves', async () => {
    const { database, recorder } = await open()
    recorder.record(makeRecord('a'))
    const drained = recorder.drain(60_000)
    recorder.record(makeRecord('b'))
    await drained
    recorder.record(makeRecord('c'))
    await waitUntil('all are written', async () => (await recordedIds(database)).length === 3)
    // The timer has fired without pending records.
    await Bun.sleep(600)
    recorder.record(makeRecord('d'))
    await waitUntil('all are written', async () => (await recordedIds(database)).length === 4)
  })
})

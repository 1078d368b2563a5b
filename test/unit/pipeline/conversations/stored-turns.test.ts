/** Turns that wait to be written, and a database that does not reply. */
import { expect, test, vi } from 'vitest'
import { describeTurn, listToolTurns } from '../../../../src/formats/chat/tool-turns.ts'
import { createStoredTurns } from '../../../../src/pipeline/conversations/stored-turns.ts'
import type { Database } from '../../../../src/postgres/database.ts'
import { createContentSeal } from '../../../../src/stores/content-seal.ts'

const MADE_BY = 'aggregator/deepseek/deepseek-v3.2'
const QUESTION = { role: 'user', content: 'Where?' }
const callOf = (id: string, text = '{}') => ({ id, type: 'function', function: { name: 'look', arguments: text } })
const turnOf = (id: string) => ({ role: 'assistant', content: null, tool_calls: [callOf(id)] })
const describe = async (id: string, reasoning: string) =>
  describeTurn([QUESTION], { ...turnOf(id), reasoning_content: reasoning })

function open(call: (text: string) => Promise<never[]>) {
  const report = vi.fn()
  const failures = { report, recover: () => {} }
  const seal = createContentSeal({ current: null, others: [] })
  const turns = createStoredTurns({
    database: { call } as unknown as Database,
    seal,
    log: { failures } as unknown as Parameters<typeof createStoredTurns>[0]['log'],
  })
  const owner = (key_id: number, seal_answers: 'on' | 'off' = 'off') => ({ project_id: 1, key_id, seal_answers })
  return { report, of: (key: number, seals?: 'on' | 'off') => turns.open(owner(key, seals), null), drain: turns.drain }
}

/** Reads find nothing; writes do not end. */
function openUnwritten() {
  return open(text => (text.includes('store_turns') ? new Promise<never>(() => {}) : Promise.resolve([])))
}

test('a turn that is not written yet is found by its own key alone, the newest first', async () => {
  const { of } = openUnwritten()
  of(1).store(describe('call_1', 'First.'), MADE_BY)
  of(1).store(describe('call_1', 'Second.'), MADE_BY)
  const asked = listToolTurns([QUESTION, turnOf('call_1')])
  const found = await of(1).find(asked)
  expect(found.map(({ extras }) => extras?.fields)).toEqual([
    { reasoning_content: 'Second.' },
    { reasoning_content: 'First.' },
  ])
  expect(await of(2).find(asked)).toEqual([])
})

test('a client that sends all extras gets none', async () => {
  const { of } = openUnwritten()
  of(1).store(describe('call_1', 'All.'), MADE_BY)
  const asked = listToolTurns([QUESTION, { ...turnOf('call_1'), reasoning_content: 'All.' }])
  expect(await of(1).find(asked)).toEqual([{ name: expect.any(String), madeBy: MADE_BY, extras: null }])
})

test('turns are dropped when too much waits to be written, or when they cannot be sealed', async () => {
  const { of, report } = openUnwritten()
  const length = 1_000_000
  for (let at = 0; at < 40; at++) of(1).store(describe(`call_${at}`, 'x'.repeat(length)), MADE_BY)
  const asked = listToolTurns(Array.from({ length: 40 }, (_, at) => [QUESTION, turnOf(`call_${at}`)]).flat())
  await of(1).find(asked)
  expect(report).toHaveBeenCalledTimes(40 - Math.floor((32 * 1_048_576) / (length + 200)))
  report.mockClear()
  of(2, 'on').store(describe('call_1', 'Sealed.'), MADE_BY)
  expect(await of(2, 'on').find(listToolTurns([QUESTION, turnOf('call_1')]))).toEqual([])
  expect(report).toHaveBeenCalledOnce()
})

test('extras above a megabyte are not stored', () => {
  expect(describeTurn([], { ...turnOf('call_1'), reasoning_content: 'x'.repeat(1_048_577) })).toBeNull()
})

test('nothing is restored while the database is unavailable', async () => {
  const { of, report } = open(() => Promise.reject(new Error('The database is down.')))
  expect(await of(1).find(listToolTurns([QUESTION, turnOf('call_1')]))).toEqual([])
  expect(report).toHaveBeenCalledOnce()
})

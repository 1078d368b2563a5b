/** Reservations that wait for budget, without a database: their order, and the conditions of a retry. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createReservationQueues } from '../../../src/admission/reservation-queue.ts'
import { ClientDisconnected } from '../../../src/errors/errors.ts'
import type { ReservationRejection, ReservationReply, ReservationRequest } from '../../../src/postgres/spending.ts'

const PATIENCE_MS = 5_000
const GRANTED: ReservationReply = { verdict: 'granted', remaining_usd: 1 }
const STAYS = new AbortController().signal

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

let next = 0
const request = (usd: number, more: Partial<ReservationRequest> = {}): ReservationRequest => ({
  ...{ id: `${next++}`, project_id: 1, key_id: 1, request_id: 'r', endpoint: 'chat', model: 'm', tags: null },
  ...{ usd, tokens: 10 },
  ...more,
})

/** The rejection of a reservation when `left` US dollars remain of a budget of one dollar. */
const lacking = (left: number, more: Partial<ReservationRejection> = {}): ReservationRejection => ({
  ...{ verdict: 'reserved', remaining_usd: left, budget_id: 1, unit: 'usd', amount: 1, per: 'month', scope: 'project' },
  ...{ resets_at: null, spent: 0, reserved: 1 - left, share_limit: null, may_wait: true },
  ...more,
})

/** Opens queues for a budget of which `left` US dollars remain. */
function open(left = 0, more: Partial<ReservationRejection> = {}) {
  const budget = { left, tried: [] as string[], released: [] as string[] }
  const queues = createReservationQueues({
    async reserve({ id, usd }) {
      budget.tried.push(id)
      if ((usd ?? 0) > budget.left) return lacking(budget.left, more)
      budget.left -= usd ?? 0
      return GRANTED
    },
    release: id => void budget.released.push(id),
    maxWaitMs: PATIENCE_MS,
  })
  const verdicts: Record<string, string> = {}
  function wait(ask: ReservationRequest, signal = STAYS, refusal = lacking(budget.left, more)) {
    const note = (verdict: string) => {
      verdicts[ask.id] = verdict
    }
    queues.wait(ask, refusal, signal).then(
      ({ verdict }) => note(verdict),
      error => note(error instanceof ClientDisconnected ? 'gone' : 'failed'),
    )
  }
  return { budget, queues, verdicts, wait }
}

const settle = () => vi.advanceTimersByTimeAsync(0)

test('tries a waiting request again as soon as a reservation of its project ends', async () => {
  const { budget, queues, verdicts, wait } = open()
  const ask = request(0.5)
  wait(ask)
  await settle()
  budget.left = 0.6
  queues.retryWaiting([2])
  queues.retryWaiting([])
  await settle()
  expect(budget.tried).toEqual([])
  queues.retryWaiting([2, 1])
  await settle()
  expect(verdicts).toEqual({ [ask.id]: 'granted' })
})

test('polls, less and less often, for what other processes release; then returns the last rejection', async () => {
  const { budget, verdicts, wait } = open()
  const ask = request(0.5)
  wait(ask)
  const triedAt: number[] = []
  for (let ms = 0; ms < PATIENCE_MS; ms += 100) {
    const before = budget.tried.length
    await vi.advanceTimersByTimeAsync(100)
    if (budget.tried.length > before) triedAt.push(ms + 100)
  }
  expect([triedAt, verdicts]).toEqual([[500, 1_500, 3_500], { [ask.id]: 'reserved' }])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(budget.tried).toHaveLength(3)
})

test('polls for the next waiting request as often as for the first', async () => {
  const { budget, wait } = open()
  wait(request(0.5))
  await vi.advanceTimersByTimeAsync(PATIENCE_MS)
  wait(request(0.5))
  await vi.advanceTimersByTimeAsync(500)
  expect(budget.tried).toHaveLength(4)
})

test('tries one waiting request if nothing is left, and those that fit beside it', async () => {
  const { budget, queues, verdicts, wait } = open()
  const asks = Array.from({ length: 100 }, () => request(0.5))
  for (const ask of asks) wait(ask)
  await settle()
  queues.retryWaiting([1])
  await settle()
  expect(budget.tried).toEqual([asks[0]?.id])
  // The rejection of the oldest request concerns another budget, so this request is tried too.
  const other = request(0.5)
  wait(other, STAYS, lacking(0, { budget_id: 2 }))
  const small = request(0.1)
  wait(small)
  budget.left = 0.2
  queues.retryWaiting([1])
  await settle()
  expect(budget.tried.slice(1)).toEqual(expect.arrayContaining([asks[0]?.id, other.id, small.id]))
  expect(verdicts).toEqual({ [small.id]: 'granted' })
  expect(new Set(budget.tried)).toEqual(new Set([asks[0]?.id, other.id, small.id]))
})

test('if the limit of one key rejects, tries requests of other keys', async () => {
  const { budget, queues, wait } = open(0, { share_limit: 0.8, reserved: 0.8 })
  const [one, same, other] = [request(0.1), request(0.1), request(0.1, { key_id: 2 })]
  for (const ask of [one, same, other]) wait(ask)
  queues.retryWaiting([1])
  await settle()
  expect(budget.tried).toEqual([one.id, other.id])
})

test('if the limit of the project rejects, tries no requests of its other keys, and none overtakes', async () => {
  const { budget, queues, wait } = open(0, { scope: 'organization', share_limit: 0.8, reserved: 0.8 })
  const [one, other] = [request(0.1), request(0.1, { key_id: 2 })]
  for (const ask of [one, other]) wait(ask)
  queues.retryWaiting([1])
  await settle()
  expect(budget.tried).toEqual([one.id])
  await vi.advanceTimersByTimeAsync(PATIENCE_MS / 2)
  expect(queues.findOlderRejection(request(0.1, { key_id: 3 }))).not.toBeNull()
})

test('for the second half of its time, a request is not overtaken by later ones of the same budget', async () => {
  const { budget, queues, verdicts, wait } = open(0.3)
  const large = request(0.9)
  wait(large)
  await vi.advanceTimersByTimeAsync(PATIENCE_MS / 2 - 100)
  const young = request(0.2)
  expect(queues.findOlderRejection(young)).toBeNull()
  wait(young)
  await vi.advanceTimersByTimeAsync(100)
  const [behind, elsewhere] = [request(0.2), request(0.2, { project_id: 2 })]
  expect([queues.findOlderRejection(behind)?.budget_id, queues.findOlderRejection(elsewhere)]).toEqual([1, null])
  // The database decides at once about a free request, and about one without a price.
  for (const usd of [0, null]) expect(queues.findOlderRejection({ ...behind, usd })).toBeNull()
  wait(behind)
  queues.retryWaiting([1])
  await settle()
  expect(verdicts).toEqual({})
  budget.left = 1
  queues.retryWaiting([1])
  await settle()
  expect(verdicts).toEqual({ [large.id]: 'granted' })
})

test('tries the requests behind a request when that one gives up or disconnects', async () => {
  const leaving = new AbortController()
  for (const end of [() => leaving.abort(), () => vi.advanceTimersByTimeAsync(PATIENCE_MS / 2)]) {
    const { queues, verdicts, wait } = open(0.3)
    wait(request(0.9), leaving.signal.aborted ? STAYS : leaving.signal)
    await vi.advanceTimersByTimeAsync(PATIENCE_MS / 2)
    const behind = request(0.2)
    wait(behind)
    queues.retryWaiting([1])
    await settle()
    expect(verdicts).toEqual({})
    await end()
    await settle()
    expect(verdicts[behind.id]).toBe('granted')
  }
})

test.each([
  ['key', {}, { key_id: 2 }],
  ['model', {}, { model: 'n' }],
  ['tag', {}, { tags: '{"team":"a"}' }],
  ['project', { share_limit: 0.8 }, { key_id: 2 }],
] as const)(
  'a request that waits for a budget of a %s delays only requests of that budget',
  async (scope, more, other) => {
    const { queues, wait } = open(0, { scope, ...more })
    wait(request(0.9))
    await vi.advanceTimersByTimeAsync(PATIENCE_MS / 2)
    expect(queues.findOlderRejection(request(0.1))).not.toBeNull()
    expect(queues.findOlderRejection(request(0.1, other))).toBeNull()
  },
)

test('a disconnected client stops waiting, and a reservation granted at that moment is released', async () => {
  const { budget, queues, verdicts, wait } = open()
  const leaving = new AbortController()
  const ask = request(0.5)
  wait(ask, leaving.signal)
  budget.left = 1
  queues.retryWaiting([1])
  leaving.abort()
  await settle()
  expect([verdicts, budget.released]).toEqual([{ [ask.id]: 'gone' }, [ask.id]])
  const late = request(0.5)
  wait(late, leaving.signal)
  await settle()
  expect([verdicts[late.id], budget.tried]).toEqual(['gone', [ask.id]])
})

test('other requests keep waiting when one disconnects', async () => {
  const { budget, queues, verdicts, wait } = open()
  const leaving = new AbortController()
  const [one, other] = [request(0.5), request(0.5)]
  wait(one, leaving.signal)
  wait(other)
  leaving.abort()
  await settle()
  budget.left = 1
  queues.retryWaiting([1])
  await settle()
  expect(verdicts).toEqual({ [one.id]: 'gone', [other.id]: 'granted' })
})

test('tries one request of a project at a time, and once more for all reservations that ended meanwhile', async () => {
  const replies: ((reply: ReservationReply) => void)[] = []
  const queues = createReservationQueues({
    reserve: () => new Promise(resolve => void replies.push(resolve)),
    release: () => {},
    maxWaitMs: PATIENCE_MS,
  })
  const waiting = queues.wait(request(0.5), lacking(0), STAYS)
  for (let n = 0; n < 5; n++) queues.retryWaiting([1])
  await settle()
  expect(replies).toHaveLength(1)
  replies[0]?.(lacking(0))
  await settle()
  expect(replies).toHaveLength(2)
  replies[1]?.(GRANTED)
  expect(await waiting).toEqual(GRANTED)
})

test('does not wait for an amount that can never become available', async () => {
  const { queues, verdicts, wait } = open(0, { may_wait: false })
  const ask = request(0.5)
  wait(ask, STAYS, lacking(0))
  queues.retryWaiting([1])
  await settle()
  expect(verdicts).toEqual({ [ask.id]: 'reserved' })
})

test('a request waits for an organization budget whichever project releases', async () => {
  const { budget, queues, verdicts, wait } = open(0, { scope: 'organization' })
  const ask = request(0.5)
  wait(ask)
  budget.left = 1
  queues.retryWaiting([7])
  await settle()
  expect(verdicts).toEqual({ [ask.id]: 'granted' })
})

test('two hundred requests wait in a project, and the next is rejected at once', async () => {
  const { queues, verdicts, wait } = open()
  for (let n = 0; n < 200; n++) wait(request(0.5))
  await vi.advanceTimersByTimeAsync(PATIENCE_MS / 2)
  const late = request(0.5)
  // A full queue rejects nothing before the request has tried its own reservation.
  expect(queues.findOlderRejection(late)).toBeNull()
  wait(late)
  await settle()
  expect(verdicts).toEqual({ [late.id]: 'reserved' })
})

test('an unavailable database fails only the request that was tried', async () => {
  const queues = createReservationQueues({
    reserve: () => Promise.reject(new Error('gone')),
    release: () => {},
    maxWaitMs: PATIENCE_MS,
  })
  const [one, other] = [request(0.5), request(0.5, { project_id: 2 })]
  const failing = expect(queues.wait(one, lacking(0), STAYS)).rejects.toThrow('gone')
  const waiting = queues.wait(other, lacking(0), STAYS)
  queues.retryWaiting([1])
  await failing
  await Promise.all([expect(waiting).rejects.toThrow('gone'), vi.advanceTimersByTimeAsync(500)])
})

import { expect, test } from 'vitest'
import { ClientDisconnected, createError } from '../../../../src/errors/errors.ts'
import { StreamMemory } from '../../../../src/event-loop/stream-memory.ts'
import { readBodyFacts } from '../../../../src/formats/body-facts.ts'
import { type CallFailure, SharedCalls } from '../../../../src/pipeline/coalescing/shared-call.ts'
import type {
  AttemptResult,
  PipelineServices,
  RequestContext,
} from '../../../../src/pipeline/context/request-context.ts'
import { executeOperation } from '../../../../src/pipeline/upstream/share-call.ts'
import {
  circuitOpenError,
  connectTimeoutError,
  responseTimeoutError,
  unreachableError,
} from '../../../../src/providers/upstream-failure.ts'
import { eventLoopTick, hasSettled } from '../../../harness/event-loop.ts'
import { freeRecorder } from '../../../harness/free-recorder.ts'

const NO_FACTS = readBodyFacts({})
const ROOM_BYTES = 1_000_000
const RESPONSE = { status: 200, headers: {}, body: 'its own' }
const MISS = { match: null, missReason: 'no-candidate', vector: null }

/**
 * Executes a request that joins `calls`, whose first call belongs to another request. If the request calls the provider itself, it gets
 * `RESPONSE`.
 */
function follow(calls: SharedCalls, control = {}, hasFallback = false): Promise<AttemptResult> {
  const context = {
    request: { signal: new AbortController().signal },
    query: { kind: 'pass_through', body: {}, facts: NO_FACTS },
    control: { lookup: true, store: true, ...control },
    cacheQuery: { sharedCallName: 'name' },
    resolvedKey: { cache_mode: 'all' },
    operation: { sharesCalls: true, execute: async () => ({ response: RESPONSE }) },
    recorder: freeRecorder(),
    hasFallback,
  }
  const stages = {
    sharedCalls: calls,
    cache: { lookUp: async () => MISS, isLookupFree: () => true },
    callLeases: { acquire: () => new Promise(() => {}) },
  }
  return executeOperation(context as unknown as RequestContext, stages as unknown as PipelineServices)
}

const failed = createError('upstreamInterrupted')

/**
 * `next` is the failure of the second call, which the request follows. Without it, the second call's only client disconnects before the
 * request joins.
 */
async function followTwo(first: CallFailure, next?: CallFailure): Promise<AttemptResult> {
  const calls = new SharedCalls(new StreamMemory(ROOM_BYTES))
  const call = calls.join('name', false)?.call
  const second = call?.settled.then(() => calls.join('name', false))
  const followed = follow(calls)
  call?.settle({ kind: 'notShareable', failure: first })
  const joined = await second
  if (!next) joined?.subscriber.leave()
  // By now, the other request has joined the call.
  await eventLoopTick()
  if (next) joined?.call.settle({ kind: 'notShareable', failure: next })
  return followed
}

test.each([
  ['a call that failed, then one that cannot be joined', failed, undefined],
  ['a call that failed, then one whose client left', failed, new ClientDisconnected()],
])('after %s, a request makes its own call', async (_, first, next) => {
  expect(await followTwo(first, next)).toEqual({ response: RESPONSE })
})

test.each([{ lookup: false }, { store: false }])('with %j, a request follows no call', async control => {
  const calls = new SharedCalls(new StreamMemory(ROOM_BYTES))
  calls.join('name', false)
  expect(await follow(calls, control)).toEqual({ response: RESPONSE })
})

test('after two failed calls, a request fails', async () => {
  expect(await followTwo(failed, failed)).toEqual({ failure: failed })
})

const upstreamError = (status: number) => ({ status, headers: {}, body: '' })

test.each<[string, CallFailure, { alone: boolean; withFallback: boolean }]>([
  ['a silent provider', responseTimeoutError('p', 'first byte', 5), { alone: true, withFallback: true }],
  ['a provider that is not reachable', connectTimeoutError('p', 5), { alone: true, withFallback: true }],
  ['an open circuit', circuitOpenError('p', 5), { alone: true, withFallback: true }],
  ['a rate limit', upstreamError(429), { alone: true, withFallback: true }],
  ['an error about the request', upstreamError(400), { alone: true, withFallback: true }],
  ['a cut connection', unreachableError('p', new Error()), { alone: false, withFallback: true }],
  ['a server error', upstreamError(503), { alone: false, withFallback: true }],
  ['a failure of the proxy', failed, { alone: false, withFallback: false }],
])('after %s, a follower makes no call of its own where that would not help', async (_, failure, isFinal) => {
  for (const hasFallback of [false, true]) {
    const calls = new SharedCalls(new StreamMemory(ROOM_BYTES))
    const { call } = calls.join('name', false) ?? {}
    const followed = follow(calls, {}, hasFallback)
    call?.settle({ kind: 'notShareable', failure, canFallBack: failure !== failed })
    const isSettled = await hasSettled(followed)
    expect([hasFallback, isSettled]).toEqual([hasFallback, hasFallback ? isFinal.withFallback : isFinal.alone])
    if (isSettled) expect(await followed).toEqual({ failure })
  }
})

test('after a provider’s failure in another process, a follower with a fallback makes no call of its own', async () => {
  const calls = new SharedCalls(new StreamMemory(ROOM_BYTES))
  const { call } = calls.join('name', false) ?? {}
  const followed = follow(calls, {}, true)
  call?.settle({ kind: 'notShareable', failure: failed, canFallBack: true })
  expect(await followed).toMatchObject({ failure: { kind: 'broken', status: 502 } })
})

/** Executes a request that leads a shared call. `more` sets parts of its context. */
function leadCall(more: { signal?: AbortSignal; reserve?: () => Promise<void> }) {
  const calls = new SharedCalls(new StreamMemory(ROOM_BYTES))
  let asked = 0
  const context = {
    request: { signal: more.signal ?? new AbortController().signal },
    query: {
      kind: 'pass_through',
      body: {},
      facts: NO_FACTS,
      passThroughBody: { form: null, bytes: new Uint8Array(0) },
      text: '',
    },
    control: { lookup: true, store: true },
    cacheQuery: { sharedCallName: 'name' },
    provider: { pricedAs: null },
    operation: {
      sharesCalls: true,
      async execute() {
        asked++
        return { response: RESPONSE }
      },
    },
    recorder: freeRecorder(more.reserve && { spending: { reserve: more.reserve } }),
  }
  const stages = {
    sharedCalls: calls,
    cache: { lookUp: async () => MISS, isLookupFree: () => true, readRecentEntry: () => null, readExact: () => null },
    callLeases: { acquire: async () => ({ isAcquired: true, entry: null }) },
  }
  const led = executeOperation(context as unknown as RequestContext, stages as unknown as PipelineServices)
  const followed = calls.join('name', false)
  return { led, settled: followed?.call.settled, leave: followed?.subscriber.leave, asked: () => asked }
}

test.each([
  [
    'its own key’s limit',
    createError('budgetExceeded', { budget: '1 USD', until: '', most: '2 USD', left: '1 USD' }),
    null,
  ],
  ['a failure that concerns every follower', failed, failed],
])('a call that ends for %s reports that to its followers', async (_, failure, told) => {
  const { led, settled, asked } = leadCall({ reserve: () => Promise.reject(failure) })
  expect(await led).toEqual({ failure })
  expect([await settled, asked()]).toMatchObject([{ kind: 'notShareable', failure: told, canFallBack: false }, 0])
})

test('a call that no request awaits any more is not sent', async () => {
  const { led, leave, asked } = leadCall({ signal: AbortSignal.abort() })
  leave?.()
  expect([await led, asked()]).toEqual([{ failure: expect.any(ClientDisconnected) }, 0])
})

test('in a full memory budget, no stream is requested; other calls are', async () => {
  const calls = new SharedCalls(new StreamMemory(1))
  calls.memory.reserve({}).set(2)
  const asked: string[] = []
  const lead = async (query: object) => {
    const operation = { sharesCalls: true, execute: async () => ({ response: RESPONSE }) }
    const context = {
      request: { signal: new AbortController().signal },
      query: { body: {}, facts: NO_FACTS, text: '', ...query },
      resolvedKey: {},
      control: { lookup: true, store: false },
      cacheQuery: null,
      operation,
      recorder: freeRecorder({ beginCall: () => asked.push(JSON.stringify(query)) }),
    }
    return executeOperation(context as unknown as RequestContext, { sharedCalls: calls } as unknown as PipelineServices)
  }
  const plain = { kind: 'completion', stream: false }
  expect(await lead({ kind: 'completion', stream: true })).toMatchObject({
    failure: { code: 'too_many_unread_streams' },
  })
  expect(await lead(plain)).toEqual({ response: RESPONSE })
  expect(asked).toEqual([JSON.stringify(plain)])
})

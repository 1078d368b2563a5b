import { expect, test } from 'vitest'
import { type CallFailure, SharedCalls } from '../../../src/coalescing/shared-call.ts'
import { ClientGone, refuse } from '../../../src/errors.ts'
import { NOT_ACCOUNTED } from '../../../src/pipeline/pipeline.ts'
import type { Attempt, RequestContext, Stages } from '../../../src/pipeline/request-context.ts'
import { callUpstream } from '../../../src/pipeline/share-call.ts'

const RESPONSE = { status: 200, headers: {}, body: 'its own' }
const MISS = { match: null, missReason: 'no-candidate', vector: null }

/** A request that follows `calls`, whose first call another request leads; asked for itself, it gets `RESPONSE`. */
function follow(calls: SharedCalls): Promise<Attempt> {
  const context = {
    request: { signal: new AbortController().signal },
    query: { kind: 'passed', body: {} },
    control: { lookup: true, store: true },
    cacheQuery: { callName: 'name' },
    operation: { sharesCalls: true, ask: async () => ({ response: RESPONSE }) },
    accounting: { ...NOT_ACCOUNTED },
  }
  const stages = {
    calls,
    cache: { find: async () => MISS, findsForFree: () => true },
    leads: { take: () => new Promise(() => {}) },
  }
  return callUpstream(context as unknown as RequestContext, stages as unknown as Stages)
}

const failed = refuse('upstreamBrokeOff')

/** `next`: the second call's end, as the request that follows it sees it; without one, its only client has left, and it is about to end. */
async function followTwo(first: CallFailure, next?: CallFailure): Promise<Attempt> {
  const calls = new SharedCalls()
  const call = calls.join('name', false)?.call
  const second = call?.settled.then(() => calls.join('name', false))
  const followed = follow(calls)
  call?.settle({ kind: 'notShareable', failure: first })
  const joined = await second
  if (!next) joined?.subscriber.leave()
  // By then, the other request has joined it.
  await Bun.sleep(1)
  if (next) joined?.call.settle({ kind: 'notShareable', failure: next })
  return followed
}

test.each([
  ['a call that failed, then one that cannot be joined', failed, undefined],
  ['a call that failed, then one whose client left', failed, new ClientGone()],
])('after %s, a request asks alone', async (_, first, next) => {
  expect(await followTwo(first, next)).toEqual({ response: RESPONSE })
})

test('after two calls that failed, it fails', async () => {
  expect(await followTwo(failed, failed)).toEqual({ failure: failed })
})

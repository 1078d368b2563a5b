import { expect, test } from 'vitest'
import type { CacheQuery, SemanticQuery } from '../../../src/cache/cache-query.ts'
import { PendingWrites } from '../../../src/cache/pending-writes.ts'
import { hasSettled } from '../../harness/event-loop.ts'
import { passMs, useTestClock } from '../../harness/test-clock.ts'

/** A query in a project’s only context. Queries with the same rarest word wait for each other. */
function query(exactKey: string, topicWords: readonly number[] = [1, 2], projectId = 1) {
  const semantic = {
    contextHash: 'context',
    normalizedHash: exactKey,
    topicWords,
  } as Partial<SemanticQuery> as SemanticQuery
  const asked = { exactKey, resolvedKey: { project_id: projectId }, semantic: () => semantic } as unknown as CacheQuery
  return { asked, semantic, anyWord: { ...semantic, comparesNewest: true } }
}

const [one, two, other] = [query('one'), query('two', [1, 3]), query('other', [1])]
const never = new Promise<void>(() => {})
const LOOKUP_TIMEOUT_MS = 400

/** A write whose response and vector are stored at the same time. */
const whole = (stored: Promise<void>) => ({ stored, vectorStored: stored })
useTestClock()

test.each(['first', 'last'] as const)('waits for every write of a group, whichever ends %s', async ends => {
  const writes = new PendingWrites(LOOKUP_TIMEOUT_MS)
  const [first, last] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  writes.add(one.asked, whole(first.promise))
  writes.add(two.asked, whole(last.promise))
  const [sooner, later] = ends === 'first' ? [first, last] : [last, first]
  const waiting = [
    writes.waitFor(other.asked, other.semantic, 'vector'),
    writes.waitFor(other.asked, other.anyWord, 'vector'),
  ]
  sooner.resolve()
  expect(await Promise.all(waiting.map(hasSettled))).toEqual([false, false])
  expect(await hasSettled(writes.waitFor(other.asked, other.semantic, 'vector'))).toBe(false)
  later.resolve()
  await Promise.all(waiting)
  expect(writes.waitFor(one.asked, one.semantic, 'vector')).toBeNull()
})

test('does not wait for writes that began later', async () => {
  const writes = new PendingWrites(LOOKUP_TIMEOUT_MS)
  const first = Promise.withResolvers<void>()
  writes.add(one.asked, whole(first.promise))
  const waiting = writes.waitFor(other.asked, other.semantic, 'vector')
  writes.add(two.asked, whole(never))
  first.resolve()
  expect(await hasSettled(waiting)).toBe(true)
})

test('waits for a slow write no longer than a lookup may take', async () => {
  const writes = new PendingWrites(LOOKUP_TIMEOUT_MS)
  writes.add(one.asked, whole(never))
  const waiting = [writes.waitFor(other.asked, other.semantic, 'vector'), writes.waitFor(one.asked, null, 'name')]
  expect(await Promise.all(waiting.map(hasSettled))).toEqual([false, false])
  await passMs(LOOKUP_TIMEOUT_MS + 1)
  expect(await Promise.all(waiting.map(hasSettled))).toEqual([true, true])
})

test('does not wait for writes of other projects, rarest words or requests', () => {
  const writes = new PendingWrites(LOOKUP_TIMEOUT_MS)
  writes.add(one.asked, whole(never))
  for (const { asked, semantic } of [query('other', [1, 2], 2), query('other', [2, 1]), query('other', [])]) {
    expect(writes.waitFor(asked, semantic, 'vector')).toBeNull()
    expect(writes.isWriting(asked, semantic)).toBe(false)
  }
  expect(writes.waitFor(other.asked, null, 'vector')).toBeNull()
  expect(writes.waitFor(other.asked, other.semantic, 'name')).toBeNull()
  expect(writes.waitFor(query('other', [1, 2], 2).asked, one.semantic, 'name')).toBeNull()
  expect(writes.waitFor(other.asked, { ...one.semantic, contextHash: 'another' }, 'name')).toBeNull()
  expect(writes.waitFor(query('other', [2]).asked, query('other', [2]).anyWord, 'vector')).not.toBeNull()
})

test('only lookups that compare vectors wait for a late vector', async () => {
  const writes = new PendingWrites(LOOKUP_TIMEOUT_MS)
  const [stored, comparable] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  writes.add(one.asked, { stored: stored.promise, vectorStored: comparable.promise })
  const byName = () => writes.waitFor(other.asked, one.semantic, 'name')
  const waiting = [byName(), writes.waitFor(other.asked, other.semantic, 'vector')] as const
  expect(await hasSettled(waiting[0])).toBe(false)
  stored.resolve()
  await waiting[0]
  expect([byName(), await hasSettled(waiting[1])]).toEqual([null, false])
  expect(writes.isWriting(other.asked, other.semantic)).toBe(true)
  comparable.resolve()
  await waiting[1]
  expect(writes.isWriting(other.asked, other.semantic)).toBe(false)
})

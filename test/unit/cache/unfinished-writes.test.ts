import { expect, test } from 'vitest'
import type { CacheQuery, SemanticQuery } from '../../../src/cache/cache-query.ts'
import { UnfinishedWrites } from '../../../src/cache/unfinished-writes.ts'

/** Of a project's one context, with what its question shares with those that it may be compared with. */
function query(exactKey: string, anchorHash = 'anchor', projectId = 1) {
  const semantic = { contextHash: 'context', anchorHash } as SemanticQuery
  const asked = { exactKey, account: { project_id: projectId }, semantic: () => semantic } as unknown as CacheQuery
  return { asked, semantic, anyAnchor: { ...semantic, anchorHash: null } }
}

const [one, two, other] = [query('one'), query('two'), query('other')]
const isOver = (waiting: Promise<void> | null, withinMs = 20) =>
  Promise.race([waiting?.then(() => true), Bun.sleep(withinMs).then(() => false)])

test.each(['first', 'last'] as const)('every write of a group is waited for, whichever ends %s', async ends => {
  const writes = new UnfinishedWrites()
  const [first, last] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  writes.add(one.asked, first.promise)
  writes.add(two.asked, last.promise)
  const [sooner, later] = ends === 'first' ? [first, last] : [last, first]
  const waiting = [writes.before(other.asked, other.semantic), writes.before(other.asked, other.anyAnchor)]
  sooner.resolve()
  expect(await Promise.all(waiting.map(isOver))).toEqual([false, false])
  expect(await isOver(writes.before(other.asked, other.semantic))).toBe(false)
  later.resolve()
  expect(await Promise.all(waiting.map(isOver))).toEqual([true, true])
  expect(writes.before(one.asked, one.semantic)).toBeNull()
})

test('what began later is not waited for', async () => {
  const writes = new UnfinishedWrites()
  const first = Promise.withResolvers<void>()
  writes.add(one.asked, first.promise)
  const waiting = writes.before(other.asked, other.semantic)
  writes.add(two.asked, new Promise(() => {}))
  first.resolve()
  expect(await isOver(waiting)).toBe(true)
})

test('one that takes long is waited for no longer than a lookup may take', async () => {
  const writes = new UnfinishedWrites()
  writes.add(one.asked, new Promise(() => {}))
  const waiting = [writes.before(other.asked, other.semantic), writes.before(one.asked, null)]
  expect(await Promise.all(waiting.map(each => isOver(each, 10_000)))).toEqual([true, true])
})

test('nothing is waited for that could not be found: another project’s, another anchor’s, another request’s', () => {
  const writes = new UnfinishedWrites()
  writes.add(one.asked, new Promise(() => {}))
  for (const { asked, semantic } of [query('other', 'anchor', 2), query('other', 'another')])
    expect(writes.before(asked, semantic)).toBeNull()
  expect(writes.before(other.asked, null)).toBeNull()
  expect(writes.before(query('other', 'another').asked, query('other', 'another').anyAnchor)).not.toBeNull()
})

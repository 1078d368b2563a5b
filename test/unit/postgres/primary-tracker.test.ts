import { expect, test } from 'vitest'
import { PrimaryTracker } from '../../../src/postgres/primary-tracker.ts'

let started = 0
const server = (timeline: number, system = 'a') => ({ identity: { system, timeline, instance: `${++started}` } })

test('chooses the highest timeline of several servers, whichever responds first', () => {
  const [old, promoted] = [server(1), server(2)]
  for (const found of [
    [old, promoted],
    [promoted, old],
  ]) {
    const primary = new PrimaryTracker()
    expect(primary.choosePrimary(found)).toBe(promoted)
    expect(primary.problem).toBe('two primaries')
  }
})

test('rejects a server that was left behind, whichever process has seen the other', () => {
  const primary = new PrimaryTracker()
  const old = server(1)
  expect(primary.choosePrimary([old])).toBe(old)
  expect(primary.isOutdated(old.identity)).toBe(false)
  primary.advance({ system: 'a', timeline: 3 })
  expect(primary.isOutdated(old.identity)).toBe(true)
  expect(() => primary.choosePrimary([old])).toThrow('it is on timeline 1, but timeline 3 is in use')
  expect(primary.problem).toBe('old primary')
  primary.advance({ system: 'a', timeline: 2 })
  expect(() => primary.choosePrimary([server(2)])).toThrow()
  expect(primary.choosePrimary([server(3)]).identity.timeline).toBe(3)
  expect(primary.problem).toBe(null)
})

test('does not compare servers of another system: prefers its own, and uses another if it is the only one', () => {
  const primary = new PrimaryTracker()
  const [ours, other] = [server(2), server(7, 'b')]
  primary.choosePrimary([ours])
  expect(primary.choosePrimary([other, ours])).toBe(ours)
  primary.advance({ system: 'b', timeline: 9 })
  expect(primary.choosePrimary([other])).toBe(other)
  expect(primary.position).toMatchObject({ system: 'b', timeline: 7 })
})

test('two addresses of one server are not two primaries, and a server that does not report is used', () => {
  const primary = new PrimaryTracker()
  const one = server(1)
  primary.choosePrimary([one, { ...one }])
  expect(primary.problem).toBe(null)
  const silent = { identity: null }
  expect(new PrimaryTracker().choosePrimary([silent])).toBe(silent)
})

test('reports problems when they begin and end', () => {
  const primary = new PrimaryTracker()
  const problems: (string | null)[] = []
  primary.onProblem = problem => problems.push(problem)
  for (const found of [[server(1)], [server(1), server(2)], [server(1), server(2)], [server(2)]])
    primary.choosePrimary(found)
  expect(problems).toEqual(['two primaries', null])
})

test('a problem lasts until every server has responded', () => {
  const primary = new PrimaryTracker()
  const [old, promoted] = [server(1), server(2)]
  primary.choosePrimary([old, promoted])
  primary.choosePrimary([promoted], false)
  expect(primary.problem).toBe('two primaries')
  expect(() => primary.choosePrimary([old], false)).toThrow()
  expect(primary.problem).toBe('old primary')
  primary.choosePrimary([promoted])
  expect(primary.problem).toBe(null)
})

import { expect, test } from 'vitest'
import { Primary } from '../../../src/postgres/primary.ts'

let started = 0
const server = (timeline: number, system = 'a') => ({ identity: { system, timeline, instance: `${++started}` } })

test('of several, the highest timeline is chosen, whichever answers first', () => {
  const [old, promoted] = [server(1), server(2)]
  for (const found of [
    [old, promoted],
    [promoted, old],
  ]) {
    const primary = new Primary()
    expect(primary.choose(found)).toBe(promoted)
    expect(primary.problem).toBe('two primaries')
  }
})

test('one that was left behind is refused, whoever has seen the other', () => {
  const primary = new Primary()
  const old = server(1)
  expect(primary.choose([old])).toBe(old)
  expect(primary.isLeftBehind(old.identity)).toBe(false)
  primary.learn({ system: 'a', timeline: 3 })
  expect(primary.isLeftBehind(old.identity)).toBe(true)
  expect(() => primary.choose([old])).toThrow('it is on timeline 1, and timeline 3 has been used')
  expect(primary.problem).toBe('old primary')
  primary.learn({ system: 'a', timeline: 2 })
  expect(() => primary.choose([server(2)])).toThrow()
  expect(primary.choose([server(3)]).identity.timeline).toBe(3)
  expect(primary.problem).toBe(null)
})

test('servers of another system are not compared: ours is preferred, and another is used where it is the only one', () => {
  const primary = new Primary()
  const [ours, other] = [server(2), server(7, 'b')]
  primary.choose([ours])
  expect(primary.choose([other, ours])).toBe(ours)
  primary.learn({ system: 'b', timeline: 9 })
  expect(primary.choose([other])).toBe(other)
  expect(primary.seen).toMatchObject({ system: 'b', timeline: 7 })
})

test('two addresses of one server are no two primaries, and one that does not tell is used', () => {
  const primary = new Primary()
  const one = server(1)
  primary.choose([one, { ...one }])
  expect(primary.problem).toBe(null)
  const silent = { identity: null }
  expect(new Primary().choose([silent])).toBe(silent)
})

test('problems are told when they come and go', () => {
  const primary = new Primary()
  const told: (string | null)[] = []
  primary.onProblem = problem => told.push(problem)
  for (const found of [[server(1)], [server(1), server(2)], [server(1), server(2)], [server(2)]]) primary.choose(found)
  expect(told).toEqual(['two primaries', null])
})

test('a problem stands until every server was heard', () => {
  const primary = new Primary()
  const [old, promoted] = [server(1), server(2)]
  primary.choose([old, promoted])
  primary.choose([promoted], false)
  expect(primary.problem).toBe('two primaries')
  expect(() => primary.choose([old], false)).toThrow()
  expect(primary.problem).toBe('old primary')
  primary.choose([promoted])
  expect(primary.problem).toBe(null)
})

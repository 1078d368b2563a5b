import { expect, test } from 'vitest'
import { Lately } from '../../../src/text/lately.ts'

test('keeps what is used, and forgets what was not used for long', () => {
  const lately = new Lately<number>(40)
  lately.set('used', -1)
  lately.set('left', -2)
  for (let i = 0; i < 100; i++) {
    expect(lately.get('used')).toBe(-1)
    lately.set(`name ${i}`, i)
  }
  expect(lately.get('left')).toBeUndefined()
  expect(lately.get('name 99')).toBe(99)
})

test('keeps at most twice the characters of names that it may', () => {
  const lately = new Lately<true>(100)
  const names = Array.from({ length: 1_000 }, (_, i) => String(1_000 + i))
  for (const name of names) lately.set(name, true)
  const kept = names.filter(name => lately.get(name))
  expect(kept.length).toBeGreaterThanOrEqual(25)
  expect(kept.length).toBeLessThanOrEqual(50)
})

import { expect, test } from 'vitest'
import { type CacheMode, isCacheableInMode } from '../../../src/cache/cache-control.ts'

test.each<[object, CacheMode, boolean]>([
  [{}, 'all', true],
  [{ temperature: 1.5 }, 'all', true],
  [{ temperature: 0, seed: 1 }, 'off', false],
  [{ temperature: 0 }, 'deterministic', true],
  [{ temperature: -0 }, 'deterministic', true],
  [{ seed: 0 }, 'deterministic', true],
  [{ temperature: 1, seed: 7 }, 'deterministic', true],
  [{}, 'deterministic', false],
  [{ temperature: 0.2 }, 'deterministic', false],
  [{ temperature: null, seed: null }, 'deterministic', false],
  [{ temperature: '0' }, 'deterministic', false],
])('%j under %s: %s', (body, mode, expected) => {
  expect(isCacheableInMode(body as Record<string, unknown>, mode)).toBe(expected)
})

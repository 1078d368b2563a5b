import { expect, test } from 'vitest'
import { createReadiness } from '../../../src/http/health.ts'

test.each([
  ['ok', 200],
  ['degraded', 200],
  ['down', 503],
] as const)('with stores that are %s, /readyz returns %i, and /livez 200', async (status, expected) => {
  const { probe } = createReadiness(async () => ({ status }))
  expect((await probe('readyz')).status).toBe(expected)
  expect((await probe('livez')).status).toBe(200)
})

test('a draining process is alive, but not ready', async () => {
  const readiness = createReadiness(async () => ({ status: 'ok' }))
  expect(readiness.isDraining()).toBe(false)
  readiness.beginDrain()
  expect(readiness.isDraining()).toBe(true)
  expect((await readiness.probe('readyz')).status).toBe(503)
  expect((await readiness.probe('livez')).status).toBe(200)
})
